//! The learning loop: self-play, training and a match, over and over, each generation from the one before.
//!
//! [`run()`] conducts it. Its directory holds
//!
//! ```text
//! learn.toml               the settings, if they are not the defaults
//! generations.jsonl        one line a generation that ended, see [`Generation`]
//! report.html              the same for people
//! gen-000/network/nn.bin   the network that the loop started with
//! gen-NNN/plan.json        who plays, and the settings that hold for this generation
//! gen-NNN/games/           shards of `datagen`
//! gen-NNN/network/         nn.bin, the state in f32, and the log of `train`
//! gen-NNN/network/runs/K/  the same of each of several runs (`train.runs`), until nn.bin is their mean
//! gen-NNN/match/           games of the new network against the one that played the games
//! gen-NNN/{games,train,judge}.json   what came of each stage; written when it has ended
//! ```
//!
//! A stage whose `.json` exists is not run again, and every stage continues after a kill, so the whole loop
//! continues.

mod cluster;
mod config;
mod directory;
mod error;
mod generation;
mod report;
mod run;
mod stages;

pub use cluster::{System, print_job};
pub use config::{Config, ConfigError, TEMPLATE, Workers};
pub use directory::Directory;
pub use error::LearnError;
pub use generation::{GamesSummary, Generation, MatchSummary, Plan, TrainingSummary};
pub use report::html;
pub use run::{LoopOptions, prepare, run};

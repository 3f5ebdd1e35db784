//! Self-play games for training: `toratsugumi datagen`.
//!
//! [`SelfPlayer`] plays one game; [`Openings`] chooses its start; [`DatagenSettings`] holds every option that
//! determines the games. [`generate()`] distributes the games of a run over threads, processes and machines:
//! game `g` depends on the settings and `g` only, so resumed runs and merged shards have the same games as an
//! undisturbed run. A few games in a row form a series, in which the search keeps its histories and table.
//! [`Manifest`] records the settings beside the games and refuses to mix runs.

mod error;
mod game;
mod generate;
mod label;
mod manifest;
mod openings;
mod settings;
mod shard;
mod tree_file;

pub use error::ShardError;
pub use game::SelfPlayer;
pub use generate::{ShardJob, ShardOutcome, generate};
pub use label::{LabelJob, label};
pub use manifest::Manifest;
pub use openings::Openings;
pub use settings::{DatagenSettings, MOST_RANDOM_PLIES};
pub use shard::{RunSize, Shard};

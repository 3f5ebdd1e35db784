//! Self-play games for training: `toratsugumi datagen`.
//!
//! [`Player`] plays one game; [`Openings`] says where it starts; [`Settings`] holds every option that decides what the
//! games are. [`generate()`] spreads the games of a run over threads, processes and machines: game `g` depends on the
//! settings and `g` alone, so that a killed run resumes, and shards merge, without a trace. A few games in a row form a series,
//! in which the search keeps what it learns. [`Manifest`] records beside the games what made them and refuses mixing.

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
pub use game::Player;
pub use generate::{Job, ShardOutcome, generate};
pub use label::{LabelJob, label};
pub use manifest::Manifest;
pub use openings::Openings;
pub use settings::{MOST_RANDOM_PLIES, Settings};
pub use shard::{Shard, Target};

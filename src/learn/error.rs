//! Why the loop cannot continue: [`LearnError`].

use super::config::ConfigError;
use crate::arena::tournament::TournamentError;
use crate::data::RecordError;
use crate::datagen::ShardError;
use crate::nnue::NetworkError;
use crate::nnue::mean::MeanError;
use crate::record::openings::OpeningsError;
use crate::resume::ResumeError;
use crate::resume::interrupt::Unfinished;
use crate::support::memory::OutOfMemory;
use crate::train::accuracy::AccuracyError;
use crate::train::error::TrainError;
use std::io;
use std::path::{Path, PathBuf};

/// Why the loop cannot continue.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum LearnError {
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Shard(#[from] ShardError),
    #[error(transparent)]
    Match(#[from] TournamentError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    #[error(transparent)]
    Positions(#[from] AccuracyError),
    #[error(transparent)]
    Mean(#[from] MeanError),
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("{path}: {source}")]
    Network { path: PathBuf, source: NetworkError },
    #[error("the embedded network: {0}")]
    Embedded(NetworkError),
    #[error("this program's own path: {0}")]
    Program(io::Error),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error("a training run without a step")]
    NoStep,
    #[error("{path}, line {line}: generation {number} is out of order")]
    Order { path: PathBuf, line: usize, number: u32 },
    #[error("{0}: its games are gone")]
    GamesGone(PathBuf),
    #[error("{path}: {source}")]
    Plan { path: PathBuf, source: ConfigError },
    #[error("network: this loop began with {begun}; use another --dir to begin with {named}")]
    Start { begun: String, named: String },
    #[error("{path}: training cannot continue from a {shape} network")]
    Untrainable { path: PathBuf, shape: String },
    #[error(
        "train.batch: {most} positions at most, generate.positions among them, do not fill a batch of {batch}"
    )]
    Batch { most: u64, batch: usize },
    #[error("{source} (generation {number} keeps the settings it began with, in {path})")]
    Stage { number: u32, path: PathBuf, source: Box<LearnError> },
}

impl LearnError {
    /// An error of a network's file.
    pub(super) fn network(path: &Path) -> impl FnOnce(NetworkError) -> LearnError {
        move |source| LearnError::Network { path: path.to_owned(), source }
    }
}

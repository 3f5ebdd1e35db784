//! Why a training run fails: [`TrainError`].

use super::layout::Untrainable;
use super::quantize::FromNetworkError;
use crate::data::RecordError;
use crate::nnue::NetworkError;
use crate::resume::ResumeError;
use crate::support::memory::OutOfMemory;
use std::path::PathBuf;

/// Why a training run fails.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum TrainError {
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("no win-rate scale fits the games; give --score-scale")]
    NoScoreScale,
    #[error(
        "the progress of a game, which chooses among the layers, is fitted to games, and there is no .games file; \
         --init takes its weights from a network"
    )]
    NoProgress,
    #[error("{positions} training positions do not fill a batch of {batch}; --batch takes a smaller one")]
    TooFewPositions { positions: u64, batch: usize },
    #[error("step {step}: the training diverges, with a loss of {loss:.0}; a lower learning rate helps")]
    Diverged { step: u64, loss: f64 },
    #[error("{}: {source}", path.display())]
    Network { path: PathBuf, source: NetworkError },
    #[error("{}: {source}", path.display())]
    FromNetwork { path: PathBuf, source: FromNetworkError },
    #[error(
        "{} holds a {found} network, and --arch {asked} is to be trained: give --arch {name}, or another start",
        path.display()
    )]
    OtherArchitecture { path: PathBuf, found: String, name: String, asked: String },
    #[error(transparent)]
    Untrainable(#[from] Untrainable),
    #[error(
        "{}: made with other settings or data ({differences}); the same settings and data continue it, and without \
         this file the run starts from the beginning",
        path.display()
    )]
    OtherRun { path: PathBuf, differences: String },
}

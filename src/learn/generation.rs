//! What is known of a generation: [`Plan`] before, [`Played`], [`Trained`] and [`Judged`] after each stage,
//! [`Generation`] in the end.

use super::Config;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A generation as it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// From 1.
    pub number: u32,
    /// The generation whose network plays, the best so far; 0 is the start.
    pub player: u32,
    /// Generations whose games are learnt from.
    pub window: Vec<u32>,
    /// The settings with which it began.
    pub config: Config,
}

/// The games of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Names within its `games` directory: of the games, and of the positions inside their searches.
    pub files: Vec<PathBuf>,
    /// Games played.
    pub games: u64,
    /// Positions in them.
    pub positions: u64,
    /// Positions fit for training.
    pub fit: u64,
    /// Positions inside the searches.
    #[serde(default)]
    pub inside: u64,
    /// Wall-clock seconds of all shards, added up.
    pub seconds: f64,
}

/// A training run, or several of one start: sums, and the mean of the losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Positions seen, passes counted.
    pub positions: u64,
    /// Batches learnt from.
    pub steps: u64,
    /// Mean divergence from the targets since the last look, in nats.
    pub training: f64,
    /// The same on games set aside, if there are any.
    pub validation: Option<f64>,
    /// Root mean square error of the win rate there.
    pub rmse: Option<f64>,
    /// Wall-clock time of the stage.
    pub seconds: f64,
}

impl Trained {
    /// What several runs come to.
    ///
    /// # Panics
    /// Without a run.
    pub fn of_runs(runs: &[Trained]) -> Trained {
        let mean = |loss: fn(&Trained) -> Option<f64>| {
            let sum: Option<f64> = runs.iter().map(loss).sum();
            sum.map(|sum| sum / runs.len() as f64)
        };
        let training: f64 = runs.iter().map(|r| r.training).sum();
        assert!(!runs.is_empty());
        Trained {
            positions: runs.iter().map(|r| r.positions).sum(),
            steps: runs.iter().map(|r| r.steps).sum(),
            training: training / runs.len() as f64,
            validation: mean(|r| r.validation),
            rmse: mean(|r| r.rmse),
            seconds: runs.iter().map(|r| r.seconds).sum(),
        }
    }
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Whether the new network is the best from now on.
    pub promoted: bool,
    /// Games won against the best so far.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Elo over the player and its 95 % interval; none without games.
    pub elo: Option<[f64; 3]>,
    /// Share of winners named by the static evaluation, its standard error, and the log loss.
    pub named: Option<[f64; 3]>,
    /// Wall-clock time of the stage.
    pub seconds: f64,
}

/// A line of `generations.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    #[serde(flatten)]
    /// What it set out to do.
    pub plan: Plan,
    /// Its games.
    pub played: Played,
    /// Its training.
    pub trained: Trained,
    /// Its verdict.
    pub judged: Judged,
}

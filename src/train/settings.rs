//! What decides the outcome of a run: [`Settings`].

use serde::{Deserialize, Serialize};

use super::schedule::Schedule;
use crate::data::TdLambda;
use crate::nnue::Architecture;

/// What decides the outcome of a run; a run resumes only with the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What is trained.
    #[serde(default)]
    pub architecture: Architecture,
    /// Passes, learning rate, lambda.
    pub schedule: Schedule,
    /// Positions a step.
    pub batch: usize,
    /// Decides the first parameters and the order of positions.
    pub seed: u64,
    /// Reflect positions left to right at random.
    pub mirror: bool,
    /// Mirrored king squares share their rows.
    pub tie_mirror: bool,
    /// The finished network is an average over the last steps: the share that it keeps in a step.
    pub ema: Option<f64>,
    /// Share of games set aside, and how many of their positions are used.
    pub validation: f64,
    /// Held-out positions to use.
    pub validation_positions: usize,
    /// Positions with larger scores are left out, in `Value` units.
    pub score_limit: i16,
    /// Larger scores count as this one.
    pub score_clip: Option<i16>,
    /// Win-rate scale of the scores, `None` for the one that fits the games.
    pub score_scale: Option<f32>,
    /// Targets from whole games.
    pub td: Option<TdLambda>,
    /// Compute with what the integers can hold, or with finer numbers that are rounded in the end.
    pub quantized: bool,
    /// Adam's epsilon.
    pub epsilon: f32,
    /// Learning rate of the first layer's rows, as a share of that of everything else.
    pub row_rate: f32,
    /// Bytes for decoded positions; decides between a resident and a streamed set.
    pub memory: usize,
    /// Threads that train; the sums of a step depend on it. 0 for all processors or, where a run goes on, as many as it
    /// began with.
    pub threads: usize,
}

impl Settings {
    /// With a number of threads: that of the machine, unless one is asked for.
    pub(super) fn with_threads(&self) -> Settings {
        let all = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = if self.threads == 0 { all() } else { self.threads };
        Settings { threads, ..self.clone() }
    }
}

//! [`TrainingSettings`]: what determines the result of a run.

use serde::{Deserialize, Serialize};

use super::schedule::RateSchedule;
use crate::data::TdLambda;
use crate::nnue::Architecture;
use crate::support::numa::processors;

/// What determines the result of a run. A run resumes only with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingSettings {
    /// What is trained.
    #[serde(default)]
    pub architecture: Architecture,
    /// Passes, learning rate, lambda.
    pub schedule: RateSchedule,
    /// Positions a step.
    pub batch: usize,
    /// Determines the initial parameters and the order of positions.
    pub seed: u64,
    /// Reflect positions left to right at random.
    pub mirror: bool,
    /// Decay per step of the average that becomes the finished network; `None` for no average.
    pub ema: Option<f64>,
    /// Share of games set aside for validation.
    pub validation: f64,
    /// Validation positions to use at most.
    pub validation_positions: usize,
    /// Positions with larger scores are left out, in `Value` units.
    pub score_limit: i16,
    /// Larger scores count as this one.
    pub score_clip: Option<i16>,
    /// Win-rate scale of the scores, `None` for the one that fits the games.
    pub score_scale: Option<f32>,
    /// Targets from whole games.
    pub td: Option<TdLambda>,
    /// Compute with the values of the integers instead of finer numbers that are rounded at the end.
    pub quantized: bool,
    /// Adam's epsilon.
    pub epsilon: f32,
    /// Learning rate of the first layer's rows, as a share of that of everything else.
    pub row_rate: f32,
    /// Bytes for decoded positions; larger sets are streamed.
    pub memory: usize,
    /// Threads that train; the sums of a step depend on it. 0 for all processors or, in a resumed run, as
    /// many as before.
    pub threads: usize,
}

impl TrainingSettings {
    /// The settings with the number of threads filled in: that of the processors if it is 0.
    pub(super) fn with_threads(&self) -> TrainingSettings {
        let threads = if self.threads == 0 { processors() } else { self.threads };
        TrainingSettings { threads, ..self.clone() }
    }
}

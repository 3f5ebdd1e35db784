//! What decides the outcome of a run: [`Settings`].

use serde::{Deserialize, Serialize};

use super::schedule::Schedule;
use crate::data::TdLambda;

/// What decides the outcome of a run; a run resumes only with the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub schedule: Schedule,
    pub batch: usize,
    pub seed: u64,
    pub mirror: bool,
    /// Mirrored king squares share their rows.
    pub tie_mirror: bool,
    /// The finished network is an average over the last steps: the share that it keeps in a step.
    pub ema: Option<f64>,
    /// Share of games set aside, and how many of their positions are used.
    pub validation: f64,
    pub validation_positions: usize,
    pub score_limit: i16,
    pub score_clip: Option<i16>,
    /// Win-rate scale of the scores, `None` for the one that fits the games.
    pub score_scale: Option<f32>,
    /// Targets from whole games.
    pub td: Option<TdLambda>,
    /// Compute with what the integers can hold, or with finer numbers that are rounded in the end.
    pub quantized: bool,
    pub epsilon: f32,
    pub row_rate: f32,
    /// Bytes for decoded positions; decides between a resident and a streamed set.
    pub memory: usize,
    pub threads: usize,
}

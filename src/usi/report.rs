//! What a search finds, as lines.

use super::format;
use super::output::Output;
use crate::engine::{BookLine, Info, MateObserver, MateOutcome, MateProgress, Observer};
use crate::types::Move;
use std::sync::Arc;

/// Answers a `go` with `info` lines and one `bestmove`.
pub struct SearchReporter(pub Arc<Output>);

impl Observer for SearchReporter {
    fn info(&self, info: &Info) {
        self.0.line(&format::info(info));
    }

    fn book(&self, line: &BookLine) {
        self.0.line(&format::book(line));
    }

    fn message(&self, text: &str) {
        self.0.info(text);
    }

    fn best_move(&self, best: Move, ponder: Option<Move>) {
        self.0.line(&format::best_move(best, ponder));
    }
}

/// Answers a `go mate` with `info` lines and one `checkmate`.
pub struct MateReporter(pub Arc<Output>);

impl MateObserver for MateReporter {
    fn progress(&self, progress: &MateProgress) {
        self.0.line(&format::mate_info(progress));
    }

    fn answer(&self, outcome: &MateOutcome) {
        self.0.line(&format::checkmate(&outcome.answer));
    }
}

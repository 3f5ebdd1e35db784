//! What a search finds, as lines.

use super::format;
use super::output::Output;
use crate::engine::{Bound, Info, Observer};
use crate::types::{Move, VALUE_MATE, is_loss, is_win};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Answers a `go` with `info` lines and one `bestmove`.
pub struct SearchReporter(pub Arc<Output>);

impl Observer for SearchReporter {
    fn info(&self, info: &Info) {
        self.0.line(&format::info(info));
    }

    fn message(&self, text: &str) {
        self.0.info(text);
    }

    fn best_move(&self, best: Move, ponder: Option<Move>) {
        self.0.line(&format::best_move(best, ponder));
    }
}

/// Answers a `go mate` with `info` lines and one `checkmate`.
pub struct MateReporter {
    output: Arc<Output>,
    /// The best line so far.
    last: Mutex<Option<Info>>,
    /// Whether the clock or the user ends the search, so that silence means "not in this time".
    cut: AtomicBool,
}

impl MateReporter {
    /// `timed`: a clock is set.
    pub fn new(output: Arc<Output>, timed: bool) -> MateReporter {
        MateReporter { output, last: Mutex::new(None), cut: AtomicBool::new(timed) }
    }

    /// The user has stopped the search.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// The answer that the last line allows. A mate is only claimed with the line that leads to it.
    fn answer(&self, best: Move) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            _ if !best.is_some() => "checkmate nomate".into(),
            Some(info) if is_win(info.score) && !info.pv.is_empty() => {
                info.pv.iter().fold("checkmate".into(), |text, m| format!("{text} {m}"))
            }
            // who is mated by force mates nobody
            Some(info) if is_loss(info.score) => "checkmate nomate".into(),
            _ if self.cut.load(Ordering::Relaxed) => "checkmate timeout".into(),
            _ => "checkmate notimplemented".into(),
        }
    }
}

impl Observer for MateReporter {
    fn info(&self, info: &Info) {
        self.output.line(&format::info(info));
        if info.multipv == 1 && matches!(info.bound, Bound::Exact | Bound::None) {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            // a longer line of the same mate is the more complete one
            let complete = |i: &Info| !is_win(i.score) || i.pv.len() as i32 >= VALUE_MATE - i.score;
            if last.as_ref().is_none_or(|old| info.score > old.score || complete(info) || !complete(old)) {
                *last = Some(info.clone());
            }
        }
    }

    fn message(&self, text: &str) {
        self.output.info(text);
    }

    fn best_move(&self, best: Move, _ponder: Option<Move>) {
        self.output.line(&self.answer(best));
    }
}

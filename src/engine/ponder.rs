//! Stochastic ponder: to think about the position *before* the opponent's expected move.
//!
//! The time is then well spent whatever the opponent plays. A GUI, however, believes that the engine thinks about the
//! position after that move, so what the search reports is turned to that view, and what cannot be turned is held
//! back.

use crate::search::{Bound, Info, Observer};
use crate::types::{Move, Value, is_loss, is_win};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Stands between a search of the position before `expected` and the observer of the one after it.
pub struct PonderRelay {
    inner: Arc<dyn Observer>,
    expected: Move,
    /// The best reply to the expected move that is known, at first any legal one (or `Move::RESIGN`).
    reply: Mutex<Move>,
    muted: AtomicBool,
}

impl PonderRelay {
    pub fn new(inner: Arc<dyn Observer>, expected: Move, any_reply: Move) -> PonderRelay {
        PonderRelay { inner, expected, reply: Mutex::new(any_reply), muted: AtomicBool::new(false) }
    }

    /// Lets nothing more through, the best move included: the real search follows.
    pub fn mute(&self) {
        self.muted.store(true, Ordering::Relaxed);
    }

    fn is_muted(&self) -> bool {
        self.muted.load(Ordering::Relaxed)
    }
}

/// The score after a move, given the score before it from the mover's view.
fn after_move(score: Value) -> Value {
    match score {
        v if is_win(v) => -(v + 1),
        v if is_loss(v) => -(v - 1),
        v => -v,
    }
}

impl Observer for PonderRelay {
    fn info(&self, info: &Info) {
        let [first, rest @ ..] = info.pv.as_slice() else { return };
        if self.is_muted() || *first != self.expected || rest.is_empty() {
            return;
        }
        *self.reply.lock().unwrap_or_else(PoisonError::into_inner) = rest[0];
        self.inner.info(&Info {
            depth: info.depth - 1,
            seldepth: info.seldepth - 1,
            multipv: 1,
            score: after_move(info.score),
            bound: match info.bound {
                Bound::Upper => Bound::Lower,
                Bound::Lower => Bound::Upper,
                other => other,
            },
            pv: rest.to_vec(),
            ..info.clone()
        });
    }

    fn message(&self, text: &str) {
        if !self.is_muted() {
            self.inner.message(text);
        }
    }

    fn best_move(&self, _best: Move, _ponder: Option<Move>) {
        if !self.is_muted() {
            let reply = *self.reply.lock().unwrap_or_else(PoisonError::into_inner);
            self.inner.best_move(reply, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{mate_in, mated_in};

    #[test]
    fn scores_turn_with_the_move() {
        assert_eq!(after_move(120), -120);
        assert_eq!(after_move(mate_in(5)), mated_in(4));
        assert_eq!(after_move(mated_in(4)), mate_in(3));
    }
}

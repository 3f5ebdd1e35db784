//! Pruning: which moves and nodes are not searched.

use super::history::piece_to;
use super::params as p;
use super::stats::{Event, count};
use super::worker::Worker;
use crate::position::material::PIECE_VALUE;
use crate::types::{Depth, Move, VALUE_ZERO, Value};
use std::sync::atomic::Ordering::Relaxed;

/// The decision about a quiet move.
pub(super) enum Prune {
    Keep,
    Drop,
    /// Do not search it: it is not expected to score more than this.
    Futile(Value),
}

/// The margin above beta at which the evaluation cuts without a search.
#[inline]
pub(super) fn futility_margin(
    depth: Depth,
    tt_hit: bool,
    improving: bool,
    worsening: bool,
    correction: i32,
) -> Value {
    let mult = (p::futility_mult() + p::futility_mult_depth() * depth).min(p::futility_mult_max())
        - if tt_hit { 0 } else { p::futility_mult_no_tt() };
    let relief =
        p::futility_improving() * i32::from(improving) + p::futility_worsening() * i32::from(worsening);
    mult * depth - relief * mult / 1024 + correction.abs() / p::futility_correction_div()
}

impl Worker {
    /// Whether to prune a capture or check.
    #[inline]
    pub(super) fn prune_capture(
        &self,
        ply: usize,
        m: Move,
        gives_check: bool,
        depth: Depth,
        lmr_depth: Depth,
        alpha: Value,
    ) -> bool {
        let captured = self.pos.captured_kind(m);
        let history = self.hist.capture(m.piece(), m.to(), captured);
        if !gives_check && lmr_depth < 7 {
            let hope = self.stack[ply].static_eval
                + p::capture_futility_base()
                + p::capture_futility_depth() * lmr_depth
                + PIECE_VALUE[captured.index()]
                + p::capture_futility_history() * history / 1024;
            if hope <= alpha {
                return true;
            }
        }
        let margin = (p::capture_see_depth() * depth + history * p::capture_see_history() / 1024).max(0);
        alpha >= VALUE_ZERO && !self.pos.see_ge(m, -margin)
    }

    /// Whether to prune a quiet move.
    #[inline(always)]
    pub(super) fn prune_quiet(
        &self,
        ply: usize,
        m: Move,
        depth: Depth,
        lmr_depth: Depth,
        alpha: Value,
        has_best: bool,
    ) -> Prune {
        let entry = &self.stack[ply];
        let i = piece_to(m.piece(), m.to());
        let history = self.hist.continuation(self.stack.before(ply, 1).cont)[i] as i32
            + self.hist.continuation(self.stack.before(ply, 2).cont)[i] as i32
            + self.shared_hist.pawn(&self.pos)[i].load(Relaxed) as i32;
        if history < -p::history_prune() * depth {
            count(Event::HistoryPruned);
            return Prune::Drop;
        }
        let us = self.pos.side_to_move();
        let history = history + p::history_main_weight() * self.hist.main(us, m, entry.threats) / 32;
        let lmr_depth = lmr_depth + history / p::history_depth_div();
        let hope = entry.static_eval
            + p::futility_move_base()
            + if has_best { 0 } else { p::futility_move_no_best() }
            + p::futility_move_depth() * lmr_depth
            + if entry.static_eval > alpha { p::futility_move_above() } else { 0 };
        if !entry.in_check && lmr_depth < 13 && hope <= alpha {
            return Prune::Futile(hope);
        }
        let lmr_depth = lmr_depth.max(0);
        if !self.pos.see_ge(m, -p::quiet_see() * lmr_depth * lmr_depth) {
            count(Event::SeePruned);
            return Prune::Drop;
        }
        Prune::Keep
    }
}

//! Updates of the histories after a node has been searched.

use super::history::{CORRECTION_LIMIT, LOW_PLIES};
use super::params as p;
use super::worker::Worker;
use crate::types::{Depth, Move, Piece, PieceType, Square, Value};

/// Weights of a continuation update 1 to 6 plies back, in 1/1024.
const CONTINUATION_WEIGHTS: [i32; 6] = [1157, 648, 288, 576, 140, 441];
/// Added to the update one ply back.
const CONTINUATION_NEAREST: i32 = 88;

/// The shares of the continuation correction histories in one update, by plies back; in 1/128.
const CONT_CORRECTION_SHARES: [(usize, i32); 2] = [(2, 126), (4, 63)];

impl Worker {
    /// Adds a bonus for a move of `piece` to `to` at `ply` to the tables of the moves before it.
    pub(super) fn update_continuation(&mut self, ply: usize, piece: Piece, to: Square, bonus: i32) {
        // in check, replies depend on the check, not on older moves
        let reach = if self.stack[ply].in_check { 2 } else { 6 };
        for back in 1..=reach {
            let earlier = *self.stack.before(ply, back);
            if earlier.current.is_some() {
                let extra = if back < 2 { CONTINUATION_NEAREST } else { 0 };
                let b = bonus * CONTINUATION_WEIGHTS[back - 1] / 1024 + extra;
                self.hist.update_continuation(earlier.cont, piece, to, b);
            }
        }
    }

    /// Adds a bonus for a quiet move at `ply`, whose threats are known, to every quiet history.
    pub(super) fn update_quiet(&mut self, ply: usize, m: Move, bonus: i32) {
        let us = self.pos.side_to_move();
        self.hist.update_main(us, m, self.stack[ply].threats, bonus);
        if ply < LOW_PLIES {
            self.hist.update_low_ply(ply, m, bonus * p::low_ply_scale() / 1024);
        }
        self.update_continuation(ply, m.piece(), m.to(), bonus * p::cont_scale() / 1024);
        let scale = if bonus > 0 { p::pawn_bonus_scale() } else { p::pawn_malus_scale() };
        self.shared_hist.update_pawn(&self.pos, m.piece(), m.to(), bonus * scale / 1024);
    }

    /// After a best move: a bonus for it, a malus for the other moves that were tried.
    pub(super) fn update_best(
        &mut self,
        ply: usize,
        best: Move,
        tt_move: Move,
        depth: i32,
        quiets: &[Move],
        captures: &[Move],
    ) {
        let previous = *self.stack.before(ply, 1);
        let bonus = (p::stat_bonus_mult() * depth - p::stat_bonus_offset()).min(p::stat_bonus_max())
            + if best == tt_move { p::stat_bonus_tt() } else { 0 }
            + previous.stat_score / 32;
        let malus = (p::stat_malus_mult() * depth - p::stat_malus_offset()).min(p::stat_malus_max());
        if self.pos.is_capture(best) {
            let captured = self.pos.captured_kind(best);
            let b = bonus * p::capture_bonus_scale() / 1024;
            self.hist.update_capture(best.piece(), best.to(), captured, b);
        } else {
            self.update_quiet(ply, best, bonus * p::quiet_bonus_scale() / 1024);
            let mut blame = malus * p::quiet_malus_scale() / 1024;
            for &m in quiets {
                // the later a move came, the less was expected of it
                blame = blame * p::quiet_malus_decay() / 1024;
                self.update_quiet(ply, m, -blame);
            }
        }
        // the opponent's first move was refuted at once
        if previous.current.is_some()
            && previous.move_count == 1 + i32::from(previous.tt_hit)
            && self.pos.captured().is_none()
        {
            let m = previous.current;
            self.update_continuation(ply - 1, m.piece(), m.to(), -malus * p::refuted_malus_scale() / 1024);
        }
        for &m in captures {
            let captured = self.pos.captured_kind(m);
            let b = -malus * p::capture_malus_scale() / 1024;
            self.hist.update_capture(m.piece(), m.to(), captured, b);
        }
    }

    /// Updates the correction histories: a search to `depth` scored `error` more than the static evaluation
    /// at `ply`. Each ply of depth adds `rate`/128 of it.
    pub(super) fn update_correction(&mut self, ply: usize, error: Value, depth: Depth, rate: i32) {
        let bonus = (error * depth * rate / 128).clamp(-CORRECTION_LIMIT / 4, CORRECTION_LIMIT / 4);
        let bonus = p::correction_scale() * bonus / 1024;
        self.shared_hist.update_correction(&self.pos, bonus);
        let m = self.stack.before(ply, 1).current;
        if m.is_some() {
            for (back, share) in CONT_CORRECTION_SHARES {
                let earlier = self.stack.before(ply, back).cont_correction as usize;
                self.hist.update_cont_correction(earlier, m.piece(), m.to(), bonus * share / 128);
            }
        }
    }

    /// Before the search of a node: a bonus or malus for the opponent's quiet move by how it changed the
    /// evaluation.
    #[inline(always)]
    pub(super) fn update_by_eval_swing(&mut self, ply: usize, tt_hit: bool, prior_capture: bool) {
        let previous = *self.stack.before(ply, 1);
        let m = previous.current;
        if !m.is_some() || previous.in_check || prior_capture {
            return;
        }
        let swing = -(previous.static_eval + self.stack[ply].static_eval);
        let swing = swing.clamp(-p::eval_swing_worst(), p::eval_swing_best()) + p::eval_swing_offset();
        self.hist.update_main(!self.pos.side_to_move(), m, previous.threats, swing * p::eval_history_scale());
        if !tt_hit && m.piece().kind() != PieceType::PAWN && !m.is_promotion() {
            let bonus = swing * p::eval_pawn_history_scale();
            self.shared_hist.update_pawn(&self.pos, m.piece(), m.to(), bonus);
        }
    }

    /// After all moves failed low: a bonus for the opponent's quiet move that led here.
    pub(super) fn update_prior_quiet(&mut self, ply: usize, depth: i32, best_value: i32) {
        let (here, previous) = (self.stack[ply], *self.stack.before(ply, 1));
        let m = previous.current;
        let mut scale = (p::prior_quiet_depth() * depth).min(p::prior_quiet_depth_max())
            - previous.stat_score / p::prior_quiet_stat_div()
            - p::prior_quiet_offset();
        if previous.move_count > 8 {
            scale += p::prior_quiet_late();
        }
        if !here.in_check && best_value <= here.static_eval - p::prior_quiet_worse_margin() {
            scale += p::prior_quiet_worse();
        }
        if !previous.in_check && best_value <= -previous.static_eval - p::prior_quiet_better_margin() {
            scale += p::prior_quiet_better();
        }
        let bonus = (p::prior_quiet_bonus_mult() * depth - p::prior_quiet_bonus_offset())
            .min(p::prior_quiet_bonus_max())
            * scale.max(0);
        let cont = bonus * p::prior_quiet_cont_scale() / 16384;
        self.update_continuation(ply - 1, m.piece(), m.to(), cont);
        self.hist.update_main(
            !self.pos.side_to_move(),
            m,
            previous.threats,
            bonus * p::prior_quiet_main_scale() / 32768,
        );
        if m.piece().kind() != PieceType::PAWN && !m.is_promotion() {
            let pawn = bonus * p::prior_quiet_pawn_scale() / 8192;
            self.shared_hist.update_pawn(&self.pos, m.piece(), m.to(), pawn);
        }
    }

    /// The same for a capture.
    pub(super) fn update_prior_capture(&mut self, ply: usize) {
        let m = self.stack.before(ply, 1).current;
        let captured = self.pos.captured().kind();
        self.hist.update_capture(m.piece(), m.to(), captured, p::prior_capture_bonus());
    }
}

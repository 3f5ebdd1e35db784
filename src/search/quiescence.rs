//! The quiescence search: captures (and all evasions in check) until the position is quiet.

use super::movepick::MovePicker;
use super::node::NodeType;
use super::params as p;
use super::stats::{Event, count, count_if};
use super::tt::{DEPTH_QS, TtData, value_from_tt};
use super::worker::{Worker, corrected};
use crate::position::material::PIECE_VALUE;
use crate::types::*;

impl Worker {
    /// Searches captures from the current position, `ply` plies from the root, within (`alpha`, `beta`).
    pub(super) fn quiescence<N: NodeType>(&mut self, ply: usize, mut alpha: Value, beta: Value) -> Value {
        if N::PV {
            self.pv[ply].clear();
            self.sel_depth = self.sel_depth.max(ply as i32 + 1);
        }
        let in_check = self.pos.in_check();
        count(Event::Quiescence);
        count_if(Event::QuiescenceInCheck, in_check);
        self.stack[ply].in_check = in_check;
        if let Some(v) = self.repetition_score(ply) {
            return v;
        }
        if ply >= MAX_PLY - 1 || self.too_long() {
            return self.draw_score();
        }

        let (hit, slot) = self.probe();
        let tt_move = hit.map_or(Move::NONE, |h| h.1);
        let tt = hit.map_or_else(TtData::default, |h| h.0);
        let tt_value = hit.map_or(VALUE_NONE, |h| value_from_tt(h.0.value, ply));
        self.stack[ply].tt_hit = hit.is_some();
        count_if(Event::QuiescenceTtHit, hit.is_some());
        if !N::PV && tt_value != VALUE_NONE && tt.depth >= DEPTH_QS && tt.bound.decides(tt_value, beta) {
            count(Event::QuiescenceTtCut);
            return tt_value;
        }

        // stand pat
        let mut raw_eval = VALUE_NONE;
        let mut best_value = -VALUE_INFINITE;
        let mut futility_base = -VALUE_INFINITE;
        if !in_check {
            if tt.eval == VALUE_NONE {
                self.eval.prefetch();
            }
            if hit.is_none()
                && let Some(v) = self.find_mate_in_one::<N>(slot, ply, DEPTH_QS, N::PV)
            {
                count(Event::QuiescenceMate);
                return v;
            }
            count_if(Event::QuiescenceEvaluated, tt.eval == VALUE_NONE);
            raw_eval = if tt.eval == VALUE_NONE { self.evaluate() } else { tt.eval };
            let static_eval = corrected(raw_eval, self.correction(ply));
            self.stack[ply].static_eval = static_eval;
            best_value = static_eval;
            if tt_value != VALUE_NONE && !is_decisive(tt_value) && tt.bound.decides(tt_value, best_value + 1)
            {
                best_value = tt_value;
            }
            if best_value >= beta {
                count(Event::StandPat);
                if !is_decisive(best_value) {
                    best_value = (best_value + beta) / 2;
                }
                if hit.is_none() {
                    self.store_eval(slot, raw_eval, false);
                }
                return best_value;
            }
            alpha = alpha.max(best_value);
            futility_base = static_eval + p::qs_futility();
        }

        let previous = *self.stack.before(ply, 1);
        let previous_to = if previous.current.is_some() { previous.current.to() } else { Square::NONE };
        let mut picker =
            MovePicker::quiescence(&self.pos, tt_move, ply, previous.cont, self.options.generate_all);
        let mut best_move = Move::NONE;
        let mut move_count = 0;
        loop {
            let m = picker.next(&self.pos, &self.hist, &self.shared_hist);
            if m.is_none() {
                break;
            }
            if !self.pos.is_legal(m) {
                continue;
            }
            move_count += 1;
            let gives_check = self.pos.gives_check(m);
            let capture = self.pos.is_capture(m);
            if !is_loss(best_value) {
                if !gives_check && m.to() != previous_to && !is_loss(futility_base) {
                    if move_count > 2 {
                        continue;
                    }
                    let hope = futility_base + PIECE_VALUE[self.pos.captured_kind(m).index()];
                    if hope <= alpha {
                        best_value = best_value.max(hope);
                        continue;
                    }
                    if !self.pos.see_ge(m, alpha - futility_base) {
                        best_value = best_value.max(alpha.min(futility_base));
                        continue;
                    }
                }
                if !capture || !self.pos.see_ge(m, p::qs_see()) {
                    continue;
                }
            }
            // a node limit reached further down ends this node, too
            if self.stopped() {
                return VALUE_ZERO;
            }
            count(Event::QuiescenceSearched);
            self.prefetch_after(m);
            self.make(ply, m, gives_check);
            let v = -self.quiescence::<N>(ply + 1, -beta, -alpha);
            self.unmake();
            if v > best_value {
                best_value = v;
                if v > alpha {
                    best_move = m;
                    if N::PV {
                        self.update_pv(ply, m);
                    }
                    if v >= beta {
                        break;
                    }
                    alpha = v;
                }
            }
        }
        if in_check && move_count == 0 {
            return mated_in(ply);
        }
        // the score of a child that was stopped is meaningless
        if self.stopped() {
            return VALUE_ZERO;
        }
        if !is_decisive(best_value) && best_value > beta {
            best_value = (best_value + beta) / 2;
        }
        let bound = if best_value >= beta { Bound::Lower } else { Bound::Upper };
        let found = TtData {
            value: best_value,
            bound,
            depth: DEPTH_QS,
            move16: best_move.raw16(),
            eval: raw_eval,
            is_pv: hit.is_some() && tt.is_pv,
        };
        self.store(slot, ply, found);
        best_value
    }
}

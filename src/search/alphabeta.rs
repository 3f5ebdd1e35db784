//! The main search: alpha-beta with null windows around a principal variation, as a list of numbered steps.
//!
//! Particular to shogi: repetition has six outcomes, a declaration or a mate in one ends a line at once, and
//! drops are in every history. Zugzwang hardly exists, so the null move needs no material condition.

use super::history::Threats;
use super::late_moves::{LateMove, late_move_reduction, stat_score};
use super::movepick::MovePicker;
use super::node::{Node, NodeType, NonPv, Pv, TtProbe};
use super::params as p;
use super::pruning::{Prune, futility_margin};
use super::stats::{Event, count, count_if};
use super::tt::{TtData, value_from_tt};
use super::worker::{Worker, corrected};
use crate::types::*;
use arrayvec::ArrayVec;

/// Plies by which ProbCut's search is shallower than the node's.
const PROBCUT_REDUCTION: Depth = 4;

/// The number of tried moves that get a malus when a later one proves best.
const TRIED: i32 = 32;
type Tried = ArrayVec<Move, { TRIED as usize }>;

impl Worker {
    /// Searches the current position, `ply` plies from the root, to `depth` within (`alpha`, `beta`).
    ///
    /// `cut_node`: a null-window node that is expected to fail high. Returns a score from the side to move's
    /// view; it is meaningless once the search is stopped.
    pub(super) fn search<N: NodeType>(
        &mut self,
        ply: usize,
        mut alpha: Value,
        mut beta: Value,
        depth: Depth,
        cut_node: bool,
    ) -> Value {
        if depth <= 0 {
            return if N::PV {
                self.quiescence::<Pv>(ply, alpha, beta)
            } else {
                self.quiescence::<NonPv>(ply, alpha, beta)
            };
        }
        let mut depth = depth.min(MAX_PLY as i32 - 1);
        let asked_depth = depth;
        let all_node = !(N::PV || cut_node);
        debug_assert!(-VALUE_INFINITE <= alpha && alpha < beta && beta <= VALUE_INFINITE);
        debug_assert!(N::PV || alpha == beta - 1);

        // Step 1. Initialize the node.
        count(Event::Node);
        count_if(Event::PvNode, N::PV);
        count_if(Event::CutNode, cut_node);
        count_if(Event::AllNode, all_node);
        let us = self.pos.side_to_move();
        let in_check = self.pos.in_check();
        count_if(Event::InCheck, in_check);
        let previous = *self.stack.before(ply, 1);
        let prior_capture = previous.current.is_some() && self.pos.captured().is_some();
        let follow_pv = N::ROOT
            || previous.follow_pv && self.last_pv.get(ply - 1).is_some_and(|&m| m == previous.current);
        let entry = &mut self.stack[ply];
        entry.in_check = in_check;
        entry.move_count = 0;
        entry.follow_pv = follow_pv;
        if N::PV {
            self.sel_depth = self.sel_depth.max(ply as i32 + 1);
        }

        // Step 2. The line may end here: repetition, too many moves, stop; no mate can be shorter than one
        // found.
        if !N::ROOT {
            if let Some(v) = self.repetition_score(ply) {
                return v;
            }
            if self.stopped() || ply >= MAX_PLY - 1 || self.too_long() {
                return self.draw_score();
            }
            alpha = alpha.max(mated_in(ply));
            beta = beta.min(mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }
        let prior_reduction = previous.reduction;
        self.stack.before_mut(ply, 1).reduction = 0;
        self.stack[ply].stat_score = 0;
        self.stack[ply + 2].cutoffs = 0;
        let excluded = self.stack[ply].excluded;

        // Step 3. Transposition table.
        let (hit, slot) = self.probe();
        let tt = TtProbe {
            hit: hit.is_some(),
            mv: if N::ROOT { self.root_moves[self.pv_index].mv } else { hit.map_or(Move::NONE, |h| h.1) },
            value: hit.map_or(VALUE_NONE, |h| value_from_tt(h.0.value, ply)),
            data: hit.map_or_else(TtData::default, |h| h.0),
        };
        count_if(Event::TtHit, tt.hit);
        let tt_capture = tt.mv.is_some() && self.pos.is_capture(tt.mv);
        let entry = &mut self.stack[ply];
        entry.tt_hit = tt.hit;
        if excluded.is_none() {
            entry.tt_pv = N::PV || tt.data.is_pv;
        }
        let mut tt_pv = entry.tt_pv;
        if !N::PV
            && excluded.is_none()
            && tt.value != VALUE_NONE
            && tt.data.depth > depth - i32::from(tt.value <= beta)
            && tt.data.bound.decides(tt.value, beta)
            && (cut_node == (tt.value >= beta) || depth > 5)
        {
            count(Event::TtCut);
            if tt.mv.is_some() && tt.value >= beta {
                if !tt_capture {
                    self.stack[ply].threats = Threats::of(&self.pos);
                    let bonus = p::tt_cut_bonus_mult() * depth - p::tt_cut_bonus_offset();
                    self.update_quiet(ply, tt.mv, bonus.min(p::tt_cut_bonus_max()));
                }
                let m = previous.current;
                if m.is_some() && previous.move_count <= 4 && !prior_capture {
                    self.update_continuation(ply - 1, m.piece(), m.to(), -p::tt_cut_refuted());
                }
            }
            return tt.value;
        }

        if !in_check && tt.data.eval == VALUE_NONE {
            self.eval.prefetch();
        }

        // Step 4. Shogi's immediate wins: mate in one, declaration.
        if !N::ROOT && excluded.is_none() && !tt.hit && !in_check {
            let d = (depth + 6).min(MAX_PLY as i32 - 1);
            if let Some(v) = self.find_mate_in_one::<N>(slot, ply, d, tt_pv) {
                count(Event::MateInOne);
                return v;
            }
        }
        if !N::ROOT
            && (tt.mv.is_none() || N::PV)
            && self.pos.declaration_win(self.options.entering_king_rule).is_some()
        {
            return mate_in(ply + 1);
        }

        // Step 5. Static evaluation.
        let correction = self.correction(ply);
        let two_ago = self.stack.before(ply, 2).static_eval;
        let mut raw_eval = VALUE_NONE;
        let mut eval;
        if in_check {
            eval = two_ago;
            self.stack[ply].static_eval = eval;
        } else if excluded.is_some() {
            eval = self.stack[ply].static_eval;
            raw_eval = eval;
        } else {
            raw_eval = tt.data.eval;
            if raw_eval == VALUE_NONE {
                count(Event::Evaluated);
                raw_eval = self.evaluate();
            }
            eval = corrected(raw_eval, correction);
            self.stack[ply].static_eval = eval;
            if !tt.hit {
                self.store_eval(slot, raw_eval, tt_pv);
            } else if tt.value != VALUE_NONE && tt.data.bound.decides(tt.value, eval + 1) {
                // the table's bound is more accurate
                eval = tt.value;
            }
        }
        let static_eval = self.stack[ply].static_eval;
        let mut improving = false;
        if !in_check {
            self.update_by_eval_swing(ply, tt.hit, prior_capture);
            improving = static_eval > two_ago;
            let worsening = static_eval > -previous.static_eval;

            // Step 6. Hindsight: correct a reduction of the previous move that proves too large or too small.
            if prior_reduction >= 3 && !worsening {
                depth += 1;
            }
            if prior_reduction >= 2 && depth >= 2 && static_eval + previous.static_eval > p::hindsight_eval()
            {
                depth -= 1;
            }

            // Step 7. Razoring: far below alpha, only search captures.
            if !N::PV && eval < alpha - p::razor_base() - p::razor_depth() * depth * depth {
                count(Event::Razored);
                return self.quiescence::<NonPv>(ply, alpha, beta);
            }

            // Step 8. Futility pruning: the evaluation is far above beta.
            if !tt_pv
                && depth < 15
                && eval >= beta
                && eval - futility_margin(depth, tt.hit, improving, worsening, correction) >= beta
                && (tt.mv.is_none() || tt_capture)
                && !is_loss(beta)
                && !is_win(eval)
            {
                count(Event::Futile);
                return (2 * beta + eval) / 3;
            }

            // Step 9. Null move.
            self.shared_hist.prefetch_pawn(&self.pos);
            self.hist.prefetch_continuation(self.stack.before(ply, 1).cont);
            if cut_node
                && excluded.is_none()
                && ply >= self.null_min_ply
                && !is_loss(beta)
                && static_eval
                    >= beta - p::null_depth() * depth - p::null_improving() * i32::from(improving)
                        + p::null_offset()
                && let Some(v) = self.try_null_move(ply, beta, depth)
            {
                count(Event::NullCut);
                return v;
            }
            // a verification search at this node may have set it
            tt_pv = self.stack[ply].tt_pv;
            improving |= static_eval >= beta;

            // Step 10. Without a table move, reduce the depth.
            if !follow_pv && !all_node && depth >= 6 && tt.mv.is_none() && prior_reduction <= 3 {
                count(Event::NoMoveReduced);
                depth -= 1;
            }

            // Step 11. ProbCut: a capture that beats beta by a margin in a shallow search.
            let probcut_beta = beta + p::probcut_margin() - p::probcut_improving() * i32::from(improving);
            if depth >= 3 && !is_decisive(beta) && !(tt.value != VALUE_NONE && tt.value < probcut_beta) {
                if let Some((v, m)) = self.try_probcut(ply, probcut_beta, depth, cut_node, tt.mv) {
                    count(Event::ProbCut);
                    let (bound, move16) = (Bound::Lower, m.raw16());
                    let depth = depth - PROBCUT_REDUCTION + 1; // the capture is a ply, too
                    let found = TtData { value: v, bound, depth, move16, eval: raw_eval, is_pv: tt_pv };
                    self.store(slot, ply, found);
                    if !is_decisive(v) {
                        return v - (probcut_beta - beta);
                    }
                } else if self.stopped() {
                    return VALUE_ZERO;
                }
            }
        }

        // Step 12. Small ProbCut: the table's score beats beta by such a margin.
        let small_probcut = beta + p::small_probcut_margin();
        if tt.data.bound.is_lower()
            && tt.data.depth >= depth - PROBCUT_REDUCTION
            && tt.value != VALUE_NONE
            && tt.value >= small_probcut
            && !is_decisive(beta)
            && !is_decisive(tt.value)
        {
            count(Event::SmallProbCut);
            return small_probcut;
        }

        // Step 13. The moves.
        count(Event::MoveLoop);
        let continuation = self.stack.continuation(ply);
        let node = Node { us, cut_node, all_node, tt, tt_capture, correction, continuation };
        // moves that the user names are searched, pointless or not
        let all = self.options.generate_all || N::ROOT && !self.limits.search_moves.is_empty();
        let mut picker = MovePicker::main(&self.pos, tt.mv, depth, ply, continuation, all);
        let mut best_value = -VALUE_INFINITE;
        let mut best_move = Move::NONE;
        let mut move_count = 0;
        let mut quiets = Tried::new();
        let mut captures = Tried::new();
        // sorted, because in short searches a linear search for every move would cost time
        let mut roots: Vec<(Move, usize)> = Vec::new();
        if N::ROOT {
            let open = self.root_moves.iter().enumerate().skip(self.pv_index);
            roots.extend(open.map(|(i, r)| (r.mv, i)));
            roots.sort_unstable_by_key(|&(m, _)| m.0);
        }
        loop {
            let m = picker.next(&self.pos, &self.hist, &self.shared_hist);
            if m.is_none() {
                break;
            }
            if m == excluded || !self.pos.is_legal(m) {
                continue;
            }
            let root_index = if N::ROOT {
                // moves that the user did not name, or of better lines, are left out
                let Ok(i) = roots.binary_search_by_key(&m.0, |&(m, _)| m.0) else { continue };
                roots[i].1
            } else {
                0
            };
            move_count += 1;
            count(Event::Move);
            self.stack[ply].move_count = move_count;
            let capture = self.pos.is_capture(m);
            if !capture {
                self.stack[ply].threats = picker.threats(&self.pos);
            }
            let gives_check = self.pos.gives_check(m);
            let mut new_depth = depth - 1;
            let mut r = self.reductions.base(improving, depth, move_count, beta - alpha, self.root_delta);
            if tt_pv {
                r += p::lmr_tt_pv_entry();
            }

            // Step 14. Prune unlikely moves once one has a score that is not lost.
            if !N::ROOT && !is_loss(best_value) {
                if move_count >= (3 + depth * depth) / (2 - i32::from(improving)) {
                    count(Event::QuietsSkipped);
                    picker.skip_quiets();
                }
                let lmr_depth = new_depth - r / 1024;
                if capture || gives_check {
                    if self.prune_capture(ply, m, gives_check, depth, lmr_depth, alpha) {
                        count(Event::CapturePruned);
                        continue;
                    }
                } else if !follow_pv || !N::PV {
                    match self.prune_quiet(ply, m, depth, lmr_depth, alpha, best_move.is_some()) {
                        Prune::Keep => {}
                        Prune::Drop => continue,
                        Prune::Futile(v) => {
                            count(Event::FutilePruned);
                            if best_value <= v && !is_decisive(best_value) && !is_win(v) {
                                best_value = v;
                            }
                            continue;
                        }
                    }
                }
            }

            // Step 15. Singular extension: is the table's move much better than all others?
            let mut extension = 0;
            if !N::ROOT
                && m == tt.mv
                && excluded.is_none()
                && depth >= 6 + i32::from(tt_pv)
                && tt.value != VALUE_NONE
                && !is_decisive(tt.value)
                && tt.data.bound.is_lower()
                && tt.data.depth >= depth - 3
                && !self.is_shuffling(ply, m, capture)
            {
                let margin = p::singular_margin() + p::singular_tt_pv() * i32::from(tt_pv && !N::PV);
                let singular_beta = tt.value - margin * depth / p::singular_margin_div();
                count(Event::SingularTried);
                self.stack[ply].excluded = m;
                let v = self.search::<NonPv>(ply, singular_beta - 1, singular_beta, new_depth / 2, cut_node);
                let entry = &mut self.stack[ply];
                entry.excluded = Move::NONE;
                // the search without `m` may have found out that this node belongs to the principal
                // variation's tree
                tt_pv = entry.tt_pv;
                if self.stopped() {
                    return VALUE_ZERO;
                }
                if v < singular_beta {
                    extension = self.singular_extension::<N>(ply, singular_beta - v, tt_capture, correction);
                    count(Event::Extended);
                    count_if(Event::ExtendedTwice, extension > 1);
                    depth += 1;
                } else if v >= beta && !is_decisive(v) {
                    // several moves beat beta: cut
                    count(Event::MultiCut);
                    self.hist.update_tt_move(
                        -(p::multi_cut_malus_offset() + p::multi_cut_malus_mult() * depth)
                            .min(p::multi_cut_malus_max()),
                    );
                    if !in_check && v > static_eval {
                        self.update_correction(
                            ply,
                            v - static_eval,
                            new_depth / 2,
                            p::correction_rate_multi_cut(),
                        );
                    }
                    return v;
                } else if tt.value >= beta || cut_node {
                    extension = -3;
                }
                count_if(Event::NegativelyExtended, extension < 0);
            }

            // Step 16. The reduction of a late move.
            self.prefetch_after(m);
            new_depth += extension;
            let stat_score = stat_score(&self.hist, &self.pos, &node, self.stack[ply].threats, m, capture);
            self.stack[ply].stat_score = stat_score;
            let cutoffs = self.stack[ply + 1].cutoffs;
            let late = LateMove { mv: m, move_count, depth, alpha, tt_pv, stat_score, cutoffs };
            r = late_move_reduction::<N>(&node, late, r);

            // Step 17. Make the move.
            count(Event::Searched);
            let nodes_before = self.nodes;
            self.make(ply, m, gives_check);

            // Step 18. Search: late moves with reduced depth and a null window, then deeper and wider if they
            // beat alpha. A move that wins a tie is not searched again; its line is the move alone.
            if N::PV {
                self.pv[ply + 1].clear();
            }
            let mut value = -VALUE_INFINITE;
            if depth >= 2 && move_count > 1 {
                let d = (new_depth - r / 1024).min(new_depth + 2).max(1) + i32::from(N::PV);
                count_if(Event::Reduced, d < new_depth);
                self.stack[ply].reduction = new_depth - d;
                value = -self.search::<NonPv>(ply + 1, -(alpha + 1), -alpha, d, true);
                self.stack[ply].reduction = 0;
                if value > alpha {
                    count_if(Event::ReducedBeatsAlpha, d < new_depth);
                    let deeper = d < new_depth && value > best_value + p::lmr_deeper();
                    let shallower = value < best_value + p::lmr_shallower();
                    new_depth += i32::from(deeper) - i32::from(shallower);
                    if new_depth > d {
                        count(Event::ReducedAgain);
                        value = -self.search::<NonPv>(ply + 1, -(alpha + 1), -alpha, new_depth, !cut_node);
                    }
                    self.update_continuation(ply, m.piece(), m.to(), p::post_lmr_bonus());
                }
            } else if !N::PV || move_count > 1 {
                if tt.mv.is_none() {
                    r += p::lmr_full_no_tt();
                }
                let d = new_depth
                    - i32::from(r > p::lmr_full_one())
                    - i32::from(r > p::lmr_full_two() && new_depth > 2);
                value = -self.search::<NonPv>(ply + 1, -(alpha + 1), -alpha, d, !cut_node);
            }
            if N::PV && (move_count == 1 || value > alpha) {
                // do not drop into quiescence from a move that the table has searched
                if m == tt.mv
                    && (tt.value != VALUE_NONE && is_decisive(tt.value) && tt.data.depth > 0
                        || tt.data.depth > 1)
                {
                    new_depth = new_depth.max(1);
                }
                value = -self.search::<Pv>(ply + 1, -beta, -alpha, new_depth, false);
            }

            // Step 19. Undo the move.
            self.unmake();
            if self.stopped() {
                return VALUE_ZERO;
            }
            if N::ROOT {
                self.record_root_move(root_index, value, alpha, beta, move_count, nodes_before);
            }

            // Step 20. Check for a new best move. Near the horizon an equal score sometimes counts as better,
            // for variety.
            let tie = i32::from(
                value == best_value
                    && ply as i32 + 2 >= self.root_depth
                    && self.nodes & 14 == 0
                    && !is_win(value.abs() + 1),
            );
            if value + tie > best_value {
                best_value = value;
                if value + tie > alpha {
                    best_move = m;
                    if N::PV && !N::ROOT {
                        self.update_pv(ply, m);
                    }
                    if value >= beta {
                        count(Event::FailHigh);
                        count_if(Event::FailHighFirst, move_count == 1);
                        count_if(Event::FailHighTtMove, m == tt.mv);
                        count_if(Event::FailHighCapture, capture);
                        if extension < 2 || N::PV {
                            self.stack[ply].cutoffs += 1;
                        }
                        break;
                    }
                    if depth > 2 && depth < 14 && !is_decisive(value) {
                        depth -= 2;
                    }
                    alpha = value;
                }
            }
            if m != best_move && move_count <= TRIED {
                if capture { &mut captures } else { &mut quiets }.push(m);
            }
        }

        // Step 21. No move at all is a loss: mate, and in shogi stalemate too.
        if best_value >= beta && !is_decisive(best_value) && !is_decisive(alpha) {
            best_value = (best_value * depth + beta) / (depth + 1);
        }
        if move_count == 0 {
            best_value = if excluded.is_some() { alpha } else { mated_in(ply) };
        } else if best_move.is_some() {
            self.update_best(ply, best_move, tt.mv, depth, &quiets, &captures);
            if !N::PV {
                let held = best_move == tt.mv;
                self.hist.update_tt_move(if held { p::tt_move_bonus() } else { -p::tt_move_malus() });
            }
        } else if previous.current.is_some() {
            if prior_capture {
                self.update_prior_capture(ply);
            } else {
                self.update_prior_quiet(ply, depth, best_value);
            }
        }
        if best_value <= alpha && previous.tt_pv {
            self.stack[ply].tt_pv = true;
        }

        // Step 22. Store the result.
        if excluded.is_none() && !(N::ROOT && self.pv_index > 0) {
            let bound = if best_value >= beta {
                Bound::Lower
            } else if N::PV && best_move.is_some() {
                Bound::Exact
            } else {
                Bound::Upper
            };
            let found = TtData {
                value: best_value,
                bound,
                depth: if move_count != 0 { depth } else { (depth + 6).min(MAX_PLY as i32 - 1) },
                move16: best_move.raw16(),
                eval: raw_eval,
                is_pv: self.stack[ply].tt_pv,
            };
            self.store(slot, ply, found);
            if let (false, true, Some(tree)) = (N::ROOT, move_count > 0, &mut self.tree) {
                tree.record(&self.pos, asked_depth, &found, best_move);
            }
        }
        let static_eval = self.stack[ply].static_eval;
        if !in_check
            && (best_move.is_none() || !self.pos.is_capture(best_move))
            && (best_value > static_eval) == best_move.is_some()
        {
            let rate = if best_move.is_some() { p::correction_rate() } else { p::correction_rate_no_best() };
            self.update_correction(ply, best_value - static_eval, depth, rate);
        }
        debug_assert!(-VALUE_INFINITE < best_value && best_value < VALUE_INFINITE);
        best_value
    }

    /// Null move pruning: a score if beta holds even after a pass. At high depth a search without null moves
    /// verifies it.
    fn try_null_move(&mut self, ply: usize, beta: Value, depth: Depth) -> Option<Value> {
        count(Event::NullTried);
        let d = depth - (p::null_reduction() + depth / 3);
        self.make_null(ply);
        let v = -self.search::<NonPv>(ply + 1, -beta, -beta + 1, d, false);
        self.unmake_null();
        if self.stopped() {
            return Some(VALUE_ZERO); // another move would exceed the node limit
        }
        if v < beta || is_win(v) {
            return None;
        }
        if self.null_min_ply > 0 || depth < 16 {
            return Some(v);
        }
        self.null_min_ply = ply + (3 * d.max(0) / 4) as usize;
        let verified = self.search::<NonPv>(ply, beta - 1, beta, d, false);
        self.null_min_ply = 0;
        if self.stopped() {
            return Some(VALUE_ZERO);
        }
        (verified >= beta).then_some(v)
    }

    /// ProbCut: the score and the move of a capture whose shallow search reaches `probcut_beta`.
    fn try_probcut(
        &mut self,
        ply: usize,
        probcut_beta: Value,
        depth: Depth,
        cut_node: bool,
        tt_move: Move,
    ) -> Option<(Value, Move)> {
        let threshold = probcut_beta - self.stack[ply].static_eval;
        let excluded = self.stack[ply].excluded;
        let mut picker = MovePicker::probcut(&self.pos, tt_move, threshold, self.options.generate_all);
        loop {
            let m = picker.next(&self.pos, &self.hist, &self.shared_hist);
            if m.is_none() {
                return None;
            }
            if m == excluded || !self.pos.is_legal(m) {
                continue;
            }
            self.prefetch_after(m);
            let gives_check = self.pos.gives_check(m);
            self.make(ply, m, gives_check);
            let mut v = -self.quiescence::<NonPv>(ply + 1, -probcut_beta, -probcut_beta + 1);
            if v >= probcut_beta && depth > PROBCUT_REDUCTION {
                v = -self.search::<NonPv>(
                    ply + 1,
                    -probcut_beta,
                    -probcut_beta + 1,
                    depth - PROBCUT_REDUCTION,
                    !cut_node,
                );
            }
            self.unmake();
            if self.stopped() {
                return None;
            }
            if v >= probcut_beta {
                return Some((v, m));
            }
        }
    }

    /// How many plies to extend a move that is better than all others by `gap` beyond the singular margin.
    fn singular_extension<N: NodeType>(
        &self,
        ply: usize,
        gap: Value,
        tt_capture: bool,
        correction: i32,
    ) -> Depth {
        let quiet = i32::from(!tt_capture);
        let pv = i32::from(N::PV);
        let deep = i32::from(ply as i32 > self.root_depth);
        let uncertainty = correction.abs() / p::extension_correction_div();
        let double = p::double_base() + p::double_pv() * pv
            - p::double_not_capture() * quiet
            - uncertainty
            - p::double_tt_history() * self.hist.tt_move as i32 / p::double_tt_history_div()
            - p::double_deep() * deep;
        let triple = p::triple_base() + p::triple_pv() * pv - p::triple_not_capture() * quiet
            + p::triple_tt_pv() * i32::from(self.stack[ply].tt_pv)
            - uncertainty
            - p::triple_deep() * deep;
        1 + i32::from(gap > double) + i32::from(gap > triple)
    }

    /// Whether `m` moves a piece back and forth once more. Drops and captures never do.
    fn is_shuffling(&self, ply: usize, m: Move, capture: bool) -> bool {
        if capture || m.is_drop() || ply < 18 || self.pos.plies_from_null() <= 6 {
            return false;
        }
        let (two, four) = (self.stack.before(ply, 2).current, self.stack.before(ply, 4).current);
        two.is_some()
            && four.is_some()
            && !two.is_drop()
            && !four.is_drop()
            && m.from() == two.to()
            && two.from() == four.to()
    }
}

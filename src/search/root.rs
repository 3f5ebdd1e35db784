//! The root: iterative deepening with aspiration windows over the list of root moves, and when to stop.

use super::node::Root;
use super::params as p;
use super::report::LineSender;
use super::root_move::RootMove;
use super::timeman::Stability;
use super::worker::Worker;
use crate::types::*;
use std::sync::atomic::Ordering::Relaxed;

/// From this number of nodes on (some ten seconds), progress within an iteration is reported.
const LONG_SEARCH: u64 = 10_000_000;

impl Worker {
    /// Deepens iteration by iteration until a limit or the stop flag ends it. Only the timekeeping thread
    /// gets a sender. Returns whether the result is that of a finished iteration and has been reported.
    pub(super) fn iterate(&mut self, mut sender: Option<&mut LineSender<'_>>) -> bool {
        let main = self.timekeeper.is_some();
        let multi_pv = self.ranks();
        let mut reported = false;
        let mut last_best = Move::NONE;
        let mut last_best_depth = 0;
        let mut search_again = 0;
        let mut changes = 0.0;
        let mut time_reduction = 1.0;
        let mut iteration_scores = [0; 4];
        if main {
            self.previous = self.previous.seen_at(self.pos.game_ply());
            if self.previous.score != VALUE_INFINITE {
                iteration_scores = [self.previous.score; 4];
            }
        }
        self.hist.new_search();
        while self.root_depth + 1 < MAX_PLY as i32
            && !self.stopped()
            && !(main && (self.depth_reached() || self.soft_limit_reached()))
        {
            self.root_depth += 1;
            changes /= 2.0;
            reported = false;
            for r in &mut self.root_moves {
                r.previous_score = r.score;
            }
            if !self.shared.increase_depth.load(Relaxed) {
                search_again += 1;
            }
            let mut best_value = -VALUE_INFINITE;
            for pv_index in 0..multi_pv {
                self.pv_index = pv_index;
                self.sel_depth = 0;
                best_value = self.aspirate(search_again, multi_pv, &mut sender);
                self.root_moves[..=pv_index].sort_by(RootMove::best_first);
                if self.stopped() {
                    // what is known then goes out when the search has ended
                    break;
                }
                if (pv_index + 1 == multi_pv || self.nodes > LONG_SEARCH)
                    && let Some(sender) = &mut sender
                    && sender.is_due()
                {
                    self.report_progress(sender);
                    reported = pv_index + 1 == multi_pv;
                }
            }
            if !self.stopped() {
                self.completed_depth = self.root_depth;
                if main {
                    self.shared.has_move.store(true, Relaxed);
                }
                if self.last_pv.first() != Some(&self.root_moves[0].mv) {
                    last_best_depth = self.root_depth;
                }
                self.last_pv.clear();
                self.last_pv.extend(self.root_moves[0].pv());
                self.keep_lines();
            }
            if main && multi_pv == 1 && self.reject_if_mated() {
                continue;
            }
            if self.roll_back_unproven_loss() {
                reported = false;
            } else if last_best != self.root_moves[0].mv {
                last_best = self.root_moves[0].mv;
                last_best_depth = self.root_depth;
            }
            if multi_pv == 1 && self.mate_is_final(best_value) {
                break;
            }
            if !main {
                continue;
            }
            for c in &self.shared.counters {
                changes += c.best_move_changes.swap(0, Relaxed) as f64;
            }
            time_reduction = self.plan(
                best_value,
                iteration_scores[self.root_depth as usize & 3],
                last_best_depth,
                changes,
                time_reduction,
            );
            iteration_scores[self.root_depth as usize & 3] = best_value;
        }
        if main {
            self.previous.time_reduction = time_reduction;
        }
        reported
    }

    /// Searches one line of the root in windows that grow until the score lies within.
    fn aspirate(
        &mut self,
        search_again: i32,
        multi_pv: usize,
        sender: &mut Option<&mut LineSender<'_>>,
    ) -> Value {
        let r = &self.root_moves[self.pv_index];
        let mut delta =
            p::aspiration_delta() + (self.index % 8) as i32 + r.mean_square.abs() / p::aspiration_score_div();
        let mut alpha = (r.average - delta).max(-VALUE_INFINITE);
        let mut beta = (r.average + delta).min(VALUE_INFINITE);
        let mut failed_high = 0;
        loop {
            let depth = (self.root_depth - failed_high - 3 * (search_again + 1) / 4).max(1);
            self.root_delta = beta - alpha;
            let value = self.search::<Root>(0, alpha, beta, depth, false);
            self.root_moves[self.pv_index..].sort_by(RootMove::best_first);
            if self.stopped() {
                return value;
            }
            let outside = value <= alpha || value >= beta;
            if outside
                && multi_pv == 1
                && self.nodes > LONG_SEARCH
                && self.options.output_fail_lh
                && let Some(sender) = sender
                && sender.is_due()
            {
                self.report_progress(sender);
            }
            if value <= alpha {
                beta = alpha;
                alpha = (value - delta).max(-VALUE_INFINITE);
                failed_high = 0;
                if let Some(k) = &mut self.timekeeper {
                    k.stop_on_ponderhit = false;
                }
            } else if value >= beta {
                alpha = (beta - delta).max(alpha);
                beta = (value + delta).min(VALUE_INFINITE);
                failed_high += 1;
            } else {
                return value;
            }
            delta += delta / 3;
        }
    }

    /// After a stop in the middle of the first line's search: a lost score is not proven, for moves are
    /// missing that may be better. Restores the best line of the last finished iteration; whether it did.
    fn roll_back_unproven_loss(&mut self) -> bool {
        let r = &self.root_moves[0];
        let unproven =
            self.shared.aborted.load(Relaxed) && self.pv_index == 0 && r.is_scored() && is_loss(r.score);
        let Some(line) = self.finished_lines.first().filter(|_| unproven) else { return false };
        if let Some(i) = self.root_moves.iter().position(|r| r.mv == line.pv[0]) {
            self.root_moves[..=i].rotate_right(1);
        }
        let r = &mut self.root_moves[0];
        r.rest = line.pv[1..].to_vec();
        (r.score, r.shown, r.bound) = (line.score, line.score, Bound::Exact);
        true
    }

    /// Rejects the best move if the opponent mates behind it by checks alone, which a search may not see.
    /// Looks from a quarter of the planned time on, when the move may soon be played and there is time to
    /// think again.
    fn reject_if_mated(&mut self) -> bool {
        let r = &self.root_moves[0];
        let Some(keeper) = &self.timekeeper else { return false };
        let soon = keeper.time.elapsed() * 4 >= keeper.time.optimum;
        if !soon || self.stopped() || self.root_moves.len() < 2 || is_decisive(r.score) {
            return false;
        }
        let m = r.mv;
        let left = self.time_left();
        if !self.mates.runs_into_mate(&self.pos, m, left) {
            return false;
        }
        self.root_moves.remove(0);
        self.finished_lines.retain(|line| line.pv.first() != Some(&m));
        self.last_pv.clear();
        true
    }

    fn depth_reached(&self) -> bool {
        self.limits.depth.is_some_and(|d| self.root_depth >= d)
    }

    fn soft_limit_reached(&self) -> bool {
        self.completed_depth >= 1 && self.limits.soft_nodes.is_some_and(|n| self.total_nodes() >= n)
    }

    /// Whether a mate was found (or suffered) that deeper iterations will not improve.
    fn mate_is_final(&self, best: Value) -> bool {
        if self.limits.mate.is_some() {
            return is_win(best) && (VALUE_MATE - best) <= self.root_depth;
        }
        is_decisive(best) && (VALUE_MATE - best.abs() + 2) * 5 / 2 < self.root_depth
    }

    /// After an iteration: decides with the time manager whether to continue. Returns the time reduction for a
    /// stable best move.
    fn plan(
        &mut self,
        best_value: Value,
        earlier_value: Value,
        last_best_depth: i32,
        changes: f64,
        time_reduction: f64,
    ) -> f64 {
        let pondering = self.shared.pondering();
        if !pondering {
            self.follow_ponderhit();
        }
        if !self.limits.uses_time_manager() || self.stopped() {
            return time_reduction;
        }
        let stability = Stability {
            depth: self.completed_depth,
            best_value,
            earlier_value,
            last_best_depth,
            changes: changes / self.threads as f64,
            effort: self.root_moves[0].effort * 100_000 / self.nodes.max(1),
        };
        let Some(keeper) = &mut self.timekeeper else { return time_reduction };
        if keeper.stop_on_ponderhit || keeper.time.end.is_some() {
            return time_reduction;
        }
        let (total, time_reduction) = keeper.planned_time(&self.previous, &stability);
        let elapsed = keeper.time.elapsed();
        if elapsed as f64 > total.min(keeper.time.maximum as f64) {
            if pondering {
                keeper.stop_on_ponderhit = true;
            } else {
                keeper.time.finish(elapsed);
            }
        } else {
            let deeper = pondering || elapsed as f64 <= total * 0.503;
            self.shared.increase_depth.store(deeper, Relaxed);
        }
        time_reduction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Network;
    use crate::position::Position;
    use std::sync::Arc;

    /// After a stop in the second line's search, the first line is finished, and its loss proven.
    #[test]
    fn only_an_unfinished_first_line_is_rolled_back() {
        let mut worker = Worker::alone(Arc::new(Network::bootstrap().unwrap()), 1).unwrap();
        let shared = worker.shared.clone();
        let moves = Position::startpos().legal_moves(false);
        worker.root_moves = moves.iter().map(|s| RootMove::new(s.mv)).collect();
        worker.root_moves[0].set_score(-50, -100, 100, &[]);
        worker.keep_lines();
        let finished = worker.root_moves[0].mv;
        // another move is best in the next iteration, but lost
        worker.root_moves.swap(0, 1);
        worker.root_moves[0].set_score(mated_in(8), -VALUE_INFINITE, VALUE_INFINITE, &[]);
        let lost = worker.root_moves[0].mv;
        shared.request_stop();
        worker.pv_index = 1;
        assert!(!worker.roll_back_unproven_loss());
        assert_eq!((worker.root_moves[0].mv, worker.root_moves[0].score), (lost, mated_in(8)));
        worker.pv_index = 0;
        assert!(worker.roll_back_unproven_loss());
        assert_eq!((worker.root_moves[0].mv, worker.root_moves[0].score), (finished, -50));
    }
}

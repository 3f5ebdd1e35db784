//! The root: iterative deepening with aspiration windows, the list of root moves, when to stop, and what to report.

use super::alphabeta::{is_decisive, is_loss, is_win};
use super::node::Root;
use super::params as p;
use super::worker::{PvLine, Worker};
use super::{Bound, Info, Observer, SearchResult};
use crate::position::{Position, Repetition};
use crate::types::*;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// One move of the root and what is known of it.
#[derive(Clone)]
pub struct RootMove {
    /// The move and the line after it.
    pub pv: PvLine,
    /// The score of this iteration; `-VALUE_INFINITE` if the move failed low.
    pub score: Value,
    pub previous_score: Value,
    /// The score to print: a bound where the window cut it off.
    pub shown: Value,
    pub bound: Bound,
    pub average: Value,
    /// Mean of score × |score|.
    pub mean_square: i32,
    /// Nodes spent on it.
    pub effort: u64,
    pub sel_depth: i32,
}

impl RootMove {
    pub fn new(m: Move) -> RootMove {
        let mut pv = PvLine::new();
        pv.push(m);
        RootMove {
            pv,
            score: -VALUE_INFINITE,
            previous_score: -VALUE_INFINITE,
            shown: -VALUE_INFINITE,
            bound: Bound::Exact,
            average: -VALUE_INFINITE,
            mean_square: -VALUE_INFINITE * VALUE_INFINITE,
            effort: 0,
            sel_depth: 0,
        }
    }
}

/// What the time manager remembers of the previous move of the game.
#[derive(Clone, Copy)]
pub struct Previous {
    /// From the then side to move's view; `VALUE_INFINITE` for none.
    pub score: Value,
    pub average: Value,
    pub time_reduction: f64,
    pub game_ply: u32,
}

impl Default for Previous {
    fn default() -> Previous {
        Previous { score: VALUE_INFINITE, average: VALUE_INFINITE, time_reduction: 0.85, game_ply: 0 }
    }
}

/// When the last lines went out.
pub(super) struct Reporter<'a> {
    pub observer: &'a dyn Observer,
    pub interval: u64,
    pub last: Option<Instant>,
}

impl Reporter<'_> {
    fn due(&self) -> bool {
        self.last.is_none_or(|t| t.elapsed().as_millis() as u64 >= self.interval)
    }
}

impl Worker {
    /// Deepens iteration by iteration until a limit or the stop flag ends it. Only the timekeeping thread gets a
    /// reporter. Says whether the last result has been reported.
    pub(super) fn iterate(&mut self, mut reporter: Option<&mut Reporter<'_>>) -> bool {
        let main = self.timekeeper.is_some();
        let multi_pv = self.options.multi_pv.clamp(1, self.root_moves.len().max(1));
        let mut reported = false;
        let mut last_best = (PvLine::new(), -VALUE_INFINITE);
        let mut last_best_depth = 0;
        let mut search_again = 0;
        let mut changes = 0.0;
        let mut time_reduction = 1.0;
        let mut iteration_scores = [0; 4];
        if main {
            self.flip_previous();
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
                best_value = self.aspirate(search_again, multi_pv, &mut reporter);
                self.root_moves[..=pv_index].sort_by(by_score);
                let abandoned = self.shared.aborted.load(Relaxed) && is_loss(self.root_moves[0].shown);
                if (self.stopped() || pv_index + 1 == multi_pv || self.nodes > 10_000_000)
                    && !abandoned
                    && let Some(rep) = &mut reporter
                    && rep.due()
                {
                    self.report(rep, multi_pv);
                    reported = pv_index + 1 == multi_pv;
                }
                if self.stopped() {
                    break;
                }
            }
            if !self.stopped() {
                self.completed_depth = self.root_depth;
                if self.last_pv.first() != self.root_moves[0].pv.first() {
                    last_best_depth = self.root_depth;
                }
                self.last_pv = self.root_moves[0].pv.clone();
            }
            // an unfinished iteration's loss is not to be trusted: go back to what was found before
            let unproven_loss = self.shared.aborted.load(Relaxed)
                && self.root_moves[0].score != -VALUE_INFINITE
                && is_loss(self.root_moves[0].score);
            if unproven_loss && !last_best.0.is_empty() {
                if let Some(i) = self.root_moves.iter().position(|r| r.pv[0] == last_best.0[0]) {
                    self.root_moves[..=i].rotate_right(1);
                }
                let r = &mut self.root_moves[0];
                r.pv = last_best.0.clone();
                (r.score, r.shown, r.bound) = (last_best.1, last_best.1, Bound::Exact);
                reported = false;
            } else if last_best.0.first() != self.root_moves[0].pv.first() {
                last_best = (self.root_moves[0].pv.clone(), self.root_moves[0].score);
                last_best_depth = self.root_depth;
            }
            if multi_pv == 1 && self.mate_is_settled(best_value) {
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
        reporter: &mut Option<&mut Reporter<'_>>,
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
            self.root_moves[self.pv_index..].sort_by(by_score);
            if self.stopped() {
                return value;
            }
            let outside = value <= alpha || value >= beta;
            if outside
                && multi_pv == 1
                && self.nodes > 10_000_000
                && self.options.output_fail_lh
                && let Some(rep) = reporter
                && rep.due()
            {
                self.report(rep, multi_pv);
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

    /// Records what the search of a root move found.
    pub(super) fn record_root_move(
        &mut self,
        m: Move,
        value: Value,
        alpha: Value,
        beta: Value,
        move_count: i32,
        nodes_before: u64,
    ) {
        let nodes = self.nodes;
        let line = self.pv[1].clone();
        let (sel_depth, first_line) = (self.sel_depth, self.pv_index == 0);
        let Some(r) = self.root_moves.iter_mut().find(|r| r.pv[0] == m) else { return };
        r.effort += nodes - nodes_before;
        let square = value * value.abs();
        if r.average == -VALUE_INFINITE {
            (r.average, r.mean_square) = (value, square);
        } else {
            r.average = (value + r.average) / 2;
            r.mean_square = (square + r.mean_square) / 2;
        }
        if move_count == 1 || value > alpha {
            r.score = value;
            r.sel_depth = sel_depth;
            (r.shown, r.bound) = if value >= beta {
                (beta, Bound::Lower)
            } else if value <= alpha {
                (alpha, Bound::Upper)
            } else {
                (value, Bound::Exact)
            };
            r.pv.truncate(1);
            let room = r.pv.remaining_capacity().min(line.len());
            r.pv.extend(line[..room].iter().copied());
            if move_count > 1 && first_line {
                self.shared.counters[self.index].best_move_changes.fetch_add(1, Relaxed);
            }
        } else {
            r.score = -VALUE_INFINITE;
        }
    }

    fn depth_reached(&self) -> bool {
        self.limits.depth.is_some_and(|d| self.root_depth >= d)
    }

    fn soft_limit_reached(&self) -> bool {
        self.completed_depth >= 1 && self.limits.soft_nodes.is_some_and(|n| self.total_nodes() >= n)
    }

    /// Whether a mate was found (or suffered) that deeper iterations will not improve.
    fn mate_is_settled(&self, best: Value) -> bool {
        if self.limits.mate.is_some() {
            return is_win(best) && (VALUE_MATE - best) <= self.root_depth;
        }
        is_decisive(best) && (VALUE_MATE - best.abs() + 2) * 5 / 2 < self.root_depth
    }

    /// After an odd number of plies the previous score was the opponent's.
    fn flip_previous(&mut self) {
        let p = &mut self.previous;
        if (p.game_ply.wrapping_sub(self.pos.game_ply())) & 1 == 1 {
            for v in [&mut p.score, &mut p.average] {
                if *v != VALUE_INFINITE {
                    *v = -*v;
                }
            }
        }
    }

    /// After an iteration: decides with the time manager whether to go on. Returns the time reduction for a stable
    /// best move.
    fn plan(
        &mut self,
        best_value: Value,
        earlier_value: Value,
        last_best_depth: i32,
        changes: f64,
        time_reduction: f64,
    ) -> f64 {
        if !self.limits.uses_time_manager() || self.stopped() {
            return time_reduction;
        }
        let previous = self.previous;
        let single = self.root_moves.len() == 1;
        let effort = self.root_moves[0].effort * 100_000 / self.nodes.max(1);
        let (threads, completed) = (self.threads as f64, self.completed_depth);
        let Some(keeper) = &mut self.timekeeper else { return time_reduction };
        if keeper.stop_on_ponderhit || keeper.time.end().is_some() {
            return time_reduction;
        }
        // a falling score, an unstable best move: more time; a stable one: less
        let falling = ((11.325
            + 2.115 * f64::from(previous.average - best_value)
            + 0.987 * f64::from(earlier_value - best_value))
            / 100.0)
            .clamp(0.5688, 1.5698);
        let center = f64::from(last_best_depth) + 11.57;
        let time_reduction = 0.723 + 0.79 / (1.104 + (-0.5189 * (f64::from(completed) - center)).exp());
        let reduction = (1.455 + previous.time_reduction) / (2.2375 * time_reduction);
        let instability = 1.04 + 1.8956 * changes / threads;
        let obvious = if completed >= 10 && effort >= 92_425 { 0.666 } else { 1.0 };
        let mut total = keeper.time.optimum() as f64 * falling * reduction * instability * obvious;
        if single {
            total = total.min(502.0);
        }
        let elapsed = keeper.time.elapsed();
        if elapsed as f64 > total.min(keeper.time.maximum() as f64) {
            if self.shared.pondering() {
                keeper.stop_on_ponderhit = true;
            } else {
                if let Some(ms) = self.shared.take_ponderhit() {
                    keeper.time.set_ponderhit(ms);
                }
                keeper.time.finish(elapsed);
            }
        } else {
            let deeper = self.shared.pondering() || elapsed as f64 <= total * 0.503;
            self.shared.increase_depth.store(deeper, Relaxed);
        }
        time_reduction
    }

    /// Sends the current lines out.
    pub(super) fn report(&self, reporter: &mut Reporter<'_>, multi_pv: usize) {
        let time_ms = self.limits.start.elapsed().as_millis() as u64;
        let nodes = self.total_nodes();
        let hashfull = self.shared.tt.hashfull();
        for (i, r) in self.root_moves.iter().take(multi_pv).enumerate() {
            let updated = r.score != -VALUE_INFINITE;
            if self.root_depth == 1 && !updated && i > 0 {
                continue;
            }
            let known = if updated { r.shown } else { r.previous_score };
            let score = if known == -VALUE_INFINITE { VALUE_ZERO } else { known };
            let mut pv: Vec<Move> = r.pv.to_vec();
            let pv_end = self.options.consideration_mode.then(|| self.lengthen(&mut pv)).flatten();
            reporter.observer.info(&Info {
                depth: if updated { self.root_depth } else { (self.root_depth - 1).max(1) },
                seldepth: r.sel_depth,
                multipv: i + 1,
                score,
                bound: if updated && i == self.pv_index { r.bound } else { Bound::Exact },
                nodes,
                nps: nodes * 1000 / time_ms.max(1),
                hashfull,
                time_ms,
                pv,
                pv_end,
            });
        }
        reporter.last = Some(Instant::now());
    }

    /// Lengthens a line with the table's moves; says how a repetition ends it, if one does.
    fn lengthen(&self, pv: &mut Vec<Move>) -> Option<&'static str> {
        let mut pos = self.pos.clone();
        for &m in pv.iter() {
            pos.do_move(m);
        }
        let mut plies = pv.len();
        while plies < MAX_PLY - 1 {
            match pos.repetition(plies) {
                Repetition::None => {}
                Repetition::Draw => return Some("rep_draw"),
                Repetition::Win => return Some("rep_win"),
                Repetition::Lose => return Some("rep_lose"),
                Repetition::Superior => return Some("rep_sup"),
                Repetition::Inferior => return Some("rep_inf"),
            }
            let m = self.table_move(&pos)?;
            pos.do_move(m);
            pv.push(m);
            plies += 1;
        }
        None
    }

    /// The table's move for a position, if it is legal there.
    fn table_move(&self, pos: &Position) -> Option<Move> {
        let d = self.shared.tt.probe(pos.key()).0?;
        let m = pos.expand(d.move16);
        (m.is_some() && pos.is_pseudo_legal(m, true) && pos.is_legal(m)).then_some(m)
    }

    /// The reply to expect after the best move: from its line, else from the table.
    pub(super) fn ponder_move(&self, r: &RootMove) -> Option<Move> {
        if let Some(&m) = r.pv.get(1) {
            return Some(m);
        }
        let mut pos = self.pos.clone();
        pos.do_move(*r.pv.first()?);
        self.table_move(&pos)
    }

    /// This thread's result.
    pub(super) fn result(&self) -> SearchResult {
        let Some(r) = self.root_moves.first() else { return SearchResult::default() };
        SearchResult {
            best: r.pv[0],
            ponder: self.ponder_move(r),
            score: if r.score == -VALUE_INFINITE { r.previous_score } else { r.score },
            depth: self.completed_depth,
            seldepth: r.sel_depth,
            nodes: self.total_nodes(),
            pv: r.pv.to_vec(),
        }
    }
}

/// Best first; equal scores by the previous iteration's.
fn by_score(a: &RootMove, b: &RootMove) -> std::cmp::Ordering {
    (b.score, b.previous_score).cmp(&(a.score, a.previous_score))
}

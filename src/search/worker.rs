//! One search thread's state: [`Worker`].
//!
//! The parts of the search are `impl Worker` blocks in files of their own (the map is in [`super`]). Here are
//! the fields, what happens to them from search to search, playing a move, scores that need no search,
//! recording results, and the check of the limits.

use super::history::{ContIndex, Histories, SharedHistories, piece_to};
use super::late_moves::Reductions;
use super::node::NodeType;
use super::params as p;
use super::root_mate::RootMates;
use super::root_move::{PvMoves, ReportedLine, RootMove};
use super::shared::{PonderHit, SharedState};
use super::stack::SearchStack;
use super::timeman::{PreviousMove, Timekeeper};
use super::tree::Tree;
use super::tt::{DEPTH_UNSEARCHED, TtData, TtSlot, value_to_tt};
use super::{Limits, SearchOptions};
use crate::nnue::{Evaluator, Network};
use crate::position::{Position, Repetition};
use crate::support::memory::OutOfMemory;
use crate::types::*;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The most nodes between two looks at the clock.
const CHECK_INTERVAL: u64 = 512;

/// Corrections of the static evaluation are in this fraction of a value unit.
const CORRECTION_UNIT: i32 = 131_072;

/// One search thread.
pub struct Worker {
    /// The position at the current node; between searches, the root.
    pub(super) pos: Position,
    /// The network with the accumulators of the line to `pos`.
    pub(super) eval: Evaluator,
    /// This thread's histories.
    pub(super) hist: Histories,
    /// The histories of this thread's group, and the part of them that it clears: which of how many.
    pub(super) shared_hist: Arc<SharedHistories>,
    shared_hist_part: (usize, usize),
    /// Transposition table, flags and node counters of all threads.
    pub(super) shared: Arc<SharedState>,
    /// The user's settings.
    pub(super) options: Arc<SearchOptions>,
    /// When to stop.
    pub(super) limits: Arc<Limits>,
    /// Per-ply data of the current line.
    pub(super) stack: SearchStack,
    /// The principal variation from each ply on, by distance from the root.
    pub(super) pv: Vec<PvMoves>,
    /// This thread's number; 0 keeps the time.
    pub(super) index: usize,
    /// The number of threads.
    pub(super) threads: usize,
    /// The moves of the root, the best of the last search first.
    pub(super) root_moves: Vec<RootMove>,
    /// The lines of the last finished iteration, the best first.
    pub(super) finished_lines: Vec<ReportedLine>,
    /// The line being searched (MultiPV); `root_moves` before it are left out.
    pub(super) pv_index: usize,
    /// The principal variation of the last finished iteration.
    pub(super) last_pv: Vec<Move>,
    /// Nodes of this search, a node being a move played.
    pub(super) nodes: u64,
    /// The number of nodes at which the limits are checked again.
    next_check: u64,
    /// The iteration under way.
    pub(super) root_depth: i32,
    /// The last finished iteration.
    pub(super) completed_depth: i32,
    /// The deepest ply of the principal variation's tree in this iteration, from 1.
    pub(super) sel_depth: i32,
    /// Positions of the tree for training, if wanted.
    pub(super) tree: Option<Tree>,
    /// The width of the root's window.
    pub(super) root_delta: i32,
    /// While a null move is being verified, no null moves before this ply.
    pub(super) null_min_ply: usize,
    /// The score of a draw for each colour, by [`Color::index`].
    pub(super) draw_value: [Value; 2],
    /// The game ply after which the game is drawn.
    last_ply: u32,
    /// The table of late move reductions.
    pub(super) reductions: Reductions,
    /// The clock; only the thread that keeps the time has one.
    pub(super) timekeeper: Option<Timekeeper>,
    /// What the time manager remembers of the previous move.
    pub(super) previous: PreviousMove,
    /// The mate solver at the root.
    pub(super) mates: RootMates,
}

impl Worker {
    /// # Errors
    /// [`OutOfMemory`] if the histories (about 70 MB) cannot be had.
    pub fn new(
        network: Arc<Network>,
        shared: Arc<SharedState>,
        index: usize,
        shared_hist: Arc<SharedHistories>,
        shared_hist_part: (usize, usize),
    ) -> Result<Worker, OutOfMemory> {
        let user_stop = shared.user_stop.clone();
        let mut worker = Worker {
            pos: Position::startpos(),
            eval: Evaluator::new(network),
            hist: Histories::new()?,
            shared_hist,
            shared_hist_part,
            threads: shared.counters.len(),
            shared,
            options: Arc::default(),
            limits: Arc::default(),
            stack: SearchStack::default(),
            pv: vec![PvMoves::new(); MAX_PLY + 2],
            index,
            root_moves: Vec::new(),
            finished_lines: Vec::new(),
            pv_index: 0,
            last_pv: Vec::new(),
            nodes: 0,
            next_check: 0,
            root_depth: 0,
            completed_depth: 0,
            sel_depth: 0,
            tree: None,
            root_delta: 1,
            null_min_ply: 0,
            draw_value: [0; 2],
            last_ply: u32::MAX,
            reductions: Reductions::default(),
            timekeeper: None,
            previous: Default::default(),
            mates: RootMates::new(user_stop),
        };
        worker.clear();
        Ok(worker)
    }

    /// The only thread of a search.
    ///
    /// # Errors
    /// [`OutOfMemory`] for the table of `tt_mb` MiB or the histories.
    pub fn alone(network: Arc<Network>, tt_mb: usize) -> Result<Worker, OutOfMemory> {
        let shared = Arc::new(SharedState::new(1, tt_mb)?);
        Worker::new(network, shared, 0, Arc::new(SharedHistories::new(1)?), (0, 1))
    }

    /// Clears everything learnt from earlier searches, but for the transposition table; of the shared histories
    /// this thread's part.
    pub fn clear(&mut self) {
        self.hist.clear();
        let (part, parts) = self.shared_hist_part;
        self.shared_hist.clear(part, parts);
        self.previous = Default::default();
        self.mates.clear();
        self.reductions.fill();
    }

    /// Evaluates with another network from now on.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.eval = Evaluator::new(network);
    }

    /// Sets the root position and resets what belongs to one search.
    pub(super) fn set_root(&mut self, pos: &Position, limits: Arc<Limits>, options: Arc<SearchOptions>) {
        #[cfg(feature = "tune")]
        {
            p::apply();
            self.reductions.fill();
        }
        self.pos = pos.clone();
        self.eval.reset(&self.pos);
        self.stack.clear();
        self.limits = limits;
        self.nodes = 0;
        self.next_check = 0;
        self.root_depth = 0;
        self.completed_depth = 0;
        self.sel_depth = 0;
        self.null_min_ply = 0;
        self.last_pv.clear();
        self.finished_lines.clear();
        let us = pos.side_to_move();
        let draw = options.draw_value[us.index()] * 90 / 100;
        self.draw_value[us.index()] = draw;
        self.draw_value[us.flip().index()] = -draw;
        self.last_ply = match options.max_moves_to_draw {
            0 => u32::MAX,
            n => n,
        };
        self.options = options;
    }

    /// Prefetches the table entry of the position after `m`, some time before [`Worker::make`] needs it.
    #[inline(always)]
    pub(super) fn prefetch_after(&self, m: Move) {
        self.shared.tt.prefetch(self.pos.key_after(m), self.pos.opponent_key_after(m));
    }

    /// Plays `m` at the node `ply` plies from the root. Call [`Worker::prefetch_after`] first.
    #[inline]
    pub(super) fn make(&mut self, ply: usize, m: Move, gives_check: bool) {
        self.count_node();
        let capture = self.pos.is_capture(m);
        let entry = &mut self.stack[ply];
        entry.current = m;
        entry.cont = ContIndex::new(entry.in_check, capture, m.piece(), m.to());
        entry.cont_correction = piece_to(m.piece(), m.to()) as u32;
        let changes = self.pos.do_move_with(m, gives_check);
        self.shared_hist.prefetch_correction(&self.pos);
        for back in [1, 3] {
            let earlier = self.stack.before(ply, back).cont_correction as usize;
            self.hist.prefetch_cont_correction(earlier, m.piece(), m.to());
        }
        self.eval.push(changes);
    }

    #[inline]
    pub(super) fn unmake(&mut self) {
        self.pos.undo_move();
        self.eval.pop();
    }

    #[inline]
    pub(super) fn make_null(&mut self, ply: usize) {
        let entry = &mut self.stack[ply];
        entry.current = Move::NULL;
        entry.cont = ContIndex::NONE;
        entry.cont_correction = 0;
        self.pos.do_null_move();
        self.shared.tt.prefetch(self.pos.key(), self.pos.color_key(self.pos.side_to_move()));
        self.eval.push_null();
    }

    #[inline]
    pub(super) fn unmake_null(&mut self) {
        self.pos.undo_null_move();
        self.eval.pop();
    }

    /// The network's evaluation of the current position, side to move's view.
    #[inline(always)]
    pub(super) fn evaluate(&mut self) -> Value {
        let raw = self.eval.evaluate(&self.pos);
        (raw / self.options.fv_scale).clamp(-VALUE_MAX_EVAL, VALUE_MAX_EVAL)
    }

    /// Looks the current position up in the transposition table; the move has its piece filled in.
    #[inline]
    pub(super) fn probe(&self) -> (Option<(TtData, Move)>, TtSlot) {
        self.probe_at(&self.pos)
    }

    /// The same for any position.
    #[inline(always)]
    pub(super) fn probe_at(&self, pos: &Position) -> (Option<(TtData, Move)>, TtSlot) {
        let (hit, slot) = self.shared.tt.probe(pos.key(), pos.color_key(pos.side_to_move()));
        // a stored move that does not fit this board belongs to another position: ignore the entry
        let hit = hit.and_then(|d| {
            let m = if d.move16 == 0 { Move::NONE } else { pos.expand(d.move16) };
            (d.move16 == 0 || m.is_some()).then_some((d, m))
        });
        (hit, slot)
    }

    /// Stores the result of the node `ply` plies from the root; `found.value` counts mates from the root.
    #[inline(always)]
    pub(super) fn store(&self, slot: TtSlot, ply: usize, found: TtData) {
        self.shared.tt.store(slot, TtData { value: value_to_tt(found.value, ply), ..found });
    }

    /// Stores the static evaluation of a position before it is searched.
    #[inline]
    pub(super) fn store_eval(&self, slot: TtSlot, eval: Value, is_pv: bool) {
        self.shared.tt.store(slot, TtData { eval, is_pv, depth: DEPTH_UNSEARCHED, ..TtData::default() });
    }

    /// The score of a mate in one at the node `ply` plies from the root, if there is one. Stores it with
    /// `depth` in the table and, on a principal variation, the line.
    #[inline]
    pub(super) fn find_mate_in_one<N: NodeType>(
        &mut self,
        slot: TtSlot,
        ply: usize,
        depth: Depth,
        is_pv: bool,
    ) -> Option<Value> {
        let m = self.pos.mate_in_one();
        if m.is_none() {
            return None;
        }
        let value = mate_in(ply + 1);
        let found =
            TtData { value, bound: Bound::Exact, depth, move16: m.raw16(), is_pv, ..TtData::default() };
        self.store(slot, ply, found);
        if N::PV {
            self.pv[ply].clear();
            self.pv[ply].push(m);
        }
        Some(value)
    }

    /// Sets the line from `ply` to `m` and the line after it.
    #[inline]
    pub(super) fn update_pv(&mut self, ply: usize, m: Move) {
        let (head, tail) = self.pv.split_at_mut(ply + 1);
        let line = &mut head[ply];
        line.clear();
        line.push(m);
        let rest = &tail[0];
        let room = line.remaining_capacity().min(rest.len());
        line.extend(rest[..room].iter().copied());
    }

    /// Records what the search of `root_moves[index]` found.
    pub(super) fn record_root_move(
        &mut self,
        index: usize,
        value: Value,
        alpha: Value,
        beta: Value,
        move_count: i32,
        nodes_before: u64,
    ) {
        let nodes = self.nodes;
        let (sel_depth, first_line) = (self.sel_depth, self.pv_index == 0);
        let r = &mut self.root_moves[index];
        r.update_average(value, nodes - nodes_before);
        if move_count == 1 || value > alpha {
            r.set_score(value, alpha, beta, &self.pv[1]);
            r.sel_depth = sel_depth;
            if move_count > 1 && first_line {
                self.shared.counters[self.index].best_move_changes.fetch_add(1, Relaxed);
            }
        } else {
            r.score = -VALUE_INFINITE;
        }
    }

    /// The score of a draw for the side to move, with a little noise so that lines into draws differ.
    #[inline]
    pub(super) fn draw_score(&self) -> Value {
        self.draw_value[self.pos.side_to_move().index()] - 1 + (self.nodes & 2) as Value
    }

    /// The score of the node if a repetition ends the line here.
    #[inline]
    pub(super) fn repetition_score(&self, ply: usize) -> Option<Value> {
        match self.pos.repetition(ply) {
            Repetition::None => None,
            Repetition::Draw => Some(self.draw_score()),
            Repetition::Win => Some(mate_in(ply)),
            Repetition::Lose => Some(mated_in(ply)),
            Repetition::Superior => Some(VALUE_SUPERIOR),
            Repetition::Inferior => Some(-VALUE_SUPERIOR),
        }
    }

    /// Whether the game is drawn by its move limit.
    #[inline]
    pub(super) fn too_long(&self) -> bool {
        self.pos.game_ply() > self.last_ply && (!self.pos.in_check() || self.pos.has_legal_move())
    }

    /// The weighted corrections of the static evaluation at `ply`, in 1/131072 of a value unit.
    #[inline(always)]
    pub(super) fn correction(&self, ply: usize) -> i32 {
        let m = self.stack.before(ply, 1).current;
        let continuation = if m.is_some() {
            let [two, four] = [2, 4].map(|back| self.stack.before(ply, back).cont_correction as usize);
            self.hist.cont_correction(two, m.piece(), m.to())
                + self.hist.cont_correction(four, m.piece(), m.to())
        } else {
            8
        };
        self.shared_hist.correction(&self.pos) + p::correction_continuation() * continuation
    }

    #[inline]
    pub(super) fn stopped(&self) -> bool {
        self.shared.stop.load(Relaxed)
    }

    #[inline]
    fn count_node(&mut self) {
        self.nodes += 1;
        self.shared.counters[self.index].nodes.store(self.nodes, Relaxed);
        if self.nodes >= self.next_check {
            self.check_limits();
        }
    }

    /// Milliseconds that this move may still take, all of them as long as the opponent's time runs; none
    /// without a clock.
    pub(super) fn time_left(&mut self) -> Option<i64> {
        let pondering = self.shared.pondering();
        if !pondering {
            self.follow_ponderhit();
        }
        let keeper = self.timekeeper.as_ref().filter(|_| !self.limits.infinite)?;
        Some(if pondering { keeper.time.remaining } else { keeper.time.left() })
    }

    /// Follows a `ponderhit` that came since the last look: our clock runs, and it is the one that came
    /// along.
    pub(super) fn follow_ponderhit(&mut self) {
        let Some(PonderHit { ms, clock }) = self.shared.take_ponderhit() else { return };
        let Some(keeper) = &mut self.timekeeper else { return };
        if let Some(clock) = clock {
            Arc::make_mut(&mut self.limits).set_times(&clock);
            keeper.plan_again(&self.limits, &self.options);
            self.mates.begin(&self.limits, &self.options, keeper.time.optimum);
        }
        keeper.ponderhit(ms);
    }

    /// Nodes of all threads.
    pub(super) fn total_nodes(&self) -> u64 {
        if self.threads == 1 { self.nodes } else { self.shared.nodes() }
    }

    /// Raises the stop flag when a limit is reached. The thread that keeps the time checks all limits, the
    /// others that of nodes: on a machine with fewer processors than threads the first one may not run.
    #[cold]
    fn check_limits(&mut self) {
        let keeps_time = self.timekeeper.is_some();
        self.next_check = if keeps_time { self.nodes + CHECK_INTERVAL } else { u64::MAX };
        let mut out_of_nodes = false;
        if let Some(limit) = self.limits.nodes {
            // only here, because the sum fetches a cache line from every thread
            let left = limit.saturating_sub(self.total_nodes());
            self.next_check = self.nodes + (left / self.threads as u64).clamp(1, CHECK_INTERVAL);
            out_of_nodes = left == 0;
        }
        if self.shared.pondering() {
            return;
        }
        if keeps_time {
            self.follow_ponderhit();
        } else if out_of_nodes && self.shared.has_move.load(Relaxed) {
            self.shared.aborted.store(true, Relaxed);
            self.shared.stop.store(true, Relaxed);
        }
        // there must be one finished iteration, for a move to play
        if self.completed_depth < 1 {
            return;
        }
        let Some(keeper) = &mut self.timekeeper else { return };
        let elapsed = keeper.time.elapsed();
        let over = self.limits.movetime.is_some_and(|t| keeper.time.has_used(t, elapsed))
            || self.limits.mate.is_some_and(|t| elapsed >= t.min(i64::MAX as u64) as i64)
            || out_of_nodes
            || keeper.time.end.is_some_and(|e| elapsed >= e);
        if over {
            self.shared.aborted.store(true, Relaxed);
            self.shared.stop.store(true, Relaxed);
        } else if self.limits.uses_time_manager()
            && keeper.time.end.is_none()
            && (elapsed > keeper.time.maximum || keeper.stop_on_ponderhit)
        {
            keeper.time.finish(elapsed);
        }
    }
}

/// The static evaluation with the histories' corrections applied.
#[inline]
pub(super) fn corrected(raw: Value, correction: i32) -> Value {
    (raw + correction / CORRECTION_UNIT).clamp(-VALUE_MAX_EVAL, VALUE_MAX_EVAL)
}

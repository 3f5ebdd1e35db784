//! One search from `go` to its best move, on the thread that keeps the time: [`go`]. The pool's first thread
//! and [`Searcher`](super::Searcher) call it.

use super::report::LineSender;
use super::root_move::RootMove;
use super::timeman::{PreviousMove, Timekeeper, Turn};
use super::vote::{Vote, elect};
use super::worker::Worker;
use super::{Info, Limits, Observer, SearchOptions, SearchResult};
use crate::position::Position;
use crate::types::{Bound, Move, Value, mate_in, mated_in};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The position to search, and how.
#[derive(Clone)]
pub(super) struct SearchTask {
    pub pos: Position,
    pub limits: Arc<Limits>,
    pub options: Arc<SearchOptions>,
}

/// The other threads of a search.
pub(super) trait Helpers {
    /// Starts all of them on the task.
    fn start(&self, task: &SearchTask);
    /// Waits until all have stopped; returns their votes.
    fn finish(&self) -> Vec<Vote>;
    /// Called before the best move is sent: the client may start the next search at once, and must not find
    /// the pool busy.
    fn release(&self);
}

/// Searches on a helper thread, without a clock.
pub(super) fn help(worker: &mut Worker, task: &SearchTask) -> Vote {
    begin(worker, task);
    worker.timekeeper = None;
    worker.iterate(None);
    vote(worker)
}

fn begin(worker: &mut Worker, task: &SearchTask) {
    worker.set_root(&task.pos, task.limits.clone(), task.options.clone());
    worker.root_moves = root_moves(&task.pos, &task.limits, &task.options);
}

fn vote(worker: &Worker) -> Vote {
    let (index, depth) = (worker.index, worker.completed_depth);
    let line = worker.final_best_line();
    Vote { index, root_move: worker.root_moves[0].clone(), depth, line }
}

/// The moves to search at the root: legal, among `searchmoves` if those are given.
fn root_moves(pos: &Position, limits: &Limits, options: &SearchOptions) -> Vec<RootMove> {
    // moves that the user names are searched, pointless or not
    let all = options.generate_all || !limits.search_moves.is_empty();
    let wanted = |m: Move| limits.search_moves.is_empty() || limits.search_moves.contains(&m);
    pos.legal_moves(all).iter().filter(|s| wanted(s.mv)).map(|s| RootMove::new(s.mv)).collect()
}

/// Runs a search: looks for a mate, starts the helpers, searches, waits for `stop` or `ponderhit` where it
/// must, elects the best thread's result and reports it.
pub(super) fn go(
    worker: &mut Worker,
    task: &SearchTask,
    observer: &dyn Observer,
    helpers: &impl Helpers,
) -> SearchResult {
    let (options, limits) = (&task.options, &task.limits);
    begin(worker, task);
    worker.shared.tt.new_search();
    let turn = Turn {
        us: task.pos.side_to_move(),
        ply: task.pos.game_ply(),
        single_move: worker.root_moves.len() == 1,
        random: task.pos.key() ^ limits.start.elapsed().subsec_nanos() as u64,
    };
    worker.timekeeper = Some(Timekeeper::new(limits, options, turn));
    let optimum = worker.timekeeper.as_ref().map_or(0, |keeper| keeper.time.optimum);
    worker.mates.begin(limits, options, optimum);
    let decided = decided_result(task, worker.root_moves.is_empty());
    let left = worker.time_left();
    if let Some(result) = decided.or_else(|| worker.mates.own(&task.pos, left).map(mate_result)) {
        return announce_decided(worker, task, observer, helpers, result);
    }
    helpers.start(task);
    let instant = limits.infinite || options.consideration_mode;
    let mut sender = LineSender::new(observer, if instant { 0 } else { options.pv_interval });
    let mut reported = worker.iterate(Some(&mut sender));
    let shared = worker.shared.clone();
    let thought = worker.completed_depth >= 1;
    if !thought {
        // stopped at once: one ply takes a fraction of a millisecond and finds a better move than the first
        // of the list
        let stopped = shared.stop.swap(false, Relaxed);
        Arc::make_mut(&mut worker.limits).depth = Some(1);
        worker.root_depth = 0;
        reported = worker.iterate(Some(&mut sender));
        shared.stop.fetch_or(stopped, Relaxed);
    }
    shared.wait_released(limits.infinite);
    shared.stop.store(true, Relaxed);

    let mut best = vote(worker);
    let mut votes = helpers.finish();
    votes.retain(|v| !worker.mates.is_refuted(v.root_move.mv));
    if options.multi_pv == 1 && limits.depth.is_none() && limits.mate.is_none() {
        best = elect(best, votes);
    }
    if best.index != 0 {
        // report and remember the elected thread's move as ours
        worker.root_moves.retain(|r| r.mv != best.root_move.mv);
        worker.root_moves.insert(0, best.root_move);
        worker.completed_depth = best.depth;
        reported = false;
    }
    let line = best.line;
    if !reported {
        worker.send_lines(&mut sender, &worker.final_lines(line.clone()));
    }
    worker.previous = PreviousMove {
        score: worker.root_moves[0].score,
        average: worker.root_moves[0].average,
        game_ply: task.pos.game_ply(),
        ..worker.previous
    };
    let mut result = SearchResult {
        best: worker.root_moves[0].mv,
        ponder: worker.ponder_move(&line.pv),
        score: line.score,
        depth: worker.completed_depth,
        seldepth: line.sel_depth,
        nodes: worker.total_nodes(),
        pv: line.pv,
    };
    // a search that ended before its first iteration has no score to resign on
    if thought && resigns(result.score, options) {
        let left = worker.time_left();
        match worker.mates.last_chance(&task.pos, left) {
            Some(line) => {
                result = SearchResult { nodes: result.nodes, ..mate_result(line) };
                report_result(worker, observer, &result);
            }
            None => (result.best, result.ponder) = (Move::RESIGN, None),
        }
    }
    helpers.release();
    observer.best_move(result.best, result.ponder);
    result
}

fn resigns(score: Value, options: &SearchOptions) -> bool {
    options.resign_value < 99999 && score * 100 / 90 <= -options.resign_value
}

/// The result where the rules leave nothing to search: a declared win, or no legal move.
fn decided_result(task: &SearchTask, no_moves: bool) -> Option<SearchResult> {
    let named = &task.limits.search_moves;
    let declaration = task
        .pos
        .declaration_win(task.options.entering_king_rule)
        .filter(|m| named.is_empty() || named.contains(m));
    let (best, score) = match declaration {
        Some(m) => (m, mate_in(1)),
        None if no_moves => (Move::RESIGN, mated_in(0)),
        None => return None,
    };
    // under the try rule the win is a move
    let pv = declaration.filter(|m| m.is_some()).into_iter().collect();
    Some(SearchResult { best, score, pv, ..SearchResult::default() })
}

/// The result where the solver has found a mate.
fn mate_result(line: Vec<Move>) -> SearchResult {
    let plies = line.len() as i32;
    SearchResult {
        best: line[0],
        ponder: line.get(1).copied(),
        score: mate_in(line.len()),
        depth: plies,
        seldepth: plies,
        pv: line,
        ..SearchResult::default()
    }
}

/// Sends the line of a result that did not come from the tree search.
fn report_result(worker: &Worker, observer: &dyn Observer, result: &SearchResult) {
    let time_ms = worker.limits.start.elapsed().as_millis() as u64;
    observer.info(&Info {
        depth: result.depth.max(1),
        seldepth: result.seldepth.max(1),
        multipv: 1,
        score: result.score,
        bound: Bound::Exact,
        nodes: result.nodes,
        nps: result.nodes * 1000 / time_ms.max(1),
        hashfull: worker.shared.tt.hashfull(),
        time_ms,
        pv: result.pv.clone(),
        pv_end: None,
    });
}

fn announce_decided(
    worker: &mut Worker,
    task: &SearchTask,
    observer: &dyn Observer,
    helpers: &impl Helpers,
    mut result: SearchResult,
) -> SearchResult {
    report_result(worker, observer, &result);
    if let Some(line) = worker.mates.shorter(&task.pos, result.pv.len()) {
        result = mate_result(line);
        report_result(worker, observer, &result);
    }
    worker.shared.wait_released(task.limits.infinite);
    helpers.release();
    observer.best_move(result.best, result.ponder);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Network;
    use crate::search::Silent;
    use crate::search::shared::SharedState;

    struct StopAtOnce(Arc<SharedState>);

    impl Helpers for StopAtOnce {
        fn start(&self, _task: &SearchTask) {
            self.0.request_stop();
        }
        fn finish(&self) -> Vec<Vote> {
            Vec::new()
        }
        fn release(&self) {}
    }

    #[test]
    fn a_search_that_is_stopped_at_once_still_takes_the_rook() {
        let mut worker = Worker::alone(Arc::new(Network::bootstrap().unwrap()), 1).unwrap();
        let shared = worker.shared.clone();
        let pos = Position::from_sfen("4k4/9/9/4r4/9/4L4/9/9/4K4 b - 1").unwrap();
        for limits in
            [Limits { nodes: Some(1), ..Limits::default() }, Limits { infinite: true, ..Limits::default() }]
        {
            shared.begin(limits.start, false);
            let task = SearchTask { pos: pos.clone(), limits: Arc::new(limits), options: Arc::default() };
            let result = go(&mut worker, &task, &Silent, &StopAtOnce(shared.clone()));
            assert_eq!((result.best.to_string().as_str(), result.depth), ("5f5d", 1));
        }
    }
}

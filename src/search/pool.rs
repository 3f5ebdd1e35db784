//! Running a search: [`ThreadPool`] over several threads (lazy SMP), [`Searcher`] on the caller's own.

use super::alphabeta::{is_loss, is_win};
use super::root::{Reporter, RootMove};
use super::shared::SharedState;
use super::timeman::TimeManager;
use super::worker::{Timekeeper, Worker};
use super::{Bound, Info, Limits, Observer, SearchOptions, SearchResult};
use crate::memory::OutOfMemory;
use crate::nnue::Network;
use crate::position::Position;
use crate::types::*;
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Bytes of stack that a thread which searches needs: deep recursion with large frames.
pub const STACK: usize = 64 << 20;

/// What every thread needs to begin.
#[derive(Clone)]
struct Job {
    pos: Position,
    limits: Arc<Limits>,
    options: Arc<SearchOptions>,
}

enum Order {
    /// The thread that keeps time gets the observer.
    Search(Box<Job>, Option<Arc<dyn Observer>>),
    Clear,
    Network(Arc<Network>),
}

/// One thread's vote.
#[derive(Clone)]
struct Vote {
    index: usize,
    root_move: RootMove,
    depth: i32,
}

/// How far the pool's search is.
#[derive(Default)]
struct Progress {
    /// Orders given and not yet carried out.
    pending: usize,
    searching: bool,
    votes: Vec<Vote>,
    result: SearchResult,
}

#[derive(Default)]
struct Board {
    progress: Mutex<Progress>,
    changed: Condvar,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl Fn(&Progress) -> bool) -> MutexGuard<'_, Progress> {
        self.changed.wait_while(self.lock(), |p| condition(p)).unwrap_or_else(PoisonError::into_inner)
    }
}

struct Thread {
    orders: Option<Sender<Order>>,
    handle: Option<JoinHandle<()>>,
}

/// The search threads, and the table they share.
pub struct ThreadPool {
    network: Arc<Network>,
    shared: Arc<SharedState>,
    board: Arc<Board>,
    threads: Vec<Thread>,
    tt_mb: usize,
}

impl ThreadPool {
    /// # Errors
    /// [`OutOfMemory`] when the table or the histories cannot be had.
    pub fn new(network: Arc<Network>, threads: usize, tt_mb: usize) -> Result<ThreadPool, OutOfMemory> {
        let threads = threads.max(1);
        let shared = Arc::new(SharedState::new(threads, tt_mb)?);
        let board = Arc::new(Board::default());
        let senders: Arc<Mutex<Vec<Sender<Order>>>> = Arc::default();
        let (ready, made) = channel();
        let mut started = Vec::new();
        let mut helpers = Vec::new();
        for index in 0..threads {
            let (network, shared, ready) = (network.clone(), shared.clone(), ready.clone());
            let (sender, receiver) = channel();
            if index > 0 {
                helpers.push(sender.clone());
            }
            let (board, senders) = (board.clone(), senders.clone());
            let handle = std::thread::Builder::new()
                .name(format!("search-{index}"))
                .stack_size(STACK)
                .spawn(move || {
                    let _abort = AbortOnPanic;
                    // here, and not before: a worker's tables come from the memory that is nearest to its thread
                    match Worker::new(network, shared, index, threads) {
                        Ok(worker) => {
                            let _ = ready.send(Ok(()));
                            drop(ready);
                            serve(worker, &receiver, &board, &senders);
                        }
                        Err(e) => {
                            let _ = ready.send(Err(e));
                        }
                    }
                })
                .map_err(|_| OutOfMemory { bytes: STACK })?;
            started.push(Thread { orders: Some(sender), handle: Some(handle) });
        }
        drop(ready);
        for result in made {
            result?;
        }
        *senders.lock().unwrap_or_else(PoisonError::into_inner) = helpers;
        Ok(ThreadPool { network, shared, board, threads: started, tt_mb })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Size of the transposition table in MiB.
    pub fn tt_mb(&self) -> usize {
        self.tt_mb
    }

    /// Waits for a running search, then evaluates with another network.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.wait();
        self.network = network.clone();
        self.give_all(|| Order::Network(network.clone()));
    }

    /// Waits for a running search, then changes the number of threads. All that was learnt is forgotten.
    ///
    /// # Errors
    /// [`OutOfMemory`]; the pool stays as it was.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), OutOfMemory> {
        if threads.max(1) == self.threads.len() {
            return Ok(());
        }
        self.rebuild(threads, self.tt_mb)
    }

    /// Waits for a running search, then changes the size of the table. All that was learnt is forgotten.
    ///
    /// # Errors
    /// [`OutOfMemory`]; the pool stays as it was.
    pub fn resize_tt(&mut self, mb: usize) -> Result<(), OutOfMemory> {
        if mb == self.tt_mb {
            return Ok(());
        }
        self.rebuild(self.threads.len(), mb)
    }

    fn rebuild(&mut self, threads: usize, mb: usize) -> Result<(), OutOfMemory> {
        self.wait();
        *self = ThreadPool::new(self.network.clone(), threads, mb)?;
        Ok(())
    }

    /// Waits for a running search, then forgets everything: table and histories.
    pub fn clear(&mut self) {
        self.wait();
        self.shared.tt.clear(self.threads.len());
        self.shared.histories.clear();
        self.give_all(|| Order::Clear);
    }

    fn give_all(&self, order: impl Fn() -> Order) {
        self.board.lock().pending += self.threads.len();
        for t in &self.threads {
            t.give(order());
        }
        drop(self.board.wait_while(|p| p.pending > 0));
    }

    /// Starts a search and returns at once. `observer.best_move` is called once, at its end. A search that is still
    /// running is waited for first.
    pub fn go(
        &mut self,
        pos: &Position,
        limits: Limits,
        options: &SearchOptions,
        observer: Arc<dyn Observer>,
    ) {
        self.wait();
        self.shared.begin(limits.start, limits.ponder);
        let job = Job { pos: pos.clone(), limits: Arc::new(limits), options: Arc::new(options.clone()) };
        {
            let mut progress = self.board.lock();
            progress.searching = true;
            progress.pending += 1;
            progress.votes.clear();
        }
        self.threads[0].give(Order::Search(Box::new(job), Some(observer)));
    }

    /// Asks a running search to end now.
    pub fn stop(&self) {
        self.shared.request_stop();
    }

    /// The opponent played the expected move: the clock runs.
    pub fn ponderhit(&self) {
        self.shared.request_ponderhit();
    }

    /// Waits until no search runs; the result of the last one.
    pub fn wait(&self) -> SearchResult {
        self.board.wait_while(|p| p.pending > 0).result.clone()
    }

    pub fn is_searching(&self) -> bool {
        self.board.lock().searching
    }

    /// Nodes of the current or last search, all threads.
    pub fn nodes(&self) -> u64 {
        self.shared.nodes()
    }
}

impl Thread {
    fn give(&self, order: Order) {
        if let Some(s) = &self.orders {
            // a thread ends only when its sender is dropped
            let _ = s.send(order);
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.request_stop();
        self.wait();
        for t in &mut self.threads {
            t.orders = None;
        }
        for t in &mut self.threads {
            if let Some(h) = t.handle.take() {
                let _ = h.join();
            }
        }
    }
}

/// Ends the process when its thread panics: who waits for that thread would wait for ever, and lose on time in silence.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// A thread's life: carry out orders until there can be no more.
fn serve(mut worker: Worker, orders: &Receiver<Order>, board: &Board, helpers: &Mutex<Vec<Sender<Order>>>) {
    while let Ok(order) = orders.recv() {
        match order {
            Order::Clear => worker.clear(),
            Order::Network(n) => worker.set_network(n),
            Order::Search(job, Some(observer)) => {
                let result = lead(&mut worker, &job, &*observer, Some((board, helpers)));
                let mut p = board.lock();
                p.result = result;
                p.searching = false;
            }
            Order::Search(job, None) => {
                worker.begin(&job);
                worker.timekeeper = None;
                worker.iterate(None);
                let vote = worker.vote();
                board.lock().votes.push(vote);
            }
        }
        board.lock().pending -= 1;
        board.changed.notify_all();
    }
    // the helpers' senders would keep them alive
    if worker.index == 0 {
        helpers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Worker {
    fn begin(&mut self, job: &Job) {
        self.set_root(&job.pos, job.limits.clone(), job.options.clone());
        self.root_moves = root_moves(&job.pos, &job.limits, &job.options);
    }

    fn vote(&self) -> Vote {
        Vote { index: self.index, root_move: self.root_moves[0].clone(), depth: self.completed_depth }
    }
}

/// The moves to search at the root: legal, among `searchmoves` if those are given.
fn root_moves(pos: &Position, limits: &Limits, options: &SearchOptions) -> Vec<RootMove> {
    // what the user names explicitly is searched, pointless or not
    let all = options.generate_all || !limits.search_moves.is_empty();
    let wanted = |m: Move| limits.search_moves.is_empty() || limits.search_moves.contains(&m);
    pos.legal_moves(all).iter().filter(|s| wanted(s.mv)).map(|s| RootMove::new(s.mv)).collect()
}

/// Conducts a search as the thread that keeps the time: starts the helpers, searches, waits for whatever must be waited
/// for, picks the best thread's result and reports it.
fn lead(
    worker: &mut Worker,
    job: &Job,
    observer: &dyn Observer,
    pool: Option<(&Board, &Mutex<Vec<Sender<Order>>>)>,
) -> SearchResult {
    let options = &job.options;
    let limits = &job.limits;
    worker.begin(job);
    worker.shared.tt.new_search();
    let us = job.pos.side_to_move();
    let seed = job.pos.key() ^ limits.start.elapsed().subsec_nanos() as u64;
    worker.timekeeper = Some(Timekeeper {
        time: TimeManager::new(limits, options, us, job.pos.game_ply(), seed),
        stop_on_ponderhit: false,
    });
    let shared = worker.shared.clone();
    let declaration = job.pos.declaration_win(options.entering_king_rule);
    if worker.root_moves.is_empty() || declaration.is_some() {
        let (best, score) = match declaration {
            Some(m) => (m, mate_in(1)),
            None => (Move::RESIGN, mated_in(0)),
        };
        let pv: Vec<Move> = declaration.filter(|m| m.is_some()).into_iter().collect();
        observer.info(&Info {
            depth: 1,
            seldepth: 1,
            multipv: 1,
            score,
            bound: Bound::Exact,
            nodes: 0,
            nps: 0,
            hashfull: shared.tt.hashfull(),
            time_ms: limits.start.elapsed().as_millis() as u64,
            pv: pv.clone(),
            pv_end: None,
        });
        shared.wait_released(limits.infinite);
        ended(pool);
        observer.best_move(best, None);
        return SearchResult { best, score, pv, ..SearchResult::default() };
    }
    if let Some((board, helpers)) = pool {
        let helpers = helpers.lock().unwrap_or_else(PoisonError::into_inner);
        board.lock().pending += helpers.len();
        for h in helpers.iter() {
            let _ = h.send(Order::Search(Box::new(job.clone()), None));
        }
    }
    let instant = limits.infinite || options.consideration_mode;
    let mut reporter =
        Reporter { observer, interval: if instant { 0 } else { options.pv_interval }, last: None };
    let mut reported = worker.iterate(Some(&mut reporter));
    shared.wait_released(limits.infinite);
    shared.stop.store(true, Relaxed);

    let mut best = worker.vote();
    if let Some((board, _)) = pool {
        // 1: this very order is still pending
        let votes = board.wait_while(|p| p.pending > 1).votes.clone();
        if options.multi_pv == 1 && limits.depth.is_none() && limits.mate.is_none() {
            best = elect(best, votes);
        }
    }
    if best.index != 0 {
        // report and remember the elected thread's line as ours
        worker.root_moves.retain(|r| r.pv[0] != best.root_move.pv[0]);
        worker.root_moves.insert(0, best.root_move);
        worker.completed_depth = best.depth;
        worker.root_depth = best.depth;
        reported = false;
    }
    let mut result = worker.result();
    let cp = result.score * 100 / 90;
    // a search that ended before its first iteration knows nothing to resign for
    let resigns = options.resign_value < 99999 && worker.completed_depth > 0 && cp <= -options.resign_value;
    if !reported {
        let lines = options.multi_pv.clamp(1, worker.root_moves.len());
        worker.pv_index = 0;
        worker.report(&mut reporter, lines);
    }
    worker.previous.score = worker.root_moves[0].score;
    worker.previous.average = worker.root_moves[0].average;
    worker.previous.game_ply = job.pos.game_ply();
    if resigns {
        result.best = Move::RESIGN;
        result.ponder = None;
    }
    ended(pool);
    observer.best_move(result.best, result.ponder);
    result
}

/// The search no longer runs: whoever hears of its move may go on at once, and must not be told that it is busy.
fn ended(pool: Option<(&Board, &Mutex<Vec<Sender<Order>>>)>) {
    if let Some((board, _)) = pool {
        board.lock().searching = false;
    }
}

/// The thread whose result to play: depth and score vote for moves, proven wins and losses go first. Who finished no
/// iteration has no vote.
fn elect(first: Vote, mut others: Vec<Vote>) -> Vote {
    others.retain(|v| v.depth > 0 && v.root_move.score != -VALUE_INFINITE);
    let least = others.iter().map(|v| v.root_move.score).fold(first.root_move.score, Value::min);
    let weight = |v: &Vote| i64::from(v.root_move.score - least + 14) * i64::from(v.depth);
    let mut votes: HashMap<Move, i64> = HashMap::new();
    for v in std::iter::once(&first).chain(&others) {
        *votes.entry(v.root_move.pv[0]).or_default() += weight(v);
    }
    let loses = |v: &Vote| v.root_move.score != -VALUE_INFINITE && is_loss(v.root_move.score);
    let mut best = first;
    for v in others {
        let (new, old) = (v.root_move.score, best.root_move.score);
        let (new_votes, old_votes) = (votes[&v.root_move.pv[0]], votes[&best.root_move.pv[0]]);
        let fuller = |v: &Vote| if v.root_move.pv.len() > 2 { weight(v) } else { 0 };
        let better = if is_win(old) {
            new > old
        } else if loses(&best) {
            // a thread that saw no refutation of its move shows where the loss is hardest to find
            !loses(&v) || new < old
        } else {
            is_win(new)
                || !is_loss(new)
                    && (new_votes > old_votes || new_votes == old_votes && fuller(&v) > fuller(&best))
        };
        if better {
            best = v;
        }
    }
    best
}

/// A search on the caller's own thread: for fixed-node games, benches, tests.
pub struct Searcher {
    worker: Worker,
    options: Arc<SearchOptions>,
}

impl Searcher {
    /// # Errors
    /// [`OutOfMemory`] when the table or the histories (about 110 MB beside the table) cannot be had.
    pub fn new(network: Arc<Network>, tt_mb: usize, options: SearchOptions) -> Result<Searcher, OutOfMemory> {
        let shared = Arc::new(SharedState::new(1, tt_mb)?);
        Ok(Searcher { worker: Worker::new(network, shared, 0, 1)?, options: Arc::new(options) })
    }

    pub fn options_mut(&mut self) -> &mut SearchOptions {
        Arc::make_mut(&mut self.options)
    }

    /// Forgets everything, so that the next search does not depend on earlier ones.
    pub fn clear(&mut self) {
        self.worker.shared.tt.clear(1);
        self.worker.shared.histories.clear();
        self.worker.clear();
    }

    /// Searches; blocks until done.
    pub fn search(&mut self, pos: &Position, limits: &Limits, observer: &dyn Observer) -> SearchResult {
        self.worker.shared.begin(limits.start, false);
        let job = Job { pos: pos.clone(), limits: Arc::new(limits.clone()), options: self.options.clone() };
        lead(&mut self.worker, &job, observer, None)
    }

    fn settle(&mut self, pos: &Position) {
        self.worker.shared.begin(std::time::Instant::now(), false);
        self.worker.set_root(pos, Arc::default(), self.options.clone());
    }

    /// The static evaluation without corrections, side to move's view.
    pub fn evaluate(&mut self, pos: &Position) -> Value {
        self.settle(pos);
        self.worker.evaluate()
    }

    /// The score of a quiescence search.
    pub fn quiescence(&mut self, pos: &Position) -> Value {
        self.settle(pos);
        self.worker.quiescence::<super::node::Pv>(0, -VALUE_INFINITE, VALUE_INFINITE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_elect_by_score_and_depth_but_only_those_that_finished_an_iteration() {
        let moves: Vec<Move> = Position::startpos().legal_moves(false).iter().map(|s| s.mv).collect();
        let vote = |index: usize, score: Value, depth: i32| {
            let mut root_move = RootMove::new(moves[index]);
            root_move.score = score;
            Vote { index, root_move, depth }
        };
        let elected = |votes: &[Vote]| elect(votes[0].clone(), votes[1..].to_vec()).index;
        let idle = || vote(2, -VALUE_INFINITE, 0);
        assert_eq!(elected(&[vote(0, 50, 10), vote(1, 60, 12), idle()]), 1);
        assert_eq!(elected(&[vote(0, 50, 12), vote(1, 20, 10), idle()]), 0);
        assert_eq!(elected(&[vote(0, 900, 20), vote(1, mate_in(7), 9), idle()]), 1);
        assert_eq!(elected(&[vote(0, mate_in(9), 20), vote(1, mate_in(7), 9), idle()]), 1);
        assert_eq!(elected(&[vote(0, mated_in(6), 20), idle()]), 0);
        assert_eq!(elected(&[vote(0, mated_in(6), 20), idle(), vote(1, -900, 15)]), 1);
    }
}

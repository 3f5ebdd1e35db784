//! A search on several threads (lazy SMP): [`ThreadPool`], its threads, and the commands they get.

use super::go::{Helpers, SearchTask, go, help};
use super::groups::{Groups, NetworkCopies};
use super::shared::SharedState;
use super::vote::Vote;
use super::worker::Worker;
use super::{Limits, Observer, SearchOptions, SearchResult};
use crate::nnue::Network;
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::support::numa::Policy;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Bytes of stack for a thread that searches: deep recursion with large stack frames.
pub const STACK: usize = 64 << 20;

enum ThreadCommand {
    /// The thread that keeps time gets the observer.
    Search(Arc<SearchTask>, Option<Arc<dyn Observer>>),
    Clear,
    Network(Arc<NetworkCopies>),
}

/// The state of the pool's search.
#[derive(Default)]
struct Status {
    /// Commands sent and not yet done.
    pending: usize,
    searching: bool,
    votes: Vec<Vote>,
    result: SearchResult,
}

/// The pool's status, with a condition variable for its changes.
#[derive(Default)]
struct Monitor {
    status: Mutex<Status>,
    changed: Condvar,
}

impl Monitor {
    fn lock(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl Fn(&Status) -> bool) -> MutexGuard<'_, Status> {
        self.changed.wait_while(self.lock(), |p| condition(p)).unwrap_or_else(PoisonError::into_inner)
    }
}

struct Thread {
    commands: Sender<ThreadCommand>,
    handle: JoinHandle<()>,
}

/// The search threads, and the table they share.
pub struct ThreadPool {
    shared: Arc<SharedState>,
    groups: Arc<Groups>,
    monitor: Arc<Monitor>,
    threads: Vec<Thread>,
    tt_mb: usize,
}

impl ThreadPool {
    /// A pool of `threads` threads (at least one) with a table of `tt_mb` MiB; `policy` places the threads.
    ///
    /// # Errors
    /// [`OutOfMemory`]
    pub fn new(
        network: Arc<Network>,
        threads: usize,
        tt_mb: usize,
        policy: &Policy,
    ) -> Result<ThreadPool, OutOfMemory> {
        let groups = Arc::new(Groups::new(policy, threads));
        let copies = Arc::new(NetworkCopies::new(network, &groups.placement));
        let threads = groups.placement.threads();
        let shared = Arc::new(SharedState::new(threads, tt_mb)?);
        let monitor = Arc::new(Monitor::default());
        let senders: Arc<Mutex<Vec<Sender<ThreadCommand>>>> = Arc::default();
        let (ready, made) = channel();
        let mut started = Vec::new();
        let mut helpers = Vec::new();
        for index in 0..threads {
            let (groups, copies) = (groups.clone(), copies.clone());
            let (shared, ready) = (shared.clone(), ready.clone());
            let (sender, receiver) = channel();
            if index > 0 {
                helpers.push(sender.clone());
            }
            let (monitor, senders) = (monitor.clone(), senders.clone());
            let handle = std::thread::Builder::new()
                .name(format!("search-{index}"))
                .stack_size(STACK)
                .spawn(move || {
                    let _abort = AbortOnPanic;
                    // on its own thread, so that its tables are in the memory nearest to it
                    match worker(shared, index, &groups, &copies) {
                        Ok(worker) => {
                            let _ = ready.send(Ok(()));
                            drop((ready, copies));
                            serve(worker, &groups, &receiver, &monitor, &senders);
                        }
                        Err(e) => {
                            let _ = ready.send(Err(e));
                        }
                    }
                })
                .map_err(|_| OutOfMemory { bytes: STACK })?;
            started.push(Thread { commands: sender, handle });
        }
        drop(ready);
        for result in made {
            result?;
        }
        *senders.lock().unwrap_or_else(PoisonError::into_inner) = helpers;
        Ok(ThreadPool { shared, groups, monitor, threads: started, tt_mb })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// The machine, where the threads run, and the pages of the table.
    pub fn description(&self) -> String {
        format!("{}; table in {}", self.groups.placement.description(), self.shared.tt.pages())
    }

    /// Size of the transposition table in MiB.
    pub fn tt_mb(&self) -> usize {
        self.tt_mb
    }

    /// Waits for a running search, then changes the network.
    pub fn set_network(&mut self, network: Arc<Network>) {
        self.wait();
        let copies = Arc::new(NetworkCopies::new(network, &self.groups.placement));
        self.send_all(|| ThreadCommand::Network(copies.clone()));
    }

    /// Waits for a running search, frees everything, and only then allocates threads and table anew, so that
    /// everything learnt is lost. `sizes` returns the number of threads and the MiB of the table; it is
    /// called in between, when the pool's memory is free.
    ///
    /// # Errors
    /// [`OutOfMemory`]; there is then no pool.
    pub fn resize(
        self,
        network: Arc<Network>,
        policy: &Policy,
        sizes: impl FnOnce() -> (usize, usize),
    ) -> Result<ThreadPool, OutOfMemory> {
        drop(self);
        let (threads, tt_mb) = sizes();
        ThreadPool::new(network, threads, tt_mb, policy)
    }

    /// Waits for a running search, then clears table and histories.
    pub fn clear(&mut self) {
        self.wait();
        self.send_all(|| ThreadCommand::Clear);
    }

    fn send_all(&self, command: impl Fn() -> ThreadCommand) {
        self.monitor.lock().pending += self.threads.len();
        for t in &self.threads {
            t.send(command());
        }
        drop(self.monitor.wait_while(|p| p.pending > 0));
    }

    /// Starts a search and returns at once, after waiting for a running search. `observer.best_move` is
    /// called once, at its end.
    pub fn go(
        &mut self,
        pos: &Position,
        limits: Limits,
        options: &SearchOptions,
        observer: Arc<dyn Observer>,
    ) {
        self.wait();
        self.shared.begin(limits.start, limits.ponder);
        let task =
            SearchTask { pos: pos.clone(), limits: Arc::new(limits), options: Arc::new(options.clone()) };
        {
            let mut status = self.monitor.lock();
            status.searching = true;
            status.pending += 1;
            status.votes.clear();
        }
        self.threads[0].send(ThreadCommand::Search(Arc::new(task), Some(observer)));
    }

    /// Asks a running search to end now.
    pub fn stop(&self) {
        self.shared.request_stop();
    }

    /// The opponent played the expected move: our clock runs. `clock` replaces the clocks of `go`.
    pub fn ponderhit(&self, clock: Option<Limits>) {
        self.shared.request_ponderhit(clock);
    }

    /// Waits until no search runs; returns the result of the last one.
    pub fn wait(&self) -> SearchResult {
        self.monitor.wait_while(|p| p.pending > 0).result.clone()
    }

    /// Whether a search runs.
    pub fn is_searching(&self) -> bool {
        self.monitor.lock().searching
    }

    /// Nodes of the current or last search, all threads.
    pub fn nodes(&self) -> u64 {
        self.shared.nodes()
    }
}

impl Thread {
    fn send(&self, command: ThreadCommand) {
        // fails only if the thread has ended
        let _ = self.commands.send(command);
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.request_stop();
        self.wait();
        // a thread ends when its commands are dropped
        let handles: Vec<_> = self.threads.drain(..).map(|thread| thread.handle).collect();
        for handle in handles {
            let _ = handle.join();
        }
    }
}

/// Aborts the process when its thread panics: otherwise the other threads would wait for ever, and the game
/// would be lost on time.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// The helper threads of the thread that keeps the time.
struct PoolHelpers<'a> {
    monitor: &'a Monitor,
    senders: &'a Mutex<Vec<Sender<ThreadCommand>>>,
}

impl Helpers for PoolHelpers<'_> {
    fn start(&self, task: &SearchTask) {
        let senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        self.monitor.lock().pending += senders.len();
        let task = Arc::new(task.clone());
        for s in senders.iter() {
            // fails only if the thread has ended
            let _ = s.send(ThreadCommand::Search(task.clone(), None));
        }
    }

    fn finish(&self) -> Vec<Vote> {
        // 1: the command of the calling thread itself is still pending
        self.monitor.wait_while(|p| p.pending > 1).votes.clone()
    }

    fn release(&self) {
        self.monitor.lock().searching = false;
    }
}

/// The worker of a new thread, which binds itself to its group.
fn worker(
    shared: Arc<SharedState>,
    index: usize,
    groups: &Groups,
    copies: &NetworkCopies,
) -> Result<Worker, OutOfMemory> {
    let group = groups.placement.group_of(index);
    groups.placement.bind(group);
    let (histories, part) = groups.histories(group, index)?;
    Worker::new(copies.near(&groups.placement, group), shared, index, histories, part)
}

/// Runs commands until the pool is dropped.
fn serve(
    mut worker: Worker,
    groups: &Groups,
    commands: &Receiver<ThreadCommand>,
    monitor: &Monitor,
    helpers: &Mutex<Vec<Sender<ThreadCommand>>>,
) {
    while let Ok(command) = commands.recv() {
        match command {
            ThreadCommand::Clear => {
                // SAFETY: the pool waits for the end of a search before it sends this, and then for all threads.
                #[allow(unsafe_code)]
                unsafe {
                    worker.shared.tt.clear(worker.index, worker.threads);
                }
                worker.clear();
            }
            ThreadCommand::Network(copies) => {
                let group = groups.placement.group_of(worker.index);
                worker.set_network(copies.near(&groups.placement, group));
            }
            ThreadCommand::Search(task, Some(observer)) => {
                let result = go(&mut worker, &task, &*observer, &PoolHelpers { monitor, senders: helpers });
                let mut p = monitor.lock();
                p.result = result;
                p.searching = false;
            }
            ThreadCommand::Search(task, None) => {
                let vote = help(&mut worker, &task);
                monitor.lock().votes.push(vote);
            }
        }
        monitor.lock().pending -= 1;
        monitor.changed.notify_all();
    }
    // the helpers' senders would keep them alive
    if worker.index == 0 {
        helpers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resize_frees_before_it_allocates() {
        let network = Arc::new(Network::embedded().unwrap());
        let pool = ThreadPool::new(network.clone(), 1, 1, &Policy::Auto).unwrap();
        let old = Arc::downgrade(&pool.shared);
        let pool = pool
            .resize(network, &Policy::Auto, || {
                assert!(old.upgrade().is_none(), "the old table is still held");
                (2, 3)
            })
            .unwrap();
        assert_eq!((pool.threads(), pool.tt_mb()), (2, 3));
    }
}

//! A search on several threads (lazy SMP): [`ThreadPool`], its threads, and the orders they get.

use super::go::{Helpers, Job, go, help};
use super::shared::SharedState;
use super::vote::Vote;
use super::worker::Worker;
use super::{Limits, Observer, SearchOptions, SearchResult};
use crate::nnue::Network;
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Bytes of stack that a thread which searches needs: deep recursion with large frames.
pub const STACK: usize = 64 << 20;

enum Order {
    /// The thread that keeps time gets the observer.
    Search(Box<Job>, Option<Arc<dyn Observer>>),
    Clear,
    Network(Arc<Network>),
}

/// How far the pool's search is.
#[derive(Default)]
struct Status {
    /// Orders given and not yet carried out.
    pending: usize,
    searching: bool,
    votes: Vec<Vote>,
    result: SearchResult,
}

/// The pool's status, and the means to wait for a change of it.
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
    orders: Option<Sender<Order>>,
    handle: Option<JoinHandle<()>>,
}

/// The search threads, and the table they share.
pub struct ThreadPool {
    shared: Arc<SharedState>,
    monitor: Arc<Monitor>,
    threads: Vec<Thread>,
    tt_mb: usize,
}

impl ThreadPool {
    /// A pool of so many threads (at least one) over a table of `tt_mb` MiB.
    ///
    /// # Errors
    /// [`OutOfMemory`] when the table or the histories cannot be had.
    pub fn new(network: Arc<Network>, threads: usize, tt_mb: usize) -> Result<ThreadPool, OutOfMemory> {
        let threads = threads.max(1);
        let shared = Arc::new(SharedState::new(threads, tt_mb)?);
        let monitor = Arc::new(Monitor::default());
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
            let (monitor, senders) = (monitor.clone(), senders.clone());
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
                            serve(worker, &receiver, &monitor, &senders);
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
        Ok(ThreadPool { shared, monitor, threads: started, tt_mb })
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
        self.give_all(|| Order::Network(network.clone()));
    }

    /// Waits for a running search, gives everything back to the system, and only then allocates threads and table again; all
    /// that was learnt is forgotten. `sizes`, the number of threads and the MiB of the table, is asked in between, when
    /// the memory that the pool held is free again.
    ///
    /// # Errors
    /// [`OutOfMemory`]; there is then no pool.
    pub fn resize(
        self,
        network: Arc<Network>,
        sizes: impl FnOnce() -> (usize, usize),
    ) -> Result<ThreadPool, OutOfMemory> {
        drop(self);
        let (threads, tt_mb) = sizes();
        ThreadPool::new(network, threads, tt_mb)
    }

    /// Waits for a running search, then forgets everything: table and histories.
    pub fn clear(&mut self) {
        self.wait();
        self.shared.tt.clear(self.threads.len());
        self.shared.histories.clear();
        self.give_all(|| Order::Clear);
    }

    fn give_all(&self, order: impl Fn() -> Order) {
        self.monitor.lock().pending += self.threads.len();
        for t in &self.threads {
            t.give(order());
        }
        drop(self.monitor.wait_while(|p| p.pending > 0));
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
            let mut status = self.monitor.lock();
            status.searching = true;
            status.pending += 1;
            status.votes.clear();
        }
        self.threads[0].give(Order::Search(Box::new(job), Some(observer)));
    }

    /// Asks a running search to end now.
    pub fn stop(&self) {
        self.shared.request_stop();
    }

    /// The opponent played the expected move: our clock runs. `clock` replaces the clocks of `go`.
    pub fn ponderhit(&self, clock: Option<Limits>) {
        self.shared.request_ponderhit(clock);
    }

    /// Waits until no search runs; the result of the last one.
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

/// Ends the process when its thread panics: otherwise those who wait for the thread would wait for ever, and the game be lost on time.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// The helpers as the thread that keeps the time sees them.
struct Crew<'a> {
    monitor: &'a Monitor,
    senders: &'a Mutex<Vec<Sender<Order>>>,
}

impl Helpers for Crew<'_> {
    fn start(&self, job: &Job) {
        let senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        self.monitor.lock().pending += senders.len();
        for s in senders.iter() {
            // a thread ends only when its sender is dropped
            let _ = s.send(Order::Search(Box::new(job.clone()), None));
        }
    }

    fn finish(&self) -> Vec<Vote> {
        // 1: the order of the thread that asks is still pending
        self.monitor.wait_while(|p| p.pending > 1).votes.clone()
    }

    fn release(&self) {
        self.monitor.lock().searching = false;
    }
}

/// Carries out orders until the pool is dropped.
fn serve(
    mut worker: Worker,
    orders: &Receiver<Order>,
    monitor: &Monitor,
    helpers: &Mutex<Vec<Sender<Order>>>,
) {
    while let Ok(order) = orders.recv() {
        match order {
            Order::Clear => worker.clear(),
            Order::Network(n) => worker.set_network(n),
            Order::Search(job, Some(observer)) => {
                let result = go(&mut worker, &job, &*observer, &Crew { monitor, senders: helpers });
                let mut p = monitor.lock();
                p.result = result;
                p.searching = false;
            }
            Order::Search(job, None) => {
                let vote = help(&mut worker, &job);
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
        let pool = ThreadPool::new(network.clone(), 1, 1).unwrap();
        let old = Arc::downgrade(&pool.shared);
        let pool = pool
            .resize(network, || {
                assert!(old.upgrade().is_none(), "the old table is still held");
                (2, 3)
            })
            .unwrap();
        assert_eq!((pool.threads(), pool.tt_mb()), (2, 3));
    }
}

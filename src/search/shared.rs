//! What all threads of one search share: [`SharedState`].

use super::Limits;
use super::tt::TranspositionTable;
use crate::support::memory::OutOfMemory;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One thread's counters, on a cache line of their own.
#[derive(Default)]
#[repr(align(128))]
pub struct Counter {
    pub nodes: AtomicU64,
    /// How often the best root move changed since the time manager last looked.
    pub best_move_changes: AtomicU64,
}

/// The opponent played the expected move.
pub struct PonderHit {
    /// Milliseconds since `go`.
    pub ms: i64,
    /// The clocks that came with it, if any did.
    pub clock: Option<Limits>,
}

/// The start of the search and the `ponderhit`, if it came.
#[derive(Default)]
struct PonderClock {
    start: Option<Instant>,
    hit: Option<PonderHit>,
}

/// Table, flags, counters.
pub struct SharedState {
    pub tt: TranspositionTable,
    pub counters: Vec<Counter>,
    pub stop: AtomicBool,
    /// Set by the user's `stop` only, for work besides the search (the mate solver).
    pub user_stop: Arc<AtomicBool>,
    /// Stopped by a limit or the user in the middle of an iteration.
    pub aborted: AtomicBool,
    pub increase_depth: AtomicBool,
    /// The first thread has finished an iteration, so that there is a move to play.
    pub has_move: AtomicBool,
    /// Stopped by the user, not by a limit: an infinite search waits for it.
    asked_to_stop: AtomicBool,
    ponder: AtomicBool,
    /// A `ponderhit` waits to be taken.
    hit: AtomicBool,
    /// Guards changes of `asked_to_stop` and `ponder` for those who wait on [`SharedState::wait_released`].
    gate: Mutex<PonderClock>,
    opened: Condvar,
}

impl SharedState {
    /// # Errors
    /// [`OutOfMemory`] for the table.
    pub fn new(threads: usize, tt_mb: usize) -> Result<SharedState, OutOfMemory> {
        Ok(SharedState {
            tt: TranspositionTable::new(tt_mb)?,
            counters: (0..threads).map(|_| Counter::default()).collect(),
            stop: AtomicBool::new(false),
            user_stop: Arc::default(),
            aborted: AtomicBool::new(false),
            increase_depth: AtomicBool::new(true),
            has_move: AtomicBool::new(false),
            asked_to_stop: AtomicBool::new(false),
            ponder: AtomicBool::new(false),
            hit: AtomicBool::new(false),
            gate: Mutex::default(),
            opened: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, PonderClock> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resets flags and counters for a search that began at `start`.
    pub fn begin(&self, start: Instant, ponder: bool) {
        let mut gate = self.lock();
        *gate = PonderClock { start: Some(start), hit: None };
        self.stop.store(false, Relaxed);
        self.user_stop.store(false, Relaxed);
        self.aborted.store(false, Relaxed);
        self.increase_depth.store(true, Relaxed);
        self.has_move.store(false, Relaxed);
        self.asked_to_stop.store(false, Relaxed);
        self.ponder.store(ponder, Relaxed);
        self.hit.store(false, Relaxed);
        for c in &self.counters {
            c.nodes.store(0, Relaxed);
            c.best_move_changes.store(0, Relaxed);
        }
    }

    /// Nodes of all threads.
    pub fn nodes(&self) -> u64 {
        self.counters.iter().map(|c| c.nodes.load(Relaxed)).sum()
    }

    /// The user's `stop`.
    pub fn request_stop(&self) {
        let _gate = self.lock();
        self.aborted.store(true, Relaxed);
        self.stop.store(true, Relaxed);
        self.user_stop.store(true, Relaxed);
        self.asked_to_stop.store(true, Relaxed);
        self.ponder.store(false, Relaxed);
        self.opened.notify_all();
    }

    /// The opponent played the expected move; `clock` replaces the clocks of `go ponder`.
    pub fn request_ponderhit(&self, clock: Option<Limits>) {
        let mut gate = self.lock();
        if let (true, Some(start)) = (self.ponder.load(Relaxed), gate.start) {
            gate.hit = Some(PonderHit { ms: start.elapsed().as_millis() as i64, clock });
            self.hit.store(true, Relaxed);
            // who sees that the opponent's time has ended sees when, too
            self.ponder.store(false, Release);
            self.opened.notify_all();
        }
    }

    /// Whether the opponent's time is running.
    #[inline]
    pub fn pondering(&self) -> bool {
        self.ponder.load(Acquire)
    }

    /// The `ponderhit`, the first time it is asked for after it came.
    #[inline]
    pub fn take_ponderhit(&self) -> Option<PonderHit> {
        if !self.hit.load(Relaxed) {
            return None;
        }
        self.hit.store(false, Relaxed);
        self.lock().hit.take()
    }

    /// Waits until the best move may be sent: stopped by the user, or (unless `infinite`) no longer
    /// pondering.
    pub fn wait_released(&self, infinite: bool) {
        let mut gate = self.lock();
        while !self.asked_to_stop.load(Relaxed) && (infinite || self.ponder.load(Relaxed)) {
            gate = self
                .opened
                .wait_timeout(gate, Duration::from_millis(50))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

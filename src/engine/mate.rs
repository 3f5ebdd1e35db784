//! The mate search as the engine runs it: one thread, a solver that keeps its memory, an observer that receives the answer.

use crate::mate::{Limits, Outcome, Progress, STACK, Solver};
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::Move;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Receives the reports of a mate search.
pub trait MateObserver: Send + Sync {
    /// About once a second, and whenever a mate is found.
    fn progress(&self, progress: &Progress);
    /// Once, at the end.
    fn answer(&self, outcome: &Outcome);
}

/// What is asked of a mate search.
pub(super) struct Order {
    pub position: Position,
    /// First moves that do not count.
    pub without: Vec<Move>,
    pub limits: Limits,
    pub megabytes: usize,
}

/// At most one search at a time.
#[derive(Default)]
pub(super) struct MateSearch {
    solver: Option<(usize, Solver)>,
    thread: Option<JoinHandle<(usize, Solver)>>,
    stop: Arc<AtomicBool>,
    /// The answer is out, though the thread may not have ended yet.
    answered: Arc<AtomicBool>,
}

impl MateSearch {
    /// Starts a search; one that runs is stopped first.
    pub(super) fn start(&mut self, order: Order, observer: Arc<dyn MateObserver>) -> Result<(), OutOfMemory> {
        self.finish();
        let (megabytes, mut solver) = match self.solver.take() {
            Some((megabytes, solver)) if megabytes == order.megabytes => (megabytes, solver),
            // the old memory is given back before the new one is asked for
            old => {
                drop(old);
                (order.megabytes, Solver::new(order.megabytes)?)
            }
        };
        self.stop = Arc::new(AtomicBool::new(false));
        self.answered = Arc::new(AtomicBool::new(false));
        let (stop, answered) = (self.stop.clone(), self.answered.clone());
        let run = move || {
            let Order { position, without, limits, .. } = order;
            let outcome = solver
                .solve(&position, &without, &limits, &stop, &mut |progress| observer.progress(progress));
            // before the answer, which may be answered at once
            answered.store(true, Ordering::Relaxed);
            observer.answer(&outcome);
            (megabytes, solver)
        };
        let builder = std::thread::Builder::new().name("mate".into()).stack_size(STACK);
        self.thread = Some(builder.spawn(run).map_err(|_| OutOfMemory { bytes: STACK })?);
        Ok(())
    }

    /// Asks the search to end; the answer follows.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_searching(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished()) && !self.answered.load(Ordering::Relaxed)
    }

    /// Stops the search, if one runs, and waits for its answer.
    pub(super) fn finish(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            self.solver = thread.join().ok();
        }
    }

    /// Gives the memory back.
    pub(super) fn release(&mut self) {
        self.finish();
        self.solver = None;
    }
}

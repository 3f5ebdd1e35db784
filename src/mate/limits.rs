//! The limits of a solver, and when it must stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far to shorten a mate that was found, while time is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shorten {
    /// Not at all.
    Any,
    /// Until the line is as long as the proved bound: no defence lasts longer than the line shown.
    UpperBound,
    /// Until no shorter mate exists.
    #[default]
    Shortest,
}

/// The limits of one search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The most wall-clock time.
    pub time: Option<Duration>,
    /// The most positions to visit.
    pub nodes: Option<u64>,
    /// What to do after a first mate.
    pub shorten: Shorten,
}

/// Whether the time is over or the user stopped the search.
#[derive(Clone)]
pub(super) struct Ending {
    deadline: Option<Instant>,
    stop: Arc<AtomicBool>,
}

impl Ending {
    pub(super) fn is_due(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Clock, count of positions and stop flag of one search.
pub(super) struct Watch {
    start: Instant,
    pub ending: Ending,
    most_nodes: u64,
    pub nodes: u64,
    pub deepest: usize,
    ended: bool,
}

impl Watch {
    pub(super) fn new(limits: &Limits, stop: &Arc<AtomicBool>) -> Watch {
        let start = Instant::now();
        let deadline = limits.time.and_then(|time| start.checked_add(time));
        Watch {
            start,
            ending: Ending { deadline, stop: stop.clone() },
            most_nodes: limits.nodes.unwrap_or(u64::MAX),
            nodes: 0,
            deepest: 0,
            ended: false,
        }
    }

    /// Counts a position. Every 256th reads the clock; returns whether it did.
    #[inline]
    pub(super) fn visit(&mut self, depth: usize) -> bool {
        self.nodes += 1;
        self.deepest = self.deepest.max(depth);
        let look = self.nodes.is_multiple_of(256);
        if look || self.nodes >= self.most_nodes {
            self.look();
        }
        look
    }

    #[cold]
    fn look(&mut self) {
        self.ended |= self.nodes >= self.most_nodes || self.ending.is_due();
    }

    /// Whether the search has to end.
    #[inline]
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

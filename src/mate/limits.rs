//! What a solver is allowed, and when it has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far a mate that was found is shortened while time is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shorten {
    /// The first mate found will do.
    Any,
    /// Until the line is as long as the proof says it may be: no defence lasts longer than the line shown.
    UpperBound,
    /// Until no shorter mate exists.
    #[default]
    Shortest,
}

/// What a solver is allowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Wall-clock time at most.
    pub time: Option<Duration>,
    /// Positions visited.
    pub nodes: Option<u64>,
    /// What to do after a first mate.
    pub shorten: Shorten,
}

/// Whether time is up or the user wants an end.
#[derive(Clone)]
pub(super) struct Gate {
    deadline: Option<Instant>,
    stop: Arc<AtomicBool>,
}

impl Gate {
    pub(super) fn closed(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Clock, count of positions and stop flag of one search.
pub(super) struct Watch {
    start: Instant,
    pub gate: Gate,
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
            gate: Gate { deadline, stop: stop.clone() },
            most_nodes: limits.nodes.unwrap_or(u64::MAX),
            nodes: 0,
            deepest: 0,
            ended: false,
        }
    }

    /// Counts a position. Every 256th looks at the clock; the answer is whether it did.
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
        self.ended |= self.nodes >= self.most_nodes || self.gate.closed();
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

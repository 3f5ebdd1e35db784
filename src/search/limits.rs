//! The limits of a `go`: clocks, depth, nodes, moves.

use crate::types::Move;
use std::time::Instant;

/// The limits of one search. Times are milliseconds, indexed by colour (`Color::index`).
///
/// With no limit at all (`Limits::default()`) the search runs until it is stopped, like `infinite`, but may
/// return by itself when the deepest iteration is done.
#[derive(Clone, Debug)]
pub struct Limits {
    /// What each side may use now, byoyomi apart: the increment of its next move is included.
    pub time: [u64; 2],
    /// Fischer increment of each move.
    pub inc: [u64; 2],
    /// Byoyomi, available again every move.
    pub byoyomi: [u64; 2],
    /// Whether a clock was given at all (any of `btime wtime binc winc byoyomi`).
    pub has_clock: bool,
    /// `rtime`: think for about this long, with some randomness.
    pub rtime: Option<u64>,
    /// `movetime`: think for exactly this long; after `ponder`, from `ponderhit` on.
    pub movetime: Option<u64>,
    /// Deepest iteration.
    pub depth: Option<i32>,
    /// Nodes over all threads. One thread stops exactly there, but not before the first iteration is done.
    pub nodes: Option<u64>,
    /// Soft node limit: no new iteration starts beyond it (self-play data use it).
    pub soft_nodes: Option<u64>,
    /// `go mate`: search for mate, for this many milliseconds (`u64::MAX` for `infinite`).
    pub mate: Option<u64>,
    /// Do not send the best move before `stop` or `ponderhit`.
    pub infinite: bool,
    /// Think on the opponent's time; the clock starts at `ponderhit`.
    pub ponder: bool,
    /// Only these root moves, if not empty.
    pub search_moves: Vec<Move>,
    /// When the `go` arrived.
    pub start: Instant,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: [0; 2],
            inc: [0; 2],
            byoyomi: [0; 2],
            has_clock: false,
            rtime: None,
            movetime: None,
            depth: None,
            nodes: None,
            soft_nodes: None,
            mate: None,
            infinite: false,
            ponder: false,
            search_moves: Vec::new(),
            start: Instant::now(),
        }
    }
}

impl Limits {
    /// A search to a fixed depth.
    pub fn depth(depth: i32) -> Limits {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// A search of `nodes` nodes.
    pub fn nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// A search of `ms` milliseconds.
    pub fn movetime(ms: u64) -> Limits {
        Limits { movetime: Some(ms), ..Limits::default() }
    }

    /// Whether any time is given.
    pub fn has_time(&self) -> bool {
        self.has_clock || self.rtime.is_some() || self.movetime.is_some()
    }

    /// Takes over the clocks and times of other limits.
    pub fn set_times(&mut self, other: &Limits) {
        *self = Limits {
            time: other.time,
            inc: other.inc,
            byoyomi: other.byoyomi,
            has_clock: other.has_clock,
            rtime: other.rtime,
            movetime: other.movetime,
            ..std::mem::take(self)
        };
    }

    /// Whether the time manager decides when to stop.
    pub fn uses_time_manager(&self) -> bool {
        (self.has_clock || self.rtime.is_some()) && self.movetime.is_none()
    }
}

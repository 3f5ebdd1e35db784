//! The output of a search: lines of analysis and the result.

use crate::types::{Bound, Move, VALUE_NONE, Value};
use std::sync::{Mutex, PoisonError};

/// One line of analysis.
#[derive(Clone, Debug)]
pub struct Info {
    /// Plies of the iteration.
    pub depth: i32,
    /// Deepest ply on the principal variation's tree.
    pub seldepth: i32,
    /// 1-based rank of the line.
    pub multipv: usize,
    /// From the side to move's view, in the engine's unit (`types::Value`).
    pub score: Value,
    /// Whether the score is exact.
    pub bound: Bound,
    /// Nodes so far, all threads.
    pub nodes: u64,
    /// Nodes a second.
    pub nps: u64,
    /// Per mille of the transposition table in use.
    pub hashfull: u32,
    /// Milliseconds since `go`.
    pub time_ms: u64,
    /// The line, the best move first.
    pub pv: Vec<Move>,
    /// How the line ends when a repetition ends it (`ConsiderationMode`): `rep_draw`, `rep_win`, ...
    pub pv_end: Option<&'static str>,
}

/// A line of the opening book.
#[derive(Clone, Debug)]
pub struct BookLine {
    /// 1-based rank of the line.
    pub multipv: usize,
    /// From the side to move's view, in centipawns as the book has them.
    pub centipawns: i32,
    /// Plies behind the score, as the book has them.
    pub depth: i32,
    /// The line, the book's move first.
    pub pv: Vec<Move>,
}

/// Receives what a search finds, from the search's own threads.
pub trait Observer: Send + Sync {
    /// Whether lines of analysis are wanted; making them takes a noticeable part of a short search.
    fn listens(&self) -> bool {
        true
    }
    /// A line of analysis.
    fn info(&self, _info: &Info) {}
    /// A line of the opening book, in place of a search.
    fn book(&self, _line: &BookLine) {}
    /// A remark for the user.
    fn message(&self, _text: &str) {}
    /// Called exactly once a search, at its end. `best` may be `Move::RESIGN` or `Move::WIN`.
    fn best_move(&self, _best: Move, _ponder: Option<Move>) {}
}

/// An observer that ignores everything.
pub struct Silent;
impl Observer for Silent {
    fn listens(&self) -> bool {
        false
    }
}

/// Keeps the last line of every rank whose score is exact.
#[derive(Default)]
pub struct LastLines(Mutex<Vec<Info>>);

impl LastLines {
    /// Returns the lines, the best first.
    pub fn take(&self) -> Vec<Info> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for LastLines {
    fn info(&self, info: &Info) {
        if !matches!(info.bound, Bound::Exact | Bound::None) || info.pv.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.binary_search_by_key(&info.multipv, |line| line.multipv) {
            Ok(at) => lines[at] = info.clone(),
            Err(at) => lines.insert(at, info.clone()),
        }
    }
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// `Move::RESIGN` without a legal move or below the resign score, `Move::WIN` for a declaration.
    pub best: Move,
    /// The reply to expect.
    pub ponder: Option<Move>,
    /// Side to move's view.
    pub score: Value,
    /// Plies of the iteration.
    pub depth: i32,
    /// Deepest ply on the principal variation's tree.
    pub seldepth: i32,
    /// Nodes so far, all threads.
    pub nodes: u64,
    /// The line, the best move first.
    pub pv: Vec<Move>,
}

impl Default for SearchResult {
    fn default() -> SearchResult {
        SearchResult {
            best: Move::RESIGN,
            ponder: None,
            score: -VALUE_NONE,
            depth: 0,
            seldepth: 0,
            nodes: 0,
            pv: Vec::new(),
        }
    }
}

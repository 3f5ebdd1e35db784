//! The search of one position for a book: [`SearchEffort`].

use crate::book::BookMove;
use crate::engine::centipawns;
use crate::position::Position;
use crate::search::{LastLines, Limits, Searcher};
use crate::types::Move;
use std::cmp::Reverse;

/// Largest score that books hold, in centipawns.
const MAX_VALUE: i32 = 32_000;

/// How long a position is searched, and for how many moves.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchEffort {
    /// Hard limit of the search of a position that every game comes to; of another one less, by the square root of
    /// its probability ...
    pub nodes: Option<u64>,
    /// ... but at least this.
    pub least_nodes: u64,
    /// Milliseconds.
    pub movetime: Option<u64>,
    /// Moves that a search scores.
    pub multipv: usize,
    /// MiB of each search's transposition table.
    pub hash: usize,
    /// Output units of the network in a `Value` unit.
    pub fv_scale: i32,
}

impl SearchEffort {
    /// The best moves, and all legal moves of `known`, with scores and replies; the best first. None in a
    /// position without legal moves.
    pub(super) fn search(
        &self,
        searcher: &mut Searcher,
        pos: &Position,
        known: &[BookMove],
        probability: f64,
    ) -> Vec<BookMove> {
        let nodes =
            self.nodes.map(|most| self.least_nodes.max((most as f64 * probability.sqrt()) as u64).min(most));
        let mut scored = self.score(searcher, pos, Vec::new(), self.multipv, nodes);
        let missing: Vec<Move> =
            known.iter().filter(|m| scored.iter().all(|s| s.mv != m.mv)).filter_map(|m| m.on(pos)).collect();
        if !missing.is_empty() {
            let count = missing.len();
            scored.extend(self.score(searcher, pos, missing, count, nodes));
        }
        for m in &mut scored {
            let count = known.iter().find(|old| old.mv == m.mv).and_then(BookMove::count);
            *m = m.with_count(count.map(u64::from));
        }
        scored.sort_by_key(|m| Reverse(m.value()));
        scored
    }

    /// One search with an empty table, of the moves in `only` or of all.
    fn score(
        &self,
        searcher: &mut Searcher,
        pos: &Position,
        only: Vec<Move>,
        multipv: usize,
        nodes: Option<u64>,
    ) -> Vec<BookMove> {
        searcher.clear();
        searcher.options_mut().multi_pv = multipv;
        let limits = Limits { nodes, movetime: self.movetime, search_moves: only, ..Limits::default() };
        let lines = LastLines::default();
        searcher.search(pos, &limits, &lines);
        let moves = lines.take().into_iter().filter_map(|line| {
            let first = line.pv.first().filter(|m| m.is_some())?;
            let reply = line.pv.get(1).map_or(0, |m| m.raw16());
            let value = centipawns(line.score).clamp(-MAX_VALUE, MAX_VALUE);
            let m = BookMove::new(first.raw16()).with_ponder(reply);
            Some(m.with_value(Some(value)).with_depth(Some(line.depth)))
        });
        moves.collect()
    }
}

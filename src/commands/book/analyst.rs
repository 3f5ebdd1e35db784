//! Searches of a book's positions: [`Analyst`].

use crate::book::BookMove;
use crate::engine::centipawns;
use crate::nnue::Network;
use crate::position::Position;
use crate::search::{LastLines, Limits, SearchOptions, Searcher};
use crate::support::memory::OutOfMemory;
use crate::types::Move;
use std::sync::Arc;

/// How long a position is searched, and for how many moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    pub nodes: Option<u64>,
    /// Milliseconds.
    pub movetime: Option<u64>,
    pub multipv: usize,
    /// MiB.
    pub hash: usize,
    pub fv_scale: i32,
}

/// One search thread. Every position is searched with nothing known before, so that what it finds depends on nothing else.
pub struct Analyst {
    searcher: Searcher,
    effort: Effort,
}

impl Analyst {
    /// # Errors
    /// When there is no memory for the tables.
    pub fn new(network: Arc<Network>, effort: &Effort) -> Result<Analyst, OutOfMemory> {
        let options = SearchOptions::self_play(effort.fv_scale);
        Ok(Analyst { searcher: Searcher::new(network, effort.hash, options)?, effort: effort.clone() })
    }

    /// The best moves, and all of `known` that are legal, with scores and replies; the best first. None in a position
    /// without legal moves.
    pub fn analyse(&mut self, pos: &Position, known: &[BookMove]) -> Vec<BookMove> {
        let mut found = self.search(pos, Vec::new(), self.effort.multipv);
        let missing: Vec<Move> =
            known.iter().filter(|m| found.iter().all(|f| f.mv != m.mv)).filter_map(|m| m.on(pos)).collect();
        if !missing.is_empty() {
            let count = missing.len();
            found.extend(self.search(pos, missing, count));
        }
        for f in &mut found {
            let count = known.iter().find(|m| m.mv == f.mv).and_then(BookMove::count);
            *f = f.with_count(count.map(u64::from));
        }
        found.sort_by_key(|m| std::cmp::Reverse(m.value()));
        found
    }

    fn search(&mut self, pos: &Position, only: Vec<Move>, multipv: usize) -> Vec<BookMove> {
        /// What books hold.
        const MOST: i32 = 32_000;
        self.searcher.clear();
        self.searcher.options_mut().multi_pv = multipv;
        let limits = Limits {
            nodes: self.effort.nodes,
            movetime: self.effort.movetime,
            search_moves: only,
            ..Limits::default()
        };
        let lines = LastLines::default();
        self.searcher.search(pos, &limits, &lines);
        let moves = lines.take().into_iter().filter_map(|l| {
            let first = l.pv.first().filter(|m| m.is_some())?;
            let reply = l.pv.get(1).map_or(0, |m| m.raw16());
            let value = centipawns(l.score).clamp(-MOST, MOST);
            Some(
                BookMove::new(first.raw16())
                    .with_ponder(reply)
                    .with_value(Some(value))
                    .with_depth(Some(l.depth)),
            )
        });
        moves.collect()
    }
}

//! Balanced openings made by our own search: [`Maker`]. `book/openings.txt` comes from here.
//!
//! A line follows the search's own moves, but at every ply a random one of those that it rates nearly equal,
//! so that many different openings result. A deeper search of the last position then keeps the balanced ones.

use crate::engine::centipawns;
use crate::nnue::Network;
use crate::position::Position;
use crate::record::openings::Opening;
use crate::search::{LastLines, Limits, SearchOptions, Searcher, Silent};
use crate::support::random::Rng;
use crate::types::Move;
use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;

/// How openings are made.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Smallest and largest length of a line in plies; lengths are even.
    pub plies: (u32, u32),
    /// Nodes of the search before each move.
    pub move_nodes: u64,
    /// How many of the best moves it rates.
    pub candidates: usize,
    /// Centipawns by which a move may be worse than the best one.
    pub margin: i32,
    /// Nodes of the search that scores the last position.
    pub nodes: u64,
    /// Largest score of the last position for either side, in centipawns.
    pub balance: i32,
    /// Seed of the choice among moves.
    pub seed: u64,
}

/// Makes openings one at a time. They depend on the recipe and the network only.
pub struct Maker {
    recipe: Recipe,
    searcher: Searcher,
    rng: Rng,
    /// Keys of the final positions so far.
    seen: HashSet<u64>,
    /// Lines begun so far.
    pub tried: u64,
}

/// An opening and the score of its last position in centipawns, the side to move's view.
pub struct Balanced {
    /// The line.
    pub opening: Opening,
    /// Its score.
    pub score: i32,
}

impl Maker {
    /// # Errors
    /// When the tables of the search do not fit into memory.
    pub fn new(network: Network, recipe: Recipe) -> Result<Maker, Box<dyn Error>> {
        const TABLE_MB: usize = 64;
        let fv_scale = network.fv_scale();
        let options =
            SearchOptions { fv_scale, pv_interval: 0, output_fail_lh: false, ..SearchOptions::default() };
        let searcher = Searcher::new(Arc::new(network), TABLE_MB, options)?;
        let rng = Rng::new(recipe.seed);
        Ok(Maker { recipe, searcher, rng, seen: HashSet::new(), tried: 0 })
    }

    /// Tries one line; `None` if its last position is unbalanced, in check, or known already.
    pub fn try_one(&mut self) -> Option<Balanced> {
        self.tried += 1;
        // a line must not depend on earlier ones through the table
        self.searcher.clear();
        let (low, high) = self.recipe.plies;
        let plies = 2 * self.rng.between(low.div_ceil(2), high / 2);
        let mut opening = Opening::startpos();
        let mut position = opening.position();
        for _ in 0..plies {
            let m = self.choose(&position)?;
            position.do_move(m);
            opening.moves.push(m);
        }
        if position.in_check() || !self.seen.insert(position.key()) {
            return None;
        }
        self.searcher.options_mut().multi_pv = 1;
        self.searcher.clear();
        let result = self.searcher.search(&position, &Limits::nodes(self.recipe.nodes), &Silent);
        let score = centipawns(result.score);
        (score.abs() <= self.recipe.balance).then_some(Balanced { opening, score })
    }

    /// One of the moves that the search rates nearly as good as the best.
    fn choose(&mut self, position: &Position) -> Option<Move> {
        self.searcher.options_mut().multi_pv = self.recipe.candidates;
        let rated = LastLines::default();
        self.searcher.search(position, &Limits::nodes(self.recipe.move_nodes), &rated);
        let lines = rated.take();
        let least = centipawns(lines.first()?.score) - self.recipe.margin;
        let near: Vec<Move> =
            lines.iter().filter(|line| centipawns(line.score) >= least).map(|line| line.pv[0]).collect();
        Some(near[self.rng.below(near.len())])
    }
}

//! The moves of the root: [`RootMove`], the moves behind one, [`PvLine`], and both as they are reported, [`Line`].

use crate::types::{Bound, MAX_PLY, Move, VALUE_INFINITE, Value};
use arrayvec::ArrayVec;
use std::cmp::Ordering;

/// A principal variation.
pub(super) type PvLine = ArrayVec<Move, { MAX_PLY + 1 }>;

/// A root move with its line and score, as it is reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub score: Value,
    pub bound: Bound,
    pub depth: i32,
    pub sel_depth: i32,
    pub pv: Vec<Move>,
}

/// One move of the root and what is known of it: small, for there are hundreds, which every iteration sorts.
#[derive(Clone)]
pub(super) struct RootMove {
    pub mv: Move,
    /// The line after the move.
    pub rest: Vec<Move>,
    /// The score of this iteration; `-VALUE_INFINITE` if the move failed low.
    pub score: Value,
    pub previous_score: Value,
    /// The score to print: a bound where the window cut it off.
    pub shown: Value,
    pub bound: Bound,
    pub average: Value,
    /// Mean of score × |score|.
    pub mean_square: i32,
    /// Nodes spent on it.
    pub effort: u64,
    pub sel_depth: i32,
}

impl RootMove {
    pub fn new(m: Move) -> RootMove {
        RootMove {
            mv: m,
            rest: Vec::new(),
            score: -VALUE_INFINITE,
            previous_score: -VALUE_INFINITE,
            shown: -VALUE_INFINITE,
            bound: Bound::Exact,
            average: -VALUE_INFINITE,
            mean_square: -VALUE_INFINITE * VALUE_INFINITE,
            effort: 0,
            sel_depth: 0,
        }
    }

    /// The move and the line after it.
    pub fn pv(&self) -> impl Iterator<Item = Move> {
        std::iter::once(self.mv).chain(self.rest.iter().copied())
    }

    /// Whether this iteration has a score for it, exact or a bound.
    pub fn is_scored(&self) -> bool {
        self.score != -VALUE_INFINITE
    }

    /// Best first; equal scores by the previous iteration's.
    pub fn best_first(a: &RootMove, b: &RootMove) -> Ordering {
        (b.score, b.previous_score).cmp(&(a.score, a.previous_score))
    }

    /// Takes in the score of a search, whatever it is worth.
    pub fn average_in(&mut self, value: Value) {
        let square = value * value.abs();
        if self.average == -VALUE_INFINITE {
            (self.average, self.mean_square) = (value, square);
        } else {
            self.average = (value + self.average) / 2;
            self.mean_square = (square + self.mean_square) / 2;
        }
    }

    /// The score of a search in the window (`alpha`, `beta`), and the line that was found behind the move.
    pub fn set_score(&mut self, value: Value, alpha: Value, beta: Value, line: &[Move]) {
        self.score = value;
        (self.shown, self.bound) = if value >= beta {
            (beta, Bound::Lower)
        } else if value <= alpha {
            (alpha, Bound::Upper)
        } else {
            (value, Bound::Exact)
        };
        self.rest.clear();
        self.rest.extend_from_slice(line);
    }
}

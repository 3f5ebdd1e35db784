//! The moves of the root: [`RootMove`], a principal variation, [`PvMoves`], and a line for the observer,
//! [`ReportedLine`].

use crate::types::{Bound, MAX_PLY, Move, VALUE_INFINITE, Value};
use arrayvec::ArrayVec;
use std::cmp::Ordering;

/// A principal variation.
pub(super) type PvMoves = ArrayVec<Move, { MAX_PLY + 1 }>;

/// A principal variation with its score, as it is reported.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedLine {
    pub score: Value,
    pub bound: Bound,
    pub depth: i32,
    pub sel_depth: i32,
    pub pv: Vec<Move>,
}

/// One move of the root with its scores. Small, because there are hundreds, and every iteration sorts them.
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

    /// Updates the averages with the score of a search, exact or a bound, weighted by its share of the move's
    /// nodes.
    pub fn update_average(&mut self, value: Value, nodes: u64) {
        let square = value * value.abs();
        if self.average == -VALUE_INFINITE {
            (self.average, self.mean_square) = (value, square);
        } else {
            // in 1/32
            let weight = (64 * nodes / (2 * nodes + 3 * self.effort.max(1))).clamp(12, 24) as i64;
            let mix = |new: i32, old: i32, weight: i64| {
                let (new, old) = (i64::from(new), i64::from(old));
                ((new * weight + old * (32 - weight)) / 32) as i32
            };
            self.average = mix(value, self.average, weight);
            self.mean_square = mix(square, self.mean_square, weight.min(16));
        }
        self.effort += nodes;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::VALUE_MATE;

    #[test]
    fn averages_weigh_a_search_by_its_share_of_the_nodes() {
        let mut r = RootMove::new(Move::NONE);
        r.update_average(-300, 1000);
        assert_eq!((r.average, r.mean_square, r.effort), (-300, -90_000, 1000));
        // 3/8 at least, 3/4 at most; of the square half at most
        for (nodes, average, square) in [(10, -150, -52_500), (1_000_000, 0, -40_000)] {
            let mut r = r.clone();
            r.update_average(100, nodes);
            assert_eq!((r.average, r.mean_square, r.effort), (average, square, 1000 + nodes));
        }
        // no overflow at the largest scores
        r.update_average(VALUE_MATE, u32::MAX.into());
        r.update_average(-VALUE_MATE, u32::MAX.into());
        assert!(r.average.abs() < VALUE_MATE && r.mean_square.abs() < VALUE_MATE * VALUE_MATE);
    }
}

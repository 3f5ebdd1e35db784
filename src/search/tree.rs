//! Training labels for positions inside the search tree: [`TreePosition`].
//!
//! After TreeStrap (Veness, Silver, Uther and Blair, "Bootstrapping from Game Tree Search", 2009): every
//! searched node, not the root alone, corrects its static evaluation. The score of most nodes is a bound,
//! which corrects only an evaluation beyond it; otherwise the label is the evaluation itself, and leaves the
//! network as it is.

use super::tt::TtData;
use crate::data::PackedSfen;
use crate::position::Position;
use crate::types::{Bound, Color, Depth, Key, Move, PieceType, VALUE_NONE, Value};
use std::collections::HashMap;

/// Plies that a node must have been searched to be worth a label.
const LEAST_DEPTH: Depth = 3;
/// A capture that wins more than this by exchanges, in `Value` units, is not quiet.
const QUIET: Value = 60;

/// A quiet position of a search tree and its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreePosition {
    /// The position.
    pub sfen: PackedSfen,
    /// The side to move.
    pub turn: Color,
    /// The game's ply, from 1.
    pub ply: u16,
    /// The label: the static evaluation, or the bound that the search proved if the evaluation is beyond it;
    /// in `Value` units for the side to move.
    pub score: Value,
    /// The best move, or none.
    pub best: Move,
}

/// The positions of a search by key, each with the label of its deepest search.
#[derive(Default)]
pub(super) struct Tree(HashMap<Key, (Depth, TreePosition)>);

impl Tree {
    /// The positions, in the order of their keys.
    pub fn into_positions(self) -> Vec<TreePosition> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(_, (_, position))| position).collect()
    }

    /// Records the result of a search of `pos` to `depth`, and its best move.
    pub fn record(&mut self, pos: &Position, depth: Depth, found: &TtData, best: Move) {
        if depth < LEAST_DEPTH || found.eval == VALUE_NONE {
            return;
        }
        if self.0.get(&pos.key()).is_some_and(|(deepest, _)| *deepest > depth) {
            return;
        }
        let exchange = best.is_some() && (pos.is_capture(best) || best.is_promotion());
        if exchange || !is_quiet(pos) {
            self.0.remove(&pos.key());
            return;
        }
        let score = match found.bound {
            Bound::Lower => found.eval.max(found.value),
            Bound::Upper => found.eval.min(found.value),
            _ => found.value,
        };
        let ply = pos.game_ply().min(u32::from(u16::MAX)) as u16;
        let position = TreePosition { sfen: PackedSfen::of(pos), turn: pos.side_to_move(), ply, score, best };
        self.0.insert(pos.key(), (depth, position));
    }
}

/// Whether there is no check, no exchange that wins material, and no safe promotion of a pawn.
fn is_quiet(pos: &Position) -> bool {
    let wins = |m: Move| {
        let promotes = m.is_promotion() && m.piece_before().kind() == PieceType::PAWN;
        if pos.is_capture(m) { pos.see_ge(m, QUIET + 1) } else { promotes && pos.see_ge(m, 0) }
    };
    !pos.in_check() && !pos.legal_moves(false).iter().any(|m| wins(m.mv))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(bound: Bound, value: Value, depth: Depth, sfen: &str) -> Vec<TreePosition> {
        let found = TtData { value, bound, depth, move16: 0, eval: 100, is_pv: false };
        let mut tree = Tree::default();
        tree.record(&Position::from_sfen(sfen).unwrap(), depth, &found, Move::NONE);
        tree.into_positions()
    }

    #[test]
    fn a_bound_corrects_only_an_evaluation_beyond_it() {
        let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
        let label = |bound, value| labelled(bound, value, 3, start)[0].score;
        assert_eq!((label(Bound::Lower, 130), label(Bound::Lower, 70)), (130, 100));
        assert_eq!((label(Bound::Upper, 130), label(Bound::Upper, 70)), (100, 70));
        assert_eq!((label(Bound::Exact, 130), label(Bound::Exact, 70)), (130, 70));
        assert!(labelled(Bound::Exact, 130, 2, start).is_empty());
        // a rook to be taken
        let open = "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPrP/1B5R1/LNSGKGSNL b - 1";
        assert!(labelled(Bound::Exact, 130, 3, open).is_empty());
    }

    #[test]
    fn the_deepest_search_gives_the_label() {
        let pos = Position::startpos();
        let found = |value| TtData { value, bound: Bound::Exact, depth: 0, move16: 0, eval: 0, is_pv: false };
        let mut tree = Tree::default();
        for (depth, value) in [(4, 1), (5, 2), (3, 3)] {
            tree.record(&pos, depth, &found(value), Move::NONE);
        }
        let [position] = tree.into_positions()[..] else { panic!() };
        assert_eq!((position.score, position.turn, position.ply), (2, Color::Black, 1));
    }
}

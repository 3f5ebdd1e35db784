//! A book as a graph: which position each move leads to: [`Graph`], [`linked`].

use super::moves::BookMove;
use super::packed_position::PackedPosition;
use super::store::{Book, BookBuilder};
use crate::types::Color;
use rayon::prelude::*;

/// Where a move leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveTarget {
    /// To a position of the book, by its number.
    Inside(u32),
    /// Out of the book: the move's own score counts.
    Leaf,
    /// Nowhere: the move is illegal.
    Illegal,
}

const LEAF: u32 = u32::MAX;
const ILLEGAL: u32 = u32::MAX - 1;

/// The targets of all moves of a book, in its order.
pub struct Graph {
    targets: Vec<u32>,
}

impl Graph {
    /// Follows every move of a book in which no position occurs at two plies (see
    /// [`Book::without_other_plies`]).
    pub fn of(book: &Book) -> Graph {
        let targets = (0..book.len())
            .into_par_iter()
            .flat_map_iter(|i| {
                let e = book.entry(i);
                let mut pos = e.packed.position(e.ply);
                e.moves.iter().map(move |m| {
                    let Some(pos) = &mut pos else { return ILLEGAL };
                    let Some(m) = m.on(pos) else { return ILLEGAL };
                    pos.do_move(m);
                    let target = PackedPosition::of(pos).map(|packed| book.find(&packed));
                    pos.undo_move();
                    target.filter(|found| !found.is_empty()).map_or(LEAF, |found| found.start as u32)
                })
            })
            .collect();
        Graph { targets }
    }

    /// The target of a move, by its number in the book.
    pub fn target(&self, m: usize) -> MoveTarget {
        match self.targets[m] {
            LEAF => MoveTarget::Leaf,
            ILLEGAL => MoveTarget::Illegal,
            i => MoveTarget::Inside(i),
        }
    }

    /// Memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.targets.capacity() * size_of::<u32>()
    }
}

/// The book with all legal moves from one of its positions to another; those it did not have come without score.
pub fn linked(book: &Book) -> Book {
    let missing = |i: usize| {
        let e = book.entry(i);
        let mut pos = e.packed.position(e.ply)?;
        let mut found = e.moves.to_vec();
        for m in
            pos.legal_moves(true).iter().map(|m| m.mv).filter(|m| e.moves.iter().all(|k| k.mv != m.raw16()))
        {
            pos.do_move(m);
            if PackedPosition::of(&pos).is_some_and(|packed| !book.find(&packed).is_empty()) {
                found.push(BookMove::new(m.raw16()));
            }
            pos.undo_move();
        }
        Some(found)
    };
    let moves: Vec<Option<Vec<BookMove>>> = (0..book.len()).into_par_iter().map(missing).collect();
    let mut builder = BookBuilder::default();
    builder.comment(book.comment());
    for (e, found) in book.entries().zip(&moves) {
        builder.push(e.packed, e.ply, found.as_deref().unwrap_or(e.moves));
    }
    book.remarks().iter().for_each(|r| builder.remark(r.clone()));
    builder.finish().0
}

/// The side to move in every position of a book.
pub(super) fn turns(book: &Book) -> Vec<Color> {
    book.entries().map(|e| e.packed.turn()).collect()
}

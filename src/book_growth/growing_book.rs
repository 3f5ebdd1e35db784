//! A book to which searched positions are added: [`GrowingBook`].

use super::journal::SearchedPosition;
use crate::book::{Book, BookBuilder, BookMove, PackedPosition, Remark};
use std::collections::{BTreeMap, HashSet};

/// The book as it grows.
pub struct GrowingBook {
    /// The ply and the moves of each position.
    pub entries: BTreeMap<PackedPosition, (u16, Vec<BookMove>)>,
    /// Positions in which the game is over.
    pub game_over: HashSet<PackedPosition>,
    remarks: Vec<Remark>,
    comment: String,
}

impl GrowingBook {
    /// Begins with a book that has each position once.
    pub fn new(book: &Book) -> GrowingBook {
        let entries = book.entries().map(|e| (e.packed, (e.ply, e.moves.to_vec()))).collect();
        let (remarks, comment) = (book.remarks().to_vec(), book.comment().to_string());
        GrowingBook { entries, game_over: HashSet::new(), remarks, comment }
    }

    /// Adds a position, or replaces its moves.
    pub fn add(&mut self, searched: &SearchedPosition) {
        if searched.moves.is_empty() {
            self.game_over.insert(searched.packed);
        } else {
            self.entries.insert(searched.packed, (searched.ply, searched.moves.clone()));
        }
    }

    /// The book as it is now.
    pub fn book(&self) -> Book {
        let mut builder = BookBuilder::default();
        builder.comment(&self.comment);
        self.entries.iter().for_each(|(packed, (ply, moves))| builder.push(*packed, *ply, moves));
        for remark in &self.remarks {
            let ply = self.entries.get(&remark.packed).map_or(remark.ply, |(ply, _)| *ply);
            builder.remark(Remark { ply, ..remark.clone() });
        }
        builder.finish().0
    }

    /// Positions with a move that has neither depth nor score; with `again` all positions.
    pub fn to_search(&self, again: bool) -> impl Iterator<Item = (PackedPosition, u16)> {
        let unsearched = |m: &BookMove| m.depth().unwrap_or(0) <= 0 && m.value().unwrap_or(0) == 0;
        self.entries
            .iter()
            .filter(move |(_, (_, moves))| again || moves.iter().any(unsearched))
            .map(|(packed, (ply, _))| (*packed, *ply))
    }
}

//! A whole book in memory: [`Book`], and how to make one: [`BookBuilder`].
//!
//! Forty bytes a position and twenty a move, in two vectors, so that books of millions of positions fit.

use super::error::BookError;
use super::moves::BookMove;
use super::packed_position::PackedPosition;
use crate::position::Position;
use crate::support::messages;
use std::collections::HashMap;
use std::fmt;

#[derive(Clone, Copy)]
struct EntrySlot {
    packed: PackedPosition,
    ply: u16,
    count: u16,
    first: u32,
}

impl EntrySlot {
    fn key(&self) -> (PackedPosition, u16) {
        (self.packed, self.ply)
    }
}

/// One position and its moves.
#[derive(Clone, Copy)]
pub struct BookEntry<'a> {
    /// The position.
    pub packed: PackedPosition,
    /// Its move number; 0 if the format or the file has none.
    pub ply: u16,
    /// At least one.
    pub moves: &'a [BookMove],
}

impl BookEntry<'_> {
    /// The position on a board.
    ///
    /// # Errors
    /// The position is against the rules.
    pub fn position(&self) -> Result<Position, BookError> {
        self.packed
            .by_rules(self.ply)
            .map_err(|e| BookError::whole(format_args!("a position of the book: {e}")))
    }
}

/// A comment on a position or on one of its moves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// The position ...
    pub packed: PackedPosition,
    /// ... at this ply.
    pub ply: u16,
    /// The move; 0 for the position itself.
    pub mv: u16,
    /// Lines without the sign that makes them comments.
    pub text: String,
}

/// Positions with their moves, in the order of [`PackedPosition`] and ply.
#[derive(Clone, Default)]
pub struct Book {
    slots: Vec<EntrySlot>,
    moves: Vec<BookMove>,
    remarks: Vec<Remark>,
    comment: String,
}

/// What was dropped while a book was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Positions without moves.
    pub empty: usize,
    /// Duplicate positions, merged with the first.
    pub positions: usize,
    /// Moves that their position had before: what was first said of them stays.
    pub moves: usize,
    /// Remarks on a position or a move that is not there.
    pub remarks: usize,
    /// Positions and moves that cannot be read.
    pub unread: usize,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.empty, "positions without moves"),
            (self.positions, "duplicate positions (merged)"),
            (self.moves, "duplicate moves (the first entry was kept)"),
            (self.remarks, "remarks on missing positions or moves"),
            (self.unread, "unreadable positions or moves"),
        ];
        let there = kinds.iter().filter(|(n, _)| *n > 0);
        f.write_str(&messages::list(there.map(|(n, what)| messages::number_of(*n, what))))
    }
}

impl Book {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the book is empty.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Number of moves.
    pub fn move_count(&self) -> usize {
        self.moves.len()
    }

    /// The entry of that number, from 0.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn entry(&self, index: usize) -> BookEntry<'_> {
        let s = &self.slots[index];
        let first = s.first as usize;
        BookEntry { packed: s.packed, ply: s.ply, moves: &self.moves[first..first + usize::from(s.count)] }
    }

    /// All entries, sorted.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = BookEntry<'_>> {
        (0..self.len()).map(|i| self.entry(i))
    }

    /// The numbers of the entries of a position, one a ply.
    pub fn find(&self, packed: &PackedPosition) -> std::ops::Range<usize> {
        let start = self.slots.partition_point(|s| s.packed < *packed);
        let same = self.slots[start..].iter().take_while(|s| s.packed == *packed).count();
        start..start + same
    }

    /// The moves of an entry, to be changed in place.
    pub fn moves_mut(&mut self, index: usize) -> &mut [BookMove] {
        let s = self.slots[index];
        let first = s.first as usize;
        &mut self.moves[first..first + usize::from(s.count)]
    }

    /// The number of an entry's first move among all moves of the book.
    pub fn first_move(&self, index: usize) -> usize {
        self.slots[index].first as usize
    }

    /// All remarks, sorted.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The remark on a move (0: on the position), empty if there is none.
    pub fn remark(&self, entry: &BookEntry, mv: u16) -> &str {
        let key = (entry.packed, entry.ply, mv);
        let found = self.remarks.binary_search_by(|r| (r.packed, r.ply, r.mv).cmp(&key));
        found.map_or("", |i| &self.remarks[i].text)
    }

    /// The comment on the book as a whole; lines as those of a [`Remark`].
    pub fn comment(&self) -> &str {
        &self.comment
    }

    fn has(&self, remark: &Remark) -> bool {
        let found = self.slots.binary_search_by_key(&(remark.packed, remark.ply), EntrySlot::key);
        found.is_ok_and(|i| remark.mv == 0 || self.entry(i).moves.iter().any(|m| m.mv == remark.mv))
    }

    /// Memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<EntrySlot>() + self.moves.capacity() * size_of::<BookMove>()
    }
}

/// Builds a book from positions in any order.
#[derive(Default)]
pub struct BookBuilder {
    book: Book,
    dropped: Dropped,
}

/// Adds lines to a text that does not have them yet.
fn add_lines(text: &mut String, more: &str) {
    if more.is_empty() || format!("\n{text}\n").contains(&format!("\n{more}\n")) {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

impl BookBuilder {
    /// Adds a position. One without moves is left out, and of moves named twice the first stays.
    pub fn push(&mut self, packed: PackedPosition, ply: u16, moves: &[BookMove]) {
        let first = self.book.moves.len();
        for m in moves {
            if !self.book.moves[first..].iter().any(|other| other.mv == m.mv) {
                self.book.moves.push(*m);
            }
        }
        // the bits allow fewer than 14,000 moves
        let count = (self.book.moves.len() - first) as u16;
        self.dropped.moves += moves.len() - usize::from(count);
        if count == 0 {
            self.dropped.empty += 1;
        } else {
            // four billion moves are 80 GB
            self.book.slots.push(EntrySlot { packed, ply, count, first: first as u32 });
        }
    }

    /// Adds a remark.
    pub fn remark(&mut self, remark: Remark) {
        if !remark.text.is_empty() {
            self.book.remarks.push(remark);
        }
    }

    /// Adds a comment on the book as a whole.
    pub fn comment(&mut self, text: &str) {
        add_lines(&mut self.book.comment, text);
    }

    /// The book. Entries of the same position and ply become one; of a move in several of them the first is
    /// kept. Remarks on the same position or move are joined.
    pub fn finish(self) -> (Book, Dropped) {
        self.finish_with(&mut |_, _| ())
    }

    /// As [`finish`](Self::finish); `join` may merge a later entry's data of a move into the earlier one.
    pub fn finish_with(mut self, join: &mut dyn FnMut(&mut BookMove, &BookMove)) -> (Book, Dropped) {
        self.join_positions(join);
        let BookBuilder { mut book, mut dropped } = self;
        let mut remarks = std::mem::take(&mut book.remarks);
        let key = |r: &Remark| (r.packed, r.ply, r.mv);
        remarks.sort_by_key(key);
        remarks.dedup_by(|later, first| {
            let same = key(later) == key(first);
            if same {
                add_lines(&mut first.text, &later.text);
            }
            same
        });
        let all = remarks.len();
        remarks.retain(|r| book.has(r));
        dropped.remarks = all - remarks.len();
        book.remarks = remarks;
        (book, dropped)
    }

    fn join_positions(&mut self, join: &mut dyn FnMut(&mut BookMove, &BookMove)) {
        let book = &mut self.book;
        if !book.slots.is_sorted_by_key(EntrySlot::key) {
            book.slots.sort_by_key(EntrySlot::key);
        }
        let twice = book.slots.windows(2).filter(|w| w[0].key() == w[1].key()).count();
        if twice == 0 && book.slots.is_sorted_by_key(|s| s.first) {
            return;
        }
        self.dropped.positions += twice;
        let mut slots: Vec<EntrySlot> = Vec::with_capacity(book.slots.len() - twice);
        let mut moves: Vec<BookMove> = Vec::with_capacity(book.moves.len());
        for s in &book.slots {
            let own = &book.moves[s.first as usize..][..usize::from(s.count)];
            match slots.last_mut().filter(|last| last.key() == s.key()) {
                None => {
                    slots.push(EntrySlot { first: moves.len() as u32, ..*s });
                    moves.extend_from_slice(own);
                }
                Some(last) => {
                    let first = last.first as usize;
                    for m in own {
                        match moves[first..].iter().position(|other| other.mv == m.mv) {
                            Some(i) => {
                                self.dropped.moves += 1;
                                join(&mut moves[first + i], m);
                            }
                            None => moves.push(*m),
                        }
                    }
                    last.count = (moves.len() - first) as u16;
                }
            }
        }
        book.slots = slots;
        book.moves = moves;
    }
}

impl Book {
    /// The same positions at the smallest ply of each, so that each occurs once. What the entry of the
    /// smaller ply says of a move stays.
    pub fn without_other_plies(self) -> (Book, Dropped) {
        self.without_other_plies_with(&mut |_, _| ())
    }

    /// As [`without_other_plies`](Self::without_other_plies); `join` as in [`BookBuilder::finish_with`].
    pub fn without_other_plies_with(self, join: &mut dyn FnMut(&mut BookMove, &BookMove)) -> (Book, Dropped) {
        if self.slots.windows(2).all(|w| w[0].packed != w[1].packed) {
            return (self, Dropped::default());
        }
        let mut builder = BookBuilder::default();
        builder.comment(&self.comment);
        let mut least: HashMap<PackedPosition, u16> = HashMap::new();
        for e in self.entries() {
            // plies come in ascending order; 0 is no ply
            let ply = least.entry(e.packed).or_insert(e.ply);
            *ply = if *ply == 0 { e.ply } else { *ply };
        }
        for e in self.entries() {
            builder.push(e.packed, least[&e.packed], e.moves);
        }
        for r in &self.remarks {
            builder.remark(Remark { ply: least.get(&r.packed).copied().unwrap_or(r.ply), ..r.clone() });
        }
        builder.finish_with(join)
    }
}

#[cfg(test)]
mod tests {
    use super::super::moves::read_move;
    use super::*;
    use crate::position::handicap;

    #[test]
    fn entries_are_sorted_and_joined() {
        let packed = |i: usize| handicap::starts().nth(i).and_then(|pos| PackedPosition::of(&pos)).unwrap();
        let m =
            |text: &str, count| BookMove::new(read_move(text.as_bytes()).unwrap()).with_count(Some(count));
        let mut b = BookBuilder::default();
        b.push(packed(1), 1, &[m("3c3d", 1)]);
        b.push(packed(0), 5, &[m("7g7f", 2), m("7g7f", 9)]);
        b.push(packed(0), 1, &[m("2g2f", 3)]);
        b.push(packed(0), 5, &[m("2g2f", 4), m("7g7f", 7)]);
        b.push(packed(2), 1, &[]);
        b.remark(Remark { packed: packed(0), ply: 5, mv: 0, text: "here".into() });
        b.remark(Remark { packed: packed(0), ply: 5, mv: 0, text: "and there".into() });
        b.remark(Remark { packed: packed(0), ply: 5, mv: 0, text: "here".into() });
        b.remark(Remark { packed: packed(2), ply: 1, mv: 0, text: "gone".into() });
        let (book, dropped) = b.finish();
        assert_eq!((book.len(), book.move_count()), (3, 4));
        assert_eq!(dropped, Dropped { empty: 1, positions: 1, moves: 2, remarks: 1, unread: 0 });
        let found = book.find(&packed(0));
        assert_eq!(found.len(), 2);
        let five = book.entry(found.end - 1);
        assert_eq!((five.ply, five.moves), (5, &[m("7g7f", 2), m("2g2f", 4)][..]));
        assert_eq!(book.remark(&five, 0), "here\nand there");
        let (one, dropped) = book.without_other_plies();
        assert_eq!(one.len(), 2);
        assert_eq!(dropped, Dropped { positions: 1, moves: 1, ..Dropped::default() });
        let entry = one.entry(one.find(&packed(0)).start);
        assert_eq!((entry.ply, entry.moves), (1, &[m("2g2f", 3), m("7g7f", 2)][..]));
        assert_eq!(one.remark(&entry, 0), "here\nand there");
    }
}

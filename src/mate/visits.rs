//! The positions of the line under search, to see repetitions.

use crate::types::{Hand, Key};

/// More than twice the depth of any line.
const SLOTS: usize = 1 << 13;
const FILTER: usize = 1 << 13;

#[derive(Clone, Copy)]
struct Visit {
    board: Key,
    hand: Hand,
    /// Plus one; 0 is an empty slot.
    depth: u32,
}

/// Board, attacker's hand and depth of every position from the root to the parent of the current one. The
/// last position leaves first, so a plain hash table with linear probing needs no marks for deleted entries.
pub(super) struct Visits {
    slots: Box<[Visit]>,
    /// The number of positions by hash; it answers most look-ups from the nearest cache.
    filter: Box<[u16; FILTER]>,
}

impl Visits {
    pub(super) fn new() -> Visits {
        Visits {
            slots: vec![Visit { board: 0, hand: Hand::EMPTY, depth: 0 }; SLOTS].into_boxed_slice(),
            filter: Box::new([0; FILTER]),
        }
    }

    #[inline]
    fn slot(board: Key) -> usize {
        (board >> 40) as usize % SLOTS
    }

    pub(super) fn enter(&mut self, board: Key, hand: Hand, depth: usize) {
        self.filter[board as usize % FILTER] += 1;
        let mut i = Self::slot(board);
        while self.slots[i].depth != 0 {
            i = (i + 1) % SLOTS;
        }
        self.slots[i] = Visit { board, hand, depth: depth as u32 + 1 };
    }

    pub(super) fn leave(&mut self, board: Key, hand: Hand) {
        let mut i = Self::slot(board);
        while self.slots[i].depth != 0 {
            if self.slots[i].board == board && self.slots[i].hand == hand {
                self.slots[i].depth = 0;
                self.filter[board as usize % FILTER] -= 1;
                return;
            }
            i = (i + 1) % SLOTS;
        }
    }

    /// The depth of a position on the line that fits.
    #[inline]
    fn find(&self, board: Key, fits: impl Fn(Hand) -> bool) -> Option<u16> {
        if self.filter[board as usize % FILTER] == 0 {
            return None;
        }
        let mut i = Self::slot(board);
        loop {
            let visit = &self.slots[i];
            if visit.depth == 0 {
                return None;
            }
            if visit.board == board && fits(visit.hand) {
                return Some((visit.depth - 1) as u16);
            }
            i = (i + 1) % SLOTS;
        }
    }

    /// The depth of the same board with the attacker holding as much or more: coming back there gains him
    /// nothing.
    #[inline]
    pub(super) fn no_better(&self, board: Key, hand: Hand) -> Option<u16> {
        self.find(board, |then| then.dominates(hand))
    }

    /// The depth of the very same position.
    #[inline]
    pub(super) fn same(&self, board: Key, hand: Hand) -> Option<u16> {
        self.find(board, |then| then == hand)
    }
}

//! The positions of the game so far, for finding repetitions: [`Occurrences`].
//!
//! A scan of all past positions would be slow in long games, so a small table counts the board keys by their
//! low bits: a count of zero proves that the board is new.

use crate::types::{Hand, Key};

/// Distances in plies to earlier occurrences, 0 where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlierOccurrences {
    /// To the latest equal position.
    pub same: u32,
    /// The number of earlier equal positions.
    pub count: u32,
    /// To the latest one with the same board and a better or worse hand.
    pub unequal: u32,
    pub superior: bool,
}

impl EarlierOccurrences {
    pub(super) const NOTHING: EarlierOccurrences =
        EarlierOccurrences { same: 0, count: 0, unequal: 0, superior: false };
}

/// The board keys and hands of all positions since the root, with a counting filter over the keys.
#[derive(Clone)]
pub(super) struct Occurrences {
    entries: Vec<(Key, Hand)>,
    counts: Box<[u16; Occurrences::COUNTS]>,
}

impl Occurrences {
    const COUNTS: usize = 2048;

    pub(super) fn new() -> Occurrences {
        Occurrences { entries: Vec::with_capacity(512), counts: Box::new([0; Self::COUNTS]) }
    }

    #[inline]
    fn slot(key: Key) -> usize {
        key as usize % Self::COUNTS
    }

    #[inline]
    pub(super) fn push(&mut self, board_key: Key, hand: Hand) {
        let n = &mut self.counts[Self::slot(board_key)];
        // a counter at its maximum stays there, which only costs scans
        *n = n.saturating_add(1);
        self.entries.push((board_key, hand));
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        if let Some((key, _)) = self.entries.pop() {
            let n = &mut self.counts[Self::slot(key)];
            *n -= u16::from(*n != u16::MAX);
        }
    }

    /// The number of positions.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether a board with that key may have occurred.
    #[inline]
    pub(super) fn may_have(&self, board_key: Key) -> bool {
        self.counts[Self::slot(board_key)] != 0
    }

    /// Board key and hand of the side to move `plies` plies before the position that is about to be pushed (1
    /// is the last).
    #[inline]
    pub(super) fn back(&self, plies: usize) -> (Key, Hand) {
        self.entries[self.entries.len() - plies]
    }
}

//! The search stack: one [`StackEntry`] a ply of the current line.

use super::history::{ContIndex, Threats};
use crate::types::{MAX_PLY, Move, VALUE_NONE, Value};
use std::ops::{Index, IndexMut};

/// Entries before the root, so that looking back up to seven plies needs no test.
const BEFORE_ROOT: usize = 7;
const ENTRIES: usize = MAX_PLY + BEFORE_ROOT + 3;

/// The state of one ply of the line that is being searched.
#[derive(Clone, Copy, Default)]
pub(super) struct StackEntry {
    /// The move being searched from this node.
    pub current: Move,
    /// The move that a singular search leaves out.
    pub excluded: Move,
    pub static_eval: Value,
    pub stat_score: i32,
    pub move_count: i32,
    /// Fail-highs among the children of the node one ply up.
    pub cutoffs: i32,
    /// Plies that the current move's search was reduced by.
    pub reduction: i32,
    pub in_check: bool,
    pub tt_hit: bool,
    pub tt_pv: bool,
    /// The line so far is the last iteration's principal variation.
    pub follow_pv: bool,
    /// Known once the main history has been asked about a move from here.
    pub threats: Threats,
    /// The history tables that `current` opens for the moves after it.
    pub cont: ContIndex,
    pub cont_correction: u32,
}

/// The entries of all plies, indexed by the distance from the root.
pub(super) struct Stack(Box<[StackEntry; ENTRIES]>);

impl Default for Stack {
    fn default() -> Stack {
        Stack(Box::new([StackEntry::default(); ENTRIES]))
    }
}

impl Index<usize> for Stack {
    type Output = StackEntry;

    #[inline]
    fn index(&self, ply: usize) -> &StackEntry {
        &self.0[ply + BEFORE_ROOT]
    }
}

impl IndexMut<usize> for Stack {
    #[inline]
    fn index_mut(&mut self, ply: usize) -> &mut StackEntry {
        &mut self.0[ply + BEFORE_ROOT]
    }
}

impl Stack {
    /// Clears all entries for a new root.
    pub fn clear(&mut self) {
        self.0.fill(StackEntry::default());
        for entry in &mut self.0[..BEFORE_ROOT] {
            entry.static_eval = VALUE_NONE;
        }
    }

    /// The entry `back` (at most 7) plies before `ply`.
    #[inline]
    pub fn before(&self, ply: usize, back: usize) -> &StackEntry {
        &self.0[ply + BEFORE_ROOT - back]
    }

    /// The same, to be changed.
    #[inline]
    pub fn before_mut(&mut self, ply: usize, back: usize) -> &mut StackEntry {
        &mut self.0[ply + BEFORE_ROOT - back]
    }

    /// The continuation tables of the moves 1 to 6 plies before `ply`.
    #[inline]
    pub fn continuation(&self, ply: usize) -> [ContIndex; 6] {
        std::array::from_fn(|i| self.before(ply, i + 1).cont)
    }
}

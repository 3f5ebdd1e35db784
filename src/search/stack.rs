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
    /// The move that the singular search excludes.
    pub excluded: Move,
    /// The static evaluation with corrections; in check that of two plies before.
    pub static_eval: Value,
    /// The sum of the current move's histories.
    pub stat_score: i32,
    /// The current move's number, from 1.
    pub move_count: i32,
    /// Fail-highs among the children of the node one ply up.
    pub cutoffs: i32,
    /// Plies that the current move's search was reduced by.
    pub reduction: i32,
    pub in_check: bool,
    pub tt_hit: bool,
    /// Whether this node is on the principal variation, or was according to the table.
    pub tt_pv: bool,
    /// The line so far is the last iteration's principal variation.
    pub follow_pv: bool,
    /// The attacked squares for the main history; set before the first quiet move.
    pub threats: Threats,
    /// The continuation history table that `current` selects for the moves after it.
    pub cont: ContIndex,
    /// The row of the continuation corrections that `current` selects.
    pub cont_correction: u32,
}

/// The entries of all plies, indexed by the distance from the root.
pub(super) struct SearchStack(Box<[StackEntry; ENTRIES]>);

impl Default for SearchStack {
    fn default() -> SearchStack {
        SearchStack(Box::new([StackEntry::default(); ENTRIES]))
    }
}

impl Index<usize> for SearchStack {
    type Output = StackEntry;

    #[inline]
    fn index(&self, ply: usize) -> &StackEntry {
        &self.0[ply + BEFORE_ROOT]
    }
}

impl IndexMut<usize> for SearchStack {
    #[inline]
    fn index_mut(&mut self, ply: usize) -> &mut StackEntry {
        &mut self.0[ply + BEFORE_ROOT]
    }
}

impl SearchStack {
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

//! What the search knows of one ply of the current line: [`Frame`].

use super::history::{ContIndex, Threats};
use crate::types::{Move, Value};

/// One ply of the line that is being searched: plain data, one element of the worker's stack.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame {
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

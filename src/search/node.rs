//! Nodes: their types ([`NodeType`]), and what the steps of one share ([`Node`]).

use super::history::ContIndex;
use super::tt::TtData;
use crate::types::{Color, Move, Value};

/// Whether a node is the root, on the principal variation, or searched with a null window.
pub(super) trait NodeType {
    const PV: bool;
    const ROOT: bool;
}

pub(super) struct Root;
pub(super) struct Pv;
pub(super) struct NonPv;

impl NodeType for Root {
    const PV: bool = true;
    const ROOT: bool = true;
}
impl NodeType for Pv {
    const PV: bool = true;
    const ROOT: bool = false;
}
impl NodeType for NonPv {
    const PV: bool = false;
    const ROOT: bool = false;
}

/// The result of probing the transposition table at a node.
#[derive(Clone, Copy)]
pub(super) struct TtProbe {
    pub hit: bool,
    pub mv: Move,
    /// Mates counted from the root; `VALUE_NONE` if there is none.
    pub value: Value,
    pub data: TtData,
}

/// What is the same for all moves of a node.
pub(super) struct Node {
    pub us: Color,
    /// A null-window node that is expected to fail high.
    pub cut_node: bool,
    /// A null-window node that is expected to fail low.
    pub all_node: bool,
    pub tt: TtProbe,
    pub tt_capture: bool,
    /// The correction of the static evaluation, in 1/131072.
    pub correction: i32,
    pub continuation: [ContIndex; 6],
}

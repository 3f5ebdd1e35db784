//! What the engine says of a position.

use crate::types::Value;
use serde::{Deserialize, Serialize};

/// A line of play that the engine expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PvLine {
    /// From the side to move, in the engine's unit.
    pub value: Value,
    /// Of the last whole iteration.
    pub depth: i32,
    /// The longest line looked at, in plies.
    pub seldepth: i32,
    /// Nodes of the search.
    pub nodes: u64,
    /// In USI; empty where the game is over, `win` where the side to move may declare a win.
    pub pv: Vec<String>,
}

/// USI's word for a win by declaration, where a move would stand.
pub const DECLARATION: &str = "win";

impl PvLine {
    /// Whether it is a declaration instead of a move.
    pub fn declares(&self) -> bool {
        self.pv.first().is_some_and(|text| text == DECLARATION)
    }
}

/// What the engine says of a position: its best lines, the best first; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The best first.
    pub lines: Vec<PvLine>,
}

impl Reading {
    /// The value for the side to move.
    pub fn value(&self) -> Value {
        self.lines.first().map_or(0, |line| line.value)
    }

    /// Whether the engine would declare a win.
    pub fn declares(&self) -> bool {
        self.lines.first().is_some_and(PvLine::declares)
    }

    /// The move that the engine would play.
    pub fn best(&self) -> Option<&str> {
        self.lines.first()?.pv.first().map(String::as_str)
    }
}

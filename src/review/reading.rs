//! What the engine found in a position.

use crate::engine::win_rate;
use crate::types::{Value, is_decisive};
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

/// What the engine found in a position: its best lines, the best first; never empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The best first.
    pub lines: Vec<PvLine>,
    /// The standard error of the win rate, 0 to 1; 0 where the game is decided.
    pub error: f64,
    /// Whether it was searched again with more nodes, because a verdict depended on it.
    pub again: bool,
}

/// The readings of a game's positions, as far as there are any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// By the first search; by the last one when the game is done.
    #[serde(rename = "positions")]
    pub first: Vec<Option<Reading>>,
    /// By the second one; none when the game is done.
    pub again: Option<Vec<Option<Reading>>>,
}

impl Default for Readings {
    fn default() -> Readings {
        Readings { first: Vec::new(), again: Some(Vec::new()) }
    }
}

impl Readings {
    /// The readings of the first round or the second.
    pub(super) fn round(&mut self, again: bool) -> &mut [Option<Reading>] {
        if again { self.again.as_deref_mut().unwrap_or_default() } else { &mut self.first }
    }

    /// Whether nothing is left to search.
    pub fn is_complete(&self) -> bool {
        self.again.is_none()
    }
}

impl Reading {
    /// The reading of a position whose value is certain: a proved mate, or the end of the game.
    pub fn certain(line: PvLine) -> Reading {
        Reading { lines: vec![line], error: 0.0, again: false }
    }

    /// Puts a proved line first, in front of at most `others` other lines.
    pub fn put_first(&mut self, line: PvLine, others: usize) {
        self.lines.retain(|other| other.pv.first() != line.pv.first());
        self.lines.truncate(others);
        self.lines.insert(0, line);
        if is_decisive(self.value()) {
            self.error = 0.0;
        }
    }

    /// The win rate of the side to move, 0 to 1.
    pub fn win_rate(&self) -> f64 {
        win_rate(self.value())
    }

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

//! Records of games: [`Record`], and the formats that people keep them in.
//!
//! [`csa`] reads and writes CSA files (V2 to V3), [`kif`] Kakinoki's KIF, [`usi`] lines of USI's `position` command;
//! [`encoding`] finds out which bytes a file is made of; [`notation`] writes moves as Japanese books do.
//!
//! The `csa` crate drops `%TIME_UP` and reads a fractional time as the end of the game, and no crate tells which line of
//! a broken file is wrong, so the readers are our own; every move is checked by our own rules.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod csa;
#[cfg(feature = "cli")]
pub mod encoding;
pub mod kif;
pub mod notation;
mod special;
pub mod usi;

pub use special::Special;

use crate::position::Position;
use crate::types::{Color, Move};
use std::fmt;
use std::time::Duration;

/// A game: who played, from where, which moves, and how it ended.
#[derive(Clone)]
pub struct Record {
    /// Black's and White's name, empty where unknown.
    pub names: [String; 2],
    /// What else is known, by the names of CSA's `$` lines: `EVENT`, `SITE`, `START_TIME`, `TIME_LIMIT`, ...
    pub headers: Vec<(String, String)>,
    /// Remarks before the first move, without the sign that makes them remarks.
    pub comments: Vec<String>,
    /// Where the moves begin.
    pub root: Position,
    pub moves: Vec<Ply>,
    pub end: Option<End>,
}

/// A move of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    pub mv: Move,
    /// What the clock charged for it.
    pub time: Option<Duration>,
    pub comments: Vec<String>,
}

/// What stands in place of a move at the end of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub special: Special,
    pub time: Option<Duration>,
    pub comments: Vec<String>,
}

impl Ply {
    /// A move of which nothing more is known.
    pub fn of(mv: Move) -> Ply {
        Ply { mv, time: None, comments: Vec::new() }
    }
}

impl End {
    pub fn of(special: Special) -> End {
        End { special, time: None, comments: Vec::new() }
    }
}

impl Record {
    /// A record without moves.
    pub fn new(root: Position) -> Record {
        Record {
            names: Default::default(),
            headers: Vec::new(),
            comments: Vec::new(),
            root,
            moves: Vec::new(),
            end: None,
        }
    }

    /// The position after the last move, with its history.
    pub fn position(&self) -> Position {
        let mut position = self.root.clone();
        for ply in &self.moves {
            position.do_move(ply.mv);
        }
        position
    }

    /// The player of the move with that index (0 = the first).
    pub fn mover(&self, index: usize) -> Color {
        if index.is_multiple_of(2) { self.root.side_to_move() } else { !self.root.side_to_move() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Adds a remark to whatever stands last.
    fn comment(&mut self, text: String) {
        match (&mut self.end, self.moves.last_mut()) {
            (Some(end), _) => end.comments.push(text),
            (None, Some(ply)) => ply.comments.push(text),
            (None, None) => self.comments.push(text),
        }
    }
}

/// What is wrong in a file, and in which line of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RecordError {
    /// 1-based.
    pub line: usize,
    pub what: String,
}

impl RecordError {
    fn new(line: usize, what: impl fmt::Display) -> RecordError {
        RecordError { line, what: what.to_string() }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// Remarks as lines that a format can put its sign before.
fn remark_lines(remarks: &[String]) -> impl Iterator<Item = String> {
    remarks.iter().flat_map(|text| text.split('\n')).map(one_line)
}

/// A text without line ends, which would break a format of lines.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// The beginning of a text for an error message: a line may be any length.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

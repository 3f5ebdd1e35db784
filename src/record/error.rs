//! What is wrong in a file, and where.

use crate::position::{Illegal, MoveError};
use crate::support::messages;
use crate::types::Color;
use std::fmt;

/// What is wrong in a file, and in which line of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RecordError {
    /// 1-based.
    pub line: usize,
    /// A sentence for the user.
    pub what: String,
}

impl RecordError {
    pub(super) fn new(line: usize, what: impl fmt::Display) -> RecordError {
        RecordError { line, what: what.to_string() }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&messages::at_line(self.line, &self.what))
    }
}

/// What a reader skipped because it could not understand it. Only what does not change the moves is skipped; a strict
/// reader skips nothing.
#[derive(Debug, Default)]
pub struct Warnings {
    strict: bool,
    /// Where the reader is now; 1-based.
    pub(super) line: usize,
    found: Vec<RecordError>,
    games: usize,
}

impl Warnings {
    /// For a reader that refuses the file instead of skipping anything.
    pub fn strict() -> Warnings {
        Warnings { strict: true, ..Warnings::default() }
    }

    /// What was skipped, in the order of the file.
    pub fn list(&self) -> &[RecordError] {
        &self.found
    }

    /// How many games were skipped.
    pub fn games(&self) -> usize {
        self.games
    }

    /// Skips a whole game.
    ///
    /// # Errors
    /// `error`, if the reader is strict.
    pub(super) fn skip_game(&mut self, error: &RecordError) -> Result<(), RecordError> {
        if self.strict {
            return Err(error.clone());
        }
        self.games += 1;
        self.found.push(error.clone());
        Ok(())
    }

    /// Whether nothing is skipped.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Skips something in the present line.
    ///
    /// # Errors
    /// `what`, if the reader is strict.
    pub(super) fn skip(&mut self, what: impl fmt::Display) -> Result<(), String> {
        if self.strict {
            return Err(what.to_string());
        }
        self.found.push(RecordError::new(self.line, what));
        Ok(())
    }
}

/// Why a text is not a legal move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadMove {
    /// The text cannot be understood, or names a piece that is not there.
    Text(String),
    /// That player breaks a rule by it.
    Foul(Color, String),
}

impl BadMove {
    /// For a move in USI notation of the player `side`.
    pub fn of(side: Color, error: &MoveError) -> BadMove {
        let what = why_illegal(error);
        match error.reason {
            Illegal::Notation | Illegal::EmptyOrigin => BadMove::Text(what),
            Illegal::NotYours => BadMove::Foul(!side, messages::two_in_a_row(what)),
            _ => BadMove::Foul(side, what),
        }
    }

    /// The same with a better description, given the old one.
    pub fn map(self, f: impl FnOnce(String) -> String) -> BadMove {
        match self {
            BadMove::Text(what) => BadMove::Text(f(what)),
            BadMove::Foul(by, what) => BadMove::Foul(by, f(what)),
        }
    }
}

impl fmt::Display for BadMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (BadMove::Text(what) | BadMove::Foul(_, what)) = self;
        f.write_str(what)
    }
}

/// A move in USI notation that is not legal, and the reason.
pub(super) fn why_illegal(MoveError { text, reason }: &MoveError) -> String {
    match reason {
        Illegal::Notation => messages::not_usi(format_args!("{text:?}")),
        reason => format!("{text}: {}", messages::word(&reason.to_string())),
    }
}

/// The beginning of a text for an error message: a line may be any length.
pub(super) fn excerpt(text: &str) -> String {
    crate::position::beginning(text, 60)
}

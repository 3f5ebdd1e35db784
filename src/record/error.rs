//! What is wrong in a file, and where.

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
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// The beginning of a text for an error message: a line may be any length.
pub(super) fn excerpt(text: &str) -> String {
    crate::position::beginning(text, 60)
}

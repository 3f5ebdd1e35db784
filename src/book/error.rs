//! An error in a book, with its location: [`BookError`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A location in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultLocation {
    Whole,
    /// 1-based.
    Line(usize),
    Byte(u64),
}

/// An error in a book, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct BookError {
    path: Option<PathBuf>,
    location: FaultLocation,
    what: String,
}

impl BookError {
    pub(super) fn whole(what: impl fmt::Display) -> BookError {
        BookError { path: None, location: FaultLocation::Whole, what: what.to_string() }
    }

    /// `line` is 1-based.
    pub(super) fn line(line: usize, what: impl fmt::Display) -> BookError {
        BookError { path: None, location: FaultLocation::Line(line), what: what.to_string() }
    }

    pub(super) fn byte(offset: u64, what: impl fmt::Display) -> BookError {
        BookError { path: None, location: FaultLocation::Byte(offset), what: what.to_string() }
    }

    /// The same with the file's name.
    pub fn in_file(self, path: &Path) -> BookError {
        BookError { path: self.path.or_else(|| Some(path.to_owned())), ..self }
    }
}

impl From<io::Error> for BookError {
    fn from(e: io::Error) -> BookError {
        BookError::whole(e)
    }
}

impl fmt::Display for BookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
        }
        let name = self.path.is_some();
        match self.location {
            FaultLocation::Whole if name => f.write_str(": ")?,
            FaultLocation::Whole => {}
            FaultLocation::Line(n) => write!(f, "{}line {n}: ", if name { ", " } else { "" })?,
            FaultLocation::Byte(n) => write!(f, "{}byte {n}: ", if name { ", " } else { "" })?,
        }
        f.write_str(&self.what)
    }
}

/// The beginning of a text for an error message: a line may be any length.
pub(super) fn excerpt(text: &str) -> String {
    crate::position::beginning(text, 60)
}

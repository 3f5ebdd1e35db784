//! What can be wrong with training records: [`RecordError`].

use crate::position::SfenError;
use std::io;
use std::path::{Path, PathBuf};

/// What can be wrong with training records.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum RecordError {
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file in which it is.
    #[error("{path}: {source}", path = .path.display())]
    At { path: PathBuf, source: Box<RecordError> },
    #[error("not a game file (no `toragame` header)")]
    NotAGameFile,
    #[error("game file version {found} is not known (this build reads version {known})")]
    Version { found: u32, known: u32 },
    #[error("the file header is damaged")]
    Header,
    #[error("block at byte {offset}: {what}")]
    Block { offset: u64, what: &'static str },
    /// The number of a record of fixed size, from 0.
    #[error("record {index}: {source}")]
    Record { index: u64, source: Box<RecordError> },
    #[error(
        "the file was written with other settings (fingerprint {found:016x}, this run has {expected:016x})"
    )]
    Fingerprint { found: u64, expected: u64 },
    #[error("game {game}, ply {ply}: the move {raw:#06x} cannot be played")]
    Move { game: u64, ply: u32, raw: u16 },
    #[error("packed position: {0}")]
    Packed(&'static str),
    #[error("packed position: {0}")]
    Sfen(#[from] SfenError),
    #[error("the extension should be .games, .psv, .bin or .hcpe")]
    UnknownFormat,
}

impl RecordError {
    /// Adds the file to an error: `File::open(path).map_err(RecordError::at(path))`.
    pub fn at<E: Into<RecordError>>(path: &Path) -> impl FnOnce(E) -> RecordError + use<'_, E> {
        move |e| match e.into() {
            // once is enough
            located @ RecordError::At { .. } => located,
            source => RecordError::At { path: path.into(), source: Box::new(source) },
        }
    }

    /// Adds the number of the record to an error, unless the error is of another file.
    pub(super) fn in_record(index: u64, e: RecordError) -> RecordError {
        match e {
            located @ RecordError::At { .. } => located,
            source => RecordError::Record { index, source: Box::new(source) },
        }
    }
}

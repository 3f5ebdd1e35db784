//! What can go wrong with a shard: [`ShardError`].

use super::manifest::{ManifestError, Target};
use super::tree_file::TreeFileError;
use crate::data::RecordError;
use crate::support::memory::OutOfMemory;
use std::io;
use std::path::PathBuf;

/// Why a shard cannot be made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum ShardError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("another process works on this shard ({0} is locked)")]
    Locked(PathBuf),
    #[error("{0} exists: an earlier run left it. --resume goes on with it; remove it to begin anew")]
    Exists(PathBuf),
    #[error("{path} was made for {made_for}; with --resume it is made larger")]
    Size { path: PathBuf, made_for: Target },
    #[error("{path} holds game {found} where game {expected} belongs")]
    Sequence { path: PathBuf, found: u64, expected: u64 },
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error(transparent)]
    Trees(#[from] TreeFileError),
    #[error("a thread failed in game {0}")]
    Thread(u64),
}

//! Why a shard cannot be made: [`ShardError`].

use super::shard::RunSize;
use crate::data::RecordError;
use crate::resume::ResumeError;
use crate::support::memory::OutOfMemory;
use std::path::PathBuf;

/// Why a shard cannot be made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum ShardError {
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("{path} was made for {made_for}; use --resume to extend it")]
    Size { path: PathBuf, made_for: RunSize },
    #[error("{path} is one of {there} shards, not of {here}; use another directory")]
    Shards { path: PathBuf, there: u64, here: u64 },
    #[error(
        "{path} has {found} bytes, its manifest says {expected}; remove the shard's files to make it again"
    )]
    Length { path: PathBuf, found: u64, expected: u64 },
    #[error(
        "{path}: the number of games is {found}, its manifest says {expected}; remove the shard's files to make it again"
    )]
    Games { path: PathBuf, found: u64, expected: u64 },
    #[error("{path} holds game {found} where game {expected} belongs")]
    Sequence { path: PathBuf, found: u64, expected: u64 },
    #[error("a thread failed in game {0}")]
    Thread(u64),
}

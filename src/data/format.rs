//! The kinds of files that hold training records: [`Format`].

use super::error::RecordError;
use super::hcpe::HcpEval;
use super::psv::PackedSfenValue;
use std::path::{Path, PathBuf};

/// What a file of training records holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Games, see [`super::file`].
    Games,
    /// [`PackedSfenValue`]s.
    Psv,
    /// [`HcpEval`]s.
    Hcpe,
}

impl Format {
    /// By the file's name: `.games` (`.part` while datagen writes it), `.psv` or `.bin`, `.hcpe`.
    ///
    /// # Errors
    /// [`RecordError::UnknownFormat`], with the path.
    pub fn of(path: &Path) -> Result<Format, RecordError> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("games" | "part") => Ok(Format::Games),
            Some("psv" | "bin") => Ok(Format::Psv),
            Some("hcpe") => Ok(Format::Hcpe),
            _ => Err(RecordError::at(path)(RecordError::UnknownFormat)),
        }
    }

    /// Bytes of a record, where they are all of one size.
    pub fn record_len(self) -> Option<usize> {
        match self {
            Format::Games => None,
            Format::Psv => Some(PackedSfenValue::LEN),
            Format::Hcpe => Some(HcpEval::LEN),
        }
    }
}

/// The files that paths stand for, with their formats: a file for itself, a directory for the files of training records
/// in it, in order of names. (The `.part` of a run that was stopped must be named.)
///
/// # Errors
/// A directory that cannot be read, a file of no known kind.
pub fn files(paths: &[PathBuf]) -> Result<Vec<(PathBuf, Format)>, RecordError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push((path.clone(), Format::of(path)?));
            continue;
        }
        let mut inside = std::fs::read_dir(path)
            .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>())
            .map_err(RecordError::at(path))?;
        inside.retain(|p| p.extension().is_some_and(|e| e != "part"));
        inside.sort();
        files.extend(inside.into_iter().filter_map(|p| Format::of(&p).ok().map(|format| (p, format))));
    }
    Ok(files)
}

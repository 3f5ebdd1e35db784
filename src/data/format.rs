//! The kinds of files that hold training records: [`Format`].

use super::error::RecordError;
use super::hcpe::HcpEval;
use super::psv::PackedSfenValue;
use std::path::{Path, PathBuf};

/// The kind of a file of training records.
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

/// The files of training records among `paths`, with their formats; directories are expanded in order of
/// names, without the `.part` files of stopped runs (see [`unfinished`]).
pub fn files(paths: &[PathBuf]) -> Result<Vec<(PathBuf, Format)>, RecordError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let inside = inside(path)?.into_iter().filter(|p| !is_part(p));
            files.extend(inside.filter_map(|p| Format::of(&p).ok().map(|format| (p, format))));
        } else {
            std::fs::metadata(path).map_err(RecordError::at(path))?;
            files.push((path.clone(), Format::of(path)?));
        }
    }
    Ok(files)
}

/// What [`files`] leaves out: the `.part` files in directories.
pub fn unfinished(paths: &[PathBuf]) -> Result<Vec<PathBuf>, RecordError> {
    let mut parts = Vec::new();
    for dir in paths.iter().filter(|p| p.is_dir()) {
        parts.extend(inside(dir)?.into_iter().filter(|p| is_part(p)));
    }
    Ok(parts)
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "part")
}

/// What is in a directory, in order of names.
fn inside(dir: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut inside = std::fs::read_dir(dir)
        .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>())
        .map_err(RecordError::at(dir))?;
    inside.sort();
    Ok(inside)
}

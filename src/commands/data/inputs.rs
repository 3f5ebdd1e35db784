//! The files that `train` and the subcommands of `data` read, and what is said of them.

use crate::data::{self, Format};
use crate::support::console::note;
use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The files that the arguments stand for, none of them twice and none of them the output, where there is one. Those of
/// unfinished runs are left out, which is said.
pub fn files(paths: &[PathBuf], output: Option<&Path>) -> Result<Vec<(PathBuf, Format)>, Box<dyn Error>> {
    for part in data::unfinished(paths)? {
        warn(format!("{}: left out, its run is not finished; name the file to use it", part.display()));
    }
    let files = data::files(paths)?;
    if files.is_empty() {
        let paths: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
        return Err(format!("{}: no training records in it", paths.join(", ")).into());
    }
    // an output that is not there yet is none of them
    let output = output.and_then(|path| path.canonicalize().ok());
    let mut seen = HashSet::new();
    for (path, _) in &files {
        let whole = path.canonicalize().map_err(|e| in_file(path, e))?;
        if output.as_ref() == Some(&whole) {
            return Err(in_file(path, "the output is one of the inputs"));
        }
        if !seen.insert(whole) {
            return Err(in_file(path, "given twice"));
        }
    }
    Ok(files)
}

/// The files that the arguments stand for (see [`files`]), all of one format.
pub fn files_of(paths: &[PathBuf], format: Format, output: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let files = files(paths, Some(output))?;
    match files.iter().find(|(_, f)| *f != format) {
        Some((path, _)) => Err(format!("{}: has another format than the output", path.display()).into()),
        None => Ok(files.into_iter().map(|(path, _)| path).collect()),
    }
}

/// What is wrong with a file, though it can be used.
pub fn warn(text: String) {
    note!("warning: {text}");
}

pub fn in_file(path: &Path, e: impl std::fmt::Display) -> Box<dyn Error> {
    format!("{}: {e}", path.display()).into()
}

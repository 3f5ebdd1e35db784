//! Output files that already exist.

use crate::support::messages;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Existing files are not overwritten without `--force`.
///
/// # Errors
/// When a file or a directory exists at `path` and `force` is not given. Devices and pipes are always
/// written to.
pub fn spare(path: &Path, force: bool) -> Result<(), String> {
    let lies_there = std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.is_dir());
    match lies_there && !force {
        true => Err(messages::exists(path.display())),
        false => Ok(()),
    }
}

/// Takes the name of an output file for an input file.
///
/// # Errors
/// When an earlier input has the name already.
pub fn claim<'a>(
    taken: &mut HashMap<PathBuf, &'a Path>,
    path: PathBuf,
    source: &'a Path,
) -> Result<(), String> {
    match taken.get(&path) {
        Some(other) => Err(messages::same_target(other.display(), source.display(), path.display())),
        None => {
            taken.insert(path, source);
            Ok(())
        }
    }
}

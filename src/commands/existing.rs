//! Output files that already exist.

use crate::support::messages;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Existing files and directories are not overwritten without `--force`; devices and pipes are always written
/// to.
pub fn spare(path: &Path, force: bool) -> Result<(), String> {
    let exists = std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.is_dir());
    if exists && !force { Err(messages::exists(path.display())) } else { Ok(()) }
}

/// Reserves the name of an output file for an input file, unless an earlier input has it already.
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

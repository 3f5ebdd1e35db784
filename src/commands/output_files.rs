//! Output files: that they can be written is found out before the work, not after it.

use crate::support::messages;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Existing files and directories are not overwritten without `--force`; devices and pipes are always written
/// to.
pub fn spare(path: &Path, force: bool) -> Result<(), String> {
    let exists = std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.is_dir());
    if exists && !force { Err(messages::exists(path.display())) } else { Ok(()) }
}

/// The same for a file in a directory that must exist. To be called before the work whose result it is.
pub fn check(path: &Path, force: bool) -> Result<(), String> {
    spare(path, force)?;
    match path.parent() {
        _ if path.is_dir() => Err(messages::is_directory(path.display())),
        Some(dir) if dir != Path::new("") && !dir.is_dir() => {
            Err(messages::no_directory(path.display(), dir.display()))
        }
        _ => Ok(()),
    }
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

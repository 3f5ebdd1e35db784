//! `--force`: without it, existing files are not overwritten.

use crate::support::messages;
use std::path::Path;

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

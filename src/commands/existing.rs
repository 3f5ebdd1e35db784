//! `--force`: a file that is there stays, unless the user says otherwise.

use crate::support::messages;
use std::path::Path;

/// # Errors
/// When something lies at `path` (a device or a pipe, which takes what comes, aside) and `force` is not given.
pub fn spare(path: &Path, force: bool) -> Result<(), String> {
    let lies_there = std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.is_dir());
    match lies_there && !force {
        true => Err(messages::exists(path.display())),
        false => Ok(()),
    }
}

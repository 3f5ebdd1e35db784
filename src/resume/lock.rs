//! Files that one process at a time has to itself, until it ends or closes them.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Takes a file, unless another process has it. Where the file system knows no locks, nothing guards it and it counts as
/// taken.
pub fn take(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Creates and takes a file that is there to be taken; none while another process has it.
///
/// # Errors
/// When it cannot be created.
pub fn create(path: &Path) -> io::Result<Option<File>> {
    let file = File::create(path)?;
    Ok(take(&file).then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_once_until_it_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        let first = create(&path).unwrap().unwrap();
        assert!(create(&path).unwrap().is_none());
        assert!(!take(&File::open(&path).unwrap()));
        drop(first);
        assert!(create(&path).unwrap().is_some());
        assert!(create(&dir.path().join("missing/a.lock")).is_err());
    }
}

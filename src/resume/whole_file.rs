//! Files that appear under their name when they are complete: [`WholeFile`]. After a kill or during a write,
//! readers see the old file or the new one, never a part.

use super::error::{AtPath, ResumeError};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A buffered file that gets its name in [`finish`](Self::finish), replacing an existing file. If it is dropped
/// before that, or after an error, it removes its temporary file.
pub struct WholeFile {
    out: BufWriter<File>,
    /// The final path; none for a device or a pipe, which is written directly.
    path: Option<PathBuf>,
}

impl WholeFile {
    /// Begins the file at `path` (if that is a link, at its target).
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let stream = std::fs::metadata(&path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        let file = File::create(if stream { path.clone() } else { unfinished(&path) })?;
        let out = BufWriter::with_capacity(1 << 20, file);
        Ok(WholeFile { out, path: (!stream).then_some(path) })
    }

    /// Syncs the file to the disk, then renames it.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some(path) = &self.path {
            self.out.get_ref().sync_all()?;
            std::fs::rename(unfinished(path), path)?;
            self.path = None;
        }
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // it may be gone already
            let _ = std::fs::remove_file(unfinished(path));
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a file of these bytes.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes.as_ref())?;
    file.finish()
}

/// Writes a value as an indented JSON file.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    write(path, text)
}

/// Deletes a file or directory with `delete`; one that does not exist is no error.
pub fn remove_if_exists(
    path: &Path,
    delete: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), ResumeError> {
    match delete(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.at(path),
    }
}

/// The temporary name of `path` while it is written.
pub fn unfinished(path: &Path) -> PathBuf {
    beside(path, "tmp")
}

/// `path.suffix`
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_remains_until_the_new_one_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"newer").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"newer");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
    }

    /// A disk that fills in the middle of a write; only where one can be mounted.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_keeps_the_old_file_and_no_rest_of_the_new() {
        use std::process::Command;
        let dir = tempfile::tempdir().unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(dir.path()).output();
        if !mount.is_ok_and(|done| done.status.success()) {
            return;
        }
        let path = dir.path().join("a");
        let before = write(&path, "old");
        let failed = write(&path, vec![1; 1 << 20]);
        let (text, files) = (std::fs::read(&path), std::fs::read_dir(&dir).map(Iterator::count));
        let unmounted = Command::new("umount").arg(dir.path()).status();
        assert!(before.is_ok() && failed.is_err() && unmounted.is_ok_and(|done| done.success()));
        assert_eq!((text.unwrap(), files.unwrap()), (b"old".to_vec(), 1));
    }
}

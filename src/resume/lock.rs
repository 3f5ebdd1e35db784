//! Exclusive use of a file or directory by one process at a time: [`Lock`].

use super::error::{AtPath, ResumeError};
use super::whole_file::beside;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Exclusive use of `PATH`: the locked file `PATH.lock`, which names this process. Dropping it releases the
/// lock, and so does the end of the process, however it ends.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks `path`, which need not exist. File systems without locks give no protection.
    ///
    /// # Errors
    /// [`ResumeError::InUse`] names the process that holds the lock (except on Windows, where the file cannot
    /// be read then).
    pub fn take(path: &Path) -> Result<Lock, ResumeError> {
        let name = beside(path, "lock");
        loop {
            let mut file =
                File::options().read(true).write(true).create(true).truncate(false).open(&name).at(&name)?;
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                let holder = io::read_to_string(&file).unwrap_or_default();
                let holder = if holder.is_empty() { "another process".into() } else { holder };
                return Err(ResumeError::InUse { path: path.to_owned(), holder });
            }
            // the process that held it may have removed the file since we opened it
            if is_at(&file, &name) {
                file.set_len(0).and_then(|()| file.write_all(this_process().as_bytes())).at(&name)?;
                return Ok(Lock { path: name, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // while it is locked; `is_at` needs Unix
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether `path` is the name of this open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: io::Result<std::fs::Metadata>| metadata.ok().map(|m| (m.dev(), m.ino()));
    id(file.metadata()) == id(std::fs::metadata(path))
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// `process 1234 on HOST`; several machines may share a directory.
fn this_process() -> String {
    let process = format!("process {}", std::process::id());
    match std::fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(host) => format!("{process} on {}", host.trim()),
        Err(_) => process,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_lock_is_refused_and_names_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let first = Lock::take(&path).unwrap();
        let error = Lock::take(&path).unwrap_err().to_string();
        assert!(error.contains("a.db is in use by "), "{error}");
        if cfg!(unix) {
            assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        }
        drop(first);
        // a killed process leaves the file
        std::fs::write(dir.path().join("a.db.lock"), "process 1 on somewhere else with a long name").unwrap();
        let lock = Lock::take(&path).unwrap();
        if cfg!(unix) {
            assert_eq!(std::fs::read_to_string(dir.path().join("a.db.lock")).unwrap(), this_process());
            drop(lock);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
        assert!(Lock::take(&dir.path().join("missing/a")).is_err());
    }

    #[test]
    fn a_contended_lock_has_one_holder() {
        use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
        let dir = tempfile::tempdir().unwrap();
        let (path, holders, taken) = (dir.path().join("a"), AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(_lock) = Lock::take(&path) else { continue };
                        assert_eq!(holders.fetch_add(1, SeqCst), 0);
                        taken.fetch_add(1, SeqCst);
                        holders.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert!(taken.load(SeqCst) > 0);
    }
}

//! Messages to the user, and the dialogue for the log file. The password appears in neither, and no control character of
//! a server or a player reaches the terminal.

use super::secret::Secret;
use crate::resume::{AtPath, ResumeError};
use crate::support::console::{Progress, note, printable};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Standard error, with a line at its end that changes while a game is played. Shared by the clients of a process.
pub struct Screen {
    quiet: bool,
    progress: Mutex<Progress>,
}

impl Screen {
    /// Only warnings if `quiet`.
    pub fn new(quiet: bool) -> Screen {
        Screen { quiet, progress: Mutex::new(Progress::new(quiet)) }
    }

    fn say(&self, text: &str) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).say(text);
    }

    fn warn(&self, text: &str) {
        if self.quiet {
            note!("{text}");
        } else {
            self.say(text);
        }
    }
}

/// A log file of this size is renamed to `NAME.1`, in place of an older one, and a new one begun.
const LARGEST: u64 = 64 << 20;

/// The log file.
struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl LogFile {
    fn open(path: &Path) -> std::io::Result<LogFile> {
        let file = File::options().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(LogFile { path: path.into(), file, bytes })
    }

    fn write(&mut self, line: &str) -> std::io::Result<()> {
        if self.bytes > LARGEST {
            let mut old = self.path.clone().into_os_string();
            old.push(".1");
            std::fs::rename(&self.path, old)?;
            *self = LogFile::open(&self.path)?;
        }
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes())
    }
}

/// Messages of one client. Shared by threads.
pub struct Log {
    secret: Secret,
    screen: Arc<Screen>,
    file: Option<Mutex<LogFile>>,
    /// Before each line on the screen, to tell several clients apart.
    label: String,
    /// Whether the changing line is this client's.
    live: bool,
}

impl Log {
    /// Appends the dialogue to `file`.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn new(
        secret: Secret,
        file: Option<&Path>,
        screen: Arc<Screen>,
        label: &str,
    ) -> Result<Log, ResumeError> {
        let file = match file {
            Some(path) => Some(Mutex::new(LogFile::open(path).at(path)?)),
            None => None,
        };
        Ok(Log { secret, screen, file, label: label.into(), live: true })
    }

    /// Another client shows the live line.
    #[must_use]
    pub fn without_live(self) -> Log {
        Log { live: false, ..self }
    }

    /// Prints a message.
    pub fn say(&self, text: &str) {
        let text = self.secret.hide_in(text);
        self.keep("#", &text);
        self.screen.say(&self.stamped(&text));
    }

    /// Prints a warning, even with `--quiet`.
    pub fn warn(&self, text: &str) {
        let text = self.secret.hide_in(text);
        self.keep("#", &text);
        self.screen.warn(&self.stamped(&text));
    }

    /// Updates the last line of the screen, if an update is due. The log file does not get it.
    pub fn live(&self, text: impl FnOnce() -> String) {
        if self.live {
            let mut progress = self.screen.progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.update(|| self.stamped(&self.secret.hide_in(&text())));
        }
    }

    /// Leaves the changing line as it stands.
    pub fn end_live(&self) {
        if self.live {
            self.screen.progress.lock().unwrap_or_else(PoisonError::into_inner).end();
        }
    }

    fn stamped(&self, text: &str) -> String {
        let now = jiff::Zoned::now();
        format!("{} {}{}", now.strftime("%m-%d %H:%M:%S"), self.label, printable(text))
    }

    /// A line of the dialogue that we sent.
    pub fn sent(&self, line: &str) {
        self.keep(">", &self.secret.hide_in(line));
    }

    /// A line of the dialogue that came.
    pub fn received(&self, line: &str) {
        self.keep("<", &self.secret.hide_in(line));
    }

    fn keep(&self, mark: &str, text: &str) {
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let now = jiff::Zoned::now();
            // a full disk must not end a game
            let _ = file.write(&format!(
                "{} {mark} {}\n",
                now.strftime("%Y-%m-%d %H:%M:%S%.3f"),
                text.escape_debug()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_log_is_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut kept = LogFile::open(&path).unwrap();
        kept.write("one\n").unwrap();
        kept.bytes = LARGEST + 1;
        kept.write("two\n").unwrap();
        let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!((text("log").as_str(), text("log.1").as_str(), kept.bytes), ("two\n", "one\n", 4));
    }
}

//! Messages to the user, and the dialogue for the log file. The password appears in neither.

use super::secret::Secret;
use crate::support::console::{Progress, note};
use std::fs::File;
use std::io::Write;
use std::path::Path;
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

/// Messages of one client. Shared by threads.
pub struct Log {
    secret: Secret,
    screen: Arc<Screen>,
    file: Option<Mutex<File>>,
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
    ) -> std::io::Result<Log> {
        let file = match file {
            Some(path) => Some(Mutex::new(File::options().create(true).append(true).open(path)?)),
            None => None,
        };
        Ok(Log { secret, screen, file, label: label.into(), live: true })
    }

    /// Another client shows the live line.
    #[must_use]
    pub fn without_live(self) -> Log {
        Log { live: false, ..self }
    }

    /// Tells the user.
    pub fn say(&self, text: &str) {
        let text = self.secret.hide_in(text);
        self.keep("#", &text);
        self.screen.say(&self.stamped(&text));
    }

    /// Tells the user, even with `--quiet`.
    pub fn warn(&self, text: &str) {
        let text = self.secret.hide_in(text);
        self.keep("#", &text);
        self.screen.warn(&self.stamped(&text));
    }

    /// Changes the last line of the screen, if it is time to; the log file does not get it.
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
        format!("{} {}{text}", jiff::Zoned::now().strftime("%m-%d %H:%M:%S"), self.label)
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
            let _ =
                writeln!(file, "{} {mark} {}", now.strftime("%Y-%m-%d %H:%M:%S%.3f"), text.escape_debug());
        }
    }
}

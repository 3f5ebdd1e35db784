//! What the user is told, and the dialogue for the log file. The password appears in neither.

use super::secret::Secret;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Where words go. Shared by threads.
pub struct Log {
    secret: Secret,
    quiet: bool,
    file: Option<Mutex<File>>,
    /// Before each line on standard error, to tell several clients apart.
    label: String,
}

impl Log {
    /// Appends the dialogue to `file`.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn new(secret: Secret, file: Option<&Path>, quiet: bool, label: &str) -> std::io::Result<Log> {
        let file = match file {
            Some(path) => Some(Mutex::new(File::options().create(true).append(true).open(path)?)),
            None => None,
        };
        Ok(Log { secret, quiet, file, label: label.into() })
    }

    /// Tells the user.
    pub fn say(&self, text: &str) {
        self.tell(text, self.quiet);
    }

    /// Tells the user even where he wants quiet.
    pub fn warn(&self, text: &str) {
        self.tell(text, false);
    }

    fn tell(&self, text: &str, quiet: bool) {
        let text = self.secret.hide_in(text);
        self.keep("#", &text);
        if !quiet {
            // nothing to do about a closed standard error
            let now = jiff::Zoned::now();
            let _ = writeln!(std::io::stderr(), "{} {}{text}", now.strftime("%m-%d %H:%M:%S"), self.label);
        }
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

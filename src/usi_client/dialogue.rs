//! A log of the dialogue with engines: [`DialogueLog`], [`EngineLog`].

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A file that records the dialogues with engines. A line has the seconds since the log was opened, the engine with the
/// number of its process, a mark and a text. The marks are `>` to the engine, `<` from it, `!` from its standard error,
/// `=` a remark.
pub struct DialogueLog {
    file: Arc<Mutex<File>>,
    begin: Instant,
    processes: AtomicU32,
}

impl DialogueLog {
    /// Opens the file; if it exists, lines are appended.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<DialogueLog> {
        let file = File::options().create(true).append(true).open(path)?;
        Ok(DialogueLog {
            file: Arc::new(Mutex::new(file)),
            begin: Instant::now(),
            processes: AtomicU32::new(0),
        })
    }

    /// The log of another process of the engine.
    pub fn process(&self, engine: &str) -> EngineLog {
        let number = self.processes.fetch_add(1, Relaxed) + 1;
        EngineLog { file: Arc::clone(&self.file), begin: self.begin, name: format!("{engine}#{number}") }
    }
}

/// The part of a [`DialogueLog`] for one process of an engine.
#[derive(Clone)]
pub struct EngineLog {
    file: Arc<Mutex<File>>,
    begin: Instant,
    name: String,
}

impl EngineLog {
    /// Writes a line.
    pub(super) fn write(&self, mark: char, text: &str) {
        let line = format!("{:.3} {} {mark} {text}\n", self.begin.elapsed().as_secs_f64(), self.name);
        // a full disk does not end the match
        let _ = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

//! The output: whole lines, flushed, from any thread, with a log of the session if the user wants one.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Receives everything that the front end prints. When a write fails ("broken pipe"), the GUI has gone: later lines are
/// dropped, [`is_closed`](Output::is_closed) returns true, and the loop ends without an error.
pub struct Output {
    sink: Mutex<Sink>,
    closed: AtomicBool,
}

struct Sink {
    writer: Box<dyn Write + Send>,
    log: Option<Log>,
    on_close: Option<Box<dyn FnOnce() + Send>>,
}

struct Log {
    path: String,
    file: BufWriter<File>,
    since: Instant,
}

impl Log {
    /// A log that cannot be written (disk full) must not disturb the game.
    fn line(&mut self, direction: char, text: &str) {
        let seconds = self.since.elapsed().as_secs_f64();
        let _ = writeln!(self.file, "{seconds:10.3} {direction} {text}");
        let _ = self.file.flush();
    }
}

impl Output {
    /// An output to this writer, without a log.
    pub fn new(writer: impl Write + Send + 'static) -> Output {
        let sink = Sink { writer: Box::new(writer), log: None, on_close: None };
        Output { sink: Mutex::new(sink), closed: AtomicBool::new(false) }
    }

    /// Sets the action to run once when the other end has gone, on the thread that notices.
    pub fn on_close(&self, action: impl FnOnce() + Send + 'static) {
        self.sink().on_close = Some(Box::new(action));
    }

    /// Whether the other end has gone.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// A thread that panicked while it held the lock has left whole lines behind, so the lock stays usable.
    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one line (or several, if `text` holds line ends) and flushes.
    pub fn line(&self, text: &str) {
        if self.is_closed() {
            return;
        }
        let mut sink = self.sink();
        if let Some(log) = &mut sink.log {
            log.line('>', text);
        }
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
        if sink.writer.write_all(&bytes).and_then(|()| sink.writer.flush()).is_err() {
            self.closed.store(true, Ordering::Relaxed);
            let action = sink.on_close.take();
            drop(sink);
            if let Some(action) = action {
                action();
            }
        }
    }

    /// Writes `info string TEXT`; line ends in it become spaces, since a message of the protocol is one line.
    pub fn info(&self, text: &str) {
        self.line(&format!("info string {}", text.replace(['\n', '\r'], " ")));
    }

    /// Writes a line of input to the log.
    pub fn log_input(&self, text: &str) {
        if let Some(log) = &mut self.sink().log {
            log.line('<', text);
        }
    }

    /// Starts a log, appending to the file; an empty path ends it.
    pub fn log_to(&self, path: &str) -> io::Result<()> {
        let mut sink = self.sink();
        if sink.log.as_ref().map_or("", |l| l.path.as_str()) == path {
            return Ok(());
        }
        sink.log = None;
        if !path.is_empty() {
            let file = File::options().create(true).append(true).open(path)?;
            sink.log = Some(Log { path: path.into(), file: BufWriter::new(file), since: Instant::now() });
        }
        Ok(())
    }
}

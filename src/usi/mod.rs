//! The USI front end: [`parse`](parse::parse) reads lines, [`Session`] executes them, search results go to an [`Output`], and
//! [`run`] is the loop. It uses the engine and knows nothing of the search.
//!
//! Only `quit` and the end of the input end the process. A line that makes no sense is answered by one `info string`, and
//! the last good state stays.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod format;
mod help;
mod increment;
mod output;
pub mod parse;
mod reader;
mod report;
mod session;

pub use output::Output;
pub use session::{Background, Extra, ExtraRun, Next, Session};

use reader::{Input, read_lines};
use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How long `quit`, or the end of the input, waits for a perft or bench. Scripts pipe `go perft 5` and `quit` in one
/// go; a GUI that has gone must not leave a process behind.
const GRACE: Duration = Duration::from_secs(20);

/// At most this many lines are read ahead; further ones wait in the pipe.
const AHEAD: usize = 1024;

/// Runs until `quit`, the end of the input, or until the output is closed.
pub fn run(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static, extras: Vec<Extra>) {
    let (send, events) = sync_channel(AHEAD);
    let output = Arc::new(Output::new(output));
    let wake = send.clone();
    output.on_close(move || {
        // a full channel wakes the loop as well
        let _ = wake.try_send(Input::OutputClosed);
    });
    // the thread may block in a read forever; it ends with the process
    let reader = std::thread::Builder::new().name("usi-input".into()).spawn(move || read_lines(input, &send));
    if let Err(e) = reader {
        output.info(&format!("no thread to read with: {e}"));
        return;
    }
    Loop { session: Session::new(output.clone(), extras), output, events, waiting: VecDeque::new() }.run();
}

struct Loop {
    session: Session,
    output: Arc<Output>,
    events: Receiver<Input>,
    /// The input that arrived while a background task ran.
    waiting: VecDeque<Input>,
}

impl Loop {
    fn run(&mut self) {
        while !self.output.is_closed() {
            let event = match self.waiting.pop_front() {
                Some(event) => event,
                None => self.events.recv().unwrap_or(Input::Eof),
            };
            let next = match event {
                Input::Line(line) => self.session.handle(&line),
                Input::TooLong(bytes) => {
                    self.output.info(&format!("a line of {bytes} bytes is too long and ignored"));
                    Next::Continue
                }
                Input::Eof | Input::OutputClosed => Next::Quit,
            };
            match next {
                Next::Continue => {}
                Next::Run(task) => self.work(task),
                Next::Quit => break,
            }
        }
        self.session.finish();
    }

    /// Runs a background task until it ends or `stop` ends it. Other commands wait meanwhile. A `stop` behind a waiting `go`
    /// waits, too: it is meant for that `go`.
    fn work(&mut self, task: Background) {
        const LOOK: Duration = Duration::from_millis(5);
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let Ok(worker) = std::thread::Builder::new().name("task".into()).spawn(move || task(&flag)) else {
            self.output.info("no thread to run this on");
            return;
        };
        let mut deadline: Option<Instant> = None;
        let mut ended = false;
        while !worker.is_finished() {
            if self.output.is_closed() || deadline.is_some_and(|d| Instant::now() >= d) {
                stop.store(true, Ordering::Relaxed);
            }
            // a closed channel returns at once, which would make this a busy loop; and input that has to wait
            // is not collected without limit
            let event = if ended || self.waiting.len() >= AHEAD {
                std::thread::sleep(LOOK);
                continue;
            } else {
                self.events.recv_timeout(LOOK)
            };
            match event {
                Ok(Input::Line(line)) if line.trim() == "stop" && !self.search_waits() => {
                    stop.store(true, Ordering::Relaxed);
                    self.session.stop();
                }
                Ok(event) => {
                    let leaves = match &event {
                        Input::Line(line) => line.trim() == "quit",
                        Input::Eof => true,
                        Input::TooLong(_) | Input::OutputClosed => false,
                    };
                    if leaves && deadline.is_none() {
                        deadline = Some(Instant::now() + GRACE);
                    }
                    self.waiting.push_back(event);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    ended = true;
                    deadline.get_or_insert(Instant::now() + GRACE);
                }
            }
        }
        if worker.join().is_err() {
            self.output.info("that command failed unexpectedly; the engine goes on");
        }
    }

    /// Whether a command waits that a `stop` could be meant for.
    fn search_waits(&self) -> bool {
        self.waiting
            .iter()
            .any(|event| matches!(event, Input::Line(line) if self.session.can_be_stopped(line)))
    }
}

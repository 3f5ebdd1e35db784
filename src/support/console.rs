//! Output for people: lines on standard output and standard error, and the progress line of a long job. A
//! closed pipe (`| head`) or a closed terminal does not stop the work, so files are always complete.

use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Arguments;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// A text whose control characters are escaped, and those that turn the direction of writing.
pub fn printable(text: &str) -> String {
    let hostile = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if hostile(c) {
            out.extend(c.escape_default())
        } else {
            out.push(c)
        }
        out
    })
}

/// Prints a line on standard output.
///
/// # Errors
/// Write errors, as on a full disk. A closed pipe is not an error.
#[cfg(feature = "cli")]
macro_rules! say {
    ($($text:tt)*) => { $crate::support::console::out(format_args!($($text)*)) };
}

/// Prints a line on standard error and ignores write errors.
macro_rules! note {
    ($($text:tt)*) => { $crate::support::console::err(format_args!($($text)*)) };
}

pub(crate) use note;
#[cfg(feature = "cli")]
pub(crate) use say;

/// The function behind `say!`.
///
/// # Errors
/// Write errors, except a closed pipe.
#[cfg(feature = "cli")]
pub(crate) fn out(line: Arguments) -> io::Result<()> {
    match writeln!(io::stdout(), "{line}") {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Standard output for a command that only prints. After a closed pipe the error is [`OutputClosed`], which
/// ends the command.
#[cfg(feature = "cli")]
pub(crate) fn output() -> Output {
    Output(io::stdout())
}

/// See [`output`].
#[cfg(feature = "cli")]
pub(crate) struct Output(io::Stdout);

/// Standard output is a closed pipe. Any other broken pipe (to an engine or a server) is a failure.
#[cfg(feature = "cli")]
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
pub(crate) struct OutputClosed;

#[cfg(feature = "cli")]
impl OutputClosed {
    /// Whether this caused `error`.
    pub fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        let inner = |e: &(dyn std::error::Error + 'static)| {
            e.downcast_ref::<io::Error>().and_then(io::Error::get_ref).is_some_and(|e| e.is::<OutputClosed>())
        };
        std::iter::successors(Some(error), |e| e.source()).any(inner)
    }

    fn from_io(error: io::Error) -> io::Error {
        if error.kind() == io::ErrorKind::BrokenPipe {
            io::Error::new(error.kind(), OutputClosed)
        } else {
            error
        }
    }
}

#[cfg(feature = "cli")]
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(OutputClosed::from_io)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(OutputClosed::from_io)
    }
}

/// The function behind `note!`.
pub(crate) fn err(line: Arguments) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// The progress line of a job on standard error: rewritten in place on a terminal, a new line every 30
/// seconds in a log.
pub struct Progress {
    /// None where standard error is not a terminal.
    bar: Option<ProgressBar>,
    quiet: bool,
    every: Duration,
    last: Option<Instant>,
}

impl Progress {
    /// Twice a second on a terminal, else every 30 seconds; never if `quiet`.
    pub fn new(quiet: bool) -> Progress {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{wide_msg}");
            ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        let every = if bar.is_some() { Duration::from_millis(500) } else { Duration::from_secs(30) };
        // a log does not begin with an empty report
        let last = if bar.is_some() { None } else { Some(Instant::now()) };
        Progress { bar, quiet, every, last }
    }

    /// Shows `line` if the last update is old enough.
    pub fn update(&mut self, line: impl FnOnce() -> String) {
        if self.quiet || self.last.is_some_and(|t| t.elapsed() < self.every) {
            return;
        }
        self.last = Some(Instant::now());
        match &self.bar {
            Some(bar) => {
                bar.set_message(line());
                bar.tick();
            }
            None => note!("{}", line()),
        }
    }

    /// Prints a permanent line.
    pub fn say(&mut self, line: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| note!("{line}")),
            None => note!("{line}"),
        }
    }

    /// Keeps the present line on the terminal and starts a new one.
    pub fn end(&mut self) {
        if let Some(bar) = &self.bar {
            let line = bar.message();
            if !line.is_empty() {
                bar.set_message("");
                bar.suspend(|| note!("{line}"));
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Columns that a text takes on a terminal: two for a character beyond ASCII.
#[cfg(feature = "cli")]
fn columns(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// The text, filled with spaces to `width` columns on its left.
#[cfg(feature = "cli")]
pub(crate) fn right(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text))) + text
}

/// The text, filled with spaces to `width` columns on its right.
#[cfg(feature = "cli")]
pub(crate) fn left(text: &str, width: usize) -> String {
    text.to_string() + &" ".repeat(width.saturating_sub(columns(text)))
}

/// Seconds as `1:02:03` or `2:03`.
pub fn clock(seconds: f64) -> String {
    let s = seconds.clamp(0.0, 1e9) as u64;
    if s >= 3600 {
        format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    } else {
        format!("{}:{:02}", s / 60, s % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_the_terminal() {
        let text = "名\u{1b}[2J\r\n\u{7}a\u{202e}b\u{9b}";
        assert_eq!(printable(text), "名\\u{1b}[2J\\r\\n\\u{7}a\\u{202e}b\\u{9b}");
    }

    #[test]
    fn durations_are_printed_as_on_a_clock() {
        assert_eq!((clock(61.9), clock(3723.0)), ("1:01".into(), "1:02:03".into()));
    }

    #[cfg(feature = "cli")]
    #[test]
    fn only_a_closed_stdout_is_output_closed() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(OutputClosed::caused(&OutputClosed::from_io(broken())));
        assert!(!OutputClosed::caused(&broken()));
        assert!(!OutputClosed::caused(&OutputClosed::from_io(io::Error::from(io::ErrorKind::StorageFull))));
    }
}

//! One line on standard error that tells how far a long job is: rewritten in place on a terminal, a new line now and then in a log.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The line of one job.
pub struct Progress {
    terminal: bool,
    quiet: bool,
    every: Duration,
    last: Option<Instant>,
    /// Characters of the line that stands on the terminal.
    width: usize,
}

impl Progress {
    /// Twice a second on a terminal, else every 30 seconds; never if `quiet`.
    pub fn new(quiet: bool) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let every = if terminal { Duration::from_millis(500) } else { Duration::from_secs(30) };
        // a log need not begin with an empty report
        let last = if terminal { None } else { Some(Instant::now()) };
        Progress { terminal, quiet, every, last, width: 0 }
    }

    /// Shows `line` if it is time to.
    pub fn update(&mut self, line: impl FnOnce() -> String) {
        if !self.quiet && self.last.is_none_or(|t| t.elapsed() >= self.every) {
            self.last = Some(Instant::now());
            self.show(&line());
        }
    }

    fn show(&mut self, line: &str) {
        let mut err = std::io::stderr().lock();
        // nothing to do about a closed standard error
        let _ = if self.terminal {
            let width = line.chars().count();
            let pad = self.width.saturating_sub(width);
            self.width = width;
            write!(err, "\r{line}{:pad$}", "").and_then(|()| err.flush())
        } else {
            writeln!(err, "{line}")
        };
    }

    /// Shows a line that stays.
    pub fn say(&mut self, line: &str) {
        if self.quiet {
            return;
        }
        self.show(line);
        self.end();
    }

    /// Leaves the line standing.
    pub fn end(&mut self) {
        if self.terminal && self.width > 0 {
            eprintln!();
            self.width = 0;
        }
    }
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

/// Reads a span of time: seconds, or a number with `s`, `m`, `h` or `d`, also combined (`1h30m`).
///
/// # Errors
/// A sentence for the user.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is no span of time; write for instance 90, 45s, 55m or 1h30m");
    let (mut total, mut number) = (0.0, String::new());
    for c in text.chars() {
        if c.is_ascii_digit() || c == '.' {
            number.push(c);
            continue;
        }
        let unit = match c {
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            'd' => 86400.0,
            _ => return Err(bad()),
        };
        total += std::mem::take(&mut number).parse::<f64>().map_err(|_| bad())? * unit;
    }
    if !number.is_empty() {
        total += number.parse::<f64>().map_err(|_| bad())?;
    } else if text.is_empty() {
        return Err(bad());
    }
    Duration::try_from_secs_f64(total).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time() {
        for (text, seconds) in
            [("90", 90.0), ("45s", 45.0), ("55m", 3300.0), ("1h30m", 5400.0), ("0.5d", 43200.0)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs_f64(seconds)));
        }
        for text in ["", "m", "5x", "1.2.3", "-4", "h1"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!((clock(61.9), clock(3723.0)), ("1:01".into(), "1:02:03".into()));
    }
}

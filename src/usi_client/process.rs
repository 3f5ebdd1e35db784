//! A USI engine as a child process: [`EngineProcess`].

use super::dialogue::EngineLog;
use super::info::{InfoLine, parse_best_move};
use super::options::{self, OptionKind, UsiOption};
use crate::resume::interrupt;
use crate::support::console::printable;
#[cfg(unix)]
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::time::{Duration, Instant};

/// How long an engine may take for `usiok`.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take for `readyok`.
pub const READY_TIMEOUT: Duration = Duration::from_secs(120);

/// All clocks sent to engines have USI's meaning: `btime` and `wtime` do not include the increment of the move. An engine
/// with this option (ours) is told so.
const INCREMENT_CONVENTION: (&str, &str) = ("IncrementConvention", "usi");

/// Lines of an engine that wait to be read; it waits with further ones.
const QUEUE: usize = 4096;
/// The rest of a longer line is dropped.
const LONGEST_LINE: u64 = 64 << 10;
/// How often a wait looks whether the user has asked to stop.
const LOOK: Duration = Duration::from_millis(100);

/// What went wrong with an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// It did not start.
    #[error("cannot start {command}: {reason}")]
    Start {
        /// Program and arguments.
        command: String,
        /// The system's message.
        reason: String,
    },
    /// It has no such option, or the option no such value.
    #[error("{0}")]
    Option(String),
    /// It reports that it cannot apply an option.
    #[error("after its options it said `{0}`")]
    Complaint(String),
    /// The process ended.
    #[error("the process ended{0}")]
    Crash(String),
    /// The user has asked to stop; see [`EngineProcess::start`].
    #[error("asked to stop")]
    Interrupted,
    /// It does not answer.
    #[error("no `{expected}` within {seconds} s")]
    Hang {
        /// The answer's first word.
        expected: &'static str,
        /// The time waited.
        seconds: u64,
    },
}

/// An answer to `go`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The move's text, or `resign` or `win`.
    pub best: String,
    /// Centipawns from the engine's view, mates as 30000 and more.
    pub score: Option<i32>,
    /// Of the line that the score is of.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// The line that the score is of, moves in USI text.
    pub pv: Vec<String>,
    /// From `go` to `bestmove`.
    pub elapsed: Duration,
}

impl Answer {
    /// Reads an `info` line of the best line so far.
    fn read(&mut self, line: &str) {
        let Some(info) = InfoLine::parse(line) else { return };
        self.nodes = info.nodes.or(self.nodes);
        if info.rank == 1
            && let Some(score) = info.score
        {
            self.score = Some(score.centipawns());
            self.depth = info.depth.or(self.depth);
            self.pv = info.pv.split_whitespace().map(String::from).collect();
        }
    }
}

/// A running engine.
pub struct EngineProcess {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<(Instant, String)>,
    /// What it calls itself.
    pub id_name: String,
    options: Vec<UsiOption>,
    /// What was sent to it.
    set: Vec<(String, String)>,
    /// Whether it has answered `isready` and played no game since.
    fresh: bool,
    /// Whether waiting for it ends when the user asks to stop.
    heeds_interrupts: bool,
    log: Option<EngineLog>,
}

impl EngineProcess {
    /// Starts the engine and learns its name and options. `command` is the program and its arguments. With a log, the
    /// dialogue and the engine's standard error are recorded. Waiting for it, here as well, ends when the user asks to stop,
    /// if `heeds_interrupts`.
    ///
    /// # Errors
    /// [`EngineError`] when it does not start, dies, or does not answer.
    pub fn start(
        command: &[String],
        dir: Option<&Path>,
        log: Option<EngineLog>,
        heeds_interrupts: bool,
    ) -> Result<EngineProcess, EngineError> {
        let failed = |reason: String| EngineError::Start { command: command.join(" "), reason };
        let (program, args) = command.split_first().ok_or_else(|| failed("no command".into()))?;
        let mut command = Command::new(program);
        command.args(args);
        if let Some(dir) = dir {
            command.current_dir(dir);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(if log.is_some() { Stdio::piped() } else { Stdio::null() });
        #[cfg(unix)]
        // Ctrl-C goes to this process alone, which then ends its engines
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|e| match dir {
            // the system's words would be those for a missing program
            Some(dir) if !dir.is_dir() => failed(format!("no directory {}", dir.display())),
            _ => failed(e.to_string()),
        })?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| failed("no standard output".into()))?;
        if let (Some(log), Some(errors)) = (log.clone(), child.stderr.take()) {
            std::thread::spawn(move || {
                let mut errors = BufReader::new(errors);
                while let Some(line) = read_line(&mut errors) {
                    log.write('!', &line);
                }
            });
        }
        let (sender, lines) = sync_channel(QUEUE);
        let answers = log.clone();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(line) = read_line(&mut output) {
                let at = Instant::now();
                if let Some(log) = &answers {
                    log.write('<', &line);
                }
                if sender.send((at, line)).is_err() {
                    break;
                }
            }
        });
        let mut engine = EngineProcess {
            child,
            input,
            lines,
            id_name: String::new(),
            options: Vec::new(),
            set: Vec::new(),
            fresh: false,
            heeds_interrupts,
            log,
        };
        engine.send("usi");
        let (mut id_name, mut options) = (String::new(), Vec::new());
        engine.wait_for("usiok", START_TIMEOUT, |line| {
            if let Some(name) = line.strip_prefix("id name ") {
                id_name = name.to_string();
            }
            options.extend(UsiOption::parse(line));
        })?;
        (engine.id_name, engine.options) = (id_name, options);
        Ok(engine)
    }

    /// Sets options in their order and has the engine load what it needs.
    ///
    /// # Errors
    /// [`EngineError::Option`] when the engine has no such option or the option no such value, before anything is sent;
    /// [`EngineError::Complaint`] when the engine reports that it cannot comply.
    pub fn configure(&mut self, set: &[(String, String)]) -> Result<(), EngineError> {
        for (name, value) in set {
            options::check(&self.options, name, value).map_err(EngineError::Option)?;
        }
        let (name, value) = INCREMENT_CONVENTION;
        if self.takes(name, value) {
            self.set_option(name, value);
        }
        for (name, value) in set {
            self.set_option(name, value);
        }
        self.set = set.to_vec();
        self.ready()?;
        self.fresh = true;
        Ok(())
    }

    fn ready(&mut self) -> Result<(), EngineError> {
        self.send("isready");
        let (mut complaint, set) = (None, std::mem::take(&mut self.set));
        let answer = self.wait_for("readyok", READY_TIMEOUT, |line| {
            if complaint.is_none() && options::is_complaint(line, &set) {
                complaint = Some(line.trim_start_matches("info string ").to_string());
            }
        });
        self.set = set;
        match complaint {
            Some(line) => Err(EngineError::Complaint(line)),
            None => answer.map(|_| ()),
        }
    }

    /// Readies the engine for another game.
    ///
    /// # Errors
    /// As [`configure`](Self::configure), when it cannot load what it needs.
    pub fn new_game(&mut self) -> Result<(), EngineError> {
        if !std::mem::take(&mut self.fresh) {
            // lines of an unfinished game do not concern the next one
            self.drop_lines();
            self.ready()?;
        }
        self.send("usinewgame");
        Ok(())
    }

    /// Sends `position` and `go`, waits for the move at most `timeout`.
    ///
    /// # Errors
    /// When the engine dies or does not answer.
    pub fn go(&mut self, position: &str, go: &str, timeout: Duration) -> Result<Answer, EngineError> {
        self.send(position);
        let started = Instant::now();
        self.send(go);
        let mut answer = Answer::default();
        let (at, line) = self.wait_for("bestmove", timeout, |line| answer.read(line))?;
        answer.elapsed = at.saturating_duration_since(started);
        answer.best = parse_best_move(&line).map_or("", |(best, _)| best).to_string();
        Ok(answer)
    }

    /// Whether the engine has named an option so.
    pub fn has_option(&self, name: &str) -> bool {
        options::find(&self.options, name).is_some()
    }

    /// Whether the engine has named an option so, and it takes that value.
    pub fn takes(&self, name: &str, value: &str) -> bool {
        options::check(&self.options, name, value).is_ok()
    }

    /// Sets an option. An empty text is `<empty>` on the wire, and a button has no value.
    pub fn set_option(&mut self, name: &str, value: &str) {
        let is_button = options::find(&self.options, name).is_some_and(|o| o.kind == OptionKind::Button);
        self.send(&match value {
            "" if is_button => format!("setoption name {name}"),
            "" => format!("setoption name {name} value <empty>"),
            _ => format!("setoption name {name} value {value}"),
        });
    }

    /// From now on every line of the engine goes to `sink`, `None` when there will be no more of them; the calls that
    /// wait for an answer are over. Lines that came before are dropped.
    pub fn listen(&mut self, mut sink: impl FnMut(Option<String>) + Send + 'static) {
        self.drop_lines();
        let (_, none) = channel();
        let lines = std::mem::replace(&mut self.lines, none);
        std::thread::spawn(move || {
            lines.into_iter().for_each(|(_, line)| sink(Some(line)));
            sink(None);
        });
    }

    /// The game is over: `win`, `lose` or `draw`.
    pub fn game_over(&mut self, result: &str) {
        self.send(&format!("gameover {result}"));
    }

    /// Writes a remark to the log, if there is one.
    pub fn remark(&self, text: &str) {
        if let Some(log) = &self.log {
            log.write('=', text);
        }
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        if let Some(log) = &self.log {
            log.write('>', line);
        }
        if let Some(input) = &mut self.input {
            // an engine that has died is noticed when it does not answer
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    /// Drops the lines that wait; an engine that writes without end does not hold it up.
    fn drop_lines(&mut self) {
        self.lines.try_iter().take(2 * QUEUE).for_each(drop);
    }

    fn wait_for(
        &mut self,
        expected: &'static str,
        timeout: Duration,
        mut other: impl FnMut(&str),
    ) -> Result<(Instant, String), EngineError> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(LOOK)) {
                _ if self.heeds_interrupts && interrupt::requests() > 0 => {
                    return Err(EngineError::Interrupted);
                }
                // lines that wait do not stretch the time
                Ok((at, _)) if at > deadline => {
                    return Err(EngineError::Hang { expected, seconds: timeout.as_secs() });
                }
                Ok((at, line)) => {
                    if line.split_whitespace().next() == Some(expected) {
                        return Ok((at, line));
                    }
                    other(&line);
                }
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(EngineError::Hang { expected, seconds: timeout.as_secs() });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    // its output is closed; if it has ended, the exit status follows at once
                    std::thread::sleep(Duration::from_millis(20));
                    let status = match self.child.try_wait() {
                        Ok(Some(status)) => format!(" ({status})"),
                        _ => String::new(),
                    };
                    return Err(EngineError::Crash(status));
                }
            }
        }
    }
}

/// The next line without its end, cut off where it is too long; none at the end.
fn read_line(output: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    let n = output.take(LONGEST_LINE).read_until(b'\n', &mut bytes).ok()?;
    if n as u64 == LONGEST_LINE && bytes.last() != Some(&b'\n') {
        output.skip_until(b'\n').ok()?;
    }
    // engines write comments in any encoding, and what they say comes to the terminal
    (n > 0).then(|| printable(&String::from_utf8_lossy(&bytes).trim_end().replace('\t', " ")))
}

/// A wrapper script and what it has started are one process group. The engine may live on when the script has ended.
#[cfg(unix)]
impl EngineProcess {
    fn group(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    fn group_lives(&self) -> bool {
        killpg(self.group(), None).is_ok()
    }

    fn kill_group(&self) {
        // it may have ended this moment
        let _ = killpg(self.group(), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
impl EngineProcess {
    fn group_lives(&self) -> bool {
        false
    }

    fn kill_group(&self) {}
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.send("quit");
        self.input = None;
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) && !self.group_lives() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill_group();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_line_counts() {
        let mut a = Answer::default();
        for line in [
            "info depth 3 score cp 25 multipv 1 nodes 100 pv 7g7f 3c3d",
            "info depth 4 score cp -80 multipv 2 nodes 200 pv 2g2f",
            "info depth 4 score cp 99 lowerbound nodes 250 pv 2g2f",
        ] {
            a.read(line);
        }
        assert_eq!((a.score, a.depth, a.nodes), (Some(99), Some(4), Some(250)));
        assert_eq!(a.pv, ["2g2f"]);
        a.read("info depth 5 score mate -4");
        assert_eq!(a.score, Some(-30_000));
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("id name a\r\n{}\nusiok\n", "x".repeat(3 * LONGEST_LINE as usize));
        let mut input = text.as_bytes();
        let lines: Vec<String> = std::iter::from_fn(|| read_line(&mut input)).collect();
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, ["id name a".len(), LONGEST_LINE as usize, "usiok".len()]);
    }

    #[test]
    fn what_does_not_start_is_said() {
        let command = ["./no such program".to_string()];
        assert!(matches!(EngineProcess::start(&command, None, None, false), Err(EngineError::Start { .. })));
        assert!(matches!(EngineProcess::start(&[], None, None, false), Err(EngineError::Start { .. })));
    }
}

//! A USI engine as a child process: [`EngineSpec`] says how to start it, [`EngineProcess`] talks to it.

use super::limits::Limits;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long an engine may take for `usiok`, and to load what it needs for `readyok`.
const START_TIMEOUT: Duration = Duration::from_secs(30);
const READY_TIMEOUT: Duration = Duration::from_secs(120);

/// An engine and its settings, as the command line names them:
/// `cmd=PATH [args=WORDS] [name=NAME] [dir=DIR] [nodes=N ...] [OPTION=VALUE ...]`, words quoted as in a shell.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EngineSpec {
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    pub dir: Option<PathBuf>,
    /// USI options in the order in which they are sent.
    pub options: Vec<(String, String)>,
    /// Limits of its own, instead of the match's.
    pub limits: Option<Limits>,
}

impl FromStr for EngineSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineSpec, String> {
        let mut spec = EngineSpec {
            name: String::new(),
            command: Vec::new(),
            dir: None,
            options: Vec::new(),
            limits: None,
        };
        let mut limits = Limits::default();
        for word in split_words(text)? {
            let Some((key, value)) = word.split_once('=') else {
                // the first bare words are the command
                spec.command.push(word);
                continue;
            };
            match key {
                "cmd" => spec.command.insert(0, value.to_string()),
                "args" => spec.command.extend(split_words(value)?),
                "name" => spec.name = value.to_string(),
                "dir" => spec.dir = Some(value.into()),
                _ if limits.set(key, value)? => {}
                _ => spec.options.push((key.to_string(), value.to_string())),
            }
        }
        let Some(program) = spec.command.first() else {
            return Err(format!(
                "`{text}` names no command; write for instance `cmd=./engine name=new Threads=1`"
            ));
        };
        if spec.name.is_empty() {
            let file = PathBuf::from(program);
            spec.name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        spec.limits = (limits != Limits::default()).then_some(limits);
        Ok(spec)
    }
}

/// Splits a line into words as a shell would: by spaces, except within single or double quotes.
fn split_words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err(format!("`{text}` has a quote without end")) } else { Ok(words) }
}

/// What went wrong with an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    #[error("cannot start {command}: {reason}")]
    Start { command: String, reason: String },
    /// The process ended.
    #[error("the process ended{0}")]
    Crash(String),
    #[error("no `{expected}` within {seconds} s")]
    Hang { expected: &'static str, seconds: u64 },
}

/// An answer to `go`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The move's text, or `resign` or `win`.
    pub best: String,
    /// Centipawns from the engine's view, mates as 30000 and more.
    pub score: Option<i32>,
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    pub elapsed: Duration,
}

/// A running engine.
pub struct EngineProcess {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<(Instant, String)>,
    /// What it calls itself.
    pub id_name: String,
}

impl EngineProcess {
    /// Starts the engine, shakes hands and sets its options.
    ///
    /// # Errors
    /// [`EngineError`] when it does not start, dies, or does not answer.
    pub fn start(spec: &EngineSpec) -> Result<EngineProcess, EngineError> {
        let mut command = Command::new(&spec.command[0]);
        command.args(&spec.command[1..]);
        if let Some(dir) = &spec.dir {
            command.current_dir(dir);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        // a Ctrl-C is for the match alone, which then ends its engines itself
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let failed = |reason: String| EngineError::Start { command: spec.command.join(" "), reason };
        let mut child = command.spawn().map_err(|e| failed(e.to_string()))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| failed("no standard output".into()))?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut bytes = Vec::new();
            // engines write comments in any encoding
            while matches!(output.read_until(b'\n', &mut bytes), Ok(n) if n > 0) {
                let line = String::from_utf8_lossy(&bytes).trim_end().to_string();
                bytes.clear();
                if sender.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
        let mut engine = EngineProcess { child, input, lines, id_name: String::new() };
        engine.send("usi");
        let mut id_name = String::new();
        engine.wait_for("usiok", START_TIMEOUT, |line| {
            if let Some(name) = line.strip_prefix("id name ") {
                id_name = name.to_string();
            }
        })?;
        engine.id_name = id_name;
        for (name, value) in &spec.options {
            engine.send(&format!("setoption name {name} value {value}"));
        }
        Ok(engine)
    }

    /// Readies the engine for another game.
    pub fn new_game(&mut self) -> Result<(), EngineError> {
        // what an unfinished game left to say does not concern the next one
        while self.lines.try_recv().is_ok() {}
        self.send("isready");
        self.wait_for("readyok", READY_TIMEOUT, |_| {})?;
        self.send("usinewgame");
        Ok(())
    }

    /// Sends `position` and `go`, waits for the move at most `timeout`.
    pub fn go(&mut self, position: &str, go: &str, timeout: Duration) -> Result<Answer, EngineError> {
        self.send(position);
        let started = Instant::now();
        self.send(go);
        let mut answer = Answer::default();
        let (at, line) = self.wait_for("bestmove", timeout, |line| read_info(line, &mut answer))?;
        answer.elapsed = at.saturating_duration_since(started);
        answer.best = line.split_whitespace().nth(1).unwrap_or_default().to_string();
        Ok(answer)
    }

    pub fn game_over(&mut self, result: &str) {
        self.send(&format!("gameover {result}"));
    }

    fn send(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            // an engine that died is noticed when it does not answer
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    fn wait_for(
        &mut self,
        expected: &'static str,
        timeout: Duration,
        mut other: impl FnMut(&str),
    ) -> Result<(Instant, String), EngineError> {
        let deadline = Instant::now() + timeout;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((at, line)) => {
                    if line.split_whitespace().next() == Some(expected) {
                        return Ok((at, line));
                    }
                    other(&line);
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(EngineError::Hang { expected, seconds: timeout.as_secs() });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    // its output is closed; the exit status follows at once if it really ended
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

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.send("quit");
        self.input = None;
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps what an `info` line says of the best line so far.
fn read_info(line: &str, answer: &mut Answer) {
    let mut words = line.split_whitespace();
    if words.next() != Some("info") {
        return;
    }
    let (mut score, mut rank, mut bound) = (None, 1, false);
    let (mut depth, mut nodes) = (None, None);
    while let Some(word) = words.next() {
        match word {
            "string" | "pv" => break,
            "multipv" => rank = words.next().and_then(|w| w.parse().ok()).unwrap_or(1),
            "depth" => depth = words.next().and_then(|w| w.parse().ok()),
            "nodes" => nodes = words.next().and_then(|w| w.parse().ok()),
            "lowerbound" | "upperbound" => bound = true,
            "score" => {
                score = match (words.next(), words.next()) {
                    (Some("cp"), Some(v)) => v.parse().ok(),
                    // `mate +` and `mate -` have no number
                    (Some("mate"), Some(v)) if v.starts_with('-') => Some(-30_000),
                    (Some("mate"), Some(_)) => Some(30_000),
                    _ => None,
                }
            }
            _ => {}
        }
    }
    if nodes.is_some() {
        answer.nodes = nodes;
    }
    if rank == 1 && !bound {
        answer.score = score.or(answer.score);
        answer.depth = depth.or(answer.depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_named_on_one_line() {
        let spec: EngineSpec =
            "cmd='./my engine' args='--usi -x' name=new nodes=2000 Threads=2 'Book File=no book' EvalDir=\"a b\"".parse().unwrap();
        assert_eq!(spec.command, ["./my engine", "--usi", "-x"].map(String::from));
        assert_eq!(spec.name, "new");
        assert_eq!(spec.limits.unwrap().nodes, Some(2000));
        let options = [("Threads", "2"), ("Book File", "no book"), ("EvalDir", "a b")];
        assert_eq!(spec.options, options.map(|(a, b)| (a.to_string(), b.to_string())));
        let spec: EngineSpec = "/bin/engine.exe usi".parse().unwrap();
        assert_eq!((spec.name.as_str(), spec.command.len(), spec.limits), ("engine", 2, None));
        assert!("name=x".parse::<EngineSpec>().is_err());
        assert!("cmd='x".parse::<EngineSpec>().is_err());
        assert!("x nodes=many".parse::<EngineSpec>().is_err());
    }

    #[test]
    fn info_lines_tell_score_depth_and_nodes() {
        let mut a = Answer::default();
        for line in [
            "info depth 3 score cp 25 multipv 1 nodes 100 pv 7g7f",
            "info depth 4 score cp -80 multipv 2 nodes 200 pv 2g2f",
            "info depth 4 score cp 99 lowerbound nodes 250 pv 2g2f",
            "info string score cp 1000",
            "score cp 1",
        ] {
            read_info(line, &mut a);
        }
        assert_eq!((a.score, a.depth, a.nodes), (Some(25), Some(3), Some(250)));
        read_info("info depth 5 score mate -4", &mut a);
        assert_eq!(a.score, Some(-30_000));
        read_info("info score mate +", &mut a);
        assert_eq!(a.score, Some(30_000));
    }
}

//! What each command does: the state machine between the parser and the engine.

use super::help;
use super::increment::IncrementReader;
use super::output::Output;
use super::parse::{Command, Go, ParseError, parse};
use super::report::{MateReporter, SearchReporter};
use crate::engine::{Diagram, Engine, Limits, Opt, Spec, no_king_to_mate, shorten, table};
use crate::nnue::Network;
use crate::position::{Position, divide};
use crate::types::Move;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A command of another module (`bench`), passed in so that this module does not depend on it.
#[derive(Clone, Copy)]
pub struct Extra {
    /// The command's word.
    pub name: &'static str,
    /// One line for `help`.
    pub help: &'static str,
    /// Runs on its own thread until it ends or the flag is set. Results are printed line by line, an error as one line.
    pub run: ExtraRun,
}

/// Arguments: the network, the words after the command's name, the stop flag, the receiver of output lines.
pub type ExtraRun =
    fn(Arc<Network>, &[String], &AtomicBool, &mut dyn FnMut(&str)) -> Result<(), Box<dyn std::error::Error>>;

/// A long task that is not a search: perft, bench.
pub type Background = Box<dyn FnOnce(&AtomicBool) + Send>;

/// What the loop is to do after a command.
pub enum Next {
    /// Read the next command.
    Continue,
    /// Run this before the next command; only `stop` interrupts it.
    Run(Background),
    /// End the session.
    Quit,
}

/// The answer to a `go infinite` or `go ponder` that was not searched.
struct HeldAnswer {
    line: &'static str,
    /// It answers `go ponder`, so `ponderhit` releases it, too.
    for_ponder: bool,
}

/// One conversation with a GUI.
pub struct Session {
    engine: Engine,
    output: Arc<Output>,
    extras: Vec<Extra>,
    /// The last `position` was refused: the GUI has another board.
    position_refused: bool,
    /// Held back until `stop`, as the protocol requires.
    held_answer: Option<HeldAnswer>,
    /// The running search, if there is one, was asked to stop.
    stopping: bool,
    increments: IncrementReader,
    /// What was said before the first search, whose `go` repeats it: ShogiHome shows nothing earlier.
    unseen: Option<Vec<String>>,
}

impl Session {
    /// A session with a new engine.
    pub fn new(output: Arc<Output>, extras: Vec<Extra>) -> Session {
        Session {
            engine: Engine::new(),
            output,
            extras,
            position_refused: false,
            held_answer: None,
            stopping: false,
            increments: IncrementReader::default(),
            unseen: Some(Vec::new()),
        }
    }

    /// The engine behind the session.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Executes one line. The session stays usable whatever the line is.
    pub fn handle(&mut self, line: &str) -> Next {
        self.output.log_input(line);
        match parse(line) {
            Ok(command) => self.obey(command),
            Err(e @ (ParseError::PositionWithoutBoard | ParseError::AfterStartpos(_))) => {
                self.refuse_position(&e.to_string());
                Next::Continue
            }
            Err(e) => {
                self.output.info(&e.to_string());
                Next::Continue
            }
        }
    }

    /// Whether the line starts something that `stop` can end.
    pub fn can_be_stopped(&self, line: &str) -> bool {
        match parse(line) {
            Ok(Command::Go(_)) => true,
            Ok(Command::Other { name, .. }) => self.extras.iter().any(|extra| extra.name == name),
            _ => false,
        }
    }

    /// `stop`, also while a [`Background`] runs.
    pub fn stop(&mut self) {
        self.engine.stop();
        self.stopping = true;
        self.give_held_answer();
    }

    fn give_held_answer(&mut self) {
        if let Some(answer) = self.held_answer.take() {
            self.output.line(answer.line);
        }
    }

    /// Keeps the board, but searches nothing on it.
    fn refuse_position(&mut self, why: &str) {
        self.position_refused = true;
        self.output.info(&format!("position refused; `go` will not search until a valid one arrives: {why}"));
    }

    /// Ends the search, if one runs; its best move is still printed.
    pub fn finish(&mut self) {
        self.stop();
        self.engine.finish();
    }

    fn obey(&mut self, command: Command) -> Next {
        match command {
            Command::Nothing => {}
            Command::GameOver | Command::Stop => self.stop(),
            Command::Quit => return Next::Quit,
            Command::Usi => self.usi(),
            Command::IsReady => self.is_ready(),
            // as in YaneuraOu, it is `isready` that clears the tables, and a GUI sends it before every game
            Command::NewGame => {
                self.stop();
                self.increments.new_game();
            }
            Command::Position { sfen, moves } => match self.engine.set_game(sfen, moves.split_whitespace()) {
                Ok(()) => self.position_refused = false,
                Err(e) => self.refuse_position(&e.to_string()),
            },
            Command::Go(go) => return self.go(*go),
            Command::PonderHit(go) => {
                self.say_remarks(&go);
                let limits = self.completed(*go);
                self.engine.ponderhit(limits.has_time().then_some(limits));
                if self.held_answer.as_ref().is_some_and(|answer| answer.for_ponder) {
                    self.give_held_answer();
                }
            }
            Command::SetOption { name, value } => {
                self.set_option(name, value);
            }
            Command::GetOption(name) => self.get_option(name),
            Command::Display => {
                let position = self.engine.position();
                self.output.line(&format!("{}\nsfen {}", Diagram(position), position.sfen()));
            }
            Command::Eval => self.eval(),
            Command::Moves => {
                let moves = self.engine.position().legal_moves(true);
                let mut texts: Vec<String> = moves.iter().map(|m| m.mv.to_string()).collect();
                texts.sort_unstable();
                self.output.line(&texts.join(" "));
            }
            Command::Flip => {
                if let Err(e) = self.engine.flip() {
                    self.output.info(&format!("the board stays as it is: {e}"));
                }
            }
            Command::Help => {
                let extras: Vec<(&str, &str)> = self.extras.iter().map(|e| (e.name, e.help)).collect();
                self.output.line(&help::text(&extras));
            }
            Command::Other { name, rest } => return self.other(name, rest),
        }
        Next::Continue
    }

    /// The handshake. Nothing is loaded here: GUIs wait only briefly for the answer.
    fn usi(&self) {
        // a user can name the engine, to distinguish several copies
        let names = std::fs::read_to_string("engine_name.txt").unwrap_or_default();
        let mut names = names.lines().map(str::trim).map(Some);
        let mut own = || names.next().flatten().filter(|n| !n.is_empty());
        let name = own().unwrap_or(concat!("Toratsugumi ", env!("CARGO_PKG_VERSION")));
        let author = own().unwrap_or("the Toratsugumi developers");
        let mut text = format!("id name {name}\nid author {author}\n");
        for spec in table() {
            // writing to a string cannot fail
            let _ = writeln!(text, "{spec}");
        }
        text.push_str("usiok");
        self.output.line(&text);
    }

    fn is_ready(&mut self) {
        // during a search the GUI only asks whether the engine is alive; a search that was asked to stop ends soon
        if self.stopping || !self.engine.is_searching() {
            let output = self.output.clone();
            let done = keep_alive(output.clone());
            let mut said = Vec::new();
            let prepared = self.engine.prepare(&mut |text| {
                output.info(text);
                said.push(text.to_owned());
            });
            if let Err(e) = prepared {
                self.output.info(&e.to_string());
                said.push(e.to_string());
            }
            drop(done);
            said.into_iter().for_each(|text| self.keep_unseen(text));
            self.update_log();
            self.increments.new_game();
        }
        self.output.line("readyok");
    }

    /// Sets an option. Returns whether that succeeded without a remark.
    fn set_option(&mut self, name: &str, value: &str) -> bool {
        let remark = match self.engine.set_option(name, value) {
            Ok(remark) => remark,
            Err(e) => Some(shorten_line(&e.to_string())),
        };
        if let Some(remark) = &remark {
            self.output.info(remark);
            self.keep_unseen(remark.clone());
        }
        self.update_log();
        remark.is_none()
    }

    /// Keeps a message for the first search, once.
    fn keep_unseen(&mut self, text: String) {
        if let Some(unseen) = self.unseen.as_mut().filter(|unseen| !unseen.contains(&text)) {
            unseen.push(text);
        }
    }

    /// Follows `DebugLogFile`: `true` is a file of a fixed name, `false` none.
    fn update_log(&self) {
        let path = match self.engine.options().text(Opt::DebugLogFile) {
            "true" => "io_log.txt",
            "false" => "",
            path => path,
        };
        if let Err(e) = self.output.log_to(path) {
            self.output.info(&format!("DebugLogFile: {}: {e}", shorten(path)));
        }
    }

    fn get_option(&self, name: Option<&str>) {
        let options = self.engine.options();
        let line =
            |(spec, value): (&Spec, String)| format!("Options[{}] = {value} ({})", spec.name, spec.kind);
        match name {
            None => self.output.line(&options.all().map(line).collect::<Vec<_>>().join("\n")),
            Some(name) => match options.show(name) {
                Some(option) => self.output.line(&line(option)),
                None => self.output.info(&format!("No such option: {}", shorten(name))),
            },
        }
    }

    fn eval(&mut self) {
        let output = self.output.clone();
        match self.engine.evaluate(&mut |text| output.info(text)) {
            Ok(value) => self.output.line(&format!("eval = {value}")),
            Err(e) => self.output.info(&e.to_string()),
        }
    }

    fn go(&mut self, go: Go) -> Next {
        self.say_remarks(&go);
        if self.engine.is_searching() && !self.stopping {
            self.output.info("go during a search: the earlier search is stopped first");
        }
        // a search that has just ended may not have printed its answer yet
        self.finish();
        self.stopping = false;
        if self.position_refused {
            self.answer_without_search(&go);
            return Next::Continue;
        }
        if let Some(depth) = go.perft {
            return Next::Run(self.perft(depth));
        }
        let search_moves = self.search_moves(&go.search_moves);
        let limits = Limits { search_moves, ..self.completed(go) };
        let output = self.output.clone();
        let mut say = |text: &str| output.info(text);
        if limits.mate.is_some()
            && let Some(why) = no_king_to_mate(self.engine.position())
        {
            self.output.info(&format!("go mate: {why}"));
            self.output.line("checkmate nomate");
            return Next::Continue;
        }
        self.unseen.take().into_iter().flatten().for_each(|text| self.output.info(&text));
        let (started, refusal) = if limits.mate.is_some() {
            let reporter = Arc::new(MateReporter(output.clone()));
            (self.engine.go_mate(&limits, reporter, &mut say), "checkmate timeout")
        } else {
            let reporter = Arc::new(SearchReporter(output.clone()));
            (self.engine.go(limits, reporter, &mut say), "bestmove resign")
        };
        if let Err(e) = started {
            self.output.info(&e.to_string());
            // the GUI waits for an answer
            self.output.line(refusal);
        }
        Next::Continue
    }

    fn say_remarks(&self, go: &Go) {
        go.remarks.iter().for_each(|remark| self.output.info(remark));
    }

    /// The limits with this move's increment in the clocks, whichever convention the GUI follows.
    fn completed(&mut self, mut go: Go) -> Limits {
        let us = self.engine.position().side_to_move();
        let convention = self.engine.options().text(Opt::IncrementConvention);
        if self.increments.read(&mut go, us, convention) {
            self.output.info("IncrementConvention is usi from now on: the clock is below its increment");
        }
        go.limits
    }

    /// Answers a `go` after a refused `position`: a move on the old board could be illegal on the GUI's, or lose the game.
    fn answer_without_search(&mut self, go: &Go) {
        self.output.info("go: nothing is searched, because the last `position` was refused");
        if go.perft.is_some() {
            return;
        }
        let answer = match go.limits.mate {
            Some(_) => "checkmate timeout",
            None => "bestmove resign",
        };
        if go.limits.infinite || go.limits.ponder {
            self.held_answer = Some(HeldAnswer { line: answer, for_ponder: go.limits.ponder });
        } else {
            self.output.line(answer);
        }
    }

    /// The legal moves among `texts`. If none of them is legal, all moves are searched.
    fn search_moves(&self, texts: &[&str]) -> Vec<Move> {
        let position = self.engine.position();
        let (good, bad): (Vec<_>, Vec<_>) =
            texts.iter().map(|text| (text, position.parse_move(text))).partition(|(_, m)| m.is_ok());
        if let Some((text, Err(e))) = bad.first() {
            let others = match bad.len() - 1 {
                0 => String::new(),
                n => format!(", and {n} more"),
            };
            let all = if good.is_empty() { "; all moves are searched" } else { "" };
            self.output.info(&format!("searchmoves without `{}`: {e}{others}{all}", shorten(text)));
        }
        let mut moves: Vec<Move> = good.into_iter().filter_map(|(_, m)| m.ok()).collect();
        // a move named twice would be searched twice
        let mut seen = Vec::new();
        moves.retain(|m| {
            let new = !seen.contains(m);
            seen.push(*m);
            new
        });
        moves
    }

    fn perft(&self, depth: u32) -> Background {
        let position = self.engine.position().clone();
        let threads = self.engine.options().spin(Opt::Threads) as usize;
        let output = self.output.clone();
        Box::new(move |stop| tell_perft(&position, depth, threads, stop, &output))
    }

    fn other(&mut self, name: &str, rest: &str) -> Next {
        if let Some(extra) = self.extras.iter().find(|e| e.name == name).copied() {
            let output = self.output.clone();
            let network = match self.engine.network(&mut |text| output.info(text)) {
                Ok(network) => network,
                Err(e) => {
                    output.info(&e.to_string());
                    return Next::Continue;
                }
            };
            let words: Vec<String> = rest.split_whitespace().map(String::from).collect();
            return Next::Run(Box::new(move |stop| {
                if let Err(e) = (extra.run)(network, &words, stop, &mut |line| output.line(line)) {
                    output.info(&format!("{}: {e}", extra.name));
                }
            }));
        }
        // option shorthand: `threads 4`, `threads = 4`, `threads=4`
        let (name, value) = match name.split_once('=') {
            Some((name, value)) if rest.is_empty() => (name, value),
            _ => (name, rest.strip_prefix('=').unwrap_or(rest).trim()),
        };
        if self.engine.options().show(name).is_none() {
            self.output.info(&format!("No such command or option: {}", shorten(name)));
        } else if value.is_empty() || self.set_option(name, value) {
            self.get_option(Some(name));
        }
        Next::Continue
    }
}

fn shorten_line(text: &str) -> String {
    const LONGEST: usize = 300;
    text.chars().take(LONGEST).collect()
}

fn tell_perft(position: &Position, depth: u32, threads: usize, stop: &AtomicBool, output: &Output) {
    let start = Instant::now();
    // as other engines do, 0 counts like 1
    let counts = match divide(position, depth.max(1), threads, stop) {
        Ok(counts) => counts,
        Err(e) => return output.info(&e.to_string()),
    };
    let ms = start.elapsed().as_millis().max(1) as u64;
    let nodes: u64 = counts.iter().map(|(_, n)| n).sum();
    let mut text = String::new();
    for (m, n) in &counts {
        let _ = writeln!(text, "{m}: {n}");
    }
    let nps = u128::from(nodes) * 1000 / u128::from(ms);
    let _ = write!(text, "\nElapsed Time = {ms} [ms]\n{nps} NPS\nNodes searched: {nodes}");
    output.line(&text);
}

/// Sends an empty line every five seconds until the returned value is dropped. GUIs expect that of an engine that takes
/// long to get ready.
fn keep_alive(output: Arc<Output>) -> impl Drop {
    const EVERY: Duration = Duration::from_secs(5);
    struct Done(Option<std::sync::mpsc::Sender<()>>, Option<std::thread::JoinHandle<()>>);
    impl Drop for Done {
        fn drop(&mut self) {
            self.0.take();
            if let Some(handle) = self.1.take() {
                let _ = handle.join();
            }
        }
    }
    let (send, receive) = channel::<()>();
    let handle = std::thread::Builder::new()
        .name("keep-alive".into())
        .spawn(move || {
            while receive.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                output.line("");
            }
        })
        .ok();
    Done(Some(send), handle)
}

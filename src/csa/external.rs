//! Any other engine that speaks USI.

use super::player::{Allowance, GameText, Player, PlayerError, Sink, Thought};
use crate::position::EnteringKingRule;
use crate::usi_client::{EngineProcess, InfoLine, READY_TIMEOUT, parse_best_move};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// How to start an engine.
#[derive(Clone, Debug)]
struct Launch {
    command: Vec<String>,
    options: Vec<(String, String)>,
}

/// A USI engine as a child process.
pub struct External {
    launch: Launch,
    sink: Sink,
    running: Option<Running>,
    name: String,
    /// Whether a server has named a rule of declared wins.
    ruled: bool,
}

/// The process, and what it was asked.
struct Running {
    process: EngineProcess,
    ready: Receiver<()>,
    /// The searches that still owe a best move, oldest first; shared with the thread that reads the answers.
    searches: Arc<Mutex<VecDeque<u64>>>,
    /// Set when the process is given up, whose end is then no news.
    retired: Arc<AtomicBool>,
    /// What to think about when the stopped search has answered.
    next: Option<Request>,
    /// Whether a search runs.
    busy: bool,
}

struct Request {
    search: u64,
    position: String,
    clock: String,
    ponder: bool,
}

impl External {
    /// `command` is the program and its arguments.
    ///
    /// # Errors
    /// When it does not start or is no USI engine.
    pub fn new(
        command: Vec<String>,
        options: &[(String, String)],
        ponder: bool,
        sink: Sink,
    ) -> Result<External, PlayerError> {
        let ponder = ("USI_Ponder".to_string(), ponder.to_string());
        let options = std::iter::once(ponder).chain(options.iter().cloned()).collect();
        let mut external = External {
            launch: Launch { command, options },
            sink,
            running: None,
            name: String::new(),
            ruled: false,
        };
        external.start()?;
        Ok(external)
    }

    fn start(&mut self) -> Result<(), PlayerError> {
        let Launch { command, options } = &self.launch;
        let failed = |e| PlayerError::Engine(format!("{}: {e}", command.join(" ")));
        let mut process = EngineProcess::start(command, None, None, false).map_err(failed)?;
        process.configure(options).map_err(failed)?;
        self.name = process.id_name.clone();
        let searches = Arc::new(Mutex::new(VecDeque::new()));
        let (send, ready) = channel();
        let retired = Arc::new(AtomicBool::new(false));
        let (sink, owed, old) = (self.sink.clone(), searches.clone(), retired.clone());
        process.listen(move |line| {
            let Some(line) = line else {
                if !old.load(Relaxed) {
                    sink(Thought::Lost("the engine has ended".into()));
                }
                return;
            };
            let search = || owed.lock().unwrap_or_else(PoisonError::into_inner).front().copied();
            if line == "readyok" {
                let _ = send.send(());
            } else if let Some((best, ponder)) = parse_best_move(&line) {
                // an answer to no question
                let Some(search) = owed.lock().unwrap_or_else(PoisonError::into_inner).pop_front() else {
                    return;
                };
                sink(Thought::Best { search, best: best.into(), ponder: ponder.map(String::from) });
            } else if let (Some(info), Some(search)) = (InfoLine::parse(&line), search())
                && info.rank == 1
                && info.score.is_some()
            {
                let pv = info.pv.split_whitespace().map(String::from).collect();
                sink(Thought::Line { search, score: info.score, depth: info.depth, nodes: info.nodes, pv });
            }
        });
        self.running = Some(Running { process, ready, searches, retired, next: None, busy: false });
        Ok(())
    }

    fn retire(&mut self) {
        if let Some(running) = self.running.take() {
            running.retired.store(true, Relaxed);
        }
    }
}

impl Running {
    fn begin(&mut self, request: Request) {
        self.searches.lock().unwrap_or_else(PoisonError::into_inner).push_back(request.search);
        self.busy = true;
        self.process.send(&request.position);
        self.process.send(&format!("go {}{}", if request.ponder { "ponder " } else { "" }, request.clock));
    }
}

/// The words of `go` as USI means them: the clocks are without the increments of the next moves. The margin is taken off
/// our own time, since an engine does not know the connection's delay.
fn clock_text(a: &Allowance) -> String {
    let Some(mut time) = a.time else { return format!("movetime {}", Allowance::UNLIMITED) };
    let c = a.color.index();
    let mut byoyomi = a.byoyomi[c];
    // never less than a moment: 0 would mean "no time at all"
    let over = a.margin.saturating_sub(time[c]);
    time[c] = time[c].saturating_sub(a.margin);
    byoyomi = byoyomi.saturating_sub(over);
    if time[c] + byoyomi == 0 {
        time[c] = 1;
    }
    // a part of the increment may be gone already
    let increment = [0, 1].map(|side| a.increment[side].min(time[side]));
    let time = [0, 1].map(|side| time[side] - increment[side]);
    let mut text = format!("btime {} wtime {}", time[0], time[1]);
    if a.increment != [0; 2] {
        text += &format!(" binc {} winc {}", increment[0], increment[1]);
    }
    if a.byoyomi[c] > 0 || a.increment == [0; 2] {
        text += &format!(" byoyomi {byoyomi}");
    }
    text
}

impl Player for External {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(&mut self) -> Result<(), PlayerError> {
        let ready = |running: &mut Running| {
            while running.ready.try_recv().is_ok() {}
            running.process.send("isready");
            running.ready.recv_timeout(READY_TIMEOUT).is_ok()
        };
        if self.running.as_mut().is_some_and(ready) {
            return Ok(());
        }
        // it has died, or hangs
        self.retire();
        self.start()?;
        if self.running.as_mut().is_some_and(ready) {
            return Ok(());
        }
        self.retire();
        Err(PlayerError::Engine(format!("no `readyok` within {} s", READY_TIMEOUT.as_secs())))
    }

    fn new_game(&mut self, max_moves: Option<u32>, rule: Option<EnteringKingRule>) {
        // the usual one again after a game by another rule
        let rule = rule.or(self.ruled.then_some(EnteringKingRule::CsaRule27));
        self.ruled |= rule.is_some();
        let Some(Running { process, .. }) = &mut self.running else { return };
        let terms = [
            ("MaxMovesToDraw", max_moves.map(|n| n.to_string())),
            ("EnteringKingRule", rule.map(|rule| rule.to_string())),
        ];
        for (name, value) in terms {
            let chosen = self.launch.options.iter().any(|(option, _)| option.eq_ignore_ascii_case(name));
            if let Some(value) = value.filter(|value| !chosen && process.takes(name, value)) {
                process.set_option(name, &value);
            }
        }
        process.send("usinewgame");
    }

    fn go(&mut self, search: u64, game: &GameText, allowance: &Allowance, ponder: bool) {
        let Some(running) = &mut self.running else {
            // who asked may try to start it again
            return (self.sink)(Thought::Lost("the engine does not run".into()));
        };
        let request = Request { search, position: game.to_string(), clock: clock_text(allowance), ponder };
        if running.busy {
            if running.next.is_none() {
                running.process.send("stop");
            }
            running.next = Some(request);
        } else {
            running.begin(request);
        }
    }

    fn ponderhit(&mut self) {
        let Some(running) = &mut self.running else { return };
        match &mut running.next {
            // it has not begun to ponder yet
            Some(request) => request.ponder = false,
            None => running.process.send("ponderhit"),
        }
    }

    fn stop(&mut self) {
        if let Some(running) = &mut self.running {
            running.process.send("stop");
        }
    }

    fn finished(&mut self) {
        if let Some(running) = &mut self.running {
            running.busy = !running.searches.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
            if let Some(request) = running.next.take_if(|_| !running.busy) {
                running.begin(request);
            }
        }
    }

    fn game_over(&mut self, result: &str) {
        if let Some(running) = &mut self.running {
            running.next = None;
            if running.busy {
                running.process.send("stop");
            }
            running.process.game_over(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Color;

    #[test]
    fn the_clock_is_sent_without_margin_and_increment() {
        let mut a = Allowance {
            color: Color::White,
            time: Some([60_000, 10_000]),
            increment: [2000; 2],
            byoyomi: [0; 2],
            margin: 300,
        };
        assert_eq!(clock_text(&a), "btime 58000 wtime 7700 binc 2000 winc 2000");
        // Fischer from 0: the increment is all there is, less the margin
        a.time = Some([2000; 2]);
        assert_eq!(clock_text(&a), "btime 0 wtime 0 binc 2000 winc 1700");
        a.time = Some([2000, 0]);
        assert_eq!(clock_text(&a), "btime 0 wtime 0 binc 2000 winc 1");
        a.increment = [0; 2];
        a.byoyomi = [5000; 2];
        a.time = Some([60_000, 100]);
        assert_eq!(clock_text(&a), "btime 60000 wtime 0 byoyomi 4800");
        // a second of the turn is gone already
        a.spend(std::time::Duration::from_millis(1000));
        assert_eq!(clock_text(&a), "btime 60000 wtime 0 byoyomi 3800");
        a.byoyomi = [0; 2];
        assert_eq!(clock_text(&a), "btime 60000 wtime 1 byoyomi 0");
        a.time = None;
        assert_eq!(clock_text(&a), "movetime 10000");
    }
}

//! The program, players for tests of the CSA client, and signals.
#![allow(dead_code)] // every test file uses its part

#[cfg(unix)]
pub use nix::sys::signal::Signal;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toratsugumi::csa::client::{Client, ClientError, Tally};
use toratsugumi::csa::link::{Event, Wish};
use toratsugumi::csa::log::{Log, Screen};
use toratsugumi::csa::player::{Allowance, GameText, Player, PlayerError, Sink, Thought};
use toratsugumi::csa::secret::Secret;
use toratsugumi::csa::settings::Settings;
use toratsugumi::position::{EnteringKingRule, Position};
use toratsugumi::record::csa;
use toratsugumi::support::random::Rng;
use toratsugumi::usi_client::UsiScore;

/// The program, in English whatever the locale.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toratsugumi"));
    command.env("LC_ALL", "C");
    command
}

/// The number in an environment variable, which sets the length of a long test.
pub fn env_number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

/// Settings without delays.
pub fn settings() -> Settings {
    Settings {
        host: "127.0.0.1".into(),
        port: 0,
        id: "a".into(),
        password: Secret::default(),
        game: "g-60-5".into(),
        engine: None,
        options: Vec::new(),
        ponder: true,
        comments: true,
        resign: None,
        resign_moves: 3,
        games: None,
        until: None,
        out: "csa-games".into(),
        log: None,
        keep_alive: Duration::from_secs(45),
        margin: 0,
        answer: Duration::from_secs(30),
        max_wait: Duration::from_millis(10),
        dry_run: false,
        quiet: true,
    }
}

/// Turns a player's thoughts into events.
pub fn sink(send: &Sender<Event>) -> Sink {
    let send = send.clone();
    Arc::new(move |thought| {
        let _ = send.send(Event::Thought(thought));
    })
}

/// Runs a client with this player.
pub fn client(
    settings: &Settings,
    wish: &dyn Fn() -> Wish,
    player: impl FnOnce(&Sender<Event>) -> Box<dyn Player>,
) -> Result<Tally, ClientError> {
    let log = Arc::new(Log::new(settings.password.clone(), None, Arc::new(Screen::new(true)), "").unwrap());
    let (send, events) = channel();
    let player = player(&send);
    Client::new(settings, log, player, (send, events), wish)?.run()
}

fn position(game: &GameText) -> Position {
    let mut position = Position::from_sfen(&game.sfen).unwrap();
    for m in &game.moves {
        let m = position.parse_move(m).unwrap();
        position.do_move(m);
    }
    position
}

/// Plays a random legal move immediately.
pub struct RandomMover {
    rng: Rng,
    sink: Sink,
    /// Number and answer of the ponder search.
    pondering: Option<(u64, String)>,
}

impl RandomMover {
    pub fn new(seed: u64, sink: Sink) -> RandomMover {
        RandomMover { rng: Rng::new(seed), sink, pondering: None }
    }

    fn say(&self, search: u64, best: String) {
        (self.sink)(Thought::Best { search, best, ponder: Some("3c3d".into()) });
    }
}

impl Player for RandomMover {
    fn name(&self) -> String {
        "random".into()
    }

    fn prepare(&mut self) -> Result<(), PlayerError> {
        Ok(())
    }

    fn new_game(&mut self, _max_moves: Option<u32>, _rule: Option<EnteringKingRule>) {}

    fn go(&mut self, search: u64, game: &GameText, _allowance: &Allowance, ponder: bool) {
        let moves = position(game).legal_moves(false);
        let best = match moves.is_empty() {
            true => "resign".to_string(),
            false => moves[self.rng.below(moves.len())].mv.to_string(),
        };
        let (score, pv) = (Some(UsiScore::Cp(10)), vec![best.clone()]);
        (self.sink)(Thought::Line { search, score, depth: Some(1), nodes: Some(1), pv });
        if ponder {
            self.pondering = Some((search, best));
        } else {
            self.say(search, best);
        }
    }

    fn ponderhit(&mut self) {
        if let Some((search, best)) = self.pondering.take() {
            self.say(search, best);
        }
    }

    fn stop(&mut self) {
        self.ponderhit();
    }

    fn finished(&mut self) {}

    fn game_over(&mut self, _result: &str) {}
}

/// Answers its moves with lines of the protocol from a list; an empty line and the end of the list mean no
/// answer.
pub struct Scripted {
    script: Vec<String>,
    next: usize,
    sink: Sink,
    /// The allowance of each search.
    pub allowances: Arc<Mutex<Vec<Allowance>>>,
    /// The delay before each answer.
    pub delay: Duration,
}

impl Scripted {
    pub fn new(script: Vec<String>, sink: Sink) -> Scripted {
        Scripted { script, next: 0, sink, allowances: Arc::default(), delay: Duration::ZERO }
    }
}

/// A line of the protocol as an engine's answer.
fn answer(position: &Position, line: &str) -> String {
    match line {
        "%KACHI" => "win".into(),
        _ if line.starts_with('%') => "resign".into(),
        _ => match csa::read_move(position, line.get(..7).unwrap_or_default()) {
            Ok(m) => m.to_string(),
            // not a USI move
            Err(_) => "illegal".into(),
        },
    }
}

impl Player for Scripted {
    fn name(&self) -> String {
        "scripted".into()
    }

    fn prepare(&mut self) -> Result<(), PlayerError> {
        Ok(())
    }

    fn new_game(&mut self, _max_moves: Option<u32>, _rule: Option<EnteringKingRule>) {}

    fn go(&mut self, search: u64, game: &GameText, allowance: &Allowance, ponder: bool) {
        if ponder {
            return;
        }
        self.allowances.lock().unwrap().push(*allowance);
        let Some(line) = self.script.get(self.next) else { return };
        self.next += 1;
        if line.is_empty() {
            return;
        }
        std::thread::sleep(self.delay);
        let best = answer(&position(game), line);
        (self.sink)(Thought::Best { search, best, ponder: None });
    }

    fn ponderhit(&mut self) {}

    fn stop(&mut self) {}

    fn finished(&mut self) {}

    fn game_over(&mut self, _result: &str) {}
}

/// Sends a signal to a child process (minimal systems have no `kill` command).
#[cfg(unix)]
pub fn signal(child: &std::process::Child, signal: Signal) -> nix::Result<()> {
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(pid, signal)
}

//! [`Client`] plays one game after another: it connects, plays, writes the records, and reconnects after
//! failures.

use super::clock::Lag;
use super::connection::Connection;
use super::game::{GameOutcome, ServerGame};
use super::link::{Context, Event, Link, LinkError, Wish};
use super::log::Log;
use super::play::play;
use super::player::{Player, PlayerError};
use super::recorder::{Circumstances, Recorder};
use super::session::{Session, SessionError};
use super::settings::Settings;
use super::thinking::{Memory, Statistics};
use crate::resume::ResumeError;
use crate::support::console::printable;
use crate::types::Color;
use jiff::{Timestamp, Zoned};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

/// The first wait after a failure; it doubles with every further one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);

/// Why a client gave up.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The directory for the records cannot be made.
    #[error(transparent)]
    Directory(#[from] ResumeError),
    /// The first login failed; with the server's reason.
    #[error("login refused{0}; check --id, the password and --game")]
    Refused(String),
    /// The engine cannot play.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// The user left in the middle of a game.
    #[error("left the game {0} before its end; the server will count it as lost")]
    Left(String),
    /// So many records are lost.
    #[error("{0} finished games could not be written")]
    NotWritten(usize),
}

/// What a client has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games that came to an end.
    pub finished: u32,
    /// Games that a broken connection ended for us.
    pub broken: u32,
    /// Of the finished ones.
    pub wins: u32,
    /// Of the finished ones.
    pub losses: u32,
    /// Of the finished ones.
    pub draws: u32,
}

/// A game to go on with, what its moves have shown, when it began, and when the connection broke.
type Interrupted = (ServerGame, Statistics, Zoned, Instant);

/// A player who goes from game to game.
pub struct Client<'a> {
    settings: &'a Settings,
    log: Arc<Log>,
    player: Box<dyn Player>,
    recorder: Recorder,
    send: Sender<Event>,
    events: Receiver<Event>,
    wish: &'a dyn Fn() -> Wish,
    tally: Tally,
    connections: u64,
    memory: Memory,
    /// How many have succeeded. After the first a refusal is no typing error.
    logins: u32,
    /// How many games have begun.
    begun: u32,
    /// The game that a broken connection interrupted.
    interrupted: Option<Interrupted>,
    /// The game that the user left.
    left: Option<String>,
}

impl<'a> Client<'a> {
    /// The player's sink must send to `channel`. `wish` is called several times a second.
    ///
    /// # Errors
    /// When the directory for the records cannot be made.
    pub fn new(
        settings: &'a Settings,
        log: Arc<Log>,
        player: Box<dyn Player>,
        (send, events): (Sender<Event>, Receiver<Event>),
        wish: &'a dyn Fn() -> Wish,
    ) -> Result<Client<'a>, ClientError> {
        Ok(Client {
            recorder: Recorder::new(&settings.out)?,
            memory: Memory::new(Lag::new(settings.margin)),
            settings,
            log,
            player,
            send,
            events,
            wish,
            tally: Tally::default(),
            connections: 0,
            logins: 0,
            begun: 0,
            interrupted: None,
            left: None,
        })
    }

    /// Plays until a limit of the settings or the user ends it.
    ///
    /// # Errors
    /// When the first login is refused, the engine cannot play, or the user left a game.
    pub fn run(&mut self) -> Result<Tally, ClientError> {
        let result = self.go_from_game_to_game();
        self.give_up_interrupted();
        if self.recorder.retry().is_err() {
            return Err(ClientError::NotWritten(self.recorder.waiting()));
        }
        result?;
        match self.left.take() {
            Some(game) => Err(ClientError::Left(game)),
            None => Ok(self.tally),
        }
    }

    fn go_from_game_to_game(&mut self) -> Result<(), ClientError> {
        let first = FIRST_WAIT.min(self.settings.max_wait);
        let mut wait = first;
        while !self.is_done() {
            let begun = self.begun;
            let error = match self.one_game() {
                Ok(()) => {
                    wait = first;
                    continue;
                }
                Err(SessionError::Link(LinkError::Stopped)) => return Ok(()),
                Err(e) => e,
            };
            match &error {
                SessionError::Refused(reason) if self.logins == 0 && !reason.contains("retry_after") => {
                    let reason = printable(reason);
                    let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
                    return Err(ClientError::Refused(reason));
                }
                SessionError::Player(e) => return Err(e.clone().into()),
                SessionError::Refused(reason) => {
                    // the server will not let us back into that game
                    self.give_up_interrupted();
                    wait = retry_after(reason).unwrap_or(wait);
                }
                // a server whose games do not begin is asked ever more seldom
                _ if self.begun > begun => wait = first,
                _ => {}
            }
            self.log.warn(&format!("{error}; trying again in {} s", wait.as_secs()));
            self.pause(wait);
            wait = (wait * 2).min(self.settings.max_wait);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let enough = self.settings.games.is_some_and(|n| self.tally.finished + self.tally.broken >= n);
        // an interrupted game is resumed first, unless the user wants to leave at once
        match (self.wish)() {
            Wish::Leave => true,
            _ if self.interrupted.is_some() => false,
            wish => wish == Wish::Finish || enough || is_late(self.settings.until),
        }
    }

    fn pause(&self, wait: Duration) {
        let end = Instant::now() + wait;
        while Instant::now() < end && !self.is_done() {
            std::thread::sleep(LOOK);
        }
    }

    /// One connection: login, a game, its record.
    fn one_game(&mut self) -> Result<(), SessionError> {
        self.player.prepare()?;
        self.connections += 1;
        let number = self.connections;
        let send = self.send.clone();
        let Settings { host, port, .. } = self.settings;
        let connection = Connection::open(host, *port, self.log.clone(), move |incoming| {
            // the client may be gone already
            let _ = send.send(Event::Server(number, incoming));
        });
        let connection = connection.map_err(|e| LinkError::Lost(format!("{host}:{port}: {e}")))?;
        let context =
            Context { settings: self.settings, log: &self.log, events: &self.events, wish: self.wish };
        let mut session = Session::new(Link::new(context, number, connection), &mut *self.player);
        let way_back = self.interrupted.as_ref().and_then(|(game, ..)| token(game));
        session.login(way_back.as_deref())?;
        self.logins += 1;
        let (wish, until) = (self.wish, self.settings.until);
        let (mut game, mut statistics, start) = match self.interrupted.take() {
            Some((mut game, statistics, start, broke)) => match go_on(&mut session, &mut game, broke) {
                Ok(()) => (game, statistics, start),
                Err(e) => {
                    drop(session);
                    self.interrupted = Some((game, statistics, start, broke));
                    // another try only where the connection broke again
                    if !matches!(e, SessionError::Link(LinkError::Lost(_) | LinkError::Stopped)) {
                        self.give_up_interrupted();
                    }
                    return Err(e);
                }
            },
            None => {
                self.log.say(&format!("logged in to {host}:{port}, waiting for a game"));
                let summary = session.wait_for_summary(|| wish() >= Wish::Finish || is_late(until))?;
                // the clock runs from there, whatever we did meanwhile
                let began = session.agree()?;
                let mut game = ServerGame::new(summary);
                game.turn = Some(began);
                let [black, white] = &game.summary.names;
                let ours = if game.our_color() == Color::Black { "Black" } else { "White" };
                self.log
                    .say(&format!("game {}: {black} against {white}, we are {ours}", game.summary.game_id));
                (game, Statistics::default(), Zoned::now())
            }
        };
        self.begun += 1;
        let id = game.summary.game_id.clone();
        let result = play(&mut session, &mut game, &mut self.memory, &mut statistics);
        drop(session);
        let about = circumstances(
            self.settings,
            &self.memory.lag,
            statistics.clone(),
            start.clone(),
            self.player.name(),
        );
        match result {
            Ok(outcome) => {
                self.finished(&game, &outcome, &about);
                Ok(())
            }
            Err(e) => {
                if matches!(e, SessionError::Link(LinkError::Stopped)) {
                    self.left = Some(id.clone());
                }
                self.log.warn(&format!("game {id} interrupted after move {}", game.record.moves.len()));
                // written at once: the process may end before the game does
                game.abandon();
                if let Err(e) = self.recorder.interrupted(&game, &about) {
                    self.log.warn(&format!("cannot write the record, will try again: {e}"));
                }
                self.interrupted = Some((game, statistics, start, Instant::now()));
                let back = matches!(e, SessionError::Link(LinkError::Lost(_) | LinkError::Silent(..)));
                if !back || self.interrupted.as_ref().is_none_or(|(game, ..)| token(game).is_none()) {
                    self.give_up_interrupted();
                }
                Err(e)
            }
        }
    }

    fn finished(&mut self, game: &ServerGame, outcome: &GameOutcome, about: &Circumstances) {
        use super::protocol::Verdict;
        self.tally.finished += 1;
        match outcome.verdict {
            Some(Verdict::Win) => self.tally.wins += 1,
            Some(Verdict::Lose) => self.tally.losses += 1,
            Some(Verdict::Draw) => self.tally.draws += 1,
            _ => {}
        }
        let verdict = outcome.verdict.map_or("no result".to_string(), |v| v.to_string());
        let reason = outcome.reason.map_or(String::new(), |r| format!(" {r}"));
        match self.recorder.finished(game, outcome, about) {
            Ok(path) => self.log.say(&format!(
                "{verdict}{reason} after move {}: {}",
                game.record.moves.len(),
                path.display()
            )),
            Err(e) => {
                self.log.warn(&format!("{verdict}{reason}; cannot write the record, will try again: {e}"))
            }
        }
    }

    /// Ends the interrupted game in the records.
    fn give_up_interrupted(&mut self) {
        let Some((mut game, statistics, start, _)) = self.interrupted.take() else { return };
        self.tally.broken += 1;
        let about = circumstances(self.settings, &self.memory.lag, statistics, start, self.player.name());
        let outcome = game.abandon();
        if let Err(e) = self.recorder.finished(&game, &outcome, &about) {
            self.log.warn(&format!("cannot write the record, will try again: {e}"));
        }
    }
}

/// What a server expects in the login before we can resume a game.
fn token(game: &ServerGame) -> Option<String> {
    let token = game.summary.reconnect_token.as_ref()?;
    Some(format!("{}+{token}", game.summary.game_id))
}

/// Resumes an interrupted game from the server's present state. The connection broke at `broke`.
fn go_on(session: &mut Session<'_>, game: &mut ServerGame, broke: Instant) -> Result<(), SessionError> {
    const LIMIT: Duration = Duration::from_secs(30);
    let end = Instant::now() + LIMIT;
    let summary = session.wait_for_summary(|| Instant::now() >= end).map_err(|e| match e {
        SessionError::Link(LinkError::Stopped) if Instant::now() >= end => {
            LinkError::Silent("summary of the interrupted game", LIMIT.as_secs()).into()
        }
        e => e,
    })?;
    let state = session.reconnect_state()?;
    game.resume(summary, state.last_move.as_deref())?;
    // a move that we have not seen may have been played at once
    game.turn.get_or_insert(broke);
    for (color, ms) in state.left {
        // the server's number includes the increment of the next move
        let increment = game.clock.control(color).increment;
        game.clock.set_left(color, ms.saturating_sub(increment));
    }
    Ok(())
}

fn circumstances(
    settings: &Settings,
    lag: &Lag,
    statistics: Statistics,
    start: Zoned,
    engine: String,
) -> Circumstances {
    Circumstances {
        server: format!("{}:{}", settings.host, settings.port),
        game: settings.game.clone(),
        rated: settings.game.starts_with("floodgate-") && !settings.password.reveal().is_empty(),
        start,
        end: Zoned::now(),
        lag_ms: lag.worst(),
        engine,
        depths: statistics.depths,
        nodes: statistics.nodes,
    }
}

fn is_late(until: Option<Timestamp>) -> bool {
    until.is_some_and(|t| Timestamp::now() >= t)
}

/// `... retry_after=30`
fn retry_after(reason: &str) -> Option<Duration> {
    let (_, rest) = reason.split_once("retry_after=")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok().filter(|s| *s <= 3600).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_when_to_come_back() {
        assert_eq!(retry_after("rate_limited retry_after=30"), Some(Duration::from_secs(30)));
        assert_eq!(retry_after("rate_limited retry_after=x"), None);
        assert_eq!(retry_after(""), None);
    }
}

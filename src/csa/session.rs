//! One connection from the login to the end of a game: [`Session`].

use super::clock::Lag;
use super::connection::{Connection, Incoming};
use super::game::GameError;
use super::log::Log;
use super::play::{Statistics, Thinking};
use super::player::{Player, PlayerError, Thought};
use super::protocol::{ClientLine, ServerLine};
use super::settings::Settings;
use super::summary::{GameSummary, SummaryError, SummaryReader};
use crate::types::Color;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long to wait for an answer that comes at once.
const ANSWER: Duration = Duration::from_secs(30);
/// How long the other player may take to agree; servers give up after two minutes.
const AGREEMENT: Duration = Duration::from_secs(180);
/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What wakes a session.
#[derive(Debug)]
pub enum Event {
    /// From the connection of that number.
    Server(u64, Incoming),
    Thought(Thought),
}

/// Why a session ended without a game's end.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("connection lost: {0}")]
    Connection(String),
    /// With the server's reason.
    #[error("login refused{}", if .0.is_empty() { String::new() } else { format!(": {}", .0) })]
    Refused(String),
    #[error("no {0} within {1} s")]
    Silent(&'static str, u64),
    #[error("the game does not take place: rejected by {0}")]
    Rejected(String),
    #[error(transparent)]
    Summary(#[from] SummaryError),
    #[error(transparent)]
    Game(#[from] GameError),
    #[error(transparent)]
    Player(#[from] PlayerError),
    #[error("asked to stop")]
    Stopped,
}

/// What the user wants right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    GoOn,
    /// Stop after this game.
    Finish,
    /// Stop now.
    Leave,
}

/// What a session finds in place.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub settings: &'a Settings,
    pub log: &'a Log,
    /// Where the connection and the player report.
    pub events: &'a Receiver<Event>,
    pub wish: &'a dyn Fn() -> Wish,
}

/// What outlives a connection.
pub struct Memory {
    /// Numbers searches.
    pub(super) search: u64,
    pub lag: Lag,
}

impl Memory {
    pub fn new(lag: Lag) -> Memory {
        Memory { search: 0, lag }
    }
}

/// What a server says of a game that it lets us back into.
#[derive(Clone, Debug, Default)]
pub struct ReconnectState {
    /// Milliseconds of main time.
    pub left: Vec<(Color, u64)>,
    /// In CSA notation.
    pub last_move: Option<String>,
}

/// A connection with what is needed to play over it.
pub struct Session<'a> {
    pub(super) context: Context<'a>,
    pub(super) player: &'a mut dyn Player,
    connection: Connection,
    /// Its number.
    number: u64,
    pub(super) memory: &'a mut Memory,
    pub statistics: Statistics,
    last_sent: Instant,
    last_received: Instant,
    /// Whether the server answers empty lines.
    echoes: bool,
    pub(super) thinking: Thinking,
}

/// What [`Session::wait`] waited for.
pub(super) enum Woken {
    Line(String, Instant),
    Closed(String),
    Thought(Thought),
    Timeout,
}

impl<'a> Session<'a> {
    /// Over the connection of that number.
    pub fn new(
        context: Context<'a>,
        player: &'a mut dyn Player,
        (number, connection): (u64, Connection),
        memory: &'a mut Memory,
    ) -> Session<'a> {
        let now = Instant::now();
        Session {
            context,
            player,
            connection,
            number,
            memory,
            statistics: Statistics::default(),
            last_sent: now,
            last_received: now,
            echoes: false,
            thinking: Thinking::new(now),
        }
    }

    pub(super) fn send(&mut self, line: &ClientLine<'_>) -> Result<(), SessionError> {
        self.last_sent = Instant::now();
        self.connection.send(line).map_err(|e| SessionError::Connection(e.to_string()))
    }

    /// Waits for the next event, at most until `deadline`; keeps the line alive meanwhile and looks whether to leave.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> Result<Woken, SessionError> {
        loop {
            if (self.context.wish)() == Wish::Leave {
                return Err(SessionError::Stopped);
            }
            let now = Instant::now();
            if now.duration_since(self.last_sent) >= self.context.settings.keep_alive {
                self.send(&ClientLine::KeepAlive)?;
            }
            let silence = now.duration_since(self.last_received);
            if self.echoes && silence > 2 * self.context.settings.keep_alive + ANSWER {
                return Err(SessionError::Silent("answer to empty lines", silence.as_secs()));
            }
            let left = deadline.map_or(LOOK, |d| d.saturating_duration_since(now).min(LOOK));
            match self.context.events.recv_timeout(left) {
                Ok(Event::Server(number, _)) if number != self.number => {}
                Ok(Event::Server(_, Incoming::Closed(reason))) => return Ok(Woken::Closed(reason)),
                Ok(Event::Server(_, Incoming::Line(line, at))) => {
                    self.last_received = at;
                    self.echoes |= line.is_empty();
                    return Ok(Woken::Line(line, at));
                }
                Ok(Event::Thought(thought)) => return Ok(Woken::Thought(thought)),
                Err(RecvTimeoutError::Timeout) if deadline.is_some_and(|d| Instant::now() >= d) => {
                    return Ok(Woken::Timeout);
                }
                Err(RecvTimeoutError::Timeout) => {
                    // the caller may have a wish to look at
                    if deadline.is_none() {
                        return Ok(Woken::Timeout);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(SessionError::Connection("nobody listens".into()));
                }
            }
        }
    }

    /// The next line of the server, at most until `deadline`; `None` at each look without one. What the player says
    /// meanwhile belongs to no game.
    fn next_line(&mut self, deadline: Option<Instant>) -> Result<Option<(String, Instant)>, SessionError> {
        match self.wait(deadline)? {
            Woken::Line(line, at) => Ok(Some((line, at))),
            Woken::Closed(reason) => Err(SessionError::Connection(reason)),
            Woken::Thought(thought) => {
                self.idle_thought(thought);
                Ok(None)
            }
            Woken::Timeout => Ok(None),
        }
    }

    fn idle_thought(&mut self, thought: Thought) {
        match thought {
            Thought::Best { .. } => self.player.finished(),
            Thought::Remark(text) => self.context.log.say(&format!("engine: {text}")),
            Thought::Lost(what) => self.context.log.warn(&format!("engine: {what}")),
            Thought::Line { .. } => {}
        }
    }

    /// Waits at most `limit` for a line of which `read` makes something.
    fn expect<T>(
        &mut self,
        what: &'static str,
        limit: Duration,
        mut read: impl FnMut(&ServerLine<'_>) -> Option<Result<T, SessionError>>,
    ) -> Result<T, SessionError> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some((line, _)) = self.next_line(Some(deadline))?
                && let Some(result) = read(&ServerLine::parse(&line))
            {
                return result;
            }
            if Instant::now() >= deadline {
                return Err(SessionError::Silent(what, limit.as_secs()));
            }
        }
    }

    /// Logs in; with `resume`, to an interrupted game.
    ///
    /// # Errors
    /// [`SessionError::Refused`] when the server does not want us.
    pub fn login(&mut self, resume: Option<&str>) -> Result<(), SessionError> {
        let settings = self.context.settings;
        let password = match (settings.game.as_str(), settings.password.reveal()) {
            ("", password) => password.to_string(),
            (game, "") => game.to_string(),
            (game, trip) => format!("{game},{trip}"),
        };
        self.send(&ClientLine::Login { name: &settings.id, password: &password, resume })?;
        self.expect("answer to the login", ANSWER, |line| match line {
            ServerLine::LoggedIn(_) => Some(Ok(())),
            ServerLine::LoginRefused(reason) => Some(Err(SessionError::Refused((*reason).into()))),
            _ => None,
        })
    }

    /// Waits for a game, however long; [`SessionError::Stopped`] when the user no longer wants one.
    ///
    /// # Errors
    /// When the connection breaks or the summary makes no sense; the game is rejected then.
    pub fn wait_for_summary(&mut self, enough: impl Fn() -> bool) -> Result<GameSummary, SessionError> {
        loop {
            if enough() {
                return Err(self.logout());
            }
            let Some((line, _)) = self.next_line(None)? else { continue };
            match ServerLine::parse(&line) {
                ServerLine::BeginSummary => return self.summary(),
                ServerLine::KeepAlive | ServerLine::Extended(_) => {}
                ServerLine::LoggedOut => return Err(SessionError::Connection("logged out".into())),
                _ => self.context.log.say(&format!("server: {line}")),
            }
        }
    }

    fn summary(&mut self) -> Result<GameSummary, SessionError> {
        let mut reader = SummaryReader::default();
        let deadline = Instant::now() + ANSWER;
        let mut wrong = None;
        loop {
            if Instant::now() >= deadline {
                return Err(SessionError::Silent("end of the game summary", ANSWER.as_secs()));
            }
            let Some((line, _)) = self.next_line(Some(deadline))? else { continue };
            match (&wrong, reader.line(&line)) {
                (None, Ok(Some(summary))) => return Ok(summary),
                (None, Ok(None)) => {}
                (None, Err(e)) => wrong = Some(e),
                (Some(_), _) => {}
            }
            if let Some(e) = wrong.take_if(|_| line == "END Game_Summary") {
                self.send(&ClientLine::Reject)?;
                return Err(e.into());
            }
        }
    }

    /// Takes leave; the error to go on with.
    fn logout(&mut self) -> SessionError {
        const MOMENT: Duration = Duration::from_secs(2);
        if self.send(&ClientLine::Logout).is_ok() {
            let done = |line: &ServerLine<'_>| matches!(line, ServerLine::LoggedOut).then_some(Ok(()));
            // whether it answers or just hangs up
            let _ = self.expect("answer to the logout", MOMENT, done);
        }
        SessionError::Stopped
    }

    /// Agrees to a game and waits for its start.
    ///
    /// # Errors
    /// [`SessionError::Rejected`] when a player does not want it.
    pub fn agree(&mut self) -> Result<(), SessionError> {
        if (self.context.wish)() >= Wish::Finish {
            self.send(&ClientLine::Reject)?;
            return Err(SessionError::Stopped);
        }
        self.send(&ClientLine::Agree)?;
        self.expect("start of the game", AGREEMENT, |line| match line {
            ServerLine::Start(_) => Some(Ok(())),
            ServerLine::Reject { by, .. } => Some(Err(SessionError::Rejected((*by).into()))),
            _ => None,
        })
    }

    /// Reads what a server says of a game that it lets us back into: the times left, and the last move.
    pub fn reconnect_state(&mut self) -> Result<ReconnectState, SessionError> {
        self.expect("state of the interrupted game", ANSWER, |line| {
            matches!(line, ServerLine::BeginReconnect).then_some(Ok(()))
        })?;
        let deadline = Instant::now() + ANSWER;
        let mut state = ReconnectState::default();
        while Instant::now() < deadline {
            let Some((line, _)) = self.next_line(Some(deadline))? else { continue };
            match line.split_once(':') {
                _ if line == "END Reconnect_State" => return Ok(state),
                Some(("Black_Time_Remaining_Ms", ms)) => {
                    state.left.extend(millis(ms).map(|ms| (Color::Black, ms)))
                }
                Some(("White_Time_Remaining_Ms", ms)) => {
                    state.left.extend(millis(ms).map(|ms| (Color::White, ms)))
                }
                Some(("Last_Move", text)) => {
                    state.last_move = Some(text.split(',').next().unwrap_or_default().to_string())
                }
                _ => {}
            }
        }
        Err(SessionError::Silent("end of the reconnection", ANSWER.as_secs()))
    }
}

/// A server's number of milliseconds, kept to what clocks can add.
fn millis(text: &str) -> Option<u64> {
    text.trim().parse().ok().map(|ms: u64| ms.min(1 << 42))
}

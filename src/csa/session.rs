//! The dialogue before and between games: login, game summary, agreement, reconnection. A [`Session`]
//! conducts it over a [`Link`].

use super::game::GameError;
use super::link::{Link, LinkError, Wish, Woken};
use super::player::{Player, PlayerError, Thought};
use super::protocol::{ClientLine, ServerLine};
use super::summary::{GameSummary, SummaryError, SummaryReader};
use crate::types::Color;
use std::time::{Duration, Instant};

/// The other player's time to agree, as a multiple of the time for an answer; servers give up after two
/// minutes.
const AGREEMENT: u32 = 6;
/// How often an engine that has died is restarted before a game, and how often during it.
pub(super) const RESTARTS: u32 = 3;

/// Why a session ended without a game's end.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The connection broke, or the user wants to leave.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The server refused the login, with its reason.
    #[error("login refused{}", if .0.is_empty() { String::new() } else { format!(": {}", .0) })]
    Refused(String),
    /// A player rejected the game, with its colour.
    #[error("the game does not take place: rejected by {0}")]
    Rejected(String),
    /// The game summary is invalid.
    #[error(transparent)]
    Summary(#[from] SummaryError),
    /// The server's moves are invalid.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The engine cannot play any more.
    #[error(transparent)]
    Player(#[from] PlayerError),
}

/// The state of a resumed game, as the server reports it.
#[derive(Clone, Debug, Default)]
pub struct ReconnectState {
    /// Milliseconds of main time.
    pub left: Vec<(Color, u64)>,
    /// The last move, in CSA notation.
    pub last_move: Option<String>,
}

/// A connection from its login to its end.
pub struct Session<'a> {
    /// The connection.
    pub link: Link<'a>,
    /// The engine.
    pub player: &'a mut dyn Player,
    /// How often the engine was restarted before the game.
    restarts: u32,
}

impl<'a> Session<'a> {
    /// A session over a new connection.
    pub fn new(link: Link<'a>, player: &'a mut dyn Player) -> Session<'a> {
        Session { link, player, restarts: 0 }
    }

    fn answer(&self) -> Duration {
        self.link.context.settings.answer
    }

    /// Waits for a line of the server, at most until `deadline`; `None` if something else happened first.
    /// Remarks of the engine in the meantime belong to no game.
    fn next_line(&mut self, deadline: Option<Instant>) -> Result<Option<(String, Instant)>, SessionError> {
        match self.link.wait(deadline)? {
            Woken::Line(line, at) => Ok(Some((line, at))),
            Woken::Closed(reason) => Err(LinkError::Lost(reason).into()),
            Woken::Thought(thought) => {
                self.idle_thought(thought)?;
                Ok(None)
            }
            Woken::Timeout => Ok(None),
        }
    }

    fn idle_thought(&mut self, thought: Thought) -> Result<(), PlayerError> {
        match thought {
            Thought::Best { .. } => self.player.finished(),
            Thought::Remark(text) => self.link.context.log.say(&format!("engine: {text}")),
            Thought::Lost(what) => return self.restart(what),
            Thought::Line { .. } => {}
        }
        Ok(())
    }

    /// Restarts an engine that has died between games, at once: the next game begins with a running clock.
    fn restart(&mut self, what: String) -> Result<(), PlayerError> {
        /// Wait before the next attempt.
        const PAUSE: Duration = Duration::from_secs(1);
        let mut result = Err(PlayerError::Engine(what));
        while let Err(e) = &result
            && self.restarts < RESTARTS
        {
            self.link.context.log.warn(&format!("engine: {e}"));
            if self.restarts > 0 {
                std::thread::sleep(PAUSE);
            }
            self.restarts += 1;
            result = self.player.prepare();
        }
        result
    }

    /// Waits at most `limit` for a line for which `read` returns a value.
    fn expect<T>(
        &mut self,
        what: &'static str,
        limit: Duration,
        mut read: impl FnMut(&ServerLine<'_>, Instant) -> Option<Result<T, SessionError>>,
    ) -> Result<T, SessionError> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some((line, at)) = self.next_line(Some(deadline))?
                && let Some(result) = read(&ServerLine::parse(&line), at)
            {
                return result;
            }
            if Instant::now() >= deadline {
                return Err(LinkError::Silent(what, limit.as_secs()).into());
            }
        }
    }

    /// Logs in; with `resume`, to an interrupted game.
    ///
    /// # Errors
    /// [`SessionError::Refused`] when the server refuses.
    pub fn login(&mut self, resume: Option<&str>) -> Result<(), SessionError> {
        let settings = self.link.context.settings;
        // a server may send the password back
        let shown = |reason: &str| settings.password.hide_everywhere(reason);
        let password = match (settings.game.as_str(), settings.password.reveal()) {
            ("", password) => password.to_string(),
            (game, "") => game.to_string(),
            (game, trip) => format!("{game},{trip}"),
        };
        self.link.send(&ClientLine::Login { name: &settings.id, password: &password, resume })?;
        self.expect("answer to the login", settings.answer, |line, _| match line {
            ServerLine::LoggedIn(_) => Some(Ok(())),
            ServerLine::LoginRefused(reason) => Some(Err(SessionError::Refused(shown(reason)))),
            _ => None,
        })
    }

    /// Waits for a game without a limit; [`LinkError::Stopped`] when the user stops the program.
    ///
    /// # Errors
    /// When the connection breaks, or when the summary is invalid; the game is then rejected.
    pub fn wait_for_summary(&mut self, enough: impl Fn() -> bool) -> Result<GameSummary, SessionError> {
        loop {
            if enough() {
                return Err(self.logout());
            }
            let Some((line, _)) = self.next_line(None)? else { continue };
            match ServerLine::parse(&line) {
                ServerLine::BeginSummary => return self.summary(),
                ServerLine::KeepAlive | ServerLine::Extended(_) => {}
                ServerLine::LoggedOut => return Err(LinkError::Lost("logged out".into()).into()),
                _ => self.link.context.log.say(&format!("server: {line}")),
            }
        }
    }

    fn summary(&mut self) -> Result<GameSummary, SessionError> {
        let mut reader = SummaryReader::default();
        let deadline = Instant::now() + self.answer();
        let mut wrong = None;
        loop {
            if Instant::now() >= deadline {
                return Err(LinkError::Silent("end of the game summary", self.answer().as_secs()).into());
            }
            let Some((line, _)) = self.next_line(Some(deadline))? else { continue };
            match (&wrong, reader.line(&line)) {
                (None, Ok(Some(summary))) => return Ok(summary),
                (None, Ok(None)) => {}
                (None, Err(e)) => wrong = Some(e),
                (Some(_), _) => {}
            }
            if let Some(e) = wrong.take_if(|_| line == "END Game_Summary") {
                self.link.send(&ClientLine::Reject)?;
                return Err(e.into());
            }
        }
    }

    /// Logs out; returns the error that ends the session.
    fn logout(&mut self) -> SessionError {
        const MOMENT: Duration = Duration::from_secs(2);
        if self.link.send(&ClientLine::Logout).is_ok() {
            let done = |line: &ServerLine<'_>, _| matches!(line, ServerLine::LoggedOut).then_some(Ok(()));
            // an answer is not needed
            let _ = self.expect("answer to the logout", MOMENT, done);
        }
        LinkError::Stopped.into()
    }

    /// Agrees to a game and waits for its start. Returns the time of the start.
    ///
    /// # Errors
    /// [`SessionError::Rejected`] when a player rejects it.
    pub fn agree(&mut self) -> Result<Instant, SessionError> {
        if (self.link.context.wish)() >= Wish::Finish {
            self.link.send(&ClientLine::Reject)?;
            return Err(LinkError::Stopped.into());
        }
        self.link.send(&ClientLine::Agree)?;
        let limit = AGREEMENT * self.answer();
        self.expect("start of the game", limit, |line, at| match line {
            ServerLine::Start(_) => Some(Ok(at)),
            ServerLine::Reject { by, .. } => Some(Err(SessionError::Rejected((*by).into()))),
            _ => None,
        })
    }

    /// Reads the state of a resumed game: the times left, and the last move.
    ///
    /// # Errors
    /// When the server does not send it in time.
    pub fn reconnect_state(&mut self) -> Result<ReconnectState, SessionError> {
        self.expect("state of the interrupted game", self.answer(), |line, _| {
            matches!(line, ServerLine::BeginReconnect).then_some(Ok(()))
        })?;
        let deadline = Instant::now() + self.answer();
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
        Err(LinkError::Silent("end of the reconnection", self.answer().as_secs()).into())
    }
}

/// A number of milliseconds from the server, limited so that clocks cannot overflow.
fn millis(text: &str) -> Option<u64> {
    text.trim().parse().ok().map(|ms: u64| ms.min(1 << 42))
}

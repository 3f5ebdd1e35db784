//! One connection from the login to the end of a game: [`Session`].

use super::clock::Lag;
use super::comment::comment;
use super::connection::{Connection, Incoming};
use super::game::{Game, GameError, Outcome, Step};
use super::log::Log;
use super::player::{Allowance, Player, PlayerError, Thought};
use super::protocol::{ClientLine, ServerLine};
use super::settings::Settings;
use super::summary::{GameSummary, SummaryError, SummaryReader};
use crate::position::EnteringKingRule;
use crate::record::csa::move_text;
use crate::types::{Color, Move};
use crate::usi_client::Score;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long to wait for an answer that comes at once.
const ANSWER: Duration = Duration::from_secs(30);
/// How long the other player may take to agree; servers give up after two minutes.
const AGREEMENT: Duration = Duration::from_secs(180);
/// A server may notice a fallen flag only at its next look, a minute later.
const FLAG: Duration = Duration::from_secs(150);
/// The verdict follows its reason at once, if there is one.
const VERDICT: Duration = Duration::from_secs(3);
/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often a player that oversteps its time is reminded.
const REMIND: Duration = Duration::from_millis(200);
/// How often in a game a dead engine is started again.
const RESTARTS: u32 = 3;

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

/// What our moves have shown so far.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub depths: Vec<u32>,
    pub nodes: u64,
}

/// What the thinking is about.
enum Mode {
    Idle,
    /// Our move.
    Own,
    /// The position after a move that the opponent may play. The answer, if the player cannot wait.
    Ponder {
        expected: Move,
        early: Option<String>,
    },
}

/// What a search has found so far.
#[derive(Default)]
struct Found {
    score: Option<Score>,
    pv: Vec<String>,
    depth: Option<u32>,
    nodes: Option<u64>,
}

/// A move on its way to the server.
struct Sent {
    at: Instant,
    /// What it took by our clock, in milliseconds.
    own: u64,
    ponder: Option<String>,
    comment: Option<String>,
}

/// A connection with what is needed to play over it.
pub struct Session<'a> {
    settings: &'a Settings,
    player: &'a mut dyn Player,
    log: &'a Log,
    events: &'a Receiver<Event>,
    wish: &'a dyn Fn() -> Wish,
    connection: Connection,
    /// Its number.
    number: u64,
    /// Numbers searches, over all games.
    search: &'a mut u64,
    pub lag: &'a mut Lag,
    pub statistics: Statistics,
    last_sent: Instant,
    last_received: Instant,
    /// Whether the server answers empty lines.
    echoes: bool,
    /// Lines that came while something else was awaited.
    backlog: VecDeque<(String, Instant)>,
    mode: Mode,
    found: Found,
    sent: Option<Sent>,
    /// When the turn began.
    turn: Instant,
    /// Hopeless moves in a row.
    hopeless: u32,
    restarts: u32,
    reminded: Instant,
}

/// What [`Session::wait`] waited for.
enum Woken {
    Line(String, Instant),
    Closed(String),
    Thought(Thought),
    Timeout,
}

impl<'a> Session<'a> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        settings: &'a Settings,
        player: &'a mut dyn Player,
        log: &'a Log,
        events: &'a Receiver<Event>,
        wish: &'a dyn Fn() -> Wish,
        (number, connection): (u64, Connection),
        search: &'a mut u64,
        lag: &'a mut Lag,
    ) -> Session<'a> {
        let now = Instant::now();
        Session {
            settings,
            player,
            log,
            events,
            wish,
            connection,
            number,
            search,
            lag,
            statistics: Statistics::default(),
            last_sent: now,
            last_received: now,
            echoes: false,
            backlog: VecDeque::new(),
            mode: Mode::Idle,
            found: Found::default(),
            sent: None,
            turn: now,
            hopeless: 0,
            restarts: 0,
            reminded: now,
        }
    }

    fn send(&mut self, line: &ClientLine<'_>) -> Result<(), SessionError> {
        self.last_sent = Instant::now();
        self.connection.send(line).map_err(|e| SessionError::Connection(e.to_string()))
    }

    /// Waits for the next event, at most until `deadline`; keeps the line alive meanwhile and looks whether to leave.
    fn wait(&mut self, deadline: Option<Instant>) -> Result<Woken, SessionError> {
        loop {
            if (self.wish)() == Wish::Leave {
                return Err(SessionError::Stopped);
            }
            let now = Instant::now();
            if now.duration_since(self.last_sent) >= self.settings.keep_alive {
                self.send(&ClientLine::KeepAlive)?;
            }
            let silence = now.duration_since(self.last_received);
            if self.echoes && silence > 2 * self.settings.keep_alive + ANSWER {
                return Err(SessionError::Silent("answer to empty lines", silence.as_secs()));
            }
            let left = deadline.map_or(LOOK, |d| d.saturating_duration_since(now).min(LOOK));
            match self.events.recv_timeout(left) {
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
        if let Some(line) = self.backlog.pop_front() {
            return Ok(Some(line));
        }
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
            Thought::Remark(text) => self.log.say(&format!("engine: {text}")),
            Thought::Lost(what) => self.log.warn(&format!("engine: {what}")),
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
        let settings = self.settings;
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
                _ => self.log.say(&format!("server: {line}")),
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
        if (self.wish)() >= Wish::Finish {
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
    pub fn reconnect_state(&mut self) -> Result<(Vec<(Color, u64)>, Option<String>), SessionError> {
        self.expect("state of the interrupted game", ANSWER, |line| {
            matches!(line, ServerLine::BeginReconnect).then_some(Ok(()))
        })?;
        let deadline = Instant::now() + ANSWER;
        let (mut left, mut last) = (Vec::new(), None);
        while Instant::now() < deadline {
            let Some((line, _)) = self.next_line(Some(deadline))? else { continue };
            match line.split_once(':') {
                _ if line == "END Reconnect_State" => return Ok((left, last)),
                Some(("Black_Time_Remaining_Ms", ms)) => left.extend(ms.parse().map(|ms| (Color::Black, ms))),
                Some(("White_Time_Remaining_Ms", ms)) => left.extend(ms.parse().map(|ms| (Color::White, ms))),
                Some(("Last_Move", text)) => {
                    last = Some(text.split(',').next().unwrap_or_default().to_string())
                }
                _ => {}
            }
        }
        Err(SessionError::Silent("end of the reconnection", ANSWER.as_secs()))
    }

    /// Plays a game to its end.
    ///
    /// # Errors
    /// When the connection breaks, or the server says what cannot be. The game then has its moves so far.
    pub fn play(&mut self, game: &mut Game) -> Result<Outcome, SessionError> {
        self.player.new_game(game.summary.max_moves);
        let result = self.follow(game);
        self.mode = Mode::Idle;
        self.player.game_over(match result.as_ref().ok().and_then(|o| o.verdict) {
            Some(super::protocol::Verdict::Win) => "win",
            Some(super::protocol::Verdict::Lose) => "lose",
            _ => "draw",
        });
        result
    }

    fn follow(&mut self, game: &mut Game) -> Result<Outcome, SessionError> {
        self.turn = Instant::now();
        if game.is_our_turn() {
            self.our_turn(game)?;
        }
        let mut ending: Option<Instant> = None;
        loop {
            let silent = self.silence_deadline(game);
            let deadline = [ending, silent, self.overstep(game)].into_iter().flatten().min();
            match self.wait(deadline)? {
                Woken::Line(line, at) => match game.line(&ServerLine::parse(&line))? {
                    Step::Nothing => {}
                    Step::Moved { by, mv, time } => self.moved(game, by, mv, time, at)?,
                    Step::Ending => {
                        self.mode = Mode::Idle;
                        self.player.stop();
                        ending = Some(Instant::now() + VERDICT);
                    }
                    Step::Ended(outcome) => return Ok(outcome),
                    Step::Ignored(why) => self.log.say(&format!("ignored `{}`: {why}", line.escape_debug())),
                },
                Woken::Closed(reason) => {
                    return game.silence().ok_or(SessionError::Connection(reason));
                }
                Woken::Thought(thought) => self.thought(game, thought)?,
                Woken::Timeout => {
                    let now = Instant::now();
                    if ending.is_some_and(|d| now >= d)
                        && let Some(outcome) = game.silence()
                    {
                        return Ok(outcome);
                    }
                    if silent.is_some_and(|d| now >= d) {
                        return Err(SessionError::Silent("move", now.duration_since(self.turn).as_secs()));
                    }
                    if self.overstep(game).is_some_and(|d| now >= d) {
                        self.log.warn("the engine oversteps its time");
                        self.reminded = now;
                        self.player.stop();
                    }
                }
            }
        }
    }

    /// When the server must have said something: the flag of the side to move has long fallen.
    fn silence_deadline(&self, game: &Game) -> Option<Instant> {
        let budget = game.clock.budget(game.position.side_to_move())?;
        Some(self.turn + Duration::from_millis(budget) + FLAG)
    }

    /// When our player must be reminded of the time.
    fn overstep(&self, game: &Game) -> Option<Instant> {
        if !matches!(self.mode, Mode::Own) {
            return None;
        }
        let budget = game.clock.budget(game.our_color())?;
        let end = self.turn + Duration::from_millis(budget.saturating_sub(self.lag.margin()));
        Some(end.max(self.reminded + REMIND))
    }

    fn allowance(&self, game: &Game) -> Allowance {
        let each = |of: fn(&super::clock::TimeControl) -> u64| Color::ALL.map(|c| of(game.clock.control(c)));
        let unlimited = game.clock.control(game.our_color()).is_unlimited();
        // an increment can be used up by the move that it comes with, and so can a delay
        let usable = |c: Color| {
            let control = game.clock.control(c);
            game.clock.left(c).saturating_add(control.increment + control.delay)
        };
        Allowance {
            color: game.our_color(),
            time: (!unlimited).then(|| Color::ALL.map(usable)),
            increment: each(|c| c.increment),
            byoyomi: each(|c| c.byoyomi),
            margin: self.lag.margin(),
        }
    }

    fn think(&mut self, game: &Game, expected: Option<Move>) {
        *self.search += 1;
        self.found = Found::default();
        let mut text = game.text();
        text.moves.extend(expected.iter().map(Move::to_string));
        self.player.go(*self.search, &text, &self.allowance(game), expected.is_some());
        self.mode = match expected {
            Some(expected) => Mode::Ponder { expected, early: None },
            None => Mode::Own,
        };
    }

    /// Our turn has begun: declare, or think.
    fn our_turn(&mut self, game: &mut Game) -> Result<(), SessionError> {
        if declares(game) {
            self.mode = Mode::Idle;
            self.player.stop();
            return self.declare(game);
        }
        self.think(game, None);
        Ok(())
    }

    fn declare(&mut self, game: &mut Game) -> Result<(), SessionError> {
        self.log.say("declaring a win");
        game.speak();
        self.send(&ClientLine::DeclareWin)
    }

    fn resign(&mut self, game: &mut Game, why: &str) -> Result<(), SessionError> {
        self.log.say(&format!("resigning: {why}"));
        game.speak();
        self.send(&ClientLine::Resign)
    }

    /// A move was played.
    fn moved(
        &mut self,
        game: &mut Game,
        by: Color,
        mv: Move,
        time: Option<u64>,
        at: Instant,
    ) -> Result<(), SessionError> {
        self.turn = at;
        if by != game.our_color() {
            return self.opponent_moved(game, mv);
        }
        let Some(sent) = self.sent.take() else {
            // not from us, in this connection at least: what we think about is past
            *self.search += 1;
            self.mode = Mode::Idle;
            self.player.stop();
            return Ok(());
        };
        if let Some(text) = sent.comment {
            // as floodgate's server keeps it
            game.remark(format!("*{text}"));
        }
        let echo = at.saturating_duration_since(sent.at).as_millis() as u64;
        self.lag.observe(game.clock.control(by), echo, sent.own, time);
        if self.settings.ponder
            && let Some(Ok(expected)) = sent.ponder.map(|text| game.position.parse_move(&text))
        {
            self.think(game, Some(expected));
        }
        Ok(())
    }

    fn opponent_moved(&mut self, game: &mut Game, mv: Move) -> Result<(), SessionError> {
        match std::mem::replace(&mut self.mode, Mode::Idle) {
            Mode::Ponder { expected, early } if expected == mv => {
                if declares(game) {
                    self.player.stop();
                    return self.declare(game);
                }
                self.mode = Mode::Own;
                match early {
                    Some(best) => self.answer(game, &best, None),
                    None => {
                        self.player.ponderhit();
                        Ok(())
                    }
                }
            }
            _ => self.our_turn(game),
        }
    }

    fn thought(&mut self, game: &mut Game, thought: Thought) -> Result<(), SessionError> {
        match thought {
            Thought::Line { search, score, depth, nodes, pv } => {
                if search == *self.search {
                    self.found = Found { score, pv, depth, nodes };
                }
            }
            Thought::Best { search, best, ponder } => {
                self.player.finished();
                if search != *self.search {
                    return Ok(());
                }
                match &mut self.mode {
                    Mode::Own => return self.answer(game, &best, ponder),
                    Mode::Ponder { early, .. } => *early = Some(best),
                    Mode::Idle => {}
                }
            }
            Thought::Remark(text) => self.log.say(&format!("engine: {text}")),
            Thought::Lost(what) => return self.lost(game, &what),
        }
        Ok(())
    }

    /// The player has died: another try, while there is time.
    fn lost(&mut self, game: &mut Game, what: &str) -> Result<(), SessionError> {
        self.log.warn(&format!("engine: {what}"));
        let thinking = !matches!(std::mem::replace(&mut self.mode, Mode::Idle), Mode::Idle);
        // one that was replaced, or that goes when the game is over
        if !thinking && !game.is_our_turn() {
            return Ok(());
        }
        self.restarts += 1;
        let ready = self.restarts <= RESTARTS
            && match self.player.prepare() {
                Ok(()) => true,
                Err(e) => {
                    self.log.warn(&e.to_string());
                    false
                }
            };
        if ready {
            self.player.new_game(game.summary.max_moves);
            if game.is_our_turn() && self.sent.is_none() { self.our_turn(game) } else { Ok(()) }
        } else if game.is_our_turn() && self.sent.is_none() {
            self.resign(game, "there is no engine to play with")
        } else {
            Ok(())
        }
    }

    /// Sends what the player wants to play, if the rules allow it.
    fn answer(&mut self, game: &mut Game, best: &str, ponder: Option<String>) -> Result<(), SessionError> {
        self.mode = Mode::Idle;
        let found = std::mem::take(&mut self.found);
        match best {
            "win" if declares(game) => return self.declare(game),
            "resign" => return self.resign(game, "the engine says so"),
            _ => {}
        }
        let mv = match game.position.parse_move(best) {
            Ok(mv) => mv,
            Err(e) => {
                self.log.warn(&format!(
                    "the engine's answer `{}` is illegal: {e}; {}",
                    best.escape_debug(),
                    game.position.sfen()
                ));
                return self.resign(game, "the engine plays by other rules");
            }
        };
        if self.is_hopeless(found.score) {
            return self.resign(game, "the score has been hopeless for long enough");
        }
        self.statistics.depths.extend(found.depth);
        self.statistics.nodes += found.nodes.unwrap_or(0);
        let remark = found.score.filter(|_| self.settings.comments);
        let remark = remark.map(|score| comment(&game.position, mv, score, &found.pv));
        self.send(&ClientLine::Move { text: &move_text(mv), comment: remark.as_deref() })?;
        let at = Instant::now();
        let own = at.saturating_duration_since(self.turn).as_millis() as u64;
        self.sent = Some(Sent { at, own, ponder, comment: remark });
        Ok(())
    }

    fn is_hopeless(&mut self, score: Option<Score>) -> bool {
        let Some(bound) = self.settings.resign else { return false };
        let lost = score.is_some_and(|s| s.centipawns() <= -bound);
        self.hopeless = if lost { self.hopeless + 1 } else { 0 };
        self.hopeless >= self.settings.resign_moves
    }
}

/// Whether we may declare a win now.
fn declares(game: &Game) -> bool {
    let rule = game.declaration_rule();
    rule != EnteringKingRule::None
        && game.is_our_turn()
        && game.position.declaration_win(rule) == Some(Move::WIN)
}

//! Playing a game: when to think, what to send. [`play`] leads a game to its end over a [`Session`].

use super::comment::comment;
use super::game::{GameOutcome, ServerGame, Step};
use super::link::{LinkError, Woken};
use super::live::Shown;
use super::log::Log;
use super::player::{Allowance, Thought};
use super::protocol::{ClientLine, ServerLine, Verdict};
use super::session::{RESTARTS, Session, SessionError};
use super::thinking::{BestLine, Memory, Mode, Sent, Statistics};
use crate::record::csa::move_text;
use crate::types::{Color, Move};
use crate::usi_client::UsiScore;
use std::time::{Duration, Instant};

/// A server may check flags only once a minute.
const FLAG: Duration = Duration::from_secs(150);
/// The verdict follows its reason at once, if there is one.
const VERDICT: Duration = Duration::from_secs(3);
/// How often a player that oversteps its time is reminded.
const REMIND: Duration = Duration::from_millis(200);
/// How often the clocks on the screen are brought up to date.
const LIVE: Duration = Duration::from_millis(500);

/// Plays a game to its end.
///
/// # Errors
/// When the connection breaks, or a line of the server contradicts the game. The game then has its moves so far.
pub fn play(
    session: &mut Session<'_>,
    game: &mut ServerGame,
    memory: &mut Memory,
    statistics: &mut Statistics,
) -> Result<GameOutcome, SessionError> {
    session.player.new_game(game.summary.max_moves, game.declaration_rule());
    let now = Instant::now();
    let turn = *game.turn.get_or_insert(now);
    let mut play = Play {
        session,
        game,
        memory,
        statistics,
        mode: Mode::Idle,
        found: BestLine::default(),
        shown: Shown::default(),
        sent: None,
        turn,
        came: now,
        hopeless: 0,
        restarts: 0,
        reminded: now,
    };
    let result = play.follow();
    session.link.context.log.end_live();
    session.player.game_over(match result.as_ref().ok().and_then(|o| o.verdict) {
        Some(Verdict::Win) => "win",
        Some(Verdict::Lose) => "lose",
        _ => "draw",
    });
    result
}

/// A game under way: what is being thought about, and what was sent.
struct Play<'p, 'a> {
    session: &'p mut Session<'a>,
    game: &'p mut ServerGame,
    memory: &'p mut Memory,
    statistics: &'p mut Statistics,
    mode: Mode,
    found: BestLine,
    /// The last line found, for the user.
    shown: Shown,
    sent: Option<Sent>,
    /// When the turn began.
    turn: Instant,
    /// When we came to the game, or back to it.
    came: Instant,
    /// Hopeless moves in a row.
    hopeless: u32,
    restarts: u32,
    reminded: Instant,
}

impl<'a> Play<'_, 'a> {
    fn log(&self) -> &'a Log {
        self.session.link.context.log
    }

    fn follow(&mut self) -> Result<GameOutcome, SessionError> {
        if self.game.is_our_turn() {
            self.our_turn()?;
        }
        let mut ending: Option<Instant> = None;
        loop {
            let silent = self.silence_deadline();
            let deadlines = [ending, silent, self.overstep(), Some(Instant::now() + LIVE)];
            self.log().live(|| self.shown.line(self.game, self.turn.elapsed()));
            match self.session.link.wait(deadlines.into_iter().flatten().min())? {
                Woken::Line(line, at) => match self.game.line(&ServerLine::parse(&line))? {
                    Step::Nothing => {}
                    Step::Moved { by, mv, time } => self.moved(by, mv, time, at)?,
                    Step::Ending => {
                        self.mode = Mode::Idle;
                        self.session.player.stop();
                        ending = Some(Instant::now() + VERDICT);
                    }
                    Step::Ended(outcome) => return Ok(outcome),
                    Step::Ignored(why) => {
                        self.log().say(&format!("ignored `{}`: {why}", line.escape_debug()))
                    }
                },
                Woken::Closed(reason) => {
                    return self.game.silence().ok_or(LinkError::Lost(reason).into());
                }
                Woken::Thought(thought) => self.thought(thought)?,
                Woken::Timeout => {
                    let now = Instant::now();
                    if ending.is_some_and(|d| now >= d)
                        && let Some(outcome) = self.game.silence()
                    {
                        return Ok(outcome);
                    }
                    if silent.is_some_and(|d| now >= d) {
                        let waited = now.duration_since(self.turn).as_secs();
                        return Err(LinkError::Silent("move", waited).into());
                    }
                    if self.overstep().is_some_and(|d| now >= d) {
                        self.log().warn("the engine oversteps its time");
                        self.reminded = now;
                        self.session.player.stop();
                    }
                }
            }
        }
    }

    /// When the server must have said something: the flag of the side to move has long fallen.
    fn silence_deadline(&self) -> Option<Instant> {
        let budget = self.game.clock.budget(self.game.position.side_to_move())?;
        Some(self.turn.max(self.came) + Duration::from_millis(budget) + FLAG)
    }

    /// When our player must be reminded of the time.
    fn overstep(&self) -> Option<Instant> {
        if !matches!(self.mode, Mode::Own) {
            return None;
        }
        let budget = self.game.clock.budget(self.game.our_color())?;
        let end = self.turn + Duration::from_millis(budget.saturating_sub(self.memory.lag.margin()));
        Some(end.max(self.reminded + REMIND))
    }

    fn think(&mut self, expected: Option<Move>) {
        self.memory.search += 1;
        self.found = BestLine::default();
        let mut text = self.game.text();
        text.moves.extend(expected.iter().map(Move::to_string));
        let mut allowance = Allowance::of(&self.game.clock, self.game.our_color(), self.memory.lag.margin());
        if expected.is_none() {
            // a broken connection or a dead engine may have cost a part of the turn
            allowance.spend(self.turn.elapsed());
        }
        self.session.player.go(self.memory.search, &text, &allowance, expected.is_some());
        self.mode = match expected {
            Some(expected) => Mode::Ponder { expected, early: None },
            None => Mode::Own,
        };
    }

    /// Our turn has begun: declare, or think.
    fn our_turn(&mut self) -> Result<(), SessionError> {
        if declares(self.game) {
            self.mode = Mode::Idle;
            self.session.player.stop();
            return self.declare();
        }
        self.think(None);
        Ok(())
    }

    fn declare(&mut self) -> Result<(), SessionError> {
        self.log().say("declaring a win");
        self.game.speak();
        Ok(self.session.link.send(&ClientLine::DeclareWin)?)
    }

    fn resign(&mut self, why: &str) -> Result<(), SessionError> {
        self.log().say(&format!("resigning: {why}"));
        self.game.speak();
        Ok(self.session.link.send(&ClientLine::Resign)?)
    }

    /// A move was played.
    fn moved(&mut self, by: Color, mv: Move, time: Option<u64>, at: Instant) -> Result<(), SessionError> {
        self.turn = at;
        self.game.turn = Some(at);
        if by != self.game.our_color() {
            return self.opponent_moved(mv);
        }
        let Some(sent) = self.sent.take() else {
            // sent before a reconnection: the present search is of an earlier position
            self.memory.search += 1;
            self.mode = Mode::Idle;
            self.session.player.stop();
            return Ok(());
        };
        if let Some(text) = sent.comment {
            // kept as floodgate's server does
            self.game.remark(text);
        }
        let echo = at.saturating_duration_since(sent.at).as_millis() as u64;
        self.memory.lag.observe(self.game.clock.control(by), echo, sent.own, time);
        if self.session.link.context.settings.ponder
            && let Some(Ok(expected)) = sent.ponder.map(|text| self.game.position.parse_move(&text))
        {
            self.think(Some(expected));
        }
        Ok(())
    }

    fn opponent_moved(&mut self, mv: Move) -> Result<(), SessionError> {
        match std::mem::replace(&mut self.mode, Mode::Idle) {
            Mode::Ponder { expected, early } if expected == mv => {
                if declares(self.game) {
                    self.session.player.stop();
                    return self.declare();
                }
                self.mode = Mode::Own;
                match early {
                    Some(best) => self.answer(&best, None),
                    None => {
                        self.session.player.ponderhit();
                        Ok(())
                    }
                }
            }
            _ => self.our_turn(),
        }
    }

    fn thought(&mut self, thought: Thought) -> Result<(), SessionError> {
        match thought {
            Thought::Line { search, score, depth, nodes, pv } => {
                if search == self.memory.search {
                    // while it ponders, the line is of a position that may never come
                    let thinking = matches!(self.mode, Mode::Own);
                    let best = pv.first().filter(|_| thinking);
                    let best = best.and_then(|m| self.game.position.parse_move(m).ok());
                    self.shown = Shown { best, score, depth };
                    self.found = BestLine { score, pv, depth, nodes };
                }
            }
            Thought::Best { search, best, ponder } => {
                self.session.player.finished();
                if search != self.memory.search {
                    return Ok(());
                }
                match &mut self.mode {
                    Mode::Own => return self.answer(&best, ponder),
                    Mode::Ponder { early, .. } => *early = Some(best),
                    Mode::Idle => {}
                }
            }
            Thought::Remark(text) => self.log().say(&format!("engine: {text}")),
            Thought::Lost(what) => return self.lost(&what),
        }
        Ok(())
    }

    /// The player has died: starts it again, a few times.
    fn lost(&mut self, what: &str) -> Result<(), SessionError> {
        self.log().warn(&format!("engine: {what}"));
        self.mode = Mode::Idle;
        if self.game.is_ending() {
            return Ok(());
        }
        self.restarts += 1;
        let ready = self.restarts <= RESTARTS
            && match self.session.player.prepare() {
                Ok(()) => true,
                Err(e) => {
                    self.log().warn(&e.to_string());
                    false
                }
            };
        if ready {
            self.session.player.new_game(self.game.summary.max_moves, self.game.declaration_rule());
            if self.game.is_our_turn() && self.sent.is_none() { self.our_turn() } else { Ok(()) }
        } else if self.game.is_our_turn() && self.sent.is_none() {
            self.resign("there is no engine to play with")
        } else {
            Ok(())
        }
    }

    /// Sends what the player wants to play, if the rules allow it.
    fn answer(&mut self, best: &str, ponder: Option<String>) -> Result<(), SessionError> {
        self.mode = Mode::Idle;
        let found = std::mem::take(&mut self.found);
        match best {
            // by a rule of the engine's own, if it must be: resigning is never better
            "win" => return self.declare(),
            "resign" => return self.resign("the engine resigns"),
            _ => {}
        }
        let mv = match self.game.position.parse_move(best) {
            Ok(mv) => mv,
            Err(e) => {
                self.log().warn(&format!(
                    "the engine's answer `{}` is illegal: {e}; {}",
                    best.escape_debug(),
                    self.game.position.sfen()
                ));
                return self.resign("the engine plays by other rules");
            }
        };
        if self.is_hopeless(found.score) {
            return self.resign("--resign-moves scores in a row were below --resign");
        }
        self.statistics.depths.extend(found.depth);
        self.statistics.nodes += found.nodes.unwrap_or(0);
        let remark = found.score.filter(|_| self.session.link.context.settings.comments);
        let remark = remark.map(|score| comment(&self.game.position, mv, score, &found.pv));
        self.session.link.send(&ClientLine::Move { text: &move_text(mv), comment: remark.as_deref() })?;
        let at = Instant::now();
        let own = at.saturating_duration_since(self.turn).as_millis() as u64;
        self.sent = Some(Sent { at, own, ponder, comment: remark });
        Ok(())
    }

    fn is_hopeless(&mut self, score: Option<UsiScore>) -> bool {
        let Some(bound) = self.session.link.context.settings.resign else { return false };
        let lost = score.is_some_and(|s| s.centipawns() <= -bound);
        self.hopeless = if lost { self.hopeless + 1 } else { 0 };
        self.hopeless >= self.session.link.context.settings.resign_moves
    }
}

/// Whether we may declare a win now, by the server's rule.
fn declares(game: &ServerGame) -> bool {
    let wins = |rule| game.position.declaration_win(rule) == Some(Move::WIN);
    game.is_our_turn() && game.declaration_rule().is_some_and(wins)
}

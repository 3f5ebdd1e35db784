//! Playing a game: when to think, what to send. Continues [`Session`].

use super::clock::TimeControl;
use super::comment::comment;
use super::game::{Game, Outcome, Step};
use super::player::{Allowance, Thought};
use super::protocol::{ClientLine, ServerLine, Verdict};
use super::session::{Session, SessionError, Woken};
use crate::position::EnteringKingRule;
use crate::record::csa::move_text;
use crate::types::{Color, Move};
use crate::usi_client::Score;
use std::time::{Duration, Instant};

/// A server may notice a fallen flag only at its next look, a minute later.
const FLAG: Duration = Duration::from_secs(150);
/// The verdict follows its reason at once, if there is one.
const VERDICT: Duration = Duration::from_secs(3);
/// How often a player that oversteps its time is reminded.
const REMIND: Duration = Duration::from_millis(200);
/// How often in a game a dead engine is started again.
const RESTARTS: u32 = 3;

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

/// What is being thought about, and what was sent.
pub(super) struct Thinking {
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

impl Thinking {
    pub(super) fn new(now: Instant) -> Thinking {
        Thinking {
            mode: Mode::Idle,
            found: Found::default(),
            sent: None,
            turn: now,
            hopeless: 0,
            restarts: 0,
            reminded: now,
        }
    }
}

impl Session<'_> {
    /// Plays a game to its end.
    ///
    /// # Errors
    /// When the connection breaks, or the server says what cannot be. The game then has its moves so far.
    pub fn play(&mut self, game: &mut Game) -> Result<Outcome, SessionError> {
        self.player.new_game(game.summary.max_moves);
        let result = self.follow(game);
        self.thinking.mode = Mode::Idle;
        self.player.game_over(match result.as_ref().ok().and_then(|o| o.verdict) {
            Some(Verdict::Win) => "win",
            Some(Verdict::Lose) => "lose",
            _ => "draw",
        });
        result
    }

    fn follow(&mut self, game: &mut Game) -> Result<Outcome, SessionError> {
        self.thinking.turn = Instant::now();
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
                        self.thinking.mode = Mode::Idle;
                        self.player.stop();
                        ending = Some(Instant::now() + VERDICT);
                    }
                    Step::Ended(outcome) => return Ok(outcome),
                    Step::Ignored(why) => {
                        self.context.log.say(&format!("ignored `{}`: {why}", line.escape_debug()))
                    }
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
                        return Err(SessionError::Silent(
                            "move",
                            now.duration_since(self.thinking.turn).as_secs(),
                        ));
                    }
                    if self.overstep(game).is_some_and(|d| now >= d) {
                        self.context.log.warn("the engine oversteps its time");
                        self.thinking.reminded = now;
                        self.player.stop();
                    }
                }
            }
        }
    }

    /// When the server must have said something: the flag of the side to move has long fallen.
    fn silence_deadline(&self, game: &Game) -> Option<Instant> {
        let budget = game.clock.budget(game.position.side_to_move())?;
        Some(self.thinking.turn + Duration::from_millis(budget) + FLAG)
    }

    /// When our player must be reminded of the time.
    fn overstep(&self, game: &Game) -> Option<Instant> {
        if !matches!(self.thinking.mode, Mode::Own) {
            return None;
        }
        let budget = game.clock.budget(game.our_color())?;
        let end = self.thinking.turn + Duration::from_millis(budget.saturating_sub(self.memory.lag.margin()));
        Some(end.max(self.thinking.reminded + REMIND))
    }

    fn allowance(&self, game: &Game) -> Allowance {
        let each = |of: fn(&TimeControl) -> u64| Color::ALL.map(|c| of(game.clock.control(c)));
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
            margin: self.memory.lag.margin(),
        }
    }

    fn think(&mut self, game: &Game, expected: Option<Move>) {
        self.memory.search += 1;
        self.thinking.found = Found::default();
        let mut text = game.text();
        text.moves.extend(expected.iter().map(Move::to_string));
        self.player.go(self.memory.search, &text, &self.allowance(game), expected.is_some());
        self.thinking.mode = match expected {
            Some(expected) => Mode::Ponder { expected, early: None },
            None => Mode::Own,
        };
    }

    /// Our turn has begun: declare, or think.
    fn our_turn(&mut self, game: &mut Game) -> Result<(), SessionError> {
        if declares(game) {
            self.thinking.mode = Mode::Idle;
            self.player.stop();
            return self.declare(game);
        }
        self.think(game, None);
        Ok(())
    }

    fn declare(&mut self, game: &mut Game) -> Result<(), SessionError> {
        self.context.log.say("declaring a win");
        game.speak();
        self.send(&ClientLine::DeclareWin)
    }

    fn resign(&mut self, game: &mut Game, why: &str) -> Result<(), SessionError> {
        self.context.log.say(&format!("resigning: {why}"));
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
        self.thinking.turn = at;
        if by != game.our_color() {
            return self.opponent_moved(game, mv);
        }
        let Some(sent) = self.thinking.sent.take() else {
            // not from us, in this connection at least: what we think about is past
            self.memory.search += 1;
            self.thinking.mode = Mode::Idle;
            self.player.stop();
            return Ok(());
        };
        if let Some(text) = sent.comment {
            // as floodgate's server keeps it
            game.remark(format!("*{text}"));
        }
        let echo = at.saturating_duration_since(sent.at).as_millis() as u64;
        self.memory.lag.observe(game.clock.control(by), echo, sent.own, time);
        if self.context.settings.ponder
            && let Some(Ok(expected)) = sent.ponder.map(|text| game.position.parse_move(&text))
        {
            self.think(game, Some(expected));
        }
        Ok(())
    }

    fn opponent_moved(&mut self, game: &mut Game, mv: Move) -> Result<(), SessionError> {
        match std::mem::replace(&mut self.thinking.mode, Mode::Idle) {
            Mode::Ponder { expected, early } if expected == mv => {
                if declares(game) {
                    self.player.stop();
                    return self.declare(game);
                }
                self.thinking.mode = Mode::Own;
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
                if search == self.memory.search {
                    self.thinking.found = Found { score, pv, depth, nodes };
                }
            }
            Thought::Best { search, best, ponder } => {
                self.player.finished();
                if search != self.memory.search {
                    return Ok(());
                }
                match &mut self.thinking.mode {
                    Mode::Own => return self.answer(game, &best, ponder),
                    Mode::Ponder { early, .. } => *early = Some(best),
                    Mode::Idle => {}
                }
            }
            Thought::Remark(text) => self.context.log.say(&format!("engine: {text}")),
            Thought::Lost(what) => return self.lost(game, &what),
        }
        Ok(())
    }

    /// The player has died: another try, while there is time.
    fn lost(&mut self, game: &mut Game, what: &str) -> Result<(), SessionError> {
        self.context.log.warn(&format!("engine: {what}"));
        let thinking = !matches!(std::mem::replace(&mut self.thinking.mode, Mode::Idle), Mode::Idle);
        // one that was replaced, or that goes when the game is over
        if !thinking && !game.is_our_turn() {
            return Ok(());
        }
        self.thinking.restarts += 1;
        let ready = self.thinking.restarts <= RESTARTS
            && match self.player.prepare() {
                Ok(()) => true,
                Err(e) => {
                    self.context.log.warn(&e.to_string());
                    false
                }
            };
        if ready {
            self.player.new_game(game.summary.max_moves);
            if game.is_our_turn() && self.thinking.sent.is_none() { self.our_turn(game) } else { Ok(()) }
        } else if game.is_our_turn() && self.thinking.sent.is_none() {
            self.resign(game, "there is no engine to play with")
        } else {
            Ok(())
        }
    }

    /// Sends what the player wants to play, if the rules allow it.
    fn answer(&mut self, game: &mut Game, best: &str, ponder: Option<String>) -> Result<(), SessionError> {
        self.thinking.mode = Mode::Idle;
        let found = std::mem::take(&mut self.thinking.found);
        match best {
            "win" if declares(game) => return self.declare(game),
            "resign" => return self.resign(game, "the engine says so"),
            _ => {}
        }
        let mv = match game.position.parse_move(best) {
            Ok(mv) => mv,
            Err(e) => {
                self.context.log.warn(&format!(
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
        let remark = found.score.filter(|_| self.context.settings.comments);
        let remark = remark.map(|score| comment(&game.position, mv, score, &found.pv));
        self.send(&ClientLine::Move { text: &move_text(mv), comment: remark.as_deref() })?;
        let at = Instant::now();
        let own = at.saturating_duration_since(self.thinking.turn).as_millis() as u64;
        self.thinking.sent = Some(Sent { at, own, ponder, comment: remark });
        Ok(())
    }

    fn is_hopeless(&mut self, score: Option<Score>) -> bool {
        let Some(bound) = self.context.settings.resign else { return false };
        let lost = score.is_some_and(|s| s.centipawns() <= -bound);
        self.thinking.hopeless = if lost { self.thinking.hopeless + 1 } else { 0 };
        self.thinking.hopeless >= self.context.settings.resign_moves
    }
}

/// Whether we may declare a win now.
fn declares(game: &Game) -> bool {
    let rule = game.declaration_rule();
    rule != EnteringKingRule::None
        && game.is_our_turn()
        && game.position.declaration_win(rule) == Some(Move::WIN)
}

//! One game as the server reports it: [`ServerGame`] follows its lines. Pure: no clock is read, nothing is sent.

use super::clock::Clock;
use super::player::GameText;
use super::protocol::{Reason, ServerLine, Verdict};
use super::summary::GameSummary;
use crate::position::{EnteringKingRule, Position};
use crate::record::csa::{MoveTextError, move_text, read_move, sign};
use crate::record::{End, Ply, Record, Special};
use crate::types::{Color, Move};
use std::time::{Duration, Instant};

/// A game under way.
pub struct ServerGame {
    /// What was agreed to.
    pub summary: GameSummary,
    /// After the last move, with its history.
    pub position: Position,
    /// As the server has charged it.
    pub clock: Clock,
    /// The game so far.
    pub record: Record,
    /// When the turn began, as far as whoever plays has noted it; over a broken connection the server's clock runs on.
    pub turn: Option<Instant>,
    reason: Option<Reason>,
    /// The last `%` line.
    special: Option<String>,
    /// Whether we have resigned or declared a win.
    spoke: bool,
}

/// What a line did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It does not concern the game.
    Nothing,
    /// A move was played, by that side, and charged so (T value).
    Moved {
        /// Who moved.
        by: Color,
        /// The move.
        mv: Move,
        /// What the clock charged.
        time: Option<u64>,
    },
    /// The reason of the end is known, its verdict not yet.
    Ending,
    /// The game is over.
    Ended(GameOutcome),
    /// The line is ignored; with the reason.
    Ignored(&'static str),
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameOutcome {
    /// From our view; none when the server did not say and it does not follow.
    pub verdict: Option<Verdict>,
    /// The server's word.
    pub reason: Option<Reason>,
    /// What stands for it in the record.
    pub special: Special,
}

/// The server's game is not the one that we have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    /// The server's move is not legal here.
    #[error("the server's move cannot be played here: {0}")]
    Move(#[from] MoveTextError),
    /// After a reconnection; with the server's position.
    #[error("the server goes on with another position than the one left: {0}")]
    Resume(String),
}

impl ServerGame {
    /// A game at its start, or after the moves of the summary.
    pub fn new(summary: GameSummary) -> ServerGame {
        let mut record = Record::new(summary.root.clone());
        record.names = summary.names.clone();
        record.headers.push(("EVENT".into(), summary.game_id.clone()));
        let mut game = ServerGame {
            position: summary.root.clone(),
            clock: Clock::new(summary.times),
            record,
            turn: None,
            reason: None,
            special: None,
            spoke: false,
            summary,
        };
        for (m, time) in game.summary.moves.clone() {
            game.play(m, time);
        }
        // Servers charge these moves, or begin with the whole time after them: less is ours under either reading. The
        // opponent's is left as it is, for we wait for that flag.
        game.clock.cap(game.our_color());
        game
    }

    /// The colour we play.
    pub fn our_color(&self) -> Color {
        self.summary.our_color
    }

    /// Whether we are to move.
    pub fn is_our_turn(&self) -> bool {
        self.position.side_to_move() == self.our_color()
    }

    /// Whether the reason of the end is known.
    pub fn is_ending(&self) -> bool {
        self.reason.is_some()
    }

    /// The rule of declared wins, if the server names one: rshogi's in a line of its own, others that of 27 points.
    pub fn declaration_rule(&self) -> Option<EnteringKingRule> {
        let value =
            |key: &str| self.summary.other.iter().find(|(k, _)| k == key).map(|(_, value)| value.trim());
        let named = value("Entering_King_Rule").and_then(|name| name.parse().ok());
        let points = || value("Declaration").filter(|value| value.starts_with("Jishogi"));
        named.or_else(|| points().map(|_| EnteringKingRule::CsaRule27))
    }

    /// The game for an engine.
    pub fn text(&self) -> GameText {
        GameText {
            sfen: self.summary.root.sfen(),
            moves: self.record.moves.iter().map(|ply| ply.mv.to_string()).collect(),
        }
    }

    /// Notes that we resign or declare a win.
    pub fn speak(&mut self) {
        self.spoke = true;
    }

    /// Adds a remark to the last move of the record.
    pub fn remark(&mut self, text: String) {
        match self.record.moves.last_mut() {
            Some(ply) => ply.comments.push(text),
            None => self.record.comments.push(text),
        }
    }

    fn play(&mut self, mv: Move, time: Option<u64>) {
        let by = self.position.side_to_move();
        let time_charged = time.map(|t| Duration::from_millis(t.saturating_mul(self.clock.control(by).unit)));
        self.clock.charge(by, time.unwrap_or(0));
        self.position.do_move(mv);
        self.turn = None;
        self.record.moves.push(Ply { time: time_charged, ..Ply::of(mv) });
    }

    /// Follows a line.
    ///
    /// # Errors
    /// When a move of the server is not legal. Other lines without meaning are ignored.
    pub fn line(&mut self, line: &ServerLine<'_>) -> Result<Step, GameError> {
        Ok(match line {
            ServerLine::KeepAlive | ServerLine::Extended(_) => Step::Nothing,
            ServerLine::Move { .. } if self.is_ending() => Step::Ignored("a move after the end"),
            ServerLine::Move { text, time } => {
                let by = self.position.side_to_move();
                match read_move(&self.position, text) {
                    Ok(mv) => {
                        self.play(mv, *time);
                        Step::Moved { by, mv, time: *time }
                    }
                    Err(_) if self.is_last(text) => Step::Ignored("that move is played already"),
                    Err(e) => return Err(e.into()),
                }
            }
            ServerLine::Special { text, .. } => {
                self.special = Some((*text).into());
                Step::Nothing
            }
            ServerLine::Reason(reason) => {
                self.reason = Some(*reason);
                Step::Ending
            }
            ServerLine::Verdict(verdict) => Step::Ended(self.end(Some(*verdict))),
            _ => Step::Ignored("not a line of a game"),
        })
    }

    fn is_last(&self, text: &str) -> bool {
        self.record.moves.last().is_some_and(|ply| move_text(ply.mv) == text)
    }

    /// No line will follow. The game is over if its reason is known; the verdict follows from it where it can.
    pub fn silence(&mut self) -> Option<GameOutcome> {
        let reason = self.reason?;
        let verdict = match reason {
            Reason::Sennichite => Some(Verdict::Draw),
            Reason::MaxMoves => Some(Verdict::Censored),
            Reason::Resign | Reason::Jishogi | Reason::IllegalMove | Reason::TimeUp => {
                let ours = match reason {
                    Reason::Resign | Reason::Jishogi => self.spoke,
                    // only the side to move can break a rule or run out of time
                    _ => self.is_our_turn(),
                };
                let wins = if reason == Reason::Jishogi { ours } else { !ours };
                Some(if wins { Verdict::Win } else { Verdict::Lose })
            }
            Reason::IllegalAction | Reason::OuteSennichite | Reason::Abnormal => None,
        };
        Some(self.end(verdict))
    }

    /// The connection broke, and nothing is known of the end.
    pub fn abandon(&mut self) -> GameOutcome {
        self.end(None)
    }

    fn end(&mut self, verdict: Option<Verdict>) -> GameOutcome {
        let turn = self.position.side_to_move();
        let loser = match verdict {
            Some(Verdict::Win) => Some(!self.our_color()),
            Some(Verdict::Lose) => Some(self.our_color()),
            _ => None,
        };
        let foul = match loser {
            Some(loser) if loser != turn => Special::IllegalAction(loser),
            _ => Special::IllegalMove,
        };
        let special = match self.reason {
            Some(Reason::Resign) => Special::Resign,
            Some(Reason::TimeUp) => Special::TimeUp,
            Some(Reason::IllegalMove | Reason::IllegalAction) => foul,
            Some(Reason::Sennichite) => Special::Repetition,
            Some(Reason::OuteSennichite) => loser.map_or(Special::Repetition, Special::IllegalAction),
            Some(Reason::Jishogi) if self.special.as_deref() == Some("%KACHI") => Special::Declaration,
            Some(Reason::Jishogi) => Special::Impasse,
            Some(Reason::MaxMoves) => Special::MaxMoves,
            Some(Reason::Abnormal) | None => Special::Interrupted,
        };
        let mut end = End::of(special);
        end.asides.extend(self.reason.map(|r| r.to_string()));
        end.asides.push(match verdict {
            Some(verdict) => format!(
                "{verdict} ({}{})",
                sign(self.our_color()),
                self.summary.names[self.our_color().index()]
            ),
            None => "no result".into(),
        });
        self.record.end = Some(end);
        GameOutcome { verdict, reason: self.reason, special }
    }

    /// Goes on with a game that a broken connection interrupted, as the server now describes it: with the moves since
    /// then, or just with the position.
    ///
    /// # Errors
    /// When that is another position than ours and not one move later.
    pub fn resume(
        &mut self,
        summary: GameSummary,
        last_move: Option<&str>,
    ) -> Result<Option<Move>, GameError> {
        let server = ServerGame::new(summary);
        let same = |a: &Position, b: &Position| a.key() == b.key() && a.board() == b.board();
        self.record.end = None;
        (self.reason, self.special) = (None, None);
        self.summary.reconnect_token = server.summary.reconnect_token.clone();
        if same(&self.position, &server.position) {
            return Ok(None);
        }
        if let Some(text) = last_move {
            let m = read_move(&self.position, text)?;
            let mut next = self.position.clone();
            next.do_move(m);
            if same(&next, &server.position) {
                self.play(m, None);
                return Ok(Some(m));
            }
        }
        // all moves are in the summary: ours must be the first of them
        let ours = self.record.moves.len();
        let theirs = &server.record.moves;
        let agree = theirs.len() > ours && theirs.iter().zip(&self.record.moves).all(|(a, b)| a.mv == b.mv);
        if agree && same(&self.summary.root, &server.summary.root) {
            for (m, time) in &server.summary.moves[ours..] {
                self.play(*m, *time);
            }
            return Ok(server.summary.moves.last().map(|(m, _)| *m));
        }
        Err(GameError::Resume(server.position.sfen()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::SummaryReader;
    use super::*;

    fn game(turn: char, moves: &str) -> ServerGame {
        let text = format!(
            "Game_ID:t+g-60-5+a+b+1\nName+:a\nName-:b\nYour_Turn:{turn}\nDeclaration:Jishogi 1.1\nBEGIN Time\nTotal_Time:60\nByoyomi:5\nEND Time\nBEGIN Position\nPI\n+\n{moves}END Position\nEND Game_Summary"
        );
        let mut reader = SummaryReader::default();
        ServerGame::new(text.lines().find_map(|l| reader.line(l).unwrap()).unwrap())
    }

    fn feed(game: &mut ServerGame, lines: &str) -> Step {
        lines.lines().map(|l| game.line(&ServerLine::parse(l)).unwrap()).last().unwrap()
    }

    fn outcome(turn: char, lines: &str) -> GameOutcome {
        match feed(&mut game(turn, ""), lines) {
            Step::Ended(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_ending() {
        use {Reason as R, Special as S, Verdict as V};
        let cases = [
            ("%TORYO\n#RESIGN\n#LOSE", V::Lose, R::Resign, S::Resign),
            ("#TIME_UP\n#WIN", V::Win, R::TimeUp, S::TimeUp),
            ("#ILLEGAL_MOVE\n#LOSE", V::Lose, R::IllegalMove, S::IllegalMove),
            ("+7776FU,T1\n#ILLEGAL_MOVE\n#LOSE", V::Lose, R::IllegalMove, S::IllegalAction(Color::Black)),
            ("#SENNICHITE\n#DRAW", V::Draw, R::Sennichite, S::Repetition),
            ("#OUTE_SENNICHITE\n#WIN", V::Win, R::OuteSennichite, S::IllegalAction(Color::White)),
            ("%KACHI,T0\n%KACHI\n#JISHOGI\n#WIN", V::Win, R::Jishogi, S::Declaration),
            ("%KACHI,T0\n%KACHI\n#ILLEGAL_MOVE\n#LOSE", V::Lose, R::IllegalMove, S::IllegalMove),
            ("#MAX_MOVES\n#CENSORED", V::Censored, R::MaxMoves, S::MaxMoves),
            ("#ABNORMAL\n#WIN", V::Win, R::Abnormal, S::Interrupted),
        ];
        for (lines, verdict, reason, special) in cases {
            let expected = GameOutcome { verdict: Some(verdict), reason: Some(reason), special };
            assert_eq!(outcome('+', lines), expected, "{lines}");
        }
        let aborted = GameOutcome { verdict: Some(V::Chudan), reason: None, special: S::Interrupted };
        assert_eq!(outcome('-', "#CHUDAN"), aborted);
    }

    #[test]
    fn what_follows_when_the_verdict_is_lost() {
        let verdict = |turn, lines, spoke| {
            let mut game = game(turn, "");
            feed(&mut game, lines);
            if spoke {
                game.speak();
            }
            game.silence().map(|o| o.verdict)
        };
        assert_eq!(verdict('+', "%TORYO\n#RESIGN", true), Some(Some(Verdict::Lose)));
        assert_eq!(verdict('+', "%TORYO\n#RESIGN", false), Some(Some(Verdict::Win)));
        assert_eq!(verdict('+', "%KACHI\n#JISHOGI", true), Some(Some(Verdict::Win)));
        assert_eq!(verdict('+', "#TIME_UP", false), Some(Some(Verdict::Lose)));
        assert_eq!(verdict('-', "#ILLEGAL_MOVE", false), Some(Some(Verdict::Win)));
        assert_eq!(verdict('+', "#SENNICHITE", false), Some(Some(Verdict::Draw)));
        assert_eq!(verdict('+', "#ABNORMAL", false), Some(None));
        assert_eq!(verdict('+', "+7776FU,T1", false), None);
    }

    #[test]
    fn moves_are_charged_and_nonsense_is_ignored() {
        let mut g = game('-', "+7776FU,T12\n");
        assert_eq!((g.clock.left(Color::Black), g.record.moves.len()), (48_000, 1));
        assert!(g.is_our_turn());
        let step = feed(&mut g, "-3334FU,T7");
        assert!(matches!(step, Step::Moved { by: Color::White, time: Some(7), .. }));
        assert_eq!(g.clock.left(Color::White), 53_000);
        assert!(matches!(feed(&mut g, "-3334FU,T7"), Step::Ignored(_)));
        assert!(matches!(feed(&mut g, "START:x\n#NEW"), Step::Ignored(_)));
        assert_eq!(feed(&mut g, "\n"), Step::Nothing);
        assert!(g.line(&ServerLine::parse("+9999FU,T1")).is_err());
        assert_eq!(
            g.text().to_string(),
            format!("position sfen {} moves 7g7f 3c3d", Position::startpos().sfen())
        );
        assert_eq!(g.declaration_rule(), Some(EnteringKingRule::CsaRule27));
    }

    #[test]
    fn interrupted_games_go_on() {
        let mut g = game('+', "");
        feed(&mut g, "+7776FU,T1");
        let again = |moves: &str| game('+', moves).summary;
        assert_eq!(g.resume(again("+7776FU,T1\n"), None), Ok(None));
        let reply = g.resume(again("+7776FU,T1\n-3334FU,T9\n"), None).unwrap();
        assert_eq!(reply.map(|m| m.to_string()).as_deref(), Some("3c3d"));
        assert_eq!((g.clock.left(Color::White), g.record.moves.len()), (51_000, 2));
        // just a position, and the last move
        let mut bare = again("");
        bare.root = {
            let mut p = g.position.clone();
            p.do_move(p.parse_move("2g2f").unwrap());
            Position::from_sfen(&p.sfen()).unwrap()
        };
        assert!(g.resume(bare.clone(), Some("+2726FU")).unwrap().is_some());
        assert!(matches!(g.resume(again(""), None), Err(GameError::Resume(_))));
    }
}

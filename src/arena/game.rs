//! One game between two engines: [`play`]. Our own rules decide, never an engine's word.

use super::limits::{Clock, Limits};
use crate::openings::Opening;
use crate::position::{EnteringKingRule, GameRepetition, Position};
use crate::types::Color;
use crate::usi_client::{EngineError, EngineProcess};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What ends a game beside the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conduct {
    /// A side has lost when its own score is at or below minus this (centipawns) ...
    pub resign_score: Option<i32>,
    /// ... for so many of its moves in a row.
    pub resign_moves: u32,
    /// The game is drawn when both scores are at most this ...
    pub draw_score: Option<i32>,
    /// ... for so many plies in a row ...
    pub draw_plies: u32,
    /// ... after this ply.
    pub draw_after: u32,
    /// The game is drawn after so many plies.
    pub max_ply: u32,
    /// A move may overstep the clock by so many milliseconds.
    pub margin: u64,
    /// An engine hangs when its move comes so many milliseconds after all its time.
    pub patience: u64,
    /// Name of the entering-king rule.
    pub rule: String,
}

/// The winner, or none for a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Winner {
    Black,
    White,
    Draw,
}

impl Winner {
    pub fn of(color: Color) -> Winner {
        match color {
            Color::Black => Winner::Black,
            Color::White => Winner::White,
        }
    }

    /// Half points of `color`: 2, 1 or 0.
    pub fn half_points(self, color: Color) -> usize {
        match self {
            Winner::Draw => 1,
            w if w == Winner::of(color) => 2,
            _ => 0,
        }
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    Mate,
    Resign,
    Repetition,
    PerpetualCheck,
    Declaration,
    MaxMoves,
    /// By the scores: lost, or drawn.
    Adjudication,
    // from here on: an engine's fault, which loses
    IllegalMove,
    FalseDeclaration,
    TimeLoss,
    Crash,
    Hang,
}

impl Reason {
    /// Whether the loser did what no engine should do.
    pub fn is_fault(self) -> bool {
        self >= Reason::IllegalMove
    }

    pub fn name(self) -> &'static str {
        match self {
            Reason::Mate => "mate",
            Reason::Resign => "resign",
            Reason::Repetition => "repetition",
            Reason::PerpetualCheck => "perpetual check",
            Reason::Declaration => "declaration",
            Reason::MaxMoves => "max moves",
            Reason::Adjudication => "adjudication",
            Reason::IllegalMove => "illegal move",
            Reason::FalseDeclaration => "false declaration",
            Reason::TimeLoss => "time loss",
            Reason::Crash => "crash",
            Reason::Hang => "hang",
        }
    }
}

/// A move after the opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ply {
    #[serde(rename = "m")]
    pub mv: String,
    /// Centipawns, the mover's view.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none", default)]
    pub score: Option<i32>,
    #[serde(rename = "d", skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    #[serde(rename = "n", skip_serializing_if = "Option::is_none", default)]
    pub nodes: Option<u64>,
    /// Milliseconds.
    #[serde(rename = "t")]
    pub ms: f64,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub winner: Winner,
    pub reason: Reason,
    /// More about a fault.
    pub detail: String,
    pub plies: Vec<Ply>,
}

/// Plays a game from an opening; `players` and `limits` are Black's and White's. `None` when `abandon` says so.
/// An engine at fault may be unusable afterwards: see [`Reason::is_fault`].
pub fn play(
    mut players: [&mut EngineProcess; 2],
    limits: [&Limits; 2],
    opening: &Opening,
    conduct: &Conduct,
    abandon: &dyn Fn() -> bool,
) -> Option<Played> {
    let rule: EnteringKingRule = conduct.rule.parse().unwrap_or(EnteringKingRule::CsaRule27);
    let mut pos = opening.position();
    let mut game = Game {
        clock: Clock::new(limits, conduct.margin),
        text: format!("position {opening}"),
        has_moves: !opening.moves.is_empty(),
        plies: Vec::new(),
        scores: Scores::default(),
    };
    let verdict = 'game: {
        if let Some(v) = ended(&pos, conduct) {
            break 'game v;
        }
        for (player, color) in players.iter_mut().zip(Color::ALL) {
            if let Err(e) = player.new_game() {
                break 'game fault(color, &e);
            }
        }
        let verdict = loop {
            if abandon() {
                return None;
            }
            let player = &mut *players[pos.side_to_move().index()];
            if let Some(v) = game.one_move(&mut pos, player, conduct, rule) {
                break v;
            }
        };
        for (player, color) in players.iter_mut().zip(Color::ALL) {
            player.game_over(["lose", "draw", "win"][verdict.0.half_points(color)]);
        }
        verdict
    };
    let (winner, reason, detail) = verdict;
    Some(Played { winner, reason, detail, plies: game.plies })
}

type Verdict = (Winner, Reason, String);

fn verdict(winner: Winner, reason: Reason) -> Verdict {
    (winner, reason, String::new())
}

/// The loss of `loser` by what its engine did.
fn fault(loser: Color, error: &EngineError) -> Verdict {
    let reason = match error {
        EngineError::Hang { .. } => Reason::Hang,
        _ => Reason::Crash,
    };
    (Winner::of(!loser), reason, error.to_string())
}

/// What the rules say about the position that a move led to.
fn ended(pos: &Position, conduct: &Conduct) -> Option<Verdict> {
    match pos.game_repetition() {
        Some(GameRepetition::Draw) => return Some(verdict(Winner::Draw, Reason::Repetition)),
        Some(GameRepetition::PerpetualCheck { loser }) => {
            return Some(verdict(Winner::of(!loser), Reason::PerpetualCheck));
        }
        None => {}
    }
    if !pos.has_legal_move() {
        return Some(verdict(Winner::of(!pos.side_to_move()), Reason::Mate));
    }
    (pos.history_len() >= conduct.max_ply as usize).then_some(verdict(Winner::Draw, Reason::MaxMoves))
}

/// A game under way.
struct Game<'a> {
    clock: Clock<'a>,
    /// The `position` command.
    text: String,
    has_moves: bool,
    plies: Vec<Ply>,
    scores: Scores,
}

impl Game<'_> {
    /// Asks the player to move and plays the move; a verdict ends the game.
    fn one_move(
        &mut self,
        pos: &mut Position,
        player: &mut EngineProcess,
        conduct: &Conduct,
        rule: EnteringKingRule,
    ) -> Option<Verdict> {
        let us = pos.side_to_move();
        let patience = self.clock.patience(us, Duration::from_millis(conduct.patience));
        let answer = match player.go(&self.text, &self.clock.go(us), patience) {
            Ok(answer) => answer,
            Err(e) => return Some(fault(us, &e)),
        };
        if !self.clock.spend(us, answer.elapsed) {
            let detail = format!("{} ms for {}", answer.elapsed.as_millis(), answer.best);
            return Some((Winner::of(!us), Reason::TimeLoss, detail));
        }
        let declared = pos.declaration_win(rule);
        match answer.best.as_str() {
            "resign" => return Some(verdict(Winner::of(!us), Reason::Resign)),
            "win" if declared.is_some() => return Some(verdict(Winner::of(us), Reason::Declaration)),
            "win" => return Some((Winner::of(!us), Reason::FalseDeclaration, pos.sfen())),
            _ => {}
        }
        let m = match pos.parse_move(&answer.best) {
            Ok(m) => m,
            Err(e) => {
                let detail = format!("{}: {e}; {}", answer.best, pos.sfen());
                return Some((Winner::of(!us), Reason::IllegalMove, detail));
            }
        };
        self.plies.push(Ply {
            mv: answer.best,
            score: answer.score,
            depth: answer.depth,
            nodes: answer.nodes,
            ms: (answer.elapsed.as_secs_f64() * 1e5).round() / 100.0,
        });
        if declared == Some(m) {
            // the try: the king has arrived
            return Some(verdict(Winner::of(us), Reason::Declaration));
        }
        if !std::mem::replace(&mut self.has_moves, true) {
            self.text += " moves";
        }
        self.text += &format!(" {m}");
        pos.do_move(m);
        ended(pos, conduct).or_else(|| self.scores.see(us, answer.score, pos.history_len() as u32, conduct))
    }
}

/// The scores that may end a game early.
#[derive(Default)]
struct Scores {
    /// Hopeless moves in a row, by colour.
    hopeless: [u32; 2],
    level_plies: u32,
}

impl Scores {
    fn see(&mut self, us: Color, score: Option<i32>, ply: u32, conduct: &Conduct) -> Option<Verdict> {
        let within = |bound: Option<i32>| bound.zip(score);
        let hopeless = &mut self.hopeless[us.index()];
        let lost = within(conduct.resign_score).is_some_and(|(bound, score)| score <= -bound);
        *hopeless = if lost { *hopeless + 1 } else { 0 };
        let level = within(conduct.draw_score).is_some_and(|(bound, score)| score.abs() <= bound);
        self.level_plies = if level { self.level_plies + 1 } else { 0 };
        if lost && *hopeless >= conduct.resign_moves {
            Some(verdict(Winner::of(!us), Reason::Adjudication))
        } else if level && self.level_plies >= conduct.draw_plies && ply >= conduct.draw_after {
            Some(verdict(Winner::Draw, Reason::Adjudication))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conduct() -> Conduct {
        Conduct {
            resign_score: Some(3000),
            resign_moves: 3,
            draw_score: Some(10),
            draw_plies: 4,
            draw_after: 100,
            max_ply: 320,
            margin: 0,
            patience: 1000,
            rule: "CSARule27".into(),
        }
    }

    #[test]
    fn hopeless_and_level_games_end_early() {
        let c = conduct();
        let (b, w) = (Color::Black, Color::White);
        let mut s = Scores::default();
        for (ply, score) in [(50, -3000), (52, -4000)] {
            assert_eq!(s.see(b, Some(score), ply, &c), None);
            assert_eq!(s.see(w, Some(3000), ply + 1, &c), None);
        }
        assert_eq!(s.see(b, Some(-30000), 54, &c), Some(verdict(Winner::White, Reason::Adjudication)));
        let mut s = Scores::default();
        for ply in 97..100 {
            assert_eq!(s.see([b, w][ply as usize % 2], Some(5), ply, &c), None);
        }
        assert_eq!(s.see(b, Some(-10), 100, &c), Some(verdict(Winner::Draw, Reason::Adjudication)));
        assert_eq!(s.see(w, None, 101, &c), None);
        assert_eq!(s.see(b, Some(0), 102, &c), None);
    }

    #[test]
    fn half_points_and_faults() {
        assert_eq!(Winner::Black.half_points(Color::Black), 2);
        assert_eq!(Winner::Black.half_points(Color::White), 0);
        assert_eq!(Winner::Draw.half_points(Color::White), 1);
        assert!(
            Reason::Crash.is_fault() && Reason::IllegalMove.is_fault() && !Reason::Adjudication.is_fault()
        );
    }
}

//! How games end: [`Winner`], [`EndReason`], and [`Adjudication`] by the engines' scores.

use crate::types::Color;
use serde::{Deserialize, Serialize};

/// When a game is adjudicated, and what else ends it apart from the rules of shogi.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adjudication {
    /// A side loses when its own score is at or below minus this (centipawns) ...
    pub resign_score: Option<i32>,
    /// ... for this number of consecutive moves of its own.
    pub resign_moves: u32,
    /// The game is drawn when both scores are at most this ...
    pub draw_score: Option<i32>,
    /// ... for this number of consecutive plies ...
    pub draw_plies: u32,
    /// ... after this ply.
    pub draw_after: u32,
    /// The game is drawn after this number of plies.
    pub max_ply: u32,
    /// Milliseconds by which a move may exceed the clock.
    pub margin: u64,
    /// Milliseconds after the end of its time at which an engine counts as hanging.
    pub patience: u64,
    /// Name of the entering-king rule.
    pub rule: String,
}

impl Default for Adjudication {
    /// Resignation at 3,000 centipawns for three moves, a draw after 320 plies, declarations by 27 points.
    fn default() -> Adjudication {
        Adjudication {
            resign_score: Some(3000),
            resign_moves: 3,
            draw_score: None,
            draw_plies: 16,
            draw_after: 160,
            max_ply: 320,
            margin: 50,
            patience: 120_000,
            rule: "CSARule27".into(),
        }
    }
}

/// The winner of a game, or a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Winner {
    /// Sente.
    Black,
    /// Gote.
    White,
    /// Nobody.
    Draw,
}

impl Winner {
    /// The given colour.
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
pub enum EndReason {
    /// No legal move.
    Mate,
    /// The loser resigned.
    Resign,
    /// Fourfold repetition: a draw.
    Repetition,
    /// Perpetual check, which loses.
    PerpetualCheck,
    /// By the entering-king rule.
    Declaration,
    /// A draw after the maximum number of plies.
    MaxMoves,
    /// The scores decided: a loss or a draw.
    Adjudication,
    // from here on: an engine's fault, which loses
    /// A move that the rules forbid.
    IllegalMove,
    /// A win declared against the rules.
    FalseDeclaration,
    /// Out of time.
    TimeLoss,
    /// The process ended.
    Crash,
    /// No answer.
    Hang,
}

impl EndReason {
    /// Whether the loser's engine was at fault.
    pub fn is_fault(self) -> bool {
        self >= EndReason::IllegalMove
    }

    /// The name in English.
    pub fn name(self) -> &'static str {
        match self {
            EndReason::Mate => "mate",
            EndReason::Resign => "resign",
            EndReason::Repetition => "repetition",
            EndReason::PerpetualCheck => "perpetual check",
            EndReason::Declaration => "declaration",
            EndReason::MaxMoves => "max moves",
            EndReason::Adjudication => "adjudication",
            EndReason::IllegalMove => "illegal move",
            EndReason::FalseDeclaration => "false declaration",
            EndReason::TimeLoss => "time loss",
            EndReason::Crash => "crash",
            EndReason::Hang => "hang",
        }
    }
}

/// How a game ended: the winner, the reason, and more about a fault.
#[derive(Debug, PartialEq)]
pub(super) struct GameEnd {
    pub winner: Winner,
    pub reason: EndReason,
    pub detail: String,
}

impl GameEnd {
    pub fn of(winner: Winner, reason: EndReason) -> GameEnd {
        GameEnd { winner, reason, detail: String::new() }
    }

    pub fn fault(loser: Color, reason: EndReason, detail: String) -> GameEnd {
        GameEnd { winner: Winner::of(!loser), reason, detail }
    }
}

/// The scores that may end a game early.
#[derive(Default)]
pub(super) struct Scores {
    /// Hopeless moves in a row, by colour.
    hopeless: [u32; 2],
    level_plies: u32,
}

impl Scores {
    /// Records the score that `us` reported for its move; returns the end of the game if it leads to one.
    pub fn see(
        &mut self,
        us: Color,
        score: Option<i32>,
        ply: u32,
        adjudication: &Adjudication,
    ) -> Option<GameEnd> {
        let within = |bound: Option<i32>| bound.zip(score);
        let hopeless = &mut self.hopeless[us.index()];
        let lost = within(adjudication.resign_score).is_some_and(|(bound, score)| score <= -bound);
        *hopeless = if lost { *hopeless + 1 } else { 0 };
        let level = within(adjudication.draw_score).is_some_and(|(bound, score)| score.abs() <= bound);
        self.level_plies = if level { self.level_plies + 1 } else { 0 };
        if lost && *hopeless >= adjudication.resign_moves {
            Some(GameEnd::of(Winner::of(!us), EndReason::Adjudication))
        } else if level && self.level_plies >= adjudication.draw_plies && ply >= adjudication.draw_after {
            Some(GameEnd::of(Winner::Draw, EndReason::Adjudication))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adjudication() -> Adjudication {
        Adjudication {
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
        let c = adjudication();
        let (b, w) = (Color::Black, Color::White);
        let mut s = Scores::default();
        for (ply, score) in [(50, -3000), (52, -4000)] {
            assert_eq!(s.see(b, Some(score), ply, &c), None);
            assert_eq!(s.see(w, Some(3000), ply + 1, &c), None);
        }
        assert_eq!(s.see(b, Some(-30000), 54, &c), Some(GameEnd::of(Winner::White, EndReason::Adjudication)));
        let mut s = Scores::default();
        for ply in 97..100 {
            assert_eq!(s.see([b, w][ply as usize % 2], Some(5), ply, &c), None);
        }
        assert_eq!(s.see(b, Some(-10), 100, &c), Some(GameEnd::of(Winner::Draw, EndReason::Adjudication)));
        assert_eq!(s.see(w, None, 101, &c), None);
        assert_eq!(s.see(b, Some(0), 102, &c), None);
    }

    #[test]
    fn half_points_and_faults_of_results() {
        assert_eq!(Winner::Black.half_points(Color::Black), 2);
        assert_eq!(Winner::Black.half_points(Color::White), 0);
        assert_eq!(Winner::Draw.half_points(Color::White), 1);
        assert!(
            EndReason::Crash.is_fault()
                && EndReason::IllegalMove.is_fault()
                && !EndReason::Adjudication.is_fault()
        );
    }
}

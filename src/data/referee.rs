//! When a game that our own searches play against each other is over: by the rules ([`by_rules`]), or because
//! both sides see it decided ([`Agreement`]).

use crate::data::{EndReason, GameResult};
use crate::position::{EnteringKingRule, GameRepetition, Position};
use crate::types::{Color, VALUE_MATE_IN_MAX_PLY, Value};

/// The rule by which games are declared won; that of the tournaments.
pub const DECLARATION: EnteringKingRule = EnteringKingRule::CsaRule27;

/// How a game ended, and why.
pub type Ruling = (GameResult, EndReason);

/// The result by the rules of the game before the side to move searches. The game is drawn after `last_ply`.
pub fn by_rules(pos: &Position, last_ply: u32) -> Option<Ruling> {
    match pos.game_repetition() {
        Some(GameRepetition::Draw) => return Some((GameResult::Draw, EndReason::Repetition)),
        Some(GameRepetition::PerpetualCheck { loser }) => {
            return Some((GameResult::win(!loser), EndReason::PerpetualCheck));
        }
        None => {}
    }
    let us = pos.side_to_move();
    if !pos.has_legal_move() {
        return Some((GameResult::win(!us), EndReason::Mate));
    }
    if pos.declaration_win(DECLARATION).is_some() {
        return Some((GameResult::win(us), EndReason::Declaration));
    }
    (pos.game_ply() > last_ply).then_some((GameResult::Draw, EndReason::MaxMoves))
}

/// Decides whether both sides agree that the game is over: scores of at least `score` for the same side for
/// `plies` plies in a row, or two announcements of mate.
pub struct Agreement {
    score: Value,
    needed: u32,
    winner: Option<Color>,
    plies: u32,
    /// The number of consecutive last ones that announced mate.
    mates: u32,
}

impl Agreement {
    /// Without scores.
    pub fn new(score: Value, plies: u32) -> Agreement {
        Agreement { score, needed: plies, winner: None, plies: 0, mates: 0 }
    }

    /// Records a score of `us`, from its own view; the result if the game is decided.
    pub fn record(&mut self, us: Color, score: Value) -> Option<Ruling> {
        let winner = (score.abs() >= self.score).then_some(if score > 0 { us } else { !us });
        if winner != self.winner {
            *self = Agreement { winner, ..Agreement::new(self.score, self.needed) };
        }
        let winner = winner?;
        self.plies += 1;
        self.mates = if score.abs() >= VALUE_MATE_IN_MAX_PLY { self.mates + 1 } else { 0 };
        if self.mates >= 2 {
            Some((GameResult::win(winner), EndReason::Mate))
        } else if self.plies >= self.needed {
            Some((GameResult::win(winner), EndReason::Adjudication))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::mate_in;

    #[test]
    fn both_sides_must_agree_before_a_game_is_decided() {
        let (b, w) = (Color::Black, Color::White);
        let run = |scores: &[(Color, Value)]| {
            let mut a = Agreement::new(3000, 4);
            scores.iter().map(|&(c, v)| a.record(c, v)).collect::<Vec<_>>()
        };
        let adjudged = Some((GameResult::BlackWin, EndReason::Adjudication));
        assert_eq!(run(&[(b, 3000), (w, -3100), (b, 3200), (w, -3000)]), [None, None, None, adjudged]);
        assert_eq!(run(&[(b, 3000), (w, -2999), (b, 3200), (w, -3000)]), [None; 4]);
        assert_eq!(run(&[(b, 3000), (w, 3100), (b, 3200), (w, 3000)]), [None; 4]);
        let mated = Some((GameResult::WhiteWin, EndReason::Mate));
        assert_eq!(run(&[(w, mate_in(5)), (b, -mate_in(4))]), [None, mated]);
        assert_eq!(run(&[(w, mate_in(5)), (b, -3500), (w, mate_in(5))]), [None; 3]);
    }
}

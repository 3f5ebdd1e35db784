//! Repetition: four-fold draws, perpetual check, and positions with the same board but a better or worse
//! hand.
//!
//! Positions are compared by board key (which knows the side to move) and the hand of the side to move; with
//! equal boards the other hand follows. Every state stores how far back its equals lie, computed when the
//! move is played, from the record of past boards in `occurrences`.

use super::Position;
use super::occurrences::EarlierOccurrences;
use crate::types::{Color, Key};

/// What repetition means for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// The position repeats nothing that counts.
    None,
    /// A draw.
    Draw,
    /// The opponent gave perpetual check.
    Win,
    /// The side to move gave perpetual check.
    Lose,
    /// The same board as before, but the side to move holds more.
    Superior,
    /// The same board as before, but the side to move holds less.
    Inferior,
}

/// The verdict of the game rules on a position's fourth occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameRepetition {
    /// A draw.
    Draw,
    /// One side gave check with every move of the cycle and loses.
    PerpetualCheck {
        /// Who gave the checks.
        loser: Color,
    },
}

impl Position {
    /// Finds earlier occurrences of the position that is about to be pushed; its board and hands are already
    /// set.
    #[inline]
    pub(super) fn find_repetition(&self, board_key: Key, plies_from_null: u32) -> EarlierOccurrences {
        if !self.occurrences.may_have(board_key) {
            return EarlierOccurrences::NOTHING;
        }
        self.scan_repetition(board_key, plies_from_null as usize)
    }

    #[cold]
    fn scan_repetition(&self, board_key: Key, plies_from_null: usize) -> EarlierOccurrences {
        let mut found = EarlierOccurrences::NOTHING;
        let hand = self.hand(self.side);
        let n = self.occurrences.len();
        // The new position would have index n. An equal board needs two moves of each side.
        for back in (4..=plies_from_null).step_by(2) {
            let (key, then) = self.occurrences.back(back);
            if key != board_key {
                continue;
            }
            if then == hand {
                found.same = back as u32;
                found.count = self.states[n - back].repetition.count + 1;
                break;
            }
            if found.unequal == 0 && (hand.dominates(then) || then.dominates(hand)) {
                found.unequal = back as u32;
                found.superior = hand.dominates(then);
            }
        }
        found
    }

    /// What the position repeats, seen from the side to move. The fourth occurrence counts always; the second
    /// and third, and better or worse hands, only if the earlier position lies inside the search tree, after
    /// the root that is `plies_since_root` plies back.
    #[inline]
    pub fn repetition(&self, plies_since_root: usize) -> Repetition {
        let found = self.state().repetition;
        if found.same == 0 && found.unequal == 0 {
            return Repetition::None;
        }
        if found.count >= 3 {
            return self.cycle_verdict(self.first_of_four());
        }
        // the nearer occurrence decides
        if found.unequal != 0 && (found.unequal as usize) < plies_since_root {
            return if found.superior { Repetition::Superior } else { Repetition::Inferior };
        }
        if found.same != 0 && (found.same as usize) < plies_since_root {
            return self.cycle_verdict(found.same);
        }
        Repetition::None
    }

    /// The verdict of the game rules, if this position occurs for the fourth time (the initial position
    /// counts) since the root SFEN.
    pub fn game_repetition(&self) -> Option<GameRepetition> {
        if self.state().repetition.count < 3 {
            return None;
        }
        Some(match self.cycle_verdict(self.first_of_four()) {
            Repetition::Lose => GameRepetition::PerpetualCheck { loser: self.side },
            Repetition::Win => GameRepetition::PerpetualCheck { loser: !self.side },
            _ => GameRepetition::Draw,
        })
    }

    /// Plies back to the third earlier equal position.
    fn first_of_four(&self) -> u32 {
        let top = self.states.len() - 1;
        (0..3).fold(0, |back, _| back + self.states[top - back as usize].repetition.same)
    }

    /// Draw, win or loss by the checks of the last `plies`.
    fn cycle_verdict(&self, plies: u32) -> Repetition {
        let checks = self.state().continuous_check;
        if checks[self.side.index()] >= plies {
            Repetition::Lose
        } else if checks[(!self.side).index()] >= plies {
            Repetition::Win
        } else {
            Repetition::Draw
        }
    }
}

//! Winning by declaration once the king has entered the enemy camp.

use std::str::FromStr;

use thiserror::Error;

use super::{Bitboard, Position, attacks};
use crate::types::{Color, Move, PieceType, Square};

/// Which entering-king rule holds, by the names of the USI option `EnteringKingRule`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnteringKingRule {
    /// No declaration.
    None,
    /// 31 points for both sides.
    CsaRule24,
    /// The same with handicaps: White needs fewer by what is missing from the set.
    CsaRule24H,
    /// 28 points for Black, 27 for White.
    #[default]
    CsaRule27,
    /// The same with handicaps.
    CsaRule27H,
    /// The king that reaches the initial square of the enemy king has won.
    TryRule,
}

/// A name that is not an entering-king rule.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown entering-king rule {0:?}")]
pub struct UnknownRule(pub String);

impl EnteringKingRule {
    /// All rules with their USI names.
    pub const NAMES: [(&'static str, EnteringKingRule); 6] = [
        ("NoEnteringKing", EnteringKingRule::None),
        ("CSARule24", EnteringKingRule::CsaRule24),
        ("CSARule24H", EnteringKingRule::CsaRule24H),
        ("CSARule27", EnteringKingRule::CsaRule27),
        ("CSARule27H", EnteringKingRule::CsaRule27H),
        ("TryRule", EnteringKingRule::TryRule),
    ];
}

impl FromStr for EnteringKingRule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let found = Self::NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|&(_, rule)| rule).ok_or_else(|| UnknownRule(super::sfen::excerpt(name)))
    }
}

impl std::fmt::Display for EnteringKingRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Self::NAMES.iter().find(|(_, r)| r == self).map_or("", |(n, _)| n);
        f.write_str(name)
    }
}

/// Points of a full set, kings counted as one each.
const ALL_POINTS: u32 = 56;

impl Position {
    /// [`Move::WIN`] if the side to move may declare a win; under the try rule the king's move that wins.
    pub fn declaration_win(&self, rule: EnteringKingRule) -> Option<Move> {
        use EnteringKingRule as R;
        let us = self.side;
        let (black, white) = match rule {
            R::None => return None,
            R::TryRule => return self.try_move(),
            R::CsaRule24 | R::CsaRule24H => (31, 31),
            R::CsaRule27 | R::CsaRule27H => (28, 27),
        };
        let zone = attacks::promotion_zone(us);
        if !zone.contains(self.king_square(us)) || self.in_check() {
            return None;
        }
        let entered = (self.pieces(us) & zone).without(self.of_kind(PieceType::KING));
        if entered.count() < 10 {
            return None;
        }
        let needed = match (us, rule) {
            (Color::Black, _) => black,
            (Color::White, R::CsaRule24H | R::CsaRule27H) => {
                let total = self.points(self.occupied()) + self.hand_points(us) + self.hand_points(!us);
                u32::saturating_sub(white, ALL_POINTS.saturating_sub(total))
            }
            (Color::White, _) => white,
        };
        (self.points(entered) + self.hand_points(us) >= needed).then_some(Move::WIN)
    }

    /// One point a piece, five for rooks and bishops, promoted or not.
    fn points(&self, pieces: Bitboard) -> u32 {
        use PieceType as P;
        let big = self.of_kind(P::BISHOP)
            | self.of_kind(P::ROOK)
            | self.of_kind(P::HORSE)
            | self.of_kind(P::DRAGON);
        pieces.count() + 4 * (pieces & big).count()
    }

    fn hand_points(&self, color: Color) -> u32 {
        let hand = self.hand(color);
        PieceType::HAND
            .into_iter()
            .map(|k| hand.count(k) * if matches!(k, PieceType::BISHOP | PieceType::ROOK) { 5 } else { 1 })
            .sum()
    }

    fn try_move(&self) -> Option<Move> {
        let us = self.side;
        let king = self.king_square(us);
        let goal = match us {
            Color::Black => Square::new(4, 0),
            Color::White => Square::new(4, 8),
        };
        if !king.is_some() || !attacks::king(king).contains(goal) || self.pieces(us).contains(goal) {
            return None;
        }
        let m = Move::normal(king, goal, PieceType::KING.of(us));
        self.is_legal(m).then_some(m)
    }
}

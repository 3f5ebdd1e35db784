//! A move of a book with its score and counts: [`BookMove`].
//!
//! Books hold moves in 16 bits ([`Move::raw16`]), without the moving piece; [`Position::expand`] fills it in.

use crate::position::Position;
use crate::types::{Move, PieceType, Square};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// A move, the reply to it, its score, and how often it was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookMove {
    /// [`Move::raw16`].
    pub mv: u16,
    /// The expected reply; 0 for none.
    pub ponder: u16,
    value: i32,
    depth: i32,
    count: u32,
}

/// Marks an unknown value.
const UNKNOWN: i32 = i32::MIN;
const UNKNOWN_COUNT: u32 = u32::MAX;

impl BookMove {
    /// A move without score, depth and count.
    pub const fn new(mv: u16) -> BookMove {
        BookMove { mv, ponder: 0, value: UNKNOWN, depth: UNKNOWN, count: UNKNOWN_COUNT }
    }

    /// Centipawns for the side to move.
    pub fn value(&self) -> Option<i32> {
        (self.value != UNKNOWN).then_some(self.value)
    }

    /// Plies behind the score.
    pub fn depth(&self) -> Option<i32> {
        (self.depth != UNKNOWN).then_some(self.depth)
    }

    /// How often it was played, or any other weight.
    pub fn count(&self) -> Option<u32> {
        (self.count != UNKNOWN_COUNT).then_some(self.count)
    }

    /// With another reply.
    pub fn with_ponder(self, ponder: u16) -> BookMove {
        BookMove { ponder, ..self }
    }

    /// With another score.
    pub fn with_value(self, value: Option<i32>) -> BookMove {
        BookMove { value: value.unwrap_or(UNKNOWN), ..self }
    }

    /// With another depth.
    pub fn with_depth(self, depth: Option<i32>) -> BookMove {
        BookMove { depth: depth.unwrap_or(UNKNOWN), ..self }
    }

    /// With another count; the largest that can be told from "unknown" is `u32::MAX - 1`.
    pub fn with_count(self, count: Option<u64>) -> BookMove {
        let count = count.map_or(UNKNOWN_COUNT, |n| n.min(u64::from(UNKNOWN_COUNT - 1)) as u32);
        BookMove { count, ..self }
    }

    /// The order in which books list moves: by count, then by score. Unknown values count as in
    /// YaneuraOu: played once, score 0.
    pub fn rank(&self) -> (Reverse<u32>, Reverse<i32>) {
        (Reverse(self.count().unwrap_or(1)), Reverse(self.value().unwrap_or(0)))
    }

    /// The move as the other player would make it, the board turned.
    pub fn flipped(self) -> BookMove {
        BookMove { mv: flip_move(self.mv), ponder: flip_move(self.ponder), ..self }
    }

    /// The move on a board, if it is legal there.
    pub fn on(&self, pos: &Position) -> Option<Move> {
        pos.legal_move(self.mv)
    }
}

/// The move with the board turned by 180 degrees; what is no move stays.
pub fn flip_move(raw: u16) -> u16 {
    let m = Move(u32::from(raw));
    if raw == 0 || !m.to().is_some() {
        return raw;
    }
    let to = u16::from(m.to().flip().0);
    let from = match m.is_drop() {
        true => raw & 0x3f80,
        false if m.from().is_some() => u16::from(m.from().flip().0) << 7,
        false => return raw,
    };
    raw & 0xc000 | from | to
}

/// Reads USI text such as `7g7f`, `8h2b+` or `P*5e`, without a board.
pub fn read_move(text: &[u8]) -> Option<u16> {
    if let [letter, b'*', target @ ..] = text {
        let kind = b"?PLNSBRG".iter().skip(1).position(|l| l == letter)? as u8 + 1;
        let piece = PieceType(kind).of(crate::types::Color::Black);
        return Some(Move::drop(piece, Square::from_usi(target)?).raw16());
    }
    let (squares, promotion) = match text {
        [s @ .., b'+'] => (s, 1 << 15),
        s => (s, 0),
    };
    if squares.len() != 4 {
        return None;
    }
    let (from, to) = (Square::from_usi(&squares[..2])?, Square::from_usi(&squares[2..])?);
    (from != to).then_some(u16::from(to.0) | u16::from(from.0) << 7 | promotion)
}

/// The move in USI; `none` for 0.
pub fn usi(raw: u16) -> String {
    Move(u32::from(raw)).to_string()
}

/// Whether the bits are a move on some board.
pub(super) fn is_move(raw: u16) -> bool {
    let m = Move(u32::from(raw));
    let sources = if m.is_drop() {
        !m.is_promotion() && (1..=7).contains(&m.dropped().0)
    } else {
        m.from().is_some() && m.from() != m.to()
    };
    m.to().is_some() && sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_round_trip_and_flip() {
        for (text, turned) in [("7g7f", "3c3d"), ("8h2b+", "2b8h+"), ("P*5e", "P*5e"), ("R*1a", "R*9i")] {
            let raw = read_move(text.as_bytes()).unwrap();
            assert!(is_move(raw));
            assert_eq!(usi(raw), text);
            assert_eq!(usi(flip_move(raw)), turned);
            assert_eq!(flip_move(flip_move(raw)), raw);
        }
        for bad in ["", "7g", "7g7", "7g7g", "0a1b", "K*5e", "7g7f++", "7j7f"] {
            assert_eq!(read_move(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(flip_move(0), 0);
        (0..=u16::MAX).for_each(|raw| assert!(!is_move(raw) || is_move(flip_move(raw))));
    }

    #[test]
    fn unknown_is_distinct_from_zero() {
        let m = BookMove::new(1);
        assert_eq!((m.value(), m.depth(), m.count()), (None, None, None));
        let m = m.with_value(Some(0)).with_depth(Some(0)).with_count(Some(u64::MAX));
        assert_eq!((m.value(), m.depth(), m.count()), (Some(0), Some(0), Some(u32::MAX - 1)));
    }
}

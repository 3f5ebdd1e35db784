//! Moves and lists of them: [`Move`], [`MoveList`].

use super::piece::{Piece, PieceType};
use super::square::Square;
use shogi_core as core;
use std::fmt;

/// Room for the moves of any position. A legal game has at most 593; without an own king, or counting moves
/// that leave it in check, 531 drops and 199 moves of the pieces left on the board are a safe bound.
pub const MAX_MOVES: usize = 736;

/// A move in 32 bits. The low 16 are those of YaneuraOu's records: bits 0-6 `to`; 7-13 `from`, or the kind of
/// a dropped piece; bit 14 drop; bit 15 promotion. Bits 16-20 hold the piece as it stands *after* the move
/// (promoted, coloured), which is what history tables index by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Move(pub u32);

impl Move {
    /// No move.
    pub const NONE: Move = Move(0);
    /// A pass.
    pub const NULL: Move = Move(0x81);
    /// Resignation.
    pub const RESIGN: Move = Move(0x102);
    /// Declaration of an entering-king win.
    pub const WIN: Move = Move(0x183);

    const DROP: u32 = 1 << 14;
    const PROMOTE: u32 = 1 << 15;

    /// A move of the piece `piece` (as it stands before the move) without promotion.
    #[inline]
    pub const fn normal(from: Square, to: Square, piece: Piece) -> Move {
        Move(to.0 as u32 | (from.0 as u32) << 7 | (piece.0 as u32) << 16)
    }

    /// A promoting move of the piece `piece` (as it stands before the move).
    #[inline]
    pub const fn promotion(from: Square, to: Square, piece: Piece) -> Move {
        Move(to.0 as u32 | (from.0 as u32) << 7 | Self::PROMOTE | ((piece.0 | 8) as u32) << 16)
    }

    /// A drop of `piece` (with its colour).
    #[inline]
    pub const fn drop(piece: Piece, to: Square) -> Move {
        Move(to.0 as u32 | (piece.kind().0 as u32) << 7 | Self::DROP | (piece.0 as u32) << 16)
    }

    /// The target.
    #[inline]
    pub const fn to(self) -> Square {
        Square((self.0 & 0x7f) as u8)
    }

    /// The origin; meaningless for drops.
    #[inline]
    pub const fn from(self) -> Square {
        Square((self.0 >> 7 & 0x7f) as u8)
    }

    /// The kind of a dropped piece; meaningless for other moves.
    #[inline]
    pub const fn dropped(self) -> PieceType {
        PieceType((self.0 >> 7 & 0x7f) as u8)
    }

    /// Whether a piece is dropped.
    #[inline]
    pub const fn is_drop(self) -> bool {
        self.0 & Self::DROP != 0
    }

    /// Whether the piece promotes.
    #[inline]
    pub const fn is_promotion(self) -> bool {
        self.0 & Self::PROMOTE != 0
    }

    /// The piece as it stands after the move.
    #[inline]
    pub const fn piece(self) -> Piece {
        Piece((self.0 >> 16 & 0x1f) as u8)
    }

    /// The piece as it stood before the move (for a drop: the dropped piece).
    #[inline]
    pub const fn piece_before(self) -> Piece {
        Piece((self.0 >> 16 & 0x1f) as u8 ^ ((self.0 & Self::PROMOTE) >> 12) as u8)
    }

    /// The 16 bits that records and the transposition table store.
    #[inline]
    pub const fn raw16(self) -> u16 {
        self.0 as u16
    }

    /// Whether this is a move on the board (not none, null, resign or win).
    #[inline]
    pub const fn is_some(self) -> bool {
        // the special values have from == to and no piece
        self.0 >> 16 != 0
    }

    /// Whether this is [`Move::NONE`].
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Move {
    /// USI text: `7g7f`, `8h2b+`, `P*5e`; `none`, `null`, `resign`, `win` for the special ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Move::NONE => f.write_str("none"),
            Move::NULL => f.write_str("null"),
            Move::RESIGN => f.write_str("resign"),
            Move::WIN => f.write_str("win"),
            m if m.is_drop() => {
                write!(f, "{}*{}", b"?PLNSBRG"[m.dropped().index() & 7] as char, m.to())
            }
            m => write!(f, "{}{}{}", m.from(), m.to(), if m.is_promotion() { "+" } else { "" }),
        }
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Move> for core::Move {
    /// # Panics
    /// On the special moves; test [`Move::is_some`] first.
    fn from(m: Move) -> core::Move {
        assert!(m.is_some(), "{m} is not a move on the board");
        if m.is_drop() {
            core::Move::Drop { piece: m.piece().into(), to: m.to().into() }
        } else {
            core::Move::Normal { from: m.from().into(), to: m.to().into(), promote: m.is_promotion() }
        }
    }
}

/// A move and its ordering score; generators fill in the move, the move picker the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// The higher, the sooner it is searched.
    pub score: i32,
}

/// The moves of one position, on the stack.
pub type MoveList = arrayvec::ArrayVec<ScoredMove, MAX_MOVES>;

#[cfg(test)]
mod tests {
    use super::super::color::Color;
    use super::*;

    #[test]
    fn moves_read_back() {
        let p = PieceType::SILVER.of(Color::White);
        let m = Move::promotion(Square::new(3, 5), Square::new(2, 6), p);
        assert_eq!((m.from(), m.to()), (Square::new(3, 5), Square::new(2, 6)));
        assert_eq!(m.piece(), PieceType::PRO_SILVER.of(Color::White));
        assert_eq!(m.piece_before(), p);
        assert_eq!(m.to_string(), "4f3g+");
        let d = Move::drop(PieceType::GOLD.of(Color::White), Square::new(4, 4));
        assert_eq!(d.to_string(), "G*5e");
        assert_eq!(d.piece_before(), PieceType::GOLD.of(Color::White));
        assert!(d.is_drop() && d.is_some() && !Move::WIN.is_some());
    }
}

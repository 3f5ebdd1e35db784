//! What a move changed on the board and in the hands ("dirty pieces"), for incremental evaluations.

use crate::types::{Color, Piece, PieceType, Square};

/// The place of a piece: a square, or the n-th of its kind in a hand. A dense index below [`Slot::COUNT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slot(pub u16);

impl Slot {
    const HANDS: usize = Piece::NUM * Square::NUM;
    const PER_KIND: usize = 19;
    /// One more than the greatest index.
    pub const COUNT: usize = Self::HANDS + 16 * Self::PER_KIND;

    /// The place of a piece on a square.
    #[inline]
    pub const fn board(piece: Piece, sq: Square) -> Slot {
        Slot((piece.index() * Square::NUM + sq.index()) as u16)
    }

    /// The square, unless it is in a hand.
    #[inline]
    pub const fn square(self) -> Option<Square> {
        if (self.0 as usize) < Self::HANDS { Some(Square((self.0 % 81) as u8)) } else { None }
    }

    /// The `nth` piece (from 1) of a kind in the hand of `color`.
    #[inline]
    pub const fn hand(color: Color, kind: PieceType, nth: u32) -> Slot {
        Slot((Self::HANDS + (color.index() * 8 + kind.index()) * Self::PER_KIND + nth as usize) as u16)
    }
}

/// The last move as pairs of slots left and entered. Moves of kings are in `king` and `king_move` instead.
///
/// | move | removed | added |
/// |---|---|---|
/// | on the board | the piece before, on its origin | the piece after, on its target |
/// | capture: a second pair | the captured piece on the target | the last of its unpromoted kind in the mover's hand |
/// | drop | the last of its kind in the mover's hand (count before) | the piece on its target |
/// | by the king | nothing, or the capture's pair as the only one | |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirtyPieces {
    /// The number of pairs, 0 to 2.
    pub count: u8,
    /// Whose king moved.
    pub king: Option<Color>,
    /// The slots that this king left and entered.
    pub king_move: [Slot; 2],
    /// The slots left; [`DirtyPieces::count`] of them count.
    pub removed: [Slot; 2],
    /// The slots entered, likewise.
    pub added: [Slot; 2],
}

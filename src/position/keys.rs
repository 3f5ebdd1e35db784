//! The keys of a position, kept up to date move by move: [`Keys`].

use super::zobrist;
use crate::types::{Color, Key, Piece, PieceType, Square};

/// Indices of [`Keys::by_group`].
pub(super) const PAWNS: usize = 0;
pub(super) const MINORS: usize = 3;

/// The incremental keys of one position.
#[derive(Clone, Copy, Default)]
pub(super) struct Keys {
    /// All pieces on the board and the side to move.
    pub(super) board: Key,
    pub(super) hand: Key,
    /// Pawns; non-pawns of Black; of White; minor pieces of both.
    pub(super) by_group: [Key; 4],
    /// By colour: all its pieces on the board and in hand, combined by wrapping addition.
    pub(super) by_color: [Key; 2],
}

impl Keys {
    /// A piece comes onto a square.
    #[inline]
    pub(super) fn put(&mut self, piece: Piece, sq: Square) {
        let key = self.toggle(piece, sq);
        let of_color = &mut self.by_color[piece.color().index()];
        *of_color = of_color.wrapping_add(key);
    }

    /// A piece leaves its square.
    #[inline]
    pub(super) fn take(&mut self, piece: Piece, sq: Square) {
        let key = self.toggle(piece, sq);
        let of_color = &mut self.by_color[piece.color().index()];
        *of_color = of_color.wrapping_sub(key);
    }

    /// `count` pieces of a kind come into a hand.
    #[inline]
    pub(super) fn add_to_hand(&mut self, color: Color, kind: PieceType, count: u32) {
        let key = zobrist::hand(color, kind).wrapping_mul(Key::from(count));
        self.hand = self.hand.wrapping_add(key);
        let of_color = &mut self.by_color[color.index()];
        *of_color = of_color.wrapping_add(key);
    }

    /// A piece of a kind leaves a hand.
    #[inline]
    pub(super) fn take_from_hand(&mut self, color: Color, kind: PieceType) {
        let key = zobrist::hand(color, kind);
        self.hand = self.hand.wrapping_sub(key);
        let of_color = &mut self.by_color[color.index()];
        *of_color = of_color.wrapping_sub(key);
    }

    /// Adds or removes a piece on a square where that is the same; its key.
    #[inline]
    fn toggle(&mut self, piece: Piece, sq: Square) -> Key {
        /// All ones for kinds that count as minor pieces.
        const MINOR: [Key; PieceType::NUM] = {
            let mut t = [0; PieceType::NUM];
            let minor = [2, 3, 4, 7, 9, 10, 11, 12];
            let mut i = 0;
            while i < minor.len() {
                t[minor[i]] = Key::MAX;
                i += 1;
            }
            t
        };
        let key = zobrist::board(piece, sq);
        let kind = piece.kind();
        self.board ^= key;
        self.by_group[if kind == PieceType::PAWN { PAWNS } else { 1 + piece.color().index() }] ^= key;
        self.by_group[MINORS] ^= key & MINOR[kind.index()];
        key
    }
}

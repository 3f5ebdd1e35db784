//! A bare placement of pieces, what packed records hold: [`Board`].

use super::error::RecordError;
use crate::position::{Position, SET};
use crate::types::{Color, Hand, Piece, PieceType};

/// Squares, hands and the side to move, without history, keys or any promise of legality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// By [`Square`](crate::types::Square) index.
    pub squares: [Piece; 81],
    /// By color.
    pub hands: [Hand; 2],
    /// Who moves.
    pub turn: Color,
}

/// The kinds in the order in which packed records list hands.
pub const PACKED_ORDER: [PieceType; 7] = [
    PieceType::PAWN,
    PieceType::LANCE,
    PieceType::KNIGHT,
    PieceType::SILVER,
    PieceType::GOLD,
    PieceType::BISHOP,
    PieceType::ROOK,
];

impl Board {
    /// The pieces of a position.
    pub fn of(pos: &Position) -> Board {
        Board {
            squares: *pos.board(),
            hands: [pos.hand(Color::Black), pos.hand(Color::White)],
            turn: pos.side_to_move(),
        }
    }

    /// A full position at ply `ply`.
    ///
    /// # Errors
    /// What the rules of [`Position::from_sfen`] refuse.
    pub fn position(&self, ply: u32) -> Result<Position, RecordError> {
        let counts = self.hands.map(|hand| {
            let mut counts = [0; 8];
            PieceType::HAND.into_iter().for_each(|kind| counts[kind.index()] = hand.count(kind));
            counts
        });
        Ok(Position::from_parts(self.squares, counts, self.turn, ply)?)
    }

    /// The number of pieces of each kind of [`PACKED_ORDER`] that are neither in a hand nor on the board
    /// (handicaps, problems).
    pub(super) fn box_counts(&self) -> Result<[u32; 7], RecordError> {
        let mut on_board = [0; SET.len()];
        for p in self.squares.iter().filter(|p| p.is_some()) {
            on_board[p.kind().unpromoted().index()] += 1;
        }
        let mut left = [0; 7];
        for (left, kind) in left.iter_mut().zip(PACKED_ORDER) {
            let used = on_board[kind.index()] + self.hands[0].count(kind) + self.hands[1].count(kind);
            *left = SET[kind.index()]
                .checked_sub(used)
                .ok_or(RecordError::Packed("more pieces than a full set has"))?;
        }
        Ok(left)
    }
}

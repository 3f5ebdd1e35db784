//! A bare placement of pieces, what packed records hold: [`Board`].

use super::bits::{BitReader, BitWriter};
use super::error::RecordError;
use crate::position::Position;
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
/// How many pieces of each kind of [`PACKED_ORDER`] a full set has.
pub(super) const FULL_SET: [u32; 7] = [18, 4, 4, 4, 4, 2, 2];

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

    pub(super) fn king(&self, color: Color) -> Option<u8> {
        let king = PieceType::KING.of(color);
        self.squares.iter().position(|&p| p == king).map(|i| i as u8)
    }

    /// How many pieces of each kind of [`PACKED_ORDER`] are in neither hand nor on the board (handicaps,
    /// problems).
    pub(super) fn box_counts(&self) -> Result<[u32; 7], RecordError> {
        let mut left = FULL_SET;
        for (i, &kind) in PACKED_ORDER.iter().enumerate() {
            let on_board = self
                .squares
                .iter()
                .filter(|p| p.is_some() && p.kind() != PieceType::KING && p.kind().unpromoted() == kind)
                .count() as u32;
            let used = on_board + self.hands[0].count(kind) + self.hands[1].count(kind);
            left[i] =
                left[i].checked_sub(used).ok_or(RecordError::Packed("more pieces than a full set has"))?;
        }
        Ok(left)
    }
}

/// Reads the turn and the two king squares that both packed formats begin with.
pub(super) fn read_kings(bits: &mut BitReader) -> Result<Board, RecordError> {
    let turn = if bits.take(1)? == 0 { Color::Black } else { Color::White };
    let mut board = Board { squares: [Piece::NONE; 81], hands: [Hand::EMPTY; 2], turn };
    for color in Color::ALL {
        let sq = bits.take(7)? as usize;
        match board.squares.get_mut(sq) {
            Some(p) if p.is_none() => *p = PieceType::KING.of(color),
            Some(_) => return Err(RecordError::Packed("both kings on one square")),
            None => return Err(RecordError::Packed("a king off the board")),
        }
    }
    Ok(board)
}

/// Writes what [`read_kings`] reads.
pub(super) fn write_kings(board: &Board, bits: &mut BitWriter) -> Result<(), RecordError> {
    bits.put(board.turn as u32, 1);
    for color in Color::ALL {
        let king = board.king(color).ok_or(RecordError::Packed("a king is missing"))?;
        bits.put(king as u32, 7);
    }
    Ok(())
}

//! PackedSfen: a position in 256 bits, as YaneuraOu's records hold it.

use super::board::Board;
use super::error::RecordError;
use super::huffman::{self, Codes};
use crate::position::Position;
use crate::types::Color;

/// A packed position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PackedSfen(pub [u8; 32]);

/// In hand, the code of the board loses its lowest bit, which is always 1 and distinguishes a piece from an
/// empty square; promotion and colour follow. Pieces in the box look like promoted pieces in hand; golds, which
/// cannot promote, look like a promoted white silver. The others are read if marked white, too.
const CODES: Codes = Codes {
    board: [(0x01, 2), (0x03, 4), (0x0b, 4), (0x07, 4), (0x0f, 5), (0x1f, 6), (0x3f, 6)],
    promotion_first: true,
    hand: [
        (&[0x00, 0x04, 0x02, 0x06], 3),
        (&[0x01, 0x11, 0x09, 0x19], 5),
        (&[0x05, 0x15, 0x0d, 0x1d], 5),
        (&[0x03, 0x13, 0x0b], 5),
        (&[0x07, 0x17, 0x1b], 5),
        (&[0x0f, 0x4f, 0x2f, 0x6f], 7),
        (&[0x1f, 0x5f, 0x3f, 0x7f], 7),
    ],
};

impl PackedSfen {
    /// The side to move.
    pub fn turn(&self) -> Color {
        if self.0[0] & 1 == 0 { Color::Black } else { Color::White }
    }

    /// Packs a position.
    ///
    /// # Panics
    /// When a king is missing; such positions have no packed form (see [`pack`](Self::pack)).
    pub fn of(pos: &Position) -> PackedSfen {
        PackedSfen::pack(&Board::of(pos)).expect("a position with both kings")
    }

    /// # Errors
    /// A missing king, or more pieces than a full set has.
    pub fn pack(board: &Board) -> Result<PackedSfen, RecordError> {
        huffman::pack(board, &CODES).map(PackedSfen)
    }

    /// # Errors
    /// Bits that are no position.
    pub fn unpack(&self) -> Result<Board, RecordError> {
        huffman::unpack(&self.0, &CODES)
    }

    /// The full position at ply `ply`.
    pub fn position(&self, ply: u32) -> Result<Position, RecordError> {
        self.unpack()?.position(ply)
    }
}

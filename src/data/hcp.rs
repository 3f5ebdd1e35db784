//! HuffmanCodedPos: a position in 256 bits, as Apery, dlshogi and cshogi hold it.

use super::board::Board;
use super::error::RecordError;
use super::huffman::{self, Codes};

/// A packed position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HuffmanCodedPos(pub [u8; 32]);

const CODES: Codes = Codes {
    board: [(0x01, 2), (0x03, 4), (0x07, 4), (0x0b, 4), (0x0f, 5), (0x1f, 6), (0x3f, 6)],
    promotion_first: false,
    hand: [
        (&[0x00, 0x04, 0x02], 3),
        (&[0x01, 0x11, 0x09], 5),
        (&[0x03, 0x13, 0x0b], 5),
        (&[0x05, 0x15, 0x0d], 5),
        (&[0x07, 0x17, 0x1d], 5),
        (&[0x1f, 0x5f, 0x0f], 7),
        (&[0x3f, 0x7f, 0x2f], 7),
    ],
};

impl HuffmanCodedPos {
    /// # Errors
    /// A missing king, or more pieces than a full set has.
    pub fn pack(board: &Board) -> Result<HuffmanCodedPos, RecordError> {
        huffman::pack(board, &CODES).map(HuffmanCodedPos)
    }

    /// # Errors
    /// Bits that are no position.
    pub fn unpack(&self) -> Result<Board, RecordError> {
        huffman::unpack(&self.0, &CODES)
    }
}

/// Apery's 16 bits of a move: bits 0-6 `to`, 7-13 `from` (81 + kind for drops, pawn 0, lance 1, knight 2,
/// silver 3, bishop 4, rook 5, gold 6), bit 14 promotion. From ours (see
/// [`Move::raw16`](crate::types::Move::raw16)).
pub fn to_apery_move(raw: u16) -> u16 {
    let (to, from) = (raw & 0x7f, raw >> 7 & 0x7f);
    if raw & 1 << 14 != 0 {
        to | (80 + from) << 7 // the pawn is kind 1 with us
    } else {
        to | from << 7 | (raw >> 15) << 14
    }
}

/// The inverse of [`to_apery_move`]; `None` for bits that are no move.
pub fn from_apery_move(raw: u16) -> Option<u16> {
    let (to, from) = (raw & 0x7f, raw >> 7 & 0x7f);
    match from {
        _ if to > 80 => None,
        0..=80 => Some(to | from << 7 | (raw >> 14 & 1) << 15),
        81..=87 => Some(to | (from - 80) << 7 | 1 << 14),
        _ => None,
    }
}

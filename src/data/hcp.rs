//! HuffmanCodedPos: a position in 256 bits, as Apery, dlshogi and cshogi hold it.
//!
//! The idea is that of [`PackedSfen`](super::packed_sfen::PackedSfen) with other codes, and the colour bit
//! stands before the promotion bit.

use super::bits::{BitReader, BitWriter};
use super::board::{Board, FULL_SET, PACKED_ORDER, read_kings, write_kings};
use super::error::RecordError;
use crate::types::{Color, PieceType};

/// A packed position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HuffmanCodedPos(pub [u8; 32]);

/// On the board by the order of [`PACKED_ORDER`]: (code, bits), then colour, then promotion except for golds.
const CODE: [(u32, usize); 7] = [(0x01, 2), (0x03, 4), (0x07, 4), (0x0b, 4), (0x0f, 5), (0x1f, 6), (0x3f, 6)];
/// In Black's hand, in White's hand, in neither; the bits of all three.
const HAND: [([u32; 3], usize); 7] = [
    ([0x00, 0x04, 0x02], 3),
    ([0x01, 0x11, 0x09], 5),
    ([0x03, 0x13, 0x0b], 5),
    ([0x05, 0x15, 0x0d], 5),
    ([0x07, 0x17, 0x1d], 5),
    ([0x1f, 0x5f, 0x0f], 7),
    ([0x3f, 0x7f, 0x2f], 7),
];
const GOLD: usize = 4;

impl HuffmanCodedPos {
    /// # Errors
    /// A missing king, or more pieces than a full set has.
    pub fn pack(board: &Board) -> Result<HuffmanCodedPos, RecordError> {
        let mut bits = BitWriter::new();
        write_kings(board, &mut bits)?;
        for &p in &board.squares {
            if p.is_none() {
                bits.put(0, 1);
            } else if p.kind() != PieceType::KING {
                let unpromoted = p.kind().unpromoted();
                let i = PACKED_ORDER.iter().position(|&k| k == unpromoted).expect("an unpromoted kind");
                bits.put(CODE[i].0, CODE[i].1);
                bits.put(p.color() as u32, 1);
                if i != GOLD {
                    bits.put(p.kind().is_promoted() as u32, 1);
                }
            }
        }
        for color in Color::ALL {
            for (i, &kind) in PACKED_ORDER.iter().enumerate() {
                for _ in 0..board.hands[color.index()].count(kind) {
                    bits.put(HAND[i].0[color.index()], HAND[i].1);
                }
            }
        }
        for (i, n) in board.box_counts()?.into_iter().enumerate() {
            (0..n).for_each(|_| bits.put(HAND[i].0[2], HAND[i].1));
        }
        bits.finish().map(HuffmanCodedPos)
    }

    /// # Errors
    /// Bits that are no position.
    pub fn unpack(&self) -> Result<Board, RecordError> {
        let mut bits = BitReader::new(&self.0);
        let mut board = read_kings(&mut bits)?;
        for sq in 0..81 {
            if board.squares[sq].is_some() {
                continue;
            }
            if bits.peek(1) == 0 {
                bits.take(1)?;
                continue;
            }
            let i = CODE
                .iter()
                .position(|&(code, n)| bits.peek(n) == code)
                .ok_or(RecordError::Packed("unknown piece code"))?;
            bits.take(CODE[i].1)?;
            let color = if bits.take(1)? == 0 { Color::Black } else { Color::White };
            let promoted = i != GOLD && bits.take(1)? == 1;
            let kind = if promoted { PACKED_ORDER[i].promoted() } else { PACKED_ORDER[i] };
            board.squares[sq] = kind.of(color);
        }
        let mut seen = [0u32; 7];
        while bits.left() > 0 {
            let (i, place) = HAND
                .iter()
                .enumerate()
                .find_map(|(i, &(codes, n))| codes.iter().position(|&c| bits.peek(n) == c).map(|p| (i, p)))
                .ok_or(RecordError::Packed("unknown hand code"))?;
            bits.take(HAND[i].1)?;
            if place < 2 {
                seen[i] += 1;
                if seen[i] > FULL_SET[i] {
                    return Err(RecordError::Packed("more pieces in hand than a full set has"));
                }
                board.hands[place].add(PACKED_ORDER[i]);
            }
        }
        board.box_counts()?;
        Ok(board)
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

//! PackedSfen: a position in 256 bits, as YaneuraOu's records hold it.
//!
//! Bits, lowest first: turn; black king, white king (7 each); 81 squares in order without the kings; Black's
//! hand, White's hand, and the pieces that are in neither ("piece box"), each in the order pawn, lance,
//! knight, silver, gold, bishop, rook. Every piece costs as many bits in hand as it adds on the board, so the
//! length never changes.

use super::bits::{BitReader, BitWriter};
use super::board::{Board, PACKED_ORDER, read_kings, write_kings};
use super::error::RecordError;
use crate::position::Position;
use crate::types::{Color, PieceType};

/// A packed position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PackedSfen(pub [u8; 32]);

/// Prefix code on the board by the order of [`PACKED_ORDER`]: (code, bits). In hand it loses its lowest bit,
/// which is always 1 and says "not empty".
const CODE: [(u32, usize); 7] = [(0x01, 2), (0x03, 4), (0x0b, 4), (0x07, 4), (0x0f, 5), (0x1f, 6), (0x3f, 6)];
/// Pieces in the box look like promoted pieces in hand, and golds, which cannot promote, like a promoted
/// white silver.
const BOX_CODE: [(u32, usize); 7] =
    [(0x02, 3), (0x09, 5), (0x0d, 5), (0x0b, 5), (0x1b, 5), (0x2f, 7), (0x3f, 7)];
const GOLD: usize = 4;

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
        let mut bits = BitWriter::new();
        write_kings(board, &mut bits)?;
        for &p in &board.squares {
            if p.is_none() {
                bits.put(0, 1);
            } else if p.kind() != PieceType::KING {
                let i = order(p.kind().unpromoted());
                bits.put(CODE[i].0, CODE[i].1);
                if i != GOLD {
                    bits.put(p.kind().is_promoted() as u32, 1);
                }
                bits.put(p.color() as u32, 1);
            }
        }
        for color in Color::ALL {
            for (i, &kind) in PACKED_ORDER.iter().enumerate() {
                for _ in 0..board.hands[color.index()].count(kind) {
                    bits.put(CODE[i].0 >> 1, CODE[i].1 - 1);
                    if i != GOLD {
                        bits.put(0, 1);
                    }
                    bits.put(color as u32, 1);
                }
            }
        }
        for (i, n) in board.box_counts()?.into_iter().enumerate() {
            (0..n).for_each(|_| bits.put(BOX_CODE[i].0, BOX_CODE[i].1));
        }
        bits.finish().map(PackedSfen)
    }

    /// # Errors
    /// Bits that are no position.
    pub fn unpack(&self) -> Result<Board, RecordError> {
        let mut bits = BitReader::new(&self.0);
        let mut board = read_kings(&mut bits)?;
        for sq in 0..81 {
            if board.squares[sq].is_some() || bits.take(1)? == 0 {
                continue;
            }
            let i = if bits.take(1)? == 0 { 0 } else { big(&mut bits)? };
            let mut kind = PACKED_ORDER[i];
            if i != GOLD && bits.take(1)? == 1 {
                kind = kind.promoted();
            }
            board.squares[sq] = kind.of(color(bits.take(1)?));
        }
        let mut seen = [0u32; 7];
        while bits.left() > 0 {
            let i = if bits.take(1)? == 0 { 0 } else { big(&mut bits)? };
            let boxed = i != GOLD && bits.take(1)? == 1;
            let c = color(bits.take(1)?);
            if !boxed {
                seen[i] += 1;
                if seen[i] > super::board::FULL_SET[i] {
                    return Err(RecordError::Packed("more pieces in hand than a full set has"));
                }
                board.hands[c.index()].add(PACKED_ORDER[i]);
            }
        }
        board.box_counts()?;
        Ok(board)
    }

    /// The full position at ply `ply`.
    pub fn position(&self, ply: u32) -> Result<Position, RecordError> {
        self.unpack()?.position(ply)
    }
}

fn order(kind: PieceType) -> usize {
    PACKED_ORDER.iter().position(|&k| k == kind).expect("an unpromoted kind")
}

fn color(bit: u32) -> Color {
    if bit == 0 { Color::Black } else { Color::White }
}

/// The kinds other than the pawn, after the bits that exclude empty squares and pawns.
fn big(bits: &mut BitReader) -> Result<usize, RecordError> {
    Ok(match bits.take(2)? {
        0b00 => 1,
        0b10 => 2,
        0b01 => 3,
        _ if bits.take(1)? == 0 => GOLD,
        _ => 5 + bits.take(1)? as usize,
    })
}

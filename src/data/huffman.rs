//! Positions in 256 bits by prefix codes. [`PackedSfen`](super::PackedSfen) and
//! [`HuffmanCodedPos`](super::hcp::HuffmanCodedPos) differ in their [`Codes`] only.
//!
//! Bits, lowest first: the side to move; the squares of Black's and of White's king (7 bits each); the other
//! squares in order; Black's hand, White's hand, and the pieces that are in neither ("piece box"), each in the
//! order of [`PACKED_ORDER`]. A piece takes as many bits in hand as it adds on the board, so the length is
//! always the same.

use super::bits::{BitReader, BitWriter};
use super::board::{Board, PACKED_ORDER};
use super::error::RecordError;
use crate::position::SET;
use crate::types::{Color, Hand, Piece, PieceType};

/// The codes of one format, by the order of [`PACKED_ORDER`].
pub(super) struct Codes {
    /// On the board: (code, bits), before the bits for colour and (except for golds) promotion. An empty
    /// square is a single 0.
    pub board: [(u32, usize); 7],
    /// Whether the bit for promotion precedes that for colour.
    pub promotion_first: bool,
    /// In Black's hand, in White's hand, in the box; the bits of each. Further codes are read as in the box.
    pub hand: [(&'static [u32], usize); 7],
}

const GOLD: usize = 4;

/// # Errors
/// A missing king, or more pieces than a full set has.
pub(super) fn pack(board: &Board, codes: &Codes) -> Result<[u8; 32], RecordError> {
    let mut bits = BitWriter::new();
    bits.put(board.turn as u32, 1);
    for color in Color::ALL {
        let king = PieceType::KING.of(color);
        let sq = board.squares.iter().position(|&p| p == king);
        bits.put(sq.ok_or(RecordError::Packed("a king is missing"))? as u32, 7);
    }
    for &p in &board.squares {
        if p.is_none() {
            bits.put(0, 1);
        } else if p.kind() != PieceType::KING {
            let unpromoted = p.kind().unpromoted();
            let i = PACKED_ORDER.iter().position(|&k| k == unpromoted).expect("an unpromoted kind");
            bits.put(codes.board[i].0, codes.board[i].1);
            let (color, promoted) = (p.color() as u32, p.kind().is_promoted() as u32);
            match (i == GOLD, codes.promotion_first) {
                (true, _) => bits.put(color, 1),
                (false, true) => bits.put(promoted | color << 1, 2),
                (false, false) => bits.put(color | promoted << 1, 2),
            }
        }
    }
    for color in Color::ALL {
        for (kind, (code, n)) in PACKED_ORDER.into_iter().zip(codes.hand) {
            (0..board.hands[color.index()].count(kind)).for_each(|_| bits.put(code[color.index()], n));
        }
    }
    for (count, (code, n)) in board.box_counts()?.into_iter().zip(codes.hand) {
        (0..count).for_each(|_| bits.put(code[2], n));
    }
    bits.finish()
}

/// # Errors
/// Bits that are no position.
pub(super) fn unpack(bits: &[u8; 32], codes: &Codes) -> Result<Board, RecordError> {
    let mut bits = BitReader::new(bits);
    let side = |bit| if bit == 0 { Color::Black } else { Color::White };
    let turn = side(bits.take(1)?);
    let mut board = Board { squares: [Piece::NONE; 81], hands: [Hand::EMPTY; 2], turn };
    for color in Color::ALL {
        match board.squares.get_mut(bits.take(7)? as usize) {
            Some(p) if p.is_none() => *p = PieceType::KING.of(color),
            Some(_) => return Err(RecordError::Packed("both kings on one square")),
            None => return Err(RecordError::Packed("a king off the board")),
        }
    }
    for p in board.squares.iter_mut().filter(|p| p.is_none()) {
        if bits.peek(1) == 0 {
            bits.take(1)?;
            continue;
        }
        let next = bits.peek(6);
        let i = codes.board.iter().position(|&(code, n)| next & ((1 << n) - 1) == code);
        let i = i.ok_or(RecordError::Packed("unknown piece code"))?;
        bits.take(codes.board[i].1)?;
        let flags = bits.take(if i == GOLD { 1 } else { 2 })?;
        let (color, promoted) = match codes.promotion_first && i != GOLD {
            true => (flags >> 1, flags & 1),
            false => (flags & 1, flags >> 1),
        };
        let kind = PACKED_ORDER[i];
        *p = if promoted == 1 { kind.promoted() } else { kind }.of(side(color));
    }
    while bits.left() > 0 {
        let next = bits.peek(7);
        let found = PACKED_ORDER.into_iter().zip(codes.hand).find_map(|(kind, (code, n))| {
            let place = code.iter().position(|&c| next & ((1 << n) - 1) == c)?;
            Some((kind, place, n))
        });
        let (kind, place, n) = found.ok_or(RecordError::Packed("unknown hand code"))?;
        bits.take(n)?;
        if let Some(hand) = board.hands.get_mut(place) {
            if hand.count(kind) == SET[kind.index()] {
                return Err(RecordError::Packed("more pieces in hand than a full set has"));
            }
            hand.add(kind);
        }
    }
    board.box_counts()?;
    Ok(board)
}

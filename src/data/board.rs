//! A bare placement of pieces, what packed records hold, and the bit streams they are made of.

use super::game::RecordError;
use crate::position::Position;
use crate::types::{Color, Hand, Piece, PieceType, Square};

/// Squares, hands and the side to move, without history, keys or any promise of legality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    pub squares: [Piece; 81],
    pub hands: [Hand; 2],
    pub turn: Color,
}

/// The kinds in the order in which packed records list hands.
pub(super) const PACKED_ORDER: [PieceType; 7] = [
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
    pub fn of(pos: &Position) -> Board {
        Board {
            squares: *pos.board(),
            hands: [pos.hand(Color::Black), pos.hand(Color::White)],
            turn: pos.side_to_move(),
        }
    }

    /// A full position at ply `ply`.
    pub fn position(&self, ply: u32) -> Result<Position, RecordError> {
        Ok(Position::from_sfen(&self.sfen(ply))?)
    }

    /// The SFEN text.
    pub fn sfen(&self, ply: u32) -> String {
        let mut s = String::with_capacity(96);
        for rank in 0..9 {
            if rank > 0 {
                s.push('/');
            }
            let mut empty = 0u8;
            for file in (0..9).rev() {
                let p = self.squares[Square::new(file, rank).index()];
                if p.is_none() {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    s.push((b'0' + empty) as char);
                    empty = 0;
                }
                if p.kind().is_promoted() {
                    s.push('+');
                }
                s.push(letter(p.kind().unpromoted(), p.color()));
            }
            if empty > 0 {
                s.push((b'0' + empty) as char);
            }
        }
        s.push_str(if self.turn == Color::Black { " b " } else { " w " });
        let before = s.len();
        for color in Color::ALL {
            for kind in PieceType::HAND {
                let n = self.hands[color.index()].count(kind);
                if n > 1 {
                    s.push_str(&n.to_string());
                }
                if n > 0 {
                    s.push(letter(kind, color));
                }
            }
        }
        if s.len() == before {
            s.push('-');
        }
        s.push(' ');
        s.push_str(&ply.to_string());
        s
    }

    pub(super) fn king(&self, color: Color) -> Option<u8> {
        let king = PieceType::KING.of(color);
        self.squares.iter().position(|&p| p == king).map(|i| i as u8)
    }

    /// How many pieces of each kind of [`PACKED_ORDER`] are in neither hand nor on the board (handicaps, problems).
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

fn letter(kind: PieceType, color: Color) -> char {
    let c = b".PLNSBRGK"[kind.index()];
    (if color == Color::White { c.to_ascii_lowercase() } else { c }) as char
}

/// 256 bits, the lowest bit of the first byte first.
pub(super) struct BitWriter {
    bits: [u8; 32],
    at: usize,
}

impl BitWriter {
    pub(super) fn new() -> BitWriter {
        BitWriter { bits: [0; 32], at: 0 }
    }

    /// Appends the low `n` bits of `code`; what does not fit is counted and dropped.
    pub(super) fn put(&mut self, code: u32, n: usize) {
        for i in 0..n {
            if self.at < 256 {
                self.bits[self.at >> 3] |= ((code >> i & 1) as u8) << (self.at & 7);
            }
            self.at += 1;
        }
    }

    /// The bits, when exactly 256 were written.
    pub(super) fn finish(self) -> Result<[u8; 32], RecordError> {
        if self.at == 256 {
            Ok(self.bits)
        } else {
            Err(RecordError::Packed("the position does not fill exactly 256 bits"))
        }
    }
}

pub(super) struct BitReader<'a> {
    bits: &'a [u8; 32],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bits: &'a [u8; 32]) -> BitReader<'a> {
        BitReader { bits, at: 0 }
    }

    pub(super) fn left(&self) -> usize {
        256 - self.at
    }

    /// The next `n` bits as a number, without moving on; bits past the end read as 0.
    pub(super) fn peek(&self, n: usize) -> u32 {
        (0..n).fold(0, |v, i| {
            let at = self.at + i;
            let bit = if at < 256 { self.bits[at >> 3] >> (at & 7) & 1 } else { 0 };
            v | (bit as u32) << i
        })
    }

    pub(super) fn take(&mut self, n: usize) -> Result<u32, RecordError> {
        if n > self.left() {
            return Err(RecordError::Packed("the bits end early"));
        }
        let v = self.peek(n);
        self.at += n;
        Ok(v)
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

//! Apery's format (`book.bin`): 16 bytes a move, without positions.
//!
//! Little-endian u64 key of the position, u16 move in Apery's bits, u16 count, i32 score; sorted by key. The
//! keys come from the 64-bit Mersenne Twister with its own seed: pieces by square, then counts of pieces in
//! hand, then the turn.

use super::error::BookError;
use super::moves::BookMove;
use super::packed_position::PackedPosition;
use super::store::{Book, BookBuilder, Dropped};
use crate::data::board::PACKED_ORDER;
use crate::data::hcp::{from_apery_move, to_apery_move};
use crate::position::Position;
use crate::types::{Color, Square};
use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::sync::LazyLock;

const ENTRY: usize = 16;
/// What the format has for a depth: YaneuraOu shows this.
const DEPTH: i32 = 256;

struct Zobrist {
    /// By [`Piece`](crate::types::Piece) and square.
    pieces: Vec<[u64; 81]>,
    /// By the kind in [`PACKED_ORDER`] and the number.
    hands: Vec<[u64; 19]>,
    turn: u64,
}

static ZOBRIST: LazyLock<Zobrist> = LazyLock::new(|| {
    let mut twister = rand_mt::Mt64::new_unseeded();
    let mut next = || twister.next_u64();
    let mut pieces: Vec<[u64; 81]> = (0..31).map(|_| [(); 81].map(|()| next())).collect();
    pieces[0] = [0; 81];
    let hands = (0..7).map(|_| [(); 19].map(|()| next())).collect();
    Zobrist { pieces, hands, turn: next() }
});

/// The key of a position.
pub fn key(pos: &Position) -> u64 {
    let z = &*ZOBRIST;
    let side = pos.side_to_move();
    let board = Square::all().fold(0, |key, sq| key ^ z.pieces[pos.piece_on(sq).0 as usize][sq.index()]);
    let hand = PACKED_ORDER
        .iter()
        .zip(&z.hands)
        .fold(0, |key, (kind, by)| key ^ by[pos.hand(side).count(*kind) as usize]);
    board ^ hand ^ if side == Color::White { z.turn } else { 0 }
}

/// A book in memory, sorted by key.
pub struct AperyBook {
    entries: Vec<(u64, BookMove)>,
}

impl AperyBook {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// An incomplete entry at the end; bits that are no move.
    pub fn read(bytes: &[u8]) -> Result<AperyBook, BookError> {
        if !bytes.len().is_multiple_of(ENTRY) {
            let last = bytes.len() / ENTRY * ENTRY;
            return Err(BookError::byte(last as u64, "the last entry is incomplete"));
        }
        let mut entries = Vec::with_capacity(bytes.len() / ENTRY);
        for (i, b) in bytes.chunks_exact(ENTRY).enumerate() {
            let key = b[..8].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
            let raw = u16::from_le_bytes([b[8], b[9]]);
            let count = u16::from_le_bytes([b[10], b[11]]);
            let value = i32::from_le_bytes([b[12], b[13], b[14], b[15]]);
            // the promotion of a drop is no bit of the format
            let m = from_apery_move(raw).filter(|m| super::moves::is_move(*m) && raw >> 15 == 0);
            let m = m.ok_or_else(|| {
                BookError::byte((i * ENTRY + 8) as u64, format_args!("{raw:#x} is no move"))
            })?;
            let m = BookMove::new(m).with_value(Some(value.max(-i32::MAX))).with_depth(Some(DEPTH));
            entries.push((key, m.with_count(Some(count.into()))));
        }
        entries.sort_by_key(|(key, _)| *key);
        Ok(AperyBook { entries })
    }

    /// Number of positions.
    pub fn positions_count(&self) -> usize {
        self.entries.chunk_by(|a, b| a.0 == b.0).count()
    }

    /// The moves of a position, in the file's order; of a move that it names twice the first.
    pub fn find(&self, pos: &Position) -> Vec<BookMove> {
        let mut moves: Vec<BookMove> = Vec::new();
        for m in self.all_at(pos) {
            if moves.iter().all(|other| other.mv != m.mv) {
                moves.push(m);
            }
        }
        moves
    }

    fn all_at(&self, pos: &Position) -> impl Iterator<Item = BookMove> {
        let key = key(pos);
        let start = self.entries.partition_point(|(k, _)| *k < key);
        self.entries[start..].iter().take_while(move |(k, _)| *k == key).map(|(_, m)| *m)
    }

    /// The positions that the book's own moves reach from the usual starts; the format itself names none. The
    /// last number: how many positions are not reached.
    pub fn positions(&self) -> (Book, Dropped, usize) {
        let mut builder = BookBuilder::default();
        let mut seen: HashMap<u64, PackedPosition> = HashMap::new();
        let mut queue: VecDeque<(PackedPosition, u16)> =
            PackedPosition::starts().map(|packed| (packed, 1)).collect();
        while let Some((packed, ply)) = queue.pop_front() {
            let Some(mut pos) = packed.position(ply) else { continue };
            let moves: Vec<BookMove> = self.all_at(&pos).collect();
            if moves.is_empty() || seen.insert(key(&pos), packed).is_some() {
                continue;
            }
            builder.push(packed, ply, &moves);
            for m in &moves {
                if let Some(m) = m.on(&pos) {
                    pos.do_move(m);
                    queue.extend(
                        PackedPosition::of(&pos)
                            .filter(|_| !seen.contains_key(&key(&pos)))
                            .map(|p| (p, ply.saturating_add(1))),
                    );
                    pos.undo_move();
                }
            }
        }
        let (book, dropped) = builder.finish();
        (book, dropped, self.positions_count() - seen.len())
    }
}

/// Writes a book; of a position at several plies only the smallest ply. Returns the numbers of positions and
/// moves.
///
/// # Errors
/// The output cannot be written; a position is against the rules.
pub fn write(book: Book, out: &mut impl Write) -> Result<(usize, usize), BookError> {
    let (book, _) = book.without_other_plies();
    let mut entries: Vec<(u64, BookMove)> = Vec::with_capacity(book.move_count());
    for e in book.entries() {
        let key = key(&e.position()?);
        let mut moves = e.moves.to_vec();
        moves.sort_by_key(BookMove::rank);
        entries.extend(moves.into_iter().map(|m| (key, m)));
    }
    entries.sort_by_key(|(key, _)| *key);
    for (key, m) in entries {
        out.write_all(&key.to_le_bytes())?;
        out.write_all(&to_apery_move(m.mv).to_le_bytes())?;
        out.write_all(&(m.count().unwrap_or(1).min(u32::from(u16::MAX)) as u16).to_le_bytes())?;
        out.write_all(&m.value().unwrap_or(0).to_le_bytes())?;
    }
    Ok((book.len(), book.move_count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_match_other_programs() {
        for (sfen, bytes) in [
            ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", 0xeebe_8ee7_e1ad_7e15),
            (
                "lnsgk1snl/1r4g2/p1pppp1pp/6p2/1p5P1/2P6/PPSPPPP1P/7R1/LN1GKGSNL w Bb 12",
                0xe783_dab6_ffe8_59ac_u64,
            ),
            (
                "ln1gk1snl/1r4gb1/2sppppp1/p7p/2R6/P5P2/2PPPPN1P/1BGK2S2/LNS2G2L b 3Pp 27",
                0x9897_8249_33c4_fab7,
            ),
        ] {
            assert_eq!(key(&Position::from_sfen(sfen).unwrap()), bytes, "{sfen}");
        }
    }
}

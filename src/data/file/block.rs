//! A block of games: encoding, decoding, and reading one from a file.

use super::column::{Column, put_varint, unzigzag, zigzag};
use crate::data::error::RecordError;
use crate::data::game::{EndReason, GameRecord, GameResult, PlyRecord, Start};
use crate::data::packed_sfen::PackedSfen;
use std::io::{self, Read};

const MAGIC: &[u8; 4] = b"TGB1";
pub(super) const HEADER_LEN: usize = 20;
/// Limits of what a reader accepts as a block, so that a few bytes cannot claim all memory: decoding takes at
/// most some 200 MB. The writer ends a block at the first game with which it has 32,768 plies.
const MAX_PAYLOAD: u32 = 16 << 20;
/// Plain bytes of one column.
const MAX_COLUMN: u32 = 8 << 20;
/// A game takes memory of its own, however short it is.
const MAX_GAMES: u32 = 1 << 18;
const COLUMNS: usize = 5;
const ZSTD_LEVEL: i32 = 9;

/// The games of one block while they are collected.
#[derive(Default)]
pub(super) struct Block {
    pub(super) games: u32,
    pub(super) plies: usize,
    columns: [Vec<u8>; COLUMNS],
}

impl Block {
    pub(super) fn push(&mut self, game: &GameRecord) {
        let [games, to, from, score, fit] = &mut self.columns;
        put_varint(games, game.id);
        let packed = matches!(game.start, Start::Packed(..)) as u8;
        games.push(game.result as u8 | ((game.reason as u8) << 2) | (packed << 6));
        if let Start::Packed(p, ply) = &game.start {
            games.extend_from_slice(&p.0);
            games.extend_from_slice(&ply.to_le_bytes());
        }
        put_varint(games, game.opening.len() as u64);
        put_varint(games, game.plies.len() as u64);
        let mut put_move = |raw: u16| {
            to.push((raw & 0x7f) as u8 | ((raw >> 15) as u8 * 128));
            from.push((raw >> 7 & 0x7f) as u8 | ((raw >> 14 & 1) as u8 * 128));
        };
        game.opening.iter().for_each(|&m| put_move(m));
        game.plies.iter().for_each(|p| put_move(p.mv));
        let mut previous = 0i32;
        for p in &game.plies {
            put_varint(score, zigzag(p.score as i32 + previous));
            previous = p.score as i32;
        }
        for chunk in game.plies.chunks(8) {
            fit.push(chunk.iter().enumerate().fold(0, |bits, (i, p)| bits | (p.fit as u8) << i));
        }
        self.games += 1;
        self.plies += game.plies.len();
    }

    /// The bytes of the block, ready for appending; leaves this block empty.
    pub(super) fn take_bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut out = vec![0u8; HEADER_LEN];
        for column in &self.columns {
            let packed = zstd::bulk::compress(column, ZSTD_LEVEL)?;
            out.extend_from_slice(&(column.len() as u32).to_le_bytes());
            out.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            out.extend_from_slice(&packed);
        }
        let payload = (out.len() - HEADER_LEN) as u32;
        out[..4].copy_from_slice(MAGIC);
        out[8..12].copy_from_slice(&self.games.to_le_bytes());
        out[12..16].copy_from_slice(&(self.plies as u32).to_le_bytes());
        out[16..20].copy_from_slice(&payload.to_le_bytes());
        let crc = crc32fast::hash(&out[8..]);
        out[4..8].copy_from_slice(&crc.to_le_bytes());
        *self = Block::default();
        Ok(out)
    }
}

/// Decodes the payload of a block whose CRC has been checked.
fn decode(payload: &[u8], games: u32, plies: u32) -> Result<Vec<GameRecord>, &'static str> {
    if games > MAX_GAMES {
        return Err("too many games");
    }
    let mut rest = payload;
    let mut columns = Vec::with_capacity(COLUMNS);
    for _ in 0..COLUMNS {
        let (head, tail) = rest.split_at_checked(8).ok_or("a column is missing")?;
        let plain = u32::from_le_bytes(head[..4].try_into().expect("four bytes"));
        let stored = u32::from_le_bytes(head[4..].try_into().expect("four bytes"));
        let (frame, tail) = tail.split_at_checked(stored as usize).ok_or("a column is cut short")?;
        if plain > MAX_COLUMN {
            return Err("a column is too long");
        }
        let bytes =
            zstd::bulk::decompress(frame, plain as usize).map_err(|_| "a column does not decompress")?;
        if bytes.len() != plain as usize {
            return Err("a column has the wrong length");
        }
        columns.push(Column { bytes, at: 0 });
        rest = tail;
    }
    let [head, to, from, score, fit] = &mut columns[..] else { return Err("a column is missing") };
    let short = "a column ends early";
    let mut out = Vec::with_capacity((games as usize).min(head.bytes.len()));
    let mut seen = 0u64;
    for _ in 0..games {
        let id = head.varint().ok_or(short)?;
        let flags = head.byte().ok_or(short)?;
        let start = if flags >> 6 & 1 != 0 {
            let sfen: [u8; 32] = head.take(32).ok_or(short)?.try_into().expect("32 bytes");
            let ply = head.take(2).ok_or(short)?;
            Start::Packed(PackedSfen(sfen), u16::from_le_bytes([ply[0], ply[1]]))
        } else {
            Start::Startpos
        };
        let result = GameResult::from_bits(flags & 3).ok_or("unknown result")?;
        let reason = EndReason::from_bits(flags >> 2 & 15).ok_or("unknown reason")?;
        let opening = head.varint().ok_or(short)? as usize;
        let count = head.varint().ok_or(short)? as usize;
        if opening > to.left() || count > to.left() - opening {
            return Err(short);
        }
        let mut take_move = || -> Result<u16, &'static str> {
            let t = to.byte().ok_or(short)? as u16;
            let f = from.byte().ok_or(short)? as u16;
            Ok(t & 0x7f | (f & 0x7f) << 7 | (f >> 7) << 14 | (t >> 7) << 15)
        };
        let opening = (0..opening).map(|_| take_move()).collect::<Result<_, _>>()?;
        let mut scored = Vec::with_capacity(count);
        let (mut previous, mut bits) = (0i32, 0u8);
        for i in 0..count {
            let mv = take_move()?;
            let sum = unzigzag(score.varint().ok_or(short)?);
            let s = i16::try_from(sum.wrapping_sub(previous)).map_err(|_| "a score is out of range")?;
            previous = s as i32;
            bits = if i % 8 == 0 { fit.byte().ok_or(short)? } else { bits >> 1 };
            scored.push(PlyRecord { mv, score: s, fit: bits & 1 != 0 });
        }
        seen += count as u64;
        out.push(GameRecord { id, start, opening, plies: scored, result, reason });
    }
    if seen != plies as u64 || columns.iter().any(|c| c.left() != 0) {
        return Err("counts and columns disagree");
    }
    Ok(out)
}

/// A block as read: its place, its counts and its payload, not yet decoded (so that threads can share the
/// decoding).
pub struct RawBlock {
    /// Byte offset of the block in its file.
    pub offset: u64,
    /// How many games the block holds.
    pub games: u32,
    /// Scored plies.
    pub plies: u32,
    payload: Vec<u8>,
}

impl RawBlock {
    /// The games.
    ///
    /// # Errors
    /// Bytes that are no games, though their checksum is right.
    pub fn decode(&self) -> Result<Vec<GameRecord>, RecordError> {
        decode(&self.payload, self.games, self.plies)
            .map_err(|what| RecordError::Block { offset: self.offset, what })
    }

    /// Bytes of the block on disk.
    pub fn bytes(&self) -> u64 {
        (HEADER_LEN + self.payload.len()) as u64
    }
}

/// Reads the header of the block at `offset`; `Ok(None)` when the input ends exactly there.
pub(super) fn read_header(input: &mut impl Read, offset: u64) -> Result<Option<Vec<u8>>, RecordError> {
    let bad = |what| Err(RecordError::Block { offset, what });
    let mut header = Vec::with_capacity(HEADER_LEN);
    input.take(HEADER_LEN as u64).read_to_end(&mut header)?;
    match header.len() {
        0 => Ok(None),
        HEADER_LEN if header.starts_with(MAGIC) => Ok(Some(header)),
        HEADER_LEN => bad("no block starts here"),
        _ => bad("torn header"),
    }
}

/// The number at a byte offset of a header.
fn word(header: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"))
}

/// Bytes after a header.
pub(super) fn payload_len(header: &[u8]) -> u32 {
    word(header, 16)
}

/// Reads one block at `offset`; `Ok(None)` when the input ends exactly there.
pub(super) fn read_block(input: &mut impl Read, offset: u64) -> Result<Option<RawBlock>, RecordError> {
    let bad = |what| RecordError::Block { offset, what };
    let Some(header) = read_header(input, offset)? else { return Ok(None) };
    let payload_len = payload_len(&header);
    if payload_len > MAX_PAYLOAD {
        return Err(bad("impossible length"));
    }
    let mut payload = Vec::new();
    input.take(payload_len as u64).read_to_end(&mut payload)?;
    if payload.len() < payload_len as usize {
        return Err(bad("torn block"));
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[8..]);
    hasher.update(&payload);
    if hasher.finalize() != word(&header, 4) {
        return Err(bad("checksum mismatch"));
    }
    Ok(Some(RawBlock { offset, games: word(&header, 8), plies: word(&header, 12), payload }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few bytes cannot ask for gigabytes.
    #[test]
    fn blocks_are_bounded() {
        let column = |plain: u32| [plain.to_le_bytes(), 0u32.to_le_bytes()].concat();
        assert_eq!(decode(&[], MAX_GAMES + 1, 0).err(), Some("too many games"));
        assert_eq!(decode(&column(MAX_COLUMN + 1), 1, 0).err(), Some("a column is too long"));
        // the frame holds more bytes than its header claims
        let frame = zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap();
        let payload = [&1u32.to_le_bytes()[..], &(frame.len() as u32).to_le_bytes(), &frame].concat();
        assert_eq!(decode(&payload, 1, 0).err(), Some("a column does not decompress"));
    }
}

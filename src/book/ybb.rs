//! YaneuraOu's binary format (`.ybb`).
//!
//! Little-endian: 16 bytes of magic; u64 number of positions; u64 flags (bit 0: moves have a depth). Then 44
//! bytes per position, sorted by the first 32: packed SFEN, u64 offset of its moves from the end of this
//! index, u16 ply, u16 number of moves. Then the moves: u16 move, i16 score, and u16 depth if the flag says
//! so.

use super::error::BookError;
use super::moves::{BookMove, is_move};
use super::packed_position::PackedPosition;
use super::source::BookSource;
use super::store::{Book, BookBuilder, Dropped};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The first bytes.
pub const MAGIC: &[u8; 16] = b"YANE-BINBOOK-V1\0";
const HEADER: u64 = 32;
const RECORD: u64 = 44;
const WITH_DEPTH: u64 = 1;

/// An open book, in memory or on the disk.
pub struct YbbFile {
    source: BookSource,
    records: u64,
    depth: bool,
}

struct YbbRecord {
    packed: PackedPosition,
    offset: u64,
    ply: u16,
    count: u16,
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

impl YbbFile {
    /// Opens a file that stays on the disk.
    ///
    /// # Errors
    /// When the file cannot be read or its header is invalid.
    pub fn open(path: &Path) -> Result<YbbFile, BookError> {
        YbbFile::of(BookSource::file(File::open(path)?)?)
    }

    /// A book in memory.
    ///
    /// # Errors
    /// When the header is invalid.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<YbbFile, BookError> {
        YbbFile::of(BookSource::Memory(bytes))
    }

    fn of(source: BookSource) -> Result<YbbFile, BookError> {
        let mut header = [0; HEADER as usize];
        source
            .read_exact_at(0, &mut header)
            .map_err(|_| BookError::byte(source.len(), "the file ends in its header"))?;
        if &header[..16] != MAGIC {
            return Err(BookError::byte(0, "not a book of this format"));
        }
        let (records, flags) = (u64_at(&header, 16), u64_at(&header, 24));
        if flags & !WITH_DEPTH != 0 {
            return Err(BookError::byte(24, format_args!("unknown flags {flags:#x}")));
        }
        if records > (source.len() - HEADER) / RECORD {
            let what = format_args!("the header says {records} positions, the file is too short for them");
            return Err(BookError::byte(16, what));
        }
        Ok(YbbFile { source, records, depth: flags & WITH_DEPTH != 0 })
    }

    /// Number of positions.
    pub fn positions(&self) -> u64 {
        self.records
    }

    fn record(&self, index: u64) -> Result<YbbRecord, BookError> {
        let mut b = [0; RECORD as usize];
        let at = HEADER + index * RECORD;
        self.source.read_exact_at(at, &mut b).map_err(|e| BookError::byte(at, e))?;
        let mut packed = PackedPosition([0; 32]);
        packed.0.copy_from_slice(&b[..32]);
        Ok(YbbRecord { packed, offset: u64_at(&b, 32), ply: u16_at(&b, 40), count: u16_at(&b, 42) })
    }

    fn moves(&self, index: u64, r: &YbbRecord) -> Result<Vec<BookMove>, BookError> {
        let size = if self.depth { 6 } else { 4 };
        let base = HEADER + self.records * RECORD;
        let wrong = || BookError::byte(HEADER + index * RECORD + 32, "its moves lie outside the file");
        let start = base.checked_add(r.offset).ok_or_else(wrong)?;
        let bytes = u64::from(r.count) * size;
        if start > self.source.len() || self.source.len() - start < bytes {
            return Err(wrong());
        }
        let mut buffer = vec![0; bytes as usize];
        self.source.read_exact_at(start, &mut buffer).map_err(|e| BookError::byte(start, e))?;
        let read = |b: &[u8]| {
            let m = BookMove::new(u16_at(b, 0)).with_value(Some(i32::from(u16_at(b, 2) as i16)));
            m.with_depth((b.len() > 4).then(|| i32::from(u16_at(b, 4))))
        };
        Ok(buffer.chunks_exact(size as usize).map(read).filter(|m| is_move(m.mv)).collect())
    }

    /// Ply and moves of a position.
    ///
    /// # Errors
    /// When the file cannot be read, or the moves lie outside it.
    pub fn find(&self, packed: &PackedPosition) -> Result<Option<(u16, Vec<BookMove>)>, BookError> {
        let (mut low, mut high) = (0, self.records);
        while low < high {
            let middle = low + (high - low) / 2;
            let record = self.record(middle)?;
            match record.packed.cmp(packed) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(Some((record.ply, self.moves(middle, &record)?))),
            }
        }
        Ok(None)
    }

    /// The index of the first position that is out of order, if any.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn first_unsorted(&self) -> Result<Option<u64>, BookError> {
        let mut last: Option<PackedPosition> = None;
        for i in 0..self.records {
            let packed = self.record(i)?.packed;
            if last.is_some_and(|l| l >= packed) {
                return Ok(Some(i));
            }
            last = Some(packed);
        }
        Ok(None)
    }

    /// The whole book.
    ///
    /// # Errors
    /// When bits are not a position or a move, or moves lie outside the file.
    pub fn read(&self) -> Result<(Book, Dropped), BookError> {
        let mut builder = BookBuilder::default();
        for i in 0..self.records {
            let r = self.record(i)?;
            if crate::data::PackedSfen(r.packed.0).unpack().is_err() {
                return Err(BookError::byte(HEADER + i * RECORD, "not a packed position"));
            }
            let moves = self.moves(i, &r)?;
            if moves.len() != usize::from(r.count) {
                return Err(BookError::byte(HEADER + i * RECORD, "one of its moves is not a move"));
            }
            builder.push(r.packed, r.ply, &moves);
        }
        Ok(builder.finish())
    }
}

/// Writes a book. A position at several plies is written once, at the smallest. Moves are ordered by rank.
/// Depths are written if any move has one. Returns the numbers of positions and moves.
///
/// # Errors
/// When the output cannot be written.
pub fn write(book: Book, out: &mut impl Write) -> Result<(usize, usize), BookError> {
    let (book, _) = book.without_other_plies();
    let depth = book.entries().any(|e| e.moves.iter().any(|m| m.depth().is_some_and(|d| d > 0)));
    let size = if depth { 6 } else { 4 };
    out.write_all(MAGIC)?;
    out.write_all(&(book.len() as u64).to_le_bytes())?;
    out.write_all(&(if depth { WITH_DEPTH } else { 0 }).to_le_bytes())?;
    let mut offset = 0u64;
    for e in book.entries() {
        out.write_all(&e.packed.0)?;
        out.write_all(&offset.to_le_bytes())?;
        out.write_all(&e.ply.to_le_bytes())?;
        out.write_all(&(e.moves.len() as u16).to_le_bytes())?;
        offset += size * e.moves.len() as u64;
    }
    for e in book.entries() {
        let mut moves = e.moves.to_vec();
        moves.sort_by_key(BookMove::rank);
        for m in &moves {
            let value = m.value().unwrap_or(0).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
            out.write_all(&m.mv.to_le_bytes())?;
            out.write_all(&value.to_le_bytes())?;
            if depth {
                let depth = m.depth().unwrap_or(0).clamp(0, i32::from(u16::MAX)) as u16;
                out.write_all(&depth.to_le_bytes())?;
            }
        }
    }
    Ok((book.len(), book.move_count()))
}

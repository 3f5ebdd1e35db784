//! Game files: append-only blocks of games, about 2.5 bytes a position.
//!
//! All integers are little-endian. A file is one header and any number of blocks:
//!
//! ```text
//! header, 32 bytes   "toragame"  u32 version = 1  u32 CRC-32 of the other 28 bytes  u64 fingerprint  u64 0
//! block              u32 magic "TGB1"  u32 CRC-32 of all that follows in the block
//!                    u32 games  u32 scored plies  u32 payload bytes
//!                    payload = five columns, each: u32 plain bytes  u32 stored bytes  zstd frame
//! ```
//!
//! The columns hold the same fields of all games of the block side by side, because each field has its own statistics
//! and a column of like bytes compresses far better than interleaved records (zstd keeps one entropy table a column):
//!
//! 1. *games*: per game varint id; byte `result | reason << 2 | packed start << 6`; with a packed start 32 bytes of
//!    PackedSfen and a u16 ply; varint opening moves; varint scored plies
//! 2. *to*: per move (openings included) `to | promotion << 7`
//! 3. *from*: per move origin square, or dropped kind `| 128`
//! 4. *score*: per scored ply the zigzag varint of `score + previous score`. Scores are for the side to move, so the
//!    sum is how far the opponent's opinion differs, a small number
//! 5. *fit*: one bit per scored ply, each game starting on a new byte
//!
//! The fingerprint stands for the settings that made the games (network, options, version); files whose fingerprints
//! differ are not appended to by accident. A block is valid only when complete and its CRC matches, so a run killed while
//! writing loses at most the unfinished block: [`GameReader`] stops before it, and [`GameWriter::append`] cuts it off.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::game::{EndReason, GameRecord, GameResult, PlyRecord, RecordError, Start};
use super::packed_sfen::PackedSfen;

/// The version of the file format.
pub const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"toragame";
const BLOCK_MAGIC: &[u8; 4] = b"TGB1";
/// Length of the file header in bytes.
pub const HEADER_LEN: u64 = 32;
const BLOCK_HEADER_LEN: usize = 20;
/// Upper bound of a payload that a reader believes, so that a damaged length cannot ask for all memory.
const MAX_PAYLOAD: u32 = 256 << 20;
/// Upper bound of the plain bytes of one column.
const MAX_COLUMN: u32 = 256 << 20;
/// A block is written by itself when it holds this many plies.
const BLOCK_PLIES: usize = 1 << 15;
const COLUMNS: usize = 5;
const ZSTD_LEVEL: i32 = 9;

fn header(fingerprint: u64) -> [u8; HEADER_LEN as usize] {
    let mut h = [0u8; HEADER_LEN as usize];
    h[..8].copy_from_slice(MAGIC);
    h[8..12].copy_from_slice(&VERSION.to_le_bytes());
    h[16..24].copy_from_slice(&fingerprint.to_le_bytes());
    let crc = header_crc(&h);
    h[12..16].copy_from_slice(&crc.to_le_bytes());
    h
}

fn header_crc(h: &[u8; HEADER_LEN as usize]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&h[..12]);
    crc.update(&h[16..]);
    crc.finalize()
}

fn put_varint(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

fn zigzag(v: i32) -> u64 {
    ((v << 1) ^ (v >> 31)) as u32 as u64
}

fn unzigzag(v: u64) -> i32 {
    ((v >> 1) as i32) ^ -((v & 1) as i32)
}

/// A cursor over one decompressed column.
struct Column {
    bytes: Vec<u8>,
    at: usize,
}

impl Column {
    fn byte(&mut self) -> Option<u8> {
        let b = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(b)
    }

    fn take(&mut self, n: usize) -> Option<&[u8]> {
        let s = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(s)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut v = 0u64;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            v |= ((b & 0x7f) as u64) << shift;
            if b & 0x80 == 0 {
                return Some(v);
            }
        }
        None
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }
}

/// The games of one block while they are collected.
#[derive(Default)]
struct Block {
    games: u32,
    plies: usize,
    columns: [Vec<u8>; COLUMNS],
}

impl Block {
    fn push(&mut self, game: &GameRecord) {
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
    fn take_bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut out = vec![0u8; BLOCK_HEADER_LEN];
        for column in &self.columns {
            let packed = zstd::bulk::compress(column, ZSTD_LEVEL)?;
            out.extend_from_slice(&(column.len() as u32).to_le_bytes());
            out.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            out.extend_from_slice(&packed);
        }
        let payload = (out.len() - BLOCK_HEADER_LEN) as u32;
        out[..4].copy_from_slice(BLOCK_MAGIC);
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

/// Appends games to a file, in blocks.
///
/// Dropping a writer without [`flush`](Self::flush) or [`finish`](Self::finish) loses the games of the open block.
pub struct GameWriter {
    file: File,
    block: Block,
    len: u64,
}

impl GameWriter {
    /// Starts a new file; an existing one is replaced.
    pub fn create(path: &Path, fingerprint: u64) -> Result<GameWriter, RecordError> {
        let mut file = File::create(path).map_err(|e| at_path(path, e))?;
        file.write_all(&header(fingerprint))?;
        Ok(GameWriter { file, block: Block::default(), len: HEADER_LEN })
    }

    /// Continues a file (or starts it): cuts a torn tail off, hands every game already there to `seen`, and appends.
    /// A file torn within its header is started again.
    ///
    /// # Errors
    /// When the file carries another fingerprint, or is no game file.
    pub fn append(
        path: &Path,
        fingerprint: u64,
        mut seen: impl FnMut(&GameRecord),
    ) -> Result<GameWriter, RecordError> {
        match std::fs::metadata(path) {
            Ok(meta) if meta.len() >= HEADER_LEN => {}
            Ok(_) => return Self::create(path, fingerprint),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Self::create(path, fingerprint),
            Err(e) => return Err(at_path(path, e)),
        }
        let mut reader = GameReader::open(path)?;
        if reader.fingerprint() != fingerprint {
            return Err(RecordError::Fingerprint { found: reader.fingerprint(), expected: fingerprint });
        }
        for game in reader.by_ref() {
            seen(&game?);
        }
        let len = reader.valid_len();
        drop(reader);
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(|e| at_path(path, e))?;
        file.set_len(len)?;
        file.seek(SeekFrom::End(0))?;
        Ok(GameWriter { file, block: Block::default(), len })
    }

    /// Adds a game; writes a block when enough have come together.
    pub fn write(&mut self, game: &GameRecord) -> Result<(), RecordError> {
        self.block.push(game);
        if self.block.plies >= BLOCK_PLIES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the open block, if there is one, and hands it to the operating system.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if self.block.games > 0 {
            let bytes = self.block.take_bytes()?;
            self.file.write_all(&bytes)?;
            self.len += bytes.len() as u64;
        }
        Ok(())
    }

    /// The games in the open block, which a kill would lose.
    pub fn pending(&self) -> u32 {
        self.block.games
    }

    /// Bytes in the file, without the open block.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no block has been written yet.
    pub fn is_empty(&self) -> bool {
        self.len == HEADER_LEN
    }

    /// Writes what is open and waits until it is on disk.
    pub fn finish(mut self) -> Result<u64, RecordError> {
        self.flush()?;
        self.file.sync_all()?;
        Ok(self.len)
    }
}

fn at_path(path: &Path, source: io::Error) -> RecordError {
    RecordError::File { path: path.display().to_string(), source }
}

/// A block as read: its place, its counts and its payload, not yet decoded (so that threads can share the decoding).
pub struct RawBlock {
    /// Byte offset of the block in its file.
    pub offset: u64,
    pub games: u32,
    /// Scored plies.
    pub plies: u32,
    payload: Vec<u8>,
}

impl RawBlock {
    pub fn decode(&self) -> Result<Vec<GameRecord>, RecordError> {
        decode(&self.payload, self.games, self.plies)
            .map_err(|what| RecordError::Block { offset: self.offset, what })
    }

    /// Bytes of the block on disk.
    pub fn len(&self) -> usize {
        self.payload.len() + BLOCK_HEADER_LEN
    }

    /// Whether the block holds no game.
    pub fn is_empty(&self) -> bool {
        self.games == 0
    }
}

/// Reads the games of a file in order. Iteration ends cleanly before a torn or damaged block;
/// [`problem`](Self::problem) then tells what was met and [`valid_len`](Self::valid_len) where to cut.
pub struct GameReader<R = BufReader<File>> {
    input: R,
    fingerprint: u64,
    valid_len: u64,
    queue: std::vec::IntoIter<GameRecord>,
    problem: Option<RecordError>,
    done: bool,
}

impl GameReader {
    pub fn open(path: &Path) -> Result<GameReader, RecordError> {
        let file = File::open(path).map_err(|e| at_path(path, e))?;
        GameReader::new(BufReader::with_capacity(1 << 20, file))
    }

    /// Steps over the next block by its header alone and returns its offset; `Ok(None)` at the end, or before a block
    /// that is cut off. Neither the payload nor its checksum is looked at: [`block_at`](Self::block_at) does that.
    pub fn skip_block(&mut self) -> Result<Option<u64>, RecordError> {
        if self.done {
            return Ok(None);
        }
        let offset = self.valid_len;
        let mut h = [0u8; BLOCK_HEADER_LEN];
        let got = read_full(&mut self.input, &mut h)?;
        let payload = u32::from_le_bytes(h[16..20].try_into().expect("four bytes"));
        let what = match got {
            0 => None,
            _ if got < h.len() => Some("torn header"),
            _ if &h[..4] != BLOCK_MAGIC => Some("no block starts here"),
            _ if offset + (BLOCK_HEADER_LEN as u64) + payload as u64
                > self.input.get_ref().metadata()?.len() =>
            {
                Some("torn block")
            }
            _ => {
                self.input.seek_relative(payload as i64)?;
                self.valid_len += BLOCK_HEADER_LEN as u64 + payload as u64;
                return Ok(Some(offset));
            }
        };
        self.done = true;
        self.problem = what.map(|what| RecordError::Block { offset, what });
        Ok(None)
    }

    /// Reads the block that starts at `offset`, as [`RawBlock::offset`] gave it.
    pub fn block_at(&mut self, offset: u64) -> Result<RawBlock, RecordError> {
        self.input.seek(SeekFrom::Start(offset))?;
        match read_block(&mut self.input, offset) {
            Ok(Some(block)) => Ok(block),
            Ok(None) => Err(RecordError::Block { offset, what: "the file ends before it" }),
            Err(e) => Err(e),
        }
    }
}

impl<R: Read> GameReader<R> {
    /// Reads the header.
    pub fn new(mut input: R) -> Result<GameReader<R>, RecordError> {
        let mut h = [0u8; HEADER_LEN as usize];
        input.read_exact(&mut h).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => RecordError::NotAGameFile,
            _ => RecordError::Io(e),
        })?;
        if &h[..8] != MAGIC {
            return Err(RecordError::NotAGameFile);
        }
        if h[12..16] != header_crc(&h).to_le_bytes() {
            return Err(RecordError::Header);
        }
        let version = u32::from_le_bytes(h[8..12].try_into().expect("four bytes"));
        if version != VERSION {
            return Err(RecordError::Version(version));
        }
        let fingerprint = u64::from_le_bytes(h[16..24].try_into().expect("eight bytes"));
        let queue = Vec::new().into_iter();
        Ok(GameReader { input, fingerprint, valid_len: HEADER_LEN, queue, problem: None, done: false })
    }

    /// The settings that made this file, as one number.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Bytes up to the end of the last good block read so far.
    pub fn valid_len(&self) -> u64 {
        self.valid_len
    }

    /// What ended the reading early, if anything did.
    pub fn problem(&self) -> Option<&RecordError> {
        self.problem.as_ref()
    }

    /// The next block, without decoding it. `Ok(None)` at the end of the good part of the file.
    pub fn next_block(&mut self) -> Result<Option<RawBlock>, RecordError> {
        if self.done {
            return Ok(None);
        }
        match read_block(&mut self.input, self.valid_len) {
            Ok(Some(block)) => {
                self.valid_len += block.len() as u64;
                Ok(Some(block))
            }
            Ok(None) => {
                self.done = true;
                Ok(None)
            }
            Err(RecordError::Io(e)) => {
                self.done = true;
                Err(e.into())
            }
            Err(problem) => {
                self.done = true;
                self.problem = Some(problem);
                Ok(None)
            }
        }
    }
}

impl<R: Read> Iterator for GameReader<R> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(game) = self.queue.next() {
                return Some(Ok(game));
            }
            match self.next_block() {
                Ok(Some(block)) => match block.decode() {
                    Ok(games) => self.queue = games.into_iter(),
                    Err(problem) => {
                        // a CRC that fits bytes that make no sense: treat the block as damaged
                        self.valid_len = block.offset;
                        self.problem = Some(problem);
                        self.done = true;
                        return None;
                    }
                },
                Ok(None) => return None,
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

/// Reads one block at `offset`; `Ok(None)` when the input ends exactly there.
fn read_block(input: &mut impl Read, offset: u64) -> Result<Option<RawBlock>, RecordError> {
    let bad = |what| RecordError::Block { offset, what };
    let mut h = [0u8; BLOCK_HEADER_LEN];
    let got = read_full(input, &mut h)?;
    if got == 0 {
        return Ok(None);
    }
    if got < h.len() {
        return Err(bad("torn header"));
    }
    if &h[..4] != BLOCK_MAGIC {
        return Err(bad("no block starts here"));
    }
    let word = |i: usize| u32::from_le_bytes(h[i..i + 4].try_into().expect("four bytes"));
    let (crc, games, plies, payload_len) = (word(4), word(8), word(12), word(16));
    if payload_len > MAX_PAYLOAD {
        return Err(bad("impossible length"));
    }
    let mut payload = Vec::new();
    input.take(payload_len as u64).read_to_end(&mut payload)?;
    if payload.len() < payload_len as usize {
        return Err(bad("torn block"));
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&h[8..]);
    hasher.update(&payload);
    if hasher.finalize() != crc {
        return Err(bad("checksum mismatch"));
    }
    Ok(Some(RawBlock { offset, games, plies, payload }))
}

/// Fills `buf` as far as the input goes.
fn read_full(input: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buf.len() {
        match input.read(&mut buf[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(id: u64, n: usize) -> GameRecord {
        let mut x = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut rnd = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 32) as u32
        };
        let start = if id.is_multiple_of(3) {
            Start::Packed(PackedSfen(std::array::from_fn(|_| rnd() as u8)), rnd() as u16)
        } else {
            Start::Startpos
        };
        let plies = (0..n)
            .map(|_| PlyRecord { mv: rnd() as u16, score: rnd() as i16, fit: rnd() & 1 == 0 })
            .collect();
        GameRecord {
            id,
            start,
            opening: (0..rnd() % 9).map(|_| rnd() as u16).collect(),
            plies,
            result: GameResult::from_bits((id % 3) as u8).unwrap(),
            reason: EndReason::ALL[id as usize % EndReason::ALL.len()],
        }
    }

    #[test]
    fn games_read_back_and_torn_tails_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tgames");
        let games: Vec<_> = (0..40).map(|i| game(i * 1_000_003, i as usize * 5)).collect();
        let mut w = GameWriter::create(&path, 77).unwrap();
        let mut ends = vec![(HEADER_LEN, 0)];
        for (i, g) in games.iter().enumerate() {
            w.write(g).unwrap();
            if i % 7 == 6 {
                w.flush().unwrap();
                ends.push((w.len(), i + 1));
            }
        }
        ends.push((w.finish().unwrap(), games.len()));
        let read: Vec<_> = GameReader::open(&path).unwrap().map(|g| g.unwrap()).collect();
        assert_eq!(read, games);

        let bytes = std::fs::read(&path).unwrap();
        for cut in (HEADER_LEN as usize..bytes.len()).step_by(37) {
            let &(end, n) = ends.iter().rev().find(|(e, _)| *e <= cut as u64).unwrap();
            let mut r = GameReader::new(&bytes[..cut]).unwrap();
            assert_eq!(r.by_ref().map(|g| g.unwrap()).collect::<Vec<_>>(), games[..n]);
            assert_eq!(r.valid_len(), end);
            assert_eq!(r.problem().is_some(), end != cut as u64);

            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut seen = 0;
            let mut w = GameWriter::append(&path, 77, |_| seen += 1).unwrap();
            assert_eq!(seen, n);
            games[n..].iter().for_each(|g| w.write(g).unwrap());
            w.finish().unwrap();
            let again: Vec<_> = GameReader::open(&path).unwrap().map(|g| g.unwrap()).collect();
            assert_eq!(again, games);
        }
        assert!(matches!(
            GameWriter::append(&path, 78, |_| ()),
            Err(RecordError::Fingerprint { found: 77, expected: 78 })
        ));
    }

    #[test]
    fn damage_never_panics_and_never_yields_other_games() {
        let mut block = Block::default();
        let games: Vec<_> = (0..5).map(|i| game(i, 20)).collect();
        games.iter().for_each(|g| block.push(g));
        let mut bytes = header(1).to_vec();
        bytes.extend(block.take_bytes().unwrap());
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x41;
            if let Ok(r) = GameReader::new(&bad[..]) {
                assert_eq!(r.filter_map(Result::ok).count(), 0, "byte {at}");
            }
        }
    }
}

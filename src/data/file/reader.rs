//! Reading game files: [`GameReader`].

use super::block::{self, RawBlock, read_block, read_full};
use super::header::{self, HEADER_LEN};
use crate::data::error::RecordError;
use crate::data::game::GameRecord;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Reads the games of a file in order. Iteration ends before a torn or damaged block; then
/// [`problem`](Self::problem) is the reason and [`valid_len`](Self::valid_len) where to cut the file.
pub struct GameReader<R = BufReader<File>> {
    input: R,
    path: Option<PathBuf>,
    fingerprint: u64,
    valid_len: u64,
    queue: std::vec::IntoIter<GameRecord>,
    problem: Option<RecordError>,
    done: bool,
}

impl GameReader {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// They name the file, and so do all later ones.
    pub fn open(path: &Path) -> Result<GameReader, RecordError> {
        let file = File::open(path).map_err(RecordError::at(path))?;
        let reader = GameReader::new(BufReader::with_capacity(1 << 20, file));
        Ok(GameReader { path: Some(path.into()), ..reader.map_err(RecordError::at(path))? })
    }

    /// Steps over the next block by its header alone and returns its offset; `Ok(None)` at the end, or before
    /// a block that is cut off. Neither the payload nor its checksum is looked at:
    /// [`block_at`](Self::block_at) does that.
    pub fn skip_block(&mut self) -> Result<Option<u64>, RecordError> {
        if self.done {
            return Ok(None);
        }
        let offset = self.valid_len;
        match self.step_over(offset) {
            Ok(Ok(end)) => {
                self.valid_len = end;
                Ok(Some(offset))
            }
            Ok(Err(what)) => {
                self.done = true;
                self.problem = what.map(|what| RecordError::Block { offset, what });
                Ok(None)
            }
            Err(e) => Err(self.located(e.into())),
        }
    }

    /// Where the block at `offset` ends, or what is met in its place (nothing at the end of the file).
    fn step_over(&mut self, offset: u64) -> io::Result<Result<u64, Option<&'static str>>> {
        let mut h = [0u8; block::HEADER_LEN];
        let got = read_full(&mut self.input, &mut h)?;
        let payload = u32::from_le_bytes([h[16], h[17], h[18], h[19]]);
        let end = offset + block::HEADER_LEN as u64 + u64::from(payload);
        Ok(match got {
            0 => Err(None),
            _ if got < h.len() => Err(Some("torn header")),
            _ if &h[..4] != block::MAGIC => Err(Some("no block starts here")),
            _ if end > self.input.get_ref().metadata()?.len() => Err(Some("torn block")),
            _ => {
                self.input.seek_relative(i64::from(payload))?;
                Ok(end)
            }
        })
    }

    /// Reads the block that starts at `offset`, as [`RawBlock::offset`] gave it.
    pub fn block_at(&mut self, offset: u64) -> Result<RawBlock, RecordError> {
        let block = match self.input.seek(SeekFrom::Start(offset)) {
            Ok(_) => read_block(&mut self.input, offset),
            Err(e) => Err(e.into()),
        };
        match block {
            Ok(Some(block)) => Ok(block),
            Ok(None) => Err(self.located(RecordError::Block { offset, what: "the file ends before it" })),
            Err(e) => Err(self.located(e)),
        }
    }
}

impl<R: Read> GameReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Bytes that are no header, or that of another version.
    pub fn new(mut input: R) -> Result<GameReader<R>, RecordError> {
        let fingerprint = header::read(&mut input)?;
        let queue = Vec::new().into_iter();
        Ok(GameReader {
            input,
            path: None,
            fingerprint,
            valid_len: HEADER_LEN,
            queue,
            problem: None,
            done: false,
        })
    }

    /// The error with the file's name, if it is known.
    fn located(&self, e: RecordError) -> RecordError {
        match &self.path {
            Some(path) => RecordError::at(path)(e),
            None => e,
        }
    }

    /// The settings that made this file, as one number.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Bytes up to the end of the last good block read so far.
    pub fn valid_len(&self) -> u64 {
        self.valid_len
    }

    /// Why the reading ended early, if it did.
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
                Err(self.located(e.into()))
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

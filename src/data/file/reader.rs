//! Reading game files: [`GameReader`].

use super::block::{self, RawBlock, read_block};
use super::header::{self, HEADER_LEN};
use crate::data::error::RecordError;
use crate::data::game::GameRecord;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
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

    /// Skips the next block by its header alone and returns its offset; `Ok(None)` at the end, or before a
    /// block that is cut off. [`block_at`](Self::block_at) reads the payload and checks its checksum.
    pub fn skip_block(&mut self) -> Result<Option<u64>, RecordError> {
        self.advance(|input, offset| {
            let Some(header) = block::read_header(input, offset)? else { return Ok(None) };
            let payload = block::payload_len(&header);
            let end = offset + (block::HEADER_LEN as u64) + u64::from(payload);
            if end > input.get_ref().metadata()?.len() {
                return Err(RecordError::Block { offset, what: "torn block" });
            }
            input.seek_relative(i64::from(payload))?;
            Ok(Some((offset, end)))
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
        self.advance(|input, offset| {
            let block = read_block(input, offset)?;
            Ok(block.map(|block| {
                let end = offset + block.bytes();
                (block, end)
            }))
        })
    }

    /// Calls `read` with the end of the good part of the file. It returns a block and where that ends. An
    /// error of its own ends the good part, and is the [`problem`](Self::problem) unless it is of the input.
    fn advance<T>(
        &mut self,
        read: impl FnOnce(&mut R, u64) -> Result<Option<(T, u64)>, RecordError>,
    ) -> Result<Option<T>, RecordError> {
        if self.done {
            return Ok(None);
        }
        let end = match read(&mut self.input, self.valid_len) {
            Ok(Some((block, end))) => {
                self.valid_len = end;
                return Ok(Some(block));
            }
            Ok(None) => Ok(None),
            Err(RecordError::Io(e)) => Err(self.located(e.into())),
            Err(problem) => {
                self.problem = Some(problem);
                Ok(None)
            }
        };
        self.done = true;
        end
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
                        // the checksum is right but the games are not: the block counts as damaged
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

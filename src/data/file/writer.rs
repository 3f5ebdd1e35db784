//! Writing game files: [`GameWriter`].

use super::block::Block;
use super::header::{self, HEADER_LEN};
use super::reader::GameReader;
use crate::data::error::RecordError;
use crate::data::game::GameRecord;
use crate::resume::whole_file::unfinished;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A block is written by itself when it holds this many plies.
const BLOCK_PLIES: usize = 1 << 15;
/// The same for games without plies.
const BLOCK_GAMES: u32 = 1 << 15;

/// Appends games to a file, in blocks.
///
/// Dropping a writer without [`flush`](Self::flush) or [`finish`](Self::finish) loses the games of the open
/// block.
pub struct GameWriter {
    path: PathBuf,
    /// The name that the file takes at the end.
    name: Option<PathBuf>,
    file: File,
    block: Block,
    bytes: u64,
}

impl GameWriter {
    /// Starts a new file; an existing one is replaced.
    pub fn create(path: &Path, fingerprint: u64) -> Result<GameWriter, RecordError> {
        let mut file = File::create(path).map_err(RecordError::at(path))?;
        file.write_all(&header::bytes(fingerprint)).map_err(RecordError::at(path))?;
        Ok(GameWriter { path: path.into(), name: None, file, block: Block::default(), bytes: HEADER_LEN })
    }

    /// Starts a file that appears under its name, replacing an older one, with [`finish`](Self::finish).
    pub fn create_whole(path: &Path, fingerprint: u64) -> Result<GameWriter, RecordError> {
        let writer = Self::create(&unfinished(path), fingerprint).map_err(RecordError::at(path))?;
        Ok(GameWriter { name: Some(path.into()), ..writer })
    }

    /// Continues a file (or creates it): cuts off a torn tail, passes every game in it to `seen`, and
    /// appends. A file torn within its header is started anew.
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
            Err(e) => return Err(RecordError::at(path)(e)),
        }
        let mut reader = GameReader::open(path)?;
        if reader.fingerprint() != fingerprint {
            let found = reader.fingerprint();
            return Err(RecordError::at(path)(RecordError::Fingerprint { found, expected: fingerprint }));
        }
        for game in reader.by_ref() {
            seen(&game?);
        }
        let bytes = reader.valid_len();
        drop(reader);
        let reopen = || {
            let mut file = OpenOptions::new().read(true).write(true).open(path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok::<_, io::Error>(file)
        };
        let file = reopen().map_err(RecordError::at(path))?;
        Ok(GameWriter { path: path.into(), name: None, file, block: Block::default(), bytes })
    }

    /// Adds a game; writes a block when it is full.
    pub fn write(&mut self, game: &GameRecord) -> Result<(), RecordError> {
        self.block.push(game);
        if self.block.plies >= BLOCK_PLIES || self.block.games >= BLOCK_GAMES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the open block, if there is one, and hands it to the operating system.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if self.block.games > 0 {
            let written = self.block.take_bytes().and_then(|bytes| {
                self.file.write_all(&bytes)?;
                Ok(bytes)
            });
            let bytes = written.map_err(RecordError::at(&self.path))?;
            self.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    /// The games in the open block, which a kill would lose.
    pub fn pending(&self) -> u32 {
        self.block.games
    }

    /// Bytes in the file, without the open block.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes what is open and waits until it is on disk; returns the bytes of the file.
    pub fn finish(mut self) -> Result<u64, RecordError> {
        self.flush()?;
        self.file.sync_all().map_err(RecordError::at(&self.path))?;
        if let Some(name) = &self.name {
            std::fs::rename(&self.path, name).map_err(RecordError::at(name))?;
        }
        Ok(self.bytes)
    }
}

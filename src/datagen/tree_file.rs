//! Positions of the games' searches, in a file beside that of the games: [`TreeFile`].

use super::error::ShardError;
use super::manifest::Manifest;
use crate::data::psv::PackedSfenValue;
use crate::resume::{AtPath, ResumeError};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file of positions in trees.
pub struct TreeFile {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    /// The games to which the positions belonged when the file was opened.
    games: u64,
}

impl TreeFile {
    /// Opens or creates the file at `path`, and truncates both it and the games in `part` to the lengths in the
    /// manifest at `json`.
    pub fn open(part: &Path, json: &Path, path: PathBuf) -> Result<TreeFile, ShardError> {
        let (mut bytes, mut games) = (0, 0);
        // a process killed before the first manifest has left no game
        if part.exists() && json.exists() {
            let manifest = Manifest::read(json)?;
            (bytes, games) = (manifest.tree_bytes.unwrap_or(0), manifest.counts.games);
            if !manifest.complete {
                cut(part, manifest.bytes)?;
            }
            if path.exists() || bytes > 0 {
                cut(&path, bytes)?;
            }
        }
        let open = || -> io::Result<File> {
            let mut file = File::options().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = BufWriter::new(open().at(&path)?);
        Ok(TreeFile { file, path, bytes, games })
    }

    /// Refuses the file if it belonged to another number of games than `part` has.
    pub fn belongs_to(&self, part: &Path, games: u64) -> Result<(), ShardError> {
        if self.games == games {
            return Ok(());
        }
        Err(ShardError::Games { path: part.into(), found: games, expected: self.games })
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the positions of a game.
    pub fn write(&mut self, positions: &[PackedSfenValue]) -> Result<(), ResumeError> {
        let bytes: Vec<u8> = positions.iter().flat_map(PackedSfenValue::to_bytes).collect();
        self.bytes += bytes.len() as u64;
        self.file.write_all(&bytes).at(&self.path)
    }

    /// Writes everything out.
    pub fn flush(&mut self) -> Result<(), ResumeError> {
        self.file.flush().at(&self.path)
    }
}

/// Cuts a file off after `bytes`.
fn cut(path: &Path, bytes: u64) -> Result<(), ShardError> {
    let file = File::options().write(true).open(path).at(path)?;
    let found = file.metadata().at(path)?.len();
    if found < bytes {
        return Err(ShardError::Length { path: path.to_path_buf(), found, expected: bytes });
    }
    Ok(file.set_len(bytes).at(path)?)
}

//! Positions of the games' searches, in a file beside that of the games: [`TreeFile`].

use super::manifest::{Manifest, ManifestError};
use crate::data::psv::PackedSfenValue;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Why such a file cannot be written, or gone on with.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum TreeFileError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{path} has {found} bytes, of {expected} that its manifest tells; remove the shard's files to begin anew"
    )]
    Shortened { path: PathBuf, found: u64, expected: u64 },
    #[error("{path} has {found} games and its manifest {expected}; remove the shard's files to begin anew")]
    Uneven { path: PathBuf, found: u64, expected: u64 },
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

/// The file of positions in trees.
pub struct TreeFile {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    /// The games to which the positions belonged when the file was opened.
    games: u64,
}

impl TreeFile {
    /// Opens, or begins, the file at `path`, and cuts it and the games in `part` off where the manifest at `json` left them
    /// together.
    pub fn open(part: &Path, json: &Path, path: PathBuf) -> Result<TreeFile, TreeFileError> {
        let (mut bytes, mut games) = (0, 0);
        // killed before the first manifest, there is no game yet
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
        match open() {
            Ok(file) => Ok(TreeFile { file: BufWriter::new(file), path, bytes, games }),
            Err(source) => Err(TreeFileError::Io { path, source }),
        }
    }

    /// Whether the file, when it was opened, went with as many games as `part` has.
    pub fn belongs_to(&self, part: &Path, games: u64) -> Result<(), TreeFileError> {
        if self.games == games {
            return Ok(());
        }
        Err(TreeFileError::Uneven { path: part.into(), found: games, expected: self.games })
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn told(&self, result: io::Result<()>) -> Result<(), TreeFileError> {
        result.map_err(|source| TreeFileError::Io { path: self.path.clone(), source })
    }

    /// Adds the positions of a game.
    pub fn write(&mut self, positions: &[PackedSfenValue]) -> Result<(), TreeFileError> {
        let bytes: Vec<u8> = positions.iter().flat_map(PackedSfenValue::to_bytes).collect();
        self.bytes += bytes.len() as u64;
        let written = self.file.write_all(&bytes);
        self.told(written)
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) -> Result<(), TreeFileError> {
        let flushed = self.file.flush();
        self.told(flushed)
    }
}

/// Cuts a file off after `bytes`.
fn cut(path: &Path, bytes: u64) -> Result<(), TreeFileError> {
    let at = |source| TreeFileError::Io { path: path.to_path_buf(), source };
    let file = File::options().write(true).open(path).map_err(at)?;
    let found = file.metadata().map_err(at)?.len();
    if found < bytes {
        return Err(TreeFileError::Shortened { path: path.to_path_buf(), found, expected: bytes });
    }
    file.set_len(bytes).map_err(at)
}

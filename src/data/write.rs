//! Writing positions in any format: [`PositionWriter`].

use super::error::RecordError;
use super::file::GameWriter;
use super::format::Format;
use super::joiner::Joiner;
use super::scored::Scored;
use crate::resume::whole_file::WholeFile;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file of positions, which appears under its name when it is complete.
pub struct PositionWriter {
    path: PathBuf,
    out: Out,
}

enum Out {
    Games(GameWriter, Box<Joiner>),
    Psv(WholeFile),
    Hcpe(WholeFile),
}

impl PositionWriter {
    /// Creates a file in the format of its name; a game file gets the fingerprint.
    pub fn create(path: &Path, fingerprint: u64) -> Result<PositionWriter, RecordError> {
        let whole = || WholeFile::create(path).map_err(RecordError::at(path));
        let out = match Format::of(path)? {
            Format::Games => Out::Games(GameWriter::create_whole(path, fingerprint)?, Box::default()),
            Format::Psv => Out::Psv(whole()?),
            Format::Hcpe => Out::Hcpe(whole()?),
        };
        Ok(PositionWriter { path: path.into(), out })
    }

    /// Adds a position. To a game file they must come in the order of their games, else every game has a
    /// single ply.
    ///
    /// # Errors
    /// A position that the format cannot hold; for games, a move that is not legal.
    pub fn write(&mut self, position: &Scored) -> Result<(), RecordError> {
        match &mut self.out {
            Out::Games(file, joiner) => {
                if let Some(game) = joiner.push(position)? {
                    file.write(&game)?;
                }
            }
            Out::Psv(file) => {
                let bytes = position.to_psv()?.to_bytes();
                file.write_all(&bytes).map_err(RecordError::at(&self.path))?;
            }
            Out::Hcpe(file) => {
                let bytes = position.to_hcpe()?.to_bytes();
                file.write_all(&bytes).map_err(RecordError::at(&self.path))?;
            }
        }
        Ok(())
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<(), RecordError> {
        match self.out {
            Out::Games(mut file, joiner) => {
                if let Some(game) = joiner.finish() {
                    file.write(&game)?;
                }
                file.finish().map(drop)
            }
            Out::Psv(file) | Out::Hcpe(file) => file.finish().map_err(RecordError::at(&self.path)),
        }
    }
}

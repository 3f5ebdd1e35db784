//! Random access to bytes of a file or of memory: [`BookSource`].

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

/// A file that stays on the disk, or its bytes.
pub enum BookSource {
    /// Read on demand.
    File {
        /// The lock makes seek and read one step.
        file: Mutex<File>,
        /// Bytes.
        len: u64,
    },
    /// Whole.
    Memory(Vec<u8>),
}

impl BookSource {
    /// A file to be read piece by piece.
    pub fn file(file: File) -> io::Result<BookSource> {
        let len = file.metadata()?.len();
        Ok(BookSource::File { file: Mutex::new(file), len })
    }

    /// Bytes in all.
    pub fn len(&self) -> u64 {
        match self {
            BookSource::File { len, .. } => *len,
            BookSource::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Fills the buffer with the bytes at an offset, as many as there are.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            BookSource::Memory(bytes) => {
                let rest = usize::try_from(offset).ok().and_then(|o| bytes.get(o..)).unwrap_or_default();
                let n = rest.len().min(buffer.len());
                buffer[..n].copy_from_slice(&rest[..n]);
                Ok(n)
            }
            BookSource::File { file, .. } => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(offset))?;
                let mut n = 0;
                while n < buffer.len() {
                    match file.read(&mut buffer[n..]) {
                        Ok(0) => break,
                        Ok(more) => n += more,
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        Err(e) => return Err(e),
                    }
                }
                Ok(n)
            }
        }
    }

    /// As [`read_at`](Self::read_at), but all of it.
    pub fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match self.read_at(offset, buffer)? {
            n if n == buffer.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

//! The first bytes of a game file.

use crate::data::error::RecordError;
use std::io::{self, Read};

/// The version of the file format.
pub const VERSION: u32 = 1;
/// The fingerprint of a file whose games are of several settings.
pub const MIXED: u64 = 0;
/// Length of the file header in bytes.
pub const HEADER_LEN: u64 = 32;
const MAGIC: &[u8; 8] = b"toragame";

/// The header of a file made with the settings that `fingerprint` stands for.
pub(super) fn bytes(fingerprint: u64) -> [u8; HEADER_LEN as usize] {
    let mut h = [0u8; HEADER_LEN as usize];
    h[..8].copy_from_slice(MAGIC);
    h[8..12].copy_from_slice(&VERSION.to_le_bytes());
    h[16..24].copy_from_slice(&fingerprint.to_le_bytes());
    let crc = crc(&h);
    h[12..16].copy_from_slice(&crc.to_le_bytes());
    h
}

fn crc(h: &[u8; HEADER_LEN as usize]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&h[..12]);
    crc.update(&h[16..]);
    crc.finalize()
}

/// Reads the header; returns the fingerprint.
pub(super) fn read(input: &mut impl Read) -> Result<u64, RecordError> {
    let mut h = [0u8; HEADER_LEN as usize];
    input.read_exact(&mut h).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => RecordError::NotAGameFile,
        _ => RecordError::Io(e),
    })?;
    if &h[..8] != MAGIC {
        return Err(RecordError::NotAGameFile);
    }
    if h[12..16] != crc(&h).to_le_bytes() {
        return Err(RecordError::Header);
    }
    let version = u32::from_le_bytes([h[8], h[9], h[10], h[11]]);
    if version != VERSION {
        return Err(RecordError::Version { found: version, known: VERSION });
    }
    Ok(u64::from_le_bytes(h[16..24].try_into().expect("eight bytes")))
}

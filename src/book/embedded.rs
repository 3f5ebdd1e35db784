//! The book inside the binary: [`unpack`] and [`pack`].

use std::io;
use std::path::Path;

/// The name of the embedded book, accepted in place of a file.
pub const INTERNAL: &str = "<internal>";

/// A `.ybb` file, compressed by zstd. Made by `toratsugumi book pack`.
static FILE: &[u8] = include_bytes!("../../book/default.ybb.zst");

/// Whether a path is the name of the book inside.
pub(super) fn is_meant(path: &Path) -> bool {
    path == Path::new(INTERNAL)
}

/// The bytes of the `.ybb` file inside.
///
/// # Errors
/// Only if memory is short; the file itself is tested.
pub fn unpack() -> io::Result<Vec<u8>> {
    zstd::decode_all(FILE)
}

/// Packs the bytes of a `.ybb` file as the file to embed.
///
/// # Errors
/// The output cannot be written.
pub fn pack(ybb: &[u8], to: impl io::Write) -> io::Result<()> {
    let mut writer = zstd::Encoder::new(to, 19)?;
    writer.include_checksum(true)?;
    io::Write::write_all(&mut writer, ybb)?;
    writer.finish()?;
    Ok(())
}

/// The bytes of a book file, or of the one inside.
pub(super) fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    if is_meant(path) { unpack() } else { std::fs::read(path) }
}

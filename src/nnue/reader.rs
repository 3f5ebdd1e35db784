//! [`NetworkReader`]: the bytes of a network file, its packed blocks of numbers, and what can be wrong with them.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::arch::{ARCHITECTURES, VERSION};
use super::shape::Shape;
use crate::support::memory::OutOfMemory;

/// The magic bytes of a compressed block of a feature transformer. Its length in bytes follows, then signed
/// LEB128.
const LEB128: &[u8; 17] = b"COMPRESSED_LEB128";

/// Why a network file cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum NetworkError {
    #[error("cannot open {}: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("cannot read the network: {0}")]
    Io(io::Error),
    #[error("not a network file: it begins with {found:#010x} instead of the version {VERSION:#010x}")]
    Version { found: u32 },
    #[error("not a network file: an architecture string of {0} bytes")]
    StringLength(u32),
    #[error("the network file ends within the {section}")]
    Truncated { section: &'static str },
    #[error("the network file continues after the last layer")]
    TrailingBytes,
    #[error("{header}: a {shape} network with this header has {expected} bytes")]
    Length { header: Box<NetworkHeader>, shape: Box<Shape>, expected: u64 },
    #[error("{header}: {reason}")]
    Name { header: Box<NetworkHeader>, reason: String },
    #[error("{header}; this engine reads {}, and what has a name such as {SFNN_NAME}", supported())]
    Unknown { header: Box<NetworkHeader> },
    #[error(
        "{header} and {width} outputs of its transformer, but not which network it is: \
         `net export --arch NAME` reads it as one such as {SFNN_NAME}"
    )]
    Nameless { header: Box<NetworkHeader>, width: usize },
    #[error("the packed numbers of the {section} {reason}")]
    Packed { section: &'static str, reason: &'static str },
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

fn supported() -> String {
    ARCHITECTURES.map(|a| a.shape.to_string()).join(", ")
}

/// An example of a name.
const SFNN_NAME: &str = "sfnn_halfka2_1024_7_64_k3k3";

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkHeader {
    /// The hash of the whole network.
    pub hash: u32,
    /// The hash of the feature transformer.
    pub transformer_hash: u32,
    /// The architecture string, cut to a sane length.
    pub string: String,
    /// Length of the file in bytes, if known.
    pub length: Option<u64>,
    /// Bytes before the feature transformer's hash.
    pub(super) start: u64,
}

impl std::fmt::Display for NetworkHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NetworkHeader { hash, transformer_hash, string, length, .. } = self;
        let length = length.map_or("an unknown number of".to_owned(), |n| n.to_string());
        write!(
            f,
            "the network calls itself {string:?}, has the hashes {hash:#010x} (file) and {transformer_hash:#010x} \
             (transformer) and {length} bytes"
        )
    }
}

/// Bytes before packed numbers.
pub(super) const PACKED_HEAD: u64 = LEB128.len() as u64 + 4;

/// Writes numbers as a packed block.
pub(super) fn write_packed<'a>(
    rows: &mut (impl Iterator<Item = &'a [i16]> + Clone),
    to: &mut dyn Write,
) -> io::Result<()> {
    let length = |&n: &i16| match n {
        -64..64 => 1,
        -8192..8192 => 2,
        _ => 3u32,
    };
    let total = rows.clone().try_fold(0u32, |sum, row| sum.checked_add(row.iter().map(length).sum()));
    let total = total.ok_or_else(|| io::Error::other("more than 4 GiB of packed weights"))?;
    to.write_all(LEB128)?;
    to.write_all(&total.to_le_bytes())?;
    let mut bytes = Vec::new();
    for row in rows {
        bytes.clear();
        for number in row {
            let last = length(number) - 1;
            bytes.extend((0..=last).map(|i| (number >> (7 * i)) as u8 & 0x7F | u8::from(i < last) << 7));
        }
        to.write_all(&bytes)?;
    }
    Ok(())
}

/// A block of 16-bit numbers, plain or packed.
pub(super) struct Block {
    packed: Option<PackedBytes>,
    /// A buffer for plain ones.
    bytes: Vec<u8>,
}

/// The bytes of packed numbers.
struct PackedBytes {
    /// Number of those that have not been read.
    left: u32,
    /// Those that have been read.
    bytes: Vec<u8>,
    /// Number of those that have been used.
    used: usize,
}

impl Block {
    /// A block of plain numbers.
    pub fn new() -> Block {
        Block { packed: None, bytes: Vec::new() }
    }

    /// Begins to read a block.
    pub fn begin(from: &mut NetworkReader) -> Result<Block, NetworkError> {
        let mut beginning = *LEB128;
        from.fill(&mut beginning)?;
        let packed = if beginning == *LEB128 {
            Some(PackedBytes { left: from.u32()?, bytes: Vec::new(), used: 0 })
        } else {
            from.unread.extend(beginning);
            from.at -= beginning.len() as u64;
            None
        };
        Ok(Block { packed, ..Block::new() })
    }

    /// Reads the next numbers.
    pub fn read(&mut self, from: &mut NetworkReader, out: &mut [i16]) -> Result<(), NetworkError> {
        let Some(packed) = &mut self.packed else {
            self.bytes.resize(2 * out.len(), 0);
            from.fill(&mut self.bytes)?;
            out.iter_mut().zip(self.bytes.as_chunks().0).for_each(|(w, b)| *w = i16::from_le_bytes(*b));
            return Ok(());
        };
        for out in out {
            let mut number = 0i32;
            for shift in [0, 7, 14] {
                if packed.used == packed.bytes.len() {
                    packed.fetch(from)?;
                }
                let byte = packed.bytes[packed.used];
                packed.used += 1;
                number |= i32::from(byte & 0x7F) << shift;
                if byte < 0x80 {
                    // the last byte's upper bit is the sign
                    let unused = 32 - 7 - shift;
                    number = number << unused >> unused;
                    break;
                }
                if shift == 14 {
                    return Err(from.packed("have more than 16 bits"));
                }
            }
            *out = number.try_into().map_err(|_| from.packed("have more than 16 bits"))?;
        }
        Ok(())
    }

    /// Whether the numbers are packed.
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The count of numbers in a packed block with up to `most`, before any is read; 0 for plain ones.
    pub fn count(&mut self, from: &mut NetworkReader, most: u32) -> Result<usize, NetworkError> {
        let Some(packed) = &mut self.packed else { return Ok(0) };
        if packed.left > 3 * most {
            return Err(from.packed("are more than any network has"));
        }
        packed.fetch(from)?;
        // the last byte of a number has no continuation bit
        Ok(packed.bytes.iter().filter(|byte| **byte < 0x80).count())
    }

    /// Checks that no number is left.
    pub fn end(self, from: &NetworkReader) -> Result<(), NetworkError> {
        match self.packed {
            Some(packed) if packed.left > 0 || packed.used < packed.bytes.len() => {
                Err(from.packed("are more than this network has"))
            }
            _ => Ok(()),
        }
    }
}

impl PackedBytes {
    /// Reads the next bytes.
    fn fetch(&mut self, from: &mut NetworkReader) -> Result<(), NetworkError> {
        let next = self.left.min(1 << 16);
        if next == 0 {
            return Err(from.packed("are fewer than this network has"));
        }
        self.bytes.resize(next as usize, 0);
        from.fill(&mut self.bytes)?;
        (self.left, self.used) = (self.left - next, 0);
        Ok(())
    }
}

/// A reader that knows the section of the file, for errors.
pub(super) struct NetworkReader<'a> {
    from: &'a mut dyn Read,
    /// The section of the file.
    pub section: &'static str,
    /// Bytes to read once more.
    unread: Vec<u8>,
    /// Number of bytes read.
    pub at: u64,
}

impl<'a> NetworkReader<'a> {
    pub fn new(from: &'a mut dyn Read) -> NetworkReader<'a> {
        NetworkReader { from, section: "header", unread: Vec::new(), at: 0 }
    }

    fn packed(&self, reason: &'static str) -> NetworkError {
        NetworkError::Packed { section: self.section, reason }
    }

    pub fn fill(&mut self, mut bytes: &mut [u8]) -> Result<(), NetworkError> {
        self.at += bytes.len() as u64;
        if !self.unread.is_empty() {
            let again = self.unread.len().min(bytes.len());
            let (start, rest) = bytes.split_at_mut(again);
            start.iter_mut().zip(self.unread.drain(..again)).for_each(|(to, byte)| *to = byte);
            bytes = rest;
        }
        self.from.read_exact(bytes).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => NetworkError::Truncated { section: self.section },
            _ => NetworkError::Io(e),
        })
    }

    pub fn u32(&mut self) -> Result<u32, NetworkError> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Checks that nothing is left.
    pub fn end(&mut self) -> Result<(), NetworkError> {
        let mut byte = [0];
        loop {
            return match self.from.read(&mut byte) {
                Ok(0) => Ok(()),
                Ok(_) => Err(NetworkError::TrailingBytes),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => Err(NetworkError::Io(e)),
            };
        }
    }
}

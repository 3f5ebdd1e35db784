//! Reading and writing `nn.bin`, the network file that YaneuraOu and its family share.
//!
//! ```text
//! u32 version   u32 hash   u32 length + architecture string
//! u32 hash      i16 biases [L1]   i16 weights [inputs][L1]
//! u32 hash      for each layer: i32 biases [OUT]   i8 weights [OUT][IN]
//! ```
//! Everything is little-endian. Only the length tells what a file holds: the string is written by hand in many
//! programs (`[41024->256x2]`, the number of inputs on a chess board, is common), so it is read past and kept for show;
//! a hash other than ours is a warning.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::arch::{self, NETWORK_HASH, Style, TRANSFORMER_HASH, VERSION};
use super::layers::Affine;
use super::network::Network;
use crate::memory::OutOfMemory;
use crate::whole_file::WholeFile;

/// The name of the file in an `EvalDir`.
pub const FILE_NAME: &str = "nn.bin";

/// Architecture strings are about 200 bytes; a length beyond this is no string.
const LONGEST_STRING: u32 = 1 << 20;

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
    #[error("the network file ends within the {section}{hint}")]
    Truncated { section: &'static str, hint: Hint },
    #[error("the network file goes on after the last layer{hint}")]
    TrailingBytes { hint: Hint },
    #[error("the network file is compressed by LEB128, which HalfKP files never are")]
    Leb128,
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// What a file of the wrong length says about itself, if it differs from what we read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(Option<String>);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(string) => write!(
                f,
                "; it calls itself {string:?}, this engine reads {}",
                arch::describe(Style::Classic)
            ),
            None => Ok(()),
        }
    }
}

/// A network and what was odd about its file, a sentence each.
pub type Loaded = (Network, Vec<String>);

impl Network {
    /// Reads a network file and makes sure that it ends where it should.
    ///
    /// # Errors
    /// See [`NetworkError`]; whatever the bytes are, memory use stays within that of a network.
    pub fn read(from: &mut impl Read) -> Result<Loaded, NetworkError> {
        let mut source = Source { from, section: "header", hint: Hint(None) };
        let mut warnings = Vec::new();
        let mut check = |what: &str, found: u32, expected: u32| {
            if found != expected {
                warnings
                    .push(format!("the network's {what} hash is {found:#010x}, expected {expected:#010x}"));
            }
        };

        let version = source.u32()?;
        if version != VERSION {
            return Err(NetworkError::Version { found: version });
        }
        let hash = source.u32()?;
        let length = source.u32()?;
        if length > LONGEST_STRING {
            return Err(NetworkError::StringLength(length));
        }
        let mut string = vec![0; length as usize];
        source.fill(&mut string)?;
        let string = String::from_utf8_lossy(&string);
        let origin: String = string.chars().filter(|c| !c.is_control()).take(1000).collect();
        if hash != TRANSFORMER_HASH ^ NETWORK_HASH {
            source.hint = Hint(Some(origin.clone()));
        }
        check("file", hash, TRANSFORMER_HASH ^ NETWORK_HASH);

        source.section = "feature transformer";
        check("transformer", source.u32()?, TRANSFORMER_HASH);
        let mut network = Network::zeroed()?;
        source.i16s(&mut network.input.bias.0)?;
        if network.input.bias.0.iter().flat_map(|b| b.to_le_bytes()).take(17).eq(*b"COMPRESSED_LEB128") {
            return Err(NetworkError::Leb128);
        }
        for row in network.input.rows.iter_mut() {
            source.i16s(&mut row.0)?;
        }
        source.section = "hidden layers";
        check("layers'", source.u32()?, NETWORK_HASH);
        source.affine(&mut network.hidden1)?;
        source.affine(&mut network.hidden2)?;
        source.affine(&mut network.output)?;
        source.end()?;
        network.origin = origin;
        Ok((network, warnings))
    }

    /// Reads the network file at `path`; for a directory (an `EvalDir`), the `nn.bin` in it.
    pub fn load(path: &Path) -> Result<Loaded, NetworkError> {
        let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let file = File::open(&path).map_err(|source| NetworkError::Open { path, source })?;
        Network::read(&mut BufReader::with_capacity(1 << 20, file))
    }

    /// Writes a network file that every program of the family reads.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        self.write_as(to, Style::Classic)
    }

    /// [`write`](Self::write) with a choice of architecture string.
    pub fn write_as(&self, to: &mut impl Write, style: Style) -> io::Result<()> {
        let mut to = BufWriter::with_capacity(1 << 20, to);
        let string = arch::describe(style);
        for word in [VERSION, TRANSFORMER_HASH ^ NETWORK_HASH, string.len() as u32] {
            to.write_all(&word.to_le_bytes())?;
        }
        to.write_all(string.as_bytes())?;

        to.write_all(&TRANSFORMER_HASH.to_le_bytes())?;
        for row in std::iter::once(&self.input.bias).chain(self.input.rows.iter()) {
            for weight in row.0 {
                to.write_all(&weight.to_le_bytes())?;
            }
        }
        to.write_all(&NETWORK_HASH.to_le_bytes())?;
        write_affine(&self.hidden1, &mut to)?;
        write_affine(&self.hidden2, &mut to)?;
        write_affine(&self.output, &mut to)?;
        to.flush()
    }

    /// [`write`](Self::write) to a file that appears, complete, at the end.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = WholeFile::create(path)?;
        self.write(&mut file)?;
        file.finish()
    }
}

fn write_affine<const IN: usize, const OUT: usize>(
    layer: &Affine<IN, OUT>,
    to: &mut impl Write,
) -> io::Result<()> {
    for bias in layer.bias.0 {
        to.write_all(&bias.to_le_bytes())?;
    }
    for output in 0..OUT {
        for input in 0..IN {
            to.write_all(&layer.weight(output, input).to_le_bytes())?;
        }
    }
    Ok(())
}

/// A reader that knows where in the file it is.
struct Source<'a, R> {
    from: &'a mut R,
    section: &'static str,
    hint: Hint,
}

impl<R: Read> Source<'_, R> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), NetworkError> {
        self.from.read_exact(bytes).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => {
                NetworkError::Truncated { section: self.section, hint: self.hint.clone() }
            }
            _ => NetworkError::Io(e),
        })
    }

    fn u32(&mut self) -> Result<u32, NetworkError> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn i16s<const N: usize>(&mut self, out: &mut [i16; N]) -> Result<(), NetworkError> {
        let mut bytes = [[0; 2]; N];
        self.fill(bytes.as_flattened_mut())?;
        *out = bytes.map(i16::from_le_bytes);
        Ok(())
    }

    fn affine<const IN: usize, const OUT: usize>(
        &mut self,
        layer: &mut Affine<IN, OUT>,
    ) -> Result<(), NetworkError> {
        for bias in &mut layer.bias.0 {
            *bias = self.u32()? as i32;
        }
        for output in 0..OUT {
            let mut row = [0; IN];
            self.fill(&mut row)?;
            for (input, weight) in row.into_iter().enumerate() {
                layer.set_weight(output, input, weight as i8);
            }
        }
        Ok(())
    }

    /// There must be nothing left.
    fn end(&mut self) -> Result<(), NetworkError> {
        let mut byte = [0];
        loop {
            return match self.from.read(&mut byte) {
                Ok(0) => Ok(()),
                Ok(_) => Err(NetworkError::TrailingBytes { hint: self.hint.clone() }),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => Err(NetworkError::Io(e)),
            };
        }
    }
}

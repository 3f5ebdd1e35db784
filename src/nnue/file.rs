//! Reading and writing `nn.bin`, the network file of YaneuraOu and compatible engines.
//!
//! ```text
//! u32 version   u32 hash   u32 length + architecture string
//! u32 hash      i16 biases [L1]   i16 weights [inputs][L1]
//! u32 hash      for each layer: i32 biases [OUT]   i8 weights [OUT][IN, padded to a multiple of 32]
//! ```
//! A network without hidden layers, which no other program reads, has i16 weights there.
//!
//! Everything is little-endian. A file's architecture is detected by its length, or by its hashes where the
//! length is unknown (a pipe). The architecture string is only displayed, because many programs write a fixed
//! one (`[41024->256x2]` is common: the number of inputs on a chess board, and 256x2 for any width). An
//! unexpected hash is a warning.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::arch::{ARCHITECTURES, Architecture, FV_SCALE, VERSION};
use super::layers::Dense;
use super::network::Network;
use super::parameters::Parameters;
use super::shape::{Shape, Style};
use crate::resume::sha256::sha256;
use crate::resume::whole_file::WholeFile;
use crate::support::memory::OutOfMemory;

/// The name of the file in an `EvalDir`.
pub const FILE_NAME: &str = "nn.bin";

/// The longest architecture string that is accepted; usual ones have about 200 bytes.
const LONGEST_STRING: u32 = 1 << 20;

/// The magic bytes of a compressed block of a feature transformer. Its length in bytes follows, then signed
/// LEB128.
const LEB128: &[u8; 17] = b"COMPRESSED_LEB128";

/// The hashes (file, transformer) of YaneuraOu's "SFNN without PSQT" networks, the same ones for all sizes:
/// HalfKA inputs, accumulators multiplied in pairs, sets of layers chosen by the kings' ranks.
const SFNN: [u32; 2] = [0x3C20_3B32, 0x5F13_4AB8];

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
    #[error(
        "this is {}, which this engine does not play (it reads {}): {header}",
        compressed_name(header, *width), supported()
    )]
    Compressed { header: Box<NetworkHeader>, width: usize },
    #[error("{header}; this engine reads {}", supported())]
    Unknown { header: Box<NetworkHeader> },
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

fn supported() -> String {
    ARCHITECTURES.map(|a| a.shape.to_string()).join(", ")
}

/// The name of a network with a compressed feature transformer of `width` outputs.
fn compressed_name(header: &NetworkHeader, width: usize) -> String {
    let is_sfnn =
        header.hash == SFNN[0] || header.transformer_hash == SFNN[1] || header.string.contains("SFNN");
    if is_sfnn { format!("SFNN-{width}") } else { format!("a compressed network of {width} accumulators") }
}

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
    start: u64,
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

impl NetworkHeader {
    /// Detects the architecture.
    fn architecture(&self) -> Result<Architecture, NetworkError> {
        let by_hash = || {
            let hash = ARCHITECTURES.into_iter().find(|a| a.shape.file_hash() == self.hash);
            hash.or_else(|| {
                ARCHITECTURES.into_iter().find(|a| a.shape.transformer_hash() == self.transformer_hash)
            })
        };
        let header = || Box::new(self.clone());
        let Some(length) = self.length else {
            // without a length only the hash of the whole network identifies it
            let known = ARCHITECTURES.into_iter().find(|a| a.shape.file_hash() == self.hash);
            return known.ok_or_else(|| NetworkError::Unknown { header: header() });
        };
        let body = length.saturating_sub(self.start);
        match ARCHITECTURES.into_iter().find(|a| a.shape.bytes() == body) {
            Some(known) => Ok(known),
            None => Err(match by_hash() {
                Some(Architecture { shape, .. }) => {
                    let expected = self.start + shape.bytes();
                    NetworkError::Length { header: header(), shape: shape.into(), expected }
                }
                None => NetworkError::Unknown { header: header() },
            }),
        }
    }
}

/// A network, and warnings about its file.
pub type Loaded = (Network, Vec<String>);

impl Network {
    /// Reads a network file and checks that it ends after the last layer. `length` is its length in bytes, if
    /// known.
    ///
    /// # Errors
    /// See [`NetworkError`]; memory use is bounded by that of a network for all inputs.
    pub fn read(from: &mut impl Read, length: Option<u64>) -> Result<Loaded, NetworkError> {
        Network::read_laid_out(from, length, &Plain)
    }

    /// [`read`](Self::read) with the feature transformer's rows in some layout.
    pub(super) fn read_laid_out(
        from: &mut impl Read,
        length: Option<u64>,
        rows: &dyn WeightLayout,
    ) -> Result<Loaded, NetworkError> {
        let mut source = NetworkReader::new(from);
        let version = source.u32()?;
        if version != VERSION {
            return Err(NetworkError::Version { found: version });
        }
        let hash = source.u32()?;
        let string_length = source.u32()?;
        if string_length > LONGEST_STRING {
            return Err(NetworkError::StringLength(string_length));
        }
        let mut string = vec![0; string_length as usize];
        source.fill(&mut string)?;
        let string = String::from_utf8_lossy(&string);
        let string: String = string.chars().filter(|c| !c.is_control()).take(1000).collect();
        source.section = "feature transformer";
        let transformer_hash = source.u32()?;
        let start = 12 + u64::from(string_length);
        let header = NetworkHeader { hash, transformer_hash, string, length, start };
        let mut beginning = *LEB128;
        source.fill(&mut beginning)?;
        if beginning == *LEB128 {
            let width = source.compressed_numbers()?;
            return Err(NetworkError::Compressed { header: header.into(), width });
        }
        let architecture = header.architecture()?;
        let mut from = beginning.chain(source.from);
        NetworkReader { from: &mut from, section: source.section }.network(architecture, header, rows)
    }

    /// Reads the network file at `path`; for a directory (an `EvalDir`), the `nn.bin` in it.
    pub fn load(path: &Path) -> Result<Loaded, NetworkError> {
        let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let opened = File::open(&path).and_then(|file| file.metadata().map(|about| (file, about)));
        let (file, about) = opened.map_err(|source| NetworkError::Open { path, source })?;
        let length = about.is_file().then_some(about.len());
        Network::read(&mut BufReader::with_capacity(1 << 20, file), length)
    }

    /// Writes a network file that compatible engines read.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        self.write_as(to, Style::Classic)
    }

    /// SHA-256 of the file that [`write`](Self::write) makes, in lower-case hexadecimal.
    pub fn sha256(&self) -> io::Result<String> {
        sha256(|to| self.write(to))
    }

    /// [`write`](Self::write) with a choice of architecture string.
    pub fn write_as(&self, to: &mut impl Write, style: Style) -> io::Result<()> {
        self.write_laid_out(to, style, &Plain)
    }

    /// [`write_as`](Self::write_as) with the feature transformer's rows in some layout.
    pub(super) fn write_laid_out(
        &self,
        to: &mut impl Write,
        style: Style,
        rows: &dyn WeightLayout,
    ) -> io::Result<()> {
        let mut to = BufWriter::with_capacity(1 << 20, to);
        let (parameters, shape) = (self.parameters(), self.shape());
        let mut string = shape.describe(style);
        if self.fv_scale() != FV_SCALE {
            string += &format!(",fv_scale={}", self.fv_scale());
        }
        for word in [VERSION, shape.file_hash(), string.len() as u32] {
            to.write_all(&word.to_le_bytes())?;
        }
        to.write_all(string.as_bytes())?;

        to.write_all(&shape.transformer_hash().to_le_bytes())?;
        let mut bytes = Vec::with_capacity(2 * shape.l1);
        write_i16s(parameters.bias(), &mut bytes, &mut to)?;
        rows.write(parameters, &mut to)?;
        to.write_all(&shape.layers_hash().to_le_bytes())?;
        for layer in parameters.layers() {
            write_layer(layer, &mut to)?;
        }
        to.flush()
    }

    /// [`write`](Self::write) to a file, which is replaced atomically.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = WholeFile::create(path)?;
        self.write(&mut file)?;
        file.finish()
    }
}

/// The order of a feature transformer's rows in a file.
pub(super) trait WeightLayout {
    fn read(&self, from: &mut NetworkReader, parameters: &mut dyn Parameters) -> Result<(), NetworkError>;
    fn write(&self, parameters: &dyn Parameters, to: &mut dyn Write) -> io::Result<()>;
}

/// One after the other: the standard order.
struct Plain;

impl WeightLayout for Plain {
    fn read(&self, from: &mut NetworkReader, parameters: &mut dyn Parameters) -> Result<(), NetworkError> {
        let shape = parameters.shape();
        let mut bytes = vec![0; 2 * shape.l1];
        (0..shape.inputs.count()).try_for_each(|input| from.i16s(parameters.row_mut(input), &mut bytes))
    }

    fn write(&self, parameters: &dyn Parameters, to: &mut dyn Write) -> io::Result<()> {
        let shape = parameters.shape();
        let mut bytes = Vec::with_capacity(2 * shape.l1);
        (0..shape.inputs.count()).try_for_each(|input| write_i16s(parameters.row(input), &mut bytes, to))
    }
}

/// `bytes` is a buffer for them.
pub(super) fn write_i16s(numbers: &[i16], bytes: &mut Vec<u8>, to: &mut dyn Write) -> io::Result<()> {
    bytes.clear();
    bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    to.write_all(bytes)
}

fn write_layer(layer: &dyn Dense, to: &mut impl Write) -> io::Result<()> {
    for bias in layer.bias() {
        to.write_all(&bias.to_le_bytes())?;
    }
    let width = layer.weight_bytes();
    let mut row = vec![0; width * Shape::padded(layer.inputs())];
    for output in 0..layer.bias().len() {
        for (input, bytes) in row.chunks_exact_mut(width).take(layer.inputs()).enumerate() {
            bytes.copy_from_slice(&layer.weight(output, input).to_le_bytes()[..width]);
        }
        to.write_all(&row)?;
    }
    Ok(())
}

/// A reader that knows the section of the file, for errors.
pub(super) struct NetworkReader<'a> {
    from: &'a mut dyn Read,
    section: &'static str,
}

impl<'a> NetworkReader<'a> {
    pub(super) fn new(from: &'a mut dyn Read) -> NetworkReader<'a> {
        NetworkReader { from, section: "header" }
    }

    /// Reads everything after the hash of the feature transformer.
    fn network(
        mut self,
        architecture: Architecture,
        header: NetworkHeader,
        rows: &dyn WeightLayout,
    ) -> Result<Loaded, NetworkError> {
        let shape = architecture.shape;
        let mut warnings = Vec::new();
        let mut check = |what: &str, found: u32, expected: u32| {
            if found != expected {
                warnings.push(format!(
                    "the network's {what} hash is {found:#010x}, expected {expected:#010x} of {shape}"
                ));
            }
        };
        check("file", header.hash, shape.file_hash());
        check("transformer", header.transformer_hash, shape.transformer_hash());
        let mut parameters = architecture.zeroed()?;
        let mut bytes = vec![0; 2 * shape.l1];
        self.i16s(parameters.bias_mut(), &mut bytes)?;
        rows.read(&mut self, &mut *parameters)?;
        self.section = "hidden layers";
        check("layers'", self.u32()?, shape.layers_hash());
        let mut stray = false;
        for layer in parameters.layers_mut() {
            stray |= self.layer(layer)?;
        }
        self.end()?;
        if stray {
            warnings.push("the network has weights for inputs that are none; they count for nothing".into());
        }
        Ok((Network::new(parameters, header.string), warnings))
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) -> Result<(), NetworkError> {
        self.from.read_exact(bytes).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => NetworkError::Truncated { section: self.section },
            _ => NetworkError::Io(e),
        })
    }

    fn u32(&mut self) -> Result<u32, NetworkError> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Count of numbers in a compressed block, which begins with its length in bytes.
    fn compressed_numbers(&mut self) -> Result<usize, NetworkError> {
        let length = self.u32()?;
        let mut block = Vec::new();
        self.from
            .take(length.min(LONGEST_STRING).into())
            .read_to_end(&mut block)
            .map_err(NetworkError::Io)?;
        // the last byte of a number has no continuation bit
        Ok(block.iter().filter(|byte| **byte < 0x80).count())
    }

    /// `bytes` is a buffer for them.
    pub(super) fn i16s(&mut self, out: &mut [i16], bytes: &mut [u8]) -> Result<(), NetworkError> {
        self.fill(bytes)?;
        out.iter_mut().zip(bytes.as_chunks::<2>().0).for_each(|(w, b)| *w = i16::from_le_bytes(*b));
        Ok(())
    }

    /// Whether the padding has nonzero bytes.
    fn layer(&mut self, layer: &mut dyn Dense) -> Result<bool, NetworkError> {
        for bias in layer.bias_mut() {
            *bias = self.u32()? as i32;
        }
        let (inputs, width) = (layer.inputs(), layer.weight_bytes());
        let mut row = vec![0; width * Shape::padded(inputs)];
        let mut stray = false;
        for output in 0..layer.bias().len() {
            self.fill(&mut row)?;
            let (weights, padding) = row.split_at(width * inputs);
            for (input, bytes) in weights.chunks_exact(width).enumerate() {
                let weight = match *bytes {
                    [low, high] => i16::from_le_bytes([low, high]),
                    _ => i16::from(bytes[0] as i8),
                };
                layer.set_weight(output, input, weight);
            }
            stray |= padding.iter().any(|&byte| byte != 0);
        }
        Ok(stray)
    }

    /// Checks that nothing is left.
    fn end(&mut self) -> Result<(), NetworkError> {
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

//! Reading and writing `nn.bin`, the network file of YaneuraOu and compatible engines.
//!
//! ```text
//! u32 version   u32 hash   u32 length + architecture string
//! u32 hash      i16 biases [L1]   i16 weights [inputs][L1]
//! u32 hash      for each layer: i32 biases [OUT]   i8 weights [OUT][IN, padded to a multiple of 32]
//! ```
//! A network without hidden layers, which no other program reads, has i16 weights there. An SFNN network has a
//! section of layers for each of its stacks, before them the parameters of the progress if that chooses a
//! stack, and its transformer packed: for the biases and for the weights the word `COMPRESSED_LEB128`, a u32
//! number of bytes and signed LEB128.
//!
//! Everything is little-endian. The architecture of a file is detected by its length, or by its hashes where
//! the length is unknown (a pipe); for the networks of [`ARCHITECTURES`] the architecture string is only
//! displayed, because many programs write a fixed one (`[41024->256x2]` is common: the number of inputs on a
//! chess board, and 256x2 for any width). Other networks are named by the string, and must have the length
//! that belongs to it. An unexpected hash is a warning.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::arch::{ARCHITECTURES, Architecture, FV_SCALE, VERSION};
use super::features::FEATURE_SETS;
use super::layers::Dense;
use super::network::Network;
use super::parameters::Parameters;
use super::reader::{Block, NetworkError, NetworkHeader, NetworkReader, PACKED_HEAD, write_packed};
use super::shape::{HeadShape, PROGRESS_HASH, Shape, Style};
use crate::resume::sha256::sha256;
use crate::resume::whole_file::WholeFile;

/// The name of the file in an `EvalDir`.
pub const FILE_NAME: &str = "nn.bin";

/// The longest architecture string that is accepted; usual ones have about 200 bytes.
const LONGEST_STRING: u32 = 1 << 20;

/// The largest network that is read from a source of unknown length, in bytes: there a name alone could demand
/// any amount of memory.
const MOST_FROM_PIPE: u64 = 4 << 30;

impl NetworkHeader {
    fn boxed(&self) -> Box<NetworkHeader> {
        Box::new(self.clone())
    }

    /// Bytes after the architecture string, if known.
    fn body(&self) -> Option<u64> {
        self.length.map(|length| length.saturating_sub(self.start))
    }

    /// The error for a file that has not the length of a shape; `after` are the bytes after the string that it
    /// should have.
    fn wrong_length(&self, shape: Shape, after: u64) -> NetworkError {
        NetworkError::Length { header: self.boxed(), shape: shape.into(), expected: self.start + after }
    }

    /// Detects the architecture of a file whose transformer is not packed.
    fn architecture(&self) -> Result<Architecture, NetworkError> {
        let by_hash = || ARCHITECTURES.into_iter().find(|a| a.shape.file_hash() == self.hash);
        let named = self.named();
        let Some(body) = self.body() else {
            // without a length only the name or the hash of the whole network identifies it
            let known = by_hash().map_or(named, |known| Ok(Some(known)));
            return known?.ok_or_else(|| NetworkError::Unknown { header: self.boxed() });
        };
        let known = ARCHITECTURES.into_iter().find(|a| a.shape.bytes() == body);
        if let Some(known) =
            known.or(named.as_ref().ok().copied().flatten().filter(|a| a.shape.bytes() == body))
        {
            return Ok(known);
        }
        let by_transformer =
            || ARCHITECTURES.into_iter().find(|a| a.shape.transformer_hash() == self.transformer_hash);
        Err(match by_hash().or_else(by_transformer).or(named?) {
            Some(Architecture { shape }) => self.wrong_length(shape, shape.bytes()),
            None => NetworkError::Unknown { header: self.boxed() },
        })
    }

    /// The architecture that the string names: `Network=SFNN_...`, or the features and layers of a network with
    /// hidden layers.
    fn named(&self) -> Result<Option<Architecture>, NetworkError> {
        let after = |start: &str| self.string.split_once(start).map(|(_, rest)| rest);
        let until = |text: &'static str, ends: [char; 2]| {
            after(text).map(|rest| rest.split(ends).next().unwrap_or(rest))
        };
        if let Some(name) = until("Network=", ['{', ',']).filter(|name| name.starts_with("SFNN")) {
            let shape =
                Shape::parse(name).map_err(|reason| NetworkError::Name { header: self.boxed(), reason })?;
            return Ok(Some(Architecture { shape }));
        }
        let shape = || {
            let inputs = until("Features=", ['[', ','])?;
            let inputs = FEATURE_SETS.iter().find(|f| f.name_in_files == inputs)?;
            let l1 = until("->", ['x', ']'])?;
            let mut layers =
                self.string.split("ClippedReLU[").skip(1).filter_map(|part| part.split(']').next());
            let (l3, l2) = (layers.next()?, layers.next()?);
            Shape::parse(&format!("{}_{l1}x2_{l2}_{l3}", inputs.arch)).ok()
        };
        Ok(shape().map(|shape| Architecture { shape }))
    }

    /// Checks that a network with a packed transformer, of one to three bytes a number, can have this length.
    fn check_packed(&self, Architecture { shape }: Architecture) -> Result<(), NetworkError> {
        let numbers = (shape.l1 * (1 + shape.inputs.count())) as u64;
        let rest = 4 + 2 * PACKED_HEAD + shape.bytes_after_transformer();
        match self.body() {
            Some(body) if body < rest + numbers => Err(self.wrong_length(shape, rest + numbers)),
            Some(body) if body > rest + 3 * numbers => Err(self.wrong_length(shape, rest + 3 * numbers)),
            _ => Ok(()),
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
        Network::read_laid_out(from, length, None, &Plain)
    }

    /// [`read`](Self::read) with the feature transformer's rows in some layout.
    pub(super) fn read_laid_out(
        from: &mut impl Read,
        length: Option<u64>,
        architecture: Option<Architecture>,
        layout: &dyn WeightLayout,
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
        let mut bias = Block::begin(&mut source)?;
        let architecture = match architecture {
            Some(known) => known,
            None if !bias.is_packed() => header.architecture()?,
            None => match header.named()? {
                Some(named) => named,
                None => nameless(&mut bias, &mut source, &header)?,
            },
        };
        if bias.is_packed() {
            header.check_packed(architecture)?;
        }
        let (shape, bytes) = (architecture.shape, architecture.shape.bytes());
        if length.is_none() && bytes > MOST_FROM_PIPE {
            let reason =
                format!("a {shape} network has {bytes} bytes, too many to be read without a known length");
            return Err(NetworkError::Name { header: header.boxed(), reason });
        }
        read_network(source, architecture, header, bias, layout)
    }

    /// Reads the network file at `path`; for a directory (an `EvalDir`), the `nn.bin` in it.
    pub fn load(path: &Path) -> Result<Loaded, NetworkError> {
        Network::load_as(path, None)
    }

    /// [`load`](Self::load) a file of a known architecture, whatever its header says.
    pub fn load_as(path: &Path, architecture: Option<Architecture>) -> Result<Loaded, NetworkError> {
        let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let opened = File::open(&path).and_then(|file| file.metadata().map(|about| (file, about)));
        let (file, about) = opened.map_err(|source| NetworkError::Open { path, source })?;
        let length = about.is_file().then_some(about.len());
        Network::read_laid_out(&mut BufReader::with_capacity(1 << 20, file), length, architecture, &Plain)
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
        layout: &dyn WeightLayout,
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
        layout.write(parameters, &mut to)?;
        if let Some(progress) = parameters.progress() {
            to.write_all(&PROGRESS_HASH.to_le_bytes())?;
            for number in [progress.bias].iter().chain(&progress.weights[..]) {
                to.write_all(&number.to_le_bytes())?;
            }
        }
        for stack in parameters.layers().chunks_exact(shape.dense().len()) {
            to.write_all(&shape.layers_hash().to_le_bytes())?;
            stack.iter().try_for_each(|layer| write_layer(*layer, &mut to))?;
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

/// How a feature transformer's biases and weights are written.
pub(super) trait WeightLayout {
    /// Reads them; the biases have begun.
    fn read(
        &self,
        bias: Block,
        from: &mut NetworkReader,
        parameters: &mut dyn Parameters,
    ) -> Result<(), NetworkError>;
    /// Writes them.
    fn write(&self, parameters: &dyn Parameters, to: &mut dyn Write) -> io::Result<()>;
}

/// One row after the other, packed in SFNN networks: the standard layout.
struct Plain;

impl WeightLayout for Plain {
    fn read(
        &self,
        mut bias: Block,
        from: &mut NetworkReader,
        parameters: &mut dyn Parameters,
    ) -> Result<(), NetworkError> {
        bias.read(from, parameters.bias_mut())?;
        let packed = bias.is_packed();
        bias.end(from)?;
        // only packed weights say so once more
        let mut rows = if packed { Block::begin(from)? } else { Block::new() };
        let inputs = parameters.shape().inputs.count();
        (0..inputs).try_for_each(|input| rows.read(from, parameters.row_mut(input)))?;
        rows.end(from)
    }

    fn write(&self, parameters: &dyn Parameters, to: &mut dyn Write) -> io::Result<()> {
        let shape = parameters.shape();
        let mut bytes = Vec::with_capacity(2 * shape.l1);
        let mut rows = (0..shape.inputs.count()).map(|input| parameters.row(input));
        if !matches!(shape.head, HeadShape::Sfnn { .. }) {
            write_i16s(parameters.bias(), &mut bytes, to)?;
            return rows.try_for_each(|row| write_i16s(row, &mut bytes, to));
        }
        write_packed(&mut [parameters.bias()].into_iter(), to)?;
        write_packed(&mut rows, to)
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

/// The architecture of a network with packed biases whose string does not name it.
fn nameless(
    bias: &mut Block,
    from: &mut NetworkReader,
    header: &NetworkHeader,
) -> Result<Architecture, NetworkError> {
    let (shape, width) = (Shape::sfnn_1536(), bias.count(from, 8192)?);
    let fits = || header.check_packed(Architecture { shape }).is_ok();
    if header.transformer_hash == shape.transformer_hash() && width == shape.l1 && fits() {
        return Ok(Architecture { shape });
    }
    Err(NetworkError::Nameless { header: header.boxed(), width })
}

/// Reads everything after the hash of the feature transformer.
fn read_network(
    mut from: NetworkReader,
    architecture: Architecture,
    header: NetworkHeader,
    bias: Block,
    layout: &dyn WeightLayout,
) -> Result<Loaded, NetworkError> {
    let (shape, packed) = (architecture.shape, bias.is_packed());
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
    layout.read(bias, &mut from, &mut *parameters)?;
    let after = from.at + shape.bytes_after_transformer();
    if packed && header.length.is_some_and(|length| length != after) {
        return Err(header.wrong_length(shape, after - header.start));
    }
    if let Some(progress) = parameters.progress_mut() {
        from.section = "progress";
        check("progress", from.u32()?, PROGRESS_HASH);
        for number in std::iter::once(&mut progress.bias).chain(&mut progress.weights[..]) {
            *number = from.u32()? as i32;
        }
    }
    from.section = "hidden layers";
    let (mut stray, mut hash) = (false, shape.layers_hash());
    for stack in parameters.layers_mut().chunks_exact_mut(shape.dense().len()) {
        let found = from.u32()?;
        // the first unexpected one is worth a warning
        hash = if hash == shape.layers_hash() { found } else { hash };
        for layer in stack {
            stray |= read_layer(&mut from, *layer)?;
        }
    }
    check("layers'", hash, shape.layers_hash());
    from.end()?;
    if stray {
        warnings.push("the network has weights for inputs that are none; they count for nothing".into());
    }
    Ok((Network::new(parameters, header.string), warnings))
}

/// Whether the padding has nonzero bytes.
fn read_layer(from: &mut NetworkReader, layer: &mut dyn Dense) -> Result<bool, NetworkError> {
    for bias in layer.bias_mut() {
        *bias = from.u32()? as i32;
    }
    let (inputs, width) = (layer.inputs(), layer.weight_bytes());
    let mut row = vec![0; width * Shape::padded(inputs)];
    let mut stray = false;
    for output in 0..layer.bias().len() {
        from.fill(&mut row)?;
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

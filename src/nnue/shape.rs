//! [`Shape`]: the feature set, width and [`HeadShape`] of a network, with its hashes and architecture string
//! in a file.

use super::buckets::{Buckets, Progress};
use super::features::{FEATURE_SETS, Inputs};
use std::fmt;

/// The hashes of all SFNN networks.
const SFNN_TRANSFORMER_HASH: u32 = 0x5F13_4AB8;
const SFNN_LAYERS_HASH: u32 = 0x6333_718A;

/// The hash of the section with the parameters of the game's progress.
pub(super) const PROGRESS_HASH: u32 = 0x6F50_524F;

/// `inputs -> l1 a side -> head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Inputs of the first layer.
    pub inputs: Inputs,
    /// Outputs of the feature transformer, per perspective.
    pub l1: usize,
    /// The layers after them.
    pub head: HeadShape,
}

/// The layers after the accumulators, whose inputs are `2 l1` numbers clipped to 0..=127.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadShape {
    /// `2 l1 -> l2 -> l3 -> 1`, all clipped ReLU.
    Hidden {
        /// Outputs of the first hidden layer.
        l2: usize,
        /// Outputs of the second hidden layer.
        l3: usize,
    },
    /// `2 l1 -> 1`, of squares (SCReLU).
    Direct {
        /// Sets of weights, see [`HeadShape::bucket`].
        buckets: usize,
    },
    /// `9 l1 -> l2 -> 1`: half of the `l1` outputs for each file, half for each rank.
    Lite {
        /// Outputs of the hidden layer.
        l2: usize,
    },
    /// `l1 -> l2 -> l3 -> 1`, of each accumulator's halves multiplied with each other. The first hidden layer
    /// is clipped ReLU and squared clipped ReLU side by side; one more output of it, if `l2` is odd, is added
    /// to the network's output.
    Sfnn {
        /// Outputs of the first hidden layer.
        l2: usize,
        /// Outputs of the second hidden layer.
        l3: usize,
        /// If not every output of the first hidden layer sees all its inputs.
        shards: Option<Shards>,
        /// Which of several stacks of these layers is used.
        buckets: Buckets,
    },
}

/// The inputs of a layer's outputs: all see `common` ones, and each of `groups` equal groups of outputs sees
/// `size` further ones of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards {
    /// Inputs for all outputs.
    pub common: usize,
    /// Inputs for each group.
    pub size: usize,
    /// Number of groups.
    pub groups: usize,
}

impl HeadShape {
    /// Number of sets of output weights.
    pub const fn buckets(self) -> usize {
        match self {
            HeadShape::Direct { buckets } => buckets,
            _ => 1,
        }
    }

    /// Number of stacks of dense layers.
    pub fn stacks(self) -> usize {
        match self {
            HeadShape::Sfnn { buckets, .. } => buckets.count(),
            _ => 1,
        }
    }

    /// Whether a file has parameters of the game's progress.
    pub fn by_progress(self) -> bool {
        matches!(self, HeadShape::Sfnn { buckets, .. } if buckets.by_progress())
    }

    /// The set for a number of pieces in both players' hands: a new set every two pieces, up to the last set.
    #[inline]
    pub const fn bucket(self, in_hand: usize) -> usize {
        let last = self.buckets() - 1;
        if in_hand / 2 < last { in_hand / 2 } else { last }
    }

    /// Right shift of the output's sum, in bits.
    pub const fn shift(self) -> u32 {
        match self {
            HeadShape::Direct { .. } => 10,
            _ => 0,
        }
    }
}

/// Sizes of a dense layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseShape {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Bytes of a weight.
    pub weight_bytes: usize,
}

impl Shape {
    /// Outputs of the first layer in a view, before they are clipped.
    pub fn units(&self) -> usize {
        match self.head {
            HeadShape::Lite { .. } => 9 * self.l1,
            _ => self.l1,
        }
    }

    /// The dense layers of a stack.
    pub fn dense(&self) -> Vec<DenseShape> {
        let bytes = |inputs, outputs| DenseShape { inputs, outputs, weight_bytes: 1 };
        match self.head {
            HeadShape::Hidden { l2, l3 } => vec![bytes(2 * self.l1, l2), bytes(l2, l3), bytes(l3, 1)],
            HeadShape::Direct { buckets } => {
                vec![DenseShape { inputs: 2 * self.l1, outputs: buckets, weight_bytes: 2 }]
            }
            HeadShape::Lite { l2 } => vec![bytes(9 * self.l1, l2), bytes(l2, 1)],
            HeadShape::Sfnn { l2, l3, .. } => {
                vec![bytes(self.l1, l2 + l2 % 2), bytes(2 * l2, l3), bytes(l3, 1)]
            }
        }
    }

    /// The hash of a file's first section.
    pub const fn transformer_hash(&self) -> u32 {
        match self.head {
            HeadShape::Sfnn { .. } => SFNN_TRANSFORMER_HASH,
            _ => self.inputs.hash ^ (2 * self.l1) as u32,
        }
    }

    /// The hash of its second section.
    pub const fn layers_hash(&self) -> u32 {
        const fn affine(previous: u32, outputs: usize) -> u32 {
            0xCC03_DAE4u32.wrapping_add(outputs as u32) ^ previous >> 1 ^ previous << 31
        }
        const fn clipped(previous: u32) -> u32 {
            0x538D_24C7u32.wrapping_add(previous)
        }
        let slice = 0xEC42_E90D ^ (2 * self.l1) as u32;
        match self.head {
            HeadShape::Hidden { l2, l3 } => {
                let hidden1 = clipped(affine(slice, l2));
                let hidden2 = clipped(affine(hidden1, l3));
                affine(hidden2, 1)
            }
            // hashes of our own: two clippings stand for a square, and lite networks have no slice
            HeadShape::Lite { l2 } => affine(clipped(affine(clipped(9 * self.l1 as u32), l2)), 1),
            HeadShape::Direct { buckets } => affine(clipped(clipped(slice)), buckets),
            HeadShape::Sfnn { .. } => SFNN_LAYERS_HASH,
        }
    }

    /// The hash in the header.
    pub fn file_hash(&self) -> u32 {
        let progress = if self.head.by_progress() { PROGRESS_HASH } else { 0 };
        self.transformer_hash() ^ self.layers_hash() ^ progress
    }

    /// Number of inputs of a dense layer in a file: rows are padded to a multiple of 32.
    pub const fn padded(inputs: usize) -> usize {
        inputs.next_multiple_of(32)
    }

    /// Bytes of a file after its architecture string, with an uncompressed transformer.
    pub fn bytes(&self) -> u64 {
        (4 + 2 * self.l1 * (1 + self.inputs.count())) as u64 + self.bytes_after_transformer()
    }

    /// Bytes of a file after its transformer.
    pub(super) fn bytes_after_transformer(&self) -> u64 {
        let dense = |d: &DenseShape| d.outputs * (4 + d.weight_bytes * Shape::padded(d.inputs));
        let stack = 4 + self.dense().iter().map(dense).sum::<usize>();
        let progress = if self.head.by_progress() { 4 * (2 + Progress::WEIGHTS) } else { 0 };
        (progress + self.head.stacks() * stack) as u64
    }

    /// The name: `halfka1_256x2-32-32`, `sfnn_halfka2_1024_7_64_k3k3`.
    pub fn arch(&self) -> String {
        let Shape { inputs, l1, head } = self;
        match head {
            HeadShape::Hidden { l2, l3 } => format!("{}_{l1}x2-{l2}-{l3}", inputs.arch),
            HeadShape::Sfnn { l2, l3, shards, buckets } => {
                let shards = shards.map_or(String::new(), |Shards { common, size, groups }| {
                    format!("_c{common}_s{size}x{groups}")
                });
                format!("sfnn_{}_{l1}_{l2}_{l3}{shards}{}", inputs.arch, buckets.suffix())
            }
            HeadShape::Direct { buckets } => {
                let inputs = if inputs.buckets() == 1 { "psq" } else { inputs.arch };
                format!("{inputs}_{l1}x2-screlu-{buckets}b")
            }
            HeadShape::Lite { l2 } => format!("lite_{}-{l2}", self.units()),
        }
    }

    /// The shape of a two-perspective network by its [name](Self::arch). Case does not matter, `-` and `_` are
    /// the same, and YaneuraOu's prefix `NNUE_` is allowed.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub(super) fn parse(name: &str) -> Result<Shape, String> {
        let name = name.to_ascii_lowercase().replace('-', "_");
        let name = name.strip_prefix("nnue_").unwrap_or(&name);
        if matches!(name, "sfnn1536" | "sfnn_1536") {
            return Ok(Shape::sfnn_1536());
        }
        let (sfnn, rest) = match name.strip_prefix("sfnn_") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let mut parts = rest.split('_');
        let mut next = |what: &str| parts.next().ok_or_else(|| format!("the {what} is missing"));
        let inputs = next("feature set")?;
        let inputs = FEATURE_SETS.iter().find(|f| f.arch == inputs).ok_or_else(|| {
            let known: Vec<&str> = FEATURE_SETS.iter().map(|f| f.arch).collect();
            format!("unknown feature set `{inputs}`; there are {}", known.join(", "))
        })?;
        let width = next("width")?;
        let width = if sfnn { width } else { width.strip_suffix("x2").unwrap_or(width) };
        let mut sizes = [0; 3];
        for (size, text) in
            sizes.iter_mut().zip([width, next("first hidden layer")?, next("second hidden layer")?])
        {
            *size = text.parse().map_err(|_| format!("`{text}` is no size"))?;
        }
        let [l1, l2, l3] = sizes;
        let rest: Vec<&str> = parts.collect();
        let head = if sfnn {
            let (shards, rest) = match rest[..] {
                [c, s, ref rest @ ..] if c.starts_with('c') => (Some(Shards::parse(c, s)?), rest),
                _ => (None, &rest[..]),
            };
            HeadShape::Sfnn { l2, l3, shards, buckets: Buckets::parse(&rest.join("_"))? }
        } else if rest.is_empty() {
            HeadShape::Hidden { l2, l3 }
        } else {
            return Err(format!("`{}` is more than a network without stacks has", rest.join("_")));
        };
        let shape = Shape { inputs: *inputs, l1, head };
        shape.check().map(|()| shape)
    }

    /// The shape of the first public networks of this kind, whose files may not name it.
    pub(super) fn sfnn_1536() -> Shape {
        Shape::parse("sfnn_halfkahm2_1536_15_32_k3k3").expect("a correct name")
    }

    /// Checks the sizes of a network with hidden layers.
    fn check(&self) -> Result<(), String> {
        let l1 = self.l1;
        if l1 == 0 || !l1.is_multiple_of(64) || l1 > 8192 {
            return Err(format!("a width of {l1}: multiples of 64 up to 8192 are supported"));
        }
        let (l2, l3, odd) = match self.head {
            HeadShape::Hidden { l2, l3 } => (l2, l3, 0),
            HeadShape::Sfnn { l2, l3, .. } => (l2, l3, l2 % 2),
            _ => return Ok(()),
        };
        if l2 == 0 || !(l2 + odd).is_multiple_of(8) || l2 > 128 {
            let less = if odd == 1 { " (less one for a shortcut)" } else { "" };
            return Err(format!("{l2} first hidden units: multiples of 8{less} up to 128 are supported"));
        }
        if l3 == 0 || !l3.is_multiple_of(8) || l3 > 128 {
            return Err(format!("{l3} second hidden units: multiples of 8 up to 128 are supported"));
        }
        match self.head {
            HeadShape::Sfnn { shards: Some(Shards { common, size, groups }), .. }
                if groups.checked_mul(size).and_then(|n| n.checked_add(common)) != Some(l1)
                    || groups < 2
                    || !(l2 + odd).is_multiple_of(groups)
                    || !common.is_multiple_of(64)
                    || !size.is_multiple_of(64) =>
            {
                Err(format!(
                    "shards c{common}_s{size}x{groups}: multiples of 64 whose sum is the width {l1}, and groups \
                     that divide the {} outputs are supported",
                    l2 + odd
                ))
            }
            _ => Ok(()),
        }
    }

    /// The architecture string of a file. Readers must not rely on it: many trainers write a fixed one.
    pub fn describe(&self, style: Style) -> String {
        let first = match style {
            Style::Classic => "AffineTransform",
            Style::Current => "AffineTransformSparseInput",
        };
        let Shape { inputs, l1, head } = self;
        let (name_in_files, count, wide, units) =
            (inputs.name_in_files, inputs.count(), 2 * l1, self.units());
        let network = match head {
            HeadShape::Hidden { l2, l3 } => format!(
                "AffineTransform[1<-{l3}](ClippedReLU[{l3}](AffineTransform[{l3}<-{l2}](ClippedReLU[{l2}]\
                 ({first}[{l2}<-{wide}](InputSlice[{wide}(0:{wide})])))))"
            ),
            HeadShape::Direct { buckets } => format!(
                "AffineTransform[{buckets}<-{wide}](SqrClippedReLU[{wide}](InputSlice[{wide}(0:{wide})])),\
                     Buckets=PiecesInHand[{buckets}]"
            ),
            HeadShape::Lite { l2 } => format!(
                "AffineTransform[1<-{l2}](ClippedReLU[{l2}](AffineTransform[{l2}<-{units}](ClippedReLU[{units}]\
                 (FilesAndRanks[{units}]))))"
            ),
            HeadShape::Sfnn { buckets, .. } => {
                let old = *self == Shape::sfnn_1536();
                let name = if old { "SFNN-1536".to_owned() } else { self.arch().to_ascii_uppercase() };
                return format!(
                    "ModelType=SFNNWithoutPsqt;Features={name_in_files}[{count}->{l1}x2],\
                     Network={name}{{LayerStack={}}}",
                    buckets.count()
                );
            }
        };
        let twice = if let HeadShape::Lite { .. } = head { "" } else { "x2" };
        format!("Features={name_in_files}[{count}->{l1}{twice}],Network={network}")
    }
}

impl fmt::Display for Shape {
    /// The usual name: `HalfKP 256x2-32-32`, `K-P 256x2-SCReLU-1x8` (of eight buckets),
    /// `HalfKA2 SFNN 1024-7-64 k3k3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, l1) = (self.inputs.name, self.l1);
        match self.head {
            HeadShape::Hidden { l2, l3 } => write!(f, "{name} {l1}x2-{l2}-{l3}"),
            HeadShape::Lite { l2 } => write!(f, "{name} {}-{l2}-1", self.units()),
            HeadShape::Direct { buckets } => write!(f, "{name} {l1}x2-SCReLU-1x{buckets}"),
            HeadShape::Sfnn { l2, l3, shards, buckets } => {
                write!(f, "{name} SFNN {l1}-{l2}-{l3}")?;
                if let Some(Shards { common, size, groups }) = shards {
                    write!(f, " c{common}_s{size}x{groups}")?;
                }
                f.write_str(&buckets.suffix().replacen('_', " ", 1))
            }
        }
    }
}

impl Shards {
    /// Parts of a name such as `c1024` and `s256x8`.
    fn parse(common: &str, shard: &str) -> Result<Shards, String> {
        let numbers = || {
            let (size, groups) = shard.strip_prefix('s')?.split_once('x')?;
            let common = common.strip_prefix('c')?.parse().ok()?;
            Some(Shards { common, size: size.parse().ok()?, groups: groups.parse().ok()? })
        };
        numbers().ok_or_else(|| format!("`{common}_{shard}` are no shards, such as c1024_s256x8"))
    }
}

/// The name of the first hidden layer in an architecture string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As all programs since 2018.
    #[default]
    Classic,
    /// As YaneuraOu since October 2024.
    Current,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::features::{HALF_KP, HALF_KP_VM, K_P};

    fn half_kp(l1: usize, l2: usize, l3: usize) -> Shape {
        Shape { inputs: HALF_KP, l1, head: HeadShape::Hidden { l2, l3 } }
    }

    #[test]
    fn hashes_and_sizes_are_the_known_ones() {
        let default = half_kp(256, 32, 32);
        assert_eq!(default.transformer_hash(), 0x5D69_D7B8);
        assert_eq!(default.layers_hash(), 0x6333_7156);
        assert_eq!(default.file_hash(), 0x3E5A_A6EE);
        assert_eq!(12 + 178 + default.bytes(), 64_217_066);
        let wider = half_kp(512, 16, 32);
        assert_eq!(
            [wider.file_hash(), wider.transformer_hash(), wider.layers_hash()],
            [0x3E5A_A772, 0x5D69_D1B8, 0x6333_76CA]
        );
        assert_eq!(half_kp(1024, 8, 32).file_hash(), 0x3E5A_B7EC);
        assert_eq!(half_kp(1024, 8, 64).file_hash(), 0x3E5A_B79C);
        let mirrored = Shape { inputs: HALF_KP_VM, ..default };
        assert_eq!([mirrored.transformer_hash(), mirrored.file_hash()], [0x0B6B_1F9A, 0x6858_6ECC]);
        assert_eq!(mirrored.inputs.count(), 69_660);
    }

    #[test]
    fn strings_are_the_known_ones() {
        let default = half_kp(256, 32, 32);
        assert_eq!(
            default.describe(Style::Classic),
            "Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform\
             [32<-32](ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))"
        );
        assert_eq!(default.describe(Style::Current).len(), 189);
        let kp = Shape { inputs: K_P, ..default };
        assert!(kp.describe(Style::Classic).starts_with("Features=K+P[1710->256x2],"));
        assert_eq!([kp.to_string(), default.to_string()], ["K-P 256x2-32-32", "HalfKP 256x2-32-32"]);
        let direct = Shape { head: HeadShape::Direct { buckets: 8 }, ..kp };
        assert_eq!(
            direct.describe(Style::Current),
            "Features=K+P[1710->256x2],Network=AffineTransform[8<-512](SqrClippedReLU[512](InputSlice[512(0:512)])),\
             Buckets=PiecesInHand[8]"
        );
        assert_eq!(direct.to_string(), "K-P 256x2-SCReLU-1x8");
    }

    #[test]
    fn names_lead_to_shapes_and_back() {
        for (name, hash, count) in [
            ("halfka1_256x2-32-32", 0x5F13_4CB8 ^ 512 ^ 0x6333_7156, 138_510),
            ("halfkpe9_256x2-32-32", 0x3E5A_A6EE, 1_128_492),
            ("sfnn_halfkahm2_1536_15_32_k3k3", 0x3C20_3B32, 73_305),
            ("sfnn_halfkahm1_512_8_64", 0x3C20_3B32, 76_950),
            ("sfnn_halfka2_1024_7_64_k3k3_progress8", 0x3C20_3B32 ^ 0x6F50_524F, 131_949),
            ("sfnn_ka2_8192_7_64_c0_s1024x8_hand4_k13k13z", 0x3C20_3B32, 1791),
        ] {
            let shape = Shape::parse(name).unwrap();
            assert_eq!((shape.arch().as_str(), shape.file_hash(), shape.inputs.count()), (name, hash, count));
            assert_eq!(Shape::parse(&format!("NNUE_{}", name.to_uppercase().replace('-', "_"))), Ok(shape));
        }
        assert_eq!(Shape::parse("SFNN1536"), Ok(Shape::sfnn_1536()));
        let sharded = Shape::parse("sfnn_ka2_2048_7_64_c0_s256x8_k3k3").unwrap();
        assert_eq!(sharded.to_string(), "K-A2 SFNN 2048-7-64 c0_s256x8 k3k3");
        for (name, part) in [
            ("halfkx_256x2-32-32", "`halfkx`"),
            ("halfkp_256x2-32", "second hidden layer is missing"),
            ("halfkp_100x2-32-32", "width of 100"),
            ("halfkp_256x2-32-32_k3k3", "`k3k3`"),
            ("sfnn_halfka2_16384_7_64", "width of 16384"),
            ("sfnn_halfka2_1024_9_64", "9 first hidden units"),
            ("sfnn_halfka2_1024_7_60", "60 second hidden units"),
            ("sfnn_halfka2_1024_7_64_k5k5", "`k5k5`"),
            ("sfnn_halfka2_1024_7_64_c512_s128x3", "c512_s128x3"),
            ("sfnn_halfka2_1024_7_64_c512_x", "`c512_x`"),
        ] {
            let error = Shape::parse(name).unwrap_err();
            assert!(error.contains(part), "{name}: {error}");
        }
    }

    #[test]
    fn pieces_in_hand_choose_a_bucket() {
        let of = |buckets: usize, in_hand| HeadShape::Direct { buckets }.bucket(in_hand);
        assert_eq!([0, 1, 2, 13, 14, 15, 16, 38].map(|n| of(8, n)), [0, 0, 1, 6, 7, 7, 7, 7]);
        assert_eq!([0, 38].map(|n| of(1, n)), [0, 0]);
    }
}

//! [`Shape`]: the feature set, width and [`HeadShape`] of a network, with its hashes and architecture string
//! in a file.

use super::features::FeatureSet;
use std::fmt;

/// A feature set, at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    name: &'static str,
    name_in_files: &'static str,
    hash: u32,
    buckets: usize,
    per_bucket: usize,
    active: usize,
    kings: bool,
    mirrored: bool,
}

impl Inputs {
    /// The description of a feature set.
    pub const fn of<F: FeatureSet>() -> Inputs {
        Inputs {
            name: F::NAME,
            name_in_files: F::NAME_IN_FILES,
            hash: F::HASH,
            buckets: F::BUCKETS,
            per_bucket: F::PER_BUCKET,
            active: F::ACTIVE,
            kings: F::KINGS,
            mirrored: F::MIRRORED,
        }
    }

    /// All pieces, kings included, without buckets.
    pub(super) const fn pieces(
        name: &'static str,
        name_in_files: &'static str,
        hash: u32,
        rows: usize,
    ) -> Inputs {
        Inputs {
            name,
            name_in_files,
            hash,
            buckets: 1,
            per_bucket: rows,
            active: 40,
            kings: true,
            mirrored: false,
        }
    }

    /// Number of inputs.
    pub const fn count(&self) -> usize {
        self.buckets * self.per_bucket
    }

    /// Number of buckets by the viewer's own king.
    pub const fn buckets(&self) -> usize {
        self.buckets
    }

    /// Inputs of a bucket.
    pub const fn per_bucket(&self) -> usize {
        self.per_bucket
    }

    /// Number of active inputs.
    pub const fn active(&self) -> usize {
        self.active
    }

    /// Whether the board is mirrored for a viewer whose king is on files 6 to 9.
    pub const fn mirrored(&self) -> bool {
        self.mirrored
    }

    /// Whether kings are inputs like other pieces.
    pub const fn kings(&self) -> bool {
        self.kings
    }
}

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
}

impl HeadShape {
    /// Number of sets of output weights.
    pub const fn buckets(self) -> usize {
        match self {
            HeadShape::Hidden { .. } | HeadShape::Lite { .. } => 1,
            HeadShape::Direct { buckets } => buckets,
        }
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
            HeadShape::Hidden { .. } | HeadShape::Lite { .. } => 0,
            HeadShape::Direct { .. } => 10,
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

    /// The dense layers.
    pub fn dense(&self) -> Vec<DenseShape> {
        let bytes = |inputs, outputs| DenseShape { inputs, outputs, weight_bytes: 1 };
        match self.head {
            HeadShape::Hidden { l2, l3 } => vec![bytes(2 * self.l1, l2), bytes(l2, l3), bytes(l3, 1)],
            HeadShape::Direct { buckets } => {
                vec![DenseShape { inputs: 2 * self.l1, outputs: buckets, weight_bytes: 2 }]
            }
            HeadShape::Lite { l2 } => vec![bytes(9 * self.l1, l2), bytes(l2, 1)],
        }
    }

    /// The hash of a file's first section.
    pub const fn transformer_hash(&self) -> u32 {
        self.inputs.hash ^ (2 * self.l1) as u32
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
        }
    }

    /// The hash in the header.
    pub const fn file_hash(&self) -> u32 {
        self.transformer_hash() ^ self.layers_hash()
    }

    /// Number of inputs of a dense layer in a file: rows are padded to a multiple of 32.
    pub const fn padded(inputs: usize) -> usize {
        inputs.next_multiple_of(32)
    }

    /// Bytes of a file after its architecture string.
    pub fn bytes(&self) -> u64 {
        let dense = |d: &DenseShape| d.outputs * (4 + d.weight_bytes * Shape::padded(d.inputs));
        let transformer = 4 + 2 * self.l1 * (1 + self.inputs.count());
        (transformer + 4 + self.dense().iter().map(dense).sum::<usize>()) as u64
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
        };
        let twice = if let HeadShape::Lite { .. } = head { "" } else { "x2" };
        format!("Features={name_in_files}[{count}->{l1}{twice}],Network={network}")
    }
}

impl fmt::Display for Shape {
    /// The usual name: `HalfKP 256x2-32-32`, `K-P 256x2-SCReLU-1x8` (of eight buckets).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, l1) = (self.inputs.name, self.l1);
        match self.head {
            HeadShape::Hidden { l2, l3 } => write!(f, "{name} {l1}x2-{l2}-{l3}"),
            HeadShape::Lite { l2 } => write!(f, "{name} {}-{l2}-1", self.units()),
            HeadShape::Direct { buckets } => write!(f, "{name} {l1}x2-SCReLU-1x{buckets}"),
        }
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
    use crate::nnue::features::{HalfKp, HalfKpVm, Kp};

    fn half_kp(l1: usize, l2: usize, l3: usize) -> Shape {
        Shape { inputs: Inputs::of::<HalfKp>(), l1, head: HeadShape::Hidden { l2, l3 } }
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
        let mirrored = Shape { inputs: Inputs::of::<HalfKpVm>(), ..default };
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
        let kp = Shape { inputs: Inputs::of::<Kp>(), ..default };
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
    fn pieces_in_hand_choose_a_bucket() {
        let of = |buckets: usize, in_hand| HeadShape::Direct { buckets }.bucket(in_hand);
        assert_eq!([0, 1, 2, 13, 14, 15, 16, 38].map(|n| of(8, n)), [0, 0, 1, 6, 7, 7, 7, 7]);
        assert_eq!([0, 38].map(|n| of(1, n)), [0, 0]);
    }
}

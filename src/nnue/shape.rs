//! What tells networks apart: [`Shape`], a feature set and three widths, with all that a file's header says of them.

use super::features::FeatureSet;
use std::fmt;

/// A feature set as a shape names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    name: &'static str,
    name_in_files: &'static str,
    hash: u32,
    buckets: usize,
    per_bucket: usize,
    active: usize,
    kings: bool,
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
        }
    }

    /// How many.
    pub const fn count(&self) -> usize {
        self.buckets * self.per_bucket
    }

    /// Into how many buckets they fall by the viewer's own king.
    pub const fn buckets(&self) -> usize {
        self.buckets
    }

    /// How many share a bucket.
    pub const fn per_bucket(&self) -> usize {
        self.per_bucket
    }

    /// How many are on at a time.
    pub const fn active(&self) -> usize {
        self.active
    }

    /// Whether kings are among them, as pieces like others.
    pub const fn kings(&self) -> bool {
        self.kings
    }
}

/// `inputs -> l1 a side -> l2 -> l3 -> 1`, all clipped ReLU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What the first layer sees.
    pub inputs: Inputs,
    /// Outputs of the feature transformer, per perspective.
    pub l1: usize,
    /// Outputs of the first hidden layer.
    pub l2: usize,
    /// Outputs of the second hidden layer.
    pub l3: usize,
}

impl Shape {
    /// Inputs and outputs of the dense layers.
    pub const fn dense(&self) -> [(usize, usize); 3] {
        [(2 * self.l1, self.l2), (self.l2, self.l3), (self.l3, 1)]
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
        let hidden1 = clipped(affine(slice, self.l2));
        let hidden2 = clipped(affine(hidden1, self.l3));
        affine(hidden2, 1)
    }

    /// The hash in the header.
    pub const fn file_hash(&self) -> u32 {
        self.transformer_hash() ^ self.layers_hash()
    }

    /// How many inputs a file has for each output of a dense layer: rows are padded to a multiple of 32.
    pub const fn padded(inputs: usize) -> usize {
        inputs.next_multiple_of(32)
    }

    /// Bytes of a file after its architecture string.
    pub fn bytes(&self) -> u64 {
        let dense = |(inputs, outputs): (usize, usize)| outputs * (4 + Shape::padded(inputs));
        let transformer = 4 + 2 * self.l1 * (1 + self.inputs.count());
        (transformer + 4 + self.dense().map(dense).iter().sum::<usize>()) as u64
    }

    /// The architecture string of a file. Readers must not trust it: trainers write all sorts of things there.
    pub fn describe(&self, style: Style) -> String {
        let first = match style {
            Style::Classic => "AffineTransform",
            Style::Current => "AffineTransformSparseInput",
        };
        let Shape { inputs, l1, l2, l3 } = self;
        let (name_in_files, count, wide) = (inputs.name_in_files, inputs.count(), 2 * l1);
        format!(
            "Features={name_in_files}[{count}->{l1}x2],Network=AffineTransform[1<-{l3}](ClippedReLU[{l3}]\
             (AffineTransform[{l3}<-{l2}](ClippedReLU[{l2}]({first}[{l2}<-{wide}](InputSlice[{wide}(0:{wide})])))))"
        )
    }
}

impl fmt::Display for Shape {
    /// As people write it: `HalfKP 256x2-32-32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x2-{}-{}", self.inputs.name, self.l1, self.l2, self.l3)
    }
}

/// Which name the file gives the first hidden layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As every program has written it since 2018.
    #[default]
    Classic,
    /// As YaneuraOu has named it since October 2024.
    Current,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::features::{HalfKp, Kp};

    fn half_kp(l1: usize, l2: usize, l3: usize) -> Shape {
        Shape { inputs: Inputs::of::<HalfKp>(), l1, l2, l3 }
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
    }
}

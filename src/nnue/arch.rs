//! The network on one screen: its sizes, its features, its layers.
//!
//! ```text
//! HalfKP (125,388) -> 256 per side -> clip -> 512 (side to move first) -> 32 -> clip -> 32 -> clip -> 1
//! ```
//! Another size is a change of the constants, another feature set a change of [`Features`]; the layers, the file, the
//! kernels and the accumulators follow. (Hidden layers whose width is not a multiple of 32 run, but on the scalar code.)

use super::features::{FeatureSet, HalfKp};
use super::layers::{Affine, Transformer};

/// What the first layer sees.
pub type Features = HalfKp;
/// Outputs of the feature transformer, per perspective.
pub const L1: usize = 256;
/// Outputs of the first and the second hidden layer.
pub const L2: usize = 32;
/// Outputs of the second hidden layer.
pub const L3: usize = 32;

/// The output in units of [`crate::types::Value`], times this (the USI option `FV_SCALE` can say otherwise).
pub const FV_SCALE: i32 = 16;

/// The first layer: features to accumulators.
pub type Input = Transformer<Features, L1>;
/// Both accumulators, side to move first, to the first hidden layer.
pub type Hidden1 = Affine<{ 2 * L1 }, L2>;
/// First to second hidden layer.
pub type Hidden2 = Affine<L2, L3>;
/// Second hidden layer to the one output.
pub type Output = Affine<L3, 1>;

/// The file format's version word.
pub const VERSION: u32 = 0x7AF3_2F16;
/// Hashes of the two sections of a file; the header holds their exclusive or.
pub const TRANSFORMER_HASH: u32 = Features::HASH ^ (2 * L1) as u32;
/// See [`TRANSFORMER_HASH`].
pub const NETWORK_HASH: u32 = {
    let input = 0xEC42_E90D ^ (2 * L1) as u32;
    let hidden1 = Hidden1::hash(input);
    let hidden2 = Hidden2::hash(clipped_hash(hidden1));
    Output::hash(clipped_hash(hidden2))
};

const fn clipped_hash(previous: u32) -> u32 {
    0x538D_24C7u32.wrapping_add(previous)
}

/// The architecture string of a file. Readers must not trust it: trainers write all sorts of things there.
pub fn describe(style: Style) -> String {
    let first = match style {
        Style::Classic => "AffineTransform",
        Style::Current => "AffineTransformSparseInput",
    };
    let (features, inputs, wide) = (Features::NAME, Features::INPUTS, 2 * L1);
    format!(
        "Features={features}[{inputs}->{L1}x2],Network=AffineTransform[1<-{L3}](ClippedReLU[{L3}]\
         (AffineTransform[{L3}<-{L2}](ClippedReLU[{L2}]({first}[{L2}<-{wide}](InputSlice[{wide}(0:{wide})])))))"
    )
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

    #[test]
    fn hashes_and_string_are_the_known_ones() {
        assert_eq!(TRANSFORMER_HASH, 0x5D69_D7B8);
        assert_eq!(NETWORK_HASH, 0x6333_7156);
        assert_eq!(TRANSFORMER_HASH ^ NETWORK_HASH, 0x3E5A_A6EE);
        assert_eq!(
            describe(Style::Classic),
            "Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform\
             [32<-32](ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))"
        );
        assert_eq!(describe(Style::Current).len(), 189);
    }
}

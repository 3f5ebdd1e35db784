//! [`Architecture`]: a kind of network, and [`ARCHITECTURES`], those with code of their own.
//!
//! ```text
//! HalfKP (125,388) -> 256 per side -> clip -> 512 (side to move first) -> 32 -> clip -> 32 -> clip -> 1
//! ```
//! The networks of [`ARCHITECTURES`] have code compiled for their sizes. `Dynamic` plays all others, with any
//! feature set and any sizes.

use super::direct::Direct;
use super::dynamic::Dynamic;
use super::features::{FeatureSet, HalfKp, HalfKpVm, Kp};
use super::head::Head;
use super::hidden::Hidden;
use super::lite::Lite;
use super::parameters::Parameters;
use super::perspective::Perspective;
use super::shape::Shape;
use crate::support::memory::OutOfMemory;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The networks with code compiled for their sizes. The first is the default.
pub const ARCHITECTURES: [Architecture; 9] = {
    let mut all = [Architecture::DEFAULT; 9];
    let mut i = 0;
    while i < all.len() {
        all[i] = Architecture { shape: COMPILED[i].0 };
        i += 1;
    }
    all
};

/// Makes a network of zeros.
type Zeroed = fn() -> Result<Box<dyn Parameters>, OutOfMemory>;

/// Their shapes and constructors.
const COMPILED: [(Shape, Zeroed); 9] = [
    compiled::<HalfKp, 256, Hidden<512, 32, 32>>(),
    compiled::<HalfKp, 512, Hidden<1024, 16, 32>>(),
    compiled::<HalfKp, 1024, Hidden<2048, 8, 32>>(),
    compiled::<HalfKp, 1024, Hidden<2048, 8, 64>>(),
    compiled::<HalfKpVm, 256, Hidden<512, 32, 32>>(),
    compiled::<Kp, 256, Hidden<512, 32, 32>>(),
    // perspective networks as in chess engines: piece-square inputs, and the same with buckets by the own
    // king
    compiled::<Kp, 256, Direct<256, 8>>(),
    compiled::<HalfKp, 256, Direct<256, 8>>(),
    (Lite::SHAPE, || Ok(Box::new(Lite::zeroed()?))),
];

const fn compiled<F: FeatureSet, const L1: usize, H: Head<L1>>() -> (Shape, Zeroed) {
    fn zeroed<F: FeatureSet, const L1: usize, H: Head<L1>>() -> Result<Box<dyn Parameters>, OutOfMemory> {
        Ok(Box::new(Perspective::<F, L1, H>::zeroed()?))
    }
    (Perspective::<F, L1, H>::SHAPE, zeroed::<F, L1, H>)
}

/// The file format's version word.
pub const VERSION: u32 = 0x7AF3_2F16;

/// The default FV_SCALE: the raw output for one unit of [`crate::types::Value`].
pub const FV_SCALE: i32 = 16;

/// A kind of network that this engine plays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// The sizes.
    pub shape: Shape,
}

impl Architecture {
    /// The default architecture.
    pub const DEFAULT: Architecture = Architecture { shape: COMPILED[0].0 };

    /// The name that `--arch` takes; YaneuraOu's name, if it supports the network.
    pub fn name(&self) -> String {
        self.shape.arch()
    }

    /// A network with all parameters 0.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed(&self) -> Result<Box<dyn Parameters>, OutOfMemory> {
        match COMPILED.iter().find(|(shape, _)| *shape == self.shape) {
            Some((_, zeroed)) => zeroed(),
            None => Ok(Box::new(Dynamic::zeroed(self.shape)?)),
        }
    }
}

impl fmt::Debug for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Default for Architecture {
    fn default() -> Architecture {
        Architecture::DEFAULT
    }
}

/// There is no network of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no network `{name}`: {reason} (names: {}, and others such as sfnn_halfka2_1024_7_64_k3k3)",
    ARCHITECTURES.map(|a| a.name()).join(", ")
)]
pub struct UnknownArchitecture {
    name: String,
    reason: String,
}

impl Serialize for Architecture {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Architecture {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Architecture, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl FromStr for Architecture {
    type Err = UnknownArchitecture;

    fn from_str(name: &str) -> Result<Architecture, UnknownArchitecture> {
        match ARCHITECTURES.into_iter().find(|a| a.name().eq_ignore_ascii_case(name)) {
            Some(known) => Ok(known),
            None => Shape::parse(name)
                .map(|shape| Architecture { shape })
                .map_err(|reason| UnknownArchitecture { name: name.to_owned(), reason }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_architecture() {
        for a in ARCHITECTURES {
            assert_eq!(a.name().to_uppercase().parse::<Architecture>(), Ok(a));
            assert_eq!(a.zeroed().unwrap().shape(), a.shape);
        }
        let names = ARCHITECTURES.map(|a| a.name());
        assert_eq!([&names[0], &names[5]], ["halfkp_256x2-32-32", "kp_256x2-32-32"]);
        assert_eq!(
            [&names[6], &names[7], &names[8]],
            ["psq_256x2-screlu-8b", "halfkp_256x2-screlu-8b", "lite_72-32"]
        );
        let error = "halfkp_1x2-3-4".parse::<Architecture>().unwrap_err().to_string();
        assert!(
            error.contains("halfkp_1x2-3-4") && error.contains("halfkp_1024x2-8-64, halfkpvm_256"),
            "{error}"
        );
    }

    #[test]
    fn lengths_and_hashes_identify_architectures() {
        for (i, a) in ARCHITECTURES.iter().enumerate() {
            for b in &ARCHITECTURES[..i] {
                assert_ne!(a.shape.bytes(), b.shape.bytes());
                assert_ne!(a.shape.file_hash(), b.shape.file_hash());
            }
        }
    }
}

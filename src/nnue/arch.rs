//! [`ARCHITECTURES`]: the supported networks, with their features, sizes and layers.
//!
//! ```text
//! HalfKP (125,388) -> 256 per side -> clip -> 512 (side to move first) -> 32 -> clip -> 32 -> clip -> 1
//! ```
//! A new size, feature set or head (the layers after the 512) is a line in [`ARCHITECTURES`]; the file
//! format, the kernels, the accumulators and the trainer are generic in it.

use super::direct::Direct;
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

/// All networks that this engine reads, plays and trains. The first is the default.
pub const ARCHITECTURES: [Architecture; 9] = [
    Architecture::of::<HalfKp, 256, Hidden<512, 32, 32>>("halfkp_256x2-32-32"),
    Architecture::of::<HalfKp, 512, Hidden<1024, 16, 32>>("halfkp_512x2-16-32"),
    Architecture::of::<HalfKp, 1024, Hidden<2048, 8, 32>>("halfkp_1024x2-8-32"),
    Architecture::of::<HalfKp, 1024, Hidden<2048, 8, 64>>("halfkp_1024x2-8-64"),
    Architecture::of::<HalfKpVm, 256, Hidden<512, 32, 32>>("halfkpvm_256x2-32-32"),
    Architecture::of::<Kp, 256, Hidden<512, 32, 32>>("kp_256x2-32-32"),
    // perspective networks as in chess engines: piece-square inputs, and the same with buckets by the own
    // king
    Architecture::of::<Kp, 256, Direct<256, 8>>("psq_256x2-screlu-8b"),
    Architecture::of::<HalfKp, 256, Direct<256, 8>>("halfkp_256x2-screlu-8b"),
    Architecture { name: "lite_72-32", shape: Lite::SHAPE, zeroed: || Ok(Box::new(Lite::zeroed()?)) },
];

/// The file format's version word.
pub const VERSION: u32 = 0x7AF3_2F16;

/// The default FV_SCALE: the raw output for one unit of [`crate::types::Value`].
pub const FV_SCALE: i32 = 16;

/// A kind of network that this engine knows.
#[derive(Clone, Copy)]
pub struct Architecture {
    /// The name that `--arch` takes; YaneuraOu's name, if it supports the network.
    pub name: &'static str,
    /// The sizes.
    pub shape: Shape,
    zeroed: fn() -> Result<Box<dyn Parameters>, OutOfMemory>,
}

impl Architecture {
    /// The default architecture.
    pub const DEFAULT: Architecture = ARCHITECTURES[0];

    const fn of<F: FeatureSet, const L1: usize, H: Head<L1>>(name: &'static str) -> Architecture {
        fn zeroed<F: FeatureSet, const L1: usize, H: Head<L1>>() -> Result<Box<dyn Parameters>, OutOfMemory> {
            Ok(Box::new(Perspective::<F, L1, H>::zeroed()?))
        }
        Architecture { name, shape: Perspective::<F, L1, H>::SHAPE, zeroed: zeroed::<F, L1, H> }
    }

    /// The architecture with this shape.
    pub fn with_shape(shape: Shape) -> Option<Architecture> {
        ARCHITECTURES.into_iter().find(|a| a.shape == shape)
    }

    /// A network with all parameters 0.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed(&self) -> Result<Box<dyn Parameters>, OutOfMemory> {
        (self.zeroed)()
    }
}

impl fmt::Debug for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Default for Architecture {
    fn default() -> Architecture {
        Architecture::DEFAULT
    }
}

impl PartialEq for Architecture {
    fn eq(&self, other: &Architecture) -> bool {
        self.name == other.name
    }
}

/// There is no network of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no network `{0}`; there are {names}", names = ARCHITECTURES.map(|a| a.name).join(", "))]
pub struct UnknownArchitecture(String);

impl Serialize for Architecture {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name)
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
        let known = ARCHITECTURES.into_iter().find(|a| a.name.eq_ignore_ascii_case(name));
        known.ok_or_else(|| UnknownArchitecture(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_architecture() {
        for a in ARCHITECTURES {
            assert_eq!(a.name.to_uppercase().parse::<Architecture>(), Ok(a));
            assert_eq!(Architecture::with_shape(a.shape), Some(a));
            assert_eq!(a.zeroed().unwrap().shape(), a.shape);
        }
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

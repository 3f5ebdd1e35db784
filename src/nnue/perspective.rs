//! [`Perspective`]: a network whose first layer is applied to the position as seen from both sides.

use super::features::FeatureSet;
use super::head::Head;
use super::layers::Transformer;
use super::shape::Shape;
use crate::support::memory::OutOfMemory;

/// All layers: features `F` to two accumulators of `L1` outputs, and a [`Head`] after them.
#[derive(Clone)]
pub(super) struct Perspective<F, const L1: usize, H> {
    /// Features to accumulators.
    pub input: Transformer<F, L1>,
    /// Accumulators to the output.
    pub head: H,
}

impl<F: FeatureSet, const L1: usize, H: Head<L1>> Perspective<F, L1, H> {
    /// The sizes, at run time.
    pub const SHAPE: Shape = Shape { inputs: F::SET, l1: L1, head: H::SHAPE };

    /// Layers of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed() -> Result<Self, OutOfMemory> {
        Ok(Perspective { input: Transformer::zeroed()?, head: H::zeroed()? })
    }
}

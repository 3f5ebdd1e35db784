//! [`Head`]: the layers after the accumulators of a network with two perspectives.

use super::layers::{Dense, Row};
use super::shape::HeadShape;
use super::simd::Simd;
use crate::support::memory::OutOfMemory;

/// The layers after the accumulators of `L1` outputs each.
pub(super) trait Head<const L1: usize>: Clone + Send + Sync + 'static {
    /// The sizes, at run time.
    const SHAPE: HeadShape;

    /// Layers of zeros.
    fn zeroed() -> Result<Self, OutOfMemory>;

    /// The dense layers, from the accumulators to the output.
    fn layers(&self) -> Vec<&dyn Dense>;

    /// See [`layers`](Self::layers).
    fn layers_mut(&mut self) -> Vec<&mut dyn Dense>;

    /// The raw output for the player whose accumulator is `us`. `in_hand` is the number of pieces in both
    /// hands if there are several buckets, else 0.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    unsafe fn propagate<S: Simd>(&self, us: &Row<L1>, them: &Row<L1>, in_hand: usize) -> i32;
}

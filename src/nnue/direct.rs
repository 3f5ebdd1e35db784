//! [`Direct`]: no hidden layer between accumulators and output, as in the perspective networks of many chess
//! engines.
//!
//! The output is a weighted sum of the squares of the clipped accumulators (SCReLU). A square of 0..=127 fits
//! 16 bits, so it takes one 16-bit multiplication and one multiply-add with a 16-bit weight. The number of
//! pieces in hand selects the set of weights, because it grows during a game, as the number of pieces on the
//! board falls in chess.

use super::head::Head;
use super::layers::{Aligned, Dense, Row};
use super::shape::HeadShape;
use super::simd::Simd;
use crate::support::memory::{HugeBuf, OutOfMemory};

/// `2 L1 -> 1`, weights of 16 bits, a set for each bucket.
#[derive(Clone)]
pub(super) struct Direct<const L1: usize, const BUCKETS: usize>(OutputLayer<L1>);

/// The layer; it has an output for each bucket.
#[derive(Clone)]
struct OutputLayer<const L1: usize> {
    bias: Vec<i32>,
    /// By bucket: weights for the side to move and for the other side.
    weights: HugeBuf<[Row<L1>; 2]>,
}

impl<const L1: usize, const BUCKETS: usize> Head<L1> for Direct<L1, BUCKETS> {
    const SHAPE: HeadShape = HeadShape::Direct { buckets: BUCKETS };

    fn zeroed() -> Result<Self, OutOfMemory> {
        Ok(Direct(OutputLayer { bias: vec![0; BUCKETS], weights: HugeBuf::zeroed(BUCKETS)? }))
    }

    fn layers(&self) -> Vec<&dyn Dense> {
        vec![&self.0]
    }

    fn layers_mut(&mut self) -> Vec<&mut dyn Dense> {
        vec![&mut self.0]
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn propagate<S: Simd>(&self, us: &Row<L1>, them: &Row<L1>, in_hand: usize) -> i32 {
        let bucket = <Self as Head<L1>>::SHAPE.bucket(in_hand);
        // SAFETY: the caller's promise is the kernel's only condition.
        let sum = unsafe { S::transformed_output::<L1>(us, them, &self.0.weights[bucket]) };
        sum.wrapping_add(self.0.bias[bucket]) >> <Self as Head<L1>>::SHAPE.shift()
    }
}

impl<const L1: usize> Dense for OutputLayer<L1> {
    fn inputs(&self) -> usize {
        2 * L1
    }

    fn weight_bytes(&self) -> usize {
        2
    }

    fn bias(&self) -> &[i32] {
        &self.bias
    }

    fn bias_mut(&mut self) -> &mut [i32] {
        &mut self.bias
    }

    fn weight(&self, output: usize, input: usize) -> i16 {
        let Aligned(side) = &self.weights[output][input / L1];
        side[input % L1]
    }

    fn set_weight(&mut self, output: usize, input: usize, weight: i16) {
        let Aligned(side) = &mut self.weights[output][input / L1];
        side[input % L1] = weight;
    }
}

//! The layers, generic in their sizes: [`Transformer`] (features to accumulators) and [`Affine`] (int8 dense
//! layers). Files, tools and the trainer see dense layers without their sizes, as [`Dense`].

use std::marker::PhantomData;

use super::features::FeatureSet;
use crate::support::memory::{HugeBuf, OutOfMemory, Zeroable};

/// Hidden layers compute in units of 1/64: their sums are shifted right by this before they are clipped to
/// 0..=127.
pub const WEIGHT_SHIFT: u32 = 6;

/// A value at the start of a cache line, so that whole vectors of it load aligned.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Aligned<T>(pub T);

// SAFETY: `T` may be zeroed, and the padding may be anything.
#[allow(unsafe_code)]
unsafe impl<T: Zeroable> Zeroable for Aligned<T> {}

/// The weights of a feature, or an accumulator.
pub type Row<const N: usize> = Aligned<[i16; N]>;

/// The sparse first layer: an accumulator is `bias` plus the rows of all active features, in wrapping i16.
#[derive(Clone)]
pub struct Transformer<F, const N: usize> {
    /// An accumulator without active features.
    pub bias: Row<N>,
    /// `F::INPUTS` rows.
    pub rows: HugeBuf<Row<N>>,
    features: PhantomData<F>,
}

impl<F: FeatureSet, const N: usize> Transformer<F, N> {
    /// A layer of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed() -> Result<Self, OutOfMemory> {
        Ok(Transformer { bias: Aligned([0; N]), rows: HugeBuf::zeroed(F::INPUTS)?, features: PhantomData })
    }
}

/// A dense layer: `out[o] = bias[o] + Σ in[i] × weight(o, i)`, u8 × i8 in i32.
///
/// Weights are ordered for vector units: four consecutive inputs' weights for the first output, then for the
/// second, and so on. So a broadcast of four inputs is multiplied by contiguous weights, and four zero inputs
/// skip a contiguous block.
#[derive(Clone)]
pub struct Affine<const IN: usize, const OUT: usize> {
    /// By output.
    pub bias: Aligned<[i32; OUT]>,
    /// `IN / 4` groups.
    pub(super) groups: HugeBuf<[[i8; 4]; OUT]>,
    /// Upper bound of the sum of the positive (or negative) weights in any pair of neighbouring weights of an
    /// output.
    widest_pair: i32,
}

impl<const IN: usize, const OUT: usize> Affine<IN, OUT> {
    /// A layer of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed() -> Result<Self, OutOfMemory> {
        // kernels process pairs of groups
        const { assert!(IN.is_multiple_of(8)) };
        Ok(Affine { bias: Aligned([0; OUT]), groups: HugeBuf::zeroed(IN / 4)?, widest_pair: 0 })
    }

    /// Whether i16 can hold the products of pairs of inputs (up to 127 each), summed over this number of
    /// groups.
    #[cfg(any(test, target_arch = "x86_64"))]
    pub(super) fn sums_in_i16(&self, groups: i32) -> bool {
        groups * 127 * self.widest_pair <= i32::from(i16::MAX)
    }
}

/// A dense layer of any size.
pub trait Dense {
    /// Number of inputs.
    fn inputs(&self) -> usize;
    /// Bytes of a weight: 1 or 2.
    fn weight_bytes(&self) -> usize;
    /// Biases, one for each output.
    fn bias(&self) -> &[i32];
    /// By output.
    fn bias_mut(&mut self) -> &mut [i32];
    /// The weight of an input for an output.
    fn weight(&self, output: usize, input: usize) -> i16;
    /// Sets the weight of an input for an output.
    ///
    /// # Panics
    /// If it does not fit.
    fn set_weight(&mut self, output: usize, input: usize, weight: i16);
}

impl<const IN: usize, const OUT: usize> Dense for Affine<IN, OUT> {
    fn inputs(&self) -> usize {
        IN
    }

    fn weight_bytes(&self) -> usize {
        1
    }

    fn bias(&self) -> &[i32] {
        &self.bias.0
    }

    fn bias_mut(&mut self) -> &mut [i32] {
        &mut self.bias.0
    }

    fn weight(&self, output: usize, input: usize) -> i16 {
        self.groups[input / 4][output][input % 4].into()
    }

    fn set_weight(&mut self, output: usize, input: usize, weight: i16) {
        let pairs = &mut self.groups[input / 4][output];
        pairs[input % 4] = weight.try_into().expect("a weight of eight bits");
        let pair = pairs[input % 4 / 2 * 2..][..2].iter().map(|&w| i32::from(w));
        let positive: i32 = pair.clone().map(|w| w.max(0)).sum();
        let negative: i32 = pair.map(|w| (-w).max(0)).sum();
        self.widest_pair = self.widest_pair.max(positive).max(negative);
    }
}

/// A sum of a hidden layer as a byte.
#[inline(always)]
pub fn clipped(sum: i32) -> u8 {
    (sum >> WEIGHT_SHIFT).clamp(0, 127) as u8
}

/// The square of a sum of a hidden layer as a byte.
#[inline(always)]
pub fn squared(sum: i32) -> u8 {
    // beyond 16 bits the square is beyond a byte
    let sum = sum.clamp(-i32::from(i16::MAX), i16::MAX.into());
    ((sum * sum) >> (2 * WEIGHT_SHIFT + 7)).min(127) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_become_bytes() {
        assert_eq!(
            [-1, 0, 63, 64, 8127, 8128, i32::MAX, i32::MIN].map(clipped),
            [0, 0, 0, 1, 126, 127, 127, 0]
        );
        let exact = |x: i64| ((x * x) >> 19).min(127) as u8;
        for x in [0, 724, 725, -725, 8000, -8191, 8192, 32_767, -32_768, 40_000, i32::MAX, i32::MIN] {
            assert_eq!(squared(x), exact(x.into()), "{x}");
        }
    }
}

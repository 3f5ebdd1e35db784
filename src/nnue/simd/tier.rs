//! [`Simd`]: the kernels of a tier. [`Work`]: a computation that uses them.

use crate::nnue::layers::{Affine, Aligned, Row};
use crate::types::Piece;

/// The kernels of a tier.
///
/// # Safety
/// Every function needs a processor with the tier's instructions, and nothing else. They are
/// `#[inline(always)]`, so that they are compiled with those instructions, inside the tier's `enter`.
pub(in crate::nnue) trait Simd {
    /// `dst = src - Σ subs + Σ adds`, wrapping.
    unsafe fn fused<const N: usize, const K: usize>(
        src: &Row<N>,
        dst: &mut Row<N>,
        subs: [&Row<N>; K],
        adds: [&Row<N>; K],
    );

    /// `acc = copy = acc - Σ rows[subs] + Σ rows[adds]`, wrapping.
    unsafe fn apply<const N: usize>(
        acc: &mut Row<N>,
        copy: &mut Row<N>,
        rows: &[Row<N>],
        subs: &[u32],
        adds: &[u32],
    );

    /// The set of squares where two boards differ.
    unsafe fn differences(a: &[Piece; 81], b: &[Piece; 81]) -> u128;

    /// Both accumulators clipped to 0..=127, side to move first, through a dense layer of `IN = 2 N` inputs,
    /// shifted and clipped again. Skips groups of zeros.
    unsafe fn transformed_affine<const N: usize, const IN: usize, const OUT: usize>(
        us: &Row<N>,
        them: &Row<N>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]>;

    /// Both accumulators clipped to 0..=127 and squared, times 16-bit weights for the side to move and for
    /// the other side, summed up in wrapping i32.
    unsafe fn transformed_output<const N: usize>(us: &Row<N>, them: &Row<N>, weights: &[Row<N>; 2]) -> i32;

    /// A dense layer, shifted and clipped.
    unsafe fn affine<const IN: usize, const OUT: usize>(
        input: &Aligned<[u8; IN]>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]>;

    /// `to = from - Σ subs + Σ adds`, wrapping, in `K` places. `subs` and `adds` are numbers of rows.
    ///
    /// # Safety
    /// `from` and `to` point to `width` numbers, a multiple of 64; each of `to` is `from` or does not overlap
    /// it. `rows` has the rows, of `width` numbers each.
    unsafe fn sum<const K: usize>(
        from: *const i16,
        to: [*mut i16; K],
        width: usize,
        rows: &[i16],
        lists: [&[u32]; 2],
    );

    /// 32 bytes: numbers clipped to 0..=127; or, with `second` ones, their products with these, shifted right
    /// by seven. Returns a bit for each group of four bytes that are not all zero.
    unsafe fn activate(first: &[i16; 32], second: Option<&[i16; 32]>, to: &mut [u8; 32]) -> u8;

    /// `out = bias + Σ` of the products of inputs and weights, over the groups of four inputs in `live`. The
    /// inputs are at most 127. `weights` are ordered as in [`Affine`].
    ///
    /// # Safety
    /// `bias` and `out` have the same length, a multiple of eight. The groups in `live` exist in the input
    /// and, for each output, in the weights.
    unsafe fn sums(input: &[u8], live: &[u64], bias: &[i32], weights: &[i8], out: &mut [i32]);

    /// The sum of the products of inputs, at most 127, and as many weights.
    ///
    /// # Safety
    /// Both have the same length.
    unsafe fn dot(input: &[u8], weights: &[i8]) -> i32;

    /// The last layer.
    unsafe fn output<const IN: usize>(input: &Aligned<[u8; IN]>, layer: &Affine<IN, 1>) -> i32;
}

/// A computation with the kernels of the tier in use.
pub(in crate::nnue) trait Work {
    type Output;
    /// Implementations are `#[inline(always)]`.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    unsafe fn run<S: Simd>(self) -> Self::Output;
}

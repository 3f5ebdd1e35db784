//! The register operations of the kernels: [`F32Lanes`].

/// A register of `C` lanes of f32.
///
/// # Safety
/// Every function needs a processor with the register's instructions, and nothing else.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // no registers there yet
pub(in crate::train) trait F32Lanes<const C: usize>: Copy {
    unsafe fn splat(x: f32) -> Self;
    unsafe fn load(from: &[f32; C]) -> Self;
    unsafe fn store(self, to: &mut [f32; C]);
    /// Loads integers and converts them.
    unsafe fn load_i16(from: &[i16; C]) -> Self;
    /// Rounds to the nearest integer, ties to even, multiplies by `unit` and stores 16 bits, saturating.
    unsafe fn store_i16(self, unit: i32, to: &mut [i16; C]);
    /// Loads pairs of bfloat16: the low halves of the words, then the high halves.
    unsafe fn load_bf16(from: &[u32; C]) -> [Self; 2];
    /// Rounds to bfloat16, ties to even, and stores the pairs as [`load_bf16`](Self::load_bf16) loads them.
    unsafe fn store_bf16(low: Self, high: Self, to: &mut [u32; C]);

    unsafe fn add(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once.
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `term - self * factor`, rounded once.
    unsafe fn mul_sub_from(self, factor: Self, term: Self) -> Self;
    /// `1 / (sqrt(self) + epsilon)` up to an error of about 2^-24; finite for 0.
    unsafe fn inverse_root(self, epsilon: Self) -> Self;
    unsafe fn clamp(self, low: Self, high: Self) -> Self;
    /// The lanes for which `low < x < high`, the others 0.
    unsafe fn where_between(self, x: Self, low: Self, high: Self) -> Self;

    /// A register of 8 lanes, whose instructions the processor has as well.
    type Narrow: F32Lanes<8>;

    /// A register of i16, twice as many.
    type Shorts: Copy;
    unsafe fn load_shorts(from: &[[i16; C]; 2]) -> Self::Shorts;
    unsafe fn store_shorts(shorts: Self::Shorts, to: &mut [[i16; C]; 2]);
    /// The sum lane by lane, wrapping.
    unsafe fn add_shorts(a: Self::Shorts, b: Self::Shorts) -> Self::Shorts;
}

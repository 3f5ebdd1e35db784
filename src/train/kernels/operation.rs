//! The trait of all kernels: [`Operation`].
#![allow(unsafe_code)]

use super::lanes::F32Lanes;

/// The lengths of rows and accumulators are multiples of this.
pub(in crate::train) const WIDTHS: usize = 256;

/// A piece of arithmetic with its operands.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // no registers there yet
pub(in crate::train) trait Operation {
    /// Panics unless the operands have the lengths that the operation needs.
    fn check(&self);

    /// Computes it in plain Rust: the reference, and the fallback for processors without AVX2.
    fn scalar(self);

    /// Computes it with registers of `C` lanes, `2 B` of which hold sums. It is `#[inline(always)]`, so that it
    /// is compiled with the instructions of the `enter` that calls it.
    ///
    /// # Safety
    /// The processor has the instructions of `L`, and the operands have passed [`check`](Self::check).
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self);
}

//! Vector kernels, one file a tier, all bit-identical: `Simd` lists them, `dispatch` picks the tier.
//!
//! A kernel is a whole row update or a whole layer. The choice is made once at the top of an evaluation: `dispatch`
//! enters a function compiled with the tier's instructions, and everything below it is inlined into that function or
//! called directly. A build that promises the best tier (`-C target-cpu=native`) has no choice left in it.
#![allow(unsafe_code)]

mod kernel;
mod rows;
pub(super) mod scalar;
mod tier;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

use kernel::active;
pub use kernel::{Kernel, KernelError, force_kernel, kernel, kernel_name};
pub(super) use tier::{Simd, Work};

/// Does the work with the tier in use.
#[inline(always)]
pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    // SAFETY: `active` yields a tier that was detected or promised at compile time.
    unsafe {
        match active() {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => avx512::enter(work),
            #[cfg(target_arch = "x86_64")]
            Kernel::AvxVnni => avx2::enter_vnni(work),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => avx2::enter(work),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => neon::enter(work),
            _ => work.run::<scalar::Scalar>(),
        }
    }
}

/// Asks the cache for a row that will soon be needed.
#[inline(always)]
pub(super) fn prefetch<T>(row: &T) {
    let start = std::ptr::from_ref(row).cast::<u8>();
    for line in (0..size_of::<T>()).step_by(64) {
        crate::memory::prefetch(start.wrapping_add(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::layers::{Affine, Aligned, Row};
    use crate::random::Rng;

    struct First<'a>(&'a Row<256>, &'a Row<256>, &'a Affine<512, 32>);

    impl Work for First<'_> {
        type Output = [u8; 32];
        #[inline(always)]
        unsafe fn run<S: Simd>(self) -> [u8; 32] {
            // SAFETY: the caller's promise.
            unsafe { S::transformed_affine(self.0, self.1, self.2) }.0
        }
    }

    fn layer(weight: impl Fn(usize, usize) -> i32) -> Affine<512, 32> {
        let mut layer = Affine::zeroed().unwrap();
        for (o, i) in (0..32).flat_map(|o| (0..512).map(move |i| (o, i))) {
            layer.set_weight(o, i, weight(o, i) as i8);
        }
        layer
    }

    #[test]
    fn products_are_summed_in_i16_only_where_they_fit() {
        assert!(layer(|_, _| 32).sums_in_i16(4) && layer(|_, _| -32).sums_in_i16(4));
        assert!(!layer(|o, i| if (o, i) == (31, 510) { 33 } else { 32 }).sums_in_i16(4));
        assert!(!layer(|o, i| if (o, i) == (0, 1) { -33 } else { -32 }).sums_in_i16(4));
        // of a pair, only parts of one sign add up
        assert!(layer(|_, i| if i % 2 == 0 { 64 } else { -64 }).sums_in_i16(4));
    }

    #[test]
    fn every_kernel_sums_like_scalar_up_to_the_largest_products() {
        let mut rng = Rng::for_stream(7, 0);
        let mut layers: Vec<_> = [32, -32, 33, 127, -128].map(|w| layer(|_, _| w)).into();
        layers.extend([30, 100].map(|o| layer(|_, i| if i < 256 + o { 32 } else { -32 })));
        for most in [20, 127] {
            let mut random = layer(|_, _| 0);
            for (o, i) in (0..32).flat_map(|o| (0..512).map(move |i| (o, i))) {
                random.set_weight(o, i, (rng.below(2 * most + 1) as i32 - most as i32) as i8);
            }
            layers.push(random);
        }
        for (l, layer) in layers.iter_mut().enumerate() {
            for (o, bias) in layer.bias.0.iter_mut().enumerate() {
                *bias = o as i32 * 64;
            }
            for chance in [1, 2, 3, 10, 300] {
                let mut row =
                    || Aligned(std::array::from_fn(|_| if rng.below(chance) == 0 { 200 } else { -5 }));
                let (us, them): (Row<256>, Row<256>) = (row(), row());
                // SAFETY: plain Rust needs no particular processor.
                let expected = unsafe { First(&us, &them, layer).run::<scalar::Scalar>() };
                #[cfg(target_arch = "x86_64")]
                // SAFETY: each only where it is available.
                unsafe {
                    let work = || First(&us, &them, layer);
                    if Kernel::Avx2.is_available() {
                        assert_eq!(avx2::enter(work()), expected, "layer {l}, 1 in {chance}");
                    }
                    if Kernel::AvxVnni.is_available() {
                        assert_eq!(avx2::enter_vnni(work()), expected, "layer {l}, 1 in {chance}");
                    }
                    if Kernel::Avx512.is_available() {
                        assert_eq!(avx512::enter(work()), expected, "layer {l}, 1 in {chance}");
                    }
                }
                assert_eq!(dispatch(First(&us, &them, layer)), expected, "layer {l}, 1 in {chance}");
            }
        }
    }
}

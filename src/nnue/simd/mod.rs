//! Vector kernels, one file for each tier, all bit-identical. `Simd` declares them, `dispatch` chooses the
//! tier.
//!
//! A kernel is a whole row update or a whole layer. The choice is made once at the top of an evaluation:
//! `dispatch` enters a function compiled with the tier's instructions, and everything below it is inlined
//! into that function or called directly. A build that guarantees the best tier (`-C target-cpu=native`) has
//! no choice at run time.
#![allow(unsafe_code)]

mod kernel;
mod rows;
pub(super) mod scalar;
mod tier;
mod wide;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod registers;

use kernel::active;
pub use kernel::{Kernel, KernelError, force_kernel, kernel, kernel_name};
pub(super) use tier::{Simd, Work};

/// Runs `work` with the tier in use.
#[inline(always)]
pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    // SAFETY: `active` returns a tier that was detected or is guaranteed at compile time.
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

/// Prefetches a row.
#[inline(always)]
pub(super) fn prefetch<T>(row: &T) {
    let start = std::ptr::from_ref(row).cast::<u8>();
    for line in (0..size_of::<T>()).step_by(64) {
        crate::support::memory::prefetch(start.wrapping_add(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::layers::{Affine, Aligned, Dense, Row};
    use crate::support::random::Rng;

    /// First and second layer, as networks have them side by side.
    struct Both<'a, const N: usize, const WIDE: usize, const L2: usize, const L3: usize>(
        &'a Row<N>,
        &'a Row<N>,
        &'a Affine<WIDE, L2>,
        &'a Affine<L2, L3>,
    );

    impl<const N: usize, const WIDE: usize, const L2: usize, const L3: usize> Work for Both<'_, N, WIDE, L2, L3> {
        type Output = ([u8; L2], [u8; L3]);
        #[inline(always)]
        unsafe fn run<S: Simd>(self) -> Self::Output {
            // SAFETY: the caller's promise.
            unsafe {
                let first = S::transformed_affine(self.0, self.1, self.2);
                (first.0, S::affine(&first, self.3).0)
            }
        }
    }

    fn layer<const IN: usize, const OUT: usize>(
        mut weight: impl FnMut(usize, usize) -> i32,
    ) -> Affine<IN, OUT> {
        let mut layer = Affine::zeroed().unwrap();
        for (o, i) in (0..OUT).flat_map(|o| (0..IN).map(move |i| (o, i))) {
            layer.set_weight(o, i, weight(o, i) as i16);
        }
        layer.bias.0.iter_mut().enumerate().for_each(|(o, bias)| *bias = o as i32 * 64);
        layer
    }

    #[test]
    fn products_are_summed_in_i16_only_where_they_fit() {
        let layer = |weight: fn(usize, usize) -> i32| layer::<512, 32>(weight);
        assert!(layer(|_, _| 32).sums_in_i16(4) && layer(|_, _| -32).sums_in_i16(4));
        assert!(!layer(|o, i| if (o, i) == (31, 510) { 33 } else { 32 }).sums_in_i16(4));
        assert!(!layer(|o, i| if (o, i) == (0, 1) { -33 } else { -32 }).sums_in_i16(4));
        // of a pair, only parts of one sign add up
        assert!(layer(|_, i| if i % 2 == 0 { 64 } else { -64 }).sums_in_i16(4));
    }

    /// Every kernel against the scalar one, for layers with small and with the largest products.
    fn sums_are_those_of_scalar<const N: usize, const WIDE: usize, const L2: usize, const L3: usize>() {
        let mut rng = Rng::for_stream(7, 0);
        let mut noise = |most: usize| rng.below(2 * most + 1) as i32 - most as i32;
        let second = layer::<L2, L3>(|_, _| noise(127));
        let mut layers: Vec<Affine<WIDE, L2>> = [32, -32, 33, 127, -128].map(|w| layer(|_, _| w)).into();
        layers.extend([30, 100].map(|o| layer(|_, i| if i < N + o { 32 } else { -32 })));
        layers.extend([20, 127].map(|most| layer(|_, _| noise(most))));
        for (l, first) in layers.iter().enumerate() {
            for chance in [1, 2, 3, 10, 300] {
                let mut row =
                    || Aligned(std::array::from_fn(|_| if rng.below(chance) == 0 { 200 } else { -5 }));
                let (us, them): (Row<N>, Row<N>) = (row(), row());
                let work = || Both(&us, &them, first, &second);
                let expected = scalar::run(work());
                let about = || format!("{N}x2-{L2}-{L3}, layer {l}, 1 in {chance}");
                #[cfg(target_arch = "x86_64")]
                // SAFETY: each only where it is available.
                unsafe {
                    if Kernel::Avx2.is_available() {
                        assert_eq!(avx2::enter(work()), expected, "{}", about());
                    }
                    if Kernel::AvxVnni.is_available() {
                        assert_eq!(avx2::enter_vnni(work()), expected, "{}", about());
                    }
                    if Kernel::Avx512.is_available() {
                        assert_eq!(avx512::enter(work()), expected, "{}", about());
                    }
                }
                assert_eq!(dispatch(work()), expected, "{}", about());
            }
        }
    }

    #[test]
    fn every_kernel_sums_like_scalar_at_every_width() {
        sums_are_those_of_scalar::<256, 512, 32, 32>();
        sums_are_those_of_scalar::<512, 1024, 16, 32>();
        sums_are_those_of_scalar::<1024, 2048, 8, 32>();
        sums_are_those_of_scalar::<1024, 2048, 8, 64>();
        // no network has this one, but the kernels do
        sums_are_those_of_scalar::<256, 512, 48, 16>();
    }

    /// Accumulators and weights straight to an output.
    struct Straight<'a, const N: usize>(&'a [Row<N>; 2], &'a [Row<N>; 2]);

    impl<const N: usize> Work for Straight<'_, N> {
        type Output = i32;
        #[inline(always)]
        unsafe fn run<S: Simd>(self) -> i32 {
            // SAFETY: the caller's promise.
            unsafe { S::transformed_output::<N>(&self.0[0], &self.0[1], self.1) }
        }
    }

    /// Every kernel against the scalar one, with numbers up to the largest, which wrap.
    fn outputs_are_those_of_scalar<const N: usize>() {
        let mut rng = Rng::for_stream(9, 0);
        for most in [1usize, 50, 300, 32767] {
            let mut rows = || {
                [(); 2].map(|()| {
                    Aligned(std::array::from_fn(|_| {
                        (rng.below(2 * most + 2) as i32 - most as i32 - 1) as i16
                    }))
                })
            };
            let (accumulators, weights): ([Row<N>; 2], [Row<N>; 2]) = (rows(), rows());
            let work = || Straight::<N>(&accumulators, &weights);
            let expected = scalar::run(work());
            #[cfg(target_arch = "x86_64")]
            // SAFETY: each only where it is available.
            unsafe {
                if Kernel::Avx2.is_available() {
                    assert_eq!(avx2::enter(work()), expected, "{N}, up to {most}");
                }
                if Kernel::Avx512.is_available() {
                    assert_eq!(avx512::enter(work()), expected, "{N}, up to {most}");
                }
            }
            assert_eq!(dispatch(work()), expected, "{N}, up to {most}");
        }
    }

    #[test]
    fn every_kernel_weighs_accumulators_like_scalar() {
        outputs_are_those_of_scalar::<256>();
        outputs_are_those_of_scalar::<512>();
    }
}

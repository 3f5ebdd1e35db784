//! Vector kernels, one file a tier, all bit-identical: `Simd` lists them, `dispatch` picks the tier.
//!
//! A kernel is a whole row update or a whole layer. The choice is made once at the top of an evaluation: `dispatch`
//! enters a function compiled with the tier's instructions, and everything below it is inlined into that function or
//! called directly. A build that promises the best tier (`-C target-cpu=native`) has no choice left in it.
#![allow(unsafe_code)]

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

use super::layers::{Affine, Aligned, Row};
use crate::types::Piece;

pub(super) mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

/// A tier of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kernel {
    /// Plain Rust, the reference.
    Scalar = 1,
    /// AVX2.
    Avx2,
    /// AVX2 and the byte dot products of AVX-VNNI.
    AvxVnni,
    /// AVX-512 (F, BW, DQ, VL) and its VNNI.
    Avx512,
    /// NEON.
    Neon,
}

impl Kernel {
    /// All tiers, from slow to fast.
    pub const ALL: [Kernel; 5] =
        [Kernel::Scalar, Kernel::Avx2, Kernel::AvxVnni, Kernel::Avx512, Kernel::Neon];

    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Scalar => "scalar",
            Kernel::Avx2 => "avx2",
            Kernel::AvxVnni => "avxvnni",
            Kernel::Avx512 => "avx512",
            Kernel::Neon => "neon",
        }
    }

    /// Whether this build holds the tier and this processor runs it.
    pub fn is_available(self) -> bool {
        match self {
            Kernel::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::AvxVnni => Kernel::Avx2.is_available() && is_x86_feature_detected!("avxvnni"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                Kernel::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vnni")
            }
            // part of every aarch64 target that the standard library knows
            Kernel::Neon => cfg!(target_arch = "aarch64"),
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a tier cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    #[error("unknown kernel {0:?}; there are scalar, avx2, avxvnni, avx512, neon")]
    Unknown(String),
    #[error("this processor (or this build) has no {0} kernel")]
    Unavailable(Kernel),
    #[error("this build is compiled for the {0} kernel alone")]
    Fixed(Kernel),
}

impl FromStr for Kernel {
    type Err = KernelError;
    fn from_str(text: &str) -> Result<Kernel, KernelError> {
        let known = Kernel::ALL.into_iter().find(|k| k.name() == text);
        known.ok_or_else(|| KernelError::Unknown(text.to_owned()))
    }
}

/// The tier that the build's own target features promise, when no better one exists: then there is nothing to choose.
/// Debug and test builds choose all the same, so that the other tiers can be tested.
const PROMISED: Option<Kernel> = if cfg!(debug_assertions) {
    None
} else if cfg!(all(
    target_arch = "x86_64",
    target_feature = "avx512f",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl",
    target_feature = "avx512vnni",
    target_feature = "avx2",
    target_feature = "bmi1",
    target_feature = "popcnt",
)) {
    Some(Kernel::Avx512)
} else if cfg!(target_arch = "aarch64") {
    Some(Kernel::Neon)
} else {
    None
};

/// The tier in use; 0 until first asked.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

#[inline(always)]
fn active() -> Kernel {
    if let Some(kernel) = PROMISED {
        return kernel;
    }
    match ACTIVE.load(Ordering::Relaxed) {
        1 => Kernel::Scalar,
        2 => Kernel::Avx2,
        3 => Kernel::AvxVnni,
        4 => Kernel::Avx512,
        5 => Kernel::Neon,
        _ => choose(),
    }
}

#[cold]
fn choose() -> Kernel {
    let best = Kernel::ALL.into_iter().rfind(|k| k.is_available()).unwrap_or(Kernel::Scalar);
    ACTIVE.store(best as u8, Ordering::Relaxed);
    best
}

/// The tier in use.
pub fn kernel() -> Kernel {
    active()
}

/// The name of the tier in use.
pub fn kernel_name() -> &'static str {
    active().name()
}

/// Uses one tier from now on, in all threads. Results do not change, only the speed does.
///
/// # Errors
/// If the processor lacks it, or the build holds another one alone.
pub fn force_kernel(kernel: Kernel) -> Result<(), KernelError> {
    if let Some(fixed) = PROMISED {
        return if fixed == kernel { Ok(()) } else { Err(KernelError::Fixed(fixed)) };
    }
    if !kernel.is_available() {
        return Err(KernelError::Unavailable(kernel));
    }
    // the processor has the tier's instructions, which `dispatch` relies on
    ACTIVE.store(kernel as u8, Ordering::Relaxed);
    Ok(())
}

/// The kernels of a tier.
///
/// # Safety
/// Every function needs a processor with the tier's instructions, and nothing else. They are `#[inline(always)]`, so
/// that they are compiled with those instructions, inside the tier's `enter`.
pub(super) trait Simd {
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

    /// Both accumulators clipped to 0..=127, side to move first, through a dense layer of `IN = 2 N` inputs, shifted
    /// and clipped again. Skips what the clipping made zero.
    unsafe fn transformed_affine<const N: usize, const IN: usize, const OUT: usize>(
        us: &Row<N>,
        them: &Row<N>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]>;

    /// A dense layer, shifted and clipped.
    unsafe fn affine<const IN: usize, const OUT: usize>(
        input: &Aligned<[u8; IN]>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]>;

    /// The last layer.
    unsafe fn output<const IN: usize>(input: &Aligned<[u8; IN]>, layer: &Affine<IN, 1>) -> i32;
}

/// Something to be done by the kernels of whichever tier is in use.
pub(super) trait Work {
    type Output;
    /// Implementations are `#[inline(always)]`.
    ///
    /// # Safety
    /// The processor must have what `S` needs.
    unsafe fn run<S: Simd>(self) -> Self::Output;
}

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
                assert_eq!(dispatch(First(&us, &them, layer)), expected);
            }
        }
    }
}

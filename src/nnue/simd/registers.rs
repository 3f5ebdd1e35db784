//! The vector registers of x86-64: [`Lanes`] of AVX2 and AVX-512, and their [`Sums`].

use std::arch::x86_64::*;

use super::rows::Lanes;
use super::wide::Sums;

impl Lanes<16> for __m256i {
    #[inline(always)]
    unsafe fn load(from: &[i16; 16]) -> Self {
        // SAFETY: the caller has AVX2, and as many bytes are read as there are.
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: &mut [i16; 16]) {
        // SAFETY: the caller has AVX2, and as many bytes are written as there are.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_add_epi16(self, other) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_sub_epi16(self, other) }
    }

    #[inline(always)]
    unsafe fn clip(self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_max_epi16(_mm256_min_epi16(self, _mm256_set1_epi16(127)), _mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn square(self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_mullo_epi16(self, self) }
    }

    type Sums = Self;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn add_products(self, weights: Self, sums: Self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_add_epi32(sums, _mm256_madd_epi16(self, weights)) }
    }

    #[inline(always)]
    unsafe fn total(sums: Self) -> i32 {
        // SAFETY: the caller has AVX2.
        unsafe { sum(sums) }
    }
}

/// The sum of eight i32, wrapping.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sum(v: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two)))
}

/// `sums + (four u8) · (four i8)` in each i32 lane, for u8 up to 127.
#[inline]
#[target_feature(enable = "avx2")]
fn dot_by_pairs(sums: __m256i, x: __m256i, w: __m256i) -> __m256i {
    // a pair of products is at most 2 * 127 * 128 = 32,512: nothing saturates
    let pairs = _mm256_maddubs_epi16(x, w);
    _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}

/// [`dot_by_pairs`] in one instruction.
#[inline]
#[target_feature(enable = "avx2,avxvnni")]
fn dot_at_once(sums: __m256i, x: __m256i, w: __m256i) -> __m256i {
    _mm256_dpbusd_avx_epi32(sums, x, w)
}

/// The dot product of the tier.
///
/// # Safety
/// AVX2, and AVX-VNNI if `VNNI`.
#[inline(always)]
pub(super) unsafe fn dot<const VNNI: bool>(sums: __m256i, x: __m256i, w: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { if VNNI { dot_at_once(sums, x, w) } else { dot_by_pairs(sums, x, w) } }
}

/// Eight sums of products by the dot product of the tier.
#[derive(Clone, Copy)]
pub(super) struct DotSums<const VNNI: bool>(__m256i);

impl<const VNNI: bool> Sums for DotSums<VNNI> {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn empty() -> Self {
        // SAFETY: the caller has AVX2.
        DotSums(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    unsafe fn read(from: *const i32) -> Self {
        // SAFETY: the caller has AVX2, and the numbers exist.
        DotSums(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut i32) {
        // SAFETY: the caller has AVX2, and there is room.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the caller has AVX2.
        DotSums(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn plus_products(self, four: i32, weights: *const i8) -> Self {
        // SAFETY: the caller has AVX2, with `VNNI` also AVX-VNNI, and the weights exist.
        unsafe { DotSums(dot::<VNNI>(self.0, _mm256_set1_epi32(four), _mm256_loadu_si256(weights.cast()))) }
    }
}

impl Lanes<32> for __m512i {
    #[inline(always)]
    unsafe fn load(from: &[i16; 32]) -> Self {
        // SAFETY: the caller has AVX-512, and as many bytes are read as there are.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: &mut [i16; 32]) {
        // SAFETY: the caller has AVX-512, and as many bytes are written as there are.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_add_epi16(self, other) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_sub_epi16(self, other) }
    }

    #[inline(always)]
    unsafe fn clip(self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_max_epi16(_mm512_min_epi16(self, _mm512_set1_epi16(127)), _mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn square(self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mullo_epi16(self, self) }
    }

    type Sums = Self;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn add_products(self, weights: Self, sums: Self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_add_epi32(sums, _mm512_madd_epi16(self, weights)) }
    }

    #[inline(always)]
    unsafe fn total(sums: Self) -> i32 {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_reduce_add_epi32(sums) }
    }
}

impl Sums for __m512i {
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn empty() -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn read(from: *const i32) -> Self {
        // SAFETY: the caller has AVX-512, and the numbers exist.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut i32) {
        // SAFETY: the caller has AVX-512, and there is room.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_add_epi32(self, other) }
    }

    #[inline(always)]
    unsafe fn plus_products(self, four: i32, weights: *const i8) -> Self {
        // SAFETY: the caller has AVX-512 VNNI, and the weights exist.
        unsafe { _mm512_dpbusd_epi32(self, _mm512_set1_epi32(four), _mm512_loadu_si512(weights.cast())) }
    }
}

/// Eight sums.
impl Sums for __m256i {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn empty() -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn read(from: *const i32) -> Self {
        // SAFETY: the caller has AVX-512, and the numbers exist.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut i32) {
        // SAFETY: the caller has AVX-512, and there is room.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm256_add_epi32(self, other) }
    }

    #[inline(always)]
    unsafe fn plus_products(self, four: i32, weights: *const i8) -> Self {
        // SAFETY: the caller has AVX-512 VNNI and VL, and the weights exist.
        unsafe { _mm256_dpbusd_epi32(self, _mm256_set1_epi32(four), _mm256_loadu_si256(weights.cast())) }
    }
}

//! Registers of AVX2 with FMA: 8 lanes.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::lanes::F32Lanes;
use super::operation::Operation;

pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// Runs an operation with these registers.
///
/// # Safety
/// The operands have passed [`Operation::check`].
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn enter<O: Operation>(operation: O) {
    // SAFETY: this function has the instructions, and the caller has checked the operands.
    unsafe { operation.vector::<__m256, 8, 4>() }
}

/// Rounds to bfloat16 in the low half of each lane.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn bf16(x: __m256) -> __m256i {
    let bits = _mm256_castps_si256(x);
    let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
    let rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    _mm256_srli_epi32::<16>(rounded)
}

impl F32Lanes<8> for __m256 {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn splat(x: f32) -> Self {
        _mm256_set1_ps(x)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn load(from: &[f32; 8]) -> Self {
        // SAFETY: `from` has 32 bytes.
        unsafe { _mm256_loadu_ps(from.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn store(self, to: &mut [f32; 8]) {
        // SAFETY: `to` has 32 bytes.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn load_i16(from: &[i16; 8]) -> Self {
        // SAFETY: `from` has 16 bytes.
        let words = unsafe { _mm_loadu_si128(from.as_ptr().cast()) };
        _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(words))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn store_i16(self, unit: i32, to: &mut [i16; 8]) {
        let steps = _mm256_mullo_epi32(_mm256_cvtps_epi32(self), _mm256_set1_epi32(unit));
        let packed = _mm_packs_epi32(_mm256_castsi256_si128(steps), _mm256_extracti128_si256::<1>(steps));
        // SAFETY: `to` has 16 bytes.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), packed) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn load_bf16(from: &[u32; 8]) -> [Self; 2] {
        // SAFETY: `from` has 32 bytes.
        let words = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        let high = _mm256_and_si256(words, _mm256_set1_epi32(0xffff_0000u32 as i32));
        [_mm256_castsi256_ps(_mm256_slli_epi32::<16>(words)), _mm256_castsi256_ps(high)]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn store_bf16(low: Self, high: Self, to: &mut [u32; 8]) {
        let words = _mm256_or_si256(bf16(low), _mm256_slli_epi32::<16>(bf16(high)));
        // SAFETY: `to` has 32 bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), words) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn add(self, other: Self) -> Self {
        _mm256_add_ps(self, other)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn mul(self, other: Self) -> Self {
        _mm256_mul_ps(self, other)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
        _mm256_fmadd_ps(self, factor, term)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn mul_sub_from(self, factor: Self, term: Self) -> Self {
        _mm256_fnmadd_ps(self, factor, term)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn inverse_root(self, epsilon: Self) -> Self {
        let v = _mm256_max_ps(self, _mm256_set1_ps(1e-37)); // avoids 0 / 0
        _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_add_ps(_mm256_sqrt_ps(v), epsilon))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn clamp(self, low: Self, high: Self) -> Self {
        _mm256_min_ps(_mm256_max_ps(self, low), high)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn where_between(self, x: Self, low: Self, high: Self) -> Self {
        let inside = _mm256_and_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(low, x), _mm256_cmp_ps::<_CMP_LT_OQ>(x, high));
        _mm256_and_ps(self, inside)
    }

    type Narrow = __m256;
    type Shorts = __m256i;

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn load_shorts(from: &[[i16; 8]; 2]) -> __m256i {
        // SAFETY: `from` has 32 bytes.
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn store_shorts(shorts: __m256i, to: &mut [[i16; 8]; 2]) {
        // SAFETY: `to` has 32 bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), shorts) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn add_shorts(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi16(a, b)
    }
}

//! Registers of AVX-512 (F and BW): 16 lanes.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::lanes::F32Lanes;
use super::operation::Operation;

pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

/// Runs an operation with these registers.
///
/// # Safety
/// The operands have passed [`Operation::check`].
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn enter<O: Operation>(operation: O) {
    // SAFETY: this function has the instructions, and the caller has checked the operands.
    unsafe { operation.vector::<__m512, 16, 8>() }
}

/// Rounds to bfloat16 in the low half of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bf16(x: __m512) -> __m512i {
    let bits = _mm512_castps_si512(x);
    let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
    let rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    _mm512_srli_epi32::<16>(rounded)
}

impl F32Lanes<16> for __m512 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn splat(x: f32) -> Self {
        _mm512_set1_ps(x)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load(from: &[f32; 16]) -> Self {
        // SAFETY: `from` has 64 bytes.
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn store(self, to: &mut [f32; 16]) {
        // SAFETY: `to` has 64 bytes.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load_i16(from: &[i16; 16]) -> Self {
        // SAFETY: `from` has 32 bytes.
        let words = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(words))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn store_i16(self, unit: i32, to: &mut [i16; 16]) {
        let steps = _mm512_mullo_epi32(_mm512_cvtps_epi32(self), _mm512_set1_epi32(unit));
        // SAFETY: `to` has 32 bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm512_cvtsepi32_epi16(steps)) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load_bf16(from: &[u32; 16]) -> [Self; 2] {
        // SAFETY: `from` has 64 bytes.
        let words = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
        let high = _mm512_and_si512(words, _mm512_set1_epi32(0xffff_0000u32 as i32));
        [_mm512_castsi512_ps(_mm512_slli_epi32::<16>(words)), _mm512_castsi512_ps(high)]
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn store_bf16(low: Self, high: Self, to: &mut [u32; 16]) {
        let words = _mm512_or_si512(bf16(low), _mm512_slli_epi32::<16>(bf16(high)));
        // SAFETY: `to` has 64 bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), words) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn add(self, other: Self) -> Self {
        _mm512_add_ps(self, other)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn mul(self, other: Self) -> Self {
        _mm512_mul_ps(self, other)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
        _mm512_fmadd_ps(self, factor, term)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn mul_sub_from(self, factor: Self, term: Self) -> Self {
        _mm512_fnmadd_ps(self, factor, term)
    }

    /// A Newton step after each 14-bit estimate leaves an error of about 2^-24.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn inverse_root(self, epsilon: Self) -> Self {
        let v = _mm512_max_ps(self, _mm512_set1_ps(1e-37)); // avoids 0 * infinity
        let half = _mm512_set1_ps(0.5);
        let r = _mm512_rsqrt14_ps(v);
        let vr = _mm512_mul_ps(v, r);
        let e = _mm512_fnmadd_ps(_mm512_mul_ps(vr, half), r, half);
        let root = _mm512_fmadd_ps(vr, e, vr);
        let d = _mm512_add_ps(root, epsilon);
        let q = _mm512_rcp14_ps(d);
        _mm512_fmadd_ps(q, _mm512_fnmadd_ps(d, q, _mm512_set1_ps(1.0)), q)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn clamp(self, low: Self, high: Self) -> Self {
        _mm512_min_ps(_mm512_max_ps(self, low), high)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn where_between(self, x: Self, low: Self, high: Self) -> Self {
        let inside = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(low, x) & _mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, high);
        _mm512_maskz_mov_ps(inside, self)
    }

    type Narrow = __m256;
    type Shorts = __m512i;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn load_shorts(from: &[[i16; 16]; 2]) -> __m512i {
        // SAFETY: `from` has 64 bytes.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn store_shorts(shorts: __m512i, to: &mut [[i16; 16]; 2]) {
        // SAFETY: `to` has 64 bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), shorts) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn add_shorts(a: __m512i, b: __m512i) -> __m512i {
        _mm512_add_epi16(a, b)
    }
}

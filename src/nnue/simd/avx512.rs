//! AVX-512 with VNNI: an accumulator of 256 is eight registers, a layer of 32 outputs two.

use std::arch::x86_64::*;

use super::scalar::Scalar;
use super::{Simd, Work};
use crate::nnue::arch::WEIGHT_SHIFT;
use crate::nnue::layers::{Affine, Aligned, Row};
use crate::types::Piece;

pub(super) struct Avx512;

/// Does work with these kernels.
///
/// # Safety
/// The processor must have the instructions named here.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,bmi1,popcnt")]
pub(super) unsafe fn enter<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller's promise.
    unsafe { work.run::<Avx512>() }
}

/// i16 lanes of a register.
const LANES: usize = 32;

/// # Safety
/// AVX-512F; `i` a multiple of the lanes and within the row.
#[inline(always)]
unsafe fn load<const N: usize>(row: &Row<N>, i: usize) -> __m512i {
    debug_assert!(i.is_multiple_of(LANES) && i + LANES <= N);
    // SAFETY: rows are aligned to 64 bytes, and `i` stays inside.
    unsafe { _mm512_load_si512(row.0.as_ptr().add(i).cast()) }
}

/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn store<const N: usize>(row: &mut Row<N>, i: usize, v: __m512i) {
    debug_assert!(i.is_multiple_of(LANES) && i + LANES <= N);
    // SAFETY: as in `load`.
    unsafe { _mm512_store_si512(row.0.as_mut_ptr().add(i).cast(), v) }
}

/// Shifts two times 16 sums and clips them to bytes.
///
/// # Safety
/// AVX-512F.
#[inline(always)]
unsafe fn clip(low: __m512i, high: __m512i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let zero = _mm512_setzero_si512();
        let bytes = |v| _mm512_cvtsepi32_epi8(_mm512_srai_epi32::<WEIGHT_SHIFT>(_mm512_max_epi32(v, zero)));
        _mm256_set_m128i(bytes(high), bytes(low))
    }
}

impl Simd for Avx512 {
    #[inline(always)]
    unsafe fn fused<const N: usize, const K: usize>(
        src: &Row<N>,
        dst: &mut Row<N>,
        subs: [&Row<N>; K],
        adds: [&Row<N>; K],
    ) {
        const { assert!(N.is_multiple_of(LANES)) };
        for i in (0..N).step_by(LANES) {
            // SAFETY: the caller's promise; `i` counts in lanes below `N`.
            unsafe {
                let mut v = load(src, i);
                for k in 0..K {
                    v = _mm512_add_epi16(_mm512_sub_epi16(v, load(subs[k], i)), load(adds[k], i));
                }
                store(dst, i, v);
            }
        }
    }

    #[inline(always)]
    unsafe fn apply<const N: usize>(
        acc: &mut Row<N>,
        copy: &mut Row<N>,
        rows: &[Row<N>],
        subs: &[u32],
        adds: &[u32],
    ) {
        const BLOCK: usize = 8;
        const { assert!(N.is_multiple_of(BLOCK * LANES)) };
        for start in (0..N).step_by(BLOCK * LANES) {
            // SAFETY: the caller's promise; `start + j * LANES` counts in lanes below `N`.
            unsafe {
                let mut v: [__m512i; BLOCK] = std::array::from_fn(|j| load(acc, start + j * LANES));
                for &s in subs {
                    let row = &rows[s as usize];
                    for (j, v) in v.iter_mut().enumerate() {
                        *v = _mm512_sub_epi16(*v, load(row, start + j * LANES));
                    }
                }
                for &s in adds {
                    let row = &rows[s as usize];
                    for (j, v) in v.iter_mut().enumerate() {
                        *v = _mm512_add_epi16(*v, load(row, start + j * LANES));
                    }
                }
                for (j, v) in v.into_iter().enumerate() {
                    store(acc, start + j * LANES, v);
                    store(copy, start + j * LANES, v);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn differences(a: &[Piece; 81], b: &[Piece; 81]) -> u128 {
        // SAFETY: the caller's promise; bytes 0..64 and 17..81 lie within the boards.
        unsafe {
            let at = |i: usize| {
                let (a, b) = (a.as_ptr().add(i).cast(), b.as_ptr().add(i).cast());
                _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b))
            };
            at(0) as u128 | (at(17) as u128) << 17
        }
    }

    #[inline(always)]
    unsafe fn transformed_affine<const N: usize, const IN: usize, const OUT: usize>(
        us: &Row<N>,
        them: &Row<N>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(IN == 2 * N && N.is_multiple_of(64) && IN >= 64) };
        if !OUT.is_multiple_of(32) {
            // SAFETY: plain Rust.
            return unsafe { Scalar::transformed_affine(us, them, layer) };
        }
        let mut input = Aligned([0u8; IN]);
        // groups of four inputs that are not all zero; the compressing store writes 16 at a time, and IN - IN / 4 >= 16
        let mut live = Aligned([0u32; IN]);
        let mut count = 0;
        // SAFETY: the caller's promise; offsets stay below `N`, `IN` and the number of groups.
        unsafe {
            let zero = _mm512_setzero_si512();
            // packing works within 128-bit lanes: this puts the eight quarters back in order
            let order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
            let mut groups = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
            for (side, acc) in [us, them].into_iter().enumerate() {
                for i in (0..N).step_by(64) {
                    let packed = _mm512_packs_epi16(load(acc, i), load(acc, i + LANES));
                    let bytes = _mm512_permutexvar_epi64(order, _mm512_max_epi8(packed, zero));
                    _mm512_store_si512(input.0.as_mut_ptr().add(side * N + i).cast(), bytes);
                    let mask = _mm512_test_epi32_mask(bytes, bytes);
                    let compressed = _mm512_maskz_compress_epi32(mask, groups);
                    _mm512_storeu_si512(live.0.as_mut_ptr().add(count).cast(), compressed);
                    count += mask.count_ones() as usize;
                    groups = _mm512_add_epi32(groups, _mm512_set1_epi32(16));
                }
            }

            let mut out = Aligned([0u8; OUT]);
            for o in (0..OUT).step_by(32) {
                let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
                // eight chains hide the latency of the dot products
                let mut low = [zero; 4];
                let mut high = [zero; 4];
                low[0] = _mm512_load_si512(layer.bias.0.as_ptr().add(o).cast());
                high[0] = _mm512_load_si512(layer.bias.0.as_ptr().add(o + 16).cast());
                let mut step = |at: usize, chain: usize| {
                    let group = *live.0.get_unchecked(at) as usize;
                    let four = _mm512_set1_epi32(input.0.as_ptr().cast::<i32>().add(group).read());
                    let w = weights.add(group * 4 * OUT);
                    low[chain] = _mm512_dpbusd_epi32(low[chain], four, _mm512_load_si512(w.cast()));
                    high[chain] = _mm512_dpbusd_epi32(high[chain], four, _mm512_load_si512(w.add(64).cast()));
                };
                let mut at = 0;
                while at + 4 <= count {
                    step(at, 0);
                    step(at + 1, 1);
                    step(at + 2, 2);
                    step(at + 3, 3);
                    at += 4;
                }
                while at < count {
                    step(at, 0);
                    at += 1;
                }
                let sum = |v: [__m512i; 4]| {
                    _mm512_add_epi32(_mm512_add_epi32(v[0], v[1]), _mm512_add_epi32(v[2], v[3]))
                };
                _mm256_store_si256(out.0.as_mut_ptr().add(o).cast(), clip(sum(low), sum(high)));
            }
            out
        }
    }

    #[inline(always)]
    unsafe fn affine<const IN: usize, const OUT: usize>(
        input: &Aligned<[u8; IN]>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        if !OUT.is_multiple_of(32) || !IN.is_multiple_of(8) {
            // SAFETY: plain Rust.
            return unsafe { Scalar::affine(input, layer) };
        }
        // SAFETY: the caller's promise; group and output numbers stay within the layer.
        unsafe {
            let mut out = Aligned([0u8; OUT]);
            for o in (0..OUT).step_by(32) {
                let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
                let zero = _mm512_setzero_si512();
                let mut low = [_mm512_load_si512(layer.bias.0.as_ptr().add(o).cast()), zero];
                let mut high = [_mm512_load_si512(layer.bias.0.as_ptr().add(o + 16).cast()), zero];
                for group in 0..IN / 4 {
                    let four = _mm512_set1_epi32(input.0.as_ptr().cast::<i32>().add(group).read());
                    let w = weights.add(group * 4 * OUT);
                    let chain = group % 2;
                    low[chain] = _mm512_dpbusd_epi32(low[chain], four, _mm512_load_si512(w.cast()));
                    high[chain] = _mm512_dpbusd_epi32(high[chain], four, _mm512_load_si512(w.add(64).cast()));
                }
                let bytes = clip(_mm512_add_epi32(low[0], low[1]), _mm512_add_epi32(high[0], high[1]));
                _mm256_store_si256(out.0.as_mut_ptr().add(o).cast(), bytes);
            }
            out
        }
    }

    #[inline(always)]
    unsafe fn output<const IN: usize>(input: &Aligned<[u8; IN]>, layer: &Affine<IN, 1>) -> i32 {
        const { assert!(IN.is_multiple_of(32)) };
        // SAFETY: the caller's promise; `i` stays below `IN`, the length of both.
        unsafe {
            let mut sums = _mm256_setzero_si256();
            for i in (0..IN).step_by(32) {
                let x = _mm256_load_si256(input.0.as_ptr().add(i).cast());
                let w = _mm256_load_si256(layer.groups.as_ptr().cast::<i8>().add(i).cast());
                sums = _mm256_dpbusd_epi32(sums, x, w);
            }
            super::avx2::sum(sums).wrapping_add(layer.bias.0[0])
        }
    }
}

//! AVX-512 with VNNI: an accumulator of 256 is eight registers, a layer of 32 outputs two.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::rows::{self, Lanes};
use super::scalar::Scalar;
use super::tier::{Simd, Work};
use crate::nnue::layers::{Affine, Aligned, Row, WEIGHT_SHIFT};
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

/// Room for the live groups of 2048 inputs.
const MOST_WORDS: usize = 8;

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
}

/// Shifts two times 16 sums and clips them to bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn clip(low: __m512i, high: __m512i) -> __m256i {
    let zero = _mm512_setzero_si512();
    let low = _mm512_srai_epi32::<WEIGHT_SHIFT>(_mm512_max_epi32(low, zero));
    let high = _mm512_srai_epi32::<WEIGHT_SHIFT>(_mm512_max_epi32(high, zero));
    _mm256_set_m128i(_mm512_cvtsepi32_epi8(high), _mm512_cvtsepi32_epi8(low))
}

/// Two times 32 elements of an accumulator, clipped to 0..=127.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn activate(low: __m512i, high: __m512i) -> __m512i {
    // packing works within 128-bit lanes: this puts the eight quarters back in order
    let order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    let packed = _mm512_max_epi8(_mm512_packs_epi16(low, high), _mm512_setzero_si512());
    _mm512_permutexvar_epi64(order, packed)
}

/// Adds one group of four inputs times its weights to the sums of 32 outputs.
///
/// # Safety
/// AVX-512 VNNI; `input` points to groups of four bytes and `weights` to groups of weights `4 * OUT` bytes apart, aligned
/// to 64, of which there are more than `group`.
#[inline(always)]
unsafe fn add_group<const OUT: usize>(
    low: &mut __m512i,
    high: &mut __m512i,
    input: *const u8,
    weights: *const i8,
    group: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let four = _mm512_set1_epi32(input.cast::<i32>().add(group).read());
        let w = weights.add(group * 4 * OUT);
        *low = _mm512_dpbusd_epi32(*low, four, _mm512_load_si512(w.cast()));
        *high = _mm512_dpbusd_epi32(*high, four, _mm512_load_si512(w.add(64).cast()));
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
        // SAFETY: the caller's promise.
        unsafe { rows::fused::<__m512i, _, N, K>(src, dst, subs, adds) }
    }

    #[inline(always)]
    unsafe fn apply<const N: usize>(
        acc: &mut Row<N>,
        copy: &mut Row<N>,
        rows: &[Row<N>],
        subs: &[u32],
        adds: &[u32],
    ) {
        // SAFETY: the caller's promise.
        unsafe { rows::apply::<__m512i, _, 8, N>(acc, copy, rows, subs, adds) }
    }

    #[inline(always)]
    unsafe fn differences(a: &[Piece; 81], b: &[Piece; 81]) -> u128 {
        // SAFETY: the caller's promise; bytes 0..64 and 17..81 lie within the boards.
        unsafe {
            let (a, b) = (a.as_ptr().cast::<u8>(), b.as_ptr().cast::<u8>());
            let (a0, b0) = (_mm512_loadu_si512(a.cast()), _mm512_loadu_si512(b.cast()));
            let (a1, b1) = (_mm512_loadu_si512(a.add(17).cast()), _mm512_loadu_si512(b.add(17).cast()));
            _mm512_cmpneq_epi8_mask(a0, b0) as u128 | (_mm512_cmpneq_epi8_mask(a1, b1) as u128) << 17
        }
    }

    #[inline(always)]
    unsafe fn transformed_affine<const N: usize, const IN: usize, const OUT: usize>(
        us: &Row<N>,
        them: &Row<N>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(IN == 2 * N && N.is_multiple_of(256)) };
        if !OUT.is_multiple_of(32) {
            // SAFETY: plain Rust.
            return unsafe { Scalar::transformed_affine(us, them, layer) };
        }
        let mut input = MaybeUninit::<Aligned<[u8; IN]>>::uninit();
        let input = input.as_mut_ptr().cast::<u8>();
        const { assert!(IN <= 256 * MOST_WORDS) };
        // one bit for every group of four inputs that are not all zero; IN / 256 words are used
        let mut live = [0u64; MOST_WORDS];
        let live = &mut live[..IN / 256];
        // SAFETY: the caller's promise; offsets stay below `N`, `IN` and the number of groups; what is read of `input`
        // has been written before.
        unsafe {
            let zero = _mm512_setzero_si512();
            for (word, live) in live.iter_mut().enumerate() {
                let (acc, start) = if word < N / 256 { (us, 256 * word) } else { (them, 256 * word - N) };
                let mut set = 0;
                for i in (0..256).step_by(64) {
                    let at = (start + i) / LANES;
                    let bytes = activate(
                        __m512i::load(rows::chunk(acc, at)),
                        __m512i::load(rows::chunk(acc, at + 1)),
                    );
                    _mm512_store_si512(input.add(256 * word + i).cast(), bytes);
                    set |= (_mm512_test_epi32_mask(bytes, bytes) as u64) << (i / 4);
                }
                *live = set;
            }

            let mut out = Aligned([0u8; OUT]);
            for o in (0..OUT).step_by(32) {
                let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
                // eight chains hide the latency of the dot products
                let mut low = [zero; 4];
                let mut high = [zero; 4];
                low[0] = _mm512_load_si512(layer.bias.0.as_ptr().add(o).cast());
                high[0] = _mm512_load_si512(layer.bias.0.as_ptr().add(o + 16).cast());
                for (word, &set) in live.iter().enumerate() {
                    let (input, weights) = (input.add(256 * word), weights.add(64 * word * 4 * OUT));
                    let mut set = set;
                    for _ in 0..set.count_ones() / 4 {
                        for chain in 0..4 {
                            let group = set.trailing_zeros() as usize;
                            add_group::<OUT>(&mut low[chain], &mut high[chain], input, weights, group);
                            set &= set - 1;
                        }
                    }
                    while set != 0 {
                        let group = set.trailing_zeros() as usize;
                        add_group::<OUT>(&mut low[0], &mut high[0], input, weights, group);
                        set &= set - 1;
                    }
                }
                for chain in 1..4 {
                    low[0] = _mm512_add_epi32(low[0], low[chain]);
                    high[0] = _mm512_add_epi32(high[0], high[chain]);
                }
                _mm256_store_si256(out.0.as_mut_ptr().add(o).cast(), clip(low[0], high[0]));
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
                    let (low, high) = (&mut low[group % 2], &mut high[group % 2]);
                    add_group::<OUT>(low, high, input.0.as_ptr(), weights, group);
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

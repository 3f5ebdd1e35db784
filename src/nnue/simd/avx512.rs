//! AVX-512 with VNNI: an accumulator of 256 is eight registers, a layer of 32 outputs two.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::rows::{self, Lanes};
use super::tier::{Simd, Work};
use super::wide;
use crate::nnue::layers::{Affine, Aligned, Row, WEIGHT_SHIFT};
use crate::types::Piece;

pub(super) struct Avx512;

/// Runs `work` with these kernels.
///
/// # Safety
/// The processor has these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,bmi1,popcnt")]
pub(super) unsafe fn enter<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller's promise.
    unsafe { work.run::<Avx512>() }
}

/// i16 lanes of a register.
const LANES: usize = 32;

/// Words for the nonzero groups of 2048 inputs.
const MOST_WORDS: usize = 8;

/// Shifts 16 sums and clips them to bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn clip(sums: __m512i) -> __m128i {
    let positive = _mm512_max_epi32(sums, _mm512_setzero_si512());
    _mm512_cvtsepi32_epi8(_mm512_srai_epi32::<WEIGHT_SHIFT>(positive))
}

/// Two times 32 elements of an accumulator, clipped to 0..=127.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn activate(low: __m512i, high: __m512i) -> __m512i {
    // packing works within 128-bit lanes: this restores the order of the eight quarters
    let order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    let packed = _mm512_max_epi8(_mm512_packs_epi16(low, high), _mm512_setzero_si512());
    _mm512_permutexvar_epi64(order, packed)
}

/// Adds one group of four inputs times its weights to the sums of `16 * R` outputs.
///
/// # Safety
/// AVX-512 VNNI; `input` points to groups of four bytes and `weights` to groups of weights `4 * OUT` bytes
/// apart, aligned to 64, of which there are more than `group`.
#[inline(always)]
unsafe fn add_group<const OUT: usize, const R: usize>(
    sums: &mut [__m512i; R],
    input: *const u8,
    weights: *const i8,
    group: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let four = _mm512_set1_epi32(input.cast::<i32>().add(group).read());
        let w = weights.add(group * 4 * OUT);
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = _mm512_dpbusd_epi32(*sum, four, _mm512_load_si512(w.add(64 * j).cast()));
        }
    }
}

/// [`add_group`] for a layer of eight outputs.
///
/// # Safety
/// As [`add_group`], but `weights` are aligned to 32.
#[inline(always)]
unsafe fn add_group_of_8(sums: &mut __m256i, input: *const u8, weights: *const i8, group: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let four = _mm256_set1_epi32(input.cast::<i32>().add(group).read());
        *sums = _mm256_dpbusd_epi32(*sums, four, _mm256_load_si256(weights.add(32 * group).cast()));
    }
}

/// `16 * R` sums that begin with the bias.
///
/// # Safety
/// AVX-512; `bias` points to as many numbers, aligned to 64 bytes.
#[inline(always)]
unsafe fn biased<const R: usize>(bias: *const i32) -> [__m512i; R] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [_mm512_setzero_si512(); R];
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = _mm512_load_si512(bias.add(16 * j).cast());
        }
        sums
    }
}

/// Adds up the chains of sums, shifts and clips them, and stores the bytes.
///
/// # Safety
/// AVX-512; `to` has room for `16 * R` bytes.
#[inline(always)]
unsafe fn finish<const R: usize, const CHAINS: usize>(to: *mut u8, chains: [[__m512i; R]; CHAINS]) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut total = chains[0];
        for sums in &chains[1..] {
            for (total, sum) in total.iter_mut().zip(sums) {
                *total = _mm512_add_epi32(*total, *sum);
            }
        }
        for (j, sum) in total.into_iter().enumerate() {
            _mm_storeu_si128(to.add(16 * j).cast(), clip(sum));
        }
    }
}

/// A sparse input: bytes, and a bit for every group of four that are not all zero.
struct Sparse<'a> {
    bytes: *const u8,
    live: &'a [u64],
}

/// A layer over the nonzero groups of its input, `16 * R` outputs at a time.
///
/// # Safety
/// AVX-512 VNNI; the input has as many bytes as the layer has inputs.
#[inline(always)]
unsafe fn sparse_affine<const IN: usize, const OUT: usize, const R: usize>(
    input: Sparse,
    layer: &Affine<IN, OUT>,
) -> Aligned<[u8; OUT]> {
    let mut out = Aligned([0u8; OUT]);
    // SAFETY: the caller's promise; group and output numbers stay within the layer.
    unsafe {
        for o in (0..OUT).step_by(16 * R) {
            let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
            // chains hide the latency of the dot products
            let mut chains = [[_mm512_setzero_si512(); R]; 4];
            chains[0] = biased(layer.bias.0.as_ptr().add(o));
            for (word, &set) in input.live.iter().enumerate() {
                let (input, weights) = (input.bytes.add(256 * word), weights.add(64 * word * 4 * OUT));
                let mut set = set;
                for _ in 0..set.count_ones() / 4 {
                    for sums in &mut chains {
                        add_group::<OUT, R>(sums, input, weights, pop(&mut set));
                    }
                }
                while set != 0 {
                    add_group::<OUT, R>(&mut chains[0], input, weights, pop(&mut set));
                }
            }
            finish(out.0.as_mut_ptr().add(o), chains);
        }
    }
    out
}

/// [`sparse_affine`] for a layer of eight outputs.
///
/// # Safety
/// As [`sparse_affine`].
#[inline(always)]
unsafe fn sparse_affine_of_8<const IN: usize, const OUT: usize>(
    input: Sparse,
    layer: &Affine<IN, OUT>,
) -> Aligned<[u8; OUT]> {
    let mut out = Aligned([0u8; OUT]);
    // SAFETY: the caller's promise; group numbers stay within the layer, which has eight outputs.
    unsafe {
        assert!(OUT == 8);
        let weights = layer.groups.as_ptr().cast::<i8>();
        let mut chains = [_mm256_setzero_si256(); 4];
        chains[0] = _mm256_load_si256(layer.bias.0.as_ptr().cast());
        for (word, &set) in input.live.iter().enumerate() {
            let (input, weights) = (input.bytes.add(256 * word), weights.add(64 * word * 4 * OUT));
            let mut set = set;
            for _ in 0..set.count_ones() / 4 {
                for sums in &mut chains {
                    add_group_of_8(sums, input, weights, pop(&mut set));
                }
            }
            while set != 0 {
                add_group_of_8(&mut chains[0], input, weights, pop(&mut set));
            }
        }
        let [a, b, c, d] = chains;
        let sums = _mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d));
        _mm_storel_epi64(out.0.as_mut_ptr().cast(), clip(_mm512_zextsi256_si512(sums)));
    }
    out
}

/// A layer over its whole input, `16 * R` outputs at a time.
///
/// # Safety
/// AVX-512 VNNI.
#[inline(always)]
unsafe fn dense_affine<const IN: usize, const OUT: usize, const R: usize>(
    input: &Aligned<[u8; IN]>,
    layer: &Affine<IN, OUT>,
) -> Aligned<[u8; OUT]> {
    let mut out = Aligned([0u8; OUT]);
    // SAFETY: the caller's promise; group and output numbers stay within the layer.
    unsafe {
        for o in (0..OUT).step_by(16 * R) {
            let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
            let mut chains = [biased(layer.bias.0.as_ptr().add(o)), [_mm512_setzero_si512(); R]];
            for group in 0..IN / 4 {
                add_group::<OUT, R>(&mut chains[group % 2], input.0.as_ptr(), weights, group);
            }
            finish(out.0.as_mut_ptr().add(o), chains);
        }
    }
    out
}

/// Removes and returns the lowest bit of a nonempty set.
#[inline(always)]
fn pop(set: &mut u64) -> usize {
    let lowest = set.trailing_zeros() as usize;
    *set &= *set - 1;
    lowest
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
        const { assert!(OUT == 8 || OUT.is_multiple_of(16)) };
        let mut input = MaybeUninit::<Aligned<[u8; IN]>>::uninit();
        let input = input.as_mut_ptr().cast::<u8>();
        const { assert!(IN <= 256 * MOST_WORDS) };
        // one bit for every group of four inputs that are not all zero; IN / 256 words are used
        let mut live = [0u64; MOST_WORDS];
        let live = &mut live[..IN / 256];
        // SAFETY: the caller's promise; offsets stay below `N`, `IN` and the number of groups; what is read
        // of `input` has been written before.
        unsafe {
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

            let input = Sparse { bytes: input, live };
            match OUT {
                8 => sparse_affine_of_8(input, layer),
                _ if OUT.is_multiple_of(32) => sparse_affine::<IN, OUT, 2>(input, layer),
                _ => sparse_affine::<IN, OUT, 1>(input, layer),
            }
        }
    }

    #[inline(always)]
    unsafe fn transformed_output<const N: usize>(us: &Row<N>, them: &Row<N>, weights: &[Row<N>; 2]) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { rows::output::<__m512i, _, N>(us, them, weights) }
    }

    #[inline(always)]
    unsafe fn affine<const IN: usize, const OUT: usize>(
        input: &Aligned<[u8; IN]>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(OUT.is_multiple_of(16)) };
        // SAFETY: the caller's promise.
        unsafe {
            match OUT {
                _ if OUT.is_multiple_of(32) => dense_affine::<IN, OUT, 2>(input, layer),
                _ => dense_affine::<IN, OUT, 1>(input, layer),
            }
        }
    }

    #[inline(always)]
    unsafe fn sum<const K: usize>(
        from: *const i16,
        to: [*mut i16; K],
        width: usize,
        rows: &[i16],
        lists: [&[u32]; 2],
    ) {
        // SAFETY: the caller's promise.
        unsafe { wide::sum::<__m512i, _, 16, 2, K>(from, to, width, rows, lists) }
    }

    #[inline(always)]
    unsafe fn activate(first: &[i16; 32], second: Option<&[i16; 32]>, to: &mut [u8; 32]) -> u8 {
        // SAFETY: the caller's promise; 32 bytes are written.
        unsafe {
            let mut x = __m512i::load(first).clip();
            if let Some(second) = second {
                // the product's upper half, of a factor shifted left by nine as u16: the product >> 7
                x = _mm512_mulhi_epu16(_mm512_slli_epi16::<9>(x), __m512i::load(second).clip());
            }
            let bytes = _mm512_cvtepi16_epi8(x);
            _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes);
            _mm256_test_epi32_mask(bytes, bytes)
        }
    }

    #[inline(always)]
    unsafe fn sums(input: &[u8], live: &[u64], bias: &[i32], weights: &[i8], out: &mut [i32]) {
        let mut first = 0;
        // SAFETY: the caller's promise; the outputs are a multiple of eight.
        unsafe {
            while first < bias.len() {
                first += match bias.len() - first {
                    64.. => {
                        wide::sums::<__m512i, 4, 2>(input, live, bias, weights, out, first);
                        64
                    }
                    16.. => {
                        wide::sums::<__m512i, 1, 4>(input, live, bias, weights, out, first);
                        16
                    }
                    _ => {
                        wide::sums::<__m256i, 1, 4>(input, live, bias, weights, out, first);
                        8
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn dot(input: &[u8], weights: &[i8]) -> i32 {
        // SAFETY: the caller's promise; masked bytes are not read.
        unsafe {
            let mut sums = [_mm512_setzero_si512(); 4];
            for i in (0..input.len()).step_by(64) {
                let mask = u64::MAX >> 64usize.saturating_sub(input.len() - i);
                let x = _mm512_maskz_loadu_epi8(mask, input.as_ptr().add(i).cast());
                let w = _mm512_maskz_loadu_epi8(mask, weights.as_ptr().add(i).cast());
                let sum = &mut sums[i / 64 % 4];
                *sum = _mm512_dpbusd_epi32(*sum, x, w);
            }
            let [a, b, c, d] = sums;
            _mm512_reduce_add_epi32(_mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d)))
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
            super::registers::sum(sums).wrapping_add(layer.bias.0[0])
        }
    }
}

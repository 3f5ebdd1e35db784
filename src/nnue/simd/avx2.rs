//! AVX2, with or without the byte dot products of AVX-VNNI.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::registers::{DotSums, dot, sum};
use super::rows::{self, Lanes};
use super::tier::{Simd, Work};
use super::wide;
use crate::nnue::layers::{Affine, Aligned, Row, WEIGHT_SHIFT};
use crate::types::Piece;

/// The kernels; `VNNI` says whether `vpdpbusd` may be used.
pub(super) struct Avx2<const VNNI: bool>;

/// Runs `work` with these kernels.
///
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2,bmi1,popcnt")]
pub(super) unsafe fn enter<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller's promise.
    unsafe { work.run::<Avx2<false>>() }
}

/// Runs `work` with these kernels.
///
/// # Safety
/// The processor must have AVX2 and AVX-VNNI.
#[target_feature(enable = "avx2,avxvnni,bmi1,popcnt")]
pub(super) unsafe fn enter_vnni<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller's promise.
    unsafe { work.run::<Avx2<true>>() }
}

/// i16 lanes of a register.
const LANES: usize = 16;

/// Words for the nonzero groups of 2048 inputs.
const MOST_WORDS: usize = 8;

/// Shifts `8 * R` sums and clips them to bytes, which come first; zeros follow.
#[inline]
#[target_feature(enable = "avx2")]
fn clip<const R: usize>(v: [__m256i; R]) -> __m256i {
    const SHIFT: i32 = WEIGHT_SHIFT as i32;
    let shifted = |i: usize| match v.get(i) {
        Some(&v) => _mm256_srai_epi32::<SHIFT>(v),
        None => _mm256_setzero_si256(),
    };
    let low = _mm256_packs_epi32(shifted(0), shifted(1));
    let high = _mm256_packs_epi32(shifted(2), shifted(3));
    let bytes = _mm256_max_epi8(_mm256_packs_epi16(low, high), _mm256_setzero_si256());
    // both packs worked within 128-bit lanes
    _mm256_permutevar8x32_epi32(bytes, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0))
}

/// Stores the first `8 * R` bytes.
///
/// # Safety
/// AVX2; `to` has room for them, aligned to 32 bytes if `R` is 4.
#[inline(always)]
unsafe fn store<const R: usize>(to: *mut u8, bytes: __m256i) {
    // SAFETY: the caller's promise.
    unsafe {
        match R {
            4 => _mm256_store_si256(to.cast(), bytes),
            2 => _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(bytes)),
            _ => _mm_storel_epi64(to.cast(), _mm256_castsi256_si128(bytes)),
        }
    }
}

/// Adds sums lane by lane.
#[inline]
#[target_feature(enable = "avx2")]
fn add<const R: usize>(to: &mut [__m256i; R], sums: [__m256i; R]) {
    for (to, sum) in to.iter_mut().zip(sums) {
        *to = _mm256_add_epi32(*to, sum);
    }
}

/// Two times 16 elements of an accumulator, clipped to 0..=127.
#[inline]
#[target_feature(enable = "avx2")]
fn activate(low: __m256i, high: __m256i) -> __m256i {
    // packing works within 128-bit lanes: this restores the order of the quarters
    let packed = _mm256_max_epi8(_mm256_packs_epi16(low, high), _mm256_setzero_si256());
    _mm256_permute4x64_epi64::<0b11_01_10_00>(packed)
}

/// Adds one group of four inputs times its weights to the sums of `8 * R` outputs.
///
/// # Safety
/// As [`dot`]; `input` points to groups of four bytes and `weights` to groups of weights `4 * OUT` bytes
/// apart, aligned to 32, of which there are more than `group`.
#[inline(always)]
unsafe fn add_group<const VNNI: bool, const OUT: usize, const R: usize>(
    sums: &mut [__m256i; R],
    input: *const u8,
    weights: *const i8,
    group: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let four = _mm256_set1_epi32(input.cast::<i32>().add(group).read());
        let w = weights.add(group * 4 * OUT);
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = dot::<VNNI>(*sum, four, _mm256_load_si256(w.add(32 * j).cast()));
        }
    }
}

/// Adds `K` groups of four inputs times their weights to the sums of `8 * R` outputs. Their products are
/// summed in i16 first, which saves most of the widening.
///
/// # Safety
/// As [`add_group`], for each group. The layer satisfies [`Affine::sums_in_i16`] for `K`.
#[inline(always)]
unsafe fn add_groups<const OUT: usize, const R: usize, const K: usize>(
    sums: &mut [__m256i; R],
    input: *const u8,
    weights: *const i8,
    groups: [usize; K],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut fours = [_mm256_setzero_si256(); K];
        for (four, group) in fours.iter_mut().zip(groups) {
            *four = _mm256_set1_epi32(input.cast::<i32>().add(group).read());
        }
        for (j, sum) in sums.iter_mut().enumerate() {
            let mut pairs = _mm256_setzero_si256();
            for (four, group) in fours.into_iter().zip(groups) {
                let weights = _mm256_load_si256(weights.add(group * 4 * OUT + 32 * j).cast());
                pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(four, weights));
            }
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
        }
    }
}

/// Removes and returns the lowest bit of a nonempty set.
#[inline(always)]
fn pop(set: &mut u64) -> usize {
    let lowest = set.trailing_zeros() as usize;
    *set &= *set - 1;
    lowest
}

/// `8 * R` sums that begin with the bias.
///
/// # Safety
/// AVX; `bias` points to as many numbers, aligned to 32 bytes.
#[inline(always)]
unsafe fn biased<const R: usize>(bias: *const i32) -> [__m256i; R] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [_mm256_setzero_si256(); R];
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = _mm256_load_si256(bias.add(8 * j).cast());
        }
        sums
    }
}

/// A sparse input: bytes, and a bit for every group of four that are not all zero.
struct Sparse<'a> {
    bytes: *const u8,
    live: &'a [u64],
}

/// A layer over the nonzero groups of its input, `8 * R` outputs at a time; `CHAINS` sets of sums hide the
/// latency of the dot products.
///
/// # Safety
/// As [`dot`]; the input has as many bytes as the layer has inputs.
#[inline(always)]
unsafe fn sparse_affine<
    const VNNI: bool,
    const IN: usize,
    const OUT: usize,
    const R: usize,
    const CHAINS: usize,
>(
    input: Sparse,
    layer: &Affine<IN, OUT>,
) -> Aligned<[u8; OUT]> {
    let in_i16 = !VNNI && layer.sums_in_i16(4);
    let mut out = Aligned([0u8; OUT]);
    // SAFETY: the caller's promise; group and output numbers stay within the layer.
    unsafe {
        for o in (0..OUT).step_by(8 * R) {
            let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
            let mut sums = [[_mm256_setzero_si256(); R]; CHAINS];
            sums[0] = biased(layer.bias.0.as_ptr().add(o));
            for (word, &set) in input.live.iter().enumerate() {
                let (input, weights) = (input.bytes.add(256 * word), weights.add(64 * word * 4 * OUT));
                let mut set = set;
                if in_i16 {
                    let n = set.count_ones();
                    for _ in 0..n / 4 {
                        let groups = std::array::from_fn(|_| pop(&mut set));
                        add_groups::<OUT, R, 4>(&mut sums[0], input, weights, groups);
                    }
                    if n & 2 != 0 {
                        let groups = std::array::from_fn(|_| pop(&mut set));
                        add_groups::<OUT, R, 2>(&mut sums[1], input, weights, groups);
                    }
                } else {
                    for _ in 0..set.count_ones() as usize / CHAINS {
                        for sums in &mut sums {
                            add_group::<VNNI, OUT, R>(sums, input, weights, pop(&mut set));
                        }
                    }
                }
                // one group may be left
                while set != 0 {
                    add_group::<VNNI, OUT, R>(&mut sums[0], input, weights, pop(&mut set));
                }
            }
            let mut total = sums[0];
            sums[1..].iter().for_each(|sums| add(&mut total, *sums));
            store::<R>(out.0.as_mut_ptr().add(o), clip(total));
        }
    }
    out
}

/// A layer over its whole input, `8 * R` outputs at a time.
///
/// # Safety
/// As [`dot`].
#[inline(always)]
unsafe fn dense_affine<const VNNI: bool, const IN: usize, const OUT: usize, const R: usize>(
    input: &Aligned<[u8; IN]>,
    layer: &Affine<IN, OUT>,
) -> Aligned<[u8; OUT]> {
    let mut out = Aligned([0u8; OUT]);
    // SAFETY: the caller's promise; group and output numbers stay within the layer.
    unsafe {
        for o in (0..OUT).step_by(8 * R) {
            let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
            let mut even = biased(layer.bias.0.as_ptr().add(o));
            let mut odd = [_mm256_setzero_si256(); R];
            for pair in 0..IN / 8 {
                add_group::<VNNI, OUT, R>(&mut even, input.0.as_ptr(), weights, 2 * pair);
                add_group::<VNNI, OUT, R>(&mut odd, input.0.as_ptr(), weights, 2 * pair + 1);
            }
            add(&mut even, odd);
            store::<R>(out.0.as_mut_ptr().add(o), clip(even));
        }
    }
    out
}

impl<const VNNI: bool> Simd for Avx2<VNNI> {
    #[inline(always)]
    unsafe fn fused<const N: usize, const K: usize>(
        src: &Row<N>,
        dst: &mut Row<N>,
        subs: [&Row<N>; K],
        adds: [&Row<N>; K],
    ) {
        // SAFETY: the caller's promise.
        unsafe { rows::fused::<__m256i, _, N, K>(src, dst, subs, adds) }
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
        unsafe { rows::apply::<__m256i, _, 8, N>(acc, copy, rows, subs, adds) }
    }

    #[inline(always)]
    unsafe fn differences(a: &[Piece; 81], b: &[Piece; 81]) -> u128 {
        // SAFETY: the caller's promise; bytes 0..32, 32..64 and 49..81 lie within the boards.
        unsafe {
            let (a, b) = (a.as_ptr().cast::<u8>(), b.as_ptr().cast::<u8>());
            let mut set = 0;
            for i in [0, 32, 49] {
                let (a, b) = (_mm256_loadu_si256(a.add(i).cast()), _mm256_loadu_si256(b.add(i).cast()));
                let same = _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32;
                set |= (!same as u128) << i;
            }
            set
        }
    }

    #[inline(always)]
    unsafe fn transformed_affine<const N: usize, const IN: usize, const OUT: usize>(
        us: &Row<N>,
        them: &Row<N>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(IN == 2 * N && N.is_multiple_of(256) && OUT.is_multiple_of(8)) };
        let mut input = MaybeUninit::<Aligned<[u8; IN]>>::uninit();
        let input = input.as_mut_ptr().cast::<u8>();
        // one bit for every group of four inputs that are not all zero; IN / 256 words are used
        const { assert!(IN <= 256 * MOST_WORDS) };
        let mut live = [0u64; MOST_WORDS];
        let live = &mut live[..IN / 256];
        // SAFETY: the caller's promise; offsets stay below `N`, `IN` and the number of groups; what is read
        // of `input` has been written before.
        unsafe {
            let zero = _mm256_setzero_si256();
            for (word, live) in live.iter_mut().enumerate() {
                let (acc, start) = if word < N / 256 { (us, 256 * word) } else { (them, 256 * word - N) };
                let mut set = 0;
                for i in (0..256).step_by(32) {
                    let at = (start + i) / LANES;
                    let bytes = activate(
                        __m256i::load(rows::chunk(acc, at)),
                        __m256i::load(rows::chunk(acc, at + 1)),
                    );
                    _mm256_store_si256(input.add(256 * word + i).cast(), bytes);
                    // bytes up to 127 make positive i32
                    let mask = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(bytes, zero)));
                    set |= (mask as u64) << (i / 4);
                }
                *live = set;
            }

            let input = Sparse { bytes: input, live };
            match OUT {
                _ if OUT.is_multiple_of(32) => sparse_affine::<VNNI, IN, OUT, 4, 2>(input, layer),
                _ if OUT.is_multiple_of(16) => sparse_affine::<VNNI, IN, OUT, 2, 4>(input, layer),
                _ => sparse_affine::<VNNI, IN, OUT, 1, 4>(input, layer),
            }
        }
    }

    #[inline(always)]
    unsafe fn transformed_output<const N: usize>(us: &Row<N>, them: &Row<N>, weights: &[Row<N>; 2]) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { rows::output::<__m256i, _, N>(us, them, weights) }
    }

    #[inline(always)]
    unsafe fn affine<const IN: usize, const OUT: usize>(
        input: &Aligned<[u8; IN]>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(IN.is_multiple_of(8) && OUT.is_multiple_of(8)) };
        // SAFETY: the caller's promise.
        unsafe {
            match OUT {
                _ if OUT.is_multiple_of(32) => dense_affine::<VNNI, IN, OUT, 4>(input, layer),
                _ if OUT.is_multiple_of(16) => dense_affine::<VNNI, IN, OUT, 2>(input, layer),
                _ => dense_affine::<VNNI, IN, OUT, 1>(input, layer),
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
        unsafe { wide::sum::<__m256i, _, 8, 4, K>(from, to, width, rows, lists) }
    }

    #[inline(always)]
    unsafe fn activate(first: &[i16; 32], second: Option<&[i16; 32]>, to: &mut [u8; 32]) -> u8 {
        // SAFETY: the caller's promise; 32 bytes are written.
        unsafe {
            let [low, high] = first.as_chunks().0 else { return 0 };
            let mut x = [__m256i::load(low).clip(), __m256i::load(high).clip()];
            if let Some(second) = second {
                for (x, second) in x.iter_mut().zip(second.as_chunks().0) {
                    // the product's upper half, of a factor shifted left by nine as u16: the product >> 7
                    *x = _mm256_mulhi_epu16(_mm256_slli_epi16::<9>(*x), __m256i::load(second).clip());
                }
            }
            let bytes = activate(x[0], x[1]);
            _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes);
            // bytes up to 127 make positive i32
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(bytes, _mm256_setzero_si256()))) as u8
        }
    }

    #[inline(always)]
    unsafe fn sums(input: &[u8], live: &[u64], bias: &[i32], weights: &[i8], out: &mut [i32]) {
        let mut first = 0;
        // SAFETY: the caller's promise; the outputs are a multiple of eight.
        unsafe {
            while first < bias.len() {
                first += match bias.len() - first {
                    32.. => {
                        wide::sums::<DotSums<VNNI>, 4, 2>(input, live, bias, weights, out, first);
                        32
                    }
                    16.. => {
                        wide::sums::<DotSums<VNNI>, 2, 4>(input, live, bias, weights, out, first);
                        16
                    }
                    _ => {
                        wide::sums::<DotSums<VNNI>, 1, 4>(input, live, bias, weights, out, first);
                        8
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn dot(input: &[u8], weights: &[i8]) -> i32 {
        let (inputs, rest) = input.as_chunks::<32>();
        let whole = 32 * inputs.len();
        // SAFETY: the caller's promise: there are as many weights.
        unsafe {
            let mut sums = [_mm256_setzero_si256(); 4];
            for (i, x) in inputs.iter().enumerate() {
                let w = _mm256_loadu_si256(weights.as_ptr().add(32 * i).cast());
                sums[i % 4] = dot::<VNNI>(sums[i % 4], _mm256_loadu_si256(x.as_ptr().cast()), w);
            }
            let [a, b, c, d] = sums;
            let total = sum(_mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d)));
            total.wrapping_add(wide::dot(rest, &weights[whole..]))
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
                sums = dot::<VNNI>(sums, x, w);
            }
            sum(sums).wrapping_add(layer.bias.0[0])
        }
    }
}

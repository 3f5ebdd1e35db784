//! NEON, which every 64-bit ARM processor has.

use std::arch::aarch64::*;

use super::rows::{self, Lanes};
use super::scalar::Scalar;
use super::tier::{Simd, Work};
use super::wide::{self, Sums};
use crate::nnue::layers::{Affine, Aligned, Row, WEIGHT_SHIFT};
use crate::types::Piece;

pub(super) struct Neon;

/// Runs `work` with these kernels.
///
/// # Safety
/// None: NEON is part of the target. The signature is that of the other tiers.
#[target_feature(enable = "neon")]
pub(super) unsafe fn enter<W: Work>(work: W) -> W::Output {
    // SAFETY: NEON is part of the target.
    unsafe { work.run::<Neon>() }
}

/// i16 lanes of a register.
const LANES: usize = 8;

impl Lanes<8> for int16x8_t {
    #[inline(always)]
    unsafe fn load(from: &[i16; 8]) -> Self {
        // SAFETY: the caller has NEON, and as many bytes are read as there are.
        unsafe { vld1q_s16(from.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: &mut [i16; 8]) {
        // SAFETY: the caller has NEON, and as many bytes are written as there are.
        unsafe { vst1q_s16(to.as_mut_ptr(), self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vaddq_s16(self, other) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vsubq_s16(self, other) }
    }

    #[inline(always)]
    unsafe fn clip(self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vmaxq_s16(vminq_s16(self, vdupq_n_s16(127)), vdupq_n_s16(0)) }
    }

    #[inline(always)]
    unsafe fn square(self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vmulq_s16(self, self) }
    }

    type Sums = int32x4_t;

    #[inline(always)]
    unsafe fn zero() -> int32x4_t {
        // SAFETY: the caller has NEON.
        unsafe { vdupq_n_s32(0) }
    }

    #[inline(always)]
    unsafe fn add_products(self, weights: Self, sums: int32x4_t) -> int32x4_t {
        // SAFETY: the caller has NEON.
        unsafe {
            let low = vmlal_s16(sums, vget_low_s16(self), vget_low_s16(weights));
            vmlal_high_s16(low, self, weights)
        }
    }

    #[inline(always)]
    unsafe fn total(sums: int32x4_t) -> i32 {
        // SAFETY: the caller has NEON.
        unsafe { vaddvq_s32(sums) }
    }
}

/// `sums + (four i8) · (four i8)` in each i32 lane. Products of two are at most 2 * 127 * 128, those of four
/// are added in i32: nothing wraps.
#[inline]
#[target_feature(enable = "neon")]
fn dot(sums: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t {
    let low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(w)));
    let high = vpaddlq_s16(vmull_high_s8(x, w));
    vaddq_s32(sums, vpaddq_s32(low, high))
}

impl Sums for int32x4_t {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn empty() -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vdupq_n_s32(0) }
    }

    #[inline(always)]
    unsafe fn read(from: *const i32) -> Self {
        // SAFETY: the caller has NEON, and the numbers exist.
        unsafe { vld1q_s32(from) }
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut i32) {
        // SAFETY: the caller has NEON, and there is room.
        unsafe { vst1q_s32(to, self) }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vaddq_s32(self, other) }
    }

    #[inline(always)]
    unsafe fn plus_products(self, four: i32, weights: *const i8) -> Self {
        // SAFETY: the caller has NEON, and the weights exist.
        unsafe { dot(self, vreinterpretq_s8_s32(vdupq_n_s32(four)), vld1q_s8(weights)) }
    }
}

/// Shifts eight sums and clips them to bytes.
#[inline]
#[target_feature(enable = "neon")]
fn clip(low: int32x4_t, high: int32x4_t) -> uint8x8_t {
    const SHIFT: i32 = WEIGHT_SHIFT as i32;
    let (low, high) = (vshrq_n_s32::<SHIFT>(low), vshrq_n_s32::<SHIFT>(high));
    let words = vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));
    vreinterpret_u8_s8(vmax_s8(vqmovn_s16(words), vdup_n_s8(0)))
}

/// # Safety
/// `group` a group of four inputs.
#[inline(always)]
unsafe fn broadcast<const IN: usize>(input: &Aligned<[u8; IN]>, group: usize) -> int8x16_t {
    debug_assert!(4 * group + 4 <= IN);
    // SAFETY: the input is aligned, and the caller keeps `group` inside it.
    unsafe { vreinterpretq_s8_s32(vld1q_dup_s32(input.0.as_ptr().cast::<i32>().add(group))) }
}

/// The layer over the groups in `live`.
///
/// # Safety
/// `live` yields groups of the input; `OUT` is a multiple of `4 * R`, and `R` even.
#[inline(always)]
unsafe fn layer_over<const IN: usize, const OUT: usize, const R: usize>(
    input: &Aligned<[u8; IN]>,
    layer: &Affine<IN, OUT>,
    live: impl Iterator<Item = usize> + Clone,
) -> Aligned<[u8; OUT]> {
    let mut out = Aligned([0u8; OUT]);
    // up to 16 outputs a pass: four registers of sums, and registers for the dot products
    for o in (0..OUT).step_by(4 * R) {
        // SAFETY: NEON is part of the target; group and output numbers stay within the layer.
        unsafe {
            let bias = layer.bias.0.as_ptr().add(o);
            let mut sums = [vdupq_n_s32(0); R];
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = vld1q_s32(bias.add(4 * j));
            }
            let weights = layer.groups.as_ptr().cast::<i8>().add(4 * o);
            for group in live.clone() {
                let four = broadcast(input, group);
                let w = weights.add(group * 4 * OUT);
                for (j, sums) in sums.iter_mut().enumerate() {
                    *sums = dot(*sums, four, vld1q_s8(w.add(16 * j)));
                }
            }
            for j in (0..R).step_by(2) {
                vst1_u8(out.0.as_mut_ptr().add(o + 4 * j), clip(sums[j], sums[j + 1]));
            }
        }
    }
    out
}

impl Simd for Neon {
    #[inline(always)]
    unsafe fn fused<const N: usize, const K: usize>(
        src: &Row<N>,
        dst: &mut Row<N>,
        subs: [&Row<N>; K],
        adds: [&Row<N>; K],
    ) {
        // SAFETY: the caller's promise.
        unsafe { rows::fused::<int16x8_t, _, N, K>(src, dst, subs, adds) }
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
        unsafe { rows::apply::<int16x8_t, _, 16, N>(acc, copy, rows, subs, adds) }
    }

    #[inline(always)]
    unsafe fn differences(a: &[Piece; 81], b: &[Piece; 81]) -> u128 {
        // SAFETY: plain Rust.
        unsafe { Scalar::differences(a, b) }
    }

    #[inline(always)]
    unsafe fn transformed_affine<const N: usize, const IN: usize, const OUT: usize>(
        us: &Row<N>,
        them: &Row<N>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(IN == 2 * N && N.is_multiple_of(16) && OUT.is_multiple_of(8)) };
        let mut input = Aligned([0u8; IN]);
        // groups of four inputs that are not all zero
        let mut live = [0u16; IN];
        let mut count = 0;
        // SAFETY: NEON is part of the target; offsets stay below `N`, `IN` and the number of groups.
        unsafe {
            for (side, acc) in [us, them].into_iter().enumerate() {
                for i in (0..N).step_by(16) {
                    let low = int16x8_t::load(rows::chunk(acc, i / LANES));
                    let high = int16x8_t::load(rows::chunk(acc, i / LANES + 1));
                    let packed = vqmovn_high_s16(vqmovn_s16(low), high);
                    let bytes = vreinterpretq_u8_s8(vmaxq_s8(packed, vdupq_n_s8(0)));
                    let at = side * N + i;
                    vst1q_u8(input.0.as_mut_ptr().add(at), bytes);
                    let groups = vreinterpretq_u32_u8(bytes);
                    // 16 bits a group, all ones where the group is live
                    let mut set =
                        vget_lane_u64::<0>(vreinterpret_u64_u16(vmovn_u32(vtstq_u32(groups, groups))));
                    for j in 0..4 {
                        live[count] = (at / 4 + j) as u16;
                        count += (set & 1) as usize;
                        set >>= 16;
                    }
                }
            }
            let live = live[..count].iter().map(|&group| group as usize);
            match OUT {
                _ if OUT.is_multiple_of(16) => layer_over::<IN, OUT, 4>(&input, layer, live),
                _ => layer_over::<IN, OUT, 2>(&input, layer, live),
            }
        }
    }

    #[inline(always)]
    unsafe fn transformed_output<const N: usize>(us: &Row<N>, them: &Row<N>, weights: &[Row<N>; 2]) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { rows::output::<int16x8_t, _, N>(us, them, weights) }
    }

    #[inline(always)]
    unsafe fn affine<const IN: usize, const OUT: usize>(
        input: &Aligned<[u8; IN]>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(OUT.is_multiple_of(8)) };
        // SAFETY: all groups of the input.
        unsafe {
            match OUT {
                _ if OUT.is_multiple_of(16) => layer_over::<IN, OUT, 4>(input, layer, 0..IN / 4),
                _ => layer_over::<IN, OUT, 2>(input, layer, 0..IN / 4),
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
        unsafe { wide::sum::<int16x8_t, _, 16, 8, K>(from, to, width, rows, lists) }
    }

    #[inline(always)]
    unsafe fn activate(first: &[i16; 32], second: Option<&[i16; 32]>, to: &mut [u8; 32]) -> u8 {
        let mut live = 0;
        // SAFETY: NEON is part of the target; 16 bytes are written at a time.
        unsafe {
            for (i, to) in to.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let part = |x: &[i16; 32], j: usize| int16x8_t::load(&x.as_chunks().0[2 * i + j]).clip();
                let x = [0, 1].map(|j| {
                    let x = part(first, j);
                    // the upper half of the doubled product, of a factor shifted left by eight: the product >> 7
                    second.map_or(x, |second| vqdmulhq_s16(vshlq_n_s16::<8>(x), part(second, j)))
                });
                let bytes = vcombine_u8(vqmovun_s16(x[0]), vqmovun_s16(x[1]));
                vst1q_u8(to.as_mut_ptr(), bytes);
                let groups = vreinterpretq_u32_u8(bytes);
                let bits = vandq_u32(vtstq_u32(groups, groups), vld1q_u32([1, 2, 4, 8].as_ptr()));
                live |= (vaddvq_u32(bits) as u8) << (4 * i);
            }
        }
        live
    }

    #[inline(always)]
    unsafe fn sums(input: &[u8], live: &[u64], bias: &[i32], weights: &[i8], out: &mut [i32]) {
        let mut first = 0;
        // SAFETY: the caller's promise; the outputs are a multiple of eight.
        unsafe {
            while first < bias.len() {
                first += match bias.len() - first {
                    32.. => {
                        wide::sums::<int32x4_t, 8, 1>(input, live, bias, weights, out, first);
                        32
                    }
                    16.. => {
                        wide::sums::<int32x4_t, 4, 2>(input, live, bias, weights, out, first);
                        16
                    }
                    _ => {
                        wide::sums::<int32x4_t, 2, 4>(input, live, bias, weights, out, first);
                        8
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn dot(input: &[u8], weights: &[i8]) -> i32 {
        let (inputs, rest) = input.as_chunks::<16>();
        let whole = 16 * inputs.len();
        // SAFETY: NEON is part of the target; there are as many weights, by the caller's promise.
        unsafe {
            let mut sums = [vdupq_n_s32(0); 4];
            for (i, x) in inputs.iter().enumerate() {
                let x = vreinterpretq_s8_u8(vld1q_u8(x.as_ptr()));
                sums[i % 4] = dot(sums[i % 4], x, vld1q_s8(weights.as_ptr().add(16 * i)));
            }
            let [a, b, c, d] = sums;
            let total = vaddvq_s32(vaddq_s32(vaddq_s32(a, b), vaddq_s32(c, d)));
            total.wrapping_add(wide::dot(rest, &weights[whole..]))
        }
    }

    #[inline(always)]
    unsafe fn output<const IN: usize>(input: &Aligned<[u8; IN]>, layer: &Affine<IN, 1>) -> i32 {
        const { assert!(IN.is_multiple_of(16)) };
        // SAFETY: NEON is part of the target; `i` stays below `IN`, the length of both.
        unsafe {
            let mut sums = vdupq_n_s32(0);
            for i in (0..IN).step_by(16) {
                let x = vreinterpretq_s8_u8(vld1q_u8(input.0.as_ptr().add(i)));
                sums = dot(sums, x, vld1q_s8(layer.groups.as_ptr().cast::<i8>().add(i)));
            }
            vaddvq_s32(sums).wrapping_add(layer.bias.0[0])
        }
    }
}

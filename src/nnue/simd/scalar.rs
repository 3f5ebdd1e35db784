//! The kernels in plain Rust: the reference that every other tier must equal bit for bit.

use super::tier::{Simd, Work};
use super::wide;
use crate::nnue::layers::{Affine, Aligned, Row, WEIGHT_SHIFT};
use crate::types::Piece;

pub(in crate::nnue) struct Scalar;

impl Simd for Scalar {
    #[inline(always)]
    unsafe fn fused<const N: usize, const K: usize>(
        src: &Row<N>,
        dst: &mut Row<N>,
        subs: [&Row<N>; K],
        adds: [&Row<N>; K],
    ) {
        for i in 0..N {
            let mut sum = src.0[i];
            for k in 0..K {
                sum = sum.wrapping_sub(subs[k].0[i]).wrapping_add(adds[k].0[i]);
            }
            dst.0[i] = sum;
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
        for &s in subs {
            acc.0.iter_mut().zip(&rows[s as usize].0).for_each(|(a, w)| *a = a.wrapping_sub(*w));
        }
        for &s in adds {
            acc.0.iter_mut().zip(&rows[s as usize].0).for_each(|(a, w)| *a = a.wrapping_add(*w));
        }
        *copy = *acc;
    }

    #[inline(always)]
    unsafe fn differences(a: &[Piece; 81], b: &[Piece; 81]) -> u128 {
        (0..81).filter(|&i| a[i] != b[i]).fold(0, |set, i| set | 1 << i)
    }

    #[inline(always)]
    unsafe fn transformed_affine<const N: usize, const IN: usize, const OUT: usize>(
        us: &Row<N>,
        them: &Row<N>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        const { assert!(IN == 2 * N) };
        let mut input = Aligned([0; IN]);
        for (x, &a) in input.0.iter_mut().zip(us.0.iter().chain(&them.0)) {
            *x = a.clamp(0, 127) as u8;
        }
        // SAFETY: plain Rust needs no particular processor.
        unsafe { Self::affine(&input, layer) }
    }

    #[inline(always)]
    unsafe fn transformed_output<const N: usize>(us: &Row<N>, them: &Row<N>, weights: &[Row<N>; 2]) -> i32 {
        let pairs = us.0.iter().zip(&weights[0].0).chain(them.0.iter().zip(&weights[1].0));
        pairs.fold(0, |sum: i32, (&a, &w)| {
            let x = i32::from(a.clamp(0, 127));
            sum.wrapping_add(x * x * i32::from(w))
        })
    }

    #[inline(always)]
    unsafe fn affine<const IN: usize, const OUT: usize>(
        input: &Aligned<[u8; IN]>,
        layer: &Affine<IN, OUT>,
    ) -> Aligned<[u8; OUT]> {
        let mut sums = layer.bias.0;
        for (four, group) in input.0.as_chunks::<4>().0.iter().zip(&layer.groups[..]) {
            if *four == [0; 4] {
                continue;
            }
            let [a, b, c, d] = [four[0] as i32, four[1] as i32, four[2] as i32, four[3] as i32];
            for (sum, w) in sums.iter_mut().zip(group) {
                let dot = a * w[0] as i32 + b * w[1] as i32 + c * w[2] as i32 + d * w[3] as i32;
                *sum = sum.wrapping_add(dot);
            }
        }
        Aligned(sums.map(|s| (s >> WEIGHT_SHIFT).clamp(0, 127) as u8))
    }

    #[inline(always)]
    unsafe fn sum<const K: usize>(
        from: *const i16,
        to: [*mut i16; K],
        width: usize,
        rows: &[i16],
        [subs, adds]: [&[u32]; 2],
    ) {
        for i in 0..width {
            let weight = |row: &u32| rows[*row as usize * width + i];
            // SAFETY: the caller's promise.
            let from = unsafe { from.add(i).read() };
            let sum = subs.iter().map(weight).fold(from, i16::wrapping_sub);
            let sum = adds.iter().map(weight).fold(sum, i16::wrapping_add);
            // SAFETY: the caller's promise.
            to.into_iter().for_each(|to| unsafe { to.add(i).write(sum) });
        }
    }

    #[inline(always)]
    unsafe fn activate(first: &[i16; 32], second: Option<&[i16; 32]>, to: &mut [u8; 32]) -> u8 {
        let clip = |x: i16| i32::from(x.clamp(0, 127));
        for (i, to) in to.iter_mut().enumerate() {
            *to = second.map_or(clip(first[i]), |second| (clip(first[i]) * clip(second[i])) >> 7) as u8;
        }
        let groups = to.as_chunks::<4>().0.iter().enumerate();
        groups.fold(0, |live, (i, four)| live | u8::from(*four != [0; 4]) << i)
    }

    #[inline(always)]
    unsafe fn sums(input: &[u8], live: &[u64], bias: &[i32], weights: &[i8], out: &mut [i32]) {
        out.copy_from_slice(bias);
        let weights = weights.as_chunks::<4>().0;
        for (group, four) in input.as_chunks::<4>().0.iter().enumerate() {
            if live[group / 64] >> (group % 64) & 1 == 1 {
                for (sum, weights) in out.iter_mut().zip(&weights[group * bias.len()..]) {
                    *sum = sum.wrapping_add(wide::dot(four, weights));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn dot(input: &[u8], weights: &[i8]) -> i32 {
        wide::dot(input, weights)
    }

    #[inline(always)]
    unsafe fn output<const IN: usize>(input: &Aligned<[u8; IN]>, layer: &Affine<IN, 1>) -> i32 {
        let fours = input.0.as_chunks::<4>().0.iter();
        fours.zip(&layer.groups[..]).fold(layer.bias.0[0], |sum, (four, group)| {
            (0..4).fold(sum, |sum, i| sum.wrapping_add(four[i] as i32 * group[0][i] as i32))
        })
    }
}

/// Runs `work` with these kernels, regardless of the tier in use.
pub(in crate::nnue) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: plain Rust needs no particular processor.
    unsafe { work.run::<Scalar>() }
}

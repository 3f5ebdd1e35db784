//! From rows to activations and from gradients back to rows: [`Gather`], [`Activate`], [`PackGradient`],
//! [`SumGradients`].
#![allow(unsafe_code)]

use super::grid::{ACC_SCALE, Grid};
use super::lanes::F32Lanes;
use super::operation::{Operation, WIDTHS};
use crate::support::memory::prefetch;

/// Gradients are packed in groups of this many words: word `16 g + j` holds elements `32 g + j` (low half) and
/// `32 g + 16 + j` (high half), so that a shift and a mask restore two runs of neighbours.
const GROUP: usize = 16;

/// The element in the low half of a word; that in the high half lies [`GROUP`] further.
const fn low_element(word: usize) -> usize {
    word / GROUP * (2 * GROUP) + word % GROUP
}

/// Blocks of `N` registers of `C` elements.
fn blocks<T, const C: usize, const N: usize>(row: &[T]) -> &[[[T; C]; N]] {
    row.as_chunks().0.as_chunks().0
}

fn blocks_mut<T, const C: usize, const N: usize>(row: &mut [T]) -> &mut [[[T; C]; N]] {
    row.as_chunks_mut().0.as_chunks_mut().0
}

/// `acc = bias + sum of table[row]`, wrapping, for rows of `table` as wide as `acc`.
pub(in crate::train) struct Gather<'a> {
    pub table: &'a [i16],
    pub rows: &'a [u16],
    pub bias: &'a [i16],
    pub acc: &'a mut [i16],
}

impl Operation for Gather<'_> {
    fn check(&self) {
        assert!(self.acc.len().is_multiple_of(WIDTHS) && self.bias.len() == self.acc.len());
    }

    fn scalar(self) {
        let width = self.acc.len();
        self.acc.copy_from_slice(self.bias);
        for &row in self.rows {
            for (a, x) in self.acc.iter_mut().zip(&self.table[row as usize * width..][..width]) {
                *a = a.wrapping_add(*x);
            }
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        let width = self.acc.len();
        // eight registers of twice `C` integers stay in the processor while all rows pass
        let (bias, acc) = (blocks::<_, C, 2>(self.bias), blocks_mut::<_, C, 2>(self.acc));
        for (part, acc) in acc.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            // SAFETY: the caller's processor has the instructions of `L`.
            unsafe {
                let mut sums = [L::load_shorts(&bias[8 * part]); 8];
                for (sum, bias) in sums.iter_mut().zip(&bias.as_chunks::<8>().0[part]) {
                    *sum = L::load_shorts(bias);
                }
                for &row in self.rows {
                    let row = blocks::<_, C, 2>(&self.table[row as usize * width..][..width]);
                    for (sum, x) in sums.iter_mut().zip(&row.as_chunks::<8>().0[part]) {
                        *sum = L::add_shorts(*sum, L::load_shorts(x));
                    }
                }
                for (sum, acc) in sums.into_iter().zip(acc) {
                    L::store_shorts(sum, acc);
                }
            }
        }
    }
}

/// `out = clamp(acc / ACC_SCALE, 0, 1)`.
pub(in crate::train) struct Activate<'a> {
    pub acc: &'a [i16],
    pub out: &'a mut [f32],
}

impl Operation for Activate<'_> {
    fn check(&self) {
        assert!(self.acc.len().is_multiple_of(WIDTHS) && self.out.len() == self.acc.len());
    }

    fn scalar(self) {
        for (o, &a) in self.out.iter_mut().zip(self.acc) {
            *o = a.clamp(0, ACC_SCALE as i16) as f32 * (1.0 / ACC_SCALE);
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        for (out, acc) in self.out.as_chunks_mut().0.iter_mut().zip(self.acc.as_chunks().0) {
            // SAFETY: the caller's processor has the instructions of `L`.
            unsafe {
                let clipped = L::load_i16(acc).clamp(L::splat(0.0), L::splat(ACC_SCALE));
                clipped.mul(L::splat(1.0 / ACC_SCALE)).store(out);
            }
        }
    }
}

/// The largest activation: a product of two is shifted right by seven bits in the finished network, which makes
/// 126 of twice 127.
const LARGEST: f32 = 127.0 / 128.0;

/// `out = clamp(first / ACC_SCALE, 0, 1) * clamp(second / ACC_SCALE, 0, 1) * 127 / 128`, for the halves of an
/// accumulator; rounded down to a multiple of 1/127 if quantized.
pub(in crate::train) struct Multiply<'a> {
    pub acc: &'a [i16],
    pub grid: Grid,
    pub out: &'a mut [f32],
}

impl Multiply<'_> {
    /// The factor of a product of accumulators, an addend, the factor of the sum's integer part, and a number that
    /// leaves a sum of that size no fraction.
    fn constants(&self) -> [f32; 4] {
        match self.grid {
            Grid::Fine => [1.0, 0.0, LARGEST / (ACC_SCALE * ACC_SCALE), 0.0],
            // products are multiples of 1/128; less almost a half, they are rounded to the integer below
            Grid::Quantized => [1.0 / 8192.0, 1.0 / 256.0 - 0.5, 1.0 / 127.0, (3 << 22) as f32],
        }
    }
}

impl Operation for Multiply<'_> {
    fn check(&self) {
        assert!(self.acc.len().is_multiple_of(WIDTHS) && 2 * self.out.len() == self.acc.len());
    }

    fn scalar(self) {
        let [factor, addend, unit, whole] = self.constants();
        let (first, second) = self.acc.split_at(self.out.len());
        let clip = |x: i16| x.clamp(0, ACC_SCALE as i16) as f32;
        for (o, (&a, &b)) in self.out.iter_mut().zip(first.iter().zip(second)) {
            *o = (clip(a) * clip(b) * factor + addend + whole - whole) * unit;
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        let constants = self.constants();
        let (first, second) = self.acc.split_at(self.out.len());
        let halves = first.as_chunks().0.iter().zip(second.as_chunks().0);
        for (out, (first, second)) in self.out.as_chunks_mut().0.iter_mut().zip(halves) {
            // SAFETY: the caller's processor has the instructions of `L`.
            unsafe {
                let [factor, addend, unit, whole] = constants.map(|x| L::splat(x));
                let clip = |x: &[i16; C]| L::load_i16(x).clamp(L::splat(0.0), L::splat(ACC_SCALE));
                let product = clip(first).mul(clip(second)).mul(factor).add(addend).add(whole);
                product.add(L::splat(-constants[3])).mul(unit).store(out);
            }
        }
    }
}

/// The packed gradient of an accumulator (see [`PackGradient`]) from that of [`Multiply`]'s output.
pub(in crate::train) struct MultiplyBack<'a> {
    pub acc: &'a [i16],
    pub grad: &'a [f32],
    pub out: &'a mut [u32],
}

impl Operation for MultiplyBack<'_> {
    fn check(&self) {
        let width = self.acc.len();
        assert!(width.is_multiple_of(WIDTHS) && 2 * self.grad.len() == width && 2 * self.out.len() == width);
    }

    fn scalar(self) {
        let half = self.grad.len();
        let element = |i: usize| match self.acc[i] > 0 && self.acc[i] < ACC_SCALE as i16 {
            true => {
                let other = self.acc[(i + half) % (2 * half)].clamp(0, ACC_SCALE as i16) as f32;
                bf16(self.grad[i % half] * (other * (LARGEST / ACC_SCALE)))
            }
            false => 0,
        };
        for (word, out) in self.out.iter_mut().enumerate() {
            let low = low_element(word);
            *out = element(low) | element(low + GROUP) << 16;
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        let half = self.grad.len();
        let (first, second) = self.acc.split_at(half);
        let (to_first, to_second) = self.out.split_at_mut(half / 2);
        for (own, other, out) in [(first, second, to_first), (second, first, to_second)] {
            let grad = self.grad.as_chunks().0;
            let (own, other) = (own.as_chunks().0, other.as_chunks().0);
            for (i, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                let low = low_element(i * C) / C;
                // SAFETY: the caller's processor has the instructions of `L`.
                unsafe {
                    let (zero, top) = (L::splat(0.0), L::splat(ACC_SCALE));
                    let slope = |at: usize| {
                        let factor =
                            L::load_i16(&other[at]).clamp(zero, top).mul(L::splat(LARGEST / ACC_SCALE));
                        L::load(&grad[at]).mul(factor).where_between(L::load_i16(&own[at]), zero, top)
                    };
                    L::store_bf16(slope(low), slope(low + GROUP / C), out);
                }
            }
        }
    }
}

/// Keeps the gradient where the activation is inside (0, 1) and packs it as pairs of bfloat16, half as many
/// words as elements, in the order of [`GROUP`].
pub(in crate::train) struct PackGradient<'a> {
    pub acc: &'a [i16],
    pub grad: &'a [f32],
    pub out: &'a mut [u32],
}

impl Operation for PackGradient<'_> {
    fn check(&self) {
        let width = self.acc.len();
        assert!(width.is_multiple_of(WIDTHS) && self.grad.len() == width && self.out.len() == width / 2);
    }

    fn scalar(self) {
        let element = |i: usize| match self.acc[i] > 0 && self.acc[i] < ACC_SCALE as i16 {
            true => bf16(self.grad[i]),
            false => 0,
        };
        for (word, out) in self.out.iter_mut().enumerate() {
            let low = low_element(word);
            *out = element(low) | element(low + GROUP) << 16;
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        let elements = self.acc.as_chunks::<{ 2 * GROUP }>().0.iter().zip(self.grad.as_chunks().0);
        for (out, (acc, grad)) in self.out.as_chunks_mut::<GROUP>().0.iter_mut().zip(elements) {
            let grad: &[f32; 2 * GROUP] = grad;
            let (acc, grad) = (acc.as_chunks().0, grad.as_chunks().0);
            for (low, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                let high = low + GROUP / C;
                // SAFETY: the caller's processor has the instructions of `L`.
                unsafe {
                    let (zero, top) = (L::splat(0.0), L::splat(ACC_SCALE));
                    let low = L::load(&grad[low]).where_between(L::load_i16(&acc[low]), zero, top);
                    let high = L::load(&grad[high]).where_between(L::load_i16(&acc[high]), zero, top);
                    L::store_bf16(low, high, out);
                }
            }
        }
    }
}

/// Rounds to bfloat16, ties to even.
fn bf16(x: f32) -> u32 {
    let bits = x.to_bits();
    (bits + 0x7fff + (bits >> 16 & 1)) >> 16
}

/// `out = sum over list of grads[i]`; the rows of `grads` are [packed](PackGradient) ones, of half as many
/// words as `out` has elements.
pub(in crate::train) struct SumGradients<'a> {
    pub grads: &'a [u32],
    pub list: &'a [u32],
    pub out: &'a mut [f32],
}

/// The number of rows to prefetch ahead of the sum: enough to hide the latency of the third-level cache.
const AHEAD: usize = 3;

impl Operation for SumGradients<'_> {
    fn check(&self) {
        assert!(self.out.len().is_multiple_of(WIDTHS));
    }

    fn scalar(self) {
        self.out.fill(0.0);
        let words = self.out.len() / 2;
        for &i in self.list {
            let row = &self.grads[i as usize * words..][..words];
            let groups = row.as_chunks::<GROUP>().0;
            for (words, sums) in groups.iter().zip(self.out.as_chunks_mut::<{ 2 * GROUP }>().0) {
                let (low, high) = sums.split_at_mut(GROUP);
                for j in 0..GROUP {
                    low[j] += f32::from_bits(words[j] << 16);
                    high[j] += f32::from_bits(words[j] & 0xffff_0000);
                }
            }
        }
    }

    /// `B` registers of words at a time make twice as many sums, which stay in the processor while all rows
    /// pass.
    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        let words = self.out.len() / 2;
        let out = self.out.as_chunks_mut().0;
        for pass in 0..words / (B * C) {
            // SAFETY: the caller's processor has the instructions of `L`.
            unsafe {
                let mut sums = [[L::splat(0.0); 2]; B];
                for (n, &i) in self.list.iter().enumerate() {
                    if let Some(&ahead) = self.list.get(n + AHEAD) {
                        let row = self.grads.as_ptr().wrapping_add(ahead as usize * words + pass * B * C);
                        for line in (0..B * C).step_by(16) {
                            prefetch(row.wrapping_add(line));
                        }
                    }
                    let row = blocks::<_, C, B>(&self.grads[i as usize * words..][..words]);
                    for ([low, high], words) in sums.iter_mut().zip(&row[pass]) {
                        let pair = L::load_bf16(words);
                        *low = low.add(pair[0]);
                        *high = high.add(pair[1]);
                    }
                }
                for (g, [low, high]) in sums.into_iter().enumerate() {
                    let at = low_element((pass * B + g) * C) / C;
                    low.store(&mut out[at]);
                    high.store(&mut out[at + GROUP / C]);
                }
            }
        }
    }
}

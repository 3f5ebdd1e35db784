//! The kernels for sizes known at run time, written once for registers of any width.

use super::rows::Lanes;

/// A register of i32 sums.
///
/// # Safety
/// Every function needs a processor with the register's instructions. They are `#[inline(always)]`, so that
/// they are compiled with those instructions, inside the tier's `enter`.
pub(super) trait Sums: Copy {
    /// Number of sums.
    const LANES: usize;
    unsafe fn empty() -> Self;
    /// Reads as many numbers as there are sums.
    unsafe fn read(from: *const i32) -> Self;
    /// Writes as many.
    unsafe fn write(self, to: *mut i32);
    unsafe fn plus(self, other: Self) -> Self;
    /// Adds to each sum the products of the same four inputs, up to 127, with four weights of its own.
    /// `weights` points to four for each sum.
    unsafe fn plus_products(self, four: i32, weights: *const i8) -> Self;
}

/// See [`Simd::sum`](super::tier::Simd::sum). `BLOCK` registers hold a part of the row while all rows are
/// added, and `REST` registers, which have 64 lanes, what is left of it.
///
/// # Safety
/// Those of [`Simd::sum`](super::tier::Simd::sum), and the processor has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn sum<
    L: Lanes<C>,
    const C: usize,
    const BLOCK: usize,
    const REST: usize,
    const K: usize,
>(
    from: *const i16,
    to: [*mut i16; K],
    width: usize,
    rows: &[i16],
    [subs, adds]: [&[u32]; 2],
) {
    const { assert!(REST * C == 64) };
    let mut start = 0;
    // SAFETY: the caller's promise; the blocks lie within the width, a multiple of 64.
    unsafe {
        while start + BLOCK * C <= width {
            block::<L, C, BLOCK, K>(from, to, width, rows, [subs, adds], start);
            start += BLOCK * C;
        }
        while start < width {
            block::<L, C, REST, K>(from, to, width, rows, [subs, adds], start);
            start += REST * C;
        }
    }
}

/// [`sum`] for `R` registers from `start` on.
///
/// # Safety
/// Those of [`sum`], and the registers lie within the width.
#[inline(always)]
unsafe fn block<L: Lanes<C>, const C: usize, const R: usize, const K: usize>(
    from: *const i16,
    to: [*mut i16; K],
    width: usize,
    rows: &[i16],
    [subs, adds]: [&[u32]; 2],
    start: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        // no closures here and below: one that is not inlined is compiled without the tier's instructions
        let mut sums = [L::load(&*from.add(start).cast()); R];
        for (j, sum) in sums.iter_mut().enumerate().skip(1) {
            *sum = L::load(&*from.add(start + C * j).cast());
        }
        for &row in subs {
            let row = rows.as_ptr().add(row as usize * width + start);
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = sum.sub(L::load(&*row.add(C * j).cast()));
            }
        }
        for &row in adds {
            let row = rows.as_ptr().add(row as usize * width + start);
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum = sum.add(L::load(&*row.add(C * j).cast()));
            }
        }
        for (j, sum) in sums.into_iter().enumerate() {
            for to in to {
                sum.store(&mut *to.add(start + C * j).cast());
            }
        }
    }
}

/// See [`Simd::sums`](super::tier::Simd::sums), for `R * S::LANES` outputs from `first` on. `CHAINS` sets of
/// sums hide the latency of the products.
///
/// # Safety
/// Those of [`Simd::sums`](super::tier::Simd::sums), the outputs exist, and the processor has the instructions
/// of `S`.
#[inline(always)]
pub(super) unsafe fn sums<S: Sums, const R: usize, const CHAINS: usize>(
    input: &[u8],
    live: &[u64],
    bias: &[i32],
    weights: &[i8],
    out: &mut [i32],
    first: usize,
) {
    let stride = 4 * bias.len();
    // SAFETY: the caller's promise.
    unsafe {
        let weights = weights.as_ptr().add(4 * first);
        let mut chains = [[S::empty(); R]; CHAINS];
        for (j, sum) in chains[0].iter_mut().enumerate() {
            *sum = S::read(bias.as_ptr().add(first + S::LANES * j));
        }
        for (word, &set) in live.iter().enumerate() {
            let input = input.as_ptr().add(256 * word);
            let weights = weights.add(64 * word * stride);
            let mut set = set;
            for _ in 0..set.count_ones() as usize / CHAINS {
                for sums in &mut chains {
                    add_group(sums, input, weights, stride, pop(&mut set));
                }
            }
            while set != 0 {
                add_group(&mut chains[0], input, weights, stride, pop(&mut set));
            }
        }
        for j in 0..R {
            let mut total = chains[0][j];
            for sums in &chains[1..] {
                total = total.plus(sums[j]);
            }
            total.write(out.as_mut_ptr().add(first + S::LANES * j));
        }
    }
}

/// Adds the products of one group of four inputs to the sums.
///
/// # Safety
/// Those of [`sums`] for the group; `weights` are those of the first sums' outputs, `stride` bytes apart.
#[inline(always)]
unsafe fn add_group<S: Sums, const R: usize>(
    sums: &mut [S; R],
    input: *const u8,
    weights: *const i8,
    stride: usize,
    group: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let four = input.cast::<i32>().add(group).read_unaligned();
        let weights = weights.add(group * stride);
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = sum.plus_products(four, weights.add(4 * S::LANES * j));
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

/// The dot product of inputs and weights, one after the other.
pub(super) fn dot(input: &[u8], weights: &[i8]) -> i32 {
    input.iter().zip(weights).fold(0, |sum, (&x, &w)| sum.wrapping_add(i32::from(x) * i32::from(w)))
}

//! Updates of accumulators and the direct output, written once for registers of any width: [`Lanes`].

use crate::nnue::layers::Row;

/// A register of `C` lanes of i16.
///
/// # Safety
/// Every function needs a processor with the register's instructions, and nothing else. They are
/// `#[inline(always)]`, so that they are compiled with those instructions, inside the tier's `enter`.
pub(super) trait Lanes<const C: usize>: Copy {
    unsafe fn load(from: &[i16; C]) -> Self;
    unsafe fn store(self, to: &mut [i16; C]);
    /// The sum lane by lane, wrapping.
    unsafe fn add(self, other: Self) -> Self;
    /// The difference lane by lane, wrapping.
    unsafe fn sub(self, other: Self) -> Self;
    /// Clamps to 0..=127.
    unsafe fn clip(self) -> Self;
    /// The square lane by lane, which must fit 16 bits.
    unsafe fn square(self) -> Self;

    /// A register of i32.
    type Sums: Copy;
    unsafe fn zero() -> Self::Sums;
    /// Adds the products of lanes to the sums, in an order of its own. The lanes of `self` are not negative.
    unsafe fn add_products(self, weights: Self, sums: Self::Sums) -> Self::Sums;
    /// The total of all sums, wrapping.
    unsafe fn total(sums: Self::Sums) -> i32;
}

/// See [`Simd::fused`](super::tier::Simd::fused).
///
/// # Safety
/// The processor has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn fused<L: Lanes<C>, const C: usize, const N: usize, const K: usize>(
    src: &Row<N>,
    dst: &mut Row<N>,
    subs: [&Row<N>; K],
    adds: [&Row<N>; K],
) {
    const { assert!(N.is_multiple_of(C)) };
    for i in 0..N / C {
        // SAFETY: the caller's promise.
        unsafe {
            let mut v = L::load(chunk(src, i));
            for k in 0..K {
                v = v.sub(L::load(chunk(subs[k], i))).add(L::load(chunk(adds[k], i)));
            }
            v.store(chunk_mut(dst, i));
        }
    }
}

/// See [`Simd::apply`](super::tier::Simd::apply). `BLOCK` registers hold a part of the accumulator while all
/// rows are added.
///
/// # Safety
/// The processor has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn apply<L: Lanes<C>, const C: usize, const BLOCK: usize, const N: usize>(
    acc: &mut Row<N>,
    copy: &mut Row<N>,
    rows: &[Row<N>],
    subs: &[u32],
    adds: &[u32],
) {
    const { assert!(N.is_multiple_of(BLOCK * C)) };
    for start in (0..N / C).step_by(BLOCK) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut sums = [L::load(chunk(acc, start)); BLOCK];
            for (j, v) in sums.iter_mut().enumerate().skip(1) {
                *v = L::load(chunk(acc, start + j));
            }
            for &row in subs {
                let row = &rows[row as usize];
                for (j, v) in sums.iter_mut().enumerate() {
                    *v = v.sub(L::load(chunk(row, start + j)));
                }
            }
            for &row in adds {
                let row = &rows[row as usize];
                for (j, v) in sums.iter_mut().enumerate() {
                    *v = v.add(L::load(chunk(row, start + j)));
                }
            }
            for (j, v) in sums.into_iter().enumerate() {
                v.store(chunk_mut(acc, start + j));
                v.store(chunk_mut(copy, start + j));
            }
        }
    }
}

/// See [`Simd::transformed_output`](super::tier::Simd::transformed_output).
///
/// # Safety
/// The processor has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn output<L: Lanes<C>, const C: usize, const N: usize>(
    us: &Row<N>,
    them: &Row<N>,
    weights: &[Row<N>; 2],
) -> i32 {
    const { assert!(N.is_multiple_of(C)) };
    // SAFETY: the caller's promise.
    unsafe {
        // separate sums for each side, so that the dependency chains are shorter
        let mut sums = [L::zero(); 2];
        for i in 0..N / C {
            for (side, acc) in [us, them].into_iter().enumerate() {
                let x = L::load(chunk(acc, i)).clip().square();
                sums[side] = x.add_products(L::load(chunk(&weights[side], i)), sums[side]);
            }
        }
        L::total(sums[0]).wrapping_add(L::total(sums[1]))
    }
}

/// The lanes of register `i` of a row.
#[inline(always)]
pub(super) fn chunk<const C: usize, const N: usize>(row: &Row<N>, i: usize) -> &[i16; C] {
    &row.0.as_chunks().0[i]
}

#[inline(always)]
fn chunk_mut<const C: usize, const N: usize>(row: &mut Row<N>, i: usize) -> &mut [i16; C] {
    &mut row.0.as_chunks_mut().0[i]
}

//! Products of matrices: [`Matmul`].
#![allow(unsafe_code)]

use super::lanes::F32Lanes;
use super::operation::Operation;

/// A matrix in memory whose element (i, k) is at `data[i * row + k * col]`.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// All elements.
    pub data: &'a [f32],
    /// Distance of neighbours in a column.
    pub row: usize,
    /// Distance of neighbours in a row.
    pub col: usize,
}

/// `c (m × n) = a (m × k) · b (k × n)`, or `c += ...`.
pub(in crate::train) struct Matmul<'a> {
    /// `(m, n, k)`; `m` and `n` are multiples of 8.
    pub size: (usize, usize, usize),
    pub a: Strided<'a>,
    /// Its rows are contiguous.
    pub b: &'a [f32],
    /// Distance of its rows.
    pub ldb: usize,
    /// Its rows are contiguous.
    pub c: &'a mut [f32],
    /// Distance of its rows.
    pub ldc: usize,
    pub accumulate: bool,
}

impl Operation for Matmul<'_> {
    fn check(&self) {
        let (m, n, k) = self.size;
        assert!(m > 0 && n > 0 && k > 0 && m.is_multiple_of(8) && n.is_multiple_of(8));
        assert!((m - 1) * self.a.row + (k - 1) * self.a.col < self.a.data.len());
        assert!((k - 1) * self.ldb + n <= self.b.len());
        assert!((m - 1) * self.ldc + n <= self.c.len() && self.ldc >= n);
    }

    fn scalar(mut self) {
        let (m, n, _) = self.size;
        let wide = n / 32 * 32;
        for i in 0..m {
            (0..wide).step_by(32).for_each(|col| self.columns::<32>(i, col));
            (wide..n).step_by(8).for_each(|col| self.columns::<8>(i, col));
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(mut self) {
        let (m, n, _) = self.size;
        let mut col = 0;
        // SAFETY: the caller's processor has the instructions of `L` and `L::Narrow`; the operands have been
        // checked, `m` is a multiple of 8, and so of `B`, and the columns of a block are below `n`.
        unsafe {
            while col + 2 * C <= n {
                for row in (0..m).step_by(B) {
                    self.block::<L, C, B, 2>(row, col);
                }
                col += 2 * C;
            }
            if col + C <= n {
                for row in (0..m).step_by(8) {
                    self.block::<L, C, 8, 1>(row, col);
                }
                col += C;
            }
            if col < n {
                for row in (0..m).step_by(8) {
                    self.block::<L::Narrow, 8, 8, 1>(row, col);
                }
            }
        }
    }
}

impl Matmul<'_> {
    /// `N` columns of row `i`, from `col` on.
    fn columns<const N: usize>(&mut self, i: usize, col: usize) {
        let out: &mut [f32; N] = self.c[i * self.ldc + col..].first_chunk_mut().expect("N columns");
        let mut sum = if self.accumulate { *out } else { [0.0; N] };
        for j in 0..self.size.2 {
            let x = self.a.data[i * self.a.row + j * self.a.col];
            let row: &[f32; N] = self.b[j * self.ldb + col..].first_chunk().expect("N columns");
            for (s, y) in sum.iter_mut().zip(row) {
                *s += x * y;
            }
        }
        *out = sum;
    }

    /// `M` rows from `row` on, `R` registers of columns from `col` on: the sums stay in registers over the
    /// whole of `k`.
    ///
    /// # Safety
    /// The processor has the instructions of `L`, and the block lies within matrices that have passed
    /// [`check`](Operation::check).
    #[inline(always)]
    unsafe fn block<L: F32Lanes<C>, const C: usize, const M: usize, const R: usize>(
        &mut self,
        row: usize,
        col: usize,
    ) {
        let Matmul { size: (_, _, k), a, b, ldb, ref mut c, ldc, accumulate } = *self;
        let c = c.as_mut_ptr().wrapping_add(row * ldc + col).cast::<[f32; C]>();
        // SAFETY: the block lies within the matrices, so `C` elements follow each address that is read or
        // written.
        unsafe {
            let out = |i: usize, j: usize| c.cast::<f32>().add(i * ldc).cast::<[f32; C]>().add(j);
            let mut sum = [[L::splat(0.0); R]; M];
            if accumulate {
                for (i, s) in sum.iter_mut().enumerate() {
                    for (j, s) in s.iter_mut().enumerate() {
                        *s = L::load(&*out(i, j));
                    }
                }
            }
            let mut pa = a.data.as_ptr().add(row * a.row);
            let mut pb = b.as_ptr().add(col);
            for _ in 0..k {
                let mut columns = [L::splat(0.0); R];
                for (j, column) in columns.iter_mut().enumerate() {
                    *column = L::load(&*pb.cast::<[f32; C]>().add(j));
                }
                for (i, s) in sum.iter_mut().enumerate() {
                    let x = L::splat(*pa.add(i * a.row));
                    for (s, y) in s.iter_mut().zip(columns) {
                        *s = x.mul_add(y, *s);
                    }
                }
                pa = pa.wrapping_add(a.col);
                pb = pb.wrapping_add(ldb);
            }
            for (i, s) in sum.into_iter().enumerate() {
                for (j, s) in s.into_iter().enumerate() {
                    s.store(&mut *out(i, j));
                }
            }
        }
    }
}

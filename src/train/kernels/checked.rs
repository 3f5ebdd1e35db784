//! Kernels for a processor with certain instructions, behind the checks that make them safe: [`detect`].
#![allow(unsafe_code)]

use std::marker::PhantomData;

use super::arithmetic::{AdamStep, CatchUp, Grid, Kernels, Strided, WIDTHS, check_matmul};

/// [`Kernels`] that trust their caller.
///
/// # Safety
/// Every function needs the instructions that [`available`](Self::available) looks for, and slices as long as [`Kernels`]
/// says; those of `adam` and `add` hold a multiple of [`LANES`](Self::LANES).
pub(super) trait Unchecked: Sync + Send {
    const NAME: &'static str;
    /// Numbers in a register.
    const LANES: usize;

    /// Whether this processor has the instructions.
    fn available() -> bool;

    #[allow(clippy::too_many_arguments)]
    unsafe fn effective_row(
        w: &[f32],
        m: &[f32],
        v: &[f32],
        p: &[f32],
        catch_up: Option<(CatchUp, f32)>,
        grid: Grid,
        out: &mut [i16],
    );

    unsafe fn gather(table: &[i16], rows: &[u16], bias: &[i16], acc: &mut [i16]);

    unsafe fn activate(acc: &[i16], out: &mut [f32]);

    unsafe fn pack_gradient(acc: &[i16], grad: &[f32], out: &mut [u32]);

    unsafe fn sum_gradients(grads: &[u32], list: &[u32], out: &mut [f32]);

    unsafe fn adam(
        w: &mut [f32],
        m: &mut [f32],
        v: &mut [f32],
        g: &[f32],
        step: AdamStep,
        late: Option<CatchUp>,
    );

    unsafe fn add(total: &mut [f32], x: &[f32]);

    #[allow(clippy::too_many_arguments)]
    unsafe fn matmul(
        size: (usize, usize, usize),
        a: Strided,
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        ldc: usize,
        accumulate: bool,
    );
}

/// Proof that the processor can run `K`: only [`detect`] makes one.
struct Checked<K>(PhantomData<K>);

/// The kernels, if this processor runs them.
pub(super) fn detect<K: Unchecked + 'static>() -> Option<&'static dyn Kernels> {
    K::available().then_some(const { &Checked::<K>(PhantomData) })
}

/// Asserts that every slice holds so many elements.
macro_rules! hold {
    ($n:expr, $($s:expr),*) => { $(assert!($s.len() >= $n);)* };
}

/// A width that the kernels do without a remainder.
fn width(n: usize) -> usize {
    assert!(n.is_multiple_of(WIDTHS));
    n
}

impl<K: Unchecked> Kernels for Checked<K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn effective_row(
        &self,
        w: &[f32],
        m: &[f32],
        v: &[f32],
        p: &[f32],
        catch_up: Option<(CatchUp, f32)>,
        grid: Grid,
        out: &mut [i16],
    ) {
        hold!(width(out.len()), w, m, v, p);
        // SAFETY: `self` proves the instructions, and the lengths have been checked.
        unsafe { K::effective_row(w, m, v, p, catch_up, grid, out) }
    }

    fn gather(&self, table: &[i16], rows: &[u16], bias: &[i16], acc: &mut [i16]) {
        hold!(width(acc.len()), bias);
        // SAFETY: as above; `table` is checked row by row.
        unsafe { K::gather(table, rows, bias, acc) }
    }

    fn activate(&self, acc: &[i16], out: &mut [f32]) {
        hold!(width(out.len()), acc);
        // SAFETY: as above.
        unsafe { K::activate(acc, out) }
    }

    fn pack_gradient(&self, acc: &[i16], grad: &[f32], out: &mut [u32]) {
        hold!(width(acc.len()), grad);
        hold!(acc.len() / 2, out);
        // SAFETY: as above.
        unsafe { K::pack_gradient(acc, grad, out) }
    }

    fn sum_gradients(&self, grads: &[u32], list: &[u32], out: &mut [f32]) {
        width(out.len());
        // SAFETY: as above; `grads` is checked row by row.
        unsafe { K::sum_gradients(grads, list, out) }
    }

    fn adam(
        &self,
        w: &mut [f32],
        m: &mut [f32],
        v: &mut [f32],
        g: &[f32],
        step: AdamStep,
        late: Option<CatchUp>,
    ) {
        assert!(w.len().is_multiple_of(K::LANES));
        hold!(w.len(), m, v, g);
        // SAFETY: as above.
        unsafe { K::adam(w, m, v, g, step, late) }
    }

    fn add(&self, total: &mut [f32], x: &[f32]) {
        assert!(total.len().is_multiple_of(K::LANES));
        hold!(total.len(), x);
        // SAFETY: as above.
        unsafe { K::add(total, x) }
    }

    fn matmul(
        &self,
        size: (usize, usize, usize),
        a: Strided,
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        ldc: usize,
        accumulate: bool,
    ) {
        check_matmul(size, a, b, ldb, c, ldc);
        // SAFETY: as above.
        unsafe { K::matmul(size, a, b, ldb, c, ldc, accumulate) }
    }
}

//! Rows and their Adam steps: [`EffectiveRow`], [`Adam`], [`Add`].
#![allow(unsafe_code)]

use super::grid::Grid;
use super::lanes::F32Lanes;
use super::operation::{Operation, WIDTHS};

/// The parameters of an Adam step.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Learning rate with both bias corrections folded in.
    pub rate: f32,
    /// Decay of the first moment in a step.
    pub beta1: f32,
    /// Decay of the second moment in a step.
    pub beta2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
}

/// The update that a row missed while its gradient was zero for `n` steps: Adam would have moved it by its
/// decaying momentum. For epsilon much smaller than the root of the second moment, the sum of those moves is
/// `shift * m / (sqrt(v) + epsilon)` exactly. So rows without a gradient can be skipped, with the same result as
/// dense Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CatchUp {
    /// Sum of the steps missed, in units of the moment by its root.
    pub shift: f32,
    /// `beta1 ^ n`
    pub decay1: f32,
    /// `beta2 ^ n`
    pub decay2: f32,
}

/// `out = grid.round(w - shift * m / (sqrt(v) + epsilon) + p)`: a feature's row as the forward pass sees it.
/// Without `catch_up` the moments are not read. All slices have one width.
pub(in crate::train) struct EffectiveRow<'a> {
    pub w: &'a [f32],
    pub m: &'a [f32],
    pub v: &'a [f32],
    pub p: &'a [f32],
    /// With epsilon.
    pub catch_up: Option<(CatchUp, f32)>,
    pub grid: Grid,
    pub out: &'a mut [i16],
}

impl Operation for EffectiveRow<'_> {
    fn check(&self) {
        let width = self.out.len();
        assert!(
            width.is_multiple_of(WIDTHS) && [self.w, self.m, self.v, self.p].map(<[_]>::len) == [width; 4]
        );
    }

    fn scalar(self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            let mut x = self.w[i];
            if let Some((late, epsilon)) = self.catch_up {
                x -= late.shift * self.m[i] / (self.v[i].sqrt() + epsilon);
            }
            *out = self.grid.round(x + self.p[i]);
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        let [w, m, v, p] = [self.w, self.m, self.v, self.p].map(|x| x.as_chunks::<C>().0);
        let (scale, unit) = self.grid.steps();
        let out = self.out.as_chunks_mut().0;
        for ((((w, m), v), p), out) in w.iter().zip(m).zip(v).zip(p).zip(out) {
            // SAFETY: the caller's processor has the instructions of `L`.
            unsafe {
                let mut x = L::load(w);
                if let Some((late, epsilon)) = self.catch_up {
                    let r = L::load(v).inverse_root(L::splat(epsilon));
                    x = L::load(m).mul(L::splat(late.shift)).mul_sub_from(r, x);
                }
                x.add(L::load(p)).mul(L::splat(scale)).store_i16(unit, out);
            }
        }
    }
}

/// Catches the parameters up, then makes one Adam step with gradient `g`. All slices have one length, a
/// multiple of 16.
pub(in crate::train) struct Adam<'a> {
    pub w: &'a mut [f32],
    pub m: &'a mut [f32],
    pub v: &'a mut [f32],
    pub g: &'a [f32],
    pub step: AdamStep,
    pub late: Option<CatchUp>,
}

impl Operation for Adam<'_> {
    fn check(&self) {
        let n = self.w.len();
        assert!(n.is_multiple_of(16) && [self.m.len(), self.v.len(), self.g.len()] == [n; 3]);
    }

    fn scalar(self) {
        let Adam { w, m, v, g, step, late } = self;
        if let Some(late) = late {
            for ((w, m), v) in w.iter_mut().zip(m.iter_mut()).zip(v.iter_mut()) {
                *w -= late.shift * *m / (v.sqrt() + step.epsilon);
                *m *= late.decay1;
                *v *= late.decay2;
            }
        }
        for (((w, m), v), &g) in w.iter_mut().zip(m).zip(v).zip(g) {
            *m = step.beta1 * *m + (1.0 - step.beta1) * g;
            *v = step.beta2 * *v + (1.0 - step.beta2) * g * g;
            *w -= step.rate * *m / (v.sqrt() + step.epsilon);
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        let Adam { w, m, v, g, step, late } = self;
        let [w, m, v] = [w, m, v].map(|x| x.as_chunks_mut::<C>().0);
        let g = g.as_chunks::<C>().0;
        // SAFETY: the caller's processor has the instructions of `L`.
        unsafe {
            let [b1, b2] = [L::splat(step.beta1), L::splat(step.beta2)];
            let [c1, c2] = [L::splat(1.0 - step.beta1), L::splat(1.0 - step.beta2)];
            let [rate, epsilon] = [L::splat(step.rate), L::splat(step.epsilon)];
            for (((w, m), v), g) in w.iter_mut().zip(m).zip(v).zip(g) {
                let (mut xw, mut xm, mut xv) = (L::load(w), L::load(m), L::load(v));
                if let Some(late) = late {
                    let r = xv.inverse_root(epsilon);
                    xw = xm.mul(L::splat(late.shift)).mul_sub_from(r, xw);
                    xm = xm.mul(L::splat(late.decay1));
                    xv = xv.mul(L::splat(late.decay2));
                }
                let g = L::load(g);
                xm = b1.mul_add(xm, c1.mul(g));
                xv = b2.mul_add(xv, c2.mul(g).mul(g));
                xw = rate.mul(xm).mul_sub_from(xv.inverse_root(epsilon), xw);
                xw.store(w);
                xm.store(m);
                xv.store(v);
            }
        }
    }
}

/// `total += x`, for lengths that are multiples of 16.
pub(in crate::train) struct Add<'a> {
    pub total: &'a mut [f32],
    pub x: &'a [f32],
}

impl Operation for Add<'_> {
    fn check(&self) {
        assert!(self.total.len().is_multiple_of(16) && self.x.len() == self.total.len());
    }

    fn scalar(self) {
        for (t, x) in self.total.iter_mut().zip(self.x) {
            *t += x;
        }
    }

    #[inline(always)]
    unsafe fn vector<L: F32Lanes<C>, const C: usize, const B: usize>(self) {
        for (t, x) in self.total.as_chunks_mut().0.iter_mut().zip(self.x.as_chunks().0) {
            // SAFETY: the caller's processor has the instructions of `L`.
            unsafe { L::load(t).add(L::load(x)).store(t) }
        }
    }
}

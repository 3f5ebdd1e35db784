//! [`Model`]: the parameters of a network in f32, with the state of Adam.

use std::sync::Arc;

use super::head::{self, normal};
use super::kernels::{AdamStep, Add, CatchUp, Kernels};
use super::layout::Layout;
use crate::nnue::{Architecture, Progress};
use crate::support::memory::{HugeBuf, OutOfMemory};
use crate::support::random::Rng;

/// Parameters with both moments of their gradients.
pub struct Moments<T> {
    /// The parameters.
    pub w: T,
    /// First moments: decaying means of the gradients.
    pub m: T,
    /// Second moments: decaying means of their squares.
    pub v: T,
}

impl Moments<HugeBuf<f32>> {
    fn huge(len: usize) -> Result<Self, OutOfMemory> {
        Ok(Moments { w: HugeBuf::zeroed(len)?, m: HugeBuf::zeroed(len)?, v: HugeBuf::zeroed(len)? })
    }
}

impl Moments<Vec<f32>> {
    fn new(len: usize) -> Self {
        Moments { w: vec![0.0; len], m: vec![0.0; len], v: vec![0.0; len] }
    }
}

/// The state that training changes.
pub struct Model {
    /// Sizes and offsets.
    pub layout: Layout,
    /// First layer: a row for each king square and BonaPiece, on top of the factor's rows.
    pub rows: Moments<HugeBuf<f32>>,
    /// For each row the number of the step that last touched it; 0 for never.
    pub last: Vec<u32>,
    /// The factor: a row for each BonaPiece, shared by all king squares, and a row for each kind of piece and
    /// offset from the king, shared by all pairs with that offset. Both are added to the
    /// rows in the finished network. So knowledge that holds for every king is learnt once, not 81 times.
    pub factor: Moments<HugeBuf<f32>>,
    /// Bias of the first layer.
    pub bias: Moments<Vec<f32>>,
    /// The layers after it, see [`Layout`].
    pub dense: Moments<Vec<f32>>,
    /// The weights of the game's progress, if it chooses a stack; they are not trained.
    pub progress: Option<Arc<Progress>>,
    /// Steps done.
    pub step: u32,
    /// By step: how far the momentum has moved a row that was last touched in that step, see [`CatchUp`].
    pub shift: Vec<f32>,
    /// See [`AdamStep`].
    pub beta1: f32,
    /// See [`AdamStep`].
    pub beta2: f32,
    /// See [`AdamStep`].
    pub epsilon: f32,
    /// Learning rate of the rows, as a share of that of everything else.
    pub row_rate: f32,
}

/// Steps after which the momentum of an untouched row is below the precision of f32.
const MEMORY: usize = 400;

impl Model {
    /// Random parameters.
    ///
    /// # Errors
    /// No memory: HalfKP takes 1.5 MB for each output of the first layer.
    pub fn new(architecture: Architecture, seed: u64) -> Result<Model, OutOfMemory> {
        let layout = Layout::of(architecture);
        let mut model = Model {
            layout,
            rows: Moments::huge(layout.rows() * layout.l1)?,
            last: vec![0; layout.rows()],
            factor: Moments::huge(layout.factor_rows() * layout.l1)?,
            bias: Moments::new(layout.l1),
            dense: Moments::new(layout.dense),
            progress: None,
            step: 0,
            shift: vec![0.0],
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            row_rate: 1.0,
        };
        let mut rng = Rng::for_stream(seed, 0);
        // Units of all layers start around the middle of (0, 1), so that every unit has a gradient.
        let spread = 0.3 / (layout.active as f32).sqrt();
        model.factor.w[..layout.per_bucket * layout.l1]
            .iter_mut()
            .for_each(|w| *w = normal(&mut rng) * spread);
        model.bias.w.fill(0.5);
        head::of(&layout).init(&mut rng, &mut model.dense.w);
        model.clip();
        Ok(model)
    }

    /// The next step, for parameters that are touched in every step.
    pub fn adam(&self, rate: f32) -> AdamStep {
        let t = self.step as i32 + 1;
        let correction = (1.0 - (self.beta2 as f64).powi(t)).sqrt() / (1.0 - (self.beta1 as f64).powi(t));
        AdamStep {
            rate: (rate as f64 * correction) as f32,
            beta1: self.beta1,
            beta2: self.beta2,
            epsilon: self.epsilon,
        }
    }

    /// The steps that a row last touched in step `last` has missed.
    #[inline]
    pub fn catch_up(&self, last: u32) -> Option<CatchUp> {
        catch_up(&self.shift, self.step, self.beta1, self.beta2, last)
    }

    /// Records that the step of [`adam`](Self::adam) has been made.
    pub fn finish_step(&mut self, step: AdamStep) {
        self.step += 1;
        let ratio = self.beta1 / self.beta2.sqrt();
        let mut share = step.rate * self.row_rate * ratio;
        for s in self.shift.iter_mut().rev().take(MEMORY) {
            *s += share;
            share *= ratio;
        }
        self.shift.push(0.0);
    }

    /// Clamps the weights of the layers after the first one to the range of their integers.
    pub fn clip(&mut self) {
        head::of(&self.layout).clip(&mut self.dense.w);
    }

    /// What the factor adds to a row of the first layer.
    #[inline]
    pub fn factor_of(&self, kernels: Kernels, king: usize, bona: usize, out: &mut [f32]) {
        let (own, offset) = self.layout.factor_rows_of(king, bona);
        let row = |row: usize| &self.factor.w[row * self.layout.l1..][..self.layout.l1];
        out.copy_from_slice(row(own));
        if let Some(offset) = offset {
            kernels.run(Add { total: out, x: row(offset) });
        }
    }

    /// The finished row of the first layer, factor and outstanding momentum included.
    pub fn folded_row(&self, row: usize, out: &mut [f32]) {
        let (l1, per_bucket) = (self.layout.l1, self.layout.per_bucket);
        let at = row * l1..(row + 1) * l1;
        self.factor_of(Kernels::SCALAR, row / per_bucket, row % per_bucket, out);
        let late = self.catch_up(self.last[row]);
        let (w, m, v) = (&self.rows.w[at.clone()], &self.rows.m[at.clone()], &self.rows.v[at]);
        for i in 0..l1 {
            out[i] += w[i];
            if let Some(late) = late {
                out[i] -= late.shift * m[i] / (v[i].max(1e-37).sqrt() + self.epsilon);
            }
        }
    }
}

/// See [`Model::catch_up`]; a function of its own so that parts of the model can be borrowed separately.
#[inline]
pub(super) fn catch_up(shift: &[f32], step: u32, beta1: f32, beta2: f32, last: u32) -> Option<CatchUp> {
    if last == 0 || last == step {
        return None; // never touched: no momentum; touched in the last step: nothing missed
    }
    let missed = (step - last) as i32;
    Some(CatchUp { shift: shift[last as usize], decay1: beta1.powi(missed), decay2: beta2.powi(missed) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::kernels::Adam;

    #[test]
    fn a_row_caught_up_is_where_dense_adam_has_it() {
        let mut model = Model::new(Architecture::DEFAULT, 1).unwrap();
        let l1 = model.layout.l1;
        model.epsilon = 1e-12;
        model.row_rate = 0.5;
        let gradient =
            |row: usize| -> Vec<f32> { (0..l1).map(|i| ((i * 7 + row * 13) as f32).sin() * 1e-3).collect() };
        // the same row twice: visited in every step, and only when it has a gradient
        let mut dense = [vec![0f32; l1], vec![0f32; l1], vec![0f32; l1]];
        let mut lazy = dense.clone();
        let mut last = 0;
        for t in 0..700 {
            let rate = 1e-3 * (1.0 + (t as f32 / 50.0).sin() * 0.5);
            let all = model.adam(rate);
            let step = AdamStep { rate: all.rate * model.row_rate, ..all };
            let touched = [0, 1, 2, 5, 40, 41, 300, 699].contains(&t);
            let g = if touched { gradient(t) } else { vec![0.0; l1] };
            let [w, m, v] = &mut dense;
            Kernels::SCALAR.run(Adam { w, m, v, g: &g, step, late: None });
            if touched {
                let late = model.catch_up(last);
                let [w, m, v] = &mut lazy;
                Kernels::SCALAR.run(Adam { w, m, v, g: &g, step, late });
                last = model.step + 1;
            }
            model.finish_step(all);
            let late = model.catch_up(last);
            for i in 0..l1 {
                let shift = late
                    .map_or(0.0, |l| l.shift * lazy[1][i] / (lazy[2][i].max(1e-37).sqrt() + model.epsilon));
                let error = (lazy[0][i] - shift - dense[0][i]).abs();
                assert!(error < 2e-6, "step {t}, element {i}: off by {error}");
            }
        }
    }
}

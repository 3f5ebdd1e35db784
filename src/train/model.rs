//! The parameters of the network of [`arch`](crate::nnue::arch) in f32, with the state of Adam beside them.

use super::features::{BONA, FACTOR_ROWS, ROWS, mirrored_row, reflects, relative_row};
use super::kernels::{AdamStep, CatchUp, Kernels, Portable};
use super::loss::SCORE_SCALE;
use crate::memory::{HugeBuf, OutOfMemory};
use crate::nnue::arch::{FV_SCALE, L1, L2, L3};
use crate::nnue::layers::WEIGHT_SHIFT;
use crate::random::Rng;

/// Inputs of the first hidden layer: two accumulators.
pub const INPUTS: usize = 2 * L1;

/// Where the parts of the small layers lie in one flat array: weights are stored input by input, `w[i * outputs + o]`.
pub mod dense {
    use super::{INPUTS, L2, L3};
    /// Weights and bias of the first hidden layer, of [`INPUTS`] inputs and [`L2`] outputs.
    pub const W1: usize = 0;
    /// Its bias.
    pub const B1: usize = W1 + INPUTS * L2;
    /// The second hidden layer, [`L3`] outputs.
    pub const W2: usize = B1 + L2;
    /// Its bias.
    pub const B2: usize = W2 + L2 * L3;
    /// The output.
    pub const W3: usize = B2 + L3;
    /// Its bias.
    pub const B3: usize = W3 + L3;
    /// The last bias is followed by 15 unused zeros, so that vector kernels run over the whole.
    pub const LEN: usize = B3 + 16;
}

// what the matrix kernels work on
const _: () = assert!(L1.is_multiple_of(32) && L2.is_multiple_of(32) && L3.is_multiple_of(32));

/// The largest hidden weight that 8 bits hold: 127 in units of 1/64.
pub const HIDDEN_LIMIT: f32 = 127.0 / (1 << WEIGHT_SHIFT) as f32;
/// The largest output weight that 8 bits hold: 127 in units of 127/9600.
pub const OUTPUT_LIMIT: f32 = 127.0 * 127.0 / (SCORE_SCALE * FV_SCALE as f32);

/// Some parameters and both moments of their gradients.
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

/// Everything that training changes.
pub struct Model {
    /// First layer: a row of [`L1`] for each king square and BonaPiece, on top of the factor's rows.
    pub rows: Moments<HugeBuf<f32>>,
    /// For each row the number of the step that last touched it; 0 for never.
    pub last: Vec<u32>,
    /// The factor: a row for each BonaPiece, shared by all king squares, and a row for each kind of piece and way from
    /// the king, shared by all that are as far apart ([`relative_row`]). Both are added to the rows in the end, so the
    /// finished network has the plain shape; meanwhile what is true for every king is learnt once, not 81 times.
    pub factor: Moments<HugeBuf<f32>>,
    /// Bias of the first layer.
    pub bias: Moments<Vec<f32>>,
    /// The other layers, see [`dense`].
    pub dense: Moments<Vec<f32>>,
    /// Steps done.
    pub step: u32,
    /// By step: how far a row last touched in that step has moved since by its momentum, see [`CatchUp`].
    pub shift: Vec<f32>,
    /// See [`AdamStep`].
    pub beta1: f32,
    /// See [`AdamStep`].
    pub beta2: f32,
    /// See [`AdamStep`].
    pub epsilon: f32,
    /// Learning rate of the rows, as a share of that of everything else.
    pub row_rate: f32,
    /// Whether mirrored king squares share their rows, see [`tie`](Self::tie).
    pub tied: bool,
}

/// After so many steps the momentum of an untouched row is below what f32 can show.
const MEMORY: usize = 400;

impl Model {
    /// Fresh parameters.
    pub fn new(seed: u64) -> Result<Model, OutOfMemory> {
        let mut model = Model {
            rows: Moments::huge(ROWS * L1)?,
            last: vec![0; ROWS],
            factor: Moments::huge(FACTOR_ROWS * L1)?,
            bias: Moments::new(L1),
            dense: Moments::new(dense::LEN),
            step: 0,
            shift: vec![0.0],
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            row_rate: 1.0,
            tied: false,
        };
        let mut rng = Rng::for_stream(seed, 0);
        // Accumulators start around the middle of (0, 1), hidden layers too, so that every unit has a gradient.
        let spread = 0.3 / (38f32).sqrt();
        model.factor.w[..BONA * L1].iter_mut().for_each(|w| *w = normal(&mut rng) * spread);
        model.bias.w.fill(0.5);
        let d = &mut model.dense.w;
        let mut layer =
            |weights: std::ops::Range<usize>, bias: usize, inputs: usize, outputs: usize, middle: f32| {
                let spread = 1.0 / (inputs as f32).sqrt();
                for o in 0..outputs {
                    let mut sum = 0.0;
                    for i in 0..inputs {
                        let w = normal(&mut rng) * spread;
                        d[weights.start + i * outputs + o] = w;
                        sum += w;
                    }
                    d[bias + o] = middle - 0.5 * sum; // inputs are around 0.5
                }
            };
        layer(dense::W1..dense::B1, dense::B1, INPUTS, L2, 0.5);
        layer(dense::W2..dense::B2, dense::B2, L2, L3, 0.5);
        layer(dense::W3..dense::B3, dense::B3, L3, 1, 0.0);
        model.clip();
        Ok(model)
    }

    /// The step that is about to be made, for parameters that are touched in every step.
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

    /// What a row last touched in step `last` has missed so far.
    #[inline]
    pub fn catch_up(&self, last: u32) -> Option<CatchUp> {
        catch_up(&self.shift, self.step, self.beta1, self.beta2, last)
    }

    /// Notes that the step has been made that [`adam`](Self::adam) described.
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

    /// Keeps the weights of the small layers within what 8 bits hold.
    pub fn clip(&mut self) {
        let d = &mut self.dense.w;
        for range in [dense::W1..dense::B1, dense::W2..dense::B2] {
            d[range].iter_mut().for_each(|w| *w = w.clamp(-HIDDEN_LIMIT, HIDDEN_LIMIT));
        }
        d[dense::W3..dense::B3].iter_mut().for_each(|w| *w = w.clamp(-OUTPUT_LIMIT, OUTPUT_LIMIT));
    }

    /// What the factor adds to a row of the first layer, [`L1`] numbers.
    #[inline]
    pub fn factor_of(&self, kernels: &dyn Kernels, king: usize, bona: usize, out: &mut [f32]) {
        out.copy_from_slice(&self.factor.w[bona * L1..(bona + 1) * L1]);
        if let Some(way) = relative_row(king, bona) {
            kernels.add(out, &self.factor.w[way * L1..(way + 1) * L1]);
        }
    }

    /// Moves all rows by the momentum that they have missed so far.
    pub fn settle(&mut self) {
        for (row, last) in self.last.iter_mut().enumerate() {
            let Some(late) = catch_up(&self.shift, self.step, self.beta1, self.beta2, *last) else {
                continue;
            };
            let at = row * L1..(row + 1) * L1;
            let (w, m, v) =
                (&mut self.rows.w[at.clone()], &mut self.rows.m[at.clone()], &mut self.rows.v[at]);
            for i in 0..L1 {
                w[i] -= late.shift * m[i] / (v[i].max(1e-37).sqrt() + self.epsilon);
                m[i] *= late.decay1;
                v[i] *= late.decay2;
            }
            *last = self.step;
        }
    }

    /// The finished row of the first layer, factor and outstanding momentum included.
    pub fn folded_row(&self, row: usize, out: &mut [f32]) {
        let row = if self.tied && reflects((row / BONA) as u8) { mirrored_row(row) } else { row };
        let at = row * L1..(row + 1) * L1;
        self.factor_of(&Portable, row / BONA, row % BONA, out);
        let late = self.catch_up(self.last[row]);
        let (w, m, v) = (&self.rows.w[at.clone()], &self.rows.m[at.clone()], &self.rows.v[at]);
        for i in 0..L1 {
            out[i] += w[i];
            if let Some(late) = late {
                out[i] -= late.shift * m[i] / (v[i].max(1e-37).sqrt() + self.epsilon);
            }
        }
    }
}

/// See [`Model::catch_up`]; apart from the model so that its parts can be borrowed one by one.
#[inline]
pub(super) fn catch_up(shift: &[f32], step: u32, beta1: f32, beta2: f32, last: u32) -> Option<CatchUp> {
    if last == 0 || last == step {
        return None; // never touched: no momentum; touched in the last step: nothing missed
    }
    let missed = (step - last) as i32;
    Some(CatchUp { shift: shift[last as usize], decay1: beta1.powi(missed), decay2: beta2.powi(missed) })
}

/// A standard normal number (Box and Muller).
fn normal(rng: &mut Rng) -> f32 {
    let mut unit = || ((rng.next_u64() >> 40) as f32 + 0.5) / (1u64 << 24) as f32;
    let radius = (-2.0 * unit().ln()).sqrt();
    radius * (std::f32::consts::TAU * unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_caught_up_is_where_dense_adam_has_it() {
        let mut model = Model::new(1).unwrap();
        model.epsilon = 1e-12;
        model.row_rate = 0.5;
        let gradient =
            |row: usize| -> Vec<f32> { (0..L1).map(|i| ((i * 7 + row * 13) as f32).sin() * 1e-3).collect() };
        // the same row twice: visited in every step, and only when it has a gradient
        let mut dense = [vec![0f32; L1], vec![0f32; L1], vec![0f32; L1]];
        let mut lazy = dense.clone();
        let mut last = 0;
        for t in 0..700 {
            let rate = 1e-3 * (1.0 + (t as f32 / 50.0).sin() * 0.5);
            let all = model.adam(rate);
            let step = AdamStep { rate: all.rate * model.row_rate, ..all };
            let touched = [0, 1, 2, 5, 40, 41, 300, 699].contains(&t);
            let g = if touched { gradient(t) } else { vec![0.0; L1] };
            let [w, m, v] = &mut dense;
            Portable.adam(w, m, v, &g, step, None);
            if touched {
                let late = model.catch_up(last);
                let [w, m, v] = &mut lazy;
                Portable.adam(w, m, v, &g, step, late);
                last = model.step + 1;
            }
            model.finish_step(all);
            let late = model.catch_up(last);
            for i in 0..L1 {
                let shift = late
                    .map_or(0.0, |l| l.shift * lazy[1][i] / (lazy[2][i].max(1e-37).sqrt() + model.epsilon));
                let error = (lazy[0][i] - shift - dense[0][i]).abs();
                assert!(error < 2e-6, "step {t}, element {i}: off by {error}");
            }
        }
    }
}

//! [`TrainedHead`]: the layers after the first one, which process one [`Tile`] of samples at a time.

use crate::nnue::Parameters;
use crate::nnue::arch::FV_SCALE;
use crate::support::memory::prefetch;
use crate::support::random::Rng;
use crate::train::batch::{Batch, TILE};
use crate::train::features::Sample;
use crate::train::kernels::{Grid, Kernels, MultiplyBack, PackGradient};
use crate::train::layout::Layout;
use crate::train::loss::{Loss, Objective, SCORE_SCALE};

/// The raw output of a network for 1: 600 `Value`s times FV_SCALE.
pub const OUTPUT_SUM: f32 = SCORE_SCALE * FV_SCALE as f32;

/// The layers after the accumulators. Their parameters are in one array of the model, `d` below.
pub(in crate::train) trait TrainedHead: Send + Sync {
    /// Sets random initial parameters.
    fn init(&self, rng: &mut Rng, d: &mut [f32]);

    /// Clamps weights to the range of their integers.
    fn clip(&self, d: &mut [f32]);

    /// `d` rounded to the values of the integers.
    fn round(&self, d: &[f32], out: &mut [f32]);

    /// Length of the output of [`prepare`](Self::prepare).
    fn prepared_len(&self) -> usize {
        0
    }

    /// Computes what all tiles of a step need besides the parameters, such as transposed weights.
    fn prepare(&self, _d: &[f32], _grid: Grid, _out: &mut [f32]) {}

    /// Length of additional gradients, of what is [prepared](Self::prepare), after those of the parameters.
    fn extra_len(&self) -> usize {
        0
    }

    /// Adds these to the gradients of the parameters, after the gradients of all tiles have been summed.
    fn finish(&self, _d: &[f32], _grad: &mut [f32]) {}

    /// Length of the buffer for activations and their gradients that [`run`](Self::run) needs.
    fn buffer_len(&self) -> usize;

    /// Runs one tile forward and, if `out` takes the gradients of its accumulators, backward.
    fn run(&self, tile: &Tile, scratch: &mut Scratch, out: Option<&mut [u32]>);

    /// The output for accumulators of the side to move and of the other side. Slow; for measurements.
    fn output(&self, d: &[f32], accumulators: [&[f32]; 2], sample: &Sample) -> f32;

    /// The network's accumulators, of the side to move and of the other side.
    fn accumulators(&self, layout: &Layout, net: &dyn Parameters, sample: &Sample) -> [Vec<i16>; 2] {
        let mut pieces = vec![0u16; layout.active];
        [0, 1].map(|p| {
            let first = layout.view(sample, p, &mut pieces) * layout.per_bucket;
            let mut sum = net.bias().to_vec();
            for &piece in &pieces {
                let row = net.row(first + piece as usize);
                sum.iter_mut().zip(row).for_each(|(s, r)| *s = s.wrapping_add(*r));
            }
            sum
        })
    }

    /// Writes the network's integers.
    fn write(&self, d: &[f32], net: &mut dyn Parameters);

    /// Reads the parameters from a network's integers and multiplies its output by `scale`. Weights get random
    /// parts that rounding removes. False if the parameters cannot be recovered.
    fn read(&self, net: &dyn Parameters, scale: f32, rng: &mut Rng, d: &mut [f32]) -> bool;
}

/// Buffers of one thread.
pub(in crate::train) struct Scratch {
    /// [`TrainedHead::buffer_len`] numbers.
    pub buffer: Vec<f32>,
    /// Gradients of the head's parameters, then [`TrainedHead::extra_len`] numbers.
    pub grad: Vec<f32>,
    pub loss: Loss,
}

/// Splits a buffer into parts of these lengths.
pub(super) fn split<const N: usize>(mut buffer: &mut [f32], lengths: [usize; N]) -> [&mut [f32]; N] {
    lengths.map(|n| buffer.split_off_mut(..n).expect("the buffer is long enough"))
}

/// [`TILE`] samples of a batch, with the state of the step.
#[derive(Clone, Copy)]
pub(in crate::train) struct Tile<'a> {
    pub number: usize,
    pub kernels: Kernels,
    pub batch: &'a Batch,
    /// Outputs of the first layer.
    pub l1: usize,
    /// Accumulators by place.
    pub acc: &'a [i16],
    /// The head's parameters.
    pub dense: &'a [f32],
    /// The output of [`TrainedHead::prepare`].
    pub prepared: &'a [f32],
    pub grid: Grid,
    pub objective: Objective,
}

impl<'a> Tile<'a> {
    /// The number in the batch of sample `i` of the tile.
    pub fn sample(&self, i: usize) -> usize {
        self.number * TILE + i
    }

    /// An accumulator of sample `i`: of the side to move (0) or of the other side (1).
    pub fn accumulator(&self, i: usize, perspective: usize) -> &'a [i16] {
        let place = self.batch.place[2 * self.sample(i) + perspective] as usize;
        &self.acc[place * self.l1..][..self.l1]
    }

    /// The pieces of sample `i` as the side to move sees them.
    pub fn pieces(&self, i: usize) -> &'a [u16] {
        self.batch.pieces_of(self.sample(i))
    }

    /// Accumulators are ordered by king, so each one is a cache miss: prefetches those of a later sample.
    pub fn prefetch(&self, i: usize) {
        for p in 0..2 {
            if let Some(&place) = self.batch.place.get(2 * (self.sample(i) + 4) + p) {
                let acc = self.acc.as_ptr().wrapping_add(place as usize * self.l1);
                (0..self.l1).step_by(32).for_each(|x| prefetch(acc.wrapping_add(x)));
            }
        }
    }

    /// Adds the loss of sample `i`; returns the derivative of the batch's mean loss by its output.
    pub fn count(&self, i: usize, output: f32, loss: &mut Loss) -> f32 {
        let sample = self.sample(i);
        let result = self.batch.result[sample];
        let target = self.objective.target(self.batch.score[sample], result);
        let scale = self.objective.logit(1.0) / self.batch.len as f32;
        loss.count(self.objective.logit(output), target, result) * scale
    }

    /// Packs the gradient of an accumulator into its place in the tile's.
    pub fn pack_gradient(&self, i: usize, perspective: usize, grad: &[f32], out: &mut [u32]) {
        let out = self.gradient(i, perspective, out);
        self.kernels.run(PackGradient { acc: self.accumulator(i, perspective), grad, out });
    }

    /// The same with the gradient of the products of its halves.
    pub fn pack_products(&self, i: usize, perspective: usize, grad: &[f32], out: &mut [u32]) {
        let out = self.gradient(i, perspective, out);
        self.kernels.run(MultiplyBack { acc: self.accumulator(i, perspective), grad, out });
    }

    /// The place of an accumulator's gradient in the tile's.
    fn gradient<'b>(&self, i: usize, perspective: usize, out: &'b mut [u32]) -> &'b mut [u32] {
        let words = self.l1 / 2;
        &mut out[(2 * i + perspective) * words..][..words]
    }
}

pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // eight partial sums, which the compiler turns into vectors
    let mut sum = [0f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            sum[i] += a[i] * b[i];
        }
    }
    sum.iter().sum()
}

/// A standard normal number (Box and Muller).
pub(in crate::train) fn normal(rng: &mut Rng) -> f32 {
    let mut unit = || ((rng.next_u64() >> 40) as f32 + 0.5) / (1u64 << 24) as f32;
    let radius = (-2.0 * unit().ln()).sqrt();
    radius * (std::f32::consts::TAU * unit()).cos()
}

//! What every kind of network does after its first layer ([`Head`]), on one tile of samples at a time ([`Tile`]).

use crate::nnue::Parameters;
use crate::nnue::arch::FV_SCALE;
use crate::support::memory::prefetch;
use crate::support::random::Rng;
use crate::train::batch::{Batch, TILE};
use crate::train::features::Sample;
use crate::train::kernels::{Grid, Kernels, PackGradient};
use crate::train::layout::Layout;
use crate::train::loss::{Loss, Objective, SCORE_SCALE};

/// One unit of a network's raw output: 600 `Value`s times FV_SCALE.
pub const OUTPUT_SUM: f32 = SCORE_SCALE * FV_SCALE as f32;

/// The layers after the accumulators. Their numbers lie in one array of the model, `d` below.
pub(in crate::train) trait Head: Send + Sync {
    /// Draws the numbers to begin with.
    fn begin(&self, rng: &mut Rng, d: &mut [f32]);

    /// Keeps weights within what their integers hold.
    fn clip(&self, d: &mut [f32]);

    /// `d` with every number rounded to what the integers hold.
    fn round(&self, d: &[f32], out: &mut [f32]);

    /// How much room [`prepare`](Self::prepare) needs.
    fn prepared(&self) -> usize {
        0
    }

    /// Computes what all tiles of a step need besides the numbers themselves.
    fn prepare(&self, _d: &[f32], _grid: Grid, _out: &mut [f32]) {}

    /// How much room for gradients of what is [prepared](Self::prepare) there is after that for the numbers' own.
    fn extra(&self) -> usize {
        0
    }

    /// Makes them gradients of the numbers, once all tiles' have been added up.
    fn finish(&self, _d: &[f32], _grad: &mut [f32]) {}

    /// How much room for activations and their gradients [`run`](Self::run) needs.
    fn room(&self) -> usize;

    /// One tile forward and, if there is room for the gradients of its accumulators, backward.
    fn run(&self, tile: &Tile, scratch: &mut Scratch, out: Option<&mut [u32]>);

    /// The output for accumulators of the side to move and of the other side: exact and slow.
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

    /// Sets the network's integers.
    fn write(&self, d: &[f32], net: &mut dyn Parameters);

    /// The numbers whose integers a network has, if they can be told from those; its output times `scale`.
    fn read(&self, net: &dyn Parameters, scale: f32, d: &mut [f32]) -> bool;
}

/// What one thread needs.
pub(in crate::train) struct Scratch {
    /// As long as [`Head::room`] says.
    pub room: Vec<f32>,
    /// Gradients of the head's numbers, and what [`Head::extra`] says.
    pub grad: Vec<f32>,
    pub loss: Loss,
}

/// Cuts room into parts of these lengths.
pub(super) fn split<const N: usize>(mut room: &mut [f32], lengths: [usize; N]) -> [&mut [f32]; N] {
    lengths.map(|n| room.split_off_mut(..n).expect("room for all"))
}

/// [`TILE`] samples of a batch, with all that a step knows of them.
#[derive(Clone, Copy)]
pub(in crate::train) struct Tile<'a> {
    pub number: usize,
    pub kernels: Kernels,
    pub batch: &'a Batch,
    /// Outputs of the first layer.
    pub l1: usize,
    /// Accumulators by place.
    pub acc: &'a [i16],
    /// The head's numbers.
    pub dense: &'a [f32],
    /// What [`Head::prepare`] made of them.
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

    /// Accumulators lie in the order of kings, so each is a fresh trip to memory: asks early for those of a later sample.
    pub fn prefetch(&self, i: usize) {
        for p in 0..2 {
            if let Some(&place) = self.batch.place.get(2 * (self.sample(i) + 4) + p) {
                let acc = self.acc.as_ptr().wrapping_add(place as usize * self.l1);
                (0..self.l1).step_by(32).for_each(|x| prefetch(acc.wrapping_add(x)));
            }
        }
    }

    /// Counts the output for sample `i` and returns the slope of the batch's mean loss by it.
    pub fn count(&self, i: usize, output: f32, loss: &mut Loss) -> f32 {
        let sample = self.sample(i);
        let result = self.batch.result[sample];
        let target = self.objective.target(self.batch.score[sample], result);
        let scale = self.objective.logit(1.0) / self.batch.len as f32;
        loss.count(self.objective.logit(output), target, result) * scale
    }

    /// Packs the gradient of an accumulator into its place in the tile's.
    pub fn pack_gradient(&self, i: usize, perspective: usize, gradient: &[f32], out: &mut [u32]) {
        let words = self.l1 / 2;
        let out = &mut out[(2 * i + perspective) * words..][..words];
        self.kernels.run(PackGradient { acc: self.accumulator(i, perspective), grad: gradient, out });
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

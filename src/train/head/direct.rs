//! [`DirectHead`]: no hidden layer, but a set of output weights for each bucket.

use super::tile::{OUTPUT_SUM, Scratch, Tile, TrainedHead, dot, normal, split};
use crate::nnue::{HeadShape, Parameters};
use crate::support::random::Rng;
use crate::train::batch::TILE;
use crate::train::features::Sample;
use crate::train::kernels::Activate;

/// Weights by bucket, each with the side to move first; then the biases of all buckets.
pub(super) struct DirectHead {
    pub l1: usize,
    pub shape: HeadShape,
}

impl DirectHead {
    /// Number of weights of a bucket.
    fn width(&self) -> usize {
        2 * self.l1
    }

    /// Offset of the biases.
    fn bias(&self) -> usize {
        self.shape.buckets() * self.width()
    }

    /// The integers for 1 in a weight and in a sum, before the shift. An activation of 1 is 127².
    fn scales(&self) -> (f32, f32) {
        let sum = OUTPUT_SUM * (1u32 << self.shape.shift()) as f32;
        (sum / (127.0 * 127.0), sum)
    }
}

/// The largest weight that 16 bits hold.
const LARGEST: f32 = i16::MAX as f32;

impl TrainedHead for DirectHead {
    fn init(&self, rng: &mut Rng, d: &mut [f32]) {
        // the same for all buckets
        let spread = 1.0 / (self.width() as f32).sqrt();
        let weights: Vec<f32> = (0..self.width()).map(|_| normal(rng) * spread).collect();
        let bias = -0.25 * weights.iter().sum::<f32>();
        let (all, biases) = d.split_at_mut(self.bias());
        all.chunks_exact_mut(self.width()).for_each(|set| set.copy_from_slice(&weights));
        biases[..self.shape.buckets()].fill(bias);
    }

    fn clip(&self, d: &mut [f32]) {
        let limit = LARGEST / self.scales().0;
        d[..self.bias()].iter_mut().for_each(|w| *w = w.clamp(-limit, limit));
    }

    fn round(&self, d: &[f32], out: &mut [f32]) {
        let (weight, sum) = self.scales();
        for (i, (out, x)) in out.iter_mut().zip(d).enumerate() {
            let scale = if i < self.bias() { weight } else { sum };
            *out = (x * scale).round_ties_even() / scale;
        }
    }

    fn buffer_len(&self) -> usize {
        3 * self.width()
    }

    fn run(&self, tile: &Tile, scratch: &mut Scratch, mut out: Option<&mut [u32]>) {
        let (l1, width) = (self.l1, self.width());
        let Scratch { buffer, grad, loss } = scratch;
        // clipped accumulators, their squares, and gradients
        let [x, a, dx] = split(buffer, [width; 3]);
        for i in 0..TILE {
            tile.prefetch(i);
            for p in 0..2 {
                let out = &mut x[p * l1..][..l1];
                tile.kernels.run(Activate { acc: tile.accumulator(i, p), out });
            }
            a.iter_mut().zip(&*x).for_each(|(a, x)| *a = x * x);
            let bucket = self.shape.bucket(tile.batch.in_hand(tile.sample(i)));
            let (weights, bias) = (bucket * width, self.bias() + bucket);
            let w = &tile.dense[weights..][..width];
            let slope = tile.count(i, dot(a, w) + tile.dense[bias], loss);
            let Some(out) = &mut out else { continue };
            grad[bias] += slope;
            grad[weights..][..width].iter_mut().zip(&*a).for_each(|(g, a)| *g += slope * a);
            dx.iter_mut().zip(w).zip(&*x).for_each(|((d, w), x)| *d = slope * w * 2.0 * x);
            for p in 0..2 {
                tile.pack_gradient(i, p, &dx[p * l1..][..l1], out);
            }
        }
    }

    fn output(&self, d: &[f32], accumulators: [&[f32]; 2], sample: &Sample) -> f32 {
        let bucket = self.shape.bucket(sample.in_hand());
        let weights = &d[bucket * self.width()..][..self.width()];
        let clipped = accumulators.into_iter().flatten().map(|a| a.clamp(0.0, 1.0));
        let products = clipped.zip(weights).map(|(x, w)| x * x * w);
        d[self.bias() + bucket] + products.sum::<f32>()
    }

    fn write(&self, d: &[f32], net: &mut dyn Parameters) {
        let (weight, sum) = self.scales();
        let mut layers = net.layers_mut();
        for (bucket, set) in d[..self.bias()].chunks_exact(self.width()).enumerate() {
            for (i, w) in set.iter().enumerate() {
                let w = (w * weight).round_ties_even().clamp(-LARGEST, LARGEST);
                layers[0].set_weight(bucket, i, w as i16);
            }
            layers[0].bias_mut()[bucket] = (d[self.bias() + bucket] * sum).round_ties_even() as i32;
        }
    }

    fn read(&self, net: &dyn Parameters, scale: f32, rng: &mut Rng, d: &mut [f32]) -> bool {
        let (weight, sum) = self.scales();
        let layer = net.layers()[0];
        let (sets, biases) = d.split_at_mut(self.bias());
        for (bucket, set) in sets.chunks_exact_mut(self.width()).enumerate() {
            for (i, w) in set.iter_mut().enumerate() {
                *w = (f32::from(layer.weight(bucket, i)) + rng.rounded_off()) / weight;
            }
            biases[bucket] = layer.bias()[bucket] as f32 / sum;
        }
        d.iter_mut().for_each(|w| *w *= scale);
        true
    }
}

//! [`SfnnHead`]: stacks of two hidden layers over the products of each accumulator's halves.
//!
//! The samples of a batch are ordered by stack, so a tile is a few runs of samples of one stack.

use super::dense::{HIDDEN_SCALE, HIDDEN_SUM, Layer, clamp, mask};
use super::tile::{OUTPUT_SUM, Scratch, Tile, TrainedHead, dot, split};
use crate::nnue::layers::{clipped, squared};
use crate::nnue::{Buckets, Parameters};
use crate::support::random::Rng;
use crate::train::batch::TILE;
use crate::train::features::Sample;
use crate::train::kernels::{Grid, Multiply};

/// Rows of activations: products of matrices need multiples of eight, also for the last run of a tile.
const ROWS: usize = TILE + 8;

/// The largest square of an activation, because the finished network shifts it right by seven bits.
const SQUARE: f32 = 127.0 / 128.0;

/// The output for a sum of 1 of the shortcut, and for the half that is added to its integer.
const SHORTCUT: f32 = HIDDEN_SUM / OUTPUT_SUM;
const HALF: f32 = HIDDEN_SCALE / 2.0;

pub(super) struct SfnnHead {
    /// Outputs of the first layer.
    l1: usize,
    /// Outputs of the first hidden layer that are clipped; if that is odd, one more is the shortcut.
    l2: usize,
    buckets: Buckets,
    /// The first stack.
    layers: [Layer; 3],
}

impl SfnnHead {
    pub fn new(l1: usize, [l2, l3]: [usize; 2], buckets: Buckets) -> SfnnHead {
        // products of halves are around a quarter, and so are squares
        let first = Layer::hidden(l1, l2 + l2 % 2, 0).with_mean(0.25);
        let inputs = (2 * l2).next_multiple_of(8);
        let second = Layer::hidden(inputs, l3, first.end()).with_mean(0.375);
        SfnnHead { l1, l2, buckets, layers: [first, second, Layer::output(l3, second.end())] }
    }

    /// Numbers of a stack.
    fn stride(&self) -> usize {
        self.layers[2].end()
    }

    /// The layers of a stack.
    fn stack(&self, number: usize) -> [Layer; 3] {
        self.layers.map(|layer| layer.after(number * self.stride()))
    }

    /// All layers.
    fn all(&self) -> impl Iterator<Item = Layer> {
        (0..self.buckets.count()).flat_map(|number| self.stack(number))
    }

    /// Row length of the products. A power of two would map all rows to the same few cache sets.
    fn pitch(&self) -> usize {
        self.l1 + 16
    }

    /// Length of a stack's transposed weights.
    fn transposed(&self) -> usize {
        let [first, second, _] = &self.layers;
        first.outputs * self.pitch() + second.outputs * second.inputs
    }

    fn has_shortcut(&self) -> bool {
        self.l2 % 2 == 1
    }

    /// What the shortcut adds to the output, from the sums of the first hidden layer.
    fn shortcut(&self, z: &[f32]) -> f32 {
        if self.has_shortcut() { z[self.l2] * SHORTCUT + HALF / OUTPUT_SUM } else { 0.0 }
    }

    /// The activations of the first hidden layer: squares of the sums, then the sums themselves, clipped.
    fn activate(&self, grid: Grid, z: &[f32], a: &mut [f32]) {
        for (i, z) in z[..self.l2].iter().enumerate() {
            (a[i], a[self.l2 + i]) = match grid {
                Grid::Fine => ((z * z * SQUARE).min(1.0), z.clamp(0.0, 1.0)),
                Grid::Quantized => {
                    let z = (z * HIDDEN_SUM + HALF).round_ties_even() as i32;
                    (f32::from(squared(z)) / 127.0, f32::from(clipped(z)) / 127.0)
                }
            };
        }
    }

    /// The gradients of the sums from those of the activations.
    fn activate_back(&self, z: &[f32], da: &[f32], dz: &mut [f32]) {
        for (i, z) in z[..self.l2].iter().enumerate() {
            let square = if z * z * SQUARE < 1.0 { 2.0 * z * SQUARE * da[i] } else { 0.0 };
            dz[i] = square + if *z > 0.0 && *z < 1.0 { da[self.l2 + i] } else { 0.0 };
        }
    }
}

impl TrainedHead for SfnnHead {
    fn init(&self, rng: &mut Rng, d: &mut [f32]) {
        self.layers.iter().for_each(|layer| layer.init(rng, d));
        let [first, ..] = &self.layers;
        if self.has_shortcut() {
            // its mean is 0
            d[first.bias + self.l2] -= first.middle;
        }
        // the same for all stacks
        for stack in 1..self.buckets.count() {
            d.copy_within(..self.stride(), stack * self.stride());
        }
    }

    fn clip(&self, d: &mut [f32]) {
        self.all().for_each(|layer| layer.clip(d));
    }

    fn round(&self, d: &[f32], out: &mut [f32]) {
        self.all().for_each(|layer| layer.round(d, out));
    }

    fn prepared_len(&self) -> usize {
        self.buckets.count() * self.transposed()
    }

    /// The transposed weights of both hidden layers of each stack.
    fn prepare(&self, d: &[f32], _grid: Grid, out: &mut [f32]) {
        for (number, out) in out.chunks_exact_mut(self.transposed()).enumerate() {
            let [first, second, _] = self.stack(number);
            let (w1t, w2t) = out.split_at_mut(first.outputs * self.pitch());
            first.transpose(d, w1t, self.pitch());
            second.transpose(d, w2t, second.inputs);
        }
    }

    fn buffer_len(&self) -> usize {
        let [first, second, _] = self.layers;
        ROWS * (2 * self.pitch() + 2 * first.outputs + 2 * second.inputs + 3 * second.outputs)
    }

    fn run(&self, tile: &Tile, scratch: &mut Scratch, mut out: Option<&mut [u32]>) {
        let (k, pitch, half) = (tile.kernels, self.pitch(), self.l1 / 2);
        let Scratch { buffer, grad: g, loss } = scratch;
        let [n1, m2, n2] = [self.layers[0].outputs, self.layers[1].inputs, self.layers[1].outputs];
        // products and their gradient; sums, activations and gradients of the hidden layers
        let [x, dx, z1, d1, a1, da1, z2, a2, d2] =
            split(buffer, [pitch, pitch, n1, n1, m2, m2, n2, n2, n2].map(|n| ROWS * n));
        for i in 0..TILE {
            tile.prefetch(i);
            for p in 0..2 {
                let out = &mut x[i * pitch + p * half..][..half];
                k.run(Multiply { acc: tile.accumulator(i, p), grid: tile.grid, out });
            }
        }
        let stacks = &tile.batch.stack[tile.sample(0)..tile.sample(TILE)];
        let mut begin = 0;
        for run in stacks.chunk_by(|a, b| a == b) {
            let [first, second, output] = self.stack(run[0] as usize);
            let end = begin + run.len();
            // The rows after the run's up to a multiple of eight are computed in vain; the next run overwrites them.
            let rows = begin..begin + run.len().next_multiple_of(8);
            let of = |n: usize| rows.start * n..rows.end * n;
            let exactly = |n: usize| begin * n..end * n;
            first.sums(tile, &x[of(pitch)], pitch, &mut z1[of(n1)]);
            for i in begin..end {
                self.activate(tile.grid, &z1[i * n1..][..n1], &mut a1[i * m2..][..m2]);
            }
            second.sums(tile, &a1[of(m2)], m2, &mut z2[of(n2)]);
            clamp(&z2[exactly(n2)], tile.grid, &mut a2[exactly(n2)]);
            let w = &tile.dense[output.weights..output.bias];
            for i in begin..end {
                let a = &a2[i * n2..][..n2];
                let slope =
                    tile.count(i, dot(a, w) + tile.dense[output.bias] + self.shortcut(&z1[i * n1..]), loss);
                g[output.bias] += slope;
                g[output.weights..output.bias].iter_mut().zip(a).for_each(|(g, a)| *g += slope * a);
                d2[i * n2..][..n2].iter_mut().zip(w).for_each(|(d, w)| *d = slope * w);
                if self.has_shortcut() {
                    d1[i * n1 + self.l2] = slope * SHORTCUT;
                }
            }
            if out.is_some() {
                let prepared = &tile.prepared[run[0] as usize * self.transposed()..];
                let (w1t, w2t) = prepared.split_at(n1 * pitch);
                mask(&z2[exactly(n2)], &mut d2[exactly(n2)]);
                second.learn(k, &a1[exactly(m2)], m2, &d2[exactly(n2)], g);
                second.back(k, &d2[of(n2)], w2t, &mut da1[of(m2)], m2);
                for i in begin..end {
                    self.activate_back(&z1[i * n1..][..n1], &da1[i * m2..][..m2], &mut d1[i * n1..][..n1]);
                }
                first.learn(k, &x[exactly(pitch)], pitch, &d1[exactly(n1)], g);
                first.back(k, &d1[of(n1)], w1t, &mut dx[of(pitch)], pitch);
            }
            begin = end;
        }
        let Some(out) = &mut out else { return };
        for i in 0..TILE {
            for p in 0..2 {
                tile.pack_products(i, p, &dx[i * pitch + p * half..][..half], out);
            }
        }
    }

    fn output(&self, d: &[f32], accumulators: [&[f32]; 2], sample: &Sample) -> f32 {
        let [first, second, output] = self.stack(sample.stack(&self.buckets, false));
        let products = accumulators.into_iter().flat_map(|acc| {
            let (a, b) = acc.split_at(self.l1 / 2);
            a.iter().zip(b).map(|(a, b)| a.clamp(0.0, 1.0) * b.clamp(0.0, 1.0) * SQUARE)
        });
        let z = first.exact(d, &products.collect::<Vec<f32>>());
        let mut a = vec![0.0; second.inputs];
        self.activate(Grid::Fine, &z, &mut a);
        output.exact(d, &second.exact(d, &a))[0] + self.shortcut(&z)
    }

    fn write(&self, d: &[f32], net: &mut dyn Parameters) {
        self.all().zip(net.layers_mut()).for_each(|(layer, out)| layer.write(d, out));
    }

    fn read(&self, net: &dyn Parameters, scale: f32, rng: &mut Rng, d: &mut [f32]) -> bool {
        self.all().zip(net.layers()).for_each(|(layer, from)| layer.read(from, rng, d));
        for number in 0..self.buckets.count() {
            let [first, _, output] = self.stack(number);
            output.scale(scale, d);
            if self.has_shortcut() {
                let column = d[first.weights..first.end()].iter_mut().skip(self.l2).step_by(first.outputs);
                column.for_each(|w| *w *= scale);
            }
        }
        true
    }
}

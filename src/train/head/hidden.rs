//! [`HiddenHead`]: two hidden layers of clipped ReLU and an output.

use super::dense::{Layer, clamp, mask};
use super::tile::{Scratch, Tile, TrainedHead, split};
use crate::nnue::Parameters;
use crate::support::random::Rng;
use crate::train::batch::TILE;
use crate::train::features::Sample;
use crate::train::kernels::{Activate, Grid};

pub(super) struct HiddenHead {
    /// Outputs of the first layer.
    l1: usize,
    layers: [Layer; 3],
}

impl HiddenHead {
    pub fn new(l1: usize, l2: usize, l3: usize) -> HiddenHead {
        let first = Layer::hidden(2 * l1, l2, 0);
        let second = Layer::hidden(l2, l3, first.end());
        HiddenHead { l1, layers: [first, second, Layer::output(l3, second.end())] }
    }

    /// Row length of matrices with a column for each element of both accumulators. A power of two would map
    /// all rows to the same few cache sets.
    fn pitch(&self) -> usize {
        2 * self.l1 + 16
    }
}

impl TrainedHead for HiddenHead {
    fn init(&self, rng: &mut Rng, d: &mut [f32]) {
        self.layers.iter().for_each(|layer| layer.init(rng, d));
    }

    fn clip(&self, d: &mut [f32]) {
        self.layers.iter().for_each(|layer| layer.clip(d));
    }

    fn round(&self, d: &[f32], out: &mut [f32]) {
        self.layers.iter().for_each(|layer| layer.round(d, out));
    }

    fn prepared_len(&self) -> usize {
        let [first, second, _] = self.layers;
        first.outputs * self.pitch() + second.outputs * second.inputs
    }

    /// The transposed weights of both hidden layers.
    fn prepare(&self, d: &[f32], _grid: Grid, out: &mut [f32]) {
        let [first, second, _] = self.layers;
        let (w1t, w2t) = out.split_at_mut(first.outputs * self.pitch());
        first.transpose(d, w1t, self.pitch());
        second.transpose(d, w2t, second.inputs);
    }

    fn buffer_len(&self) -> usize {
        let [first, second, _] = self.layers;
        TILE * (2 * self.pitch() + 3 * first.outputs + 3 * second.outputs)
    }

    fn run(&self, tile: &Tile, scratch: &mut Scratch, out: Option<&mut [u32]>) {
        let (k, l1, pitch) = (tile.kernels, self.l1, self.pitch());
        let [first, second, output] = &self.layers;
        let Scratch { buffer, grad: g, loss } = scratch;
        // activations of the first layer and their gradient; sums, activations and gradients of the hidden
        // layers
        let (t1, t2) = (TILE * first.outputs, TILE * second.outputs);
        let [x, dx, z1, a1, d1, z2, a2, d2] =
            split(buffer, [TILE * pitch, TILE * pitch, t1, t1, t1, t2, t2, t2]);
        for i in 0..TILE {
            tile.prefetch(i);
            for p in 0..2 {
                let out = &mut x[i * pitch + p * l1..][..l1];
                k.run(Activate { acc: tile.accumulator(i, p), out });
            }
        }
        first.sums(tile, x, pitch, z1);
        clamp(z1, tile.grid, a1);
        second.sums(tile, a1, second.inputs, z2);
        clamp(z2, tile.grid, a2);
        let slopes = output.count(tile, a2, loss);
        let Some(out) = out else { return };

        let (w1t, w2t) = tile.prepared.split_at(first.outputs * pitch);
        output.output_back(tile, slopes, a2, g, d2);
        mask(z2, d2);
        second.learn(k, a1, second.inputs, d2, g);
        second.back(k, d2, w2t, d1, second.inputs);
        mask(z1, d1);
        first.learn(k, x, pitch, d1, g);
        first.back(k, d1, w1t, dx, pitch);
        for i in 0..TILE {
            for p in 0..2 {
                tile.pack_gradient(i, p, &dx[i * pitch + p * l1..][..l1], out);
            }
        }
    }

    fn output(&self, d: &[f32], accumulators: [&[f32]; 2], _sample: &Sample) -> f32 {
        self.layers.iter().fold(accumulators.concat(), |x, layer| layer.exact(d, &x))[0]
    }

    fn write(&self, d: &[f32], net: &mut dyn Parameters) {
        self.layers.iter().zip(net.layers_mut()).for_each(|(layer, out)| layer.write(d, out));
    }

    fn read(&self, net: &dyn Parameters, scale: f32, rng: &mut Rng, d: &mut [f32]) -> bool {
        self.layers.iter().zip(net.layers()).for_each(|(layer, from)| layer.read(from, rng, d));
        let [.., output] = &self.layers;
        output.scale(scale, d);
        true
    }
}

//! [`Layer`]: a dense layer with 8-bit weights, in the trainer.

use super::tile::{OUTPUT_SUM, Tile, dot, normal};
use crate::nnue;
use crate::nnue::layers::WEIGHT_SHIFT;
use crate::support::random::Rng;
use crate::train::batch::TILE;
use crate::train::kernels::{Grid, Kernels, Matmul, Strided};
use crate::train::loss::Loss;

/// The integers for 1 in a hidden weight, and in a hidden sum (weight × activation).
pub(super) const HIDDEN_SCALE: f32 = (1 << WEIGHT_SHIFT) as f32;
pub(super) const HIDDEN_SUM: f32 = HIDDEN_SCALE * 127.0;
/// The integer for 1 in an output weight.
const OUTPUT_SCALE: f32 = OUTPUT_SUM / 127.0;

/// Offsets of a dense layer's parameters in the head's array, and its scales. Weights are ordered by input:
/// `w[i * outputs + o]`.
#[derive(Clone, Copy)]
pub(super) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    /// Offset of the weights.
    pub weights: usize,
    /// Offset of the bias.
    pub bias: usize,
    /// The integers for 1 in a weight and in a sum.
    units: (f32, f32),
    /// Added to the integer bias, for rounding.
    half: f32,
    /// Mean of the initial inputs.
    mean: f32,
    /// Mean of the initial outputs.
    pub middle: f32,
}

impl Layer {
    /// A hidden layer, whose outputs are clipped.
    pub fn hidden(inputs: usize, outputs: usize, weights: usize) -> Layer {
        // the shift of sums by six bits rounds down; half a unit in the bias makes it round to nearest
        let half = HIDDEN_SCALE / 2.0;
        let bias = weights + inputs * outputs;
        Layer {
            inputs,
            outputs,
            weights,
            bias,
            units: (HIDDEN_SCALE, HIDDEN_SUM),
            half,
            mean: 0.5,
            middle: 0.5,
        }
    }

    /// The last layer.
    pub fn output(inputs: usize, weights: usize) -> Layer {
        let (bias, units) = (weights + inputs, (OUTPUT_SCALE, OUTPUT_SUM));
        Layer { inputs, outputs: 1, weights, bias, units, half: 0.0, mean: 0.5, middle: 0.0 }
    }

    /// Offset after the layer.
    pub fn end(&self) -> usize {
        self.bias + self.outputs
    }

    /// See [`TrainedHead::init`](super::TrainedHead::init).
    pub fn init(&self, rng: &mut Rng, d: &mut [f32]) {
        let spread = 1.0 / (self.inputs as f32).sqrt();
        for o in 0..self.outputs {
            let mut sum = 0.0;
            for i in 0..self.inputs {
                let w = normal(rng) * spread;
                d[self.weights + i * self.outputs + o] = w;
                sum += w;
            }
            d[self.bias + o] = self.middle - self.mean * sum;
        }
    }

    /// Clamps the weights to 8 bits.
    pub fn clip(&self, d: &mut [f32]) {
        let limit = 127.0 / self.units.0;
        d[self.weights..self.bias].iter_mut().for_each(|w| *w = w.clamp(-limit, limit));
    }

    /// Rounds to the values of the integers.
    pub fn round(&self, d: &[f32], out: &mut [f32]) {
        for (part, scale) in [(self.weights..self.bias, self.units.0), (self.bias..self.end(), self.units.1)]
        {
            for (o, w) in out[part.clone()].iter_mut().zip(&d[part]) {
                *o = (w * scale).round_ties_even() / scale;
            }
        }
    }

    /// The weights ordered by output, in rows `pitch` apart.
    pub fn transpose(&self, d: &[f32], out: &mut [f32], pitch: usize) {
        for i in 0..self.inputs {
            for o in 0..self.outputs {
                out[o * pitch + i] = d[self.weights + i * self.outputs + o];
            }
        }
    }

    /// The sums of several samples, at least a multiple of eight, from activations `x` in rows `pitch` apart.
    pub fn sums(&self, tile: &Tile, x: &[f32], pitch: usize, z: &mut [f32]) {
        let (d, n) = (tile.dense, self.outputs);
        z.chunks_exact_mut(n).for_each(|z| z.copy_from_slice(&d[self.bias..][..n]));
        tile.kernels.run(Matmul {
            size: (z.len() / n, n, self.inputs),
            a: Strided { data: x, row: pitch, col: 1 },
            b: &d[self.weights..],
            ldb: n,
            c: z,
            ldc: n,
            accumulate: true,
        });
    }

    /// Adds the gradients of the layer's parameters, from its inputs `x` and the gradients `dz` of its sums.
    pub fn learn(&self, k: Kernels, x: &[f32], pitch: usize, dz: &[f32], g: &mut [f32]) {
        let n = self.outputs;
        column_sums(dz, &mut g[self.bias..][..n]);
        k.run(Matmul {
            size: (self.inputs, n, dz.len() / n),
            a: Strided { data: x, row: 1, col: pitch },
            b: dz,
            ldb: n,
            c: &mut g[self.weights..],
            ldc: n,
            accumulate: true,
        });
    }

    /// The gradients `dx` of the layer's inputs, from [`transposed`](Self::transpose) weights; both in rows
    /// `pitch` apart.
    pub fn back(&self, k: Kernels, dz: &[f32], transposed: &[f32], dx: &mut [f32], pitch: usize) {
        k.run(Matmul {
            size: (dz.len() / self.outputs, self.inputs, self.outputs),
            a: Strided { data: dz, row: self.outputs, col: 1 },
            b: transposed,
            ldb: pitch,
            c: dx,
            ldc: pitch,
            accumulate: false,
        });
    }

    /// The layer with inputs of another mean at the start.
    pub fn with_mean(self, mean: f32) -> Layer {
        Layer { mean, ..self }
    }

    /// The layer with its parameters further on in the array.
    pub fn after(&self, offset: usize) -> Layer {
        Layer { weights: self.weights + offset, bias: self.bias + offset, ..*self }
    }

    /// For the output layer: adds the losses of a tile and returns their derivatives by the outputs.
    pub fn count(&self, tile: &Tile, a: &[f32], loss: &mut Loss) -> [f32; TILE] {
        let w = &tile.dense[self.weights..][..self.inputs];
        std::array::from_fn(|i| {
            let z = dot(&a[i * self.inputs..][..self.inputs], w) + tile.dense[self.bias];
            tile.count(i, z, loss)
        })
    }

    /// For the output layer: adds its gradients `g` and sets those of its inputs, `da`.
    pub fn output_back(&self, tile: &Tile, slopes: [f32; TILE], a: &[f32], g: &mut [f32], da: &mut [f32]) {
        for (i, slope) in slopes.into_iter().enumerate() {
            g[self.bias] += slope;
            for o in 0..self.inputs {
                g[self.weights + o] += slope * a[i * self.inputs + o];
                da[i * self.inputs + o] = slope * tile.dense[self.weights + o];
            }
        }
    }

    /// The sums for inputs that are not clipped yet; slow.
    pub fn exact(&self, d: &[f32], x: &[f32]) -> Vec<f32> {
        let mut sums = d[self.bias..][..self.outputs].to_vec();
        for (i, x) in x[..self.inputs].iter().enumerate() {
            let w = &d[self.weights + i * self.outputs..][..self.outputs];
            sums.iter_mut().zip(w).for_each(|(s, w)| *s += x.clamp(0.0, 1.0) * w);
        }
        sums
    }

    /// Writes the integers; inputs that only pad the layer are not written.
    pub fn write(&self, d: &[f32], layer: &mut dyn nnue::Dense) {
        for o in 0..self.outputs {
            for i in 0..layer.inputs() {
                let w = d[self.weights + i * self.outputs + o] * self.units.0;
                layer.set_weight(o, i, w.round_ties_even().clamp(-127.0, 127.0) as i16);
            }
            layer.bias_mut()[o] = (d[self.bias + o] * self.units.1 + self.half).round_ties_even() as i32;
        }
    }

    /// Reads the parameters from the integers. Weights get random parts that rounding removes.
    pub fn read(&self, layer: &dyn nnue::Dense, rng: &mut Rng, d: &mut [f32]) {
        for o in 0..self.outputs {
            for i in 0..layer.inputs() {
                d[self.weights + i * self.outputs + o] =
                    (f32::from(layer.weight(o, i)) + rng.rounded_off()) / self.units.0;
            }
            d[self.bias + o] = (layer.bias()[o] as f32 - self.half) / self.units.1;
        }
    }

    /// Multiplies the layer's outputs by `factor`.
    pub fn scale(&self, factor: f32, d: &mut [f32]) {
        d[self.weights..][..self.inputs * self.outputs].iter_mut().for_each(|w| *w *= factor);
        d[self.bias..][..self.outputs].iter_mut().for_each(|b| *b *= factor);
    }
}

/// Clips sums to activations.
pub(super) fn clamp(z: &[f32], grid: Grid, a: &mut [f32]) {
    match grid {
        Grid::Fine => a.iter_mut().zip(z).for_each(|(a, z)| *a = z.clamp(0.0, 1.0)),
        // adding 0.5 and truncating rounds to nearest, and compiles to vector code
        Grid::Quantized => a
            .iter_mut()
            .zip(z)
            .for_each(|(a, z)| *a = (z.clamp(0.0, 1.0) * 127.0 + 0.5) as i32 as f32 * (1.0 / 127.0)),
    }
}

/// Zeroes the gradient of clamped units.
pub(super) fn mask(z: &[f32], grad: &mut [f32]) {
    grad.iter_mut().zip(z).for_each(|(g, &z)| *g = if z > 0.0 && z < 1.0 { *g } else { 0.0 });
}

fn column_sums(x: &[f32], sums: &mut [f32]) {
    for row in x.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
}

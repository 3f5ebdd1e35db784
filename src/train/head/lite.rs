//! [`LiteHead`]: the lite value network, with vectors for pieces, convolutions along files and ranks, and a
//! hidden layer.
//!
//! In play everything before the first clipping is a table: [`ROWS`] rows, which a piece adds to its file and
//! to its rank. In training the table is the product of the vectors of pieces and the convolutions' weights,
//! so that all squares of a kernel's row learn together. The product is computed once a step, and so is its
//! gradient. There is no batch normalization; the convolutions have a bias instead, which is equivalent in a
//! finished network.

use super::dense::{Layer, clamp, mask};
use super::tile::{Scratch, Tile, TrainedHead, normal, split};
use crate::nnue::features::HAND_END;
use crate::nnue::{Inputs, Parameters};
use crate::support::random::Rng;
use crate::train::batch::TILE;
use crate::train::features::Sample;
use crate::train::kernels::Grid;
use crate::train::layout::{LITE, Layout};

/// Elements of a vector.
const VECTOR: usize = 16;
/// Kinds of pieces on the board.
const KINDS: usize = 20;
/// Kinds and numbers of pieces in hand.
const HANDS: usize = HAND_END as usize;
/// Outputs of both convolutions: four of a file, four of a rank.
const CHANNELS: usize = 8;
/// Weights of the convolutions for an element of a vector, by place in the line.
const KERNEL: usize = 9 * CHANNELS;
/// Outputs for all lines, four for each file, then four for each rank.
const UNITS: usize = 9 * CHANNELS;
/// Rows of the table: by kind and place in the line, then by piece in hand.
const ROWS: usize = 9 * KINDS + HANDS;

/// Offsets of the parts: vectors of pieces on the board and in hand, convolutions, their bias, then the
/// hidden layer.
const IN_HAND: usize = KINDS * VECTOR;
const KERNELS: usize = IN_HAND + HANDS * VECTOR;
const BIAS: usize = KERNELS + VECTOR * KERNEL;
const LAYERS: usize = BIAS + CHANNELS;

/// The integer for 1 in a sum of the table's rows.
const SCALE: f32 = 127.0;

const _: () = assert!(LAYERS == LITE);

pub(super) struct LiteHead {
    inputs: Inputs,
    hidden: Layer,
    output: Layer,
}

/// What a piece adds to a view's sums.
enum Effect {
    /// Nothing: the piece is missing in a handicap position.
    None,
    /// A row, to every line.
    Everywhere(usize),
    /// A file and a rank, with the rows whose first (second) half is added to them.
    Lines([usize; 2], [usize; 2]),
}

impl Effect {
    fn of(piece: u16) -> Effect {
        let piece = usize::from(piece);
        match piece.checked_sub(HANDS) {
            None if piece == 0 => Effect::None,
            None => Effect::Everywhere(9 * KINDS + piece),
            Some(place) => {
                let (kind, file, rank) = (place / 81, place % 81 / 9, place % 9);
                Effect::Lines([file, 9 + rank], [9 * kind + rank, 9 * kind + file])
            }
        }
    }
}

impl LiteHead {
    pub fn new(inputs: Inputs, hidden: usize) -> LiteHead {
        let hidden = Layer::hidden(UNITS, hidden, LAYERS);
        LiteHead { inputs, hidden, output: Layer::output(hidden.outputs, hidden.end()) }
    }

    /// Offset of the table's gradient, after those of the parameters.
    fn table(&self) -> usize {
        self.output.end().next_multiple_of(16)
    }

    /// Computes the table.
    fn multiply(&self, d: &[f32], grid: Grid, table: &mut [f32]) {
        table.fill(0.0);
        let (board, hands) = table.split_at_mut(KINDS * KERNEL);
        for (e, kernel) in d[KERNELS..BIAS].chunks_exact(KERNEL).enumerate() {
            for (kind, rows) in board.chunks_exact_mut(KERNEL).enumerate() {
                let x = d[kind * VECTOR + e];
                rows.iter_mut().zip(kernel).for_each(|(t, w)| *t += x * w);
            }
            let all = along_the_line(kernel);
            for (piece, row) in hands.chunks_exact_mut(CHANNELS).enumerate() {
                let x = d[IN_HAND + piece * VECTOR + e];
                row.iter_mut().zip(all).for_each(|(t, w)| *t += x * w);
            }
        }
        if grid == Grid::Quantized {
            table.iter_mut().for_each(|t| *t = (*t * SCALE).round_ties_even() / SCALE);
        }
    }
}

/// A kernel summed over the nine places.
fn along_the_line(kernel: &[f32]) -> [f32; CHANNELS] {
    let mut all = [0.0; CHANNELS];
    kernel.chunks_exact(CHANNELS).for_each(|place| all.iter_mut().zip(place).for_each(|(a, w)| *a += w));
    all
}

/// The sums of all lines for a view's pieces.
fn sums(table: &[f32], bias: &[f32], pieces: &[u16], z: &mut [f32]) {
    z.fill(0.0);
    let mut everywhere = [0.0; CHANNELS];
    everywhere.copy_from_slice(bias);
    for &piece in pieces {
        match Effect::of(piece) {
            Effect::None => {}
            Effect::Everywhere(row) => {
                everywhere.iter_mut().zip(&table[row * CHANNELS..]).for_each(|(z, t)| *z += t);
            }
            Effect::Lines(lines, rows) => {
                for part in 0..2 {
                    let row = &table[rows[part] * CHANNELS + 4 * part..][..4];
                    z[4 * lines[part]..][..4].iter_mut().zip(row).for_each(|(z, t)| *z += t);
                }
            }
        }
    }
    for (line, z) in z.chunks_exact_mut(4).enumerate() {
        z.iter_mut().zip(&everywhere[line / 9 * 4..]).for_each(|(z, x)| *z += x);
    }
}

/// Adds the gradients of the table's rows and of the bias, from the gradients of the sums.
fn spread(dz: &[f32], pieces: &[u16], table: &mut [f32], bias: &mut [f32]) {
    let mut everywhere = [0.0; CHANNELS];
    for (line, dz) in dz.chunks_exact(4).enumerate() {
        everywhere[line / 9 * 4..].iter_mut().zip(dz).for_each(|(x, dz)| *x += dz);
    }
    bias.iter_mut().zip(everywhere).for_each(|(b, x)| *b += x);
    for &piece in pieces {
        match Effect::of(piece) {
            Effect::None => {}
            Effect::Everywhere(row) => {
                table[row * CHANNELS..].iter_mut().zip(everywhere).for_each(|(t, x)| *t += x);
            }
            Effect::Lines(lines, rows) => {
                for part in 0..2 {
                    let row = &mut table[rows[part] * CHANNELS + 4 * part..][..4];
                    row.iter_mut().zip(&dz[4 * lines[part]..]).for_each(|(t, dz)| *t += dz);
                }
            }
        }
    }
}

impl TrainedHead for LiteHead {
    fn init(&self, rng: &mut Rng, d: &mut [f32]) {
        // sums start around the middle of (0, 1), as in all layers
        for (part, spread) in [(0..IN_HAND, 0.25), (IN_HAND..KERNELS, 0.05), (KERNELS..BIAS, 0.14)] {
            d[part].iter_mut().for_each(|w| *w = normal(rng) * spread);
        }
        d[BIAS..LAYERS].fill(0.5);
        self.hidden.init(rng, d);
        self.output.init(rng, d);
    }

    fn clip(&self, d: &mut [f32]) {
        self.hidden.clip(d);
        self.output.clip(d);
    }

    fn round(&self, d: &[f32], out: &mut [f32]) {
        // vectors and convolutions are not rounded; their product is
        out[..BIAS].copy_from_slice(&d[..BIAS]);
        for (out, b) in out[BIAS..LAYERS].iter_mut().zip(&d[BIAS..LAYERS]) {
            *out = (b * SCALE).round_ties_even() / SCALE;
        }
        self.hidden.round(d, out);
        self.output.round(d, out);
    }

    fn prepared_len(&self) -> usize {
        ROWS * CHANNELS + self.hidden.outputs * UNITS
    }

    /// The table, and the transposed weights of the hidden layer.
    fn prepare(&self, d: &[f32], grid: Grid, out: &mut [f32]) {
        let (table, transposed) = out.split_at_mut(ROWS * CHANNELS);
        self.multiply(d, grid, table);
        self.hidden.transpose(d, transposed, UNITS);
    }

    fn buffer_len(&self) -> usize {
        TILE * (3 * UNITS + 3 * self.hidden.outputs)
    }

    fn extra_len(&self) -> usize {
        ROWS * CHANNELS
    }

    fn run(&self, tile: &Tile, scratch: &mut Scratch, out: Option<&mut [u32]>) {
        let (k, LiteHead { hidden, output, .. }) = (tile.kernels, self);
        let Scratch { buffer, grad, loss } = scratch;
        let (t0, t1) = (TILE * UNITS, TILE * hidden.outputs);
        // sums, activations and gradients of the lines and of the hidden layer
        let [z0, a0, d0, z1, a1, d1] = split(buffer, [t0, t0, t0, t1, t1, t1]);
        let (table, transposed) = tile.prepared.split_at(ROWS * CHANNELS);
        for (i, z) in z0.chunks_exact_mut(UNITS).enumerate() {
            sums(table, &tile.dense[BIAS..LAYERS], tile.pieces(i), z);
        }
        clamp(z0, tile.grid, a0);
        hidden.sums(tile, a0, UNITS, z1);
        clamp(z1, tile.grid, a1);
        let slopes = output.count(tile, a1, loss);
        if out.is_none() {
            return;
        }
        output.output_back(tile, slopes, a1, grad, d1);
        mask(z1, d1);
        hidden.learn(k, a0, UNITS, d1, grad);
        hidden.back(k, d1, transposed, d0, UNITS);
        mask(z0, d0);
        let (numbers, table) = grad.split_at_mut(self.table());
        for (i, dz) in d0.chunks_exact(UNITS).enumerate() {
            spread(dz, tile.pieces(i), table, &mut numbers[BIAS..LAYERS]);
        }
    }

    /// The gradients of vectors and convolutions, from the table's.
    fn finish(&self, d: &[f32], grad: &mut [f32]) {
        let (grad, table) = grad.split_at_mut(self.table());
        let (board, hands) = table.split_at(KINDS * KERNEL);
        for (e, kernel) in d[KERNELS..BIAS].chunks_exact(KERNEL).enumerate() {
            let (vectors, kernels) = grad.split_at_mut(KERNELS);
            let g = &mut kernels[e * KERNEL..][..KERNEL];
            for (kind, rows) in board.chunks_exact(KERNEL).enumerate() {
                let at = kind * VECTOR + e;
                vectors[at] += rows.iter().zip(kernel).map(|(t, w)| t * w).sum::<f32>();
                g.iter_mut().zip(rows).for_each(|(g, t)| *g += d[at] * t);
            }
            let all = along_the_line(kernel);
            let mut sum = [0.0; CHANNELS];
            for (piece, row) in hands.chunks_exact(CHANNELS).enumerate() {
                let at = IN_HAND + piece * VECTOR + e;
                vectors[at] += row.iter().zip(all).map(|(t, w)| t * w).sum::<f32>();
                sum.iter_mut().zip(row).for_each(|(s, t)| *s += d[at] * t);
            }
            g.chunks_exact_mut(CHANNELS)
                .for_each(|place| place.iter_mut().zip(sum).for_each(|(g, s)| *g += s));
        }
    }

    fn output(&self, d: &[f32], _accumulators: [&[f32]; 2], sample: &Sample) -> f32 {
        let mut table = vec![0.0; ROWS * CHANNELS];
        self.multiply(d, Grid::Fine, &mut table);
        let mut z = [0.0; UNITS];
        sums(&table, &d[BIAS..LAYERS], &pieces(&self.inputs, sample), &mut z);
        self.output.exact(d, &self.hidden.exact(d, &z))[0]
    }

    fn accumulators(&self, _layout: &Layout, net: &dyn Parameters, sample: &Sample) -> [Vec<i16>; 2] {
        // sums of integers as f32 are exact
        let number = |row: &[i16]| row.iter().map(|&w| f32::from(w)).collect::<Vec<f32>>();
        let table: Vec<f32> = (0..ROWS).flat_map(|row| number(net.row(row))).collect();
        let mut z = [0.0; UNITS];
        sums(&table, &number(net.bias()), &pieces(&self.inputs, sample), &mut z);
        let us: Vec<i16> = z.iter().map(|&z| z as i16).collect();
        [us.clone(), us]
    }

    fn write(&self, d: &[f32], net: &mut dyn Parameters) {
        let mut table = vec![0.0; ROWS * CHANNELS];
        self.multiply(d, Grid::Quantized, &mut table);
        let set = |out: &mut [i16], values: &[f32]| {
            out.iter_mut().zip(values).for_each(|(o, x)| *o = (x * SCALE).round_ties_even() as i16);
        };
        table.chunks_exact(CHANNELS).enumerate().for_each(|(row, values)| set(net.row_mut(row), values));
        set(net.bias_mut(), &d[BIAS..LAYERS]);
        let layers = [&self.hidden, &self.output].into_iter().zip(net.layers_mut());
        layers.for_each(|(layer, out)| layer.write(d, out));
    }

    fn read(&self, _net: &dyn Parameters, _scale: f32, _rng: &mut Rng, _d: &mut [f32]) -> bool {
        false
    }
}

/// The pieces as the side to move sees them, kings as well.
fn pieces(inputs: &Inputs, sample: &Sample) -> [u16; 40] {
    let mut pieces = [0; 40];
    sample.view(inputs, 0, false, &mut pieces);
    pieces
}

//! The small layers on one tile of samples, forward and backward: [`DenseInput::tile`].

use super::batch::{Batch, TILE};
use super::kernels::{GRAD_WORDS, Grid, Kernels, Strided};
use super::loss::{Loss, Objective};
use super::model::{INPUTS, dense};
use crate::memory::prefetch;
use crate::nnue::arch::{L1, L2, L3};

/// Row length of matrices with [`INPUTS`] columns: a power of two would put every row in the same few cache sets.
pub(super) const PITCH: usize = INPUTS + 16;

/// What one thread needs for the dense layers.
pub(super) struct DenseScratch {
    /// Activations of the first layer and their gradient, [`TILE`] rows of [`PITCH`].
    x: Vec<f32>,
    dx: Vec<f32>,
    /// Sums, activations and gradients of the hidden layers, [`TILE`] × [`L2`] and [`TILE`] × [`L3`].
    z1: Vec<f32>,
    a1: Vec<f32>,
    d1: Vec<f32>,
    z2: Vec<f32>,
    a2: Vec<f32>,
    d2: Vec<f32>,
    /// Gradients of the small layers.
    pub grad: Vec<f32>,
    pub loss: Loss,
}

impl DenseScratch {
    pub fn new() -> DenseScratch {
        let tile = |width| vec![0.0; TILE * width];
        DenseScratch {
            x: tile(PITCH),
            dx: tile(PITCH),
            z1: tile(L2),
            a1: tile(L2),
            d1: tile(L2),
            z2: tile(L3),
            a2: tile(L3),
            d2: tile(L3),
            grad: vec![0.0; dense::LEN],
            loss: Loss::default(),
        }
    }
}

/// The parts of a step that the dense phase reads.
pub(super) struct DenseInput<'a> {
    pub kernels: &'a dyn Kernels,
    pub batch: &'a Batch,
    pub acc: &'a [i16],
    pub dense: &'a [f32],
    pub grid: Grid,
    pub w1t: &'a [f32],
    pub w2t: &'a [f32],
    pub objective: Objective,
}

impl DenseInput<'_> {
    /// One tile forward and, if there is room for gradients, backward.
    pub fn tile(&self, s: &mut DenseScratch, tile: usize, out: Option<&mut [u32]>) {
        let (k, d) = (self.kernels, self.dense);
        let acc = |i: usize, p: usize| {
            let place = self.batch.place[2 * (tile * TILE + i) + p] as usize;
            &self.acc[place * L1..][..L1]
        };
        for i in 0..TILE {
            // accumulators lie in the order of kings, so each is a fresh trip to memory: ask early
            for p in 0..2 {
                if let Some(&place) = self.batch.place.get(2 * (tile * TILE + i + 4) + p) {
                    let acc = self.acc.as_ptr().wrapping_add(place as usize * L1);
                    (0..L1).step_by(32).for_each(|x| prefetch(acc.wrapping_add(x)));
                }
            }
            k.activate(acc(i, 0), &mut s.x[i * PITCH..][..L1]);
            k.activate(acc(i, 1), &mut s.x[i * PITCH + L1..][..L1]);
        }
        let across = |data, row| Strided { data, row, col: 1 };
        let down = |data, col| Strided { data, row: 1, col };
        s.z1.chunks_exact_mut(L2).for_each(|z| z.copy_from_slice(&d[dense::B1..][..L2]));
        k.matmul((TILE, L2, INPUTS), across(&s.x, PITCH), &d[dense::W1..], L2, &mut s.z1, L2, true);
        clamp(&s.z1, self.grid, &mut s.a1);
        s.z2.chunks_exact_mut(L3).for_each(|z| z.copy_from_slice(&d[dense::B2..][..L3]));
        k.matmul((TILE, L3, L2), across(&s.a1, L2), &d[dense::W2..], L3, &mut s.z2, L3, true);
        clamp(&s.z2, self.grid, &mut s.a2);

        let mut slopes = [0f32; TILE];
        let scale = self.objective.logit(1.0) / self.batch.len as f32;
        for (i, slope) in slopes.iter_mut().enumerate() {
            let sample = tile * TILE + i;
            let z = dot(&s.a2[i * L3..][..L3], &d[dense::W3..][..L3]) + d[dense::B3];
            let result = self.batch.result[sample];
            let target = self.objective.target(self.batch.score[sample], result);
            *slope = s.loss.count(self.objective.logit(z), target, result) * scale;
        }
        let Some(out) = out else { return };

        let g = &mut s.grad;
        for (i, &slope) in slopes.iter().enumerate() {
            g[dense::B3] += slope;
            for o in 0..L3 {
                g[dense::W3 + o] += slope * s.a2[i * L3 + o];
                s.d2[i * L3 + o] = slope * d[dense::W3 + o];
            }
        }
        mask(&s.z2, &mut s.d2);
        column_sums(&s.d2, &mut g[dense::B2..][..L3]);
        k.matmul((L2, L3, TILE), down(&s.a1, L2), &s.d2, L3, &mut g[dense::W2..], L3, true);
        k.matmul((TILE, L2, L3), across(&s.d2, L3), self.w2t, L2, &mut s.d1, L2, false);
        mask(&s.z1, &mut s.d1);
        column_sums(&s.d1, &mut g[dense::B1..][..L2]);
        k.matmul((INPUTS, L2, TILE), down(&s.x, PITCH), &s.d1, L2, &mut g[dense::W1..], L2, true);
        k.matmul((TILE, INPUTS, L2), across(&s.d1, L2), self.w1t, PITCH, &mut s.dx, PITCH, false);
        for i in 0..TILE {
            for p in 0..2 {
                let grad = &s.dx[i * PITCH + p * L1..][..L1];
                k.pack_gradient(acc(i, p), grad, &mut out[(2 * i + p) * GRAD_WORDS..][..GRAD_WORDS]);
            }
        }
    }
}

fn clamp(z: &[f32], grid: Grid, a: &mut [f32]) {
    match grid {
        Grid::Fine => a.iter_mut().zip(z).for_each(|(a, z)| *a = z.clamp(0.0, 1.0)),
        // adding half and cutting off rounds to nearest, in a way that compiles to plain vector code
        Grid::Quantized => a
            .iter_mut()
            .zip(z)
            .for_each(|(a, z)| *a = (z.clamp(0.0, 1.0) * 127.0 + 0.5) as i32 as f32 * (1.0 / 127.0)),
    }
}

/// Stops the gradient where the unit is clamped.
fn mask(z: &[f32], grad: &mut [f32]) {
    grad.iter_mut().zip(z).for_each(|(g, &z)| *g = if z > 0.0 && z < 1.0 { *g } else { 0.0 });
}

fn column_sums(x: &[f32], sums: &mut [f32]) {
    for row in x.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // eight partial sums, which the compiler turns into vectors
    let mut sum = [0f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            sum[i] += a[i] * b[i];
        }
    }
    sum.iter().sum()
}

//! The small layers on one tile of samples, forward and backward: [`DenseInput::tile`].

use super::batch::{Batch, TILE};
use super::kernels::{Grid, Kernels, Strided};
use super::layout::Layout;
use super::loss::{Loss, Objective};
use crate::memory::prefetch;

/// What one thread needs for the dense layers.
pub(super) struct DenseScratch {
    /// Activations of the first layer and their gradient, [`TILE`] rows of the layout's pitch.
    x: Vec<f32>,
    dx: Vec<f32>,
    /// Sums, activations and gradients of the hidden layers, [`TILE`] rows each.
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
    pub fn new(layout: &Layout) -> DenseScratch {
        let tile = |width| vec![0.0; TILE * width];
        DenseScratch {
            x: tile(layout.pitch()),
            dx: tile(layout.pitch()),
            z1: tile(layout.l2),
            a1: tile(layout.l2),
            d1: tile(layout.l2),
            z2: tile(layout.l3),
            a2: tile(layout.l3),
            d2: tile(layout.l3),
            grad: vec![0.0; layout.dense],
            loss: Loss::default(),
        }
    }
}

/// The parts of a step that the dense phase reads.
pub(super) struct DenseInput<'a> {
    pub layout: Layout,
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
        let Layout { l1, l2, l3, inputs, w1, b1, w2, b2, w3, b3, .. } = self.layout;
        let (pitch, words) = (self.layout.pitch(), self.layout.grad_words());
        let acc = |i: usize, p: usize| {
            let place = self.batch.place[2 * (tile * TILE + i) + p] as usize;
            &self.acc[place * l1..][..l1]
        };
        for i in 0..TILE {
            // accumulators lie in the order of kings, so each is a fresh trip to memory: ask early
            for p in 0..2 {
                if let Some(&place) = self.batch.place.get(2 * (tile * TILE + i + 4) + p) {
                    let acc = self.acc.as_ptr().wrapping_add(place as usize * l1);
                    (0..l1).step_by(32).for_each(|x| prefetch(acc.wrapping_add(x)));
                }
            }
            k.activate(acc(i, 0), &mut s.x[i * pitch..][..l1]);
            k.activate(acc(i, 1), &mut s.x[i * pitch + l1..][..l1]);
        }
        let across = |data, row| Strided { data, row, col: 1 };
        let down = |data, col| Strided { data, row: 1, col };
        s.z1.chunks_exact_mut(l2).for_each(|z| z.copy_from_slice(&d[b1..][..l2]));
        k.matmul((TILE, l2, inputs), across(&s.x, pitch), &d[w1..], l2, &mut s.z1, l2, true);
        clamp(&s.z1, self.grid, &mut s.a1);
        s.z2.chunks_exact_mut(l3).for_each(|z| z.copy_from_slice(&d[b2..][..l3]));
        k.matmul((TILE, l3, l2), across(&s.a1, l2), &d[w2..], l3, &mut s.z2, l3, true);
        clamp(&s.z2, self.grid, &mut s.a2);

        let mut slopes = [0f32; TILE];
        let scale = self.objective.logit(1.0) / self.batch.len as f32;
        for (i, slope) in slopes.iter_mut().enumerate() {
            let sample = tile * TILE + i;
            let z = dot(&s.a2[i * l3..][..l3], &d[w3..][..l3]) + d[b3];
            let result = self.batch.result[sample];
            let target = self.objective.target(self.batch.score[sample], result);
            *slope = s.loss.count(self.objective.logit(z), target, result) * scale;
        }
        let Some(out) = out else { return };

        let g = &mut s.grad;
        for (i, &slope) in slopes.iter().enumerate() {
            g[b3] += slope;
            for o in 0..l3 {
                g[w3 + o] += slope * s.a2[i * l3 + o];
                s.d2[i * l3 + o] = slope * d[w3 + o];
            }
        }
        mask(&s.z2, &mut s.d2);
        column_sums(&s.d2, &mut g[b2..][..l3]);
        k.matmul((l2, l3, TILE), down(&s.a1, l2), &s.d2, l3, &mut g[w2..], l3, true);
        k.matmul((TILE, l2, l3), across(&s.d2, l3), self.w2t, l2, &mut s.d1, l2, false);
        mask(&s.z1, &mut s.d1);
        column_sums(&s.d1, &mut g[b1..][..l2]);
        k.matmul((inputs, l2, TILE), down(&s.x, pitch), &s.d1, l2, &mut g[w1..], l2, true);
        k.matmul((TILE, inputs, l2), across(&s.d1, l2), self.w1t, pitch, &mut s.dx, pitch, false);
        for i in 0..TILE {
            for p in 0..2 {
                let grad = &s.dx[i * pitch + p * l1..][..l1];
                k.pack_gradient(acc(i, p), grad, &mut out[(2 * i + p) * words..][..words]);
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

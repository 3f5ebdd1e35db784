//! The kernels in plain Rust: the reference, and the fallback for processors without AVX2.

use super::arithmetic::{ACC_SCALE, AdamStep, CatchUp, Grid, Kernels, Strided, check_matmul};

/// Plain Rust.
pub struct Portable;

/// Rounds to bfloat16, to nearest even.
fn bf16(x: f32) -> u32 {
    let bits = x.to_bits();
    (bits + 0x7fff + (bits >> 16 & 1)) >> 16
}

impl Kernels for Portable {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn effective_row(
        &self,
        w: &[f32],
        m: &[f32],
        v: &[f32],
        p: &[f32],
        catch_up: Option<(CatchUp, f32)>,
        grid: Grid,
        out: &mut [i16],
    ) {
        for (i, o) in out.iter_mut().enumerate() {
            let mut x = w[i];
            if let Some((late, epsilon)) = catch_up {
                x -= late.shift * m[i] / (v[i].sqrt() + epsilon);
            }
            *o = grid.round(x + p[i]);
        }
    }

    fn gather(&self, table: &[i16], rows: &[u16], bias: &[i16], acc: &mut [i16]) {
        let width = acc.len();
        acc.copy_from_slice(bias);
        for &row in rows {
            for (a, x) in acc.iter_mut().zip(&table[row as usize * width..][..width]) {
                *a = a.wrapping_add(*x);
            }
        }
    }

    fn activate(&self, acc: &[i16], out: &mut [f32]) {
        for (o, &a) in out.iter_mut().zip(acc) {
            *o = a.clamp(0, ACC_SCALE as i16) as f32 * (1.0 / ACC_SCALE);
        }
    }

    fn pack_gradient(&self, acc: &[i16], grad: &[f32], out: &mut [u32]) {
        let kept = |i: usize| if acc[i] > 0 && acc[i] < ACC_SCALE as i16 { bf16(grad[i]) } else { 0 };
        for (i, o) in out.iter_mut().enumerate() {
            let at = i / 16 * 32 + i % 16;
            *o = kept(at) | kept(at + 16) << 16;
        }
    }

    fn sum_gradients(&self, grads: &[u32], list: &[u32], out: &mut [f32]) {
        out.fill(0.0);
        let words = out.len() / 2;
        for &i in list {
            let row = &grads[i as usize * words..][..words];
            for (words, sums) in row.chunks_exact(16).zip(out.chunks_exact_mut(32)) {
                let (low, high) = sums.split_at_mut(16);
                for j in 0..16 {
                    low[j] += f32::from_bits(words[j] << 16);
                    high[j] += f32::from_bits(words[j] & 0xffff_0000);
                }
            }
        }
    }

    fn adam(
        &self,
        w: &mut [f32],
        m: &mut [f32],
        v: &mut [f32],
        g: &[f32],
        step: AdamStep,
        late: Option<CatchUp>,
    ) {
        if let Some(late) = late {
            for ((w, m), v) in w.iter_mut().zip(m.iter_mut()).zip(v.iter_mut()) {
                *w -= late.shift * *m / (v.sqrt() + step.epsilon);
                *m *= late.decay1;
                *v *= late.decay2;
            }
        }
        for (((w, m), v), &g) in w.iter_mut().zip(m.iter_mut()).zip(v.iter_mut()).zip(g) {
            *m = step.beta1 * *m + (1.0 - step.beta1) * g;
            *v = step.beta2 * *v + (1.0 - step.beta2) * g * g;
            *w -= step.rate * *m / (v.sqrt() + step.epsilon);
        }
    }

    fn add(&self, total: &mut [f32], x: &[f32]) {
        for (t, x) in total.iter_mut().zip(x) {
            *t += x;
        }
    }

    fn matmul(
        &self,
        size: (usize, usize, usize),
        a: Strided,
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        ldc: usize,
        accumulate: bool,
    ) {
        check_matmul(size, a, b, ldb, c, ldc);
        let (m, n, k) = size;
        let wide = n / 32 * 32;
        for i in 0..m {
            for col in (0..wide).step_by(32) {
                columns::<32>(i, col, k, a, b, ldb, &mut c[i * ldc..], accumulate);
            }
            for col in (wide..n).step_by(8) {
                columns::<8>(i, col, k, a, b, ldb, &mut c[i * ldc..], accumulate);
            }
        }
    }
}

/// `N` columns of row `i` of a product, from `col` on.
#[allow(clippy::too_many_arguments)] // those of `matmul`
fn columns<const N: usize>(
    i: usize,
    col: usize,
    k: usize,
    a: Strided,
    b: &[f32],
    ldb: usize,
    row: &mut [f32],
    accumulate: bool,
) {
    let out: &mut [f32; N] = (&mut row[col..][..N]).try_into().expect("N columns");
    let mut sum = if accumulate { *out } else { [0.0; N] };
    for j in 0..k {
        let x = a.data[i * a.row + j * a.col];
        let row: &[f32; N] = b[j * ldb + col..][..N].try_into().expect("N columns");
        for (s, y) in sum.iter_mut().zip(row) {
            *s += x * y;
        }
    }
    *out = sum;
}

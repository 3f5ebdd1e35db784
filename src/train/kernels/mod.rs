//! The arithmetic of the trainer, one trait with an implementation per instruction set: [`Kernels`].
//!
//! A kernel is a whole row or a whole layer, so that choosing one at run time costs nothing. [`best`] picks by the
//! processor; [`by_name`] lets tests and users choose.

mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

pub use portable::Portable;

/// Width of the accumulator of one perspective.
pub const L1: usize = 256;
/// Accumulators are 16-bit integers in units of 1 / this: eight times finer than the 1/127 of the quantised network,
/// with room for sums up to 32.
pub const ACC_SCALE: f32 = 8.0 * 127.0;

/// What values the rows of the first layer take in the forward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Multiples of 1 / [`ACC_SCALE`].
    Fine,
    /// Multiples of 1/127, as in the quantised network.
    Quantized,
}

impl Grid {
    /// Steps to one, and the units of [`ACC_SCALE`] in a step.
    const fn steps(self) -> (f32, i32) {
        match self {
            Grid::Fine => (ACC_SCALE, 1),
            Grid::Quantized => (127.0, 8),
        }
    }

    /// `x` in units of [`ACC_SCALE`].
    pub fn round(self, x: f32) -> i16 {
        let (scale, unit) = self.steps();
        ((x * scale).round_ties_even() as i32 * unit) as i16
    }
}
/// One row of the table of gradients: pairs of bfloat16. Word `16 g + j` holds elements `32 g + j` (low half) and
/// `32 g + 16 + j` (high half), so that a shift and a mask restore two runs of neighbours.
pub const GRAD_WORDS: usize = L1 / 2;

/// What one Adam step needs to know besides the gradient.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Learning rate with both bias corrections folded in.
    pub rate: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
}

/// What a row missed while its gradient was zero for `n` steps: Adam goes on moving it by its decaying momentum.
/// For epsilon much smaller than the root of the second moment the sum of those moves is `shift * m / (sqrt(v) + epsilon)`
/// exactly, so a row need not be visited in every step to be where dense Adam would have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CatchUp {
    pub shift: f32,
    /// `beta1 ^ n`
    pub decay1: f32,
    /// `beta2 ^ n`
    pub decay2: f32,
}

/// A matrix in memory whose element (i, k) is at `data[i * row + k * col]`.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    pub data: &'a [f32],
    pub row: usize,
    pub col: usize,
}

pub trait Kernels: Sync + Send {
    fn name(&self) -> &'static str;

    /// `out = grid.round(w - shift * m / (sqrt(v) + epsilon) + p)`: a feature's row as the forward pass sees it.
    /// Without `catch_up` the moments are not read. All slices have [`L1`] elements.
    #[allow(clippy::too_many_arguments)]
    fn effective_row(
        &self,
        w: &[f32],
        m: &[f32],
        v: &[f32],
        p: &[f32],
        catch_up: Option<(CatchUp, f32)>,
        grid: Grid,
        out: &mut [i16],
    );

    /// `acc = bias + sum of table[row]` for the [`L1`]-wide rows of `table`.
    fn gather(&self, table: &[i16], rows: &[u16], bias: &[i16], acc: &mut [i16]);

    /// `out = clamp(acc / ACC_SCALE, 0, 1)`.
    fn activate(&self, acc: &[i16], out: &mut [f32]);

    /// Keeps the gradient where the activation is inside (0, 1) and packs it, see [`GRAD_WORDS`].
    fn pack_gradient(&self, acc: &[i16], grad: &[f32], out: &mut [u32]);

    /// `out = sum over list of grads[i]`, the rows of `grads` being [`GRAD_WORDS`] words.
    fn sum_gradients(&self, grads: &[u32], list: &[u32], out: &mut [f32; L1]);

    /// Catches the parameters up, then makes one Adam step with gradient `g`.
    fn adam(
        &self,
        w: &mut [f32],
        m: &mut [f32],
        v: &mut [f32],
        g: &[f32],
        step: AdamStep,
        late: Option<CatchUp>,
    );

    /// `total += x`.
    fn add(&self, total: &mut [f32], x: &[f32]);

    /// `c (m × n) = a (m × k) · b (k × n)`, or `c += ...`; `m` a multiple of 8, `n` of 32. `b` and `c` have contiguous
    /// rows at distances `ldb` and `ldc`.
    #[allow(clippy::too_many_arguments)]
    fn matmul(
        &self,
        size: (usize, usize, usize),
        a: Strided,
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        ldc: usize,
        accumulate: bool,
    );
}

/// Panics unless the operands of a [`Kernels::matmul`] lie within their slices.
#[inline]
fn check_matmul((m, n, k): (usize, usize, usize), a: Strided, b: &[f32], ldb: usize, c: &[f32], ldc: usize) {
    assert!(m > 0 && n > 0 && k > 0 && m.is_multiple_of(8) && n.is_multiple_of(32));
    assert!((m - 1) * a.row + (k - 1) * a.col < a.data.len());
    assert!((k - 1) * ldb + n <= b.len() && (m - 1) * ldc + n <= c.len() && ldc >= n);
}

/// The fastest kernels of this processor.
pub fn best() -> &'static dyn Kernels {
    by_name("avx512").or_else(|| by_name("avx2")).unwrap_or(&Portable)
}

/// Kernels by name: `avx512`, `avx2`, `portable`. `None` if this processor cannot run them.
pub fn by_name(name: &str) -> Option<&'static dyn Kernels> {
    match name {
        "portable" => Some(&Portable),
        #[cfg(target_arch = "x86_64")]
        "avx2" => avx2::Avx2::detect().map(|k| k as &dyn Kernels),
        #[cfg(target_arch = "x86_64")]
        "avx512" => avx512::Avx512::detect().map(|k| k as &dyn Kernels),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rng(u64);
    impl Rng {
        fn next(&mut self) -> u32 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 32) as u32
        }
        fn f(&mut self) -> f32 {
            self.next() as f32 / u32::MAX as f32 * 2.0 - 1.0
        }
        fn vec(&mut self, n: usize) -> Vec<f32> {
            (0..n).map(|_| self.f()).collect()
        }
    }

    fn others() -> Vec<&'static dyn Kernels> {
        ["avx2", "avx512"].into_iter().filter_map(by_name).collect()
    }

    fn close(a: &[f32], b: &[f32], tolerance: f32) {
        for (i, (x, y)) in a.iter().zip(b).enumerate() {
            assert!((x - y).abs() <= tolerance * (1.0 + x.abs()), "element {i}: {x} and {y}");
        }
    }

    #[test]
    fn every_kernel_agrees_with_the_portable_one() {
        let r = &mut Rng(1);
        let reference = Portable;
        for k in others() {
            // rows
            let (w, p, g) = (r.vec(L1), r.vec(L1), r.vec(L1));
            let m: Vec<f32> = r.vec(L1).iter().map(|x| x * 1e-5).collect();
            let mut v: Vec<f32> = r.vec(L1).iter().map(|x| x * x * 1e-9).collect();
            v[3] = 0.0;
            let late = CatchUp { shift: 0.01, decay1: 0.5, decay2: 0.99 };
            for (catch_up, grid) in [(None, Grid::Fine), (Some((late, 1e-8)), Grid::Quantized)] {
                let (mut a, mut b) = ([0i16; L1], [0i16; L1]);
                reference.effective_row(&w, &m, &v, &p, catch_up, grid, &mut a);
                k.effective_row(&w, &m, &v, &p, catch_up, grid, &mut b);
                assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() <= grid.steps().1 as i16));
            }
            let step = AdamStep { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
            for late in [None, Some(late)] {
                let (mut a, mut b) = ((w.clone(), m.clone(), v.clone()), (w.clone(), m.clone(), v.clone()));
                reference.adam(&mut a.0, &mut a.1, &mut a.2, &g, step, late);
                k.adam(&mut b.0, &mut b.1, &mut b.2, &g, step, late);
                close(&a.0, &b.0, 1e-5);
                close(&a.1, &b.1, 1e-6);
                close(&a.2, &b.2, 1e-6);
            }
            // accumulators
            let table: Vec<i16> = (0..100 * L1).map(|_| (r.next() % 401) as i16 - 200).collect();
            let rows: Vec<u16> = (0..38).map(|_| (r.next() % 100) as u16).collect();
            let bias: Vec<i16> = (0..L1).map(|_| r.next() as i16 / 32).collect();
            let (mut a, mut b) = ([0i16; L1], [0i16; L1]);
            reference.gather(&table, &rows, &bias, &mut a);
            k.gather(&table, &rows, &bias, &mut b);
            assert_eq!(a, b);
            let (mut x, mut y) = ([0f32; L1], [0f32; L1]);
            reference.activate(&a, &mut x);
            k.activate(&a, &mut y);
            assert_eq!(x, y);
            let mut grads = [vec![0u32; 20 * GRAD_WORDS], vec![0u32; 20 * GRAD_WORDS]];
            for i in 0..20 {
                let grad = r.vec(L1);
                let at = i * GRAD_WORDS..(i + 1) * GRAD_WORDS;
                reference.pack_gradient(&a, &grad, &mut grads[0][at.clone()]);
                k.pack_gradient(&a, &grad, &mut grads[1][at]);
            }
            assert_eq!(grads[0], grads[1]);
            let list: Vec<u32> = (0..50).map(|_| r.next() % 20).collect();
            reference.sum_gradients(&grads[0], &list, &mut x);
            k.sum_gradients(&grads[0], &list, &mut y);
            close(&x, &y, 1e-6);
            // matrices, the three shapes of a layer: forward, towards the inputs, towards the weights
            for (size, row, col) in [((32, 32, 500), 512, 1), ((16, 96, 32), 32, 1), ((64, 32, 40), 1, 70)] {
                let (m, n, kk) = size;
                let a = r.vec((m - 1) * row + (kk - 1) * col + 1);
                let b = r.vec(kk * (n + 5));
                for accumulate in [false, true] {
                    let mut c = r.vec(m * (n + 3));
                    let mut d = c.clone();
                    let a = Strided { data: &a, row, col };
                    reference.matmul(size, a, &b, n + 5, &mut c, n + 3, accumulate);
                    k.matmul(size, a, &b, n + 5, &mut d, n + 3, accumulate);
                    close(&c, &d, 1e-4);
                }
            }
        }
    }
}

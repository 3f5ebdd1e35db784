//! The arithmetic of the trainer. Every `Operation` is written twice: in plain Rust as the reference, and
//! once for the registers of all instruction sets (`F32Lanes`). [`Kernels`] chooses at run time.
//!
//! An operation is a whole row or a whole layer, so that the choice costs nothing.
#![allow(unsafe_code)]

mod accumulator;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod grid;
mod lanes;
mod matmul;
mod operation;
mod optimizer;

pub(super) use accumulator::{Activate, Gather, Multiply, MultiplyBack, PackGradient, SumGradients};
pub use grid::{ACC_SCALE, Grid};
pub(super) use matmul::{Matmul, Strided};
use operation::Operation;
pub(super) use operation::WIDTHS;
pub(super) use optimizer::{Adam, Add, EffectiveRow};
pub use optimizer::{AdamStep, CatchUp};

/// The instruction set that the trainer uses. [`by_name`](Self::by_name) is the only constructor and returns only
/// those that this processor has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernels(Instructions);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernels {
    /// Plain Rust.
    pub const SCALAR: Kernels = Kernels(Instructions::Scalar);

    /// All names, from slow to fast.
    pub const NAMES: [&str; 3] = ["scalar", "avx2", "avx512"];

    /// The fastest kernels that this processor runs.
    pub fn best() -> Kernels {
        Self::NAMES.into_iter().rev().find_map(Self::by_name).unwrap_or(Self::SCALAR)
    }

    /// The kernels with one of the [`NAMES`](Self::NAMES); `None` if this processor cannot run them.
    pub fn by_name(name: &str) -> Option<Kernels> {
        let instructions = match name {
            "scalar" => Instructions::Scalar,
            #[cfg(target_arch = "x86_64")]
            "avx2" if avx2::available() => Instructions::Avx2,
            #[cfg(target_arch = "x86_64")]
            "avx512" if avx512::available() => Instructions::Avx512,
            _ => return None,
        };
        Some(Kernels(instructions))
    }

    /// The name for `--kernels`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => "avx512",
        }
    }

    /// Runs an operation.
    #[inline]
    pub(super) fn run(self, operation: impl Operation) {
        operation.check();
        match self.0 {
            Instructions::Scalar => operation.scalar(),
            // SAFETY: `by_name` found the instructions; the operands have been checked.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { avx2::enter(operation) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { avx512::enter(operation) },
        }
    }
}

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Rng;

    fn float(rng: &mut Rng) -> f32 {
        (rng.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn floats(rng: &mut Rng, n: usize) -> Vec<f32> {
        (0..n).map(|_| float(rng)).collect()
    }

    /// The output of the reference, and that of every other instruction set of this processor.
    fn outputs<T>(run: impl Fn(Kernels) -> T) -> (T, Vec<T>) {
        let others = Kernels::NAMES[1..].iter().filter_map(|name| Kernels::by_name(name));
        (run(Kernels::SCALAR), others.map(&run).collect())
    }

    fn close(a: &[f32], b: &[f32], tolerance: f32) {
        for (i, (x, y)) in a.iter().zip(b).enumerate() {
            assert!((x - y).abs() <= tolerance * (1.0 + x.abs()), "element {i}: {x} and {y}");
        }
    }

    /// The widths of all first layers, and one more.
    const L1: [usize; 4] = [256, 512, 768, 1024];

    #[test]
    fn rows_and_adam_steps_equal_the_reference() {
        for l1 in L1 {
            let r = &mut Rng::for_stream(1, l1 as u64);
            let [w, p, g] = [(); 3].map(|()| floats(r, l1));
            let m: Vec<f32> = floats(r, l1).iter().map(|x| x * 1e-5).collect();
            let mut v: Vec<f32> = floats(r, l1).iter().map(|x| x * x * 1e-9).collect();
            v[3] = 0.0;
            let late = CatchUp { shift: 0.01, decay1: 0.5, decay2: 0.99 };
            for (catch_up, grid) in [(None, Grid::Fine), (Some((late, 1e-8)), Grid::Quantized)] {
                let (expected, others) = outputs(|k| {
                    let mut out = vec![0; l1];
                    k.run(EffectiveRow { w: &w, m: &m, v: &v, p: &p, catch_up, grid, out: &mut out });
                    out
                });
                // an error of 2^-24 may round the other way
                let most = grid.steps().1 as i16;
                assert!(
                    others.iter().flatten().zip(expected.iter().cycle()).all(|(x, y)| (x - y).abs() <= most)
                );
            }
            let step = AdamStep { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
            for late in [None, Some(late)] {
                let (expected, others) = outputs(|k| {
                    let [mut w, mut m, mut v] = [w.clone(), m.clone(), v.clone()];
                    k.run(Adam { w: &mut w, m: &mut m, v: &mut v, g: &g, step, late });
                    [w, m, v]
                });
                for [w, m, v] in others {
                    close(&expected[0], &w, 1e-5);
                    close(&expected[1], &m, 1e-6);
                    close(&expected[2], &v, 1e-6);
                }
            }
            let (expected, others) = outputs(|k| {
                let mut total = w.clone();
                k.run(Add { total: &mut total, x: &p });
                total
            });
            others.into_iter().for_each(|total| assert_eq!(total, expected));
        }
    }

    #[test]
    fn accumulators_and_their_gradients_equal_the_reference() {
        for l1 in L1 {
            let r = &mut Rng::for_stream(2, l1 as u64);
            let mut shorts = |n: usize, most: usize| -> Vec<i16> {
                (0..n).map(|_| (r.below(2 * most + 1) as i32 - most as i32) as i16).collect()
            };
            // bias and rows go far enough that some sums wrap
            let (table, bias) = (shorts(100 * l1, 2000), shorts(l1, 32000));
            let edges = [0, 1, 1015, 1016, 1017, -1, i16::MIN, i16::MAX];
            let rows: Vec<u16> = (0..38).map(|_| r.below(100) as u16).collect();
            let (mut acc, others) = outputs(|k| {
                let mut acc = vec![0; l1];
                k.run(Gather { table: &table, rows: &rows, bias: &bias, acc: &mut acc });
                acc
            });
            others.into_iter().for_each(|other| assert_eq!(other, acc));
            acc.iter_mut().step_by(3).for_each(|a| *a = edges[r.below(edges.len())]);

            let (expected, others) = outputs(|k| {
                let mut out = vec![0.0; l1];
                k.run(Activate { acc: &acc, out: &mut out });
                out
            });
            others.into_iter().for_each(|other| assert_eq!(other, expected));

            for grid in [Grid::Fine, Grid::Quantized] {
                let (expected, others) = outputs(|k| {
                    let mut out = vec![0.0; l1 / 2];
                    k.run(Multiply { acc: &acc, grid, out: &mut out });
                    out
                });
                others.into_iter().for_each(|other| assert_eq!(other, expected));
                if grid == Grid::Quantized {
                    let of = |a: i16| i32::from(a.clamp(0, 1016)) / 8;
                    // multiples of eight, as quantized rows are
                    let acc: Vec<i16> = acc.iter().map(|a| a & !7).collect();
                    let mut out = vec![0.0; l1 / 2];
                    Kernels::SCALAR.run(Multiply { acc: &acc, grid, out: &mut out });
                    for (i, out) in out.into_iter().enumerate() {
                        assert_eq!((out * 127.0).round() as i32, (of(acc[i]) * of(acc[i + l1 / 2])) >> 7);
                    }
                }
            }

            let gradients: Vec<Vec<f32>> = (0..20).map(|_| floats(r, l1)).collect();
            let (packed, others) = outputs(|k| {
                let mut out = vec![0; 20 * (l1 / 2)];
                for (grad, out) in gradients.iter().zip(out.chunks_exact_mut(l1 / 2)) {
                    k.run(PackGradient { acc: &acc, grad, out });
                }
                out
            });
            others.into_iter().for_each(|other| assert_eq!(other, packed));

            let (expected, others) = outputs(|k| {
                let mut out = vec![0; l1 / 2];
                k.run(MultiplyBack { acc: &acc, grad: &gradients[0][..l1 / 2], out: &mut out });
                out
            });
            others.into_iter().for_each(|other| assert_eq!(other, expected));

            let list: Vec<u32> = (0..50).map(|_| r.below(20) as u32).collect();
            let (expected, others) = outputs(|k| {
                let mut out = vec![1.0; l1];
                k.run(SumGradients { grads: &packed, list: &list, out: &mut out });
                out
            });
            others.into_iter().for_each(|other| assert_eq!(other, expected));
        }
    }

    #[test]
    fn products_of_matrices_equal_the_reference() {
        let r = &mut Rng::for_stream(3, 0);
        // the three shapes of a layer: forward, towards the inputs, towards the weights; and narrow ones
        let wide = [((32, 32, 500), 512, 1), ((16, 96, 32), 32, 1), ((64, 32, 40), 1, 70)];
        let narrow = [((32, 8, 500), 512, 1), ((16, 16, 32), 32, 1), ((8, 56, 40), 1, 70)];
        for (size, row, col) in wide.into_iter().chain(narrow) {
            let (m, n, k) = size;
            let data = floats(r, (m - 1) * row + (k - 1) * col + 1);
            let b = floats(r, (k - 1) * (n + 5) + n);
            let start = floats(r, (m - 1) * (n + 3) + n);
            for accumulate in [false, true] {
                let (expected, others) = outputs(|kernels| {
                    let mut c = start.clone();
                    let (a, ldb, ldc) = (Strided { data: &data, row, col }, n + 5, n + 3);
                    kernels.run(Matmul { size, a, b: &b, ldb, c: &mut c, ldc, accumulate });
                    c
                });
                others.into_iter().for_each(|c| close(&expected, &c, 1e-4));
            }
        }
    }
}

//! The arithmetic of the trainer, one trait with an implementation per instruction set: [`Kernels`].
//!
//! A kernel is a whole row or a whole layer, so that choosing one at run time costs nothing. [`best`] picks by the
//! processor; [`by_name`] lets tests and users choose.

mod arithmetic;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod checked;

pub use arithmetic::{ACC_SCALE, AdamStep, CatchUp, Grid, Kernels, Strided, WIDTHS};
pub use portable::Portable;

/// The fastest kernels of this processor.
pub fn best() -> &'static dyn Kernels {
    by_name("avx512").or_else(|| by_name("avx2")).unwrap_or(&Portable)
}

/// Kernels by name: `avx512`, `avx2`, `portable`. `None` if this processor cannot run them.
pub fn by_name(name: &str) -> Option<&'static dyn Kernels> {
    match name {
        "portable" => Some(&Portable),
        #[cfg(target_arch = "x86_64")]
        "avx2" => checked::detect::<avx2::Avx2>(),
        #[cfg(target_arch = "x86_64")]
        "avx512" => checked::detect::<avx512::Avx512>(),
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
        for l1 in [256, 512, 1024] {
            agree_on_rows(l1);
        }
        agree_on_matrices();
    }

    fn agree_on_rows(l1: usize) {
        let r = &mut Rng(1);
        let reference = Portable;
        for k in others() {
            // rows
            let (w, p, g) = (r.vec(l1), r.vec(l1), r.vec(l1));
            let m: Vec<f32> = r.vec(l1).iter().map(|x| x * 1e-5).collect();
            let mut v: Vec<f32> = r.vec(l1).iter().map(|x| x * x * 1e-9).collect();
            v[3] = 0.0;
            let late = CatchUp { shift: 0.01, decay1: 0.5, decay2: 0.99 };
            for (catch_up, grid) in [(None, Grid::Fine), (Some((late, 1e-8)), Grid::Quantized)] {
                let (mut a, mut b) = (vec![0i16; l1], vec![0i16; l1]);
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
            let table: Vec<i16> = (0..100 * l1).map(|_| (r.next() % 401) as i16 - 200).collect();
            let rows: Vec<u16> = (0..38).map(|_| (r.next() % 100) as u16).collect();
            let bias: Vec<i16> = (0..l1).map(|_| r.next() as i16 / 32).collect();
            let (mut a, mut b) = (vec![0i16; l1], vec![0i16; l1]);
            reference.gather(&table, &rows, &bias, &mut a);
            k.gather(&table, &rows, &bias, &mut b);
            assert_eq!(a, b);
            let (mut x, mut y) = (vec![0f32; l1], vec![0f32; l1]);
            reference.activate(&a, &mut x);
            k.activate(&a, &mut y);
            assert_eq!(x, y);
            let mut grads = [vec![0u32; 20 * (l1 / 2)], vec![0u32; 20 * (l1 / 2)]];
            for i in 0..20 {
                let grad = r.vec(l1);
                let at = i * (l1 / 2)..(i + 1) * (l1 / 2);
                reference.pack_gradient(&a, &grad, &mut grads[0][at.clone()]);
                k.pack_gradient(&a, &grad, &mut grads[1][at]);
            }
            assert_eq!(grads[0], grads[1]);
            let list: Vec<u32> = (0..50).map(|_| r.next() % 20).collect();
            reference.sum_gradients(&grads[0], &list, &mut x);
            k.sum_gradients(&grads[0], &list, &mut y);
            close(&x, &y, 1e-6);
        }
    }

    fn agree_on_matrices() {
        let r = &mut Rng(2);
        let reference = Portable;
        for k in others() {
            // the three shapes of a layer: forward, towards the inputs, towards the weights; and narrow ones
            let wide = [((32, 32, 500), 512, 1), ((16, 96, 32), 32, 1), ((64, 32, 40), 1, 70)];
            let narrow = [((32, 8, 500), 512, 1), ((16, 16, 32), 32, 1), ((8, 56, 40), 1, 70)];
            for (size, row, col) in wide.into_iter().chain(narrow) {
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

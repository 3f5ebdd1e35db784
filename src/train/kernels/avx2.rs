//! The kernels for AVX2 with FMA.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::arithmetic::{ACC_SCALE, AdamStep, CatchUp, Grid, Strided};
use super::checked::Unchecked;

/// See [`Kernels`](super::Kernels).
pub(super) struct Avx2;

/// `1 / (sqrt(v) + epsilon)`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn inverse_root(v: __m256, epsilon: __m256) -> __m256 {
    let v = _mm256_max_ps(v, _mm256_set1_ps(1e-37)); // keeps 0 / 0 away
    _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_add_ps(_mm256_sqrt_ps(v), epsilon))
}

/// Eight gradients from `at` on, those outside (0, 1) zeroed, as bfloat16 in the low half of each lane.
///
/// # Safety
/// `at + 8` is at most the length of both slices.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn kept(acc: &[i16], grad: &[f32], at: usize) -> __m256i {
    // SAFETY: the caller's promise.
    let (a, g) =
        unsafe { (_mm_loadu_si128(acc.as_ptr().add(at).cast()), _mm256_loadu_ps(grad.as_ptr().add(at))) };
    let a = _mm256_cvtepi16_epi32(a);
    let inside = _mm256_and_si256(
        _mm256_cmpgt_epi32(a, _mm256_setzero_si256()),
        _mm256_cmpgt_epi32(_mm256_set1_epi32(ACC_SCALE as i32), a),
    );
    let bits = _mm256_and_si256(_mm256_castps_si256(g), inside);
    let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
    let rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    _mm256_srli_epi32::<16>(rounded)
}

impl Unchecked for Avx2 {
    const NAME: &'static str = "avx2";
    const LANES: usize = 8;

    fn available() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn effective_row(
        w: &[f32],
        m: &[f32],
        v: &[f32],
        p: &[f32],
        catch_up: Option<(CatchUp, f32)>,
        grid: Grid,
        out: &mut [i16],
    ) {
        let (scale, unit) = grid.steps();
        let (scale, unit) = (_mm256_set1_ps(scale), _mm256_set1_epi32(unit));
        for i in (0..out.len()).step_by(16) {
            // SAFETY: i + 16 is at most the width.
            unsafe {
                let mut half = [_mm256_setzero_si256(); 2];
                for (j, h) in half.iter_mut().enumerate() {
                    let at = i + 8 * j;
                    let mut x = _mm256_loadu_ps(w.as_ptr().add(at));
                    if let Some((late, epsilon)) = catch_up {
                        let m = _mm256_loadu_ps(m.as_ptr().add(at));
                        let v = _mm256_loadu_ps(v.as_ptr().add(at));
                        let r = inverse_root(v, _mm256_set1_ps(epsilon));
                        x = _mm256_fnmadd_ps(_mm256_mul_ps(m, _mm256_set1_ps(late.shift)), r, x);
                    }
                    let x = _mm256_mul_ps(_mm256_add_ps(x, _mm256_loadu_ps(p.as_ptr().add(at))), scale);
                    *h = _mm256_mullo_epi32(_mm256_cvtps_epi32(x), unit);
                }
                // packs works on 128-bit lanes: put the quarters back in order
                let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(half[0], half[1]));
                _mm256_storeu_si256(out.as_mut_ptr().add(i).cast(), packed);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn gather(table: &[i16], rows: &[u16], bias: &[i16], acc: &mut [i16]) {
        let width = acc.len();
        // 128 elements fill eight registers; more would not fit
        for part in (0..width).step_by(128) {
            // SAFETY: part + 8 × 16 is at most the width; the rows are bounds-checked.
            unsafe {
                let mut sum: [__m256i; 8] =
                    std::array::from_fn(|i| _mm256_loadu_si256(bias.as_ptr().add(part + 16 * i).cast()));
                for &row in rows {
                    let row = table[row as usize * width..][..width].as_ptr().add(part);
                    for (i, s) in sum.iter_mut().enumerate() {
                        *s = _mm256_add_epi16(*s, _mm256_loadu_si256(row.add(16 * i).cast()));
                    }
                }
                for (i, s) in sum.into_iter().enumerate() {
                    _mm256_storeu_si256(acc.as_mut_ptr().add(part + 16 * i).cast(), s);
                }
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn activate(acc: &[i16], out: &mut [f32]) {
        let top = _mm256_set1_epi16(ACC_SCALE as i16);
        let scale = _mm256_set1_ps(1.0 / ACC_SCALE);
        for i in (0..out.len()).step_by(16) {
            // SAFETY: i + 16 is at most the width.
            unsafe {
                let a = _mm256_loadu_si256(acc.as_ptr().add(i).cast());
                let a = _mm256_min_epi16(_mm256_max_epi16(a, _mm256_setzero_si256()), top);
                let low = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(a)));
                let high = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_extracti128_si256::<1>(a)));
                _mm256_storeu_ps(out.as_mut_ptr().add(i), _mm256_mul_ps(low, scale));
                _mm256_storeu_ps(out.as_mut_ptr().add(i + 8), _mm256_mul_ps(high, scale));
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn pack_gradient(acc: &[i16], grad: &[f32], out: &mut [u32]) {
        for word in (0..acc.len() / 2).step_by(8) {
            let at = word / 16 * 32 + word % 16;
            // SAFETY: at + 16 + 8 is at most the width and word + 8 at most half of it.
            unsafe {
                let (low, high) = (kept(acc, grad, at), kept(acc, grad, at + 16));
                let packed = _mm256_or_si256(low, _mm256_slli_epi32::<16>(high));
                _mm256_storeu_si256(out.as_mut_ptr().add(word).cast(), packed);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn sum_gradients(grads: &[u32], list: &[u32], out: &mut [f32]) {
        let high_half = _mm256_set1_epi32(0xffff_0000u32 as i32);
        let words = out.len() / 2;
        // 64 elements fill eight registers
        for pass in 0..out.len() / 64 {
            let mut sum = [_mm256_setzero_ps(); 8];
            // SAFETY: the rows are bounds-checked, and 32 pass + 32 is at most their length; the pass writes elements
            // 64 pass .. 64 pass + 64.
            unsafe {
                for &i in list {
                    let row = grads[i as usize * words..][..words].as_ptr().add(32 * pass);
                    for g in 0..4 {
                        let x = _mm256_loadu_si256(row.add(8 * g).cast());
                        let low = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(x));
                        let high = _mm256_castsi256_ps(_mm256_and_si256(x, high_half));
                        sum[2 * g] = _mm256_add_ps(sum[2 * g], low);
                        sum[2 * g + 1] = _mm256_add_ps(sum[2 * g + 1], high);
                    }
                }
                for g in 0..4 {
                    let at = 64 * pass + g / 2 * 32 + g % 2 * 8;
                    _mm256_storeu_ps(out.as_mut_ptr().add(at), sum[2 * g]);
                    _mm256_storeu_ps(out.as_mut_ptr().add(at + 16), sum[2 * g + 1]);
                }
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn adam(
        w: &mut [f32],
        m: &mut [f32],
        v: &mut [f32],
        g: &[f32],
        step: AdamStep,
        late: Option<CatchUp>,
    ) {
        let (b1, b2) = (_mm256_set1_ps(step.beta1), _mm256_set1_ps(step.beta2));
        let (c1, c2) = (_mm256_set1_ps(1.0 - step.beta1), _mm256_set1_ps(1.0 - step.beta2));
        let (rate, epsilon) = (_mm256_set1_ps(step.rate), _mm256_set1_ps(step.epsilon));
        for i in (0..w.len()).step_by(8) {
            // SAFETY: i + 8 <= the length of each slice.
            unsafe {
                let (pw, pm, pv) = (w.as_mut_ptr().add(i), m.as_mut_ptr().add(i), v.as_mut_ptr().add(i));
                let (mut xw, mut xm, mut xv) =
                    (_mm256_loadu_ps(pw), _mm256_loadu_ps(pm), _mm256_loadu_ps(pv));
                if let Some(late) = late {
                    let r = inverse_root(xv, epsilon);
                    xw = _mm256_fnmadd_ps(_mm256_mul_ps(xm, _mm256_set1_ps(late.shift)), r, xw);
                    xm = _mm256_mul_ps(xm, _mm256_set1_ps(late.decay1));
                    xv = _mm256_mul_ps(xv, _mm256_set1_ps(late.decay2));
                }
                let xg = _mm256_loadu_ps(g.as_ptr().add(i));
                xm = _mm256_fmadd_ps(b1, xm, _mm256_mul_ps(c1, xg));
                xv = _mm256_fmadd_ps(b2, xv, _mm256_mul_ps(_mm256_mul_ps(c2, xg), xg));
                xw = _mm256_fnmadd_ps(_mm256_mul_ps(rate, xm), inverse_root(xv, epsilon), xw);
                _mm256_storeu_ps(pw, xw);
                _mm256_storeu_ps(pm, xm);
                _mm256_storeu_ps(pv, xv);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn add(total: &mut [f32], x: &[f32]) {
        for i in (0..total.len()).step_by(8) {
            // SAFETY: i + 8 <= both lengths.
            unsafe {
                let t = total.as_mut_ptr().add(i);
                _mm256_storeu_ps(t, _mm256_add_ps(_mm256_loadu_ps(t), _mm256_loadu_ps(x.as_ptr().add(i))));
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn matmul(
        (m, n, k): (usize, usize, usize),
        a: Strided,
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        ldc: usize,
        accumulate: bool,
    ) {
        // eight sums hide the latency of the additions: 4 rows by 16 columns, or 8 by 8
        let wide = n / 16 * 16;
        let b = |col: usize| b.as_ptr().wrapping_add(col);
        for col in (0..wide).step_by(16) {
            for row in (0..m).step_by(4) {
                let out = c.as_mut_ptr().wrapping_add(row * ldc + col);
                // SAFETY: rows row..row+4 and columns col..col+16 lie within the matrices.
                unsafe { block::<4, 2>(k, a, row, b(col), ldb, out, ldc, accumulate) };
            }
        }
        for col in (wide..n).step_by(8) {
            for row in (0..m).step_by(8) {
                let out = c.as_mut_ptr().wrapping_add(row * ldc + col);
                // SAFETY: rows row..row+8 and columns col..col+8 lie within the matrices.
                unsafe { block::<8, 1>(k, a, row, b(col), ldb, out, ldc, accumulate) };
            }
        }
    }
}

/// A block of `M` rows, from `row` on, by `8 * R` columns stays in registers over the whole of `k`.
///
/// # Safety
/// The block lies within the matrices; `b` and `out` point to its first column.
#[inline]
#[target_feature(enable = "avx2,fma")]
#[allow(clippy::too_many_arguments)] // those of `matmul`
unsafe fn block<const M: usize, const R: usize>(
    k: usize,
    a: Strided,
    row: usize,
    b: *const f32,
    ldb: usize,
    out: *mut f32,
    ldc: usize,
    accumulate: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = [[_mm256_setzero_ps(); R]; M];
        if accumulate {
            for (i, s) in sum.iter_mut().enumerate() {
                for (j, s) in s.iter_mut().enumerate() {
                    *s = _mm256_loadu_ps(out.add(i * ldc + 8 * j));
                }
            }
        }
        let mut pa = a.data.as_ptr().add(row * a.row);
        let mut pb = b;
        for _ in 0..k {
            let mut columns = [_mm256_setzero_ps(); R];
            for (j, column) in columns.iter_mut().enumerate() {
                *column = _mm256_loadu_ps(pb.add(8 * j));
            }
            for (i, s) in sum.iter_mut().enumerate() {
                let x = _mm256_set1_ps(*pa.add(i * a.row));
                for (s, y) in s.iter_mut().zip(columns) {
                    *s = _mm256_fmadd_ps(x, y, *s);
                }
            }
            pa = pa.wrapping_add(a.col);
            pb = pb.wrapping_add(ldb);
        }
        for (i, s) in sum.iter().enumerate() {
            for (j, s) in s.iter().enumerate() {
                _mm256_storeu_ps(out.add(i * ldc + 8 * j), *s);
            }
        }
    }
}

//! The kernels for AVX-512 (F and BW).
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::arithmetic::{ACC_SCALE, AdamStep, CatchUp, Grid, Strided};
use super::checked::Unchecked;
use crate::support::memory::prefetch;

/// See [`Kernels`](super::Kernels).
pub(super) struct Avx512;

/// How many rows ahead of the sum to ask for the next one: far enough for the third-level cache.
const AHEAD: usize = 3;

/// `1 / (sqrt(v) + epsilon)`; a Newton step after each 14-bit estimate leaves an error of about 2^-24.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn inverse_root(v: __m512, epsilon: __m512) -> __m512 {
    let v = _mm512_max_ps(v, _mm512_set1_ps(1e-37)); // keeps 0 * infinity away
    let half = _mm512_set1_ps(0.5);
    let r = _mm512_rsqrt14_ps(v);
    let vr = _mm512_mul_ps(v, r);
    let e = _mm512_fnmadd_ps(_mm512_mul_ps(vr, half), r, half);
    let root = _mm512_fmadd_ps(vr, e, vr);
    let d = _mm512_add_ps(root, epsilon);
    let q = _mm512_rcp14_ps(d);
    _mm512_fmadd_ps(q, _mm512_fnmadd_ps(d, q, _mm512_set1_ps(1.0)), q)
}

/// Rounds to bfloat16 in the low half of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bf16(x: __m512) -> __m512i {
    let bits = _mm512_castps_si512(x);
    let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
    let rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    _mm512_srli_epi32::<16>(rounded)
}

impl Unchecked for Avx512 {
    const NAME: &'static str = "avx512";
    const LANES: usize = 16;

    fn available() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
    }

    #[target_feature(enable = "avx512f,avx512bw")]
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
        let (scale, unit) = (_mm512_set1_ps(scale), _mm512_set1_epi32(unit));
        for i in (0..out.len()).step_by(16) {
            // SAFETY: i + 16 is at most the width.
            unsafe {
                let mut x = _mm512_loadu_ps(w.as_ptr().add(i));
                if let Some((late, epsilon)) = catch_up {
                    let m = _mm512_loadu_ps(m.as_ptr().add(i));
                    let v = _mm512_loadu_ps(v.as_ptr().add(i));
                    let r = inverse_root(v, _mm512_set1_ps(epsilon));
                    x = _mm512_fnmadd_ps(_mm512_mul_ps(m, _mm512_set1_ps(late.shift)), r, x);
                }
                let x = _mm512_mul_ps(_mm512_add_ps(x, _mm512_loadu_ps(p.as_ptr().add(i))), scale);
                let narrow = _mm512_cvtsepi32_epi16(_mm512_mullo_epi32(_mm512_cvtps_epi32(x), unit));
                _mm256_storeu_si256(out.as_mut_ptr().add(i).cast(), narrow);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn gather(table: &[i16], rows: &[u16], bias: &[i16], acc: &mut [i16]) {
        let width = acc.len();
        // 256 elements fill eight registers
        for part in (0..width).step_by(256) {
            // SAFETY: part + 8 × 32 is at most the width; the rows are bounds-checked.
            unsafe {
                let mut sum: [__m512i; 8] =
                    std::array::from_fn(|i| _mm512_loadu_si512(bias.as_ptr().add(part + 32 * i).cast()));
                for &row in rows {
                    let row = table[row as usize * width..][..width].as_ptr().add(part);
                    for (i, s) in sum.iter_mut().enumerate() {
                        *s = _mm512_add_epi16(*s, _mm512_loadu_si512(row.add(32 * i).cast()));
                    }
                }
                for (i, s) in sum.into_iter().enumerate() {
                    _mm512_storeu_si512(acc.as_mut_ptr().add(part + 32 * i).cast(), s);
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn activate(acc: &[i16], out: &mut [f32]) {
        let top = _mm512_set1_epi16(ACC_SCALE as i16);
        let scale = _mm512_set1_ps(1.0 / ACC_SCALE);
        for i in (0..out.len()).step_by(32) {
            // SAFETY: i + 32 is at most the width.
            unsafe {
                let a = _mm512_loadu_si512(acc.as_ptr().add(i).cast());
                let a = _mm512_min_epi16(_mm512_max_epi16(a, _mm512_setzero_si512()), top);
                let low = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_castsi512_si256(a)));
                let high = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64::<1>(a)));
                _mm512_storeu_ps(out.as_mut_ptr().add(i), _mm512_mul_ps(low, scale));
                _mm512_storeu_ps(out.as_mut_ptr().add(i + 16), _mm512_mul_ps(high, scale));
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn pack_gradient(acc: &[i16], grad: &[f32], out: &mut [u32]) {
        let top = _mm512_set1_epi16(ACC_SCALE as i16);
        for i in (0..acc.len()).step_by(32) {
            // SAFETY: i + 32 is at most the width and i / 2 + 16 at most half of it.
            unsafe {
                let a = _mm512_loadu_si512(acc.as_ptr().add(i).cast());
                let inside: u32 =
                    _mm512_cmpgt_epi16_mask(a, _mm512_setzero_si512()) & _mm512_cmplt_epi16_mask(a, top);
                let low = bf16(_mm512_maskz_loadu_ps(inside as u16, grad.as_ptr().add(i)));
                let high = bf16(_mm512_maskz_loadu_ps((inside >> 16) as u16, grad.as_ptr().add(i + 16)));
                let packed = _mm512_or_si512(low, _mm512_slli_epi32::<16>(high));
                _mm512_storeu_si512(out.as_mut_ptr().add(i / 2).cast(), packed);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn sum_gradients(grads: &[u32], list: &[u32], out: &mut [f32]) {
        let words = out.len() / 2;
        let high_half = _mm512_set1_epi32(0xffff_0000u32 as i32);
        // 256 elements fill 16 registers
        for pass in 0..out.len() / 256 {
            let mut sum = [_mm512_setzero_ps(); 16];
            // SAFETY: the rows are bounds-checked, and 128 pass + 128 is at most their length; the pass writes elements
            // 256 pass .. 256 pass + 256.
            unsafe {
                for (n, &i) in list.iter().enumerate() {
                    if let Some(&ahead) = list.get(n + AHEAD) {
                        let row = grads.as_ptr().wrapping_add(ahead as usize * words + 128 * pass);
                        (0..8).for_each(|g| prefetch(row.wrapping_add(16 * g)));
                    }
                    let row = grads[i as usize * words..][..words].as_ptr().add(128 * pass);
                    for g in 0..8 {
                        let x = _mm512_loadu_si512(row.add(16 * g).cast());
                        let low = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(x));
                        let high = _mm512_castsi512_ps(_mm512_and_si512(x, high_half));
                        sum[2 * g] = _mm512_add_ps(sum[2 * g], low);
                        sum[2 * g + 1] = _mm512_add_ps(sum[2 * g + 1], high);
                    }
                }
                for (g, s) in sum.into_iter().enumerate() {
                    _mm512_storeu_ps(out.as_mut_ptr().add(256 * pass + 16 * g), s);
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn adam(
        w: &mut [f32],
        m: &mut [f32],
        v: &mut [f32],
        g: &[f32],
        step: AdamStep,
        late: Option<CatchUp>,
    ) {
        let (b1, b2) = (_mm512_set1_ps(step.beta1), _mm512_set1_ps(step.beta2));
        let (c1, c2) = (_mm512_set1_ps(1.0 - step.beta1), _mm512_set1_ps(1.0 - step.beta2));
        let (rate, epsilon) = (_mm512_set1_ps(step.rate), _mm512_set1_ps(step.epsilon));
        for i in (0..w.len()).step_by(16) {
            // SAFETY: i + 16 <= the length of each slice.
            unsafe {
                let (pw, pm, pv) = (w.as_mut_ptr().add(i), m.as_mut_ptr().add(i), v.as_mut_ptr().add(i));
                let (mut xw, mut xm, mut xv) =
                    (_mm512_loadu_ps(pw), _mm512_loadu_ps(pm), _mm512_loadu_ps(pv));
                if let Some(late) = late {
                    let r = inverse_root(xv, epsilon);
                    xw = _mm512_fnmadd_ps(_mm512_mul_ps(xm, _mm512_set1_ps(late.shift)), r, xw);
                    xm = _mm512_mul_ps(xm, _mm512_set1_ps(late.decay1));
                    xv = _mm512_mul_ps(xv, _mm512_set1_ps(late.decay2));
                }
                let xg = _mm512_loadu_ps(g.as_ptr().add(i));
                xm = _mm512_fmadd_ps(b1, xm, _mm512_mul_ps(c1, xg));
                xv = _mm512_fmadd_ps(b2, xv, _mm512_mul_ps(_mm512_mul_ps(c2, xg), xg));
                xw = _mm512_fnmadd_ps(_mm512_mul_ps(rate, xm), inverse_root(xv, epsilon), xw);
                _mm512_storeu_ps(pw, xw);
                _mm512_storeu_ps(pm, xm);
                _mm512_storeu_ps(pv, xv);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn add(total: &mut [f32], x: &[f32]) {
        for i in (0..total.len()).step_by(16) {
            // SAFETY: i + 16 <= both lengths.
            unsafe {
                let t = total.as_mut_ptr().add(i);
                _mm512_storeu_ps(t, _mm512_add_ps(_mm512_loadu_ps(t), _mm512_loadu_ps(x.as_ptr().add(i))));
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn matmul(
        (m, n, k): (usize, usize, usize),
        a: Strided,
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        ldc: usize,
        accumulate: bool,
    ) {
        let b = |col: usize| b.as_ptr().wrapping_add(col);
        let mut col = 0;
        while col < n {
            let columns = match n - col {
                32.. => 32,
                16.. => 16,
                _ => 8,
            };
            for row in (0..m).step_by(8) {
                let out = c.as_mut_ptr().wrapping_add(row * ldc + col);
                // SAFETY: rows row..row+8 and columns col..col+columns lie within the matrices.
                unsafe {
                    match columns {
                        32 => block::<2>([u16::MAX; 2], k, a, row, b(col), ldb, out, ldc, accumulate),
                        16 => block::<1>([u16::MAX], k, a, row, b(col), ldb, out, ldc, accumulate),
                        _ => block::<1>([0xff], k, a, row, b(col), ldb, out, ldc, accumulate),
                    }
                }
            }
            col += columns;
        }
    }
}

/// A block of 8 rows, from `row` on, by up to `16 * R` columns stays in registers over the whole of `k`. `masks` has a bit
/// a column.
///
/// # Safety
/// The block lies within the matrices; `b` and `out` point to its first column.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
#[allow(clippy::too_many_arguments)] // those of `matmul`
unsafe fn block<const R: usize>(
    masks: [u16; R],
    k: usize,
    a: Strided,
    row: usize,
    b: *const f32,
    ldb: usize,
    out: *mut f32,
    ldc: usize,
    accumulate: bool,
) {
    // SAFETY: the caller's promise; what the masks leave out is neither read nor written.
    unsafe {
        let mut sum = [[_mm512_setzero_ps(); R]; 8];
        if accumulate {
            for (i, s) in sum.iter_mut().enumerate() {
                for (j, s) in s.iter_mut().enumerate() {
                    *s = _mm512_maskz_loadu_ps(masks[j], out.wrapping_add(i * ldc + 16 * j));
                }
            }
        }
        let mut pa = a.data.as_ptr().add(row * a.row);
        let mut pb = b;
        for _ in 0..k {
            let mut columns = [_mm512_setzero_ps(); R];
            for (j, column) in columns.iter_mut().enumerate() {
                *column = _mm512_maskz_loadu_ps(masks[j], pb.wrapping_add(16 * j));
            }
            for (i, s) in sum.iter_mut().enumerate() {
                let x = _mm512_set1_ps(*pa.add(i * a.row));
                for (s, y) in s.iter_mut().zip(columns) {
                    *s = _mm512_fmadd_ps(x, y, *s);
                }
            }
            pa = pa.wrapping_add(a.col);
            pb = pb.wrapping_add(ldb);
        }
        for (i, s) in sum.iter().enumerate() {
            for (j, s) in s.iter().enumerate() {
                _mm512_mask_storeu_ps(out.wrapping_add(i * ldc + 16 * j), masks[j], *s);
            }
        }
    }
}

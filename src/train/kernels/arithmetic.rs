//! What every set of kernels offers, and the numbers they work on: [`Kernels`].

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
    pub(super) const fn steps(self) -> (f32, i32) {
        match self {
            Grid::Fine => (ACC_SCALE, 1),
            Grid::Quantized => (127.0, 8),
        }
    }

    /// `x` in units of [`ACC_SCALE`]. What is out of range, as when a training diverges, becomes some number or other.
    pub fn round(self, x: f32) -> i16 {
        let (scale, unit) = self.steps();
        ((x * scale).round_ties_even() as i32).wrapping_mul(unit) as i16
    }
}

/// Rows and accumulators have a multiple of so many elements; how many is told by the lengths of slices.
pub const WIDTHS: usize = 256;

/// What one Adam step needs to know besides the gradient.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Learning rate with both bias corrections folded in.
    pub rate: f32,
    /// Decay of the first moment in a step.
    pub beta1: f32,
    /// Decay of the second moment in a step.
    pub beta2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
}

/// What a row missed while its gradient was zero for `n` steps: Adam goes on moving it by its decaying momentum.
/// For epsilon much smaller than the root of the second moment the sum of those moves is `shift * m / (sqrt(v) + epsilon)`
/// exactly, so a row need not be visited in every step to be where dense Adam would have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CatchUp {
    /// Sum of the steps missed, in units of the moment by its root.
    pub shift: f32,
    /// `beta1 ^ n`
    pub decay1: f32,
    /// `beta2 ^ n`
    pub decay2: f32,
}

/// A matrix in memory whose element (i, k) is at `data[i * row + k * col]`.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// All elements.
    pub data: &'a [f32],
    /// Distance of neighbours in a column.
    pub row: usize,
    /// Distance of neighbours in a row.
    pub col: usize,
}

/// The arithmetic of a training step. A width is that of the first layer's outputs, a multiple of [`WIDTHS`].
pub trait Kernels: Sync + Send {
    /// What `--kernels` calls it.
    fn name(&self) -> &'static str;

    /// `out = grid.round(w - shift * m / (sqrt(v) + epsilon) + p)`: a feature's row as the forward pass sees it.
    /// Without `catch_up` the moments are not read. All slices have one width.
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

    /// `acc = bias + sum of table[row]` for rows of `table` as wide as `acc`.
    fn gather(&self, table: &[i16], rows: &[u16], bias: &[i16], acc: &mut [i16]);

    /// `out = clamp(acc / ACC_SCALE, 0, 1)`.
    fn activate(&self, acc: &[i16], out: &mut [f32]);

    /// Keeps the gradient where the activation is inside (0, 1) and packs it as
    /// pairs of bfloat16, half as many words as elements. Word `16 g + j` holds elements `32 g + j` (low half) and
    /// `32 g + 16 + j` (high half), so that a shift and a mask restore two runs of neighbours.
    fn pack_gradient(&self, acc: &[i16], grad: &[f32], out: &mut [u32]);

    /// `out = sum over list of grads[i]`, the rows of `grads` having half as many words as `out` elements.
    fn sum_gradients(&self, grads: &[u32], list: &[u32], out: &mut [f32]);

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

    /// `c (m × n) = a (m × k) · b (k × n)`, or `c += ...`; `m` and `n` multiples of 8. `b` and `c` have contiguous
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
pub(super) fn check_matmul(
    (m, n, k): (usize, usize, usize),
    a: Strided,
    b: &[f32],
    ldb: usize,
    c: &[f32],
    ldc: usize,
) {
    assert!(m > 0 && n > 0 && k > 0 && m.is_multiple_of(8) && n.is_multiple_of(8));
    assert!((m - 1) * a.row + (k - 1) * a.col < a.data.len());
    assert!((k - 1) * ldb + n <= b.len() && (m - 1) * ldc + n <= c.len() && ldc >= n);
}

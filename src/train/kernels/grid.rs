//! The units of accumulators: [`ACC_SCALE`], [`Grid`].

/// Accumulators are 16-bit integers in units of 1 / this: eight times finer than the 1/127 of the quantized
/// network, with room for sums up to 32.
pub const ACC_SCALE: f32 = 8.0 * 127.0;

/// How the forward pass rounds the weights of the first layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Multiples of 1 / [`ACC_SCALE`].
    Fine,
    /// Multiples of 1/127, as in the quantized network.
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

    /// `x` in units of [`ACC_SCALE`]. Values out of range, as in a training that
    /// diverges, wrap or saturate.
    pub fn round(self, x: f32) -> i16 {
        let (scale, unit) = self.steps();
        ((x * scale).round_ties_even() as i32).wrapping_mul(unit) as i16
    }
}

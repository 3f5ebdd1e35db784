//! SplitMix64: small, fast, and the same for ever.

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng(pub u64);

/// One step of SplitMix64's output function, also a good hash of a number.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(mix(seed ^ 0x5851_F42D_4C95_7F2D))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `n` (`n` far below 2^32, so the bias is far below notice).
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 32) * n as u64 >> 32) as usize
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f32 {
        ((self.next() >> 40) as f32 + 0.5) / (1u64 << 24) as f32
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f32 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f32::consts::TAU * self.unit()).cos()
    }

    /// A random order of `0..n`.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

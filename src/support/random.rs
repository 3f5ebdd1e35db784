//! Reproducible random numbers: a seed gives the same games, samples and shuffles on every machine and with
//! every version.

use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// xoshiro256++, seeded through SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Rng {
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One of many independent generators of the same seed.
    pub fn for_stream(seed: u64, stream: u64) -> Rng {
        let [base, stream] = [seed, stream].map(|n| SplitMix64::seed_from_u64(n).next_u64());
        Rng::new(base ^ stream.rotate_left(32))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..n` (0 when `n` is 0). The bias, below n / 2^64, is negligible for small `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.next_u64() as u128 * n as u128) >> 64) as usize
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high.max(low) - low) as usize + 1) as u32
    }

    /// True with that probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        // 53 bits, all that an f64 in [0, 1) can hold
        ((self.next_u64() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// A number just within `-0.5..0.5`, so that an integer plus this number rounds to the integer.
    pub fn rounded_off(&mut self) -> f32 {
        ((self.next_u64() >> 40) as f32 / (1 << 24) as f32 - 0.5) * 0.99
    }

    /// Shuffles evenly.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_never_change() {
        // made by another program after the authors' papers
        let mut rng = Rng::new(1);
        assert_eq!(
            [(); 3].map(|()| rng.next_u64()),
            [14971601782005023387, 13781649495232077965, 1847458086238483744]
        );
        let mut rng = Rng::for_stream(7, 3);
        assert_eq!(
            [(); 3].map(|()| rng.next_u64()),
            [2171279830671902791, 16551190503853531283, 10167606575775385708]
        );
    }

    #[test]
    fn draws_are_in_range_and_uniform() {
        let mut rng = Rng::for_stream(1, 2);
        let mut counts = [0; 5];
        (0..10_000).for_each(|_| counts[rng.between(3, 7) as usize - 3] += 1);
        assert!(counts.iter().all(|n| (1800..2200).contains(n)), "{counts:?}");
        let hits = (0..10_000).filter(|_| rng.chance(0.1)).count();
        assert!((900..1100).contains(&hits));
        assert!(!rng.chance(0.0) && rng.chance(1.0));
        assert_ne!(Rng::for_stream(1, 3).next_u64(), Rng::for_stream(2, 3).next_u64());
    }
}

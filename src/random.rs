//! Random numbers that stay the same for ever: games, samples and shuffles are reproducible from a seed on any host and with any version.

/// xoshiro256++, seeded through SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Rng {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Rng {
        let mut state = seed;
        Rng(std::array::from_fn(|_| split_mix(&mut state)))
    }

    /// One of many independent generators of the same seed.
    pub fn for_stream(seed: u64, stream: u64) -> Rng {
        let mut state = seed;
        let base = split_mix(&mut state);
        let mut state = stream;
        Rng::new(base ^ split_mix(&mut state).rotate_left(32))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A number in `0..n` (0 when `n` is 0). The bias, below n / 2^64, is of no account for the small `n` we draw.
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
    fn the_stream_is_the_published_one() {
        // SplitMix64 from state 1234567, and xoshiro256++ from state 1, 2, 3, 4: the authors' sequences
        let mut state = 1_234_567;
        assert_eq!(
            [(); 3].map(|()| split_mix(&mut state)),
            [6457827717110365317, 3203168211198807973, 9817491932198370423]
        );
        let mut rng = Rng([1, 2, 3, 4]);
        assert_eq!(
            [(); 4].map(|()| rng.next_u64()),
            [41943041, 58720359, 3588806011781223, 3591011842654386]
        );
    }

    #[test]
    fn draws_are_in_range_and_even() {
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

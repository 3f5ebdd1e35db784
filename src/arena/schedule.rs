//! Pairings and openings of a match: [`MatchSchedule`].

use crate::record::openings::Opening;
use crate::support::random::Rng;
use std::collections::HashSet;

/// Maximum number of games of a pairing.
pub const MOST_GAMES: u64 = 1_000_000_000;

/// Which engines play each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum PairingMode {
    /// Every engine plays every other.
    RoundRobin,
    /// The first engine plays all others.
    Gauntlet,
}

/// All games of a match. Games `2p` and `2p + 1` are a pair: the same opening with colours exchanged. In
/// every round each pairing plays one pair, all from the same opening.
pub struct MatchSchedule {
    /// How many.
    pub engines: usize,
    /// Pairs of engines by index.
    pub pairings: Vec<(usize, usize)>,
    /// Games of each pairing, an even number.
    pub games_each: u64,
    openings: Vec<Opening>,
}

/// A game of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// Index of the pairing.
    pub pairing: usize,
    /// Index of its first engine.
    pub first: usize,
    /// Index of its second engine.
    pub second: usize,
    /// Whether the first engine plays Black.
    pub first_is_black: bool,
}

impl Fixture {
    /// The engines of Black and White.
    pub fn players(&self) -> [usize; 2] {
        if self.first_is_black { [self.first, self.second] } else { [self.second, self.first] }
    }
}

impl MatchSchedule {
    /// Openings are taken in an order shuffled by `seed`, again from the beginning when they are used up.
    pub fn new(
        engines: usize,
        mode: PairingMode,
        games_each: u64,
        mut openings: Vec<Opening>,
        seed: u64,
    ) -> MatchSchedule {
        let all = (0..engines).flat_map(|a| (a + 1..engines).map(move |b| (a, b)));
        let pairings = all.filter(|p| mode == PairingMode::RoundRobin || p.0 == 0).collect();
        Rng::new(seed).shuffle(&mut openings);
        MatchSchedule { engines, pairings, games_each: games_each.next_multiple_of(2), openings }
    }

    /// Number of games.
    pub fn len(&self) -> u64 {
        self.games_each * self.pairings.len() as u64
    }

    /// Whether there are no games.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of different openings.
    pub fn different_openings(&self) -> u64 {
        self.openings.iter().map(Opening::to_string).collect::<HashSet<_>>().len() as u64
    }

    /// Who plays the game of that number.
    pub fn fixture(&self, game: u64) -> Fixture {
        let pairing = (game / 2) as usize % self.pairings.len();
        let (first, second) = self.pairings[pairing];
        Fixture { pairing, first, second, first_is_black: game.is_multiple_of(2) }
    }

    /// Where the game of that number begins.
    pub fn opening(&self, game: u64) -> &Opening {
        let round = game / (2 * self.pairings.len() as u64);
        &self.openings[round as usize % self.openings.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_pairing_plays_both_colours_of_every_opening() {
        let openings = ["startpos moves 7g7f", "startpos moves 2g2f", "startpos"].map(|s| s.parse().unwrap());
        let s = MatchSchedule::new(3, PairingMode::RoundRobin, 5, openings.into(), 1);
        assert_eq!((s.len(), s.pairings.len()), (18, 3));
        let mut seen = HashMap::new();
        for g in 0..s.len() {
            *seen.entry((s.fixture(g).players(), s.opening(g).to_string())).or_insert(0) += 1;
        }
        // 6 ordered pairs, 3 openings, once each
        assert_eq!(seen.len(), 18);
        let g = MatchSchedule::new(4, PairingMode::Gauntlet, 2, vec![Opening::startpos()], 1);
        assert_eq!(g.pairings, [(0, 1), (0, 2), (0, 3)]);
    }
}

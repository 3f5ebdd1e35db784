//! The parts of a run on several machines: [`Shard`].
//!
//! Series of games (see [`DatagenSettings::series`](super::DatagenSettings::series)) are distributed in turn:
//! series `s` belongs to shard `s mod N`.

use crate::support::messages::Number;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Part `index` (from 0) of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    pub index: u64,
    /// Parts of the run.
    pub count: u64,
}

/// When a shard is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunSize {
    /// Games of the whole run, all shards.
    Games(u64),
    /// Positions of the whole run; every shard makes its part and ends with the game that reaches it.
    Positions(u64),
}

impl fmt::Display for RunSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunSize::Games(n) => write!(f, "{n} game{:#}", Number(n)),
            RunSize::Positions(n) => write!(f, "{n} position{:#}", Number(n)),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if index < count => Ok(Shard { index, count }),
            _ => Err(format!("`{text}` is not a shard; write I/N with I from 0 to N - 1")),
        }
    }
}

impl Shard {
    /// How many of `total` things, dealt out in turn, are this shard's.
    pub(super) fn part_of(self, total: u64) -> u64 {
        total / self.count + u64::from(self.index < total % self.count)
    }

    /// How many of the games below `total`, in series of `series`, are this shard's.
    pub(super) fn games_of(self, total: u64, series: u64) -> u64 {
        let (whole, rest) = (total / series, total % series);
        self.part_of(whole) * series + if whole % self.count == self.index { rest } else { 0 }
    }

    /// The number of this shard's `k`-th game.
    pub(super) fn game(self, k: u64, series: u64) -> u64 {
        (k / series * self.count + self.index) * series + k % series
    }

    /// The path of the shard's games (`games`, unfinished `part`) or its manifest (`json`) in the directory
    /// `dir`.
    pub fn file(self, dir: &Path, extension: &str) -> PathBuf {
        dir.join(format!("shard-{:05}-of-{:05}.{extension}", self.index, self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_all_games_once() {
        for (total, count) in [(10, 3), (2, 5), (0, 2), (7, 1)] {
            let parts = (0..count).map(|index| Shard { index, count }.part_of(total));
            assert_eq!(parts.sum::<u64>(), total);
        }
        for (total, count, series) in [(100, 3, 8), (7, 2, 8), (64, 4, 1), (0, 1, 8)] {
            let mut games: Vec<_> = (0..count)
                .map(|index| Shard { index, count })
                .flat_map(|s| (0..s.games_of(total, series)).map(move |k| s.game(k, series)))
                .collect();
            games.sort();
            assert_eq!(games, (0..total).collect::<Vec<_>>());
        }
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
        for bad in ["3/3", "1", "a/b", "-1/2", "0/0"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}

//! Every option that determines the games: [`DatagenSettings`].

use crate::types::Value;
use serde::{Deserialize, Serialize};

/// Maximum number of random moves at the start; after more of them games have no middlegame.
pub const MOST_RANDOM_PLIES: u32 = 100;

/// Everything that game number `g` depends on, besides the network, the search and the games before it in its
/// series. Scores are in `Value` units (a pawn is 90), plies count from the start of the game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatagenSettings {
    /// Game number g depends on this and g alone.
    pub seed: u64,
    /// Soft node limit of a move: no iteration starts beyond it. Unused with `depth`.
    pub nodes: u64,
    /// Search to this depth instead.
    pub depth: Option<i32>,
    /// Number of consecutive games that share the search's histories and table.
    /// With 1 every game begins with empty ones.
    #[serde(default = "alone")]
    pub series: u64,
    /// MiB of each search's transposition table.
    pub hash: usize,
    /// Output units of the network in a `Value` unit.
    pub fv_scale: i32,
    /// SHA-256 of the openings, or none.
    pub openings: Option<String>,
    /// Least and most random moves at the start.
    pub random_plies: (u32, u32),
    /// An opening is played only if a quick search finds it no more one-sided than this.
    pub balance: Value,
    /// Probability of a random legal move.
    pub random_chance: f64,
    /// Probability of one of the best few moves instead of the best.
    pub multipv_chance: f64,
    /// How many moves are the best few.
    pub multipv: usize,
    /// How much worse than the best move they may be.
    pub multipv_margin: Value,
    /// The last ply at which a move may be chosen at random.
    pub random_until: u32,
    /// A game is decided when the scores of both sides agree on this or more ...
    pub decided_score: Value,
    /// ... for this number of plies.
    pub decided_plies: u32,
    /// The game is drawn after this number of plies.
    pub max_ply: u32,
    /// Positions with a score beyond this are unfit for training.
    pub fit_score: Value,
    /// Maximum number of positions of a game that are fit for training, of a drawn one half of it, so that
    /// long and drawn games do not dominate.
    pub fit_per_game: usize,
    /// Number of positions inside every search that are written beside the games.
    #[serde(default, skip_serializing_if = "is_none")]
    pub trees: usize,
}

impl DatagenSettings {
    /// The options of `datagen` that ask for these; the file of the openings is not among them.
    pub fn options(&self) -> Vec<String> {
        let (least, most) = self.random_plies;
        let fields = serde_json::to_value(self).ok().and_then(|fields| fields.as_object().cloned());
        let option = |(name, value): (String, serde_json::Value)| match name.as_str() {
            // the depth replaces the nodes
            "nodes" if self.depth.is_some() => None,
            "openings" => None,
            "random_plies" => Some(["--random-plies".into(), format!("{least}-{most}")]),
            _ if value.is_null() => None,
            _ => Some([format!("--{}", name.replace('_', "-")), value.to_string()]),
        };
        fields.into_iter().flatten().filter_map(option).flatten().collect()
    }
}

/// Runs without trees have the identity that they had before there were any.
fn is_none(trees: &usize) -> bool {
    *trees == 0
}

/// The value of games made before there were series.
fn alone() -> u64 {
    1
}

impl Default for DatagenSettings {
    fn default() -> DatagenSettings {
        DatagenSettings {
            seed: 1,
            nodes: 5000,
            depth: None,
            series: 8,
            hash: 16,
            fv_scale: 16,
            openings: None,
            random_plies: (4, 8),
            balance: 400,
            random_chance: 0.005,
            multipv_chance: 0.04,
            multipv: 4,
            multipv_margin: 120,
            random_until: 80,
            decided_score: 3000,
            decided_plies: 4,
            max_ply: 320,
            fit_score: 3000,
            fit_per_game: 160,
            trees: 0,
        }
    }
}

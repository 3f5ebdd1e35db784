//! The settings of a loop: [`Config`], a section a stage.

use crate::arena::schedule::MOST_GAMES;
use crate::datagen::MOST_RANDOM_PLIES;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `learn --init` writes: every setting with its default and a comment.
pub const TEMPLATE: &str = include_str!("template.toml");

/// An invalid setting.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name}: {what}")]
pub struct ConfigError {
    name: &'static str,
    what: &'static str,
}

/// All settings. The comments of [`TEMPLATE`] explain them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `embedded`, `bootstrap`, or the path of a network file.
    pub network: String,
    /// Seed of games, training and matches.
    pub seed: u64,
    /// 0 for all processors.
    pub threads: usize,
    /// Number of generations whose games and f32 state are kept.
    pub keep: u32,
    /// Self-play.
    pub generate: Generate,
    /// Training.
    pub train: Train,
    /// The match and the other tests of a network.
    pub judge: Judge,
    /// For `--print-job`.
    pub cluster: ClusterConfig,
}

/// Which processes make the shards of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workers {
    /// The loop itself, and other processes that share the directory.
    Here,
    /// Other processes; the loop waits for them.
    Elsewhere,
}

/// Self-play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Generate {
    pub positions: u64,
    pub nodes: u64,
    pub openings: Option<PathBuf>,
    /// Smallest and largest number; the default of `datagen` if absent.
    pub random_plies: Option<(u32, u32)>,
    pub balance: i32,
    pub random_chance: f64,
    pub decided_score: i32,
    pub decided_plies: u32,
    /// Positions inside every search that are trained on, too; 0 for none.
    pub trees: usize,
    pub shards: u64,
    pub workers: Workers,
    /// Share of the shards after which training starts.
    pub enough: f64,
}

/// Training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Train {
    /// Generations whose games are trained on.
    pub window: u32,
    /// Records of other runs, trained on in every generation.
    pub games: Vec<PathBuf>,
    pub passes: u32,
    /// Number of trainings; the network is their mean.
    pub runs: u32,
    pub batch: usize,
    pub rate: f64,
    pub last_rate: f64,
    pub warmup: u32,
    pub td_lambda: f64,
    pub td_cut: f64,
    /// Weight of the score in the target; the rest is the game's result.
    pub lambda: f64,
    /// Larger scores, and mates, count as this; 0 drops mates.
    pub score_clip: i16,
    /// Scale of the win rate; 0 fits it to the games.
    pub score_scale: f32,
    /// Adam's.
    pub epsilon: f32,
    pub row_rate: f32,
    /// Whether positions are reflected left to right at random.
    pub mirror: bool,
    /// 0 for none.
    pub ema: f64,
    pub keep_state: bool,
    /// MiB for decoded positions.
    pub memory: usize,
}

/// The match and the other tests of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Judge {
    pub games: u64,
    pub nodes: u64,
    pub openings: Option<PathBuf>,
    /// Smallest share of the points that promotes the new network.
    pub promote: f64,
    /// Positions with results, as `accuracy` reads them.
    pub positions: Option<PathBuf>,
}

/// For `--print-job`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterConfig {
    /// The command that starts the engine on a worker.
    pub program: String,
    pub threads: u32,
    pub time: String,
    pub image: String,
    pub claim: String,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            network: "embedded".into(),
            seed: 1,
            threads: 0,
            keep: 8,
            generate: Generate::default(),
            train: Train::default(),
            judge: Judge::default(),
            cluster: ClusterConfig::default(),
        }
    }
}

impl Default for Generate {
    fn default() -> Generate {
        Generate {
            positions: 1_300_000,
            nodes: 300,
            openings: None,
            random_plies: None,
            balance: 1500,
            random_chance: 0.02,
            decided_score: 1800,
            decided_plies: 6,
            trees: 0,
            shards: 1,
            workers: Workers::Here,
            enough: 1.0,
        }
    }
}

impl Generate {
    /// Number of shards after which training starts.
    pub fn shards_needed(&self) -> u64 {
        ((self.enough * self.shards as f64).ceil() as u64).clamp(1, self.shards)
    }
}

impl Default for Train {
    fn default() -> Train {
        Train {
            window: 6,
            games: Vec::new(),
            passes: 3,
            runs: 1,
            batch: 16384,
            rate: 1e-3,
            last_rate: 1e-5,
            warmup: 100,
            td_lambda: 0.7,
            td_cut: crate::data::TdLambda::CUT,
            lambda: 1.0,
            score_clip: 3500,
            score_scale: 600.0,
            epsilon: 1e-7,
            row_rate: 0.02,
            mirror: true,
            ema: 0.99,
            keep_state: false,
            memory: 4096,
        }
    }
}

impl Default for Judge {
    fn default() -> Judge {
        Judge { games: 200, nodes: 2000, openings: None, promote: 0.5, positions: None }
    }
}

impl Default for ClusterConfig {
    fn default() -> ClusterConfig {
        ClusterConfig {
            program: "toratsugumi".into(),
            threads: 2,
            time: "04:00:00".into(),
            image: "toratsugumi".into(),
            claim: "toratsugumi".into(),
        }
    }
}

impl Config {
    /// Checks every setting.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (g, t, j, c) = (&self.generate, &self.train, &self.judge, &self.cluster);
        let unit = |x: f64| (0.0..=1.0).contains(&x);
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let line = |text: &String| !text.is_empty() && !text.chars().any(char::is_control);
        let rules: [(bool, &'static str, &'static str); 26] = [
            (self.keep >= t.window, "keep", "must be at least train.window, whose games training needs"),
            (g.positions > 0, "generate.positions", "must be positive"),
            (g.nodes > 0, "generate.nodes", "must be positive"),
            (
                g.random_plies.is_none_or(|(least, most)| least <= most && most <= MOST_RANDOM_PLIES),
                "generate.random_plies",
                "must be the least and the most, up to 100",
            ),
            (unit(g.random_chance), "generate.random_chance", "must lie between 0 and 1"),
            (g.decided_plies > 0, "generate.decided_plies", "must be positive"),
            ((1..=10_000).contains(&g.shards), "generate.shards", "must lie between 1 and 10000"),
            (unit(g.enough) && g.enough > 0.0, "generate.enough", "must be above 0 and at most 1"),
            (t.window > 0, "train.window", "must be positive"),
            (t.passes > 0, "train.passes", "must be positive"),
            ((1..=100).contains(&t.runs), "train.runs", "must lie between 1 and 100"),
            (
                t.runs == 1 || !t.keep_state,
                "train.keep_state",
                "the mean of several runs has no state in f32",
            ),
            (
                t.batch > 0 && t.batch.is_multiple_of(crate::train::batch::TILE),
                "train.batch",
                "must be a multiple of 32",
            ),
            (positive(t.rate) && positive(t.last_rate), "train.rate", "learning rates must be positive"),
            (unit(t.td_lambda), "train.td_lambda", "must lie between 0 and 1"),
            (unit(t.td_cut), "train.td_cut", "must lie between 0 and 1"),
            (unit(t.lambda), "train.lambda", "must lie between 0 and 1"),
            (t.score_clip >= 0, "train.score_clip", "must not be negative"),
            (
                t.score_scale == 0.0 || (50.0..=10_000.0).contains(&t.score_scale),
                "train.score_scale",
                "must lie between 50 and 10000, or be 0",
            ),
            (positive(t.epsilon.into()), "train.epsilon", "must be positive"),
            (positive(t.row_rate.into()), "train.row_rate", "must be positive"),
            ((0.0..=0.99999).contains(&t.ema), "train.ema", "must lie between 0 and 0.99999"),
            (j.games <= MOST_GAMES, "judge.games", "must be at most 1000000000"),
            (unit(j.promote) && j.nodes > 0, "judge", "promote is a share of the points, nodes are positive"),
            ((1..=1024).contains(&c.threads), "cluster.threads", "must lie between 1 and 1024"),
            (
                [&c.program, &c.time, &c.image, &c.claim].into_iter().all(line),
                "cluster",
                "program, time, image and claim must be one line each",
            ),
        ];
        match rules.into_iter().find(|r| !r.0) {
            Some((_, name, what)) => Err(ConfigError { name, what }),
            None => Ok(()),
        }
    }
}

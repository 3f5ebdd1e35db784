//! Data of a generation: [`Plan`] before, [`GamesSummary`], [`TrainingSummary`] and [`MatchSummary`] after
//! each stage, [`Generation`] in the end.

use super::Config;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;

/// A generation at its beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// From 1.
    pub number: u32,
    /// The generation whose network plays, the best so far; 0 is the start.
    pub player: u32,
    /// Generations whose games are trained on.
    pub window: Vec<u32>,
    /// The settings with which it began.
    pub config: Config,
}

/// The games of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GamesSummary {
    /// Names within its `games` directory: of the games, and of the positions inside their searches.
    pub files: Vec<PathBuf>,
    /// Games played.
    pub games: u64,
    /// Positions in them.
    pub positions: u64,
    /// Positions fit for training.
    pub fit: u64,
    /// Positions inside the searches.
    #[serde(default)]
    pub inside: u64,
    /// Wall-clock seconds of all shards, added up.
    pub seconds: f64,
}

/// A training run, or several of one start: sums, and the mean of the losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingSummary {
    /// Positions seen, counted once per pass.
    pub positions: u64,
    /// Training steps.
    pub steps: u64,
    /// Mean training loss since the last validation, in nats.
    pub training: f64,
    /// Validation loss, if there is a validation set.
    pub validation: Option<f64>,
    /// Root mean square error of the win rate there.
    pub rmse: Option<f64>,
    /// How far the part of the first layer that belongs to single king squares lies from that of the player,
    /// as a root mean square in units of 1/127. Up to 0.4 may be rounding alone. None if the network has no
    /// such part.
    #[serde(default)]
    pub king_change: Option<f64>,
    /// Wall-clock time of the stage.
    pub seconds: f64,
}

impl TrainingSummary {
    /// The summary of several runs, without [`king_change`](Self::king_change).
    ///
    /// # Panics
    /// Without a run.
    pub fn of_runs(runs: &[TrainingSummary]) -> TrainingSummary {
        let mean = |loss: fn(&TrainingSummary) -> Option<f64>| {
            let sum: Option<f64> = runs.iter().map(loss).sum();
            sum.map(|sum| sum / runs.len() as f64)
        };
        let training: f64 = runs.iter().map(|r| r.training).sum();
        assert!(!runs.is_empty());
        TrainingSummary {
            positions: runs.iter().map(|r| r.positions).sum(),
            steps: runs.iter().map(|r| r.steps).sum(),
            training: training / runs.len() as f64,
            validation: mean(|r| r.validation),
            rmse: mean(|r| r.rmse),
            king_change: None,
            seconds: runs.iter().map(|r| r.seconds).sum(),
        }
    }
}

/// The result of the match, and whether the network is promoted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchSummary {
    /// Whether the new network is the best from now on.
    pub promoted: bool,
    /// Games won against the best so far.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Elo over the player and its 95 % interval; none without games. Where all games were won or lost, it
    /// and one end are infinite, which is `null` in JSON.
    #[serde(default, deserialize_with = "elo_with_infinities")]
    pub elo: Option<[f64; 3]>,
    /// Share of winners that the static evaluation predicts, its standard error, and the log loss.
    pub named: Option<[f64; 3]>,
    /// Wall-clock time of the stage.
    pub seconds: f64,
}

impl MatchSummary {
    /// The Elo in words, such as `+12 [-3, +27]`, or `above +182` if there is only one bound.
    pub fn elo_text(&self) -> Option<String> {
        self.elo.map(|[elo, low, high]| match (low.is_finite(), high.is_finite()) {
            (true, false) => format!("above {low:+.0}"),
            (false, true) => format!("below {high:+.0}"),
            _ => format!("{elo:+.0} [{low:+.0}, {high:+.0}]"),
        })
    }
}

/// Elo and its interval, with `null` for infinity.
fn elo_with_infinities<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[f64; 3]>, D::Error> {
    let read = Option::<[Option<f64>; 3]>::deserialize(from)?;
    Ok(read.map(|[elo, low, high]| {
        let beyond = if high.is_none() { f64::INFINITY } else { f64::NEG_INFINITY };
        [elo.unwrap_or(beyond), low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)]
    }))
}

/// A line of `generations.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The settings and the player.
    #[serde(flatten)]
    pub plan: Plan,
    /// Its games.
    pub played: GamesSummary,
    /// Its training.
    pub trained: TrainingSummary,
    /// Its match.
    pub judged: MatchSummary,
}

#[cfg(test)]
pub(super) mod example {
    use super::*;

    /// One with that verdict.
    pub fn generation(number: u32, player: u32, elo: Option<[f64; 3]>, promoted: bool) -> Generation {
        Generation {
            plan: Plan { number, player, window: vec![number], config: Config::default() },
            played: GamesSummary {
                files: vec!["a.games".into()],
                games: 10,
                positions: 1000,
                fit: 600,
                inside: 0,
                seconds: 2.0,
            },
            trained: TrainingSummary {
                positions: 2400,
                steps: 3,
                training: 0.02,
                validation: Some(0.03),
                rmse: Some(0.1),
                king_change: Some(1.25),
                seconds: 1.0,
            },
            judged: MatchSummary {
                promoted,
                wins: 6,
                draws: 0,
                losses: 4,
                elo,
                named: Some([0.58, 0.01, 0.66]),
                seconds: 1.0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::example::generation;
    use super::*;

    #[test]
    fn one_sided_results_round_trip_in_json() {
        let (won, lost) =
            ([f64::INFINITY, -511.5, f64::INFINITY], [f64::NEG_INFINITY, f64::NEG_INFINITY, 511.5]);
        for (elo, json, text) in [
            (Some(won), "[null,-511.5,null]", Some("above -512")),
            (Some(lost), "[null,null,511.5]", Some("below +512")),
            (Some([12.0, -3.25, 27.0]), "[12.0,-3.25,27.0]", Some("+12 [-3, +27]")),
            (None, "null", None),
        ] {
            let one = generation(1, 0, elo, true);
            let line = serde_json::to_string(&one).unwrap();
            assert!(line.contains(&format!("\"elo\":{json}")), "{line}");
            assert_eq!(serde_json::from_str::<Generation>(&line).unwrap(), one);
            assert_eq!(one.judged.elo_text().as_deref(), text);
        }
    }
}

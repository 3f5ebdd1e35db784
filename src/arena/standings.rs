//! The results so far: [`Standings`].

use super::adjudication::{EndReason, Winner};
use super::estimate::{Estimate, Pentanomial};
use super::journal::GameLine;
use super::ratings::ratings;
use super::schedule::MatchSchedule;
use super::sprt::{Decision, Sprt};
use crate::types::Color;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Results between two engines, from the first one's view.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PairingScore {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pairs of games with exchanged colours.
    pub pairs: Pentanomial,
}

impl PairingScore {
    /// Games played.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// By pairs if there are any, else by games.
    pub fn estimate(&self) -> Option<Estimate> {
        Estimate::of_pairs(&self.pairs).or_else(|| Estimate::of_games(self.wins, self.draws, self.losses))
    }

    /// Points of the first engine; a draw is half a point.
    pub fn points(&self) -> f64 {
        self.wins as f64 + self.draws as f64 / 2.0
    }
}

/// Totals of an engine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EngineStats {
    /// Games played.
    pub games: u64,
    /// Moves played.
    pub moves: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Milliseconds of search.
    pub ms: f64,
    /// Sum of the depths over its moves that reported one.
    depths: u64,
    depth_moves: u64,
    /// Games lost by a fault, by its name.
    pub faults: BTreeMap<&'static str, u64>,
}

impl EngineStats {
    /// Mean depth of the moves that reported one.
    pub fn mean_depth(&self) -> f64 {
        self.depths as f64 / self.depth_moves.max(1) as f64
    }

    /// Nodes per second over all its moves.
    pub fn nodes_per_second(&self) -> f64 {
        self.nodes as f64 * 1000.0 / self.ms.max(1.0)
    }
}

/// All results of a match.
#[derive(Clone, Debug, Default)]
pub struct Standings {
    /// By the index of the pairing.
    pub scores: Vec<PairingScore>,
    /// By the index of the engine.
    pub engines: Vec<EngineStats>,
    /// Games by their end.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Black's wins, draws, White's wins.
    pub colors: [u64; 3],
    /// Plies after the openings, of all games.
    pub plies: u64,
    /// Games played.
    pub games: u64,
    /// Half points of the first engine in pairs of which one game is played.
    open_pairs: HashMap<u64, usize>,
}

impl Standings {
    /// Before the first game.
    pub fn new(schedule: &MatchSchedule) -> Standings {
        Standings {
            scores: vec![PairingScore::default(); schedule.pairings.len()],
            engines: vec![EngineStats::default(); schedule.engines],
            ..Standings::default()
        }
    }

    /// Counts a game.
    pub fn add(&mut self, schedule: &MatchSchedule, line: &GameLine) {
        let fixture = schedule.fixture(line.game);
        let first = if fixture.first_is_black { Color::Black } else { Color::White };
        let half_points = line.winner.half_points(first);
        let score = &mut self.scores[fixture.pairing];
        *[&mut score.losses, &mut score.draws, &mut score.wins][half_points] += 1;
        match self.open_pairs.remove(&(line.game / 2)) {
            Some(other) => score.pairs.add(other + half_points),
            None => {
                self.open_pairs.insert(line.game / 2, half_points);
            }
        }
        let [black, white] = fixture.players();
        let start = schedule.opening(line.game).position().side_to_move();
        for (i, ply) in line.plies.iter().enumerate() {
            let mover = if (i % 2 == 0) == (start == Color::Black) { black } else { white };
            let c = &mut self.engines[mover];
            c.moves += 1;
            c.ms += ply.ms;
            c.nodes += ply.nodes.unwrap_or(0);
            c.depths += u64::from(ply.depth.unwrap_or(0));
            c.depth_moves += u64::from(ply.depth.is_some());
        }
        for engine in [black, white] {
            self.engines[engine].games += 1;
        }
        if line.reason.is_fault() {
            let culprit = if line.winner == Winner::Black { white } else { black };
            *self.engines[culprit].faults.entry(line.reason.name()).or_default() += 1;
        }
        *self.reasons.entry(EndReason::name(line.reason)).or_default() += 1;
        self.colors[2 - line.winner.half_points(Color::Black)] += 1;
        self.plies += line.plies.len() as u64;
        self.games += 1;
    }

    /// The first pairing's log-likelihood ratio and what it decides.
    pub fn test(&self, sprt: &Sprt) -> (f64, Decision) {
        let pairs = self.scores.first().map(|s| s.pairs).unwrap_or_default();
        (sprt.llr(&pairs), sprt.decide(&pairs))
    }

    /// Points of every engine against every other.
    pub fn ratings(&self, schedule: &MatchSchedule) -> Vec<(f64, f64)> {
        let n = schedule.engines;
        let mut points = vec![vec![0.0; n]; n];
        for (score, &(a, b)) in self.scores.iter().zip(&schedule.pairings) {
            points[a][b] += score.points();
            points[b][a] += score.games() as f64 - score.points();
        }
        ratings(&points)
    }

    /// Games lost by a fault.
    pub fn faults(&self) -> u64 {
        self.engines.iter().flat_map(|c| c.faults.values()).sum()
    }
}

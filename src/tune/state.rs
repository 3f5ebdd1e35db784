//! The state of a tuning run in its directory: [`TuningState`].

use super::chart;
use super::pair::GameSettings;
use super::spsa::{Proposal, Spsa, Tuned};
use crate::nnue::Network;
use crate::record::openings::Opening;
use crate::resume::{AtPath, Lock, ResumeError, identity, whole_file};
use crate::search::params;
use crate::support::console::clock;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// The file of the run.
const FILE: &str = "tune.json";

/// Number of points of a complete path.
const POINTS: u64 = 200;

/// The contents of `tune.json`.
#[derive(Serialize, Deserialize)]
pub struct TuningState {
    /// The numbers and their steps.
    pub spsa: Spsa,
    #[serde(rename = "conduct")]
    /// How games are played.
    pub games: GameSettings,
    /// The network and the openings.
    identity: TuningIdentity,
    /// The numbers that are not tuned, by name.
    others: BTreeMap<String, i32>,
    /// Time spent so far.
    pub seconds: f64,
    /// The numbers after some of the steps.
    path: Vec<(u64, Vec<f64>)>,
    /// The directory and its lock.
    #[serde(skip)]
    held: Option<(PathBuf, Lock)>,
}

/// What must be the same when a run continues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TuningIdentity {
    /// SHA-256 of the network.
    network: String,
    /// SHA-256 of the openings' lines, where there are any.
    openings: Option<String>,
}

impl TuningIdentity {
    fn new(network: &Network, openings: &[Opening]) -> io::Result<TuningIdentity> {
        let openings = (!openings.is_empty()).then(|| Opening::sha256(openings));
        Ok(TuningIdentity { network: network.sha256()?, openings })
    }

    /// The identity and the names of the numbers, to be compared.
    fn with_numbers<'a>(&self, names: impl Iterator<Item = &'a str>) -> Json {
        let numbers: BTreeMap<&str, bool> = names.map(|name| (name, true)).collect();
        json!({ "network": self.network, "openings": self.openings, "numbers": numbers })
    }
}

impl TuningState {
    /// A run of `games` games in `dir` over the numbers whose names begin with one of `only` (all, if that is
    /// empty).
    ///
    /// # Errors
    /// No number's name begins so; another process works in the directory; there is a run in it.
    pub fn new(
        dir: &Path,
        only: &[String],
        games: u64,
        rate: f64,
        seed: u64,
        settings: GameSettings,
        (network, openings): (&Network, &[Opening]),
    ) -> Result<TuningState, Box<dyn Error>> {
        let begins = |name: &str, with: &String| name.starts_with(with.as_str());
        if let Some(o) = only.iter().find(|o| !params::TABLE.iter().any(|p| begins(p.name, o))) {
            return Err(format!("--only: no parameter begins with `{o}`").into());
        }
        let chosen = |name: &str| only.is_empty() || only.iter().any(|o| begins(name, o));
        let all = params::TABLE.iter().zip(params::values());
        let (tuned, others): (Vec<_>, Vec<_>) = all.partition(|(p, _)| chosen(p.name));
        let numbers: Vec<_> = tuned.into_iter().map(|(p, value)| Tuned::new(p, value)).collect();
        let others = others.into_iter().map(|(p, value)| (p.name.to_owned(), value)).collect();
        let path = vec![(0, numbers.iter().map(|n| n.value).collect())];
        let spsa = Spsa { numbers, done: 0, total: games / 2, rate, seed };
        let identity = TuningIdentity::new(network, openings)?;
        std::fs::create_dir_all(dir).at(dir)?;
        let file = dir.join(FILE);
        let held = Some((dir.to_owned(), Lock::take(&file)?));
        if file.exists() {
            return Err(ResumeError::Exists(file).into());
        }
        Ok(TuningState { spsa, games: settings, identity, others, seconds: 0.0, path, held })
    }

    /// All games are played.
    pub fn is_complete(&self) -> bool {
        self.spsa.done >= self.spsa.total
    }

    /// The numbers of the whole [`params::TABLE`] as the run began with them.
    pub(super) fn beginning(&self) -> Vec<i32> {
        let tuned = |name| self.spsa.numbers.iter().find(|n| n.name == name).map(|n| n.start);
        let all = params::TABLE.iter();
        all.map(|p| tuned(p.name).or_else(|| self.others.get(p.name).copied()).unwrap_or(p.default)).collect()
    }

    /// Reads the run in `dir` to continue it with the same network and openings.
    ///
    /// # Errors
    /// Another process works in the directory; its file cannot be read; the network, the openings or the
    /// build's numbers differ.
    pub fn read(dir: &Path, network: &Network, openings: &[Opening]) -> Result<TuningState, Box<dyn Error>> {
        let path = dir.join(FILE);
        let lock = Lock::take(&path)?;
        let state: TuningState = serde_json::from_slice(&std::fs::read(&path).at(&path)?).at(&path)?;
        let names = state.spsa.numbers.iter().map(|n| &n.name).chain(state.others.keys());
        let before = state.identity.with_numbers(names.map(String::as_str));
        let now = TuningIdentity::new(network, openings)?.with_numbers(params::TABLE.iter().map(|p| p.name));
        identity::check(&path, &before, &now)?;
        Ok(TuningState { held: Some((dir.to_owned(), lock)), ..state })
    }

    /// Writes all files of the run: `params.txt`, `tune.svg`, and `tune.json` last.
    pub fn write(&self) -> Result<(), ResumeError> {
        let Some((dir, _)) = &self.held else { return Ok(()) };
        let mut numbers = String::new();
        for n in &self.spsa.numbers {
            numbers += &format!("{} = {} in {}..={};\n", n.name, n.value.round(), n.min, n.max);
        }
        for (name, text) in [("params.txt", numbers), ("tune.svg", chart::svg(&self.spsa, &self.path))] {
            let path = dir.join(name);
            whole_file::write(&path, text).at(&path)?;
        }
        let path = dir.join(FILE);
        whole_file::write_json(&path, self).at(&path)
    }

    /// Updates the numbers by a step's result; adds some points to the path.
    pub fn learn(&mut self, proposal: &Proposal, lead: i32) {
        self.spsa.learn(proposal, f64::from(lead));
        let every = (self.spsa.total / POINTS).max(1);
        if self.spsa.done.is_multiple_of(every) || self.spsa.done == self.spsa.total {
            self.path.push((self.spsa.done, self.spsa.numbers.iter().map(|n| n.value).collect()));
        }
    }

    /// The progress line; `before` steps were done when this process began, `seconds` ago.
    pub fn status(&self, before: u64, seconds: f64) -> String {
        let done = self.spsa.done - before;
        let rate = done as f64 / seconds.max(1e-3);
        let left =
            if done > 0 { clock((self.spsa.total - self.spsa.done) as f64 / rate) } else { "?".into() };
        let mut far: Vec<_> = self.spsa.numbers.iter().collect();
        far.sort_by(|a, b| b.moved().abs().total_cmp(&a.moved().abs()));
        let far: Vec<_> =
            far.iter().take(4).map(|n| format!("{} {}→{:.0}", n.name, n.start, n.value)).collect();
        format!(
            "{}/{} games  {:.1} games/s  {}, {left} left  {}",
            2 * self.spsa.done,
            2 * self.spsa.total,
            2.0 * rate,
            clock(seconds),
            far.join(", ")
        )
    }
}

//! The files of a loop: [`Directory`].

use super::error::LearnError;
use super::generation::{GamesSummary, Generation, Plan};
use crate::resume::whole_file::{self, remove_if_exists};
use crate::resume::{AtPath, Journal, ResumeError, journal};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};

/// A loop's directory.
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The directory at `root`, which need not exist.
    pub fn new(root: &Path) -> Directory {
        Directory { root: root.to_owned() }
    }

    /// The loop's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `gen-NNN`
    pub fn generation(&self, number: u32) -> PathBuf {
        self.root.join(format!("gen-{number:03}"))
    }

    /// The directory of a generation's games.
    pub fn games(&self, number: u32) -> PathBuf {
        self.generation(number).join("games")
    }

    /// The directory of a generation's network and training.
    pub fn network(&self, number: u32) -> PathBuf {
        self.generation(number).join("network")
    }

    /// The directory of the trainings whose mean becomes the network of a generation.
    pub fn runs(&self, number: u32) -> PathBuf {
        self.network(number).join("runs")
    }

    /// The directory of a generation's match.
    pub fn match_dir(&self, number: u32) -> PathBuf {
        self.generation(number).join("match")
    }

    fn generations_file(&self) -> PathBuf {
        self.root.join("generations.jsonl")
    }

    /// Creates the directory if it is missing, and locks it until the journal is dropped.
    pub fn journal(&self) -> Result<Journal<Generation>, ResumeError> {
        std::fs::create_dir_all(&self.root).at(&self.root)?;
        Ok(Journal::open(&self.generations_file())?.0)
    }

    /// The generations that ended, in order.
    pub fn generations(&self) -> Result<Vec<Generation>, LearnError> {
        let path = self.generations_file();
        let all: Vec<Generation> = journal::read(&path)?;
        let numbers = all.iter().map(|generation| generation.plan.number);
        match (1..).zip(numbers).find(|&(line, number)| number as usize != line) {
            Some((line, number)) => Err(LearnError::Order { path, line, number }),
            None => Ok(all),
        }
    }

    /// Replaces a file of the loop atomically.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<(), ResumeError> {
        let path = self.root.join(name);
        whole_file::write(&path, text).at(&path)
    }

    /// The result of a stage that has ended.
    pub fn stage<T: DeserializeOwned>(&self, number: u32, name: &str) -> Result<Option<T>, ResumeError> {
        let path = self.generation(number).join(name);
        match std::fs::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            bytes => serde_json::from_slice(&bytes.at(&path)?).at(&path),
        }
    }

    /// Stores the result of a stage, which ends it.
    pub fn write_stage(&self, number: u32, name: &str, value: &impl Serialize) -> Result<(), ResumeError> {
        let dir = self.generation(number);
        std::fs::create_dir_all(&dir).at(&dir)?;
        let path = dir.join(name);
        whole_file::write_json(&path, value).at(&path)
    }

    /// The files that a generation's training reads.
    pub fn training_files(&self, plan: &Plan) -> Result<Vec<PathBuf>, LearnError> {
        let mut files = plan.config.train.games.clone();
        for &number in &plan.window {
            let played: Option<GamesSummary> = self.stage(number, "games.json")?;
            let played = played.ok_or_else(|| LearnError::GamesGone(self.generation(number)))?;
            files.extend(played.files.iter().map(|f| self.games(number).join(f)));
        }
        Ok(files)
    }

    /// Whether the games of a generation that ended are still there, all of them.
    pub fn has_games(&self, number: u32) -> Result<bool, ResumeError> {
        let played: Option<GamesSummary> = self.stage(number, "games.json")?;
        Ok(played.is_some_and(|p| p.files.iter().all(|file| self.games(number).join(file).exists())))
    }

    /// Deletes the trainings whose mean became the network of a generation.
    pub fn forget_runs(&self, number: u32) -> Result<(), ResumeError> {
        remove_if_exists(&self.runs(number), |path| std::fs::remove_dir_all(path))
    }

    /// Deletes the games and the state in f32 of the generations before the last `keep`, but not the state of
    /// `player`.
    pub fn prune(&self, last: u32, keep: u32, player: u32) -> Result<(), ResumeError> {
        for number in 1..=last.saturating_sub(keep) {
            remove_if_exists(&self.games(number), |path| std::fs::remove_dir_all(path))?;
            if number != player {
                let state = self.network(number).join(crate::train::run::CHECKPOINT);
                remove_if_exists(&state, |path| std::fs::remove_file(path))?;
            }
        }
        Ok(())
    }
}

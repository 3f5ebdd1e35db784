//! The files of a loop: [`Directory`].

use super::generation::{Generation, Plan};
use crate::resume::{lock, whole_file};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A loop's directory, held by this process.
pub struct Directory {
    root: PathBuf,
    _lock: Option<File>,
}

impl Directory {
    /// Opens a directory, made if it is missing, and keeps other loops out.
    ///
    /// # Errors
    /// When it cannot be made, or another process runs the loop in it.
    pub fn open(root: &Path) -> Result<Directory, Box<dyn Error>> {
        std::fs::create_dir_all(root).map_err(|e| at(root, e))?;
        let path = root.join("learn.lock");
        match lock::create(&path).map_err(|e| at(&path, e))? {
            None => Err(format!("{}: another process runs this loop", root.display()).into()),
            lock => Ok(Directory { root: root.to_owned(), _lock: lock }),
        }
    }

    /// For looking only.
    pub fn read_only(root: &Path) -> Directory {
        Directory { root: root.to_owned(), _lock: None }
    }

    /// The loop's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `gen-NNN`
    pub fn generation(&self, number: u32) -> PathBuf {
        self.root.join(format!("gen-{number:03}"))
    }

    /// Where the games of a generation stand.
    pub fn games(&self, number: u32) -> PathBuf {
        self.generation(number).join("games")
    }

    /// Where the network and the training of a generation stand.
    pub fn network(&self, number: u32) -> PathBuf {
        self.generation(number).join("network")
    }

    /// Where the trainings stand whose mean becomes the network of a generation.
    pub fn runs(&self, number: u32) -> PathBuf {
        self.network(number).join("runs")
    }

    /// Where the match of a generation stands.
    pub fn match_dir(&self, number: u32) -> PathBuf {
        self.generation(number).join("match")
    }

    /// The generations that ended, in order.
    ///
    /// # Errors
    /// A file that cannot be read, or a line in it that is not a generation.
    pub fn generations(&self) -> Result<Vec<Generation>, Box<dyn Error>> {
        let path = self.root.join("generations.jsonl");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(at(&path, e)),
        };
        let mut all = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let generation: Generation =
                serde_json::from_str(line).map_err(|e| format!("{}, line {}: {e}", path.display(), i + 1))?;
            if generation.plan.number as usize != i + 1 {
                return Err(format!(
                    "{}, line {}: generation {} is out of order",
                    path.display(),
                    i + 1,
                    generation.plan.number
                )
                .into());
            }
            all.push(generation);
        }
        Ok(all)
    }

    /// Writes all generations; the file is the old one or the new one, never a part.
    pub fn write_generations(&self, all: &[Generation]) -> Result<(), Box<dyn Error>> {
        let mut text = String::new();
        for generation in all {
            text += &serde_json::to_string(generation)?;
            text.push('\n');
        }
        self.write("generations.jsonl", text)
    }

    /// Writes a file of the loop whole or not at all.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<(), Box<dyn Error>> {
        let path = self.root.join(name);
        whole_file::write(&path, text).map_err(|e| at(&path, e))
    }

    /// What a stage left, if it has ended.
    pub fn stage<T: DeserializeOwned>(&self, number: u32, name: &str) -> Result<Option<T>, Box<dyn Error>> {
        let path = self.generation(number).join(name);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|e| format!("{}: {e}", path.display()).into()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(at(&path, e)),
        }
    }

    /// Writes down what a stage did, which ends it.
    pub fn write_stage(&self, number: u32, name: &str, value: &impl Serialize) -> Result<(), Box<dyn Error>> {
        let dir = self.generation(number);
        std::fs::create_dir_all(&dir).map_err(|e| at(&dir, e))?;
        let path = dir.join(name);
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        whole_file::write(&path, text).map_err(|e| at(&path, e))
    }

    /// The files that a generation's training reads.
    ///
    /// # Errors
    /// Games that are gone.
    pub fn training_files(&self, plan: &Plan) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let mut files = plan.config.train.games.clone();
        for &number in &plan.window {
            let played: super::Played = self
                .stage(number, "games.json")?
                .ok_or_else(|| format!("{}: its games are gone", self.generation(number).display()))?;
            files.extend(played.files.iter().map(|f| self.games(number).join(f)));
        }
        Ok(files)
    }

    /// Whether the games of a generation that ended are still there, all of them.
    ///
    /// # Errors
    /// A file about them that cannot be read.
    pub fn has_games(&self, number: u32) -> Result<bool, Box<dyn Error>> {
        let played: Option<super::Played> = self.stage(number, "games.json")?;
        Ok(played.is_some_and(|p| p.files.iter().all(|file| self.games(number).join(file).exists())))
    }

    /// Deletes the trainings whose mean the network of a generation is.
    pub fn forget_runs(&self, number: u32) -> Result<(), Box<dyn Error>> {
        let runs = self.runs(number);
        if runs.exists() {
            std::fs::remove_dir_all(&runs).map_err(|e| at(&runs, e))?;
        }
        Ok(())
    }

    /// Deletes the games and the state in f32 of the generations before the last `keep`, the network of `player` and its
    /// state excepted.
    pub fn prune(&self, last: u32, keep: u32, player: u32) -> Result<(), Box<dyn Error>> {
        for number in 1..=last.saturating_sub(keep) {
            let games = self.games(number);
            if games.exists() {
                std::fs::remove_dir_all(&games).map_err(|e| at(&games, e))?;
            }
            let state = self.network(number).join(crate::train::run::CHECKPOINT);
            if number != player && state.exists() {
                std::fs::remove_file(&state).map_err(|e| at(&state, e))?;
            }
        }
        Ok(())
    }
}

pub(super) fn at(path: &Path, e: impl std::fmt::Display) -> Box<dyn Error> {
    format!("{}: {e}", path.display()).into()
}

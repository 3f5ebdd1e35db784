//! The start of a run: random parameters, a network, a checkpoint of another run, or a resumed run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::average::Average;
use super::checkpoint;
use super::error::TrainError;
use super::layout::Layout;
use super::model::Model;
use super::report::LogEntry;
use super::settings::TrainingSettings;
use super::source::DataSet;
use crate::data::RecordError;
use crate::data::read::fingerprint;
use crate::nnue::Network;
use crate::nnue::file::FILE_NAME;
use crate::resume::AtPath;
use crate::resume::identity::differences;

/// The inputs of a run besides its settings. A resumed run must have the same.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Material {
    /// Training positions in the set.
    pub positions: u64,
    /// A hash of the set's files; older checkpoints do not have it.
    #[serde(default)]
    pub data: Option<u64>,
    /// A hash of the file that the run started from.
    #[serde(default)]
    pub init: Option<u64>,
}

impl Material {
    /// The inputs of a run on `data`, with `positions` training positions, that starts from `init` if given.
    pub fn of(data: &DataSet, positions: u64, init: Option<&Path>) -> Result<Material, RecordError> {
        let file = init.map(|path| if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() });
        let init = file.map(|file| fingerprint([&*file])).transpose()?;
        Ok(Material { positions, data: Some(data.fingerprint()?), init })
    }

    /// The recorded inputs, with those of `now` where none are recorded or given.
    fn known(self, now: &Material) -> Material {
        match (self.data, now.init) {
            (None, _) => Material { positions: self.positions, ..*now },
            // a resumed run need not repeat --init
            (_, None) => Material { init: None, ..self },
            _ => self,
        }
    }
}

/// The part of a checkpoint that is not the model.
#[derive(Serialize, Deserialize)]
pub(super) struct RunState {
    pub settings: TrainingSettings,
    #[serde(flatten)]
    material: Material,
    /// Current pass, from 0.
    pub epoch: u32,
    /// Batches of that pass done.
    pub batch: u64,
    /// Seconds spent so far.
    pub seconds: f64,
    /// Samples and summed loss since the last entry of the log.
    pub recent: [f64; 2],
    pub log: Vec<LogEntry>,
}

/// The state in which a run starts.
pub(super) struct RunStart {
    pub model: Model,
    pub average: Option<Average>,
    pub state: RunState,
}

impl RunStart {
    /// The start of a new run, from `init` if given: a network, or a checkpoint with its parameters and
    /// moments.
    pub fn new(
        settings: &TrainingSettings,
        material: Material,
        init: Option<&Path>,
        warn: impl FnMut(String),
    ) -> Result<RunStart, TrainError> {
        Layout::new(settings.architecture)?;
        let mut model = match init {
            Some(path) => state_or_network(path, warn)?,
            None => Model::new(settings.architecture, settings.seed)?,
        };
        model.epsilon = settings.epsilon;
        let found = model.layout.architecture;
        if found != settings.architecture {
            return Err(TrainError::OtherArchitecture {
                path: init.unwrap_or(Path::new("")).to_owned(),
                found: found.shape.to_string(),
                name: found.name(),
                asked: settings.architecture.name(),
            });
        }
        let state = RunState {
            settings: settings.with_threads(),
            material,
            epoch: 0,
            batch: 0,
            seconds: 0.0,
            recent: [0.0; 2],
            log: Vec::new(),
        };
        Ok(RunStart { model, average: None, state }.with(settings))
    }

    /// The state in a checkpoint of the same run.
    pub fn resumed(
        path: &Path,
        settings: &TrainingSettings,
        material: Material,
    ) -> Result<RunStart, TrainError> {
        let checkpoint::Checkpoint { model, average, run } = checkpoint::load(path).at(path)?;
        let state: RunState = serde_json::from_str(&run).at(path)?;
        let mut asked = settings.clone();
        if asked.threads == 0 {
            asked.threads = state.settings.threads;
        }
        let there = state.material.known(&material);
        if state.settings != asked || there != material {
            let differences =
                [differences(&state.settings, &asked), differences(&there, &material)].concat().join("; ");
            return Err(TrainError::OtherRun { path: path.to_owned(), differences });
        }
        Ok(RunStart { model, average, state }.with(settings))
    }

    fn with(mut self, settings: &TrainingSettings) -> RunStart {
        self.model.epsilon = settings.epsilon;
        self.model.row_rate = settings.row_rate;
        self.average = settings.ema.map(|decay| self.average.unwrap_or_else(|| Average::new(decay)));
        self
    }
}

fn state_or_network(path: &Path, mut warn: impl FnMut(String)) -> Result<Model, TrainError> {
    if path.is_file() && checkpoint::is_one(path).at(path)? {
        return Ok(checkpoint::load(path).at(path)?.model);
    }
    let (net, warnings) =
        Network::load(path).map_err(|source| TrainError::Network { path: path.to_owned(), source })?;
    warnings.iter().for_each(|w| warn(format!("warning: {w}")));
    Model::from_network(&net).map_err(|source| TrainError::FromNetwork { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_compared_by_what_they_record() {
        let now = Material { positions: 5, data: Some(1), init: Some(2) };
        let continues = |there: Material, now: Material| there.known(&now) == now;
        let old: Material = serde_json::from_str("{\"positions\": 5}").unwrap();
        assert!(continues(old, now) && !continues(old, Material { positions: 6, ..now }));
        let omitted = Material { init: None, ..now };
        assert!(continues(now, now) && continues(now, omitted) && !continues(omitted, now));
        assert!(!continues(now, Material { data: Some(3), ..now }));
    }
}

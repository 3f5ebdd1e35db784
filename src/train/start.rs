//! Where a run begins: afresh, from a network, from the state that another run left, or where it was stopped.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::average::Average;
use super::checkpoint;
use super::error::TrainError;
use super::model::Model;
use super::report::Entry;
use super::settings::Settings;
use super::source::DataSet;
use super::tie::untieable;
use crate::data::RecordError;
use crate::data::read::fingerprint;
use crate::nnue::Network;
use crate::nnue::file::FILE_NAME;
use crate::resume::AtPath;
use crate::resume::identity::differences;

/// What a run is made from, beside its settings; one that goes on is made from the same.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Material {
    /// Training positions in the set.
    pub positions: u64,
    /// A number for the content of the set's files; checkpoints of older versions do not have it.
    #[serde(default)]
    pub data: Option<u64>,
    /// The same for the file that the run started from.
    #[serde(default)]
    pub init: Option<u64>,
}

impl Material {
    /// That of a run on `data`, with so many training positions, that starts from `init` if that is given.
    pub fn of(data: &DataSet, positions: u64, init: Option<&Path>) -> Result<Material, RecordError> {
        let file = init.map(|path| if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() });
        let init = file.map(|file| fingerprint([&*file])).transpose()?;
        Ok(Material { positions, data: Some(data.fingerprint()?), init })
    }

    /// The part of it that a run of this material has to be compared with.
    fn known(self, now: &Material) -> Material {
        match (self.data, now.init) {
            (None, _) => Material { positions: self.positions, ..*now },
            // where it started from need not be said again
            (_, None) => Material { init: None, ..self },
            _ => self,
        }
    }
}

/// The part of a checkpoint that is not the model.
#[derive(Serialize, Deserialize)]
pub(super) struct Place {
    pub settings: Settings,
    #[serde(flatten)]
    material: Material,
    /// The pass under way, from 0.
    pub epoch: u32,
    /// Batches of that pass already used.
    pub batch: u64,
    /// Time spent so far.
    pub seconds: f64,
    /// Samples and summed loss since the last line of the log.
    pub recent: [f64; 2],
    pub log: Vec<Entry>,
}

/// What a run begins with.
pub(super) struct Start {
    pub model: Model,
    pub average: Option<Average>,
    pub place: Place,
}

impl Start {
    /// The start of a new run, from `init` if that is given: a network, or a checkpoint, of which the parameters and the
    /// moments of their gradients go on.
    pub fn new(
        settings: &Settings,
        material: Material,
        init: Option<&Path>,
        warn: impl FnMut(String),
    ) -> Result<Start, TrainError> {
        let mut model = match init {
            Some(path) => state_or_network(path, warn)?,
            None => {
                let mut model = Model::new(settings.architecture, settings.seed)?;
                model.tied = settings.tie_mirror;
                model
            }
        };
        model.epsilon = settings.epsilon;
        let found = model.layout.architecture();
        if found != settings.architecture {
            return Err(TrainError::OtherArchitecture {
                path: init.unwrap_or(Path::new("")).to_owned(),
                found: found.shape.to_string(),
                name: found.name,
                asked: settings.architecture.name,
            });
        }
        if let (true, Some(reason)) = (settings.tie_mirror, untieable(model.layout)) {
            return Err(TrainError::NothingToShare { shape: found.shape.to_string(), reason });
        }
        if settings.tie_mirror {
            model.tie()?;
        } else if model.tied {
            return Err(TrainError::SharesRows);
        }
        let place = Place {
            settings: settings.with_threads(),
            material,
            epoch: 0,
            batch: 0,
            seconds: 0.0,
            recent: [0.0; 2],
            log: Vec::new(),
        };
        Ok(Start { model, average: None, place }.with(settings))
    }

    /// Where the run with this checkpoint was.
    pub fn resumed(path: &Path, settings: &Settings, material: Material) -> Result<Start, TrainError> {
        let checkpoint::Checkpoint { model, average, run } = checkpoint::load(path).at(path)?;
        let place: Place = serde_json::from_str(&run).at(path)?;
        let mut asked = settings.clone();
        if asked.threads == 0 {
            asked.threads = place.settings.threads;
        }
        let there = place.material.known(&material);
        if place.settings != asked || there != material {
            let differences =
                [differences(&place.settings, &asked), differences(&there, &material)].concat().join("; ");
            return Err(TrainError::OtherRun { path: path.to_owned(), differences });
        }
        Ok(Start { model, average, place }.with(settings))
    }

    fn with(mut self, settings: &Settings) -> Start {
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
    fn checkpoints_are_compared_by_what_they_tell() {
        let now = Material { positions: 5, data: Some(1), init: Some(2) };
        let goes_on = |there: Material, now: Material| there.known(&now) == now;
        let old: Material = serde_json::from_str("{\"positions\": 5}").unwrap();
        assert!(goes_on(old, now) && !goes_on(old, Material { positions: 6, ..now }));
        let unsaid = Material { init: None, ..now };
        assert!(goes_on(now, now) && goes_on(now, unsaid) && !goes_on(unsaid, now));
        assert!(!goes_on(now, Material { data: Some(3), ..now }));
    }
}

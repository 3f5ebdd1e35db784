//! Where a run begins: afresh, from a network, from the state that another run left, or where it was stopped.

use std::error::Error;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::average::Average;
use super::checkpoint;
use super::model::Model;
use super::report::Entry;
use super::settings::Settings;
use super::tie::untieable;
use crate::console::differences;
use crate::nnue::Network;

/// The part of a checkpoint that is not the model.
#[derive(Serialize, Deserialize)]
pub(super) struct Place {
    pub settings: Settings,
    /// Training positions in the set.
    positions: u64,
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
        positions: u64,
        init: Option<&Path>,
        warn: impl FnMut(String),
    ) -> Result<Start, Box<dyn Error>> {
        let mut model = match init {
            Some(path) => state_or_network(path, warn).map_err(|e| format!("{}: {e}", path.display()))?,
            None => {
                let mut model = Model::new(settings.architecture, settings.seed)?;
                model.tied = settings.tie_mirror;
                model
            }
        };
        model.epsilon = settings.epsilon;
        let found = model.layout.architecture();
        if found != settings.architecture {
            let (path, asked) = (init.unwrap_or(Path::new("")).display(), settings.architecture.name);
            return Err(format!(
                "{path} holds a {} network, and --arch {asked} is to be trained: give --arch {}, or another start",
                found.shape, found.name
            )
            .into());
        }
        if let (true, Some(why_not)) = (settings.tie_mirror, untieable(model.layout)) {
            return Err(format!("--tie-mirror: in a {} network {why_not}", found.shape).into());
        }
        if settings.tie_mirror {
            model.tie()?;
        } else if model.tied {
            return Err(
                "the state to start from shares the rows of mirrored king squares: give --tie-mirror, too, \
                        or start from its network"
                    .into(),
            );
        }
        let place = Place {
            settings: settings.with_threads(),
            positions,
            epoch: 0,
            batch: 0,
            seconds: 0.0,
            recent: [0.0; 2],
            log: Vec::new(),
        };
        Ok(Start { model, average: None, place }.with(settings))
    }

    /// Where the run with this checkpoint was.
    pub fn resumed(path: &Path, settings: &Settings, positions: u64) -> Result<Start, Box<dyn Error>> {
        let named = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let checkpoint::Checkpoint { model, average, run } = checkpoint::load(path).map_err(|e| named(&e))?;
        let place: Place = serde_json::from_str(&run).map_err(|e| named(&e))?;
        let mut asked = settings.clone();
        if asked.threads == 0 {
            asked.threads = place.settings.threads;
        }
        if place.settings != asked || place.positions != positions {
            let differences = differences(
                &json!({ "settings": asked, "positions": positions }),
                &json!({ "settings": place.settings, "positions": place.positions }),
            );
            let what = format!("made with other settings or data ({differences})");
            return Err(
                named(&format!("{what}; the same go on, and without this file the run begins anew")).into()
            );
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

fn state_or_network(path: &Path, mut warn: impl FnMut(String)) -> Result<Model, Box<dyn Error>> {
    if path.is_file() && checkpoint::is_one(path)? {
        return Ok(checkpoint::load(path)?.model);
    }
    let (net, warnings) = Network::load(path)?;
    warnings.iter().for_each(|w| warn(format!("warning: {w}")));
    Ok(Model::from_network(&net)?)
}

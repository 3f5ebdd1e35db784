//! Readings in files, so that a run that was stopped continues, and a finished one is not done again.

use super::analyst::{Effort, Settings};
use super::reading::Readings;
use crate::record::Record;
use crate::resume::{AtPath, ResumeError, identity, whole_file};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::io;
use std::path::Path;

/// The part of a report, finished or not, that a later run needs.
#[derive(Serialize, Deserialize)]
struct StoredReadings {
    engine: String,
    settings: Settings,
    root: String,
    moves: Vec<StoredMove>,
    #[serde(flatten)]
    readings: Readings,
}

#[derive(Serialize, Deserialize)]
struct StoredMove {
    usi: String,
}

impl StoredReadings {
    fn new(record: &Record, settings: &Settings, engine: &str, readings: Readings) -> StoredReadings {
        StoredReadings {
            engine: engine.into(),
            settings: settings.clone(),
            root: record.root.sfen(),
            moves: record.moves.iter().map(|ply| StoredMove { usi: ply.mv.to_string() }).collect(),
            readings,
        }
    }

    /// What a later run must have in common with it.
    fn identity(&self) -> Json {
        let moves: Vec<&str> = self.moves.iter().map(|m| m.usi.as_str()).collect();
        let game = format!("sfen {} moves {}", self.root, moves.join(" "));
        let mut settings = self.settings.clone();
        if !matches!(settings.effort, Effort::Movetime(_)) {
            // the readings do not depend on them
            settings.threads = 1;
        }
        json!({ "engine": self.engine, "settings": settings, "game": game })
    }
}

/// The readings in a file, by position; none if there is no file.
///
/// # Errors
/// [`ResumeError::OtherSettings`] if they are of another game, engine or settings; the file cannot be read.
pub fn load(
    path: &Path,
    record: &Record,
    settings: &Settings,
    engine: &str,
) -> Result<Option<Readings>, ResumeError> {
    let text = match std::fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.at(path)?,
    };
    let stored: StoredReadings = serde_json::from_slice(&text).at(path)?;
    let now = StoredReadings::new(record, settings, engine, Readings::default());
    identity::check(path, &stored.identity(), &now.identity())?;
    Ok(Some(stored.readings))
}

/// Writes the readings of a game that is not finished.
///
/// # Errors
/// The file cannot be written.
pub fn save(
    path: &Path,
    record: &Record,
    settings: &Settings,
    engine: &str,
    readings: &Readings,
) -> Result<(), ResumeError> {
    let stored = StoredReadings::new(record, settings, engine, readings.clone());
    whole_file::write(path, serde_json::to_vec(&stored).at(path)?).at(path)
}

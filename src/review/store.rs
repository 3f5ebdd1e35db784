//! Readings kept in files, so that a run that was stopped goes on, and a finished one is not done again.

use super::analyst::Settings;
use super::reading::Reading;
use crate::record::Record;
use crate::resume::whole_file;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// What of a report, or of an unfinished one, says which readings are known already.
#[derive(Serialize, Deserialize)]
struct Kept {
    engine: String,
    settings: Settings,
    root: String,
    moves: Vec<KeptMove>,
    positions: Vec<Option<Reading>>,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct KeptMove {
    usi: String,
}

/// Why kept readings cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum StoreError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("no reading of a game: {0}")]
    Json(#[from] serde_json::Error),
    #[error("is of another game, engine or settings")]
    Other,
}

fn moves(record: &Record) -> Vec<KeptMove> {
    record.moves.iter().map(|ply| KeptMove { usi: ply.mv.to_string() }).collect()
}

/// The readings in a file, by position; none where there is no file.
///
/// # Errors
/// [`StoreError`]; with [`Other`](StoreError::Other) the file is sound but not of this game, engine and settings.
pub fn load(
    path: &Path,
    record: &Record,
    settings: &Settings,
    engine: &str,
) -> Result<Option<Vec<Option<Reading>>>, StoreError> {
    let text = match std::fs::read_to_string(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let kept: Kept = serde_json::from_str(&text)?;
    let same = kept.engine == engine
        && kept.settings == *settings
        && kept.root == record.root.sfen()
        && kept.moves == moves(record)
        && kept.positions.len() == record.moves.len() + 1;
    if same { Ok(Some(kept.positions)) } else { Err(StoreError::Other) }
}

/// Keeps the readings of a game that is not finished.
///
/// # Errors
/// When the file cannot be written.
pub fn save(
    path: &Path,
    record: &Record,
    settings: &Settings,
    engine: &str,
    readings: &[Option<Reading>],
) -> Result<(), StoreError> {
    let kept = Kept {
        engine: engine.into(),
        settings: settings.clone(),
        root: record.root.sfen(),
        moves: moves(record),
        positions: readings.to_vec(),
    };
    Ok(whole_file::write(path, serde_json::to_vec(&kept)?)?)
}

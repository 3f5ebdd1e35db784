//! The searches of a run on disk: [`open`].
//!
//! The first line of the journal has the run's settings. Searches come in rounds. The positions of a round
//! depend on the earlier rounds only, so a run that was killed makes the same book as one that was not.

use crate::book::{BookMove, PackedPosition};
use crate::resume::{Journal, ResumeError, identity};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::path::Path;

/// A position with its ply and its moves (none if the game is over).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchedPosition {
    pub packed: PackedPosition,
    pub ply: u16,
    pub moves: Vec<BookMove>,
}

/// A line of the journal.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrowthLine {
    Settings(Json),
    Searched(SearchedPosition),
    RoundEnd,
}

/// The searches in a journal.
#[derive(Default)]
pub struct Searches {
    /// By complete round.
    pub rounds: Vec<Vec<SearchedPosition>>,
    /// Of the round that is not complete.
    pub rest: Vec<SearchedPosition>,
}

/// Opens a journal, or begins one of a run with these settings.
///
/// # Errors
/// A journal with other settings; the errors of [`Journal::open`].
pub fn open(path: &Path, settings: &Json) -> Result<(Journal<GrowthLine>, Searches), ResumeError> {
    let (mut journal, lines) = Journal::open(path)?;
    if lines.is_empty() {
        journal.append(&GrowthLine::Settings(settings.clone()))?;
    }
    let mut searches = Searches::default();
    for line in lines {
        match line {
            GrowthLine::Settings(before) => identity::check(path, &before, settings)?,
            GrowthLine::Searched(position) => searches.rest.push(position),
            GrowthLine::RoundEnd => searches.rounds.push(std::mem::take(&mut searches.rest)),
        }
    }
    Ok((journal, searches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::read_move;
    use crate::position::handicap;
    use serde_json::json;

    fn searched(i: usize) -> SearchedPosition {
        let m = BookMove::new(read_move(b"7g7f").unwrap()).with_value(Some(-5)).with_depth(Some(9));
        SearchedPosition {
            packed: handicap::starts().nth(i).and_then(|pos| PackedPosition::of(&pos)).unwrap(),
            ply: 1,
            moves: if i == 2 { Vec::new() } else { vec![m.with_count(Some(3)), m] },
        }
    }

    #[test]
    fn rounds_round_trip_and_other_settings_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db.journal");
        let (one, two) = (json!({"nodes": 1}), json!({"nodes": 2}));
        let mut journal = open(&path, &one).unwrap().0;
        for i in 0..3 {
            journal.append(&GrowthLine::Searched(searched(i))).unwrap();
        }
        journal.append(&GrowthLine::RoundEnd).unwrap();
        journal.append(&GrowthLine::Searched(searched(3))).unwrap();
        drop(journal);
        let error = open(&path, &two).err().unwrap().to_string();
        assert!(error.contains("a.db.journal was made with other settings (nodes was 1, now 2)"), "{error}");
        let (_journal, searches) = open(&path, &one).unwrap();
        assert_eq!(searches.rounds, [[0, 1, 2].map(searched)]);
        assert_eq!(searches.rest, [searched(3)]);
    }
}

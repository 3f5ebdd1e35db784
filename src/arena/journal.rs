//! The games of a match on disk, a JSON line each: [`GameLine`], [`open`].

use super::adjudication::{EndReason, Winner};
use super::game::PlayedMove;
use crate::resume::{AtPath, Journal, ResumeError, identity, whole_file};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::path::Path;

/// A game as a line of `games.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameLine {
    /// Its number in the schedule.
    pub game: u64,
    /// Black's name in the match.
    pub black: String,
    /// White's.
    pub white: String,
    /// Who won.
    pub winner: Winner,
    /// Why it ended.
    pub reason: EndReason,
    /// More about a fault.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub detail: String,
    /// As after `position`.
    pub opening: String,
    /// The moves after the opening.
    pub plies: Vec<PlayedMove>,
    /// When the game began; unknown in journals of older versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<Timestamp>,
}

/// The journal of a match: a directory with the games in `games.jsonl` and the settings in `match.json`.
///
/// # Errors
/// There are games, and `resume` is not set; they are of a match with other settings; the errors of
/// [`Journal::open`].
pub fn open(
    dir: &Path,
    settings: &Json,
    resume: bool,
) -> Result<(Journal<GameLine>, Vec<GameLine>), ResumeError> {
    std::fs::create_dir_all(dir).at(dir)?;
    let (path, about) = (dir.join("games.jsonl"), dir.join("match.json"));
    let (journal, games) = Journal::open(&path)?;
    if !resume && std::fs::metadata(&path).is_ok_and(|m| m.len() > 0) {
        return Err(ResumeError::Exists(path));
    }
    if !games.is_empty() {
        let before = std::fs::read(&about).at(&about)?;
        let mut before: Json = serde_json::from_slice(&before).at(&about)?;
        // older versions recorded no networks
        if let (Some(networks), Some(before)) = (settings.get("networks"), before.as_object_mut()) {
            before.entry("networks").or_insert_with(|| networks.clone());
        }
        identity::check(&about, &before, settings)?;
    }
    whole_file::write_json(&about, settings).at(&about)?;
    Ok((journal, games))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(game: u64) -> GameLine {
        GameLine {
            game,
            black: "A".into(),
            white: "B".into(),
            winner: Winner::Draw,
            reason: EndReason::PerpetualCheck,
            detail: String::new(),
            opening: "startpos".into(),
            plies: vec![PlayedMove {
                mv: "7g7f".into(),
                score: Some(-3),
                depth: None,
                nodes: Some(5),
                ms: 1.25,
                pv: vec!["3c3d".into()],
            }],
            start: Some(Timestamp::UNIX_EPOCH),
            end: None,
        }
    }

    #[test]
    fn a_match_resumes_with_the_same_settings_only() {
        let dir = tempfile::tempdir().unwrap();
        let settings = json!({"seed": 1, "engines": ["A", "B"], "networks": {"A": "x"}});
        let (mut journal, games) = open(dir.path(), &settings, false).unwrap();
        assert!(games.is_empty());
        (0..3).for_each(|i| journal.append(&line(i)).unwrap());
        assert!(matches!(open(dir.path(), &settings, true), Err(ResumeError::InUse { .. })));
        drop(journal);
        assert!(matches!(open(dir.path(), &settings, false), Err(ResumeError::Exists(_))));
        let other = json!({"seed": 2, "engines": ["A", "C"], "networks": {}});
        let error = open(dir.path(), &other, true).err().unwrap().to_string();
        let expected = "match.json was made with other settings (engines[1] was \"B\", now \"C\"; ";
        assert!(error.contains(expected) && error.contains("seed was 1, now 2"), "{error}");
        assert_eq!(open(dir.path(), &settings, true).unwrap().1, [line(0), line(1), line(2)]);
        // an older version did not record networks
        std::fs::write(dir.path().join("match.json"), r#"{"seed": 1, "engines": ["A", "B"]}"#).unwrap();
        assert_eq!(open(dir.path(), &settings, true).unwrap().1.len(), 3);
        // games without settings may be of any match
        std::fs::remove_file(dir.path().join("match.json")).unwrap();
        assert!(open(dir.path(), &settings, true).is_err());
    }
}

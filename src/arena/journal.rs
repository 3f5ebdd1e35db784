//! The games of a match on disk, a line of JSON each, so that a match survives its process: [`Journal`].

use super::adjudication::{Reason, Winner};
use super::game::Ply;
use crate::resume::{lock, whole_file};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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
    pub reason: Reason,
    /// More about a fault.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub detail: String,
    /// As after `position`.
    pub opening: String,
    /// The moves after the opening.
    pub plies: Vec<Ply>,
    /// When the game began; unknown in journals of older versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<Timestamp>,
}

/// Why a directory cannot take a match's games.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Reading or writing failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something is there, and the match is not to resume.
    #[error("{0} is not empty; --resume goes on with the games in it, another directory leaves them alone")]
    Exists(PathBuf),
    /// A line that this program did not write.
    #[error("{path}, line {line}: not a game ({source})")]
    Line {
        /// The file of the games.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The settings differ.
    #[error("{path} is of another match ({what}: not the same)")]
    Other {
        /// The file of the settings.
        path: PathBuf,
        /// The first that differs.
        what: String,
    },
    /// Another process writes there.
    #[error("another process plays this match ({0} is locked)")]
    Locked(PathBuf),
}

/// The open file of a match.
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal in `dir` and returns the games that are there already. `settings` say what match it is; they
    /// are kept in `match.json`.
    ///
    /// # Errors
    /// When the file of the games is not empty and `resume` is not set, when a line of it is not a game, or when the games
    /// are of a match with other settings. The file stays as it is then.
    pub fn open(
        dir: &Path,
        settings: &serde_json::Value,
        resume: bool,
    ) -> Result<(Journal, Vec<GameLine>), JournalError> {
        let at = |path: &Path| {
            let path = path.to_path_buf();
            move |source| JournalError::Io { path, source }
        };
        std::fs::create_dir_all(dir).map_err(at(dir))?;
        let (path, about) = (dir.join("games.jsonl"), dir.join("match.json"));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(at(&path))?;
        if !lock::take(&file) {
            return Err(JournalError::Locked(path));
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(at(&path))?;
        if !text.is_empty() {
            if !resume {
                return Err(JournalError::Exists(path));
            }
            let before = std::fs::read(&about).map_err(at(&about))?;
            let before: serde_json::Value = serde_json::from_slice(&before).unwrap_or_default();
            if let Some(what) = first_difference(settings, &before) {
                return Err(JournalError::Other { path: about, what });
            }
        }
        // a killed process may leave an incomplete last line, which alone is lost
        text.truncate(text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        let mut games = Vec::new();
        for (i, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let game = serde_json::from_slice(line);
            games.push(game.map_err(|source| JournalError::Line {
                path: path.clone(),
                line: i + 1,
                source,
            })?);
        }
        file.set_len(text.len() as u64).map_err(at(&path))?;
        file.seek(SeekFrom::End(0)).map_err(at(&path))?;
        write_json(&about, settings).map_err(at(&about))?;
        Ok((Journal { file, path }, games))
    }

    /// Appends a game.
    pub fn write(&mut self, game: &GameLine) -> Result<(), JournalError> {
        let mut line = serde_json::to_vec(game).unwrap_or_default();
        line.push(b'\n');
        // one write a line: a killed process leaves at most one incomplete line, the last
        self.file.write_all(&line).map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }
}

/// The name of the first member that differs.
fn first_difference(a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
    match (a.as_object(), b.as_object()) {
        (Some(a), Some(b)) => {
            // journals of older versions say nothing of networks
            let differs = |key: &str, value| b.get(key).map_or(key != "networks", |there| there != value);
            a.iter().find(|&(key, value)| differs(key, value)).map(|(key, _)| key.clone())
        }
        _ => (a != b).then(|| "everything".into()),
    }
}

/// Writes a file of this value, for people to read as well.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    whole_file::write(path, text)
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
            reason: Reason::PerpetualCheck,
            detail: String::new(),
            opening: "startpos".into(),
            plies: vec![Ply {
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
    fn journals_resume_after_a_torn_line_and_refuse_other_matches() {
        let dir = tempfile::tempdir().unwrap();
        let settings = json!({"seed": 1, "engines": ["A", "B"]});
        let (mut journal, games) = Journal::open(dir.path(), &settings, false).unwrap();
        assert!(games.is_empty());
        assert!(matches!(Journal::open(dir.path(), &settings, true), Err(JournalError::Locked(_))));
        (0..3).for_each(|i| journal.write(&line(i)).unwrap());
        drop(journal);
        let path = dir.path().join("games.jsonl");
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        assert!(matches!(Journal::open(dir.path(), &settings, false), Err(JournalError::Exists(_))));
        let other = json!({"seed": 2, "engines": ["A", "B"]});
        let error = Journal::open(dir.path(), &other, true).err().unwrap();
        assert!(error.to_string().contains("seed"), "{error}");
        let (mut journal, games) = Journal::open(dir.path(), &settings, true).unwrap();
        assert_eq!(games, [line(0), line(1)]);
        journal.write(&line(2)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn a_file_with_a_line_that_is_not_a_game_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (path, settings) = (dir.path().join("games.jsonl"), json!({"seed": 1}));
        let (mut journal, _) = Journal::open(dir.path(), &settings, false).unwrap();
        (0..3).for_each(|i| journal.write(&line(i)).unwrap());
        drop(journal);
        let games = std::fs::read_to_string(&path).unwrap();
        for bad in 0..3 {
            let lines = games.lines().enumerate();
            let text: String =
                lines.map(|(i, l)| if i == bad { "x\n".into() } else { format!("{l}\n") }).collect();
            std::fs::write(&path, &text).unwrap();
            let error = Journal::open(dir.path(), &settings, true).err().unwrap().to_string();
            assert!(error.contains(&format!("games.jsonl, line {}: ", bad + 1)), "{error}");
            assert!(matches!(Journal::open(dir.path(), &settings, false), Err(JournalError::Exists(_))));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        // a file of somebody else, which has but one line and no end
        std::fs::remove_file(dir.path().join("match.json")).unwrap();
        std::fs::write(&path, "a note").unwrap();
        for resume in [false, true] {
            assert!(Journal::open(dir.path(), &settings, resume).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "a note");
        }
    }
}

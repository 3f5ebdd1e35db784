//! Records of the games: a CSA file each, and a line of JSON each in `games.jsonl`.

use super::game::{GameOutcome, ServerGame};
use super::protocol::Verdict;
use crate::record::csa;
use crate::resume::{AtPath, ResumeError, whole_file};
use crate::types::Color;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A line of `games.jsonl`. Times are seconds unless the name says milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct JournalLine {
    pub game_id: String,
    pub server: String,
    /// The game's name as logged in with.
    pub game: String,
    /// Whether the result counts for a rating: a floodgate game with a trip.
    pub rated: bool,
    pub start: Timestamp,
    pub end: Timestamp,
    pub black: String,
    pub white: String,
    pub our_color: &'static str,
    /// `win`, `lose`, `draw`, `censored`, `chudan`; none when the connection broke before the end.
    pub result: Option<Verdict>,
    /// The server's word without its sign: `RESIGN`, `TIME_UP`, ...
    pub reason: Option<String>,
    pub plies: usize,
    pub total_time: Option<f64>,
    pub byoyomi: f64,
    pub increment: f64,
    /// What was left on our clock.
    pub time_left: f64,
    /// The worst difference between the server's clock and ours in the last moves.
    pub lag_ms: u64,
    pub engine: String,
    /// Mean depth and all nodes of our moves.
    pub depth: Option<f64>,
    pub nodes: u64,
    /// The record's file name.
    pub record: String,
}

/// What is not part of the game itself.
#[derive(Clone, Debug)]
pub struct Circumstances {
    pub server: String,
    pub game: String,
    pub rated: bool,
    pub start: Zoned,
    pub end: Zoned,
    pub lag_ms: u64,
    pub engine: String,
    pub depths: Vec<u32>,
    pub nodes: u64,
}

/// Writes the records of a directory. What cannot be written now (a full disk) is kept and tried again with the next
/// game.
pub struct Recorder {
    dir: PathBuf,
    waiting: Vec<UnwrittenRecord>,
}

/// Files yet to write.
struct UnwrittenRecord {
    name: String,
    record: String,
    /// For `games.jsonl`.
    line: Option<String>,
}

impl Recorder {
    /// # Errors
    /// When the directory cannot be made.
    pub fn new(dir: &Path) -> Result<Recorder, ResumeError> {
        std::fs::create_dir_all(dir).at(dir)?;
        Ok(Recorder { dir: dir.into(), waiting: Vec::new() })
    }

    /// Keeps a game that has ended. The path of its record.
    ///
    /// # Errors
    /// When it cannot be written; it is not lost then, see [`retry`](Self::retry).
    pub fn finished(
        &mut self,
        game: &ServerGame,
        outcome: &GameOutcome,
        about: &Circumstances,
    ) -> io::Result<PathBuf> {
        let name = file_name(&game.summary.game_id);
        let line = serde_json::to_string(&game_line(game, outcome, about, &name))?;
        self.add(name, text(game, about), Some(line))
    }

    /// Keeps a game that may go on: its record only.
    ///
    /// # Errors
    /// As [`finished`](Self::finished).
    pub fn interrupted(&mut self, game: &ServerGame, about: &Circumstances) -> io::Result<PathBuf> {
        self.add(file_name(&game.summary.game_id), text(game, about), None)
    }

    fn add(&mut self, name: String, record: String, line: Option<String>) -> io::Result<PathBuf> {
        let path = self.dir.join(&name);
        self.waiting.push(UnwrittenRecord { name, record, line });
        self.retry().map(|()| path)
    }

    /// Writes what could not be written before.
    ///
    /// # Errors
    /// When it still cannot.
    pub fn retry(&mut self) -> io::Result<()> {
        while let Some(record) = self.waiting.first() {
            whole_file::write(&self.dir.join(&record.name), &record.record)?;
            if let Some(line) = &record.line {
                let mut journal =
                    File::options().create(true).append(true).open(self.dir.join("games.jsonl"))?;
                // in one write: other clients may append to the same file
                journal.write_all(format!("{line}\n").as_bytes())?;
                journal.sync_data()?;
            }
            self.waiting.remove(0);
        }
        Ok(())
    }

    /// How many games are not on disk.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// The server chooses the id; it must not be able to choose a path.
fn file_name(game_id: &str) -> String {
    const LONGEST: usize = 180;
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '@');
    let name: String = game_id.chars().take(LONGEST).map(|c| if safe(c) { c } else { '_' }).collect();
    format!("{}.csa", if name.is_empty() { "game" } else { &name })
}

fn text(game: &ServerGame, about: &Circumstances) -> String {
    const FORMAT: &str = "%Y/%m/%d %H:%M:%S";
    let mut record = game.record.clone();
    record.headers.push(("START_TIME".into(), about.start.strftime(FORMAT).to_string()));
    record.headers.push(("END_TIME".into(), about.end.strftime(FORMAT).to_string()));
    csa::write(&record)
}

fn game_line(game: &ServerGame, outcome: &GameOutcome, about: &Circumstances, record: &str) -> JournalLine {
    let us = game.our_color();
    let control = game.clock.control(us);
    let seconds = |ms: u64| ms as f64 / 1000.0;
    let [black, white] = game.summary.names.clone();
    let depths = &about.depths;
    let mean = depths.iter().map(|d| f64::from(*d)).sum::<f64>() / depths.len().max(1) as f64;
    JournalLine {
        game_id: game.summary.game_id.clone(),
        server: about.server.clone(),
        game: about.game.clone(),
        rated: about.rated,
        start: about.start.timestamp(),
        end: about.end.timestamp(),
        black,
        white,
        our_color: if us == Color::Black { "black" } else { "white" },
        result: outcome.verdict,
        reason: outcome.reason.map(|r| r.to_string().trim_start_matches('#').to_string()),
        plies: game.record.moves.len(),
        total_time: control.total.map(seconds),
        byoyomi: seconds(control.byoyomi),
        increment: seconds(control.increment),
        time_left: seconds(game.clock.left(us)),
        lag_ms: about.lag_ms,
        engine: about.engine.clone(),
        depth: (!depths.is_empty()).then_some((mean * 10.0).round() / 10.0),
        nodes: about.nodes,
        record: record.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_harmless() {
        assert_eq!(
            file_name("wdoor+floodgate-300-10F+a+b+20260717163004"),
            "wdoor+floodgate-300-10F+a+b+20260717163004.csa"
        );
        assert_eq!(file_name("../../etc/passwd"), "______etc_passwd.csa");
        assert_eq!(file_name(""), "game.csa");
        assert_eq!(file_name(&"あ".repeat(500)).len(), 184);
    }

    #[test]
    fn what_cannot_be_written_waits() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(&dir.path().join("a")).unwrap();
        std::fs::remove_dir(dir.path().join("a")).unwrap();
        assert!(recorder.add("x.csa".into(), "V2.2\n".into(), Some("{}".into())).is_err());
        assert_eq!(recorder.waiting(), 1);
        std::fs::create_dir(dir.path().join("a")).unwrap();
        recorder.add("y.csa".into(), "V2.2\n".into(), None).unwrap();
        assert_eq!(recorder.waiting(), 0);
        let mut names: Vec<_> =
            std::fs::read_dir(dir.path().join("a")).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["games.jsonl", "x.csa", "y.csa"]);
    }
}

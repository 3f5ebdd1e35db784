//! What a session is to do: [`Settings`]. The command line and the TOML file make them.

use super::secret::Secret;
use jiff::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

/// All that is needed to play.
#[derive(Clone, Debug)]
pub struct Settings {
    pub host: String,
    pub port: u16,
    pub id: String,
    pub password: Secret,
    /// The game's name; empty for servers that want none.
    pub game: String,
    /// Program and arguments of another engine.
    pub engine: Option<Vec<String>>,
    pub options: Vec<(String, String)>,
    pub ponder: bool,
    pub comments: bool,
    /// Resign at minus so many centipawns ...
    pub resign: Option<i32>,
    /// ... so many moves in a row.
    pub resign_moves: u32,
    pub games: Option<u32>,
    pub until: Option<Timestamp>,
    pub out: PathBuf,
    pub log: Option<PathBuf>,
    pub keep_alive: Duration,
    /// Milliseconds.
    pub margin: u64,
    pub max_wait: Duration,
    pub dry_run: bool,
    pub quiet: bool,
}

/// What is wrong with the settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{path}: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("give --{0}")]
    Missing(&'static str),
    #[error("--{name}: {reason}")]
    Value { name: &'static str, reason: String },
}

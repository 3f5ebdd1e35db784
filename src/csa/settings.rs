//! What a session is to do: [`Settings`]. The command line and the TOML file make them.

use super::secret::Secret;
use jiff::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

/// All that is needed to play.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name or address of the server.
    pub host: String,
    /// Its TCP port.
    pub port: u16,
    /// Name to log in with.
    pub id: String,
    /// On floodgate the trip alone.
    pub password: Secret,
    /// The game's name; empty for servers that want none.
    pub game: String,
    /// Program and arguments of another engine.
    pub engine: Option<Vec<String>>,
    /// USI options, the later of two holds.
    pub options: Vec<(String, String)>,
    /// Whether to think on the opponent's time.
    pub ponder: bool,
    /// Whether to send score and line with the moves.
    pub comments: bool,
    /// Resign at minus so many centipawns ...
    pub resign: Option<i32>,
    /// ... so many moves in a row.
    pub resign_moves: u32,
    /// How many to play.
    pub games: Option<u32>,
    /// No game begins after this.
    pub until: Option<Timestamp>,
    /// Directory of the records.
    pub out: PathBuf,
    /// File of the dialogue.
    pub log: Option<PathBuf>,
    /// Silence after which to send an empty line.
    pub keep_alive: Duration,
    /// Milliseconds.
    pub margin: u64,
    /// How long to wait for an answer that needs no thinking.
    pub answer: Duration,
    /// Longest wait between two tries to connect.
    pub max_wait: Duration,
    /// Play against itself on this machine.
    pub dry_run: bool,
    /// Only warnings on standard error.
    pub quiet: bool,
}

/// What is wrong with the settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file cannot be used.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A flag without which it does not work.
    #[error("give --{0}")]
    Missing(&'static str),
    /// A flag has a value that makes no sense.
    #[error("--{name}: {reason}")]
    Value {
        /// The flag without its dashes.
        name: &'static str,
        /// What is wrong.
        reason: String,
    },
}

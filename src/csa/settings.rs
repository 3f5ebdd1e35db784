//! The settings of a session: [`Settings`]. They come from the command line and the TOML file.

use super::secret::Secret;
use jiff::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

/// All settings of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name or address of the server.
    pub host: String,
    /// Its TCP port.
    pub port: u16,
    /// Name to log in with.
    pub id: String,
    /// The password; on floodgate only the trip.
    pub password: Secret,
    /// The game's name; empty for servers without game names.
    pub game: String,
    /// Program and arguments of another engine.
    pub engine: Option<Vec<String>>,
    /// USI options; the last value of an option counts.
    pub options: Vec<(String, String)>,
    /// Whether to think on the opponent's time.
    pub ponder: bool,
    /// Whether to send score and principal variation with the moves.
    pub comments: bool,
    /// Resign at minus this number of centipawns ...
    pub resign: Option<i32>,
    /// ... for this number of consecutive moves.
    pub resign_moves: u32,
    /// Number of games to play.
    pub games: Option<u32>,
    /// No game begins after this time.
    pub until: Option<Timestamp>,
    /// Directory of the records.
    pub out: PathBuf,
    /// File for the log of the dialogue with the server.
    pub log: Option<PathBuf>,
    /// Time without a line after which an empty line is sent.
    pub keep_alive: Duration,
    /// Milliseconds of the clock to keep in reserve.
    pub margin: u64,
    /// How long to wait for an answer of the server.
    pub answer: Duration,
    /// Longest wait between two attempts to connect.
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
    /// A required flag is missing.
    #[error("give --{0}")]
    Missing(&'static str),
    /// A flag has an invalid value.
    #[error("--{name}: {reason}")]
    Value {
        /// The flag without its dashes.
        name: &'static str,
        /// What is wrong.
        reason: String,
    },
}

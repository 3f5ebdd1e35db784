//! Positions of the command line, and files of positions, one SFEN a line.

use crate::engine::GameError;
use crate::position::Position;
use crate::support::messages::{self, word};
use std::error::Error;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Why --sfen and --moves are not accepted, in the language of the process.
pub fn refused(error: GameError) -> String {
    match error {
        GameError::Sfen(why) => messages::bad_sfen(why),
        GameError::Move { number, reason } => {
            messages::move_refused(number, reason.text.escape_debug(), word(&reason.reason.to_string()))
        }
        GameError::PassInCheck { .. } => error.to_string(),
    }
}

/// Calls `f` with the positions of a file (`-` is standard input): one SFEN a line; what follows a tab, empty lines and
/// lines that begin with # are ignored.
pub fn for_each_position(
    path: &Path,
    mut f: impl FnMut(&str, Position) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let in_file = |e: &dyn Display| format!("{}: {e}", path.display());
    let reader: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|e| in_file(&e))?;
        Box::new(BufReader::new(file))
    };
    for (number, text) in reader.lines().enumerate() {
        let text = text.map_err(|e| in_file(&e))?;
        let sfen = text.split('\t').next().unwrap_or_default().trim();
        if !sfen.is_empty() && !sfen.starts_with('#') {
            let pos =
                Position::from_sfen(sfen).map_err(|e| in_file(&format_args!("line {}: {e}", number + 1)))?;
            f(sfen, pos)?;
        }
    }
    Ok(())
}

/// The positions of a file, if there is one.
pub fn sample(path: Option<&Path>) -> Result<Vec<Position>, Box<dyn Error>> {
    let mut positions = Vec::new();
    if let Some(path) = path {
        for_each_position(path, |_, pos| {
            positions.push(pos);
            Ok(())
        })?;
    }
    Ok(positions)
}

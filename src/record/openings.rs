//! Files of openings, and the one inside the binary: one line per game, as in USI's `position` command.
//!
//! ```
//! use toratsugumi::record::openings::Opening;
//!
//! let openings = Opening::embedded()?;
//! assert_eq!(openings.len(), 500);
//! println!("{}", openings[0].position().sfen());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::position::Position;
use crate::resume::sha256::sha256;
use crate::support::random::Rng;
use crate::types::Move;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

/// The balanced openings of `book/`, made by `toratsugumi openings`.
const EMBEDDED: &str = include_str!("../../book/openings.txt");

/// A position and the moves after it.
#[derive(Clone)]
pub struct Opening {
    /// The position before the moves, in SFEN: a million openings take less memory than as [`Position`]s.
    root: Option<Box<str>>,
    /// The moves from there.
    pub moves: Vec<Move>,
}

/// An openings file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpeningsError {
    /// It cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A line is wrong.
    #[error("{path}, line {line}: {what}")]
    Line {
        /// The file.
        path: String,
        /// 1-based.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A line starts where training records cannot.
    #[error("{path}: `{line}`: {reason}")]
    Unfit {
        /// The file.
        path: String,
        /// The line.
        line: String,
        /// Why not.
        reason: String,
    },
    /// It has no openings.
    #[error("{path}: no opening in it")]
    Empty {
        /// The file.
        path: String,
    },
}

impl Opening {
    /// The initial position without moves.
    pub fn startpos() -> Opening {
        Opening { root: None, moves: Vec::new() }
    }

    /// `moves` played from `root`.
    pub fn new(root: &Position, moves: Vec<Move>) -> Opening {
        let sfen = root.sfen();
        Opening { root: (sfen != Position::startpos().sfen()).then(|| sfen.into()), moves }
    }

    /// The position before the moves.
    #[expect(clippy::expect_used, reason = "`root` was written by `Position::sfen`")]
    pub fn root(&self) -> Position {
        match &self.root {
            None => Position::startpos(),
            Some(sfen) => Position::from_sfen(sfen).expect("it was a position's"),
        }
    }

    /// At most `plies` random legal moves from the initial position.
    pub fn random(rng: &mut Rng, plies: usize) -> Opening {
        let mut moves = Vec::with_capacity(plies);
        play_random(&mut Position::startpos(), &mut moves, plies, rng);
        Opening { root: None, moves }
    }

    /// The position after the moves, with its history.
    pub fn position(&self) -> Position {
        let mut pos = self.root();
        for &m in &self.moves {
            pos.do_move(m);
        }
        pos
    }

    /// Reads a file of lines `startpos`, `startpos moves M ...`, `[sfen] S` or `[sfen] S moves M ...`; empty
    /// lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`OpeningsError`] names the line and what is wrong with it.
    pub fn read_file(path: &Path) -> Result<Vec<Opening>, OpeningsError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::read(&name, &text),
            Err(source) => Err(OpeningsError::Io { path: name, source }),
        }
    }

    /// The number of moves of the longest opening.
    pub fn longest(lines: &[Opening]) -> usize {
        lines.iter().map(|line| line.moves.len()).max().unwrap_or(0)
    }

    /// SHA-256 of the lines, one opening each, in lower-case hexadecimal.
    #[expect(clippy::expect_used, reason = "writing to a digest cannot fail")]
    pub fn sha256(lines: &[Opening]) -> String {
        sha256(|to| lines.iter().try_for_each(|line| writeln!(to, "{line}")))
            .expect("a digest takes everything")
    }

    /// The balanced openings inside the binary.
    ///
    /// # Errors
    /// Never: a test reads them.
    pub fn embedded() -> Result<Vec<Opening>, OpeningsError> {
        Self::read("book/openings.txt", EMBEDDED)
    }

    fn read(path: &str, text: &str) -> Result<Vec<Opening>, OpeningsError> {
        let name = || path.to_string();
        let mut openings = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let opening =
                    line.parse().map_err(|what| OpeningsError::Line { path: name(), line: i + 1, what })?;
                openings.push(opening);
            }
        }
        if openings.is_empty() { Err(OpeningsError::Empty { path: name() }) } else { Ok(openings) }
    }
}

/// Plays `plies` random legal moves and appends them to `moves`; fewer if the game ends.
pub fn play_random(pos: &mut Position, moves: &mut Vec<Move>, plies: usize, rng: &mut Rng) {
    for _ in 0..plies {
        let legal = pos.legal_moves(false);
        if legal.is_empty() {
            break;
        }
        let m = legal[rng.below(legal.len())].mv;
        pos.do_move(m);
        moves.push(m);
    }
}

impl FromStr for Opening {
    type Err = String;

    fn from_str(text: &str) -> Result<Opening, String> {
        let text = text.strip_prefix("position ").unwrap_or(text).trim();
        let (root, moves) = text.split_once("moves").unwrap_or((text, ""));
        let root = match root.trim() {
            "startpos" => Position::startpos(),
            sfen => Position::from_sfen(sfen).map_err(|e| e.to_string())?,
        };
        let mut opening = Opening::new(&root, Vec::new());
        let mut pos = root;
        for m in moves.split_whitespace() {
            let m = pos.parse_move(m).map_err(|e| e.to_string())?;
            pos.do_move(m);
            opening.moves.push(m);
        }
        Ok(opening)
    }
}

impl fmt::Display for Opening {
    /// The words after `position`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            None => f.write_str("startpos")?,
            Some(sfen) => write!(f, "sfen {sfen}")?,
        }
        if !self.moves.is_empty() {
            f.write_str(" moves")?;
        }
        self.moves.iter().try_for_each(|m| write!(f, " {m}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Opening>, OpeningsError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Opening::read_file(file.path())
    }

    #[test]
    fn files_are_read_and_errors_name_the_line() {
        let sfen = "4k4/9/9/9/9/9/9/9/4K4 b G 1";
        let lines = [
            "startpos moves 7g7f 3c3d",
            &format!("sfen {sfen}"),
            &format!("sfen {sfen} moves G*5b"),
            "startpos",
        ];
        let text = format!("# a comment\n\n{}\n{sfen}\n", lines.join("\n"));
        let openings = read(&text).unwrap();
        assert_eq!(openings.len(), 5);
        assert_eq!(openings.iter().take(4).map(|o| o.to_string()).collect::<Vec<_>>(), lines);
        assert_eq!(openings[0].position().history_len(), 2);
        assert_eq!(openings[4].root().sfen(), sfen);
        assert!(size_of::<Opening>() < 64, "there may be a million");
        let error = read("startpos moves 7g7f\nstartpos moves 7g7f 7g7f\n").err().unwrap();
        assert!(error.to_string().contains("line 2"), "{error}");
        assert!(matches!(read("\n"), Err(OpeningsError::Empty { .. })));
        assert!(matches!(read("nonsense"), Err(OpeningsError::Line { line: 1, .. })));
    }

    #[test]
    fn the_embedded_openings_are_many_different_and_quiet() {
        let openings = Opening::embedded().unwrap();
        assert!(openings.len() >= 300, "{}", openings.len());
        let mut keys = std::collections::HashSet::new();
        for opening in &openings {
            let position = opening.position();
            assert!((16..=24).contains(&opening.moves.len()) && !position.in_check(), "{opening}");
            assert!(keys.insert(position.key()), "twice: {opening}");
        }
    }
}

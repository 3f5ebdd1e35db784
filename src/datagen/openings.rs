//! Where games start: lines of a file, and random moves.

use super::Settings;
use crate::data::Start;
use crate::position::Position;
use crate::random::Rng;
use crate::types::Move;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The openings of a run; without lines every game begins at the initial position.
#[derive(Default)]
pub struct Openings {
    lines: Vec<Line>,
    hash: Option<String>,
}

struct Line {
    root: Position,
    moves: Vec<Move>,
}

/// A line of an openings file that cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum OpeningsError {
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("{path}, line {line}: {what}")]
    Line { path: String, line: usize, what: String },
    #[error("{path}: no opening in it")]
    Empty { path: String },
}

impl Openings {
    /// Reads a file of lines `startpos`, `startpos moves M ...`, `[sfen] S` or `[sfen] S moves M ...`; empty lines and
    /// lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`OpeningsError`] names the line and what is wrong with it.
    pub fn read(path: &Path) -> Result<Openings, OpeningsError> {
        let name = || path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| OpeningsError::Io { path: name(), source })?;
        let mut lines = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let line = Line::parse(line).map_err(|what| OpeningsError::Line {
                    path: name(),
                    line: i + 1,
                    what,
                })?;
                lines.push(line);
            }
        }
        if lines.is_empty() {
            return Err(OpeningsError::Empty { path: name() });
        }
        let hash = hex(&Sha256::digest(text.as_bytes()));
        Ok(Openings { lines, hash: Some(hash) })
    }

    /// SHA-256 of the file.
    pub fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// Draws the start of a game: its root, and the position after the opening moves. A line of the file is followed for
    /// at least half of its length, random legal moves come after. Openings that `balanced` rejects are drawn anew.
    pub fn draw(
        &self,
        settings: &Settings,
        rng: &mut Rng,
        mut balanced: impl FnMut(&Position) -> bool,
    ) -> (Start, Position, Vec<Move>) {
        let (low, high) = settings.random_plies;
        for attempt in 0.. {
            let (root, line) = match self.lines.get(rng.below(self.lines.len())) {
                Some(l) => (
                    l.root.clone(),
                    &l.moves[..rng.between(l.moves.len() as u32 / 2, l.moves.len() as u32) as usize],
                ),
                None => (Position::startpos(), &[][..]),
            };
            let start = Start::of(&root);
            let mut pos = root;
            let mut moves = line.to_vec();
            line.iter().for_each(|&m| {
                pos.do_move(m);
            });
            // the more attempts fail, the fewer random moves; a line by itself is taken as it is
            let random = rng.between(low, high).saturating_sub(attempt / 20);
            for _ in 0..random {
                let legal = pos.legal_moves(false);
                if legal.is_empty() {
                    break;
                }
                let m = legal[rng.below(legal.len())].mv;
                pos.do_move(m);
                moves.push(m);
            }
            if pos.has_legal_move() && (random == 0 || balanced(&pos)) {
                return (start, pos, moves);
            }
            if random == 0 {
                // the line itself ends in mate: the initial position does not
                return (Start::Startpos, Position::startpos(), Vec::new());
            }
        }
        unreachable!("attempts end with no random moves at all")
    }
}

impl Line {
    fn parse(text: &str) -> Result<Line, String> {
        let text = text.strip_prefix("position ").unwrap_or(text).trim_start();
        let (root, moves) = match text.split_once("moves") {
            Some((root, moves)) => (root.trim(), moves),
            None => (text, ""),
        };
        let root = match root {
            "startpos" => Position::startpos(),
            sfen => Position::from_sfen(sfen).map_err(|e| e.to_string())?,
        };
        let mut pos = root.clone();
        let mut list = Vec::new();
        for m in moves.split_whitespace() {
            let m = pos.parse_move(m).map_err(|e| e.to_string())?;
            pos.do_move(m);
            list.push(m);
        }
        Ok(Line { root, moves: list })
    }
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Openings, OpeningsError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Openings::read(file.path())
    }

    #[test]
    fn files_are_read_and_errors_name_the_line() {
        let sfen = Position::startpos().sfen();
        let ok = read(&format!(
            "# a comment\nstartpos moves 7g7f 3c3d\n\nsfen {sfen}\n{sfen} moves 2g2f\nstartpos\n"
        ));
        assert_eq!(ok.unwrap().lines.iter().map(|l| l.moves.len()).collect::<Vec<_>>(), [2, 0, 1, 0]);
        let error = read("startpos moves 7g7f\nstartpos moves 7g7f 7g7f\n").err().unwrap();
        assert!(error.to_string().contains("line 2"), "{error}");
        assert!(matches!(read("\n"), Err(OpeningsError::Empty { .. })));
        assert!(matches!(read("nonsense"), Err(OpeningsError::Line { line: 1, .. })));
    }

    #[test]
    fn draws_follow_the_line_then_the_dice_and_end_even_if_nothing_balances() {
        let file = read("startpos moves 7g7f 3c3d 2g2f 8c8d").unwrap();
        let settings = Settings { random_plies: (2, 3), ..Settings::default() };
        let mut rng = Rng::new(1);
        for _ in 0..50 {
            let (start, pos, moves) = file.draw(&settings, &mut rng, |_| true);
            assert_eq!(start, Start::Startpos);
            assert!((4..=7).contains(&moves.len()), "{}", moves.len());
            assert_eq!(pos.history_len(), moves.len());
            assert_eq!(moves[0].to_string(), "7g7f");
        }
        let (_, _, moves) = Openings::default().draw(&settings, &mut rng, |_| false);
        assert!(moves.is_empty());
    }
}

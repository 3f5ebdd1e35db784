//! Where games start: lines of a file, and random moves.

use super::settings::DatagenSettings;
use crate::data::board::Board;
use crate::data::{PackedSfen, Start};
use crate::position::Position;
use crate::record::openings::{Opening, OpeningsError, play_random};
use crate::support::random::Rng;
use crate::types::Move;
use std::path::Path;

/// The openings of a run; without lines every game begins at the initial position.
#[derive(Default)]
pub struct Openings {
    lines: Vec<Opening>,
    hash: Option<String>,
}

impl Openings {
    /// Reads a file of lines (see [`Opening::read_file`]).
    pub fn read(path: &Path) -> Result<Openings, OpeningsError> {
        let lines = Opening::read_file(path)?;
        for line in &lines {
            if let Err(reason) = PackedSfen::pack(&Board::of(&line.root())) {
                let (path, line) = (path.display().to_string(), line.to_string());
                return Err(OpeningsError::Unfit { path, line, reason: reason.to_string() });
            }
        }
        let hash = Some(Opening::sha256(&lines));
        Ok(Openings { lines, hash })
    }

    /// Lines without the check that records can hold them.
    #[cfg(test)]
    pub(super) fn unchecked(lines: Vec<Opening>) -> Openings {
        Openings { lines, hash: None }
    }

    /// SHA-256 of the lines.
    pub fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// The moves of the longest line.
    pub fn longest(&self) -> usize {
        Opening::longest(&self.lines)
    }

    /// Default range of the number of random moves at the start of a game: few after a line, more from the
    /// initial position.
    pub fn random_plies(&self) -> (u32, u32) {
        if self.lines.is_empty() { DatagenSettings::default().random_plies } else { (0, 4) }
    }

    /// Draws the start of a game: its root, and the position after the opening moves. A line of the file is
    /// followed for at least half of its length, random legal moves come after. Openings that `balanced`
    /// rejects are drawn again.
    pub fn draw(
        &self,
        settings: &DatagenSettings,
        rng: &mut Rng,
        mut balanced: impl FnMut(&Position) -> bool,
    ) -> (Start, Position, Vec<Move>) {
        let (low, high) = settings.random_plies;
        for attempt in 0.. {
            let (root, line) = match self.lines.get(rng.below(self.lines.len())) {
                Some(l) => (
                    l.root(),
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
            // fewer random moves after each failed attempt; a line without random moves is always accepted
            let random = rng.between(low, high).saturating_sub(attempt / 20);
            play_random(&mut pos, &mut moves, random as usize, rng);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_that_records_cannot_hold_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "startpos\nsfen 4k4/9/4P4/9/9/9/9/9/9 b G 1\n").unwrap();
        let error = Openings::read(file.path()).err().unwrap().to_string();
        let path = file.path().display().to_string();
        assert!(error.starts_with(&path) && error.contains("4k4/9/4P4") && error.contains("king"), "{error}");
    }

    #[test]
    fn starts_follow_the_line_then_random_moves() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "startpos moves 7g7f 3c3d 2g2f 8c8d").unwrap();
        let file = Openings::read(file.path()).unwrap();
        let settings = DatagenSettings { random_plies: (2, 3), ..DatagenSettings::default() };
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

//! USI move text, read in the light of a position.

use super::Position;
use super::legality::Illegal;
use super::sfen::{LETTERS, excerpt};
use crate::types::{Move, PieceType, Square};
use std::fmt;

/// A text that is not a legal move in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveError {
    /// The text, shortened.
    pub text: String,
    /// Why it is not legal.
    pub reason: Illegal,
}

impl std::error::Error for MoveError {}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // any characters
            MoveError { text, reason: Illegal::Notation } => write!(f, "{text:?} is {}", Illegal::Notation),
            MoveError { text, reason } => write!(f, "{text}: {reason}"),
        }
    }
}

impl Position {
    /// Reads a move in USI notation and accepts it if it is legal here, pointless non-promotions included.
    pub fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        let verdict = self.read_move(text).and_then(|m| {
            self.judge_pseudo_legal(m, true)?;
            if self.is_legal(m) { Ok(m) } else { Err(Illegal::KingInCheck) }
        });
        verdict.map_err(|reason| MoveError { text: excerpt(text), reason })
    }

    /// The move that a text names. Its piece stands on its origin; it need not be legal.
    fn read_move(&self, text: &str) -> Result<Move, Illegal> {
        let square = |text: &[u8]| Square::from_usi(text).ok_or(Illegal::Notation);
        if let [letter, b'*', to @ ..] = text.as_bytes() {
            let kind = LETTERS[1..8].iter().position(|l| l == letter).ok_or(Illegal::Notation)?;
            return Ok(Move::drop(PieceType(kind as u8 + 1).of(self.side), square(to)?));
        }
        let (squares, promote) = match text.as_bytes() {
            [squares @ .., b'+'] => (squares, true),
            squares => (squares, false),
        };
        let (from, to) = squares.split_at_checked(2).ok_or(Illegal::Notation)?;
        let (from, to) = (square(from)?, square(to)?);
        let piece = self.piece_on(from);
        if piece.is_none() {
            Err(Illegal::EmptyOrigin)
        } else if piece.color() != self.side {
            Err(Illegal::NotYours)
        } else if !promote {
            Ok(Move::normal(from, to, piece))
        } else if piece.kind().can_promote() {
            Ok(Move::promotion(from, to, piece))
        } else {
            Err(Illegal::CannotPromote)
        }
    }
}

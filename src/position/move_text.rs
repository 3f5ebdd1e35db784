//! USI move text, read in the light of a position.

use thiserror::Error;

use super::Position;
use super::legality::Illegal;
use super::sfen::excerpt;
use crate::types::{Move, PieceType, Square};

/// Why a text is not a legal move here.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // the messages say it
pub enum MoveError {
    #[error("{0:?} is not a move in USI notation")]
    Notation(String),
    #[error("{0}: no piece on the origin")]
    EmptyOrigin(String),
    #[error("{0}: the piece belongs to the opponent")]
    NotYours(String),
    #[error("{0}: the piece does not move there")]
    OutOfReach(String),
    #[error("{0}: the target holds a piece of the same side")]
    OwnPiece(String),
    #[error("{0}: this kind of piece cannot promote")]
    CannotPromote(String),
    #[error("{0}: promotion outside the promotion zone")]
    OutsideZone(String),
    #[error("{0}: the piece could never move from there")]
    DeadEnd(String),
    #[error("{0}: no such piece in hand")]
    NotInHand(String),
    #[error("{0}: drop on an occupied square")]
    Occupied(String),
    #[error("{0}: a second unpromoted pawn on the file (nifu)")]
    Nifu(String),
    #[error("{0}: mate by dropping a pawn (uchifuzume)")]
    DropPawnMate(String),
    #[error("{0}: does not answer the check")]
    IgnoresCheck(String),
    #[error("{0}: leaves the king in check")]
    KingInCheck(String),
}

impl Position {
    /// Reads a move in USI notation and accepts it if it is legal here, pointless non-promotions included.
    pub fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        let m = self.read_move(text).ok_or_else(|| MoveError::Notation(excerpt(text)))?;
        let verdict = m.and_then(|m| {
            self.judge_pseudo_legal(m, true)?;
            if self.is_legal(m) { Ok(m) } else { Err(Illegal::KingInCheck) }
        });
        verdict.map_err(|why| {
            let t = text.to_owned();
            match why {
                Illegal::NotInHand => MoveError::NotInHand(t),
                Illegal::Occupied => MoveError::Occupied(t),
                Illegal::DeadEnd => MoveError::DeadEnd(t),
                Illegal::Nifu => MoveError::Nifu(t),
                Illegal::DropPawnMate => MoveError::DropPawnMate(t),
                Illegal::EmptyOrigin => MoveError::EmptyOrigin(t),
                Illegal::NotYours => MoveError::NotYours(t),
                Illegal::CannotPromote => MoveError::CannotPromote(t),
                Illegal::OutsideZone => MoveError::OutsideZone(t),
                Illegal::OwnPiece => MoveError::OwnPiece(t),
                Illegal::OutOfReach => MoveError::OutOfReach(t),
                Illegal::IgnoresCheck => MoveError::IgnoresCheck(t),
                Illegal::KingInCheck => MoveError::KingInCheck(t),
                Illegal::PointlessNonPromotion | Illegal::Mismatch => MoveError::Notation(t),
            }
        })
    }

    /// `None` for text that is no move at all.
    fn read_move(&self, text: &str) -> Option<Result<Move, Illegal>> {
        let bytes = text.as_bytes();
        if let [letter, b'*', target @ ..] = bytes {
            let kind = PieceType(b"?PLNSBRG".iter().skip(1).position(|l| l == letter)? as u8 + 1);
            return Some(Ok(Move::drop(kind.of(self.side), Square::from_usi(target)?)));
        }
        let (squares, promote) = match bytes {
            [s @ .., b'+'] => (s, true),
            s => (s, false),
        };
        if squares.len() != 4 {
            return None;
        }
        let (from, to) = (Square::from_usi(&squares[..2])?, Square::from_usi(&squares[2..])?);
        let piece = self.piece_on(from);
        Some(if piece.is_none() {
            Err(Illegal::EmptyOrigin)
        } else if piece.color() != self.side {
            Err(Illegal::NotYours)
        } else if !promote {
            Ok(Move::normal(from, to, piece))
        } else if piece.kind().can_promote() {
            Ok(Move::promotion(from, to, piece))
        } else {
            Err(Illegal::CannotPromote)
        })
    }
}

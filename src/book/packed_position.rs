//! A packed position without a move number, the key of books: [`PackedPosition`].

use super::error::excerpt;
use crate::data::board::Board;
use crate::data::{PackedSfen, RecordError};
use crate::position::{Position, SfenParts, handicap};
use crate::types::{Color, Hand, PieceType};
use serde::{Deserialize, Serialize};

/// A packed position; ordered as `.ybb` files are, by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PackedPosition(pub [u8; 32]);

/// Without the word "packed": most books are text.
fn what_is_wrong(error: RecordError) -> String {
    match error {
        RecordError::Packed(what) => what.into(),
        RecordError::Sfen(e) => e.to_string(),
        e => e.to_string(),
    }
}

impl PackedPosition {
    /// The usual starts: those of an even game and of the handicaps.
    pub fn starts() -> impl Iterator<Item = PackedPosition> {
        handicap::starts().filter_map(|pos| PackedPosition::of(&pos))
    }

    /// None where a king is missing: such positions cannot be packed.
    pub fn of(pos: &Position) -> Option<PackedPosition> {
        PackedPosition::pack(&Board::of(pos)).ok()
    }

    fn pack(board: &Board) -> Result<PackedPosition, String> {
        PackedSfen::pack(board).map(|p| PackedPosition(p.0)).map_err(what_is_wrong)
    }

    /// Reads an SFEN without judging it by the rules, and its move number (0 for none).
    ///
    /// # Errors
    /// What is no SFEN, more pieces than a set has, a missing king, a move number that books do not hold.
    pub fn read(sfen: &str) -> Result<(PackedPosition, u16), String> {
        let parts = SfenParts::read(sfen).map_err(|e| e.to_string())?;
        let mut hands = [Hand::EMPTY; 2];
        for color in Color::ALL {
            for kind in PieceType::HAND {
                let n = parts.in_hand[color.index()][kind.index()];
                if n > crate::position::SET[kind.index()] {
                    return Err(format!("more pieces in hand than a set has: {}", excerpt(sfen)));
                }
                (0..n).for_each(|_| hands[color.index()].add(kind));
            }
        }
        let packed = PackedPosition::pack(&Board { squares: parts.board, hands, turn: parts.side })?;
        let ply = parts.ply.unwrap_or(0);
        let ply =
            u16::try_from(ply).map_err(|_| format!("move number {ply} is greater than {}", u16::MAX))?;
        Ok((packed, ply))
    }

    /// The position at a ply; none if the rules refuse it.
    pub fn position(&self, ply: u16) -> Option<Position> {
        self.by_rules(ply).ok()
    }

    /// The position at a ply (0 counts as 1).
    ///
    /// # Errors
    /// The position is against the rules.
    pub fn by_rules(&self, ply: u16) -> Result<Position, String> {
        PackedSfen(self.0).position(u32::from(ply.max(1))).map_err(what_is_wrong)
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        PackedSfen(self.0).turn()
    }

    /// The board turned, the players swapped; none for bits that are no position.
    pub fn flipped(&self) -> Option<PackedPosition> {
        let board = PackedSfen(self.0).unpack().ok()?;
        let mut squares = board.squares;
        squares.reverse();
        squares.iter_mut().filter(|p| p.is_some()).for_each(|p| *p = p.flip());
        let hands = [board.hands[1], board.hands[0]];
        PackedPosition::pack(&Board { squares, hands, turn: !board.turn }).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handicap_starts_round_trip() {
        for pos in handicap::starts() {
            let sfen = pos.sfen();
            let (packed, ply) = PackedPosition::read(&sfen).unwrap();
            assert_eq!(Some(packed), PackedPosition::of(&pos));
            assert_eq!(packed.position(ply).unwrap().sfen(), sfen);
        }
    }

    #[test]
    fn flipping_twice_is_the_identity() {
        let sfen = "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124";
        let packed = PackedPosition::read(sfen).unwrap().0;
        assert_eq!(packed.flipped().and_then(|p| p.flipped()), Some(packed));
        assert_ne!(packed.flipped().unwrap().turn(), packed.turn());
        let black = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
        let white = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
        assert_eq!(
            PackedPosition::read(black).unwrap().0.flipped(),
            Some(PackedPosition::read(white).unwrap().0)
        );
    }
}

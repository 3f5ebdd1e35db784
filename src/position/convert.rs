//! Conversions from and into `shogi_core`'s position, the vocabulary of the public surface.

use shogi_core::PartialPosition;

use super::{Position, SfenError};
use crate::types::{Color, Piece, PieceType, Square, core};

impl TryFrom<&PartialPosition> for Position {
    type Error = SfenError;

    /// Takes over board, hands, side to move and ply; the same rules as for [`Position::from_sfen`] apply.
    fn try_from(p: &PartialPosition) -> Result<Position, SfenError> {
        let mut board = [Piece::NONE; 81];
        for sq in Square::all() {
            if let Some(piece) = p.piece_at(sq.into()) {
                board[sq.index()] = piece.into();
            }
        }
        let mut in_hand = [[0; 8]; 2];
        for color in Color::ALL {
            for kind in PieceType::HAND {
                let hand = p.hand_of_a_player(color.into());
                in_hand[color.index()][kind.index()] = u32::from(hand.count(kind.into()).unwrap_or(0));
            }
        }
        Position::from_parts(board, in_hand, p.side_to_move().into(), u32::from(p.ply()))
    }
}

impl From<&Position> for PartialPosition {
    /// The ply saturates at 65,535, the most that `shogi_core` holds.
    fn from(pos: &Position) -> PartialPosition {
        let mut p = PartialPosition::empty();
        for sq in pos.occupied() {
            p.piece_set(sq.into(), Some(pos.piece_on(sq).into()));
        }
        for color in Color::ALL {
            let hand = p.hand_of_a_player_mut(color.into());
            for kind in PieceType::HAND {
                for _ in 0..pos.hand(color).count(kind) {
                    if let Some(more) = hand.added(core::PieceKind::from(kind)) {
                        *hand = more;
                    }
                }
            }
        }
        p.side_to_move_set(pos.side_to_move().into());
        let _ = p.ply_set(u16::try_from(pos.game_ply()).unwrap_or(u16::MAX));
        p
    }
}

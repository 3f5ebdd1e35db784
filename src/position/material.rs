//! Piece values for exchanges and move ordering, in the engine's unit (a pawn is 90).

use crate::types::{PieceType, Value};

/// The value of a piece on the board by [`PieceType`]; kings count nothing.
pub const PIECE_VALUE: [Value; PieceType::NUM] =
    [0, 90, 315, 405, 495, 855, 990, 540, 0, 540, 540, 540, 540, 945, 1395, 0];

/// What a capture changes in the balance: the piece leaves one side and its unpromoted kind joins the other's hand.
pub const CAPTURE_VALUE: [Value; PieceType::NUM] = {
    let mut t = [0; PieceType::NUM];
    let mut i = 1;
    while i < PieceType::NUM {
        t[i] = PIECE_VALUE[i] + PIECE_VALUE[PieceType(i as u8).unpromoted().index()];
        i += 1;
    }
    t
};

/// What a promotion gains, by the unpromoted [`PieceType`]; 0 for kinds that cannot promote.
pub const PROMOTION_GAIN: [Value; PieceType::NUM] = {
    let mut t = [0; PieceType::NUM];
    let mut i = 1;
    while i <= 6 {
        t[i] = PIECE_VALUE[i + 8] - PIECE_VALUE[i];
        i += 1;
    }
    t
};

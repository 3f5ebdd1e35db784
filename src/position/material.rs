//! Piece values for exchanges and move ordering, in the engine's unit (a pawn is 90).

use crate::types::{PieceType, Value};

/// The value of a piece on the board by [`PieceType`]; kings count nothing.
pub const PIECE_VALUE: [Value; PieceType::NUM] =
    [0, 90, 315, 405, 495, 855, 990, 540, 0, 540, 540, 540, 540, 945, 1395, 0];

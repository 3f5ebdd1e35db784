//! How CSA names players, pieces and squares.

use crate::types::{Color, PieceType, Square};

/// CSA's names of the kinds, by `PieceType::index`.
pub const KINDS: [&str; 15] =
    ["  ", "FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU", "TO", "NY", "NK", "NG", "UM", "RY"];

/// `+` for Black, `-` for White.
pub fn sign(color: Color) -> char {
    if color == Color::Black { '+' } else { '-' }
}

/// The colour of a sign.
pub fn color_of(sign: char) -> Option<Color> {
    match sign {
        '+' => Some(Color::Black),
        '-' => Some(Color::White),
        _ => None,
    }
}

/// The kind with this name in CSA, such as `FU`.
pub fn kind_of(name: &str) -> Option<PieceType> {
    KINDS.iter().skip(1).position(|k| *k == name).map(|i| PieceType(i as u8 + 1))
}

/// A square as file and rank in digits: `76`.
pub(super) fn digits(sq: Square) -> String {
    format!("{}{}", sq.file() + 1, sq.rank() + 1)
}

pub(super) fn square_of(text: &str) -> Option<Square> {
    match text.as_bytes() {
        [file @ b'1'..=b'9', rank @ b'1'..=b'9'] => Some(Square::new(file - b'1', rank - b'1')),
        _ => None,
    }
}

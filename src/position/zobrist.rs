//! The random numbers behind the position keys: SplitMix64 from a fixed seed, so keys are the same in every
//! build.

use crate::types::{Color, Key, Piece, PieceType, Square};

const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

struct Tables {
    /// 128 columns, so that a masked index needs no bounds check.
    board: [[Key; 128]; Piece::NUM],
    hand: [[Key; 8]; 2],
    side: Key,
}

static TABLES: Tables = {
    let mut seed = 0x546F_7261_7473_7567; // "Toratsug"
    let mut t = Tables { board: [[0; 128]; Piece::NUM], hand: [[0; 8]; 2], side: split_mix(&mut seed) };
    let mut piece = 1;
    while piece < Piece::NUM {
        let mut sq = 0;
        while sq < 81 {
            t.board[piece][sq] = split_mix(&mut seed);
            sq += 1;
        }
        piece += 1;
    }
    let mut i = 0;
    while i < 16 {
        t.hand[i / 8][i % 8] = split_mix(&mut seed);
        i += 1;
    }
    t
};

/// The key of a piece on a square, combined by exclusive or.
#[inline]
pub fn board(piece: Piece, sq: Square) -> Key {
    TABLES.board[piece.index() & 31][sq.index() & 127]
}

/// The key of one piece in hand, combined by wrapping addition, once for each piece of the kind.
#[inline]
pub fn hand(color: Color, kind: PieceType) -> Key {
    TABLES.hand[color.index()][kind.index() & 7]
}

/// The key of White to move.
#[inline]
pub fn side() -> Key {
    TABLES.side
}

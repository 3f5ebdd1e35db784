//! Where pieces reach: tables computed at compile time and the sliding attacks built from them.
//!
//! Sliding attacks are "kindergarten" bitboards on nine files. The squares of a diagonal lie on different
//! ranks, so one multiplication folds its seven inner squares into seven adjacent bits, indexed by rank. A
//! small table answers which ranks a piece on rank `r` reaches under that occupancy, spread over all files;
//! the mask of the line cuts it down to the squares meant. Both diagonals and the file share that table;
//! ranks use its transposed twin. All inner squares (bits 10 to 70) fit one `u64`, which the contiguous
//! layout makes possible, and the tables (36 KB) stay near the core.

use crate::position::bitboard::Bitboard;
use crate::position::wide::Wide;
use crate::types::{Color, Piece, PieceType, Square};

/// Tables have empty rows for [`Square::NONE`] and above, so that a missing king needs no branch and a masked
/// index no bounds check.
const ROWS: usize = 128;

/// A row index that cannot be out of bounds.
#[inline]
const fn row(sq: Square) -> usize {
    sq.0 as usize & (ROWS - 1)
}

/// The lines through one square.
struct Lines {
    /// Inner squares of the two diagonals, shifted right by 10.
    inner: [u64; 2],
    diagonal: [Bitboard; 2],
    file: Bitboard,
    rank: Bitboard,
    file_index: u8,
    rank_index: u8,
    /// Where the inner squares of the file begin in their word.
    file_shift: u8,
}

const fn on_board(file: i32, rank: i32) -> bool {
    file >= 0 && file < 9 && rank >= 0 && rank < 9
}

const fn bit(file: i32, rank: i32) -> u128 {
    1 << (file * 9 + rank)
}

/// All squares in direction (`df`, `dr`) from a square, up to the edge.
const fn ray(sq: usize, df: i32, dr: i32) -> u128 {
    let (mut f, mut r) = ((sq / 9) as i32 + df, (sq % 9) as i32 + dr);
    let mut b = 0;
    while on_board(f, r) {
        b |= bit(f, r);
        f += df;
        r += dr;
    }
    b
}

static LINES: [Lines; ROWS] = {
    const EMPTY: Lines = Lines {
        inner: [0; 2],
        diagonal: [Bitboard::EMPTY; 2],
        file: Bitboard::EMPTY,
        rank: Bitboard::EMPTY,
        file_index: 0,
        rank_index: 0,
        file_shift: 0,
    };
    let edge = Bitboard::rank(0).0 | Bitboard::rank(8).0 | Bitboard::file(0).0 | Bitboard::file(8).0;
    let mut t = [EMPTY; ROWS];
    let mut sq = 0;
    while sq < 81 {
        let d = [ray(sq, 1, 1) | ray(sq, -1, -1), ray(sq, 1, -1) | ray(sq, -1, 1)];
        t[sq] = Lines {
            inner: [((d[0] & !edge) >> 10) as u64, ((d[1] & !edge) >> 10) as u64],
            diagonal: [Bitboard(d[0]), Bitboard(d[1])],
            file: Bitboard(ray(sq, 0, 1) | ray(sq, 0, -1)),
            rank: Bitboard(ray(sq, 1, 0) | ray(sq, -1, 0)),
            file_index: (sq / 9) as u8,
            rank_index: (sq % 9) as u8,
            file_shift: (sq / 9 * 9 + 1) as u8 & 63,
        };
        sq += 1;
    }
    t
};

/// Of nine squares in a row, those that a slider on `at` reaches; bit `i` of `inner` is the occupancy of
/// square `i + 1`.
const fn reach(at: i32, inner: usize) -> u32 {
    let occupied = (inner as u32) << 1;
    let mut b = 0;
    let mut i = at + 1;
    while i < 9 {
        b |= 1 << i;
        if occupied >> i & 1 != 0 {
            break;
        }
        i += 1;
    }
    i = at - 1;
    while i >= 0 {
        b |= 1 << i;
        if occupied >> i & 1 != 0 {
            break;
        }
        i -= 1;
    }
    b
}

/// Whole ranks reached from rank `[r]` under an inner occupancy (16 rows, for indices without a check).
static RANKS_REACHED: [[Bitboard; 128]; 16] = {
    let mut t = [[Bitboard::EMPTY; 128]; 16];
    let mut r = 0;
    while r < 9 {
        let mut o = 0;
        while o < 128 {
            // multiplying by one bit a file repeats the nine bits on every file
            t[r][o] = Bitboard(reach(r as i32, o) as u128 * Bitboard::RANK_1.0);
            o += 1;
        }
        r += 1;
    }
    t
};

/// Whole files reached from file `[f]` under an inner occupancy.
static FILES_REACHED: [[Bitboard; 128]; 16] = {
    let mut t = [[Bitboard::EMPTY; 128]; 16];
    let mut f = 0;
    while f < 9 {
        let mut o = 0;
        while o < 128 {
            let files = reach(f as i32, o);
            let mut b = 0;
            let mut i = 0;
            while i < 9 {
                if files >> i & 1 != 0 {
                    b |= Bitboard::file(i).0;
                }
                i += 1;
            }
            t[f][o] = Bitboard(b);
            o += 1;
        }
        f += 1;
    }
    t
};

/// The attacks of a bishop on `sq`.
#[inline]
pub fn bishop(sq: Square, occupied: Bitboard) -> Bitboard {
    // Moves every file's bits into the seventh one; ranks differ along a diagonal, so nothing carries.
    const GATHER: u64 = 0x0040_2010_0804_0201;
    let l = &LINES[row(sq)];
    let inner = (occupied.0 >> 10) as u64;
    let table = &RANKS_REACHED[l.rank_index as usize & 15];
    let a = (inner & l.inner[0]).wrapping_mul(GATHER) >> 54 & 127;
    let b = (inner & l.inner[1]).wrapping_mul(GATHER) >> 54 & 127;
    ((Wide::from(table[a as usize]) & l.diagonal[0]) | (Wide::from(table[b as usize]) & l.diagonal[1])).into()
}

/// The attacks along the file of a rook on `sq`.
#[inline]
pub fn rook_file(sq: Square, occupied: Bitboard) -> Bitboard {
    let l = &LINES[row(sq)];
    // The inner squares of files 0-6 lie in the low word, those of files 7 and 8 in the high one.
    let word = if sq.0 >= 63 { (occupied.0 >> 64) as u64 } else { occupied.0 as u64 };
    let i = word >> l.file_shift & 127;
    (Wide::from(RANKS_REACHED[l.rank_index as usize & 15][i as usize]) & l.file).into()
}

/// The attacks along the rank of a rook on `sq`.
#[inline]
pub fn rook_rank(sq: Square, occupied: Bitboard) -> Bitboard {
    // One bit a file, nine apart; eight apart in the multiplier brings them side by side.
    const EVERY_NINTH: u64 = 0x0040_2010_0804_0201;
    const GATHER: u64 = 0x0001_0101_0101_0101;
    let l = &LINES[row(sq)];
    let shift = 9 + l.rank_index as u32; // 9..=17
    let row = (occupied.0 as u64 >> shift | ((occupied.0 >> 64) as u64) << (64 - shift)) & EVERY_NINTH;
    let i = row.wrapping_mul(GATHER) >> 48 & 127;
    (Wide::from(FILES_REACHED[l.file_index as usize & 15][i as usize]) & l.rank).into()
}

/// The attacks of a rook on `sq`.
#[inline]
pub fn rook(sq: Square, occupied: Bitboard) -> Bitboard {
    rook_file(sq, occupied) | rook_rank(sq, occupied)
}

/// The attacks of a lance of `color` on `sq`.
#[inline]
pub fn lance(color: Color, sq: Square, occupied: Bitboard) -> Bitboard {
    rook_file(sq, occupied) & forward(color, sq)
}

static FORWARD: [[Bitboard; ROWS]; 2] = {
    let mut t = [[Bitboard::EMPTY; ROWS]; 2];
    let mut sq = 0;
    while sq < 81 {
        t[0][sq] = Bitboard(ray(sq, 0, -1));
        t[1][sq] = Bitboard(ray(sq, 0, 1));
        sq += 1;
    }
    t
};

/// The squares in front of `sq` on its file, as `color` sees it.
#[inline]
pub fn forward(color: Color, sq: Square) -> Bitboard {
    FORWARD[color.index()][row(sq)]
}

/// The steps of each piece: all of it for short-range pieces, the king-like part of horse and dragon, nothing
/// for lance, bishop and rook.
static STEPS: [[Bitboard; ROWS]; Piece::NUM] = {
    // (file, rank) offsets for Black, whose forward is a falling rank
    const PAWN: &[(i32, i32)] = &[(0, -1)];
    const KNIGHT: &[(i32, i32)] = &[(1, -2), (-1, -2)];
    const SILVER: &[(i32, i32)] = &[(1, -1), (0, -1), (-1, -1), (1, 1), (-1, 1)];
    const GOLD: &[(i32, i32)] = &[(1, -1), (0, -1), (-1, -1), (1, 0), (-1, 0), (0, 1)];
    const PLUS: &[(i32, i32)] = &[(0, -1), (0, 1), (1, 0), (-1, 0)];
    const CROSS: &[(i32, i32)] = &[(1, -1), (-1, -1), (1, 1), (-1, 1)];
    const KING: &[(i32, i32)] = &[(1, -1), (0, -1), (-1, -1), (1, 0), (-1, 0), (1, 1), (0, 1), (-1, 1)];
    const NOTHING: &[(i32, i32)] = &[];
    const BY_KIND: [&[(i32, i32)]; 16] = [
        NOTHING, PAWN, NOTHING, KNIGHT, SILVER, NOTHING, NOTHING, GOLD, KING, GOLD, GOLD, GOLD, GOLD, PLUS,
        CROSS, NOTHING,
    ];
    let mut t = [[Bitboard::EMPTY; ROWS]; Piece::NUM];
    let mut kind = 0;
    while kind < 16 {
        let mut sq = 0;
        while sq < 81 {
            let mut i = 0;
            while i < BY_KIND[kind].len() {
                let (df, dr) = BY_KIND[kind][i];
                let (f, r) = ((sq / 9) as i32, (sq % 9) as i32);
                if on_board(f + df, r + dr) {
                    t[kind][sq].0 |= bit(f + df, r + dr);
                }
                if on_board(f - df, r - dr) {
                    t[kind + 16][sq].0 |= bit(f - df, r - dr);
                }
                i += 1;
            }
            sq += 1;
        }
        kind += 1;
    }
    t
};

/// The squares that `piece` on `sq` reaches in one step (see the table: no slides).
#[inline]
pub fn steps(piece: Piece, sq: Square) -> Bitboard {
    STEPS[piece.index() & 31][row(sq)]
}

/// [`steps`] for tables that are computed at compile time.
pub(super) const fn const_steps(piece: Piece, sq: Square) -> Bitboard {
    STEPS[piece.0 as usize & 31][row(sq)]
}

/// The eight neighbours of `sq`.
#[inline]
pub fn king(sq: Square) -> Bitboard {
    steps(PieceType::KING.of(Color::Black), sq)
}

/// The attacks of `piece` on `sq`.
#[inline]
pub fn of(piece: Piece, sq: Square, occupied: Bitboard) -> Bitboard {
    match piece.kind() {
        PieceType::LANCE => lance(piece.color(), sq, occupied),
        PieceType::BISHOP => bishop(sq, occupied),
        PieceType::ROOK => rook(sq, occupied),
        PieceType::HORSE => bishop(sq, occupied) | steps(piece, sq),
        PieceType::DRAGON => rook(sq, occupied) | steps(piece, sq),
        _ => steps(piece, sq),
    }
}

/// One step forward for every piece of a set; those on the last rank fall off.
#[inline]
pub const fn step_forward(color: Color, b: Bitboard) -> Bitboard {
    match color {
        Color::Black => Bitboard((b.0 & !Bitboard::RANK_1.0) >> 1),
        Color::White => Bitboard((b.0 & !Bitboard::RANK_9.0) << 1),
    }
}

/// The squares that a bishop on `sq` reaches on an empty board.
#[inline]
pub fn diagonals(sq: Square) -> Bitboard {
    let l = &LINES[row(sq)];
    l.diagonal[0] | l.diagonal[1]
}

/// The squares that a rook on `sq` reaches on an empty board.
#[inline]
pub fn cross(sq: Square) -> Bitboard {
    let l = &LINES[row(sq)];
    l.file | l.rank
}

/// The file of `sq` without `sq`.
#[inline]
pub fn file(sq: Square) -> Bitboard {
    LINES[row(sq)].file
}

const DIRECTIONS: [(i32, i32); 8] = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)];

static BETWEEN: [[Bitboard; ROWS]; 82] = pairs(false);
static LINE: [[Bitboard; ROWS]; 82] = pairs(true);

/// For every two squares of one line, the squares between them, or the whole line; empty for other pairs.
const fn pairs(whole_line: bool) -> [[Bitboard; ROWS]; 82] {
    let mut t = [[Bitboard::EMPTY; ROWS]; 82];
    let mut a = 0;
    while a < 81 {
        let mut d = 0;
        while d < 8 {
            let (df, dr) = DIRECTIONS[d];
            let line = ray(a, df, dr) | ray(a, -df, -dr) | 1 << a;
            let (mut f, mut r) = ((a / 9) as i32 + df, (a % 9) as i32 + dr);
            let mut passed = 0;
            while on_board(f, r) {
                t[a][(f * 9 + r) as usize] = Bitboard(if whole_line { line } else { passed });
                passed |= bit(f, r);
                f += df;
                r += dr;
            }
            d += 1;
        }
        a += 1;
    }
    t
}

/// The squares strictly between two squares of one line; empty for others.
#[inline]
pub fn between(a: Square, b: Square) -> Bitboard {
    BETWEEN[a.index()][row(b)]
}

/// The whole line (edge to edge) through two different squares; empty when they share none.
#[inline]
pub fn line(a: Square, b: Square) -> Bitboard {
    LINE[a.index()][row(b)]
}

/// The three ranks where `color` promotes.
#[inline]
pub const fn promotion_zone(color: Color) -> Bitboard {
    const BLACK: Bitboard = Bitboard(Bitboard::rank(0).0 | Bitboard::rank(1).0 | Bitboard::rank(2).0);
    const WHITE: Bitboard = Bitboard(Bitboard::rank(6).0 | Bitboard::rank(7).0 | Bitboard::rank(8).0);
    match color {
        Color::Black => BLACK,
        Color::White => WHITE,
    }
}

/// The far end of the board for `color`: its last rank (`n` = 1) or last two ranks (`n` = 2).
#[inline]
pub const fn last_ranks(color: Color, n: u8) -> Bitboard {
    const BLACK: [Bitboard; 2] = [Bitboard::rank(0), Bitboard(Bitboard::rank(0).0 | Bitboard::rank(1).0)];
    const WHITE: [Bitboard; 2] = [Bitboard::rank(8), Bitboard(Bitboard::rank(8).0 | Bitboard::rank(7).0)];
    match color {
        Color::Black => BLACK[n as usize - 1],
        Color::White => WHITE[n as usize - 1],
    }
}

/// The squares where a piece of this kind may not stand, because it could never move again.
#[inline]
pub const fn dead_end(color: Color, kind: PieceType) -> Bitboard {
    match kind {
        PieceType::PAWN | PieceType::LANCE => last_ranks(color, 1),
        PieceType::KNIGHT => last_ranks(color, 2),
        _ => Bitboard::EMPTY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow_slide(sq: Square, dirs: &[(i32, i32)], occupied: Bitboard) -> Bitboard {
        let mut b = Bitboard::EMPTY;
        for &(df, dr) in dirs {
            let (mut f, mut r) = (sq.file() as i32 + df, sq.rank() as i32 + dr);
            while on_board(f, r) {
                let s = Square::new(f as u8, r as u8);
                b |= Bitboard::of(s);
                if occupied.contains(s) {
                    break;
                }
                f += df;
                r += dr;
            }
        }
        b
    }

    #[test]
    fn sliders_equal_walking_square_by_square() {
        let mut seed = 1u128;
        for i in 0..20_000u32 {
            seed = seed.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
            let other = seed.wrapping_mul(seed) >> 40;
            let occupied = match i % 3 {
                0 => Bitboard(seed >> 40 & Bitboard::ALL.0),
                1 => Bitboard(seed >> 40 & other & Bitboard::ALL.0),
                _ => Bitboard((seed >> 40 | other) & Bitboard::ALL.0),
            };
            let sq = Square((i % 81) as u8);
            assert_eq!(rook(sq, occupied), slow_slide(sq, &DIRECTIONS[..4], occupied), "{sq} {occupied:?}");
            assert_eq!(bishop(sq, occupied), slow_slide(sq, &DIRECTIONS[4..], occupied), "{sq} {occupied:?}");
            assert_eq!(lance(Color::Black, sq, occupied), slow_slide(sq, &[(0, -1)], occupied));
            assert_eq!(lance(Color::White, sq, occupied), slow_slide(sq, &[(0, 1)], occupied));
        }
    }

    #[test]
    fn between_and_line_agree_with_the_sliders() {
        for a in Square::all() {
            for b in Square::all() {
                let aligned = a != b && (cross(a) | diagonals(a)).contains(b);
                assert_eq!(line(a, b).any(), aligned);
                assert_eq!(between(a, b), between(b, a));
                if aligned {
                    let both = Bitboard::of(a) | Bitboard::of(b);
                    let slide = if cross(a).contains(b) { rook } else { bishop };
                    assert_eq!(between(a, b), slide(a, both) & slide(b, both) & line(a, b));
                    assert!(line(a, b).contains(a) && line(a, b).contains(b));
                }
            }
            assert!(king(Square::NONE).is_empty() && line(a, Square::NONE).is_empty());
        }
    }
}

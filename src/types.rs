//! The vocabulary every floor shares: compact `Color`, `Square`, `Piece`, `Hand`, `Move`, and the numbers of the search.
//!
//! `shogi_core`'s types are the crate's public vocabulary (re-exported as [`core`]) and convert from and into ours.
//! Inside we use our own, because three of core's choices cost time in the hot paths: its squares count from 1 and its
//! colours are 1 and 2 (an index needs a subtraction), its `promote`/`unpromote` compile to jump tables, and its `Move`
//! is a three-byte enum whose use begins with a branch. Ours are plain integers in the layout of the record formats
//! (`Move` holds the 16 bits of a PackedSfenValue), so tables index by them directly.

use std::fmt;

/// `shogi_core`, the public vocabulary that our compact types convert from and into.
pub use shogi_core as core;

/// A Zobrist key.
pub type Key = u64;
/// A score in the engine's unit: a pawn is about 90 (centipawns = 100 × value / 90).
pub type Value = i32;
/// A search depth in plies.
pub type Depth = i32;

/// The deepest line that the search follows, in plies from the root.
pub const MAX_PLY: usize = 246;
/// Room for the moves of any position. A legal game has at most 593; without an own king, or counting moves that leave it
/// in check, 531 drops and 199 moves of the pieces left on the board are a safe bound.
pub const MAX_MOVES: usize = 736;

pub const VALUE_ZERO: Value = 0;
/// The score of a mate on the board; a mate in `n` plies scores `VALUE_MATE - n`.
pub const VALUE_MATE: Value = 32000;
pub const VALUE_INFINITE: Value = 32001;
pub const VALUE_NONE: Value = 32002;
/// Scores at or above this one are mates.
pub const VALUE_MATE_IN_MAX_PLY: Value = VALUE_MATE - MAX_PLY as Value;
pub const VALUE_MATED_IN_MAX_PLY: Value = -VALUE_MATE_IN_MAX_PLY;
/// The largest static evaluation, also the score of a superior position (same board, better hand).
pub const VALUE_MAX_EVAL: Value = VALUE_MATE_IN_MAX_PLY - 1;
pub const VALUE_SUPERIOR: Value = VALUE_MAX_EVAL;

/// The score of giving mate `ply` plies from the root.
#[inline]
pub const fn mate_in(ply: usize) -> Value {
    VALUE_MATE - ply as Value
}

/// The score of being mated `ply` plies from the root.
#[inline]
pub const fn mated_in(ply: usize) -> Value {
    ply as Value - VALUE_MATE
}

/// Black (*sente*, moves first) or White (*gote*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Color {
    #[default]
    Black = 0,
    White = 1,
}

impl Color {
    pub const ALL: [Color; 2] = [Color::Black, Color::White];

    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    #[inline]
    pub const fn flip(self) -> Color {
        match self {
            Color::Black => Color::White,
            Color::White => Color::Black,
        }
    }
}

impl std::ops::Not for Color {
    type Output = Color;
    #[inline]
    fn not(self) -> Color {
        self.flip()
    }
}

impl From<core::Color> for Color {
    fn from(c: core::Color) -> Color {
        match c {
            core::Color::Black => Color::Black,
            core::Color::White => Color::White,
        }
    }
}

impl From<Color> for core::Color {
    fn from(c: Color) -> core::Color {
        match c {
            Color::Black => core::Color::Black,
            Color::White => core::Color::White,
        }
    }
}

/// A square, file-major: 1一 = 0, 1二 = 1, 9九 = 80; [`Square::NONE`] = 81.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(pub u8);

impl Square {
    pub const NUM: usize = 81;
    pub const NONE: Square = Square(81);

    /// The square at a 0-based file (0 = 1筋) and a 0-based rank (0 = 一段).
    #[inline]
    pub const fn new(file: u8, rank: u8) -> Square {
        Square(file * 9 + rank)
    }

    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0-based file; 0 is 1筋, at Black's right.
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 / 9
    }

    /// 0-based rank; 0 is 一段, White's home.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0 % 9
    }

    /// The square as the other player sees it (board turned by 180 degrees).
    #[inline]
    pub const fn flip(self) -> Square {
        Square(80 - self.0)
    }

    /// The left-right mirror image (1筋 ↔ 9筋).
    #[inline]
    pub const fn mirror(self) -> Square {
        Square::new(8 - self.file(), self.rank())
    }

    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 < 81
    }

    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator {
        (0..81u8).map(Square)
    }

    /// Reads USI text such as `7g`.
    pub fn from_usi(text: &[u8]) -> Option<Square> {
        match text {
            [f @ b'1'..=b'9', r @ b'a'..=b'i'] => Some(Square::new(f - b'1', r - b'a')),
            _ => None,
        }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_some() {
            return f.write_str("none");
        }
        write!(f, "{}{}", (b'1' + self.file()) as char, (b'a' + self.rank()) as char)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<core::Square> for Square {
    fn from(s: core::Square) -> Square {
        Square(s.array_index() as u8)
    }
}

impl From<Square> for core::Square {
    /// # Panics
    /// On [`Square::NONE`].
    fn from(s: Square) -> core::Square {
        core::Square::from_u8(s.0 + 1).expect("a square of the board")
    }
}

/// A kind of piece without its colour; promoted kinds are the unpromoted ones plus 8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PieceType(pub u8);

impl PieceType {
    pub const NONE: PieceType = PieceType(0);
    pub const PAWN: PieceType = PieceType(1);
    pub const LANCE: PieceType = PieceType(2);
    pub const KNIGHT: PieceType = PieceType(3);
    pub const SILVER: PieceType = PieceType(4);
    pub const BISHOP: PieceType = PieceType(5);
    pub const ROOK: PieceType = PieceType(6);
    pub const GOLD: PieceType = PieceType(7);
    pub const KING: PieceType = PieceType(8);
    pub const PRO_PAWN: PieceType = PieceType(9);
    pub const PRO_LANCE: PieceType = PieceType(10);
    pub const PRO_KNIGHT: PieceType = PieceType(11);
    pub const PRO_SILVER: PieceType = PieceType(12);
    pub const HORSE: PieceType = PieceType(13);
    pub const DRAGON: PieceType = PieceType(14);
    /// Table size for indexing by piece type.
    pub const NUM: usize = 16;
    /// The kinds that can be in hand, in the order of SFEN (most valuable first).
    pub const HAND: [PieceType; 7] = [
        PieceType::ROOK,
        PieceType::BISHOP,
        PieceType::GOLD,
        PieceType::SILVER,
        PieceType::KNIGHT,
        PieceType::LANCE,
        PieceType::PAWN,
    ];

    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is a promoted kind.
    #[inline]
    pub const fn is_promoted(self) -> bool {
        self.0 > 8
    }

    /// Whether the kind can promote (pawn, lance, knight, silver, bishop, rook).
    #[inline]
    pub const fn can_promote(self) -> bool {
        self.0 >= 1 && self.0 <= 6
    }

    /// The promoted kind; only meaningful where [`can_promote`](Self::can_promote) holds.
    #[inline]
    pub const fn promoted(self) -> PieceType {
        PieceType(self.0 | 8)
    }

    /// The unpromoted kind, which is also what a capture puts in hand. The king stays a king.
    #[inline]
    pub const fn unpromoted(self) -> PieceType {
        if self.0 == 8 { self } else { PieceType(self.0 & 7) }
    }

    /// Gold and the promoted pieces that move like it.
    #[inline]
    pub const fn moves_like_gold(self) -> bool {
        matches!(self.0, 7 | 9..=12)
    }

    #[inline]
    pub const fn of(self, color: Color) -> Piece {
        Piece(self.0 | (color as u8) << 4)
    }
}

const CORE_KIND: [PieceType; 15] = {
    use PieceType as P;
    // core's order: P L N S G B R K +P +L +N +S +B +R, from 1
    [
        P::NONE,
        P::PAWN,
        P::LANCE,
        P::KNIGHT,
        P::SILVER,
        P::GOLD,
        P::BISHOP,
        P::ROOK,
        P::KING,
        P::PRO_PAWN,
        P::PRO_LANCE,
        P::PRO_KNIGHT,
        P::PRO_SILVER,
        P::HORSE,
        P::DRAGON,
    ]
};

impl From<core::PieceKind> for PieceType {
    fn from(k: core::PieceKind) -> PieceType {
        CORE_KIND[k as usize]
    }
}

impl From<PieceType> for core::PieceKind {
    /// # Panics
    /// On [`PieceType::NONE`].
    fn from(t: PieceType) -> core::PieceKind {
        let i = CORE_KIND.iter().position(|&k| k == t && k != PieceType::NONE).expect("a kind of piece");
        core::PieceKind::from_u8(i as u8).expect("1 to 14 are core's kinds")
    }
}

/// A piece with its colour: the kind for Black, the kind + 16 for White; [`Piece::NONE`] = 0 is an empty square.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Piece(pub u8);

impl Piece {
    pub const NONE: Piece = Piece(0);
    /// Table size for indexing by piece.
    pub const NUM: usize = 32;

    #[inline]
    pub const fn new(color: Color, kind: PieceType) -> Piece {
        kind.of(color)
    }

    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    #[inline]
    pub const fn kind(self) -> PieceType {
        PieceType(self.0 & 15)
    }

    /// The colour; meaningless for [`Piece::NONE`].
    #[inline]
    pub const fn color(self) -> Color {
        if self.0 & 16 == 0 { Color::Black } else { Color::White }
    }

    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The same kind for the other player.
    #[inline]
    pub const fn flip(self) -> Piece {
        Piece(self.0 ^ 16)
    }
}

impl From<core::Piece> for Piece {
    fn from(p: core::Piece) -> Piece {
        let (kind, color) = p.to_parts();
        Piece::new(color.into(), kind.into())
    }
}

impl From<Piece> for core::Piece {
    /// # Panics
    /// On [`Piece::NONE`].
    fn from(p: Piece) -> core::Piece {
        core::Piece::new(p.kind().into(), p.color().into())
    }
}

/// The pieces in one player's hand, a bit field a kind, so that a comparison of two hands is one subtraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Hand(pub u32);

impl Hand {
    pub const EMPTY: Hand = Hand(0);
    /// Bit offset by kind: pawn 5 bits, lance knight silver gold 3 bits, bishop rook 2 bits, a gap after each.
    const SHIFT: [u32; 8] = [0, 0, 8, 12, 16, 20, 24, 28];
    const MASK: [u32; 8] = [0, 0x1f, 7, 7, 7, 3, 3, 7];
    /// The gaps: a borrow out of any field sets one of these bits.
    const BORROW: u32 = (1 << 5) | (1 << 11) | (1 << 15) | (1 << 19) | (1 << 22) | (1 << 26) | (1 << 31);

    #[inline]
    pub const fn count(self, kind: PieceType) -> u32 {
        self.0 >> Self::SHIFT[kind.0 as usize & 7] & Self::MASK[kind.0 as usize & 7]
    }

    #[inline]
    pub const fn has(self, kind: PieceType) -> bool {
        self.count(kind) != 0
    }

    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the hand holds anything that is not a pawn.
    #[inline]
    pub const fn has_other_than_pawns(self) -> bool {
        self.0 >> Self::SHIFT[2] != 0
    }

    /// One piece more. Fields never overflow with a legal set of pieces.
    #[inline]
    pub fn add(&mut self, kind: PieceType) {
        self.0 += 1 << Self::SHIFT[kind.0 as usize & 7];
    }

    /// One piece fewer; the hand must hold one.
    #[inline]
    pub fn sub(&mut self, kind: PieceType) {
        debug_assert!(self.has(kind));
        self.0 -= 1 << Self::SHIFT[kind.0 as usize & 7];
    }

    /// Whether this hand has at least as many of every kind as `other` (equal hands included).
    #[inline]
    pub const fn dominates(self, other: Hand) -> bool {
        self.0.wrapping_sub(other.0) & Self::BORROW == 0
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(PieceType::HAND.map(|k| (k, self.count(k)))).finish()
    }
}

/// A move in 32 bits. The low 16 are those of YaneuraOu's records: bits 0-6 `to`; 7-13 `from`, or the kind of a dropped
/// piece; bit 14 drop; bit 15 promotion. Bits 16-20 hold the piece as it stands *after* the move (promoted, coloured),
/// which is what history tables index by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Move(pub u32);

impl Move {
    pub const NONE: Move = Move(0);
    pub const NULL: Move = Move(0x81);
    pub const RESIGN: Move = Move(0x102);
    /// Declaration of an entering-king win.
    pub const WIN: Move = Move(0x183);

    const DROP: u32 = 1 << 14;
    const PROMOTE: u32 = 1 << 15;

    /// A move of the piece `piece` (as it stands before the move) without promotion.
    #[inline]
    pub const fn normal(from: Square, to: Square, piece: Piece) -> Move {
        Move(to.0 as u32 | (from.0 as u32) << 7 | (piece.0 as u32) << 16)
    }

    /// A promoting move of the piece `piece` (as it stands before the move).
    #[inline]
    pub const fn promotion(from: Square, to: Square, piece: Piece) -> Move {
        Move(to.0 as u32 | (from.0 as u32) << 7 | Self::PROMOTE | ((piece.0 | 8) as u32) << 16)
    }

    #[inline]
    pub const fn drop(piece: Piece, to: Square) -> Move {
        Move(to.0 as u32 | (piece.kind().0 as u32) << 7 | Self::DROP | (piece.0 as u32) << 16)
    }

    #[inline]
    pub const fn to(self) -> Square {
        Square((self.0 & 0x7f) as u8)
    }

    /// The origin; meaningless for drops.
    #[inline]
    pub const fn from(self) -> Square {
        Square((self.0 >> 7 & 0x7f) as u8)
    }

    /// The kind of a dropped piece; meaningless for other moves.
    #[inline]
    pub const fn dropped(self) -> PieceType {
        PieceType((self.0 >> 7 & 0x7f) as u8)
    }

    #[inline]
    pub const fn is_drop(self) -> bool {
        self.0 & Self::DROP != 0
    }

    #[inline]
    pub const fn is_promotion(self) -> bool {
        self.0 & Self::PROMOTE != 0
    }

    /// The piece as it stands after the move.
    #[inline]
    pub const fn piece(self) -> Piece {
        Piece((self.0 >> 16 & 0x1f) as u8)
    }

    /// The piece as it stood before the move (for a drop: the dropped piece).
    #[inline]
    pub const fn piece_before(self) -> Piece {
        Piece((self.0 >> 16 & 0x1f) as u8 ^ ((self.0 & Self::PROMOTE) >> 12) as u8)
    }

    /// The 16 bits that records and the transposition table store.
    #[inline]
    pub const fn raw16(self) -> u16 {
        self.0 as u16
    }

    /// Whether this is a move on the board (not none, null, resign or win).
    #[inline]
    pub const fn is_some(self) -> bool {
        // the special values have from == to and no piece
        self.0 >> 16 != 0
    }

    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Move {
    /// USI text: `7g7f`, `8h2b+`, `P*5e`; `none`, `null`, `resign`, `win` for the special ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Move::NONE => f.write_str("none"),
            Move::NULL => f.write_str("null"),
            Move::RESIGN => f.write_str("resign"),
            Move::WIN => f.write_str("win"),
            m if m.is_drop() => {
                write!(f, "{}*{}", b"?PLNSBRG"[m.dropped().index() & 7] as char, m.to())
            }
            m => write!(f, "{}{}{}", m.from(), m.to(), if m.is_promotion() { "+" } else { "" }),
        }
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Move> for core::Move {
    /// # Panics
    /// On the special moves; test [`Move::is_some`] first.
    fn from(m: Move) -> core::Move {
        assert!(m.is_some(), "{m} is not a move on the board");
        if m.is_drop() {
            core::Move::Drop { piece: m.piece().into(), to: m.to().into() }
        } else {
            core::Move::Normal { from: m.from().into(), to: m.to().into(), promote: m.is_promotion() }
        }
    }
}

/// A move and its ordering score; generators fill in the move, the move picker the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ScoredMove {
    pub mv: Move,
    pub score: i32,
}

/// The moves of one position, on the stack.
pub type MoveList = arrayvec::ArrayVec<ScoredMove, MAX_MOVES>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_domination_sees_every_kind() {
        for kind in PieceType::HAND {
            let (mut a, mut b) = (Hand::EMPTY, Hand::EMPTY);
            for k in PieceType::HAND {
                a.add(k);
                b.add(k);
            }
            assert!(a.dominates(b) && b.dominates(a));
            a.add(kind);
            assert!(a.dominates(b) && !b.dominates(a));
            let other = if kind == PieceType::PAWN { PieceType::ROOK } else { PieceType::PAWN };
            b.add(other);
            assert!(!a.dominates(b) && !b.dominates(a));
        }
    }

    #[test]
    fn core_conversions_are_inverse() {
        for s in Square::all() {
            assert_eq!(Square::from(core::Square::from(s)), s);
        }
        for p in core::Piece::all() {
            assert_eq!(core::Piece::from(Piece::from(p)), p);
        }
    }

    #[test]
    fn moves_read_back() {
        let p = PieceType::SILVER.of(Color::White);
        let m = Move::promotion(Square::new(3, 5), Square::new(2, 6), p);
        assert_eq!((m.from(), m.to()), (Square::new(3, 5), Square::new(2, 6)));
        assert_eq!(m.piece(), PieceType::PRO_SILVER.of(Color::White));
        assert_eq!(m.piece_before(), p);
        assert_eq!(m.to_string(), "4f3g+");
        let d = Move::drop(PieceType::GOLD.of(Color::White), Square::new(4, 4));
        assert_eq!(d.to_string(), "G*5e");
        assert_eq!(d.piece_before(), PieceType::GOLD.of(Color::White));
        assert!(d.is_drop() && d.is_some() && !Move::WIN.is_some());
    }
}

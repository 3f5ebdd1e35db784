//! The inputs of the network that a position activates: [`FeatureSet`], with [`HalfKp`], [`HalfKpVm`] and
//! [`Kp`], and [`View`].
//!
//! A feature is a piece on a square, or the pair (own king's square, another piece on a square), seen once
//! from each player's side. The pieces are numbered as *BonaPieces*, after the engine Bonanza: first the
//! pieces in hand, then board squares by kind, for each kind the viewer's own pieces before the opponent's;
//! kings come last.

use std::marker::PhantomData;

use crate::position::Slot;
use crate::types::{Color, Piece, PieceType, Square};

/// A feature set: the active rows of the first layer, as functions of the viewer's own king's square and of
/// [`bona_pieces`].
pub trait FeatureSet: Sized + Send + Sync + 'static {
    /// The name for people, and that in architecture strings.
    const NAME: &'static str;
    /// See [`NAME`](Self::NAME).
    const NAME_IN_FILES: &'static str;
    /// The hash of this feature set in a file's header.
    const HASH: u32;
    /// Number of buckets by the viewer's own king.
    const BUCKETS: usize;
    /// Inputs of a bucket: BonaPieces below this are features.
    const PER_BUCKET: usize;
    /// All inputs.
    const INPUTS: usize = Self::BUCKETS * Self::PER_BUCKET;
    /// Whether kings are features like other pieces.
    const KINGS: bool = Self::PER_BUCKET > BONA_PIECES;
    /// Number of active features; feature 0 of the bucket replaces each missing piece.
    const ACTIVE: usize;
    /// Whether the board is mirrored for a viewer whose king is on files 6 to 9.
    const MIRRORED: bool = false;

    /// The bucket for a viewer with the own king on this square, after mirroring.
    #[inline]
    fn bucket(king: Square) -> usize {
        if Self::BUCKETS == 1 { 0 } else { king.index() }
    }
}

/// The rows of a feature set for one player, by the own king's square as that player sees it.
pub struct View<F> {
    king: Square,
    mirrored: bool,
    features: PhantomData<F>,
}

impl<F: FeatureSet> View<F> {
    /// Number of different views, see [`number`](Self::number).
    pub const COUNT: usize = F::BUCKETS * if F::MIRRORED { 2 } else { 1 };

    /// The view of a player whose king is on `king`. A missing king ([`Square::NONE`], as in mate problems)
    /// counts as being on its original square.
    #[inline]
    pub fn new(viewer: Color, king: Square) -> View<F> {
        let king = match viewer {
            _ if !king.is_some() => HOME,
            Color::Black => king,
            Color::White => king.flip(),
        };
        let mirrored = F::MIRRORED && is_left(king);
        View { king: if mirrored { king.mirror() } else { king }, mirrored, features: PhantomData }
    }

    /// The first row of the king's bucket.
    #[inline]
    pub fn first(&self) -> usize {
        F::bucket(self.king) * F::PER_BUCKET
    }

    /// The row of a BonaPiece in the bucket; not a feature at or beyond [`FeatureSet::PER_BUCKET`].
    #[inline]
    pub fn row(&self, piece: u16) -> usize {
        usize::from(if F::MIRRORED && self.mirrored { mirrored(piece) } else { piece })
    }

    /// A number that differs between views in which a piece has different rows.
    #[inline]
    pub fn number(&self) -> usize {
        F::bucket(self.king) + if self.mirrored { F::BUCKETS } else { 0 }
    }
}

/// Whether a king on this square, as its owner sees it, is on files 6 to 9.
#[inline]
pub const fn is_left(king: Square) -> bool {
    king.0 >= 5 * 9
}

/// The piece after mirroring the files; pieces in hand stay.
#[inline]
pub const fn mirrored(piece: u16) -> u16 {
    MIRROR[piece as usize]
}

/// Own king × all other pieces: 81 × 1548 = 125,388 inputs, 38 of them on.
pub enum HalfKp {}

impl FeatureSet for HalfKp {
    const NAME: &'static str = "HalfKP";
    const NAME_IN_FILES: &'static str = "HalfKP(Friend)";
    // HalfKP's own hash, and 1 for the side "Friend"
    const HASH: u32 = 0x5D69_D5B9 ^ 1;
    const BUCKETS: usize = Square::NUM;
    const PER_BUCKET: usize = BONA_PIECES;
    const ACTIVE: usize = 38;
}

/// The same with the board mirrored for kings on files 6 to 9: 45 × 1548 = 69,660 inputs.
pub enum HalfKpVm {}

impl FeatureSet for HalfKpVm {
    const NAME: &'static str = "HalfKPvm";
    const NAME_IN_FILES: &'static str = "HalfKP_vm(Friend)";
    const HASH: u32 = 0x0B6B_1D9B ^ 1;
    const BUCKETS: usize = 5 * 9;
    const PER_BUCKET: usize = BONA_PIECES;
    const ACTIVE: usize = 38;
    const MIRRORED: bool = true;
}

/// All pieces, kings included, without buckets: 1548 + 2 × 81 = 1710 inputs, 40 of them on.
pub enum Kp {}

impl FeatureSet for Kp {
    const NAME: &'static str = "K-P";
    const NAME_IN_FILES: &'static str = "K+P";
    // the hash of a pair of feature sets: the first one's, and the second one's rotated left by a bit
    const HASH: u32 = 0xD3CE_E169 ^ 0x764C_FB4Bu32.rotate_left(1);
    const BUCKETS: usize = 1;
    const PER_BUCKET: usize = ALL;
    const ACTIVE: usize = 40;
}

/// The BonaPiece as Black and as White see it. The viewer's own king has numbers from [`BONA_PIECES`] on, the
/// opponent's 81 more.
#[inline]
pub fn bona_pieces(slot: Slot) -> [u16; 2] {
    BONA_PIECE[slot.0 as usize]
}

/// A king's original square (5九), as its owner sees it.
const HOME: Square = Square::new(4, 8);

/// The number of BonaPieces without kings, the unused 0 included.
pub const BONA_PIECES: usize = 1548;

/// All BonaPieces, both players' kings included.
const ALL: usize = BONA_PIECES + 2 * Square::NUM;

/// BonaPieces below this are in hand.
pub const HAND_END: u16 = 90;

/// By BonaPiece: see [`mirrored`].
const MIRROR: [u16; ALL] = {
    let mut table = [0; ALL];
    let mut piece = 0;
    while piece < ALL as u16 {
        table[piece as usize] = match piece.checked_sub(HAND_END) {
            None => piece,
            Some(place) => piece - place % 81 + Square((place % 81) as u8).mirror().0 as u16,
        };
        piece += 1;
    }
    table
};

/// The entry for a slot that no piece can have.
const NONE: u16 = u16::MAX;

/// First BonaPiece in hand by kind, the viewer's own and the opponent's.
const IN_HAND: [[u16; 2]; 8] = [[0, 0], [1, 20], [39, 44], [49, 54], [59, 64], [79, 82], [85, 88], [69, 74]];

/// First BonaPiece on the board by kind, the viewer's own; the opponent's lie 81 further.
const ON_BOARD: [u16; PieceType::NUM] =
    [NONE, 90, 252, 414, 576, 900, 1224, 738, BONA_PIECES as u16, 738, 738, 738, 738, 1062, 1386, NONE];

/// Number of pieces of a kind, which bounds a hand.
const EXISTING: [u32; 8] = [0, 18, 4, 4, 4, 2, 2, 4];

const BONA_PIECE: [[u16; 2]; Slot::COUNT] = {
    let mut table = [[NONE; 2]; Slot::COUNT];
    let mut color = 0;
    while color < 2 {
        let owner = Color::ALL[color];
        let mut kind = 1;
        while kind < 15 {
            let kind_ = PieceType(kind);
            let mut square = 0;
            while square < 81 && ON_BOARD[kind as usize] != NONE {
                let slot = Slot::board(Piece::new(owner, kind_), Square(square)).0 as usize;
                let base = ON_BOARD[kind as usize];
                // the owner is Black: own piece for Black, the opponent's (and turned) for White; and vice
                // versa
                table[slot][0] = base + 81 * color as u16 + square as u16;
                table[slot][1] = base + 81 * (1 - color as u16) + 80 - square as u16;
                square += 1;
            }
            if kind < 8 {
                let mut nth = 1;
                while nth <= EXISTING[kind as usize] {
                    let slot = Slot::hand(owner, kind_, nth).0 as usize;
                    table[slot][0] = IN_HAND[kind as usize][color] + nth as u16 - 1;
                    table[slot][1] = IN_HAND[kind as usize][1 - color] + nth as u16 - 1;
                    nth += 1;
                }
            }
            kind += 1;
        }
        color += 1;
    }
    table
};

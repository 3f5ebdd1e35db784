//! The inputs of the network that a position activates: [`Inputs`] describes a feature set, [`FeatureSet`] is
//! one as a type, and [`View`] and `Rows` give the rows of the first layer.
//!
//! A feature is a piece on a square, or the pair (own king's square, another piece on a square), seen once
//! from each player's side. The pieces are numbered as *BonaPieces*, after the engine Bonanza: first the
//! pieces in hand, then board squares by kind, for each kind the viewer's own pieces before the opponent's;
//! kings come last.

use std::marker::PhantomData;

use crate::position::Slot;
use crate::types::{Color, Hand, PieceType, Square};

/// A feature set: which pieces are inputs, and how the viewer's own king's square splits them into buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// The name in names of architectures.
    pub(super) arch: &'static str,
    /// The name for people.
    pub(super) name: &'static str,
    /// The name in architecture strings.
    pub(super) name_in_files: &'static str,
    /// The hash in a file's header.
    pub(super) hash: u32,
    buckets: usize,
    per_bucket: usize,
    active: usize,
    kings: Kings,
    mirrored: bool,
    attacks: bool,
}

/// How kings are inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kings {
    /// Not at all.
    None,
    /// Like other pieces.
    Apart,
    /// Like other pieces, but both sides' kings share their inputs.
    Shared,
    /// [`Shared`](Kings::Shared) and once more [`Apart`](Kings::Apart).
    Both,
}

/// Own king × all other pieces: 81 × 1548 inputs, 38 of them on.
pub(super) const HALF_KP: Inputs = Inputs {
    arch: "halfkp",
    name: "HalfKP",
    name_in_files: "HalfKP(Friend)",
    // HalfKP's own hash, and 1 for the side "Friend"
    hash: 0x5D69_D5B9 ^ 1,
    buckets: Square::NUM,
    per_bucket: BONA_PIECES,
    active: 38,
    kings: Kings::None,
    mirrored: false,
    attacks: false,
};

/// The same with the board mirrored for kings on files 6 to 9: 45 × 1548 inputs.
pub(super) const HALF_KP_VM: Inputs = Inputs {
    arch: "halfkpvm",
    name: "HalfKPvm",
    name_in_files: "HalfKP_vm(Friend)",
    hash: 0x0B6B_1D9B ^ 1,
    buckets: 5 * 9,
    mirrored: true,
    ..HALF_KP
};

/// All pieces, kings included, without buckets: 1548 + 2 × 81 inputs, 40 of them on.
pub(super) const K_P: Inputs = Inputs {
    arch: "kp",
    name: "K-P",
    name_in_files: "K+P",
    // the hash of a pair of feature sets: the first one's, and the second one's rotated left by a bit
    hash: 0xD3CE_E169 ^ 0x764C_FB4Bu32.rotate_left(1),
    buckets: 1,
    per_bucket: ALL,
    active: 40,
    kings: Kings::Apart,
    ..HALF_KP
};

/// Own king × all pieces, kings included: 81 × 1710 inputs.
const HALF_KA1: Inputs = Inputs {
    arch: "halfka1",
    name: "HalfKA1",
    name_in_files: "HalfKA1(Friend)",
    hash: 0x5F13_4CB9 ^ 1,
    buckets: Square::NUM,
    ..K_P
};

/// The same with inputs that both kings share: 81 × 1629 inputs.
const HALF_KA2: Inputs = Inputs {
    arch: "halfka2",
    name: "HalfKA2",
    name_in_files: "HalfKA2(Friend)",
    hash: 0x5F23_4CB9 ^ 1,
    per_bucket: BONA_PIECES + Square::NUM,
    kings: Kings::Shared,
    ..HALF_KA1
};

/// All feature sets of networks of two perspectives.
pub(super) const FEATURE_SETS: [Inputs; 9] = [
    HALF_KP,
    K_P,
    Inputs {
        arch: "ka2",
        name: "K-A2",
        name_in_files: "K+A2",
        hash: 0xD3CE_E169 ^ 0xA20D_CB9Bu32.rotate_left(1),
        per_bucket: BONA_PIECES + 3 * Square::NUM,
        active: 42,
        kings: Kings::Both,
        ..K_P
    },
    Inputs {
        arch: "halfkpe9",
        name: "HalfKPE9",
        name_in_files: "HalfKPE9(Friend)",
        buckets: 9 * Square::NUM,
        attacks: true,
        ..HALF_KP
    },
    HALF_KP_VM,
    HALF_KA1,
    Inputs {
        arch: "halfkahm1",
        name: "HalfKA_hm1",
        name_in_files: "HalfKA_hm1(Friend)",
        hash: 0x7F13_4CB9 ^ 1,
        buckets: 5 * 9,
        mirrored: true,
        ..HALF_KA1
    },
    HALF_KA2,
    Inputs {
        arch: "halfkahm2",
        name: "HalfKA_hm2",
        name_in_files: "HalfKA_hm2(Friend)",
        hash: 0x7F23_4CB9 ^ 1,
        buckets: 5 * 9,
        mirrored: true,
        ..HALF_KA2
    },
];

impl Inputs {
    /// All pieces, kings included, without buckets.
    pub(super) const fn pieces(
        name: &'static str,
        name_in_files: &'static str,
        hash: u32,
        rows: usize,
    ) -> Inputs {
        Inputs { name, name_in_files, hash, per_bucket: rows, ..K_P }
    }

    /// Number of inputs.
    pub const fn count(&self) -> usize {
        self.buckets * self.per_bucket
    }

    /// Number of buckets: by the viewer's own king and, in HalfKPE9, by the attacks on a piece.
    pub const fn buckets(&self) -> usize {
        self.buckets
    }

    /// Inputs of a bucket.
    pub const fn per_bucket(&self) -> usize {
        self.per_bucket
    }

    /// Number of active inputs; input 0 of the bucket replaces each missing piece.
    pub const fn active(&self) -> usize {
        self.active
    }

    /// Whether the board is mirrored for a viewer whose king is on files 6 to 9.
    pub const fn mirrored(&self) -> bool {
        self.mirrored
    }

    /// Calls `use_row` with the rows in a bucket of both kings, given as BonaPieces.
    #[inline]
    pub fn king_rows(&self, kings: [u16; 2], mut use_row: impl FnMut(usize)) {
        // the first bucket, not mirrored
        let rows = Rows::new(self, Color::Black, Square(0));
        kings.into_iter().for_each(|king| rows.of(king, &mut use_row));
    }

    /// Whether kings are inputs like other pieces.
    pub const fn kings(&self) -> bool {
        !matches!(self.kings, Kings::None)
    }

    /// Whether a piece's input depends on the attacks on its square.
    pub const fn attacks(&self) -> bool {
        self.attacks
    }

    /// Number of buckets by the viewer's own king.
    pub(super) const fn king_buckets(&self) -> usize {
        if self.attacks { self.buckets / 9 } else { self.buckets }
    }

    /// Number of different views, see [`View::number`].
    pub(super) const fn views(&self) -> usize {
        self.king_buckets() * if self.mirrored { 2 } else { 1 }
    }
}

/// A feature set as a type, for networks whose sizes the compiler knows.
pub trait FeatureSet: Clone + Send + Sync + 'static {
    /// Its description.
    const SET: Inputs;
    /// Number of buckets by the viewer's own king.
    const BUCKETS: usize = Self::SET.buckets;
    /// Inputs of a bucket: BonaPieces below this are features.
    const PER_BUCKET: usize = Self::SET.per_bucket;
    /// All inputs.
    const INPUTS: usize = Self::SET.count();
    /// Number of active features; feature 0 of the bucket replaces each missing piece.
    const ACTIVE: usize = Self::SET.active;
    /// Whether the board is mirrored for a viewer whose king is on files 6 to 9.
    const MIRRORED: bool = Self::SET.mirrored;

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
    pub const COUNT: usize = F::SET.views();

    /// The view of a player whose king is on `king`. A missing king ([`Square::NONE`], as in mate problems)
    /// counts as being on its original square.
    #[inline]
    pub fn new(viewer: Color, king: Square) -> View<F> {
        let king = seen(viewer, king);
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

/// Own king × all other pieces, as a type.
#[derive(Clone)]
pub enum HalfKp {}

impl FeatureSet for HalfKp {
    const SET: Inputs = HALF_KP;
}

/// The same with the board mirrored for kings on files 6 to 9, as a type.
#[derive(Clone)]
pub enum HalfKpVm {}

impl FeatureSet for HalfKpVm {
    const SET: Inputs = HALF_KP_VM;
}

/// All pieces, kings included, without buckets, as a type.
#[derive(Clone)]
pub enum Kp {}

impl FeatureSet for Kp {
    const SET: Inputs = K_P;
}

/// A king's square as its owner sees it; a missing king counts as being on its original square.
#[inline]
pub(super) fn seen(viewer: Color, king: Square) -> Square {
    match viewer {
        _ if !king.is_some() => HOME,
        Color::Black => king,
        Color::White => king.flip(),
    }
}

/// The rows of a feature set known at run time only, for one player, by the own king's square.
pub(super) struct Rows {
    /// The first row of the king's bucket.
    pub first: usize,
    /// See [`View::number`].
    pub number: usize,
    map: &'static [u16; ALL],
    twice: bool,
}

impl Rows {
    /// The rows for a player whose king is on `king`, which may be missing.
    #[inline]
    pub fn new(inputs: &Inputs, viewer: Color, king: Square) -> Rows {
        let king = seen(viewer, king);
        let left = inputs.mirrored && is_left(king);
        let king = if left { king.mirror() } else { king };
        let bucket = if inputs.buckets == 1 { 0 } else { king.index() };
        Rows {
            first: bucket * inputs.per_bucket,
            number: bucket + if left { inputs.buckets } else { 0 },
            map: match (inputs.kings, left) {
                (Kings::None, false) => &ROWS[0][0],
                (Kings::None, true) => &ROWS[0][1],
                (Kings::Apart, false) => &ROWS[1][0],
                (Kings::Apart, true) => &ROWS[1][1],
                (Kings::Shared | Kings::Both, false) => &ROWS[2][0],
                (Kings::Shared | Kings::Both, true) => &ROWS[2][1],
            },
            twice: inputs.kings == Kings::Both,
        }
    }

    /// Calls `use_row` with each row of a BonaPiece: none, one or two.
    #[inline]
    pub fn of(&self, piece: u16, mut use_row: impl FnMut(usize)) {
        let row = self.map[usize::from(piece)];
        if row != NONE {
            use_row(self.first + usize::from(row));
        }
        if self.twice && usize::from(piece) >= BONA_PIECES {
            // after the row of the shared king
            use_row(usize::from(piece) + Square::NUM);
        }
    }
}

/// The BonaPiece as Black and as White see it. The viewer's own king has numbers from [`BONA_PIECES`] on, the
/// opponent's 81 more.
#[inline]
pub fn bona_pieces(slot: Slot) -> [u16; 2] {
    BONA_PIECE[slot.0 as usize]
}

/// The hands of the viewer and of the opponent, from the BonaPieces of a view.
pub fn hands_of(pieces: &[u16]) -> [Hand; 2] {
    let mut hands = [Hand::default(); 2];
    for &piece in pieces.iter().filter(|&&piece| piece < HAND_END) {
        for kind in PieceType::HAND {
            for (hand, first) in hands.iter_mut().zip(IN_HAND[kind.index()]) {
                if (first..first + EXISTING[kind.index()] as u16).contains(&piece) {
                    hand.add(kind);
                }
            }
        }
    }
    hands
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

/// Rows in a bucket by BonaPiece, without kings, with kings apart and with shared ones; and each mirrored.
static ROWS: [[[u16; ALL]; 2]; 3] = {
    let mut tables = [[[NONE; ALL]; 2]; 3];
    let mut piece = 0;
    while piece < ALL {
        let mut left = 0;
        while left < 2 {
            let row = if left == 1 { MIRROR[piece] } else { piece as u16 };
            if piece < BONA_PIECES {
                tables[0][left][piece] = row;
            }
            tables[1][left][piece] = row;
            tables[2][left][piece] = if piece < BONA_PIECES + 81 { row } else { row - 81 };
            left += 1;
        }
        piece += 1;
    }
    tables
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
                let slot = Slot::board(kind_.of(owner), Square(square)).0 as usize;
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

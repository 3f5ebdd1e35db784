//! [`Buckets`]: which of a network's stacks of layers evaluates a position.
//!
//! Pieces in hand, the kings' squares and the progress of the game may each choose; the stacks are numbered
//! `(hand × kings + king) × progress + progress`. Hands and kings are those of the side to move, then those of
//! the other side, each as their owner sees the board.

use super::features::{BONA_PIECES, bona_pieces, mirrored, seen};
use super::line::FeatureChanges;
use crate::position::{Position, Slot};
use crate::support::memory::{HugeBuf, OutOfMemory};
use crate::types::{Color, Hand, PieceType, Square};
use std::sync::LazyLock;

/// What chooses the stack. The default is a single stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buckets {
    hands: Option<&'static HandBuckets>,
    kings: Option<&'static KingBuckets>,
    /// 0 or 1 if it does not choose.
    progress: usize,
}

/// Classes of a player's hand.
#[derive(Debug, PartialEq, Eq)]
struct HandBuckets {
    name: &'static str,
    classes: usize,
    rule: HandRule,
}

#[derive(Debug, PartialEq, Eq)]
enum HandRule {
    /// A bit for each group of kinds: whether the hand has one of them.
    Has(&'static [&'static [PieceType]]),
    /// The hand's points, in steps of four.
    Points,
}

const PAWN: PieceType = PieceType::PAWN;
const LANCE: PieceType = PieceType::LANCE;
const KNIGHT: PieceType = PieceType::KNIGHT;
const SILVER: PieceType = PieceType::SILVER;
const GOLD: PieceType = PieceType::GOLD;
const BISHOP: PieceType = PieceType::BISHOP;
const ROOK: PieceType = PieceType::ROOK;

static HANDS: [HandBuckets; 6] = [
    HandBuckets { name: "hand4", classes: 2, rule: HandRule::Has(&[&[BISHOP]]) },
    HandBuckets { name: "hand16", classes: 4, rule: HandRule::Has(&[&[PAWN], &[BISHOP]]) },
    HandBuckets {
        name: "hand64",
        classes: 8,
        rule: HandRule::Has(&[&[PAWN, LANCE, KNIGHT], &[GOLD, SILVER, ROOK], &[BISHOP]]),
    },
    HandBuckets { name: "hand64z", classes: 8, rule: HandRule::Points },
    HandBuckets {
        name: "hand256",
        classes: 16,
        rule: HandRule::Has(&[&[PAWN, LANCE, KNIGHT], &[SILVER, GOLD], &[BISHOP], &[ROOK]]),
    },
    HandBuckets {
        name: "hand1024",
        classes: 32,
        rule: HandRule::Has(&[&[PAWN], &[LANCE, KNIGHT], &[SILVER, GOLD], &[BISHOP], &[ROOK]]),
    },
];

/// Points of a piece in hand by [`PieceType`].
const POINTS: [u32; 8] = [0, 1, 2, 2, 3, 5, 5, 3];

impl HandBuckets {
    fn class(&self, hand: Hand) -> usize {
        match self.rule {
            HandRule::Has(groups) => {
                let has = |group: &[PieceType]| group.iter().any(|&kind| hand.has(kind));
                groups.iter().enumerate().map(|(bit, group)| usize::from(has(group)) << bit).sum()
            }
            HandRule::Points => {
                let points: u32 =
                    PieceType::HAND.into_iter().map(|kind| hand.count(kind) * POINTS[kind.index()]).sum();
                (points.div_ceil(4) as usize).min(7)
            }
        }
    }
}

/// Classes of a king's square.
#[derive(Debug, PartialEq, Eq)]
struct KingBuckets {
    names: &'static [&'static str],
    classes: usize,
    /// By rank, from the opponent's end: the first class, and the number of files in a class.
    ranks: [(u8, u8); 9],
}

/// A rank without a distinction of files.
const ALL: u8 = 9;

static KINGS: [KingBuckets; 6] = {
    /// Three classes of three ranks, or three ranks, three ranks and the rest.
    const fn far(seventh: (u8, u8), eighth: (u8, u8), ninth: (u8, u8)) -> [(u8, u8); 9] {
        let (a, b) = ((0, ALL), (1, ALL));
        [a, a, a, b, b, b, seventh, eighth, ninth]
    }
    const fn each(eighth: (u8, u8), ninth: (u8, u8)) -> [(u8, u8); 9] {
        [(0, ALL), (1, ALL), (2, ALL), (3, ALL), (4, ALL), (5, ALL), (6, ALL), eighth, ninth]
    }
    [
        KingBuckets {
            names: &["k3k3", "king3_by_king3"],
            classes: 3,
            ranks: far((2, ALL), (2, ALL), (2, ALL)),
        },
        KingBuckets { names: &["k9k9", "king9_by_king9"], classes: 9, ranks: each((7, ALL), (8, ALL)) },
        KingBuckets {
            names: &["k9k9z", "king9z_by_king9z", "king9zone_by_king9zone"],
            classes: 9,
            ranks: far((2, ALL), (3, 3), (6, 3)),
        },
        KingBuckets {
            names: &["k13k13z", "king13z_by_king13z", "king13zone_by_king13zone"],
            classes: 13,
            ranks: each((7, 3), (10, 3)),
        },
        KingBuckets {
            names: &["k21k21", "king21_by_king21"],
            classes: 21,
            ranks: far((2, ALL), (3, 1), (12, 1)),
        },
        KingBuckets {
            names: &["k29k29", "king29_by_king29"],
            classes: 29,
            ranks: far((2, 1), (11, 1), (20, 1)),
        },
    ]
};

impl KingBuckets {
    fn class(&self, king: Square) -> usize {
        let (first, files) = self.ranks[king.rank() as usize];
        usize::from(first) + usize::from(king.file() / files)
    }
}

/// Numbers of buckets by progress.
const PROGRESS: [usize; 6] = [2, 3, 4, 8, 16, 32];

impl Buckets {
    /// The buckets of the end of an architecture's name, such as `hand64_k3k3`, in any order.
    ///
    /// # Errors
    /// Which part of the name is unknown or twice there.
    pub(super) fn parse(name: &str) -> Result<Buckets, String> {
        let mut name = name.to_ascii_lowercase();
        for kings in &KINGS {
            kings.names[1..].iter().for_each(|long| name = name.replace(long, kings.names[0]));
        }
        let mut buckets = Buckets::default();
        for part in name.split('_').filter(|part| !part.is_empty()) {
            let progress = part.strip_prefix("progress").and_then(|n| n.parse().ok());
            let new = if let Some(hands) = HANDS.iter().find(|h| h.name == part) {
                buckets.hands.replace(hands).is_none()
            } else if let Some(kings) = KINGS.iter().find(|k| k.names[0] == part) {
                buckets.kings.replace(kings).is_none()
            } else if let Some(n) = progress.filter(|n| PROGRESS.contains(n)) {
                std::mem::replace(&mut buckets.progress, n) == 0
            } else {
                let known = HANDS.iter().map(|h| h.name).chain(KINGS.iter().map(|k| k.names[0]));
                let known: Vec<&str> = known.collect();
                return Err(format!(
                    "unknown buckets `{part}`; there are {}, progress2/3/4/8/16/32",
                    known.join(", ")
                ));
            };
            if !new {
                return Err(format!("`{part}` is a second choice of buckets of its kind"));
            }
        }
        Ok(buckets)
    }

    /// The name that [`parse`](Self::parse) reads, with a `_` before each part.
    pub(super) fn suffix(&self) -> String {
        let hands = self.hands.map_or(String::new(), |h| format!("_{}", h.name));
        let kings = self.kings.map_or(String::new(), |k| format!("_{}", k.names[0]));
        let progress = if self.by_progress() { format!("_progress{}", self.progress) } else { String::new() };
        hands + &kings + &progress
    }

    /// Number of stacks.
    pub fn count(&self) -> usize {
        let hands = self.hands.map_or(1, |h| h.classes * h.classes);
        let kings = self.kings.map_or(1, |k| k.classes * k.classes);
        hands * kings * self.progress.max(1)
    }

    /// Whether the progress of the game chooses, too.
    pub fn by_progress(&self) -> bool {
        self.progress > 1
    }

    /// The stack for a position; `progress` is its [sum](Progress::sum).
    #[inline]
    pub(super) fn of(&self, pos: &Position, progress: i64) -> usize {
        let us = pos.side_to_move();
        let sides = [us, us.flip()];
        let kings = sides.map(|side| seen(side, pos.king_square(side)));
        self.choose(|| sides.map(|side| pos.hand(side)), kings, || Progress::level(progress))
    }

    /// The stack by hands and kings of the side to move and of the other side, each king as its owner sees it,
    /// and by the [level](Progress::level_of) of the progress.
    #[inline]
    pub fn choose(
        &self,
        hands: impl FnOnce() -> [Hand; 2],
        kings: [Square; 2],
        progress: impl FnOnce() -> u8,
    ) -> usize {
        let mut bucket = 0;
        if let Some(classes) = self.hands {
            bucket = hands().iter().fold(0, |b, &hand| b * classes.classes + classes.class(hand));
        }
        if let Some(classes) = self.kings {
            bucket = kings.iter().fold(bucket, |b, &king| b * classes.classes + classes.class(king));
        }
        if self.by_progress() {
            bucket = bucket * self.progress + usize::from(progress()) * self.progress / 256;
        }
        bucket
    }
}

/// The progress of a game, as a logistic regression on own king × other pieces of both players.
#[derive(Clone)]
pub struct Progress {
    /// In 65536ths.
    pub bias: i32,
    /// By the own king's square and BonaPiece, in 65536ths.
    pub weights: HugeBuf<i32>,
}

impl Progress {
    /// The number of weights.
    pub const WEIGHTS: usize = Square::NUM * BONA_PIECES;

    /// Parameters of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed() -> Result<Progress, OutOfMemory> {
        Ok(Progress { bias: 0, weights: HugeBuf::zeroed(Progress::WEIGHTS)? })
    }

    /// The weights of a player's pieces.
    #[inline]
    pub(super) fn of_king(&self, viewer: Color, king: Square) -> &[i32; BONA_PIECES] {
        &self.weights.as_chunks().0[seen(viewer, king).index()]
    }

    /// The weights of a player's view.
    pub(super) fn view(&self, viewer: Color, pos: &Position) -> i64 {
        let weights = self.of_king(viewer, pos.king_square(viewer));
        let (mut sum, mut pieces) = (0, 0);
        each_piece(pos, |slot| {
            let piece = bona_pieces(slot)[viewer.index()];
            if let Some(&weight) = weights.get(usize::from(piece)) {
                sum += i64::from(weight);
                pieces += 1;
            }
        });
        // pieces that are missing in a handicap game
        sum + (38 - pieces) * i64::from(weights[0])
    }

    /// How a move changes [`view`](Self::view) if the viewer's king stays.
    #[inline]
    pub(super) fn change(&self, viewer: Color, king: Square, move_: &FeatureChanges) -> i64 {
        let (weights, count) = (self.of_king(viewer, king), usize::from(move_.count));
        let sum = |pieces: &[[u16; 2]; 2]| -> i64 {
            // the other king counts for nothing
            let weight =
                |piece: &[u16; 2]| weights.get(usize::from(piece[viewer.index()])).map_or(0, |&w| w.into());
            pieces[..count].iter().map(weight).sum()
        };
        sum(&move_.added) - sum(&move_.removed)
    }

    /// The sum for a position: the log odds in 65536ths.
    pub(super) fn sum(&self, pos: &Position) -> i64 {
        i64::from(self.bias) + Color::ALL.into_iter().map(|viewer| self.view(viewer, pos)).sum::<i64>()
    }

    /// The progress from 0 to 255, by both players' views: the square of the own king, and all 38 BonaPieces.
    pub fn level_of(&self, views: [(u8, [u16; 38]); 2]) -> u8 {
        let weight = |king: u8, piece: u16| i64::from(self.weights[Progress::input(king, piece)]);
        let views = views.iter().flat_map(|(king, pieces)| pieces.iter().map(|piece| weight(*king, *piece)));
        Progress::level(i64::from(self.bias) + views.sum::<i64>())
    }

    /// The number of a weight: by the own king's square and BonaPiece.
    pub fn input(king: u8, piece: u16) -> usize {
        usize::from(king) * BONA_PIECES + usize::from(piece)
    }

    /// The number of the weight of the mirrored king's square and BonaPiece.
    pub fn mirrored(input: usize) -> usize {
        let king = Square((input / BONA_PIECES) as u8).mirror();
        Progress::input(king.0, mirrored((input % BONA_PIECES) as u16))
    }

    /// The progress from 0 to 255, by its [sum](Self::sum).
    pub(super) fn level(sum: i64) -> u8 {
        /// The log odds from which the progress is 1, 2, ... 255 of 256.
        static FROM: LazyLock<[i64; 255]> = LazyLock::new(|| {
            std::array::from_fn(|i| {
                let p = (i + 1) as f64 / 256.0;
                ((p / (1.0 - p)).ln() * 65536.0).round() as i64
            })
        });
        FROM.partition_point(|&from| from <= sum) as u8
    }
}

/// Calls `note` with the slot of every piece.
pub(super) fn each_piece(pos: &Position, mut note: impl FnMut(Slot)) {
    for square in Square::all().filter(|&square| pos.piece_on(square).is_some()) {
        note(Slot::board(pos.piece_on(square), square));
    }
    for owner in Color::ALL {
        for kind in PieceType::HAND {
            (1..=pos.hand(owner).count(kind)).for_each(|nth| note(Slot::hand(owner, kind, nth)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_buckets_and_back() {
        for (name, count, suffix) in [
            ("", 1, ""),
            ("k3k3", 9, "_k3k3"),
            ("K9K9Z", 81, "_k9k9z"),
            ("king29_by_king29", 841, "_k29k29"),
            ("k3k3_progress8", 72, "_k3k3_progress8"),
            ("k13k13z_hand64z", 64 * 169, "_hand64z_k13k13z"),
            ("progress16_k3k3_hand256", 256 * 9 * 16, "_hand256_k3k3_progress16"),
            ("hand1024_k21k21", 451_584, "_hand1024_k21k21"),
        ] {
            let buckets = Buckets::parse(name).unwrap();
            assert_eq!((buckets.count(), buckets.suffix().as_str()), (count, suffix), "{name}");
            assert_eq!(Buckets::parse(&buckets.suffix()), Ok(buckets));
        }
        for (name, part) in
            [("k4k4", "k4k4"), ("k3k3_k9k9", "k9k9"), ("hand4_hand4", "hand4"), ("progress5", "progress5")]
        {
            assert!(Buckets::parse(name).unwrap_err().contains(&format!("`{part}`")), "{name}");
        }
    }

    #[test]
    fn classes_of_squares_and_hands_are_as_defined() {
        // own king on 8八, the opponent's on 3二
        let sfen = "lnsg1gs1l/6k2/pppp1pppp/9/9/9/PPPP1PPPP/1K7/LNSG1GSNL b RB2Pn 1";
        let pos = Position::from_sfen(sfen).unwrap();
        let of = |name: &str| Buckets::parse(name).unwrap().of(&pos, 0);
        // files and ranks from 0: (7, 7) and, turned, (6, 7)
        assert_eq!([of(""), of("k3k3"), of("k9k9")], [0, 8, 7 * 9 + 7]);
        assert_eq!([of("k9k9z"), of("k13k13z")], [5 * 9 + 5, 9 * 13 + 9]);
        assert_eq!([of("k21k21"), of("k29k29")], [10 * 21 + 9, (11 + 7) * 29 + 11 + 6]);
        assert_eq!([of("hand4"), of("hand16"), of("hand64")], [2, 12, 7 * 8 + 1]);
        // 12 points and 2
        assert_eq!([of("hand64z"), of("hand256"), of("hand1024")], [3 * 8 + 1, 13 * 16 + 1, 25 * 32 + 2]);
        assert_eq!(of("hand4_k3k3_progress8"), (2 * 9 + 8) * 8 + 4);
    }

    #[test]
    fn progress_is_a_logistic_function() {
        let at = |odds: f64| Progress::level((odds * 65536.0).round() as i64) / 8;
        assert_eq!([at(-20.0), at(-1.0), at(0.0), at(1.0), at(20.0)], [0, 8, 16, 23, 31]);
    }
}

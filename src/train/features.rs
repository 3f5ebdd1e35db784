//! [`Sample`]: the network's inputs of a position, 38 BonaPieces and two kings, in 84 bytes.

use std::sync::LazyLock;

use crate::data::board::Board;
use crate::nnue::features::{BONA_PIECES, FeatureSet, HAND_END, HalfKp, bona_pieces, hands_of, mirrored};
use crate::nnue::{Buckets, Inputs};
use crate::position::{Position, Slot};
use crate::types::{Color, PieceType, Square};

/// Pieces other than kings, which is the number of active features per perspective.
pub const ACTIVE: usize = HalfKp::ACTIVE;
/// BonaPiece indices; 0 means "nothing".
pub const BONA: usize = BONA_PIECES;
/// The offsets in files (or ranks) from the own king: 8 on one side to 8 on the other.
pub(super) const OFFSETS: usize = 17;

/// The number of the offset from the own king to a piece, by kind of piece. `None` for pieces in hand.
#[inline]
pub(super) fn relative_row(king: usize, bona: usize) -> Option<usize> {
    let place = bona.checked_sub(HAND_END as usize)?;
    let (run, sq) = (place / 81, place % 81);
    let offset = (sq / 9 + 8 - king / 9) * OFFSETS + sq % 9 + 8 - king % 9;
    Some(run * OFFSETS * OFFSETS + offset)
}

/// The same piece from the other player's side.
pub static FLIP: LazyLock<[u16; BONA]> = LazyLock::new(|| {
    let mut table = [0; BONA];
    for slot in 0..Slot::COUNT as u16 {
        let [black, white] = bona_pieces(Slot(slot));
        if usize::from(black) < BONA {
            (table[black as usize], table[white as usize]) = (white, black);
        }
    }
    table
});

/// Number of these pieces that are in hand.
pub(super) fn in_hand(pieces: &[u16]) -> usize {
    pieces.iter().filter(|piece| (1..HAND_END).contains(*piece)).count()
}

/// A training position, 84 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sample {
    /// The pieces as the side to move sees them; 0 for each piece that a handicap position lacks.
    pub pieces: [u16; ACTIVE],
    /// The score for the side to move, in `Value` units.
    pub score: i16,
    /// Plies since the start of the game.
    pub ply: u16,
    /// The king of the side to move as that side sees it, and the other king as the other side sees it.
    pub kings: [u8; 2],
    /// For the side to move: 1 win, 0 draw, -1 loss.
    pub result: i8,
    /// The [level](crate::nnue::Progress) of the game's progress, for networks with stacks by progress; else 0.
    pub progress: u8,
}

impl Sample {
    /// The features of a board with both kings. `None` if a king is missing or there are more than 38 other
    /// pieces.
    pub fn new(board: &Board, score: i16, ply: u16, result: i8) -> Option<Sample> {
        let &Board { ref squares, hands, turn } = board;
        let mut pieces = [0u16; ACTIVE];
        let mut kings = [u8::MAX; 2];
        let mut n = 0;
        for (sq, &p) in squares.iter().enumerate() {
            if p.is_none() {
                continue;
            }
            if p.kind() == PieceType::KING {
                // each king as its owner sees it
                let seen = if p.color() == Color::Black { sq } else { 80 - sq };
                kings[(p.color() != turn) as usize] = seen as u8;
                continue;
            }
            *pieces.get_mut(n)? = bona_pieces(Slot::board(p, Square(sq as u8)))[turn.index()];
            n += 1;
        }
        for color in Color::ALL {
            let hand = hands[color.index()];
            if hand.is_empty() {
                continue;
            }
            for kind in PieceType::HAND {
                for nth in 1..=hand.count(kind) {
                    *pieces.get_mut(n)? = bona_pieces(Slot::hand(color, kind, nth))[turn.index()];
                    n += 1;
                }
            }
        }
        (kings[0] < 81 && kings[1] < 81).then_some(Sample { pieces, score, ply, kings, result, progress: 0 })
    }

    /// The features of a full position.
    pub fn of(pos: &Position, score: i16, result: i8) -> Option<Sample> {
        let ply = pos.game_ply().min(u16::MAX as u32) as u16;
        Sample::new(&Board::of(pos), score, ply, result)
    }

    /// Number of pieces in both players' hands.
    pub fn in_hand(&self) -> usize {
        in_hand(&self.pieces)
    }

    /// The stack of layers for the position, which is reflected if `mirror`.
    #[inline]
    pub fn stack(&self, buckets: &Buckets, mirror: bool) -> usize {
        let kings = self.kings.map(|king| if mirror { Square(king).mirror() } else { Square(king) });
        buckets.choose(|| hands_of(&self.pieces), kings, || self.progress)
    }

    /// A player's view of the position, which is reflected if `mirror`: the own king and all other pieces.
    #[inline]
    pub fn seen(&self, perspective: usize, mirror: bool) -> (u8, [u16; ACTIVE]) {
        let king = Square(self.kings[perspective]);
        let king = if mirror { king.mirror() } else { king };
        let pieces = match (perspective, mirror) {
            (0, false) => self.pieces,
            (0, true) => self.pieces.map(mirrored),
            (_, mirror) => {
                let flip: &[u16; BONA] = &FLIP;
                let pieces = self.pieces.map(|p| flip[p as usize]);
                if mirror { pieces.map(mirrored) } else { pieces }
            }
        };
        (king.0, pieces)
    }

    /// The rows in a bucket as seen by the side to move (0) or the other side (1), reflected if `mirror`: those
    /// of the kings, if they are inputs, come last.
    #[inline]
    pub fn view(&self, inputs: &Inputs, perspective: usize, mirror: bool, out: &mut [u16]) {
        let (out, kings) = out.split_first_chunk_mut::<ACTIVE>().expect("38 places");
        let own;
        (own, *out) = self.seen(perspective, mirror);
        if kings.is_empty() {
            return;
        }
        // each side's king square is stored as that side sees it
        let other = Square(80 - self.kings[1 - perspective]);
        let other = if mirror { other.mirror() } else { other };
        let mut out = kings.iter_mut();
        inputs.king_rows([BONA as u16 + u16::from(own), BONA as u16 + 81 + u16::from(other.0)], |row| {
            if let Some(out) = out.next() {
                *out = row as u16;
            }
        });
    }
}

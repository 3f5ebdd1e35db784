//! What the network sees of a position: [`Sample`], 38 BonaPieces and two kings, small enough to keep millions.

use crate::position::Position;
use crate::types::{Color, Hand, Piece, PieceType, Square};

/// Pieces other than kings, hence active features per perspective.
pub const ACTIVE: usize = 38;
/// BonaPiece indices: what stands where, 0 for "nothing".
pub const BONA: usize = 1548;
/// Rows of the first layer: one per own king square and BonaPiece.
pub const ROWS: usize = 81 * BONA;

const FRIEND: usize = 0;
const ENEMY: usize = 1;

/// Base of the pieces in hand by kind; the n-th piece of its kind is at base + n - 1.
const HAND_BASE: [[u16; 8]; 2] = [[0, 1, 39, 49, 59, 79, 85, 69], [0, 20, 44, 54, 64, 82, 88, 74]];

/// Base of the pieces on the board by kind; promoted small pieces share the gold's. Kings have none.
const BOARD_BASE: [[u16; 16]; 2] = [
    [0, 90, 252, 414, 576, 900, 1224, 738, 0, 738, 738, 738, 738, 1062, 1386, 0],
    [0, 171, 333, 495, 657, 981, 1305, 819, 0, 819, 819, 819, 819, 1143, 1467, 0],
];
const HAND_END: u16 = 90;

/// The same piece from the other player's side: friend and enemy change places, the board turns around.
pub static FLIP: [u16; BONA] = {
    let mut table = [0; BONA];
    // hands: pairs of equally long runs
    let runs = [(1, 20, 18), (39, 44, 4), (49, 54, 4), (59, 64, 4), (69, 74, 4), (79, 82, 2), (85, 88, 2)];
    let mut r = 0;
    while r < runs.len() {
        let (friend, enemy, n) = runs[r];
        let mut i = 0;
        while i < n {
            table[friend + i] = (enemy + i) as u16;
            table[enemy + i] = (friend + i) as u16;
            i += 1;
        }
        r += 1;
    }
    // board: friend and enemy runs of 81 alternate
    let mut bp = HAND_END as usize;
    while bp < BONA {
        let run = (bp - HAND_END as usize) / 81;
        let sq = (bp - HAND_END as usize) % 81;
        table[bp] = (HAND_END as usize + (run ^ 1) * 81 + (80 - sq)) as u16;
        bp += 1;
    }
    table
};

/// The same piece on the board reflected left to right.
pub static MIRROR: [u16; BONA] = {
    let mut table = [0; BONA];
    let mut bp = 0;
    while bp < BONA {
        table[bp] = if bp < HAND_END as usize {
            bp as u16
        } else {
            let run = (bp - HAND_END as usize) / 81;
            let sq = (bp - HAND_END as usize) % 81;
            (HAND_END as usize + run * 81 + (8 - sq / 9) * 9 + sq % 9) as u16
        };
        bp += 1;
    }
    table
};

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
    pub reserved: u8,
}

impl Sample {
    /// Reads the features off a board with both kings. `None` if a king is missing or there are more than 38 other
    /// pieces.
    pub fn new(
        squares: &[Piece; 81],
        hands: [Hand; 2],
        turn: Color,
        score: i16,
        ply: u16,
        result: i8,
    ) -> Option<Sample> {
        let mut pieces = [0u16; ACTIVE];
        let mut kings = [u8::MAX; 2];
        let mut n = 0;
        for (sq, &p) in squares.iter().enumerate() {
            if p.is_none() {
                continue;
            }
            let own = p.color() == turn;
            let seen = if turn == Color::Black { sq } else { 80 - sq };
            if p.kind() == PieceType::KING {
                if own {
                    kings[0] = seen as u8;
                } else {
                    kings[1] = (80 - seen) as u8;
                }
                continue;
            }
            let base = BOARD_BASE[if own { FRIEND } else { ENEMY }][p.kind().index()];
            *pieces.get_mut(n)? = base + seen as u16;
            n += 1;
        }
        for color in Color::ALL {
            let side = if color == turn { FRIEND } else { ENEMY };
            let hand = hands[color.index()];
            if hand.is_empty() {
                continue;
            }
            for kind in PieceType::HAND {
                let base = HAND_BASE[side][kind.index()];
                for i in 0..hand.count(kind) as u16 {
                    *pieces.get_mut(n)? = base + i;
                    n += 1;
                }
            }
        }
        (kings[0] < 81 && kings[1] < 81).then_some(Sample { pieces, score, ply, kings, result, reserved: 0 })
    }

    /// The features of a full position.
    pub fn of(pos: &Position, score: i16, result: i8) -> Option<Sample> {
        let hands = [pos.hand(Color::Black), pos.hand(Color::White)];
        let ply = pos.game_ply().min(u16::MAX as u32) as u16;
        Sample::new(pos.board(), hands, pos.side_to_move(), score, ply, result)
    }

    /// The own king's square and the pieces, seen by the side to move (0) or the other side (1), reflected if asked.
    #[inline]
    pub fn view(&self, perspective: usize, mirror: bool, out: &mut [u16]) -> u8 {
        let out: &mut [u16; ACTIVE] = out.try_into().expect("38 places");
        match (perspective, mirror) {
            (0, false) => *out = self.pieces,
            (0, true) => *out = self.pieces.map(|p| MIRROR[p as usize]),
            (_, false) => *out = self.pieces.map(|p| FLIP[p as usize]),
            (_, true) => *out = self.pieces.map(|p| MIRROR[FLIP[p as usize] as usize]),
        }
        let king = self.kings[perspective];
        if mirror { Square(king).mirror().0 } else { king }
    }
}

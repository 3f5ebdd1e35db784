//! A hand-written network: material, a few positional terms and king safety, encoded in HalfKP weights.
//!
//! It plays the first training games when there is no trained network. How it computes:
//!
//! - **Transformer.** Each viewer sums up his *standing*: pieces and their squares, those near his own king
//!   by their position relative to it. All of [`STEPS`] outputs hold this same sum, each with a bias 127
//!   lower than the one before, so that their clipped values add up to the sum over a range of 127 × `STEPS`
//!   units, exactly. Two more outputs clip a measure of *danger* to the viewer's king from below, which makes
//!   it count only once attackers gather. Two more encode the king's own square: 38 features are always on,
//!   so a weight shared by all features of a bucket is a constant of 38 times that weight.
//! - **Hidden layers.** Every unit of the first takes the difference of both viewers' sums; the units cover
//!   consecutive ranges, finely (a unit a step) around zero, in steps of two and four further out. The second
//!   layer copies them.
//! - **Output.** Their sum, weighted by their steps, is the difference again, 16 times (for an FV_SCALE of
//!   16).

use super::arch::{Architecture, FV_SCALE};
use super::features::{FeatureSet, HalfKp, bona_pieces};
use super::layers::WEIGHT_SHIFT;
use super::network::Network;
use super::parameters::Parameters;
use crate::position::Slot;
use crate::support::memory::OutOfMemory;
use crate::types::{Color, PieceType, Square};

/// Transformer outputs that share the standing.
const STEPS: usize = 32;
/// The standing of an even position, the middle of the range.
const EVEN: i16 = (STEPS * 127 / 2) as i16;
/// Transformer outputs for danger, and the measures from which they count.
const DANGER: [usize; 2] = [STEPS, STEPS + 1];
const DANGER_FROM: [i16; 2] = [36, 76];
/// The cost of a unit of either danger, in 64ths of a value.
const DANGER_COST: i32 = 96;
/// Transformer outputs for the king's square: its merit in base 4, 38 units a digit.
const KING: [usize; 2] = [STEPS + 2, STEPS + 3];
/// The value of a unit of either, in 64ths of a value: 38 × 28 / 64 = 17 a step of merit, and four times
/// that.
const KING_WORTH: [i32; 2] = [28, 112];
/// The value of the move.
const TEMPO: i32 = 16;

impl Network {
    /// The hand-written network; see the module's documentation in the source for how it is encoded.
    pub fn bootstrap() -> Result<Network, OutOfMemory> {
        let mut parameters = Architecture::DEFAULT.zeroed()?;
        transformer(&mut *parameters);
        hidden_and_output(&mut *parameters);
        Ok(Network::new(parameters, "bootstrap: piece values and a few positional terms".to_owned()))
    }
}

fn transformer(network: &mut dyn Parameters) {
    let bias = network.bias_mut();
    for (step, bias) in bias[..STEPS].iter_mut().enumerate() {
        *bias = EVEN - 127 * step as i16;
    }
    for (output, from) in DANGER.into_iter().zip(DANGER_FROM) {
        bias[output] = -from;
    }

    for king in Square::all() {
        // Black's view of the board; White's view uses the same rows
        let first = HalfKp::bucket(king) * HalfKp::PER_BUCKET;
        let merit = king_merit(king);
        for input in first..first + HalfKp::PER_BUCKET {
            let row = network.row_mut(input);
            row[KING[0]] = merit % 4;
            row[KING[1]] = merit / 4;
        }
        let mut set = |slot: Slot, standing: i32, danger: i32| {
            let feature = usize::from(bona_pieces(slot)[Color::Black.index()]);
            if feature < HalfKp::PER_BUCKET {
                let row = network.row_mut(first + feature);
                row[..STEPS].fill(standing as i16);
                DANGER.into_iter().for_each(|output| row[output] = danger as i16);
            }
        };
        for kind in (1..15).map(PieceType) {
            for square in Square::all() {
                let placed = VALUE[kind.index()] + placement(kind, square);
                let near = Near::new(king, square);
                // both viewers count material, so each counts half
                let own = placed / 2 + guard(kind, near);
                set(Slot::board(kind.of(Color::Black), square), own, -shelter(kind, near));
                let placed = VALUE[kind.index()] + placement(kind, square.flip());
                let theirs = -placed / 2 - attack(kind, near);
                set(Slot::board(kind.of(Color::White), square), theirs, menace(kind, near));
            }
        }
        for kind in PieceType::HAND {
            for nth in 1..=MOST_IN_HAND[kind.index()] {
                let value = in_hand(kind, nth);
                let danger =
                    if nth == 1 { DANGER_IN_HAND[kind.index()] } else { DANGER_IN_HAND[kind.index()] / 3 };
                set(Slot::hand(Color::Black, kind, nth), value / 2, 0);
                set(Slot::hand(Color::White, kind, nth), -value / 2, danger);
            }
        }
    }
}

/// By [`PieceType`]: the value of a piece on the board, and of the first in hand. A piece in hand can be
/// dropped anywhere, but counts as unpromoted.
const VALUE: [i32; PieceType::NUM] =
    [0, 90, 240, 270, 380, 610, 710, 450, 0, 470, 450, 460, 470, 880, 1040, 0];
const HAND_VALUE: [i32; 8] = [0, 100, 260, 290, 420, 660, 780, 490];
const MOST_IN_HAND: [u32; 8] = [0, 18, 4, 4, 4, 2, 2, 4];

/// The value of the `nth` piece of a kind in hand: each further one is worth less.
fn in_hand(kind: PieceType, nth: u32) -> i32 {
    let first = HAND_VALUE[kind.index()];
    let (n, many) = (nth as i32 - 1, kind == PieceType::PAWN);
    if many { (first - 6 * n).max(50) } else { first - first * n / 25 }
}

/// The position of a piece relative to a king, as seen by the king's owner.
#[derive(Clone, Copy)]
struct Near {
    /// Distance in files.
    side: i32,
    /// Ranks ahead (towards the opponent); negative behind.
    ahead: i32,
    /// Distance in king moves.
    distance: i32,
}

impl Near {
    fn new(king: Square, piece: Square) -> Near {
        let side = (king.file() as i32 - piece.file() as i32).abs();
        let ahead = king.rank() as i32 - piece.rank() as i32;
        Near { side, ahead, distance: side.max(ahead.abs()) }
    }
}

/// The entry for a distance of 1, 2, 3 (and 0 beyond).
fn by_distance(near: Near, table: [i32; 3]) -> i32 {
    table.get(near.distance as usize - usize::from(near.distance > 0)).copied().unwrap_or(0)
}

/// The value of a piece's square for its owner, whose home rank is 8.
fn placement(kind: PieceType, square: Square) -> i32 {
    use PieceType as P;
    let rank = square.rank() as usize;
    // 0 on the edges to 4 in the middle
    let centre = (square.file() as usize).min(8 - square.file() as usize);
    match kind {
        P::PAWN => [0, 0, 6, 30, 16, 10, 0, 0, 0][rank],
        P::LANCE => [0, 0, -10, -10, -20, -20, -15, -10, 0][rank],
        P::KNIGHT => [0, 0, 0, 4, -6, -14, 14, -10, 0][rank] + [-16, 0, 4, 4, 4][centre],
        P::SILVER => [10, 10, 16, 22, 30, 26, 18, 8, -10][rank] + [-36, -14, 0, 4, 6][centre],
        P::GOLD => [-20, 10, 10, -10, -14, -14, -4, 10, 0][rank] + [-44, -16, 0, 6, 8][centre],
        P::BISHOP => [20, 20, 20, 0, 10, 4, 6, 10, 0][rank] + [-16, 0, 0, 4, 8][centre],
        P::ROOK => [60, 60, 60, 10, 0, -6, -20, -10, 16][rank] + [-10, 0, 0, 0, 0][centre],
        P::PRO_PAWN | P::PRO_LANCE | P::PRO_KNIGHT | P::PRO_SILVER => {
            [-20, 10, 16, 10, 0, -10, -10, -10, -10][rank] + [-40, -14, 0, 8, 12][centre]
        }
        P::HORSE => [0, 4, 10, 10, 16, 20, 20, 16, 10][rank] + [-24, -8, 0, 6, 10][centre],
        P::DRAGON => [30, 40, 40, 20, 10, 0, 0, 0, 0][rank] + [-20, -4, 0, 4, 4][centre],
        _ => 0,
    }
}

/// The value of a piece beside its own king.
fn guard(kind: PieceType, near: Near) -> i32 {
    use PieceType as P;
    // the castle stands beside and ahead of the king
    let behind = near.ahead < 0;
    match kind {
        _ if kind.moves_like_gold() => by_distance(near, if behind { [16, 4, 0] } else { [40, 22, 8] }),
        P::SILVER => by_distance(near, if behind { [12, 2, 0] } else { [34, 18, 7] }),
        P::PAWN if near.side <= 1 => match near.ahead {
            1 => 16,
            2 => 14,
            3 => 4,
            _ => 0,
        },
        P::KNIGHT => by_distance(near, [6, 8, 4]),
        P::LANCE if near.side <= 1 => 8,
        P::HORSE => by_distance(near, [50, 44, 26]),
        // the proverb: keep king and rook apart
        P::ROOK => by_distance(near, [-50, -34, -16]),
        P::BISHOP => by_distance(near, [-6, 0, 0]),
        _ => 0,
    }
}

/// The value of the opponent's piece beside this king.
fn attack(kind: PieceType, near: Near) -> i32 {
    use PieceType as P;
    let line = near.side == 0 || near.ahead == 0;
    let diagonal = near.side == near.ahead.abs();
    match kind {
        _ if kind.moves_like_gold() => by_distance(near, [66, 46, 22]),
        P::SILVER => by_distance(near, [50, 38, 18]),
        P::KNIGHT if near.ahead >= 1 => by_distance(near, [16, 34, 24]),
        P::PAWN if near.ahead >= 0 => by_distance(near, [34, 22, 8]),
        P::LANCE if near.ahead >= 1 && near.side <= 1 => 18,
        P::ROOK => by_distance(near, [30, 26, 20]) + if line { 20 } else { 0 },
        P::BISHOP => by_distance(near, [24, 22, 16]) + if diagonal { 18 } else { 0 },
        P::HORSE => by_distance(near, [76, 56, 34]) + if diagonal { 16 } else { 4 },
        P::DRAGON => by_distance(near, [84, 62, 40]) + if line { 20 } else { 8 },
        _ => 0,
    }
}

/// How much the opponent's piece adds to the danger to this king.
fn menace(kind: PieceType, near: Near) -> i32 {
    use PieceType as P;
    match kind {
        _ if kind.moves_like_gold() => by_distance(near, [26, 18, 8]),
        P::SILVER => by_distance(near, [22, 15, 7]),
        P::KNIGHT if near.ahead >= 1 => by_distance(near, [4, 14, 9]),
        P::PAWN if near.ahead >= 0 => by_distance(near, [14, 7, 1]),
        P::LANCE if near.ahead >= 1 && near.side <= 1 => 6,
        P::ROOK | P::BISHOP => by_distance(near, [16, 13, 8]) + 2,
        P::HORSE | P::DRAGON => by_distance(near, [32, 25, 16]) + 6,
        _ => 0,
    }
}

/// By [`PieceType`]: how much the opponent's first piece in hand adds to the danger to this king.
const DANGER_IN_HAND: [i32; 8] = [0, 3, 5, 8, 12, 10, 14, 14];

/// How much an own piece reduces the danger to this king.
fn shelter(kind: PieceType, near: Near) -> i32 {
    use PieceType as P;
    match kind {
        _ if kind.moves_like_gold() => by_distance(near, [8, 5, 1]),
        P::SILVER => by_distance(near, [7, 4, 1]),
        P::HORSE => by_distance(near, [12, 10, 6]),
        P::PAWN | P::KNIGHT | P::LANCE => by_distance(near, [2, 1, 0]),
        _ => 0,
    }
}

/// How good the king's square is, 0 to 15: castled on either wing, or deep in the opponent's camp.
fn king_merit(king: Square) -> i16 {
    let centre = (king.file() as usize).min(8 - king.file() as usize);
    [
        [12, 12, 12, 12, 12],
        [11, 11, 11, 11, 11],
        [8, 8, 8, 8, 8],
        [4, 4, 3, 3, 3],
        [2, 2, 1, 0, 0],
        [3, 3, 2, 1, 0],
        [7, 7, 5, 3, 2],
        [10, 13, 12, 8, 5],
        [10, 13, 12, 9, 6],
    ][king.rank() as usize][centre]
}

/// Outputs of the first hidden layer.
const UNITS: usize = 32;

fn hidden_and_output(network: &mut dyn Parameters) {
    // Each unit covers a range of the difference, from -4064 to 4064 in all; `scale` 64ths of a unit a step.
    let scale = |unit: usize| match unit {
        0..4 | 28..32 => 16,
        4..8 | 24..28 => 32,
        _ => 64,
    };
    let width = |unit: usize| 127 * 64 / scale(unit);
    let mut from = -(0..UNITS).map(width).sum::<i32>() / 2;
    let own = network.shape().l1;
    let mut layers = network.layers_mut();
    let [hidden1, hidden2, output] = &mut layers[..] else { unreachable!("the default network has three") };
    output.bias_mut()[0] = FV_SCALE * from;
    for unit in 0..UNITS {
        let scale = scale(unit);
        hidden1.bias_mut()[unit] = scale * (TEMPO - from);
        let mut weigh = |input: usize, worth: i32| {
            // 64ths of the difference, in this unit's scale; all of them divide
            let weight = (worth * scale / 64) as i16;
            hidden1.set_weight(unit, input, weight);
            hidden1.set_weight(unit, own + input, -weight);
        };
        (0..STEPS).for_each(|input| weigh(input, 64));
        DANGER.into_iter().for_each(|input| weigh(input, -DANGER_COST));
        KING.into_iter().zip(KING_WORTH).for_each(|(input, worth)| weigh(input, worth));

        hidden2.set_weight(unit, unit, 1 << WEIGHT_SHIFT);
        output.set_weight(0, unit, (FV_SCALE * 64 / scale) as i16);
        from += width(unit);
    }
}

//! [`Lite`]: the lite value network of dlshogi's author, with convolutions along files and ranks.
//!
//! Each piece on the board, as the viewer sees it, adds a vector to its square; a piece in hand adds one to
//! every square. A 9×1 convolution computes four numbers for each file, a 1×9 convolution four for each rank.
//! The 72 numbers are clipped and go through layers of 32 and 1. Everything before the clipping is linear,
//! batch normalization included, so the file holds the product: what each kind of piece adds to the four
//! numbers of its file, by rank, and to those of its rank, by file. A move changes only these. The original
//! network distinguishes promoted minor pieces from gold and has an input for check; ours has the pieces of
//! HalfKP, and positions in check are not evaluated. Both sides have accumulators, but only those of the side
//! to move are used.

use std::sync::Arc;

use super::accumulator::Accumulators;
use super::buckets::each_piece;
use super::features::{self, Inputs, bona_pieces};
use super::layers::{Affine, Aligned, Dense};
use super::line::{FeatureChanges, FeatureLine};
use super::parameters::{Evaluation, Parameters};
use super::shape::{HeadShape, Shape};
use super::simd::{Simd, Work, dispatch, scalar};
use crate::position::{Position, Slot};
use crate::support::memory::OutOfMemory;
use crate::types::Color;

/// Numbers for each file or rank.
const CHANNELS: usize = 4;
/// Numbers of all files, then of all ranks.
const UNITS: usize = 2 * 9 * CHANNELS;
/// Outputs of the hidden layer.
const HIDDEN: usize = 32;
/// Kinds of pieces on the board, of both sides: those of BonaPieces, and kings.
const KINDS: usize = 20;
/// BonaPieces below this are in hand.
const HAND_END: usize = features::HAND_END as usize;
/// Rows of all kinds, nine each: row `i` has what a piece on rank `i` adds to its file, and on file `i` to
/// its rank. Then come those of the pieces in hand, which they add to every line.
const ROWS: usize = 9 * KINDS + HAND_END;

/// What is added to a file and to a rank.
type Row = [i16; 2 * CHANNELS];

/// The parameters.
#[derive(Clone)]
pub(super) struct Lite {
    bias: Row,
    rows: Vec<Row>,
    hidden: Affine<UNITS, HIDDEN>,
    output: Affine<HIDDEN, 1>,
}

impl Lite {
    /// The sizes, at run time.
    pub const SHAPE: Shape = Shape {
        inputs: Inputs::pieces("Lite", "Pieces+Hands", 0x117E_0907, ROWS),
        l1: 2 * CHANNELS,
        head: HeadShape::Lite { l2: HIDDEN },
    };

    /// A network of zeros.
    pub fn zeroed() -> Result<Lite, OutOfMemory> {
        let (hidden, output) = (Affine::zeroed()?, Affine::zeroed()?);
        Ok(Lite { bias: [0; 2 * CHANNELS], rows: vec![[0; 2 * CHANNELS]; ROWS], hidden, output })
    }

    /// The sums of both players.
    fn summed_up(&self, pos: &Position) -> [Sums; 2] {
        let mut pair = [Sums::new(self); 2];
        let add = |slot: Slot| {
            let pieces = bona_pieces(slot);
            for viewer in Color::ALL {
                pair[viewer.index()].change(self, pieces[viewer.index()], i16::wrapping_add);
            }
        };
        each_piece(pos, add);
        pair
    }
}

/// One viewer's accumulator.
#[derive(Clone, Copy)]
struct Sums {
    /// Of each file, then of each rank: what the pieces on it add.
    lines: [[i16; CHANNELS]; 18],
    /// Of all files and of all ranks: the bias, and what the pieces in hand add.
    everywhere: [[i16; CHANNELS]; 2],
}

impl Sums {
    /// The sums without pieces.
    fn new(network: &Lite) -> Sums {
        let (everywhere, _) = network.bias.as_chunks();
        Sums { lines: [[0; CHANNELS]; 18], everywhere: [everywhere[0], everywhere[1]] }
    }

    /// Adds or removes a BonaPiece.
    #[inline(always)]
    fn change(&mut self, network: &Lite, piece: u16, change: impl Fn(i16, i16) -> i16) {
        let change = |sums: &mut [i16; CHANNELS], part: usize, row: usize| {
            let (row, _) = network.rows[row].as_chunks::<CHANNELS>();
            sums.iter_mut().zip(row[part]).for_each(|(sum, w)| *sum = change(*sum, w));
        };
        match usize::from(piece).checked_sub(HAND_END) {
            None => {
                let row = 9 * KINDS + usize::from(piece);
                (0..2).for_each(|part| change(&mut self.everywhere[part], part, row));
            }
            Some(place) => {
                let (kind, file, rank) = (place / 81, place % 81 / 9, place % 9);
                change(&mut self.lines[file], 0, 9 * kind + rank);
                change(&mut self.lines[9 + rank], 1, 9 * kind + file);
            }
        }
    }

    /// The sums of all lines.
    #[inline(always)]
    fn total(&self) -> [i16; UNITS] {
        std::array::from_fn(|i| {
            let (line, channel) = (i / CHANNELS, i % CHANNELS);
            self.lines[line][channel].wrapping_add(self.everywhere[line / 9][channel])
        })
    }
}

/// A thread's accumulators.
struct LiteStack {
    network: Arc<Lite>,
    /// By frame of the line.
    sums: Vec<[Sums; 2]>,
}

impl LiteStack {
    #[inline(always)]
    fn bring_up_to_date(&mut self, line: &mut FeatureLine, pos: &Position) {
        let top = line.top();
        let frames = line.frames();
        if frames[top].computed != 0 {
            return;
        }
        if self.sums.len() < frames.len() {
            self.sums.resize(frames.len(), [Sums::new(&self.network); 2]);
        }
        let Some(from) = (0..top).rfind(|&frame| frames[frame].computed != 0) else {
            self.sums[top] = self.network.summed_up(pos);
            frames[top].computed = 0b11;
            return;
        };
        for (at, frame) in (from + 1..).zip(&mut frames[from + 1..=top]) {
            frame.computed = 0b11;
            self.sums[at] = self.sums[at - 1];
            for (v, sums) in self.sums[at].iter_mut().enumerate() {
                for i in 0..usize::from(frame.count) {
                    sums.change(&self.network, frame.removed[i][v], i16::wrapping_sub);
                    sums.change(&self.network, frame.added[i][v], i16::wrapping_add);
                }
            }
        }
    }
}

impl Accumulators for LiteStack {
    fn evaluate(&mut self, line: &mut FeatureLine, pos: &Position) -> i32 {
        dispatch(Evaluate(self, line, pos))
    }

    fn update(&mut self, line: &mut FeatureLine, pos: &Position) {
        self.bring_up_to_date(line, pos);
    }

    fn prefetch(&self, _frame: &FeatureChanges) {
        // the whole table has four kilobytes
    }
}

struct Evaluate<'a>(&'a mut LiteStack, &'a mut FeatureLine, &'a Position);

impl Work for Evaluate<'_> {
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        let Evaluate(stack, line, pos) = self;
        stack.bring_up_to_date(line, pos);
        let sums = stack.sums[line.top()][pos.side_to_move().index()].total();
        // SAFETY: the caller's promise.
        unsafe { Propagate(&stack.network, &sums).run::<S>() }
    }
}

/// The raw output for the sums of the side to move.
struct Propagate<'a>(&'a Lite, &'a [i16; UNITS]);

impl Work for Propagate<'_> {
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        let Propagate(network, sums) = self;
        let clipped = Aligned(sums.map(|sum| sum.clamp(0, 127) as u8));
        // SAFETY: the caller's promise is the kernels' only condition.
        unsafe { S::output(&S::affine(&clipped, &network.hidden), &network.output) }
    }
}

impl Parameters for Lite {
    fn shape(&self) -> Shape {
        Lite::SHAPE
    }

    fn bias(&self) -> &[i16] {
        &self.bias
    }

    fn bias_mut(&mut self) -> &mut [i16] {
        &mut self.bias
    }

    fn row(&self, input: usize) -> &[i16] {
        &self.rows[input]
    }

    fn row_mut(&mut self, input: usize) -> &mut [i16] {
        &mut self.rows[input]
    }

    fn layers(&self) -> Vec<&dyn Dense> {
        vec![&self.hidden, &self.output]
    }

    fn layers_mut(&mut self) -> Vec<&mut dyn Dense> {
        vec![&mut self.hidden, &mut self.output]
    }
}

impl Evaluation for Lite {
    fn copy(&self) -> Arc<dyn Parameters> {
        Arc::new(self.clone())
    }

    fn accumulators(self: Arc<Self>) -> Box<dyn Accumulators> {
        Box::new(LiteStack { network: self, sums: Vec::new() })
    }

    fn accumulators_from_scratch(&self, pos: &Position) -> [Vec<i16>; 2] {
        self.summed_up(pos).map(|sums| sums.total().to_vec())
    }

    fn evaluate_from_scratch(&self, pos: &Position) -> i32 {
        let pair = self.summed_up(pos);
        scalar::run(Propagate(self, &pair[pos.side_to_move().index()].total()))
    }

    fn output_of(&self, [us, _them]: [&[i16]; 2], _in_hand: usize) -> i32 {
        dispatch(Propagate(self, us.try_into().expect("sums of this network")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_touches_its_files_and_ranks_alone() {
        let mut network = Lite::zeroed().unwrap();
        for (i, row) in network.rows.iter_mut().enumerate() {
            *row = std::array::from_fn(|channel| (i * 8 + channel + 1) as i16);
        }
        let mut stack = LiteStack { network: Arc::new(network), sums: Vec::new() };
        let mut line = FeatureLine::new(true);
        let mut pos = Position::startpos();
        line.reset(&pos);
        let mut before = stack.network.summed_up(&pos);
        // a pawn, a bishop that captures one, the silver that takes it, a drop: files and ranks as Black sees
        // them, from 0
        let moves: [(&str, &[usize], bool); 5] = [
            ("7g7f", &[6, 9 + 6, 9 + 5], false),
            ("3c3d", &[2, 9 + 2, 9 + 3], false),
            ("8h2b+", &[7, 1, 9 + 7, 9 + 1], true),
            ("3a2b", &[2, 1, 9, 9 + 1], true),
            ("B*5e", &[4, 9 + 4], true),
        ];
        for (text, touched, hands) in moves {
            line.push(pos.do_move(pos.parse_move(text).unwrap()));
            stack.bring_up_to_date(&mut line, &pos);
            let after = stack.sums[line.top()];
            let fresh = stack.network.summed_up(&pos);
            for v in 0..2 {
                assert_eq!(after[v].total(), fresh[v].total(), "{text}");
                // White's files and ranks are reversed
                let seen = |i: usize| if v == 0 { i } else { i / 9 * 9 + 8 - i % 9 };
                let changed: Vec<usize> =
                    (0..18).filter(|&i| after[v].lines[seen(i)] != before[v].lines[seen(i)]).collect();
                let mut touched = touched.to_vec();
                touched.sort_unstable();
                assert_eq!(changed, touched, "{text}");
                assert_eq!(after[v].everywhere != before[v].everywhere, hands, "{text}");
            }
            before = after;
        }
    }
}

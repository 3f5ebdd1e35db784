//! [`Dynamic`]: a network of two perspectives with any feature set and sizes, which are known at run time only.

use std::sync::Arc;

use super::accumulator::Accumulators;
use super::buckets::{Progress, each_piece};
use super::features::{Rows, bona_pieces};
use super::layers::Dense;
use super::line::{FeatureChanges, FeatureLine, kings};
use super::parameters::{Evaluation, Parameters};
use super::refresh::{Pieces, even_out};
use super::shape::{HeadShape, Shape};
use super::simd::{Simd, Work, dispatch, prefetch, scalar};
use super::stack::{SparseInput, Stack};
use crate::position::{Position, Slot};
use crate::support::memory::{HugeBuf, OutOfMemory};
use crate::types::{Color, Square};

/// The parameters.
#[derive(Clone)]
pub(super) struct Dynamic {
    shape: Shape,
    bias: HugeBuf<i16>,
    /// One after the other.
    rows: HugeBuf<i16>,
    progress: Option<Progress>,
    stacks: Vec<Stack>,
}

impl Dynamic {
    /// A network of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed(shape: Shape) -> Result<Dynamic, OutOfMemory> {
        let mut stacks = Vec::new();
        let count = shape.head.stacks();
        let bytes = count.saturating_mul(size_of::<Stack>());
        stacks.try_reserve_exact(count).map_err(|_| OutOfMemory { bytes })?;
        for _ in 0..count {
            stacks.push(Stack::zeroed(&shape)?);
        }
        Ok(Dynamic {
            bias: HugeBuf::zeroed(shape.l1)?,
            rows: HugeBuf::zeroed(shape.inputs.count() * shape.l1)?,
            progress: if shape.head.by_progress() { Some(Progress::zeroed()?) } else { None },
            stacks,
            shape,
        })
    }

    /// The places of an input's weights.
    fn weights(&self, input: usize) -> std::ops::Range<usize> {
        let l1 = self.shape.l1;
        l1 * input..l1 * (input + 1)
    }

    /// The stack for a position; `progress` is called if it matters.
    #[inline]
    fn stack(&self, pos: &Position, progress: impl FnOnce(&Progress) -> i64) -> &Stack {
        match self.shape.head {
            HeadShape::Sfnn { buckets, .. } => {
                &self.stacks[buckets.of(pos, self.progress.as_ref().map_or(0, progress))]
            }
            _ => &self.stacks[0],
        }
    }

    /// Whether the accumulators' halves are multiplied, and the first hidden layer also squared.
    #[inline]
    fn sfnn(&self) -> bool {
        matches!(self.shape.head, HeadShape::Sfnn { .. })
    }

    /// Both players' active inputs, each several times if it stands for several missing pieces.
    fn active(&self, pos: &Position) -> [Vec<usize>; 2] {
        let (inputs, classes) = (&self.shape.inputs, attack_classes(pos));
        Color::ALL.map(|viewer| {
            let rows = Rows::new(inputs, viewer, pos.king_square(viewer));
            let mut active = Vec::with_capacity(inputs.active());
            each_piece(pos, |slot| {
                let class = if inputs.attacks() { class_of(&classes, slot.square(), viewer) } else { 0 };
                let bucket = class * inputs.king_buckets() * inputs.per_bucket();
                rows.of(bona_pieces(slot)[viewer.index()], |row| active.push(bucket + row));
            });
            active.resize(inputs.active().max(active.len()), rows.first);
            active
        })
    }
}

impl Parameters for Dynamic {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn bias(&self) -> &[i16] {
        &self.bias
    }

    fn bias_mut(&mut self) -> &mut [i16] {
        &mut self.bias
    }

    fn row(&self, input: usize) -> &[i16] {
        &self.rows[self.weights(input)]
    }

    fn row_mut(&mut self, input: usize) -> &mut [i16] {
        let weights = self.weights(input);
        &mut self.rows[weights]
    }

    fn layers(&self) -> Vec<&dyn Dense> {
        self.stacks.iter().flat_map(Stack::layers).collect()
    }

    fn layers_mut(&mut self) -> Vec<&mut dyn Dense> {
        self.stacks.iter_mut().flat_map(Stack::layers_mut).collect()
    }

    fn progress(&self) -> Option<&Progress> {
        self.progress.as_ref()
    }

    fn progress_mut(&mut self) -> Option<&mut Progress> {
        self.progress.as_mut()
    }
}

impl Evaluation for Dynamic {
    fn copy(&self) -> Arc<dyn Parameters> {
        Arc::new(self.clone())
    }

    fn accumulators(self: Arc<Self>) -> Box<dyn Accumulators> {
        Box::new(DynamicStack::new(self).expect("memory for accumulators"))
    }

    fn accumulators_from_scratch(&self, pos: &Position) -> [Vec<i16>; 2] {
        self.active(pos).map(|active| {
            let mut sum = self.bias.to_vec();
            for input in active {
                sum.iter_mut().zip(self.row(input)).for_each(|(s, &w)| *s = s.wrapping_add(w));
            }
            sum
        })
    }

    fn evaluate_from_scratch(&self, pos: &Position) -> i32 {
        let sums = self.accumulators_from_scratch(pos);
        let us = pos.side_to_move();
        let sides = [&sums[us.index()][..], &sums[us.flip().index()]];
        let stack = self.stack(pos, |progress| progress.sum(pos));
        scalar::run(Propagate { network: self, stack, sides })
    }

    fn output_of(&self, accumulators: [&[i16]; 2], choice: usize) -> i32 {
        let stack = if self.stacks.len() > 1 { choice } else { 0 };
        dispatch(Propagate { network: self, stack: &self.stacks[stack], sides: accumulators })
    }
}

/// The raw output for accumulators of the side to move and of the other side.
struct Propagate<'a> {
    network: &'a Dynamic,
    stack: &'a Stack,
    sides: [&'a [i16]; 2],
}

impl Work for Propagate<'_> {
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        let mut input = SparseInput::new(&self.network.shape).expect("memory for activations");
        let sfnn = self.network.sfnn();
        // SAFETY: the caller's promise.
        unsafe {
            input.fill::<S>(self.sides, sfnn);
            self.stack.propagate::<S>(&input, sfnn)
        }
    }
}

/// For each square the number of Black's and of White's attackers, up to two of each: `3 * black + white`, or 0
/// on an empty square.
fn attack_classes(pos: &Position) -> [u8; Square::NUM] {
    let mut classes = [0; Square::NUM];
    for square in Square::all().filter(|&square| pos.piece_on(square).is_some()) {
        let count = |by| pos.attackers(by, square, pos.occupied()).count().min(2) as u8;
        classes[square.index()] = 3 * count(Color::Black) + count(Color::White);
    }
    classes
}

/// The class of attacks for a piece on a square, as a viewer counts: own attackers, then the opponent's. No
/// square is the hand.
fn class_of(classes: &[u8; Square::NUM], square: Option<Square>, viewer: Color) -> usize {
    let class = square.map_or(0, |square| usize::from(classes[square.index()]));
    if viewer == Color::Black { class } else { class % 3 * 3 + class / 3 }
}

/// A thread's accumulators, and its refresh table.
struct DynamicStack {
    network: Arc<Dynamic>,
    /// Both players' accumulators by frame of the line.
    sums: HugeBuf<i16>,
    /// Both players' part of the progress, by frame.
    progress: Vec<[i64; 2]>,
    /// By player and view.
    table: Vec<Entry>,
    /// Their accumulators.
    table_sums: HugeBuf<i16>,
    input: SparseInput,
}

/// What an accumulator of the refresh table holds.
#[derive(Clone)]
struct Entry {
    pieces: Pieces,
    /// Classes of attacks, if they matter.
    classes: [u8; Square::NUM],
}

/// Rows to remove or to add.
type List = arrayvec::ArrayVec<u32, 128>;

impl DynamicStack {
    fn new(network: Arc<Dynamic>) -> Result<DynamicStack, OutOfMemory> {
        let (inputs, l1) = (&network.shape.inputs, network.shape.l1);
        let entries = 2 * inputs.views();
        let mut table_sums = HugeBuf::zeroed(entries * l1)?;
        for (i, sums) in table_sums.chunks_exact_mut(l1).enumerate() {
            // an empty board: input 0 of the bucket replaces every piece
            let absent = network.row(i % inputs.king_buckets() * inputs.per_bucket());
            for ((sum, bias), absent) in sums.iter_mut().zip(&network.bias[..]).zip(absent) {
                *sum = bias.wrapping_add(absent.wrapping_mul(inputs.active() as i16));
            }
        }
        Ok(DynamicStack {
            sums: HugeBuf::zeroed(0)?,
            progress: Vec::new(),
            table: vec![Entry { pieces: Pieces::NONE, classes: [0; Square::NUM] }; entries],
            table_sums,
            input: SparseInput::new(&network.shape)?,
            network,
        })
    }

    /// Allocates accumulators for all frames of a line.
    #[cold]
    fn grow(&mut self, frames: usize) {
        let mut sums = HugeBuf::zeroed(frames * 2 * self.network.shape.l1).expect("memory for accumulators");
        sums[..self.sums.len()].copy_from_slice(&self.sums);
        self.sums = sums;
        if self.network.progress.is_some() {
            self.progress.resize(frames, [0; 2]);
        }
    }

    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn update_with<S: Simd>(&mut self, line: &mut FeatureLine, pos: &Position) {
        let (shape, top) = (self.network.shape, line.top());
        let (inputs, l1) = (&shape.inputs, shape.l1);
        let frames = line.frames();
        if frames[top].computed == 0b11 {
            return;
        }
        if self.sums.len() < frames.len() * 2 * l1 {
            self.grow(frames.len());
        }
        let classes = if inputs.attacks() { attack_classes(pos) } else { [0; Square::NUM] };
        let by_king = inputs.buckets() > 1 || self.network.progress.is_some();
        for viewer in Color::ALL {
            let (v, bit) = (viewer.index(), 1 << viewer.index());
            // the last computed ancestor, unless the king has moved since, which changes all features; attacks
            // may change anywhere
            let mut from = if inputs.attacks() { usize::MAX } else { top };
            while from != usize::MAX && frames[from].computed & bit == 0 {
                if by_king && frames[from].king_moved & bit != 0 || from == 0 {
                    from = usize::MAX;
                } else {
                    from -= 1;
                }
            }
            if from == usize::MAX {
                // SAFETY: the caller's promise.
                unsafe { self.refresh::<S>(viewer, pos, &classes, top) };
                frames[top].computed |= bit;
                continue;
            }
            let king = pos.king_square(viewer);
            let rows = Rows::new(inputs, viewer, king);
            for (at, frame) in (from + 1..).zip(&mut frames[from + 1..=top]) {
                frame.computed |= bit;
                // two changes of at most two rows each
                let mut lists = [arrayvec::ArrayVec::<u32, 4>::new(), arrayvec::ArrayVec::new()];
                for i in 0..usize::from(frame.count) {
                    rows.of(frame.removed[i][v], |row| lists[0].push(row as u32));
                    rows.of(frame.added[i][v], |row| lists[1].push(row as u32));
                }
                let (start, lists) = ((2 * at + v) * l1, [&lists[0][..], &lists[1]]);
                let sums = self.sums.as_mut_ptr();
                // SAFETY: the caller's promise; both frames' accumulators lie within `sums`, and the rows exist.
                unsafe {
                    let (to, from) = (sums.add(start), sums.add(start - 2 * l1));
                    S::sum(from, [to], l1, &self.network.rows, lists);
                }
                if let Some(progress) = &self.network.progress {
                    self.progress[at][v] = self.progress[at - 1][v] + progress.change(viewer, king, frame);
                }
            }
        }
        frames[top].kings = kings(pos);
    }

    /// Computes the accumulator of frame `top`, for `pos`, by differences from that of the refresh table.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn refresh<S: Simd>(
        &mut self,
        viewer: Color,
        pos: &Position,
        classes: &[u8; Square::NUM],
        top: usize,
    ) {
        let (shape, v) = (self.network.shape, viewer.index());
        let (inputs, l1) = (&shape.inputs, shape.l1);
        let rows = Rows::new(inputs, viewer, pos.king_square(viewer));
        let number = v * inputs.views() + rows.number;
        let entry = &mut self.table[number];
        let plane = inputs.king_buckets() * inputs.per_bucket();
        let mut lists = [List::new(), List::new()];
        if inputs.attacks() {
            // pieces that stay, but are attacked otherwise
            for square in Square::all() {
                let (i, piece) = (square.index(), entry.pieces.board[square.index()]);
                if entry.classes[i] != classes[i] && piece.is_some() && piece == pos.piece_on(square) {
                    let piece = bona_pieces(Slot::board(piece, square))[v];
                    for (list, classes) in lists.iter_mut().zip([&entry.classes, classes]) {
                        let class = class_of(classes, Some(square), viewer);
                        rows.of(piece, |row| list.push((class * plane + row) as u32));
                    }
                }
            }
        }
        let old = std::mem::replace(&mut entry.classes, *classes);
        // SAFETY: the caller's promise.
        unsafe {
            entry.pieces.update::<S>(pos, |slot, added| {
                let classes = if added { classes } else { &old };
                let class = if inputs.attacks() { class_of(classes, slot.square(), viewer) } else { 0 };
                rows.of(bona_pieces(slot)[v], |row| {
                    let row = class * plane + row;
                    prefetch_row(&self.network.rows[row * l1..][..l1]);
                    lists[usize::from(added)].push(row as u32);
                });
            });
        }
        let [subs, adds] = &mut lists;
        even_out(subs, adds, rows.first as u32);
        // SAFETY: the caller's promise; the frame's accumulator lies within `sums`, the entry's within
        // `table_sums`, and the rows exist.
        unsafe {
            let kept = self.table_sums.as_mut_ptr().add(number * l1);
            let to = self.sums.as_mut_ptr().add((2 * top + v) * l1);
            S::sum(kept, [kept, to], l1, &self.network.rows, [subs, adds]);
        }
        if let Some(progress) = &self.network.progress {
            self.progress[top][v] = progress.view(viewer, pos);
        }
    }
}

impl Accumulators for DynamicStack {
    fn evaluate(&mut self, line: &mut FeatureLine, pos: &Position) -> i32 {
        dispatch(Evaluate(self, line, pos))
    }

    fn update(&mut self, line: &mut FeatureLine, pos: &Position) {
        dispatch(Update(self, line, pos))
    }

    fn prefetch(&self, frame: &FeatureChanges) {
        let (inputs, l1) = (&self.network.shape.inputs, self.network.shape.l1);
        if inputs.attacks() {
            return;
        }
        for viewer in Color::ALL {
            let v = viewer.index();
            // after a king's move the refresh table determines the rows
            if inputs.buckets() == 1 || frame.king_moved >> v & 1 == 0 {
                let rows = Rows::new(inputs, viewer, frame.kings[v]);
                for i in 0..usize::from(frame.count) {
                    let prefetch = |row| prefetch_row(&self.network.rows[row * l1..][..l1]);
                    rows.of(frame.removed[i][v], prefetch);
                    rows.of(frame.added[i][v], prefetch);
                }
            }
        }
    }
}

/// Prefetches the beginning of a row; the processor fetches what follows by itself.
#[inline(always)]
fn prefetch_row(row: &[i16]) {
    if let Some(start) = row.first_chunk::<256>() {
        prefetch(start);
    }
}

struct Evaluate<'a>(&'a mut DynamicStack, &'a mut FeatureLine, &'a Position);

impl Work for Evaluate<'_> {
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        let Evaluate(stack, line, pos) = self;
        // SAFETY: the caller's promise.
        unsafe {
            stack.update_with::<S>(line, pos);
            let (l1, top, us) = (stack.network.shape.l1, line.top(), pos.side_to_move());
            let of = |side: Color| &stack.sums[(2 * top + side.index()) * l1..][..l1];
            let sfnn = stack.network.sfnn();
            stack.input.fill::<S>([of(us), of(us.flip())], sfnn);
            let sum =
                |progress: &Progress| i64::from(progress.bias) + stack.progress[top].iter().sum::<i64>();
            stack.network.stack(pos, sum).propagate::<S>(&stack.input, sfnn)
        }
    }
}

struct Update<'a>(&'a mut DynamicStack, &'a mut FeatureLine, &'a Position);

impl Work for Update<'_> {
    type Output = ();

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's promise.
        unsafe { self.0.update_with::<S>(self.1, self.2) }
    }
}

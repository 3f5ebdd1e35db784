//! [`Stack`]: the accumulators along a line, brought up to date when a value is asked for.

use std::sync::Arc;

use super::features::FeatureSet;
use super::layers::{Aligned, Layers, Row};
use super::line::{Frame, Line, kings};
use super::refresh::RefreshTable;
use super::simd::{Simd, Work, dispatch, prefetch};
use crate::position::Position;
use crate::types::Color;

/// A thread's accumulators for a network of whatever shape. The `line` is always the same one.
pub(super) trait Accumulators: Send {
    /// The network's raw output for the end of the line, which is `pos`.
    fn evaluate(&mut self, line: &mut Line, pos: &Position) -> i32;

    /// Brings the accumulators at the end of the line, which is `pos`, up to date.
    fn update(&mut self, line: &mut Line, pos: &Position);

    /// Asks for the rows that bringing the frame up to date will need.
    fn prefetch(&self, frame: &Frame);
}

/// The [`Accumulators`] of a network of [`Layers`].
pub(super) struct Stack<F, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize> {
    layers: Arc<Layers<F, L1, WIDE, L2, L3>>,
    /// By frame of the line.
    accumulators: Vec<Pair<L1>>,
    table: RefreshTable<F, L1>,
}

/// Both perspectives' accumulators, Black's first.
pub(super) type Pair<const L1: usize> = [Row<L1>; 2];

impl<F: FeatureSet, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize>
    Stack<F, L1, WIDE, L2, L3>
{
    /// Accumulators that have not been computed.
    pub fn new(layers: Arc<Layers<F, L1, WIDE, L2, L3>>) -> Self {
        let table = RefreshTable::new(&layers.input);
        Stack { layers, accumulators: Vec::new(), table }
    }

    /// Makes room for all frames of a line.
    #[cold]
    fn grow(&mut self, frames: usize) {
        self.accumulators.resize(frames, [Aligned([0; L1]); 2]);
    }

    /// # Safety
    /// The processor must have what `S` needs.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn update_with<S: Simd>(&mut self, line: &mut Line, pos: &Position) {
        let top = line.top();
        let frames = line.frames();
        if frames[top].computed == 0b11 {
            return;
        }
        if self.accumulators.len() < frames.len() {
            self.grow(frames.len());
        }
        for viewer in Color::ALL {
            let (v, bit) = (viewer.index(), 1 << viewer.index());
            // the last ancestor that is computed, unless the king has moved since, after which all features are others
            let mut from = top;
            while frames[from].computed & bit == 0 {
                if F::BUCKETS > 1 && frames[from].king_moved & bit != 0 || from == 0 {
                    from = usize::MAX;
                    break;
                }
                from -= 1;
            }
            if from == usize::MAX {
                let out = &mut self.accumulators[top][v];
                // SAFETY: the caller's promise.
                unsafe { self.table.refresh::<S>(&self.layers.input, viewer, pos, out) };
                frames[top].computed |= bit;
                continue;
            }
            let first = F::bucket(viewer, pos.king_square(viewer)) * F::PER_BUCKET;
            let bucket = &self.layers.input.rows[first..][..F::PER_BUCKET];
            for (at, frame) in (from + 1..).zip(&mut frames[from + 1..=top]) {
                frame.computed |= bit;
                let [before, .., after] = &mut self.accumulators[at - 1..=at] else { unreachable!() };
                let (src, dst) = (&before[v], &mut after[v]);
                let row = |features: [u16; 2]| &bucket[features[v] as usize];
                let (gone, come) = (frame.removed, frame.added);
                // SAFETY: the caller's promise.
                unsafe {
                    match frame.count {
                        0 => *dst = *src,
                        1 => S::fused(src, dst, [row(gone[0])], [row(come[0])]),
                        _ => S::fused(src, dst, [row(gone[0]), row(gone[1])], [row(come[0]), row(come[1])]),
                    }
                }
            }
        }
        frames[top].kings = kings(pos);
    }
}

impl<F: FeatureSet, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize> Accumulators
    for Stack<F, L1, WIDE, L2, L3>
{
    fn evaluate(&mut self, line: &mut Line, pos: &Position) -> i32 {
        dispatch(Evaluate(self, line, pos))
    }

    fn update(&mut self, line: &mut Line, pos: &Position) {
        dispatch(Update(self, line, pos))
    }

    fn prefetch(&self, frame: &Frame) {
        for viewer in Color::ALL {
            let v = viewer.index();
            // a moved king's rows are others, which its refresh will know
            if F::BUCKETS == 1 || frame.king_moved >> v & 1 == 0 {
                let first = F::bucket(viewer, frame.kings[v]) * F::PER_BUCKET;
                for i in 0..frame.count as usize {
                    prefetch(&self.layers.input.rows[first + frame.removed[i][v] as usize]);
                    prefetch(&self.layers.input.rows[first + frame.added[i][v] as usize]);
                }
            }
        }
    }
}

/// Everything after the accumulators: the raw output for the player whose accumulator is `us`.
///
/// # Safety
/// The processor must have what `S` needs.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn propagate<S: Simd, F, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize>(
    layers: &Layers<F, L1, WIDE, L2, L3>,
    us: &Row<L1>,
    them: &Row<L1>,
) -> i32 {
    // SAFETY: the caller's promise is the kernels' only condition.
    unsafe {
        let first = S::transformed_affine(us, them, &layers.hidden1);
        let second = S::affine(&first, &layers.hidden2);
        S::output(&second, &layers.output)
    }
}

struct Evaluate<'a, F, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize>(
    &'a mut Stack<F, L1, WIDE, L2, L3>,
    &'a mut Line,
    &'a Position,
);

impl<F: FeatureSet, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize> Work
    for Evaluate<'_, F, L1, WIDE, L2, L3>
{
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        let Evaluate(stack, line, pos) = self;
        // SAFETY: the caller's promise.
        unsafe {
            stack.update_with::<S>(line, pos);
            let pair = &stack.accumulators[line.top()];
            let us = pos.side_to_move();
            propagate::<S, _, _, _, _, _>(&stack.layers, &pair[us.index()], &pair[us.flip().index()])
        }
    }
}

struct Update<'a, F, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize>(
    &'a mut Stack<F, L1, WIDE, L2, L3>,
    &'a mut Line,
    &'a Position,
);

impl<F: FeatureSet, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize> Work
    for Update<'_, F, L1, WIDE, L2, L3>
{
    type Output = ();

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's promise.
        unsafe { self.0.update_with::<S>(self.1, self.2) }
    }
}

/// The raw output for accumulators of the side to move and of the other side.
pub(super) struct Propagate<'a, F, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize>(
    pub &'a Layers<F, L1, WIDE, L2, L3>,
    pub &'a Row<L1>,
    pub &'a Row<L1>,
);

impl<F: FeatureSet, const L1: usize, const WIDE: usize, const L2: usize, const L3: usize> Work
    for Propagate<'_, F, L1, WIDE, L2, L3>
{
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { propagate::<S, _, _, _, _, _>(self.0, self.1, self.2) }
    }
}

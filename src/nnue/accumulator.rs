//! [`AccumulatorStack`]: the accumulators along a line, updated lazily when a position is evaluated.

use std::sync::Arc;

use super::features::{FeatureSet, View};
use super::head::Head;
use super::layers::{Aligned, Row};
use super::line::{FeatureChanges, FeatureLine, kings};
use super::perspective::Perspective;
use super::refresh::RefreshTable;
use super::simd::{Simd, Work, dispatch, prefetch};
use crate::position::Position;
use crate::types::Color;

/// A thread's accumulators for a network of any shape. All calls must pass the same `line`.
pub(super) trait Accumulators: Send {
    /// The network's raw output for the end of the line, which is `pos`.
    fn evaluate(&mut self, line: &mut FeatureLine, pos: &Position) -> i32;

    /// Updates the accumulators of the end of the line, which is `pos`.
    fn update(&mut self, line: &mut FeatureLine, pos: &Position);

    /// Prefetches the rows that updating the frame will need.
    fn prefetch(&self, frame: &FeatureChanges);
}

/// The [`Accumulators`] of a network of two perspectives.
pub(super) struct AccumulatorStack<F, const L1: usize, H> {
    network: Arc<Perspective<F, L1, H>>,
    /// By frame of the line.
    accumulators: Vec<Pair<L1>>,
    table: RefreshTable<F, L1>,
}

/// Both perspectives' accumulators, Black's first.
pub(super) type Pair<const L1: usize> = [Row<L1>; 2];

impl<F: FeatureSet, const L1: usize, H: Head<L1>> AccumulatorStack<F, L1, H> {
    /// Accumulators before their first computation.
    pub fn new(network: Arc<Perspective<F, L1, H>>) -> Self {
        let table = RefreshTable::new(&network.input);
        AccumulatorStack { network, accumulators: Vec::new(), table }
    }

    /// Allocates accumulators for all frames of a line.
    #[cold]
    fn grow(&mut self, frames: usize) {
        self.accumulators.resize(frames, [Aligned([0; L1]); 2]);
    }

    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn update_with<S: Simd>(&mut self, line: &mut FeatureLine, pos: &Position) {
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
            // the last computed ancestor, unless the king has moved since, which changes all features
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
                unsafe { self.table.refresh::<S>(&self.network.input, viewer, pos, out) };
                frames[top].computed |= bit;
                continue;
            }
            let view = View::<F>::new(viewer, pos.king_square(viewer));
            let bucket = &self.network.input.rows[view.first()..][..F::PER_BUCKET];
            for (at, frame) in (from + 1..).zip(&mut frames[from + 1..=top]) {
                frame.computed |= bit;
                let [before, .., after] = &mut self.accumulators[at - 1..=at] else { unreachable!() };
                let (src, dst) = (&before[v], &mut after[v]);
                let row = |features: [u16; 2]| &bucket[view.row(features[v])];
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

impl<F: FeatureSet, const L1: usize, H: Head<L1>> Accumulators for AccumulatorStack<F, L1, H> {
    fn evaluate(&mut self, line: &mut FeatureLine, pos: &Position) -> i32 {
        dispatch(Evaluate(self, line, pos))
    }

    fn update(&mut self, line: &mut FeatureLine, pos: &Position) {
        dispatch(Update(self, line, pos))
    }

    fn prefetch(&self, frame: &FeatureChanges) {
        for viewer in Color::ALL {
            let v = viewer.index();
            // after a king's move the refresh table determines the rows
            if F::BUCKETS == 1 || frame.king_moved >> v & 1 == 0 {
                let view = View::<F>::new(viewer, frame.kings[v]);
                let row = |piece| &self.network.input.rows[view.first() + view.row(piece)];
                for i in 0..frame.count as usize {
                    prefetch(row(frame.removed[i][v]));
                    prefetch(row(frame.added[i][v]));
                }
            }
        }
    }
}

struct Evaluate<'a, F, const L1: usize, H>(
    &'a mut AccumulatorStack<F, L1, H>,
    &'a mut FeatureLine,
    &'a Position,
);

impl<F: FeatureSet, const L1: usize, H: Head<L1>> Work for Evaluate<'_, F, L1, H> {
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
            let in_hand = if H::SHAPE.buckets() > 1 { pos.pieces_in_hand() } else { 0 };
            stack.network.head.propagate::<S>(&pair[us.index()], &pair[us.flip().index()], in_hand)
        }
    }
}

struct Update<'a, F, const L1: usize, H>(
    &'a mut AccumulatorStack<F, L1, H>,
    &'a mut FeatureLine,
    &'a Position,
);

impl<F: FeatureSet, const L1: usize, H: Head<L1>> Work for Update<'_, F, L1, H> {
    type Output = ();

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's promise.
        unsafe { self.0.update_with::<S>(self.1, self.2) }
    }
}

/// The raw output for accumulators of the side to move and of the other side.
pub(super) struct Propagate<'a, const L1: usize, H> {
    pub head: &'a H,
    pub us: &'a Row<L1>,
    pub them: &'a Row<L1>,
    /// Pieces in both players' hands.
    pub in_hand: usize,
}

impl<const L1: usize, H: Head<L1>> Work for Propagate<'_, L1, H> {
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { self.head.propagate::<S>(self.us, self.them, self.in_hand) }
    }
}

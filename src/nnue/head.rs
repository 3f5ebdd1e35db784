//! [`Head`]: the layers after the accumulators of a network with two perspectives.

use super::layers::{Dense, Row};
use super::shape::HeadShape;
use super::simd::Simd;
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::{Color, PieceType};

/// The layers after the accumulators of `L1` outputs each.
pub(super) trait Head<const L1: usize>: Clone + Send + Sync + 'static {
    /// The sizes, at run time.
    const SHAPE: HeadShape;

    /// Layers of zeros.
    fn zeroed() -> Result<Self, OutOfMemory>;

    /// The dense layers, from the accumulators to the output.
    fn layers(&self) -> Vec<&dyn Dense>;

    /// See [`layers`](Self::layers).
    fn layers_mut(&mut self) -> Vec<&mut dyn Dense>;

    /// The raw output for the player whose accumulator is `us`. `in_hand` is the number of pieces in both
    /// hands if there are several buckets, else 0.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    unsafe fn propagate<S: Simd>(&self, us: &Row<L1>, them: &Row<L1>, in_hand: usize) -> i32;
}

/// Number of pieces in both players' hands.
#[inline]
pub(super) fn pieces_in_hand(pos: &Position) -> usize {
    let of = |owner: Color| PieceType::HAND.into_iter().map(move |kind| pos.hand(owner).count(kind));
    Color::ALL.into_iter().flat_map(of).sum::<u32>() as usize
}

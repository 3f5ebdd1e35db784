//! [`Head`]: what a network of two perspectives makes of its accumulators.

use super::layers::{Dense, Row};
use super::shape::HeadShape;
use super::simd::Simd;
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::{Color, PieceType};

/// The layers after the accumulators of `L1` outputs each.
pub(super) trait Head<const L1: usize>: Sized + Send + Sync + 'static {
    /// The sizes, for those who do not know them at compile time.
    const SHAPE: HeadShape;

    /// Layers of zeros.
    fn zeroed() -> Result<Self, OutOfMemory>;

    /// The dense layers, from the accumulators to the output.
    fn layers(&self) -> Vec<&dyn Dense>;

    /// See [`layers`](Self::layers).
    fn layers_mut(&mut self) -> Vec<&mut dyn Dense>;

    /// The raw output for the player whose accumulator is `us`. `in_hand` is how many pieces both players have in hand, if
    /// there is more than one bucket.
    ///
    /// # Safety
    /// The processor must have what `S` needs.
    #[allow(unsafe_code)]
    unsafe fn propagate<S: Simd>(&self, us: &Row<L1>, them: &Row<L1>, in_hand: usize) -> i32;
}

/// How many pieces both players have in hand.
#[inline]
pub(super) fn pieces_in_hand(pos: &Position) -> usize {
    let of = |owner: Color| PieceType::HAND.into_iter().map(move |kind| pos.hand(owner).count(kind));
    Color::ALL.into_iter().flat_map(of).sum::<u32>() as usize
}

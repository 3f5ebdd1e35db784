//! The refresh table: recomputes accumulators after king moves by differences from earlier ones.
//!
//! A king move changes all of its owner's features. For every king square the table keeps the last
//! accumulator and its pieces; only the pieces that have changed since need an update.

use arrayvec::ArrayVec;
use std::marker::PhantomData;

use super::features::{FeatureSet, View, bona_pieces};
use super::layers::{Aligned, Row, Transformer};
use super::simd::{Simd, prefetch};
use crate::position::{Position, Slot};
use crate::types::{Color, Hand, Piece, PieceType, Square};

/// The pieces that an accumulator holds.
#[derive(Clone)]
pub(super) struct Pieces {
    pub board: [Piece; Square::NUM],
    hands: [Hand; 2],
}

impl Pieces {
    /// No piece.
    pub const NONE: Pieces = Pieces { board: [Piece::NONE; Square::NUM], hands: [Hand::EMPTY; 2] };

    /// Changes them to those of a position. Calls `note` for each piece that is removed (`false`) or added.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub unsafe fn update<S: Simd>(&mut self, pos: &Position, mut note: impl FnMut(Slot, bool)) {
        let (old, new) = (&mut self.board, pos.board());
        // SAFETY: the caller's promise.
        let mut squares = unsafe { S::differences(old, new) };
        while squares != 0 {
            let square = Square(squares.trailing_zeros() as u8);
            squares &= squares - 1;
            let (gone, come) = (old[square.index()], new[square.index()]);
            if gone.is_some() {
                note(Slot::board(gone, square), false);
            }
            if come.is_some() {
                note(Slot::board(come, square), true);
            }
            old[square.index()] = come;
        }
        for owner in Color::ALL {
            let (old, new) = (self.hands[owner.index()], pos.hand(owner));
            if old == new {
                continue;
            }
            self.hands[owner.index()] = new;
            for kind in PieceType::HAND {
                let (old, new) = (old.count(kind), new.count(kind));
                (new + 1..=old).for_each(|nth| note(Slot::hand(owner, kind, nth), false));
                (old + 1..=new).for_each(|nth| note(Slot::hand(owner, kind, nth), true));
            }
        }
    }
}

/// Makes rows to remove and to add equally many by `absent`, the row for a missing piece: the number of active
/// inputs is constant, except between positions with different numbers of missing pieces.
#[inline(always)]
pub(super) fn even_out<const N: usize>(
    subs: &mut ArrayVec<u32, N>,
    adds: &mut ArrayVec<u32, N>,
    absent: u32,
) {
    while adds.len() > subs.len() {
        subs.push(absent);
    }
    while subs.len() > adds.len() {
        adds.push(absent);
    }
}

/// An accumulator and its pieces.
#[derive(Clone)]
#[repr(C)]
struct RefreshEntry<const L1: usize> {
    accumulator: Row<L1>,
    pieces: Pieces,
}

/// One thread's table; about 100 KB for HalfKP and 256 outputs.
pub(super) struct RefreshTable<F, const L1: usize> {
    /// By perspective and [view](View::number).
    entries: Vec<RefreshEntry<L1>>,
    features: PhantomData<F>,
}

/// Rows to remove or to add, 40 at most.
type List = ArrayVec<u32, 80>;

impl<F: FeatureSet, const L1: usize> RefreshTable<F, L1> {
    /// A table of accumulators for empty boards.
    pub fn new(input: &Transformer<F, L1>) -> Self {
        let mut entries = Vec::with_capacity(2 * View::<F>::COUNT);
        for _viewer in Color::ALL {
            for number in 0..View::<F>::COUNT {
                // an empty board: feature 0 replaces every piece
                let absent = &input.rows[number % F::BUCKETS * F::PER_BUCKET].0;
                let sum = |i: usize| input.bias.0[i].wrapping_add(absent[i].wrapping_mul(F::ACTIVE as i16));
                entries.push(RefreshEntry {
                    accumulator: Aligned(std::array::from_fn(sum)),
                    pieces: Pieces::NONE,
                });
            }
        }
        RefreshTable { entries, features: PhantomData }
    }

    /// Writes `viewer`'s accumulator for the position to `out`.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub unsafe fn refresh<S: Simd>(
        &mut self,
        input: &Transformer<F, L1>,
        viewer: Color,
        pos: &Position,
        out: &mut Row<L1>,
    ) {
        let view = View::<F>::new(viewer, pos.king_square(viewer));
        let entry = &mut self.entries[viewer.index() * View::<F>::COUNT + view.number()];
        let first = view.first();
        let (mut subs, mut adds) = (List::new(), List::new());
        // SAFETY: the caller's promise.
        unsafe {
            entry.pieces.update::<S>(pos, |slot, added| {
                let feature = view.row(bona_pieces(slot)[viewer.index()]);
                // kings may be missing
                if feature < F::PER_BUCKET {
                    let row = first + feature;
                    prefetch(&input.rows[row]);
                    (if added { &mut adds } else { &mut subs }).push(row as u32);
                }
            });
        }
        even_out(&mut subs, &mut adds, first as u32);
        // SAFETY: the caller's promise.
        unsafe { S::apply(&mut entry.accumulator, out, &input.rows, &subs, &adds) };
    }
}

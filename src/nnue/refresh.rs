//! The refresh table: recomputes accumulators after king moves by differences from earlier ones.
//!
//! A king move changes all of its owner's features. For every king square the table keeps the last
//! accumulator and its pieces; only the pieces that have changed since need an update.

use std::marker::PhantomData;

use super::features::{FeatureSet, View, bona_pieces};
use super::layers::{Aligned, Row, Transformer};
use super::simd::{Simd, prefetch};
use crate::position::{Position, Slot};
use crate::types::{Color, Hand, Piece, PieceType, Square};

/// An accumulator and its pieces.
#[derive(Clone)]
#[repr(C)]
struct RefreshEntry<const L1: usize> {
    accumulator: Row<L1>,
    board: [Piece; Square::NUM],
    hands: [Hand; 2],
}

/// One thread's table; about 100 KB for HalfKP and 256 outputs.
pub(super) struct RefreshTable<F, const L1: usize> {
    /// By perspective and [view](View::number).
    entries: Vec<RefreshEntry<L1>>,
    features: PhantomData<F>,
}

/// Rows to remove or to add, 40 at most.
type List = arrayvec::ArrayVec<u32, 80>;

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
                    board: [Piece::NONE; Square::NUM],
                    hands: [Hand::EMPTY; 2],
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
        let note = |list: &mut List, slot: Slot| {
            let feature = view.row(bona_pieces(slot)[viewer.index()]);
            // kings may be missing
            if feature < F::PER_BUCKET {
                let row = first + feature;
                prefetch(&input.rows[row]);
                list.push(row as u32);
            }
        };

        let (old, new) = (&mut entry.board, pos.board());
        // SAFETY: the caller's promise.
        let mut squares = unsafe { S::differences(old, new) };
        while squares != 0 {
            let square = Square(squares.trailing_zeros() as u8);
            squares &= squares - 1;
            let (gone, come) = (old[square.index()], new[square.index()]);
            if gone.is_some() {
                note(&mut subs, Slot::board(gone, square));
            }
            if come.is_some() {
                note(&mut adds, Slot::board(come, square));
            }
            old[square.index()] = come;
        }
        for owner in Color::ALL {
            let (old, new) = (entry.hands[owner.index()], pos.hand(owner));
            if old == new {
                continue;
            }
            entry.hands[owner.index()] = new;
            for kind in PieceType::HAND {
                let (old, new) = (old.count(kind), new.count(kind));
                (new + 1..=old).for_each(|nth| note(&mut subs, Slot::hand(owner, kind, nth)));
                (old + 1..=new).for_each(|nth| note(&mut adds, Slot::hand(owner, kind, nth)));
            }
        }
        // the number of features is constant, except between positions with different numbers of missing
        // pieces
        while adds.len() > subs.len() {
            subs.push(first as u32);
        }
        while subs.len() > adds.len() {
            adds.push(first as u32);
        }
        // SAFETY: the caller's promise.
        unsafe { S::apply(&mut entry.accumulator, out, &input.rows, &subs, &adds) };
    }
}

//! Sets of squares.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use crate::types::Square;

/// A set of squares: bit `file * 9 + rank`, the index of [`Square`], so a file is nine adjacent bits, a step
/// along a file is a shift by one, and a step to the next file is a shift by nine. Bits 81 and up are always
/// clear.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Bitboard(pub u128);

impl Bitboard {
    /// No square.
    pub const EMPTY: Bitboard = Bitboard(0);
    /// All 81 squares.
    pub const ALL: Bitboard = Bitboard((1 << 81) - 1);
    /// Rank 一 (0-based rank 0), one bit a file.
    pub const RANK_1: Bitboard = Bitboard::rank(0);
    /// Rank 九.
    pub const RANK_9: Bitboard = Bitboard::rank(8);

    /// The nine squares of a 0-based rank.
    pub const fn rank(rank: u8) -> Bitboard {
        let mut bits = 0;
        let mut file = 0;
        while file < 9 {
            bits |= 1u128 << (file * 9 + rank as u32);
            file += 1;
        }
        Bitboard(bits)
    }

    /// The nine squares of a 0-based file.
    pub const fn file(file: u8) -> Bitboard {
        Bitboard(0x1ff << (file as u32 * 9))
    }

    /// The set of one square; empty for [`Square::NONE`] (bit 81 is cut off).
    #[inline]
    pub const fn of(sq: Square) -> Bitboard {
        // A load is cheaper than a shift across two words.
        SINGLE[sq.0 as usize & 127]
    }

    /// Whether there is no square in the set.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether there is any square in the set.
    #[inline]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether the square is in the set.
    #[inline]
    pub const fn contains(self, sq: Square) -> bool {
        let word = if sq.0 < 64 { self.0 as u64 } else { (self.0 >> 64) as u64 };
        word >> (sq.0 & 63) & 1 != 0
    }

    /// Whether there are two squares or more.
    #[inline]
    pub const fn more_than_one(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// The number of squares in the set.
    #[inline]
    pub const fn count(self) -> u32 {
        (self.0 as u64).count_ones() + ((self.0 >> 64) as u64).count_ones()
    }

    /// The members of `self` that are not in `other`.
    #[inline]
    pub const fn without(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & !other.0)
    }

    /// The square of the lowest index; [`Square::NONE`] of an empty set.
    #[inline]
    pub const fn first(self) -> Square {
        /// The bit of [`Square::NONE`] in the upper word, which no set has: where the search for a bit ends.
        const END: u64 = 1 << (Square::NONE.0 - 64);
        let (lo, hi) = (self.0 as u64, (self.0 >> 64) as u64);
        if lo != 0 {
            Square(lo.trailing_zeros() as u8)
        } else {
            Square(64 + (hi | END).trailing_zeros() as u8)
        }
    }

    /// Takes the square of the lowest index out of a set that is not empty.
    #[inline]
    pub fn pop(&mut self) -> Square {
        let sq = self.first();
        self.0 &= self.0.wrapping_sub(1);
        sq
    }
}

/// The sets of one square; empty from [`Square::NONE`] on.
static SINGLE: [Bitboard; 128] = {
    let mut t = [Bitboard::EMPTY; 128];
    let mut sq = 0;
    while sq < 81 {
        t[sq] = Bitboard(1 << sq);
        sq += 1;
    }
    t
};

macro_rules! operators {
    ($($trait:ident $operator:ident $assign_trait:ident $assign:ident;)*) => {$(
        impl $trait for Bitboard {
            type Output = Bitboard;
            #[inline]
            fn $operator(self, o: Bitboard) -> Bitboard {
                Bitboard(self.0.$operator(o.0))
            }
        }

        impl $assign_trait for Bitboard {
            #[inline]
            fn $assign(&mut self, o: Bitboard) {
                self.0.$assign(o.0);
            }
        }
    )*};
}

operators! {
    BitAnd bitand BitAndAssign bitand_assign;
    BitOr bitor BitOrAssign bitor_assign;
    BitXor bitxor BitXorAssign bitxor_assign;
}

impl Not for Bitboard {
    type Output = Bitboard;
    /// The complement within the 81 squares.
    #[inline]
    fn not(self) -> Bitboard {
        Bitboard(self.0 ^ Self::ALL.0)
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Bitboard {
        squares.into_iter().fold(Bitboard::EMPTY, |b, sq| b | Bitboard::of(sq))
    }
}

/// The squares of a set from the lowest index to the highest.
#[derive(Clone)]
pub struct Squares {
    lo: u64,
    hi: u64,
}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;
    #[inline]
    fn into_iter(self) -> Squares {
        Squares { lo: self.0 as u64, hi: (self.0 >> 64) as u64 }
    }
}

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        if self.lo != 0 {
            let sq = self.lo.trailing_zeros();
            self.lo &= self.lo - 1;
            Some(Square(sq as u8))
        } else if self.hi != 0 {
            let sq = 64 + self.hi.trailing_zeros();
            self.hi &= self.hi - 1;
            Some(Square(sq as u8))
        } else {
            None
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = (self.lo.count_ones() + self.hi.count_ones()) as usize;
        (n, Some(n))
    }

    /// Two plain loops over 64 bits each, where `next` has to ask which half it is in (`for_each` comes
    /// here).
    #[inline]
    fn fold<B, F: FnMut(B, Square) -> B>(self, init: B, mut f: F) -> B {
        let Squares { mut lo, mut hi } = self;
        let mut acc = init;
        while lo != 0 {
            acc = f(acc, Square(lo.trailing_zeros() as u8));
            lo &= lo - 1;
        }
        while hi != 0 {
            acc = f(acc, Square(64 + hi.trailing_zeros() as u8));
            hi &= hi - 1;
        }
        acc
    }
}

impl fmt::Debug for Bitboard {
    /// The board as Black sees it, 9筋 at the left.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in 0..9 {
            f.write_str("\n")?;
            for file in (0..9).rev() {
                f.write_str(if self.contains(Square::new(file, rank)) { " *" } else { " ." })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_come_back_in_order() {
        let all: Vec<Square> = Bitboard::ALL.into_iter().collect();
        assert!(all.iter().copied().eq(Square::all()));
        let mut folded = Vec::new();
        Bitboard::ALL.into_iter().for_each(|sq| folded.push(sq));
        assert_eq!(folded, all);
        let mut b = Bitboard::ALL;
        for sq in Square::all() {
            assert_eq!(b.count(), 81 - u32::from(sq.0));
            assert_eq!(b.pop(), sq);
        }
        assert!(b.is_empty() && (!b) == Bitboard::ALL);
        assert!(Bitboard::of(Square::NONE).is_empty());
    }

    #[test]
    fn an_empty_set_has_no_first_square() {
        let none = Bitboard::EMPTY.first();
        assert_eq!(none, Square::NONE);
        assert!(!none.is_some() && Bitboard::of(none).is_empty() && !Bitboard::ALL.contains(none));
    }
}

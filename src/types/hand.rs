//! The pieces in hand: [`Hand`].
#![allow(unsafe_code)] // in what `derive(Zeroable)` writes

use super::piece::PieceType;
use std::fmt;

/// The pieces in one player's hand, a bit field a kind, so that a comparison of two hands is one subtraction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Hand(pub u32);

impl Hand {
    /// No piece.
    pub const EMPTY: Hand = Hand(0);
    /// Bit offset by kind: pawn 5 bits, lance knight silver gold 3 bits, bishop rook 2 bits, a gap after
    /// each.
    const SHIFT: [u32; 8] = [0, 0, 8, 12, 16, 20, 24, 28];
    const MASK: [u32; 8] = [0, 0x1f, 7, 7, 7, 3, 3, 7];
    /// The gaps: a borrow out of any field sets one of these bits.
    const BORROW: u32 = (1 << 5) | (1 << 11) | (1 << 15) | (1 << 19) | (1 << 22) | (1 << 26) | (1 << 31);

    /// How many pieces of a kind there are.
    #[inline]
    pub const fn count(self, kind: PieceType) -> u32 {
        self.0 >> Self::SHIFT[kind.0 as usize & 7] & Self::MASK[kind.0 as usize & 7]
    }

    /// Whether there is a piece of a kind.
    #[inline]
    pub const fn has(self, kind: PieceType) -> bool {
        self.count(kind) != 0
    }

    /// Whether there is no piece.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the hand holds anything that is not a pawn.
    #[inline]
    pub const fn has_other_than_pawns(self) -> bool {
        self.0 >> Self::SHIFT[2] != 0
    }

    /// One piece more. Fields never overflow with a legal set of pieces.
    #[inline]
    pub fn add(&mut self, kind: PieceType) {
        self.0 += 1 << Self::SHIFT[kind.0 as usize & 7];
    }

    /// One piece fewer; the hand must hold one.
    #[inline]
    pub fn sub(&mut self, kind: PieceType) {
        debug_assert!(self.has(kind));
        self.0 -= 1 << Self::SHIFT[kind.0 as usize & 7];
    }

    /// Whether this hand has at least as many of every kind as `other` (equal hands included).
    #[inline]
    pub const fn dominates(self, other: Hand) -> bool {
        self.0.wrapping_sub(other.0) & Self::BORROW == 0
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(PieceType::HAND.map(|k| (k, self.count(k)))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_domination_sees_every_kind() {
        for kind in PieceType::HAND {
            let (mut a, mut b) = (Hand::EMPTY, Hand::EMPTY);
            for k in PieceType::HAND {
                a.add(k);
                b.add(k);
            }
            assert!(a.dominates(b) && b.dominates(a));
            a.add(kind);
            assert!(a.dominates(b) && !b.dominates(a));
            let other = if kind == PieceType::PAWN { PieceType::ROOK } else { PieceType::PAWN };
            b.add(other);
            assert!(!a.dominates(b) && !b.dominates(a));
        }
    }
}

//! Formulas over many sets of squares: [`Wide`].
#![allow(unsafe_code)] // vector instructions that every processor of the target has

use super::Bitboard;
use register::{Register, and, or};
use std::ops::{BitAnd, BitOr};

/// A set of squares in one vector register, where a [`Bitboard`] takes two words: a formula over many sets
/// needs half as many instructions. Short formulas are faster on words, whose single squares can be tested
/// directly.
#[derive(Clone, Copy)]
pub(super) struct Wide(Register);

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::x86_64::{__m128i, _mm_and_si128, _mm_or_si128};

    pub type Register = __m128i;

    #[inline(always)]
    pub fn and(a: Register, b: Register) -> Register {
        // SAFETY: SSE2 is part of x86-64
        unsafe { _mm_and_si128(a, b) }
    }

    #[inline(always)]
    pub fn or(a: Register, b: Register) -> Register {
        // SAFETY: SSE2 is part of x86-64
        unsafe { _mm_or_si128(a, b) }
    }
}
#[cfg(not(target_arch = "x86_64"))]
mod register {
    pub type Register = u128;

    #[inline(always)]
    pub fn and(a: Register, b: Register) -> Register {
        a & b
    }

    #[inline(always)]
    pub fn or(a: Register, b: Register) -> Register {
        a | b
    }
}

impl From<Bitboard> for Wide {
    #[inline(always)]
    fn from(b: Bitboard) -> Wide {
        Wide(bytemuck::cast(b.0))
    }
}

impl From<Wide> for Bitboard {
    #[inline(always)]
    fn from(w: Wide) -> Bitboard {
        Bitboard(bytemuck::cast(w.0))
    }
}

impl<T: Into<Wide>> BitAnd<T> for Wide {
    type Output = Wide;
    #[inline(always)]
    fn bitand(self, o: T) -> Wide {
        Wide(and(self.0, o.into().0))
    }
}

impl<T: Into<Wide>> BitOr<T> for Wide {
    type Output = Wide;
    #[inline(always)]
    fn bitor(self, o: T) -> Wide {
        Wide(or(self.0, o.into().0))
    }
}

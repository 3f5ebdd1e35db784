//! Formulas over many sets of squares: [`Wide`].
#![allow(unsafe_code)] // vector instructions that every processor of the target has

use super::Bitboard;
use std::ops::{BitAnd, BitOr};

/// A set of squares in one vector register, where a [`Bitboard`] takes two words: a formula over many sets needs half as many
/// instructions. A short one is better off with the words, which can be asked about single squares at once.
#[derive(Clone, Copy)]
pub(super) struct Wide(Register);

#[cfg(target_arch = "x86_64")]
type Register = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Register = u128;

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
        let o: Wide = o.into();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE2 is part of x86-64
        return Wide(unsafe { std::arch::x86_64::_mm_and_si128(self.0, o.0) });
        #[cfg(not(target_arch = "x86_64"))]
        return Wide(self.0 & o.0);
    }
}

impl<T: Into<Wide>> BitOr<T> for Wide {
    type Output = Wide;
    #[inline(always)]
    fn bitor(self, o: T) -> Wide {
        let o: Wide = o.into();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE2 is part of x86-64
        return Wide(unsafe { std::arch::x86_64::_mm_or_si128(self.0, o.0) });
        #[cfg(not(target_arch = "x86_64"))]
        return Wide(self.0 | o.0);
    }
}

//! The squares of the board: [`Square`].

use shogi_core as core;
use std::fmt;

/// A square, file-major: 1一 = 0, 1二 = 1, 9九 = 80; [`Square::NONE`] = 81.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(pub u8);

impl Square {
    /// The squares of the board.
    pub const NUM: usize = 81;
    /// No square.
    pub const NONE: Square = Square(81);

    /// The square at a 0-based file (0 = 1筋) and a 0-based rank (0 = 一段).
    #[inline]
    pub const fn new(file: u8, rank: u8) -> Square {
        Square(file * 9 + rank)
    }

    /// 0 to 80 for squares of the board.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0-based file; 0 is 1筋, at Black's right.
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 / 9
    }

    /// 0-based rank; 0 is 一段, White's home.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0 % 9
    }

    /// The square as the other player sees it (board turned by 180 degrees).
    #[inline]
    pub const fn flip(self) -> Square {
        Square(80 - self.0)
    }

    /// The left-right mirror image (1筋 ↔ 9筋).
    #[inline]
    pub const fn mirror(self) -> Square {
        Square::new(8 - self.file(), self.rank())
    }

    /// Whether this is a square of the board.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 < 81
    }

    /// All squares, 1一 first.
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator {
        (0..81u8).map(Square)
    }

    /// Reads USI text such as `7g`.
    pub fn from_usi(text: &[u8]) -> Option<Square> {
        match text {
            [f @ b'1'..=b'9', r @ b'a'..=b'i'] => Some(Square::new(f - b'1', r - b'a')),
            _ => None,
        }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_some() {
            return f.write_str("none");
        }
        write!(f, "{}{}", (b'1' + self.file()) as char, (b'a' + self.rank()) as char)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<core::Square> for Square {
    fn from(s: core::Square) -> Square {
        Square(s.array_index() as u8)
    }
}

impl From<Square> for core::Square {
    /// # Panics
    /// On [`Square::NONE`].
    fn from(s: Square) -> core::Square {
        core::Square::from_u8(s.0 + 1).expect("a square of the board")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_from_and_to_core_are_inverse() {
        for s in Square::all() {
            assert_eq!(Square::from(core::Square::from(s)), s);
        }
    }
}

//! Black and White: [`Color`].

use shogi_core as core;

/// Black (*sente*, moves first) or White (*gote*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Color {
    /// *Sente*, who moves first in an even game.
    #[default]
    Black = 0,
    /// *Gote*.
    White = 1,
}

impl Color {
    /// Both, Black first.
    pub const ALL: [Color; 2] = [Color::Black, Color::White];

    /// 0 for Black, 1 for White.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other player.
    #[inline]
    pub const fn flip(self) -> Color {
        match self {
            Color::Black => Color::White,
            Color::White => Color::Black,
        }
    }
}

impl std::ops::Not for Color {
    type Output = Color;
    #[inline]
    fn not(self) -> Color {
        self.flip()
    }
}

impl From<core::Color> for Color {
    fn from(c: core::Color) -> Color {
        match c {
            core::Color::Black => Color::Black,
            core::Color::White => Color::White,
        }
    }
}

impl From<Color> for core::Color {
    fn from(c: Color) -> core::Color {
        match c {
            Color::Black => core::Color::Black,
            Color::White => core::Color::White,
        }
    }
}

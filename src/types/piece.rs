//! Kinds of pieces and coloured pieces: [`PieceType`], [`Piece`].

use super::color::Color;
use shogi_core as core;

/// A kind of piece without its colour; promoted kinds are the unpromoted ones plus 8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PieceType(pub u8);

impl PieceType {
    /// No kind.
    pub const NONE: PieceType = PieceType(0);
    /// 歩
    pub const PAWN: PieceType = PieceType(1);
    /// 香
    pub const LANCE: PieceType = PieceType(2);
    /// 桂
    pub const KNIGHT: PieceType = PieceType(3);
    /// 銀
    pub const SILVER: PieceType = PieceType(4);
    /// 角
    pub const BISHOP: PieceType = PieceType(5);
    /// 飛
    pub const ROOK: PieceType = PieceType(6);
    /// 金
    pub const GOLD: PieceType = PieceType(7);
    /// 玉
    pub const KING: PieceType = PieceType(8);
    /// と
    pub const PRO_PAWN: PieceType = PieceType(9);
    /// 成香
    pub const PRO_LANCE: PieceType = PieceType(10);
    /// 成桂
    pub const PRO_KNIGHT: PieceType = PieceType(11);
    /// 成銀
    pub const PRO_SILVER: PieceType = PieceType(12);
    /// 馬
    pub const HORSE: PieceType = PieceType(13);
    /// 竜
    pub const DRAGON: PieceType = PieceType(14);
    /// Table size for indexing by piece type.
    pub const NUM: usize = 16;
    /// The kinds that can be in hand, in the order of SFEN (most valuable first).
    pub const HAND: [PieceType; 7] = [
        PieceType::ROOK,
        PieceType::BISHOP,
        PieceType::GOLD,
        PieceType::SILVER,
        PieceType::KNIGHT,
        PieceType::LANCE,
        PieceType::PAWN,
    ];

    /// An index below [`Self::NUM`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is a promoted kind.
    #[inline]
    pub const fn is_promoted(self) -> bool {
        self.0 > 8
    }

    /// Whether the kind can promote (pawn, lance, knight, silver, bishop, rook).
    #[inline]
    pub const fn can_promote(self) -> bool {
        self.0 >= 1 && self.0 <= 6
    }

    /// The promoted kind; only meaningful where [`can_promote`](Self::can_promote) holds.
    #[inline]
    pub const fn promoted(self) -> PieceType {
        PieceType(self.0 | 8)
    }

    /// The unpromoted kind, which is also what a capture puts in hand. The king stays a king.
    #[inline]
    pub const fn unpromoted(self) -> PieceType {
        if self.0 == 8 { self } else { PieceType(self.0 & 7) }
    }

    /// Gold and the promoted pieces that move like it.
    #[inline]
    pub const fn moves_like_gold(self) -> bool {
        matches!(self.0, 7 | 9..=12)
    }

    /// The piece of this kind and colour.
    #[inline]
    pub const fn of(self, color: Color) -> Piece {
        Piece(self.0 | (color as u8) << 4)
    }
}

const CORE_KIND: [PieceType; 15] = {
    use PieceType as P;
    // core's order: P L N S G B R K +P +L +N +S +B +R, from 1
    [
        P::NONE,
        P::PAWN,
        P::LANCE,
        P::KNIGHT,
        P::SILVER,
        P::GOLD,
        P::BISHOP,
        P::ROOK,
        P::KING,
        P::PRO_PAWN,
        P::PRO_LANCE,
        P::PRO_KNIGHT,
        P::PRO_SILVER,
        P::HORSE,
        P::DRAGON,
    ]
};

impl From<core::PieceKind> for PieceType {
    fn from(k: core::PieceKind) -> PieceType {
        CORE_KIND[k as usize]
    }
}

impl From<PieceType> for core::PieceKind {
    /// # Panics
    /// On [`PieceType::NONE`].
    fn from(t: PieceType) -> core::PieceKind {
        let i = CORE_KIND.iter().position(|&k| k == t && k != PieceType::NONE).expect("a kind of piece");
        core::PieceKind::from_u8(i as u8).expect("1 to 14 are core's kinds")
    }
}

/// A piece with its colour: the kind for Black, the kind + 16 for White; [`Piece::NONE`] = 0 is an empty
/// square.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Piece(pub u8);

impl Piece {
    /// An empty square.
    pub const NONE: Piece = Piece(0);
    /// Table size for indexing by piece.
    pub const NUM: usize = 32;

    /// An index below [`Self::NUM`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Its kind.
    #[inline]
    pub const fn kind(self) -> PieceType {
        PieceType(self.0 & 15)
    }

    /// The colour; meaningless for [`Piece::NONE`].
    #[inline]
    pub const fn color(self) -> Color {
        if self.0 & 16 == 0 { Color::Black } else { Color::White }
    }

    /// Whether there is a piece.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Whether it is the empty square.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The same kind for the other player.
    #[inline]
    pub const fn flip(self) -> Piece {
        Piece(self.0 ^ 16)
    }
}

impl From<core::Piece> for Piece {
    fn from(p: core::Piece) -> Piece {
        let (kind, color) = p.to_parts();
        PieceType::from(kind).of(color.into())
    }
}

impl From<Piece> for core::Piece {
    /// # Panics
    /// On [`Piece::NONE`].
    fn from(p: Piece) -> core::Piece {
        core::Piece::new(p.kind().into(), p.color().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_from_and_to_core_are_inverse() {
        for p in core::Piece::all() {
            assert_eq!(core::Piece::from(Piece::from(p)), p);
        }
    }
}

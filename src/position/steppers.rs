//! The attacks of many stepping pieces at once: [`Steppers`].

use super::Bitboard;
use super::attacks::step_forward;
use crate::types::Color;

/// The neighbours on the rank, on one side and on the other, of every piece of a set.
#[inline]
pub(super) fn beside(Bitboard(b): Bitboard) -> [Bitboard; 2] {
    [Bitboard(b << 9 & Bitboard::ALL.0), Bitboard(b >> 9)]
}

/// Sets of pieces of one colour, by how they step: golds are all that move like gold, kings also horses and
/// dragons, which step like one.
#[derive(Clone, Copy, Default)]
pub(super) struct Steppers {
    pub(super) pawns: Bitboard,
    pub(super) knights: Bitboard,
    pub(super) silvers: Bitboard,
    pub(super) golds: Bitboard,
    pub(super) kings: Bitboard,
}

impl Steppers {
    /// The squares that any of them reaches in one step: the sets are moved, not their members, all that go
    /// the same way at once.
    #[inline]
    pub(super) fn reach(self, color: Color) -> Bitboard {
        let Steppers { pawns, knights, silvers, golds, kings } = self;
        let ahead = |b| step_forward(color, b);
        let behind = |b| step_forward(!color, b);
        let all_ahead = ahead(silvers | golds | kings);
        let slanting = golds | kings | all_ahead | behind(silvers | kings) | ahead(ahead(knights));
        let [left, right] = beside(slanting);
        ahead(pawns) | all_ahead | behind(golds | kings) | left | right
    }
}

#[cfg(test)]
mod tests {
    use super::super::attacks::steps;
    use super::*;
    use crate::types::PieceType;

    #[test]
    fn sets_of_steppers_equal_their_members() {
        let mut seed = 7u128;
        for _ in 0..1000 {
            seed = seed.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
            let set = Bitboard(seed >> 40 & seed >> 20 & Bitboard::ALL.0);
            let each = |kind: PieceType, color: Color| {
                set.into_iter().fold(Bitboard::EMPTY, |b, sq| b | steps(kind.of(color), sq))
            };
            for color in Color::ALL {
                assert_eq!(step_forward(color, set), each(PieceType::PAWN, color));
                let (mut all, mut expected) = (Steppers::default(), Bitboard::EMPTY);
                for kind in
                    [PieceType::PAWN, PieceType::KNIGHT, PieceType::SILVER, PieceType::GOLD, PieceType::KING]
                {
                    let mut one = Steppers::default();
                    for steppers in [&mut one, &mut all] {
                        *match kind {
                            PieceType::PAWN => &mut steppers.pawns,
                            PieceType::KNIGHT => &mut steppers.knights,
                            PieceType::SILVER => &mut steppers.silvers,
                            PieceType::GOLD => &mut steppers.golds,
                            _ => &mut steppers.kings,
                        } = set;
                    }
                    assert_eq!(one.reach(color), each(kind, color), "{kind:?}");
                    expected |= each(kind, color);
                    assert_eq!(all.reach(color), expected);
                }
            }
        }
    }
}

//! The squares where quiet moves lose by an exchange, for all moves at once: [`ExchangeMap`].

use super::attacks::{self, step_forward};
use super::steppers::{Steppers, beside};
use super::{Bitboard, Position};
use crate::types::{Move, PieceType};

/// The squares where quiet moves of the side to move lose by an exchange, approximately: a lesser piece
/// attacks the square, or any piece does and nothing guards it. The exact exchange,
/// [`see_ge`](Position::see_ge), differs in about one of sixteen quiet moves that the search tries.
pub struct ExchangeMap {
    /// The squares that the opponent attacks.
    pub attacked: Bitboard,
    /// The squares that a quiet move loses by entering, at its [`index`](ExchangeMap::index).
    pub losing: [Bitboard; ExchangeMap::NUM],
}

impl ExchangeMap {
    /// Kinds of pieces, moved and dropped.
    pub const NUM: usize = 2 * PieceType::NUM;

    /// The index of a move in `losing`: by the piece after the move, and whether it is dropped.
    #[inline]
    pub fn index(m: Move) -> usize {
        m.piece().kind().index() + PieceType::NUM * usize::from(m.is_drop())
    }
}

impl Position {
    /// The map of this position, in which the side to move is not in check.
    pub fn exchange_map(&self) -> ExchangeMap {
        use PieceType as P;
        let mut losing = [Bitboard::EMPTY; ExchangeMap::NUM];
        let (once, twice) = self.guards();
        let attacked = self.attacks_by_value(|kind, lesser| losing[kind.index()] = lesser);
        let (alone, unguarded) = (attacked.without(twice), attacked.without(once));
        for kind in P::HAND {
            losing[P::NUM + kind.index()] = losing[kind.index()] | unguarded;
        }
        losing[..P::NUM].iter_mut().for_each(|set| *set |= alone);
        ExchangeMap { attacked, losing }
    }

    /// Returns the squares that the opponent attacks; for every kind but pawn and king, passes those that lesser
    /// pieces attack to `record`.
    #[inline(always)]
    fn attacks_by_value(&self, mut record: impl FnMut(PieceType, Bitboard)) -> Bitboard {
        use PieceType as P;
        let them = !self.side;
        let theirs = self.pieces(them);
        let occupied = self.occupied();
        let of = |kind| self.of_kind(kind) & theirs;
        let steps = |steppers: Steppers| steppers.reach(them);
        let none = Steppers::default();
        let mut map = step_forward(them, of(P::PAWN));
        record(P::LANCE, map);
        of(P::LANCE).into_iter().for_each(|sq| map |= attacks::lance(them, sq, occupied));
        record(P::KNIGHT, map);
        map |= steps(Steppers { knights: of(P::KNIGHT), ..none });
        record(P::SILVER, map);
        map |= steps(Steppers { silvers: of(P::SILVER), ..none });
        for kind in [P::GOLD, P::PRO_PAWN, P::PRO_LANCE, P::PRO_KNIGHT, P::PRO_SILVER] {
            record(kind, map);
        }
        map |= steps(Steppers { golds: self.golds() & theirs, ..none });
        record(P::BISHOP, map);
        of(P::BISHOP).into_iter().for_each(|sq| map |= attacks::bishop(sq, occupied));
        record(P::HORSE, map);
        for sq in of(P::HORSE) {
            map |= attacks::bishop(sq, occupied) | attacks::king(sq);
        }
        record(P::ROOK, map);
        of(P::ROOK).into_iter().for_each(|sq| map |= attacks::rook(sq, occupied));
        record(P::DRAGON, map);
        for sq in of(P::DRAGON) {
            map |= attacks::rook(sq, occupied) | attacks::king(sq);
        }
        map | attacks::king(self.kings[them.index()])
    }

    /// The squares that pieces of the side to move guard: one of them at least, and two. Rooks and lances
    /// guard through their own side's pieces on the file, which may move ahead of them.
    #[inline(always)]
    fn guards(&self) -> (Bitboard, Bitboard) {
        use PieceType as P;
        let us = self.side;
        let own = self.pieces(us);
        let occupied = self.occupied();
        let of = |kind| self.of_kind(kind) & own;
        let (mut once, mut twice) = (Bitboard::EMPTY, Bitboard::EMPTY);
        let mut add = |b: Bitboard| {
            twice |= once & b;
            once |= b;
        };
        let ahead = |b| step_forward(us, b);
        let behind = |b| step_forward(!us, b);
        let kings = of(P::KING) | of(P::HORSE) | of(P::DRAGON);
        let golds = (self.golds() & own) | kings;
        let silvers = of(P::SILVER);
        let all_ahead = ahead(silvers | golds);
        add(ahead(of(P::PAWN)) | all_ahead);
        add(behind(golds));
        for slanting in [golds, all_ahead, behind(silvers | kings), ahead(ahead(of(P::KNIGHT)))] {
            beside(slanting).into_iter().for_each(&mut add);
        }
        for sq in of(P::BISHOP) | of(P::HORSE) {
            add(attacks::bishop(sq, occupied));
        }
        let through = self.pieces(!us);
        for sq in of(P::ROOK) | of(P::DRAGON) {
            add(attacks::rook_file(sq, through) | attacks::rook_rank(sq, occupied));
        }
        for sq in of(P::LANCE) {
            add(attacks::lance(us, sq, through));
        }
        (once, twice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loses(sfen: &str, m: &str) -> bool {
        let pos = Position::from_sfen(sfen).expect(sfen);
        let m = pos.parse_move(m).expect(m);
        pos.exchange_map().losing[ExchangeMap::index(m)].contains(m.to())
    }

    #[test]
    fn what_attacks_and_what_guards_a_square() {
        // a lesser piece attacks, whatever guards
        assert!(loses("8k/9/9/4p4/9/4R4/9/9/K8 b G 1", "G*5e"));
        assert!(!loses("8k/9/9/4p4/9/4R4/9/9/K8 b P 1", "P*5e"));
        // any piece attacks, and nothing guards
        assert!(loses("8k/9/9/4r4/9/9/9/9/K8 b P 1", "P*5e"));
        assert!(!loses("8k/9/9/4r4/9/9/9/9/K8 b P 1", "P*4e"));
        // the piece that moves does not guard the square that it enters; a lance behind it does
        assert!(loses("8k/9/9/4r4/9/4S4/9/9/K8 b - 1", "5f5e"));
        assert!(!loses("8k/9/9/4r4/9/4S4/9/4L4/K8 b - 1", "5f5e"));
        assert!(!loses("8k/9/9/4r4/9/4S4/4N4/9/K8 b N 1", "N*5e"));
        // both colours alike
        assert!(loses("k8/9/9/9/4P4/9/9/9/8K w g 1", "G*5d"));
        assert!(!loses("k8/9/4n4/9/4S4/9/9/9/8K w s 1", "S*4e"));
    }

    #[test]
    fn nearly_what_the_exchanges_say() {
        let (mut moves, mut agree) = (0, 0);
        for line in include_str!("../../tests/data/legal_moves.tsv").lines().filter(|l| !l.starts_with('#')) {
            let pos = Position::from_sfen(line.split('\t').next().unwrap()).unwrap();
            let map = pos.exchange_map();
            assert_eq!(map.attacked, pos.attack_map(!pos.side_to_move(), pos.occupied()), "{line}");
            for m in pos.legal_moves(false).iter().map(|s| s.mv) {
                if !pos.is_capture(m) && !m.is_promotion() && m.piece().kind() != PieceType::KING {
                    moves += 1;
                    let loses = map.losing[ExchangeMap::index(m)].contains(m.to());
                    agree += i32::from(loses != pos.see_ge(m, 0));
                }
            }
        }
        assert!(moves > 1000 && agree > moves / 100 * 90, "{agree} of {moves}");
    }
}

//! Generating the moves that give check.

use super::mate1::CANDIDATES;
use super::movegen::files_without;
use super::{Bitboard, Position, attacks};
use crate::types::{Color, Move, MoveList, PieceType, ScoredMove, Square};

impl Position {
    /// Fills an empty list with all legal moves that give check, pointless non-promotions included; there are
    /// none if the opponent has no king.
    pub fn checks(&self, list: &mut MoveList) {
        let us = self.side_to_move();
        let king = self.king_square(!us);
        if !king.is_some() {
            return;
        }
        if self.in_check() {
            self.append_legal_moves(true, list);
            list.retain(|m| self.gives_check(m.mv));
            return;
        }
        self.checks_of_steppers(us, king, list);
        self.checks_of_sliders(us, list);
        self.discovered_checks(us, king, list);
        self.check_drops(us, king, list);
    }

    /// Direct checks of pawns, knights, silvers and golds.
    fn checks_of_steppers(&self, us: Color, king: Square, list: &mut MoveList) {
        use PieceType as P;
        let own = self.pieces(us);
        let zone = attacks::promotion_zone(us);
        let golden = self.check_squares(P::GOLD);
        let candidates = &CANDIDATES[us.index()];
        let row = king.index() & 127;
        let mut from = own
            & ((candidates[0][row] & self.of_kind(P::KNIGHT))
                | (candidates[1][row] & self.of_kind(P::SILVER))
                | (candidates[2][row] & self.golds()));
        while from.any() {
            let sq = from.pop();
            let piece = self.piece_on(sq);
            let to = self.unpinned(us, sq, attacks::steps(piece, sq).without(own));
            self.direct_checks(us, sq, to, list);
        }
        let pushes = attacks::step_forward(us, self.of_kind(P::PAWN) & own).without(own);
        let mut to = pushes & ((golden & zone) | self.check_squares(P::PAWN));
        while to.any() {
            let target = to.pop();
            let sq = Square(if us == Color::Black { target.0 + 1 } else { target.0 - 1 });
            self.direct_checks(us, sq, self.unpinned(us, sq, Bitboard::of(target)), list);
        }
    }

    /// Direct checks of lances, bishops, rooks, horses and dragons.
    fn checks_of_sliders(&self, us: Color, list: &mut MoveList) {
        use PieceType as P;
        let own = self.pieces(us);
        let kinds = [P::LANCE, P::BISHOP, P::ROOK, P::HORSE, P::DRAGON];
        let mut from = kinds.iter().fold(Bitboard::EMPTY, |b, &k| b | self.of_kind(k)) & own;
        while from.any() {
            let sq = from.pop();
            let reach = attacks::of(self.piece_on(sq), sq, self.occupied()).without(own);
            self.direct_checks(us, sq, self.unpinned(us, sq, reach), list);
        }
    }

    /// Checks by a piece that leaves the line between our slider and their king, and gives no check itself.
    fn discovered_checks(&self, us: Color, king: Square, list: &mut MoveList) {
        let own = self.pieces(us);
        let zone = attacks::promotion_zone(us);
        let mut from = self.blockers(!us) & own;
        while from.any() {
            let sq = from.pop();
            let piece = self.piece_on(sq);
            let kind = piece.kind();
            let mut to = attacks::of(piece, sq, self.occupied()).without(own | attacks::line(king, sq));
            if kind == PieceType::KING {
                to = to
                    .into_iter()
                    .filter(|&t| !self.is_attacked(!us, t, self.occupied() ^ Bitboard::of(sq)))
                    .collect();
            } else {
                to = self.unpinned(us, sq, to);
            }
            if kind.can_promote() {
                let promoting = if zone.contains(sq) { to } else { to & zone };
                let quiet = promoting.without(self.check_squares(kind.promoted()));
                quiet.into_iter().for_each(|t| push(list, Move::promotion(sq, t, piece)));
            }
            let quiet = to.without(self.check_squares(kind) | attacks::dead_end(us, kind));
            quiet.into_iter().for_each(|t| push(list, Move::normal(sq, t, piece)));
        }
    }

    /// The moves of a piece to those squares of `to` where it gives check itself.
    #[inline]
    fn direct_checks(&self, us: Color, from: Square, to: Bitboard, list: &mut MoveList) {
        let piece = self.piece_on(from);
        let kind = piece.kind();
        if kind.can_promote() {
            let zone = attacks::promotion_zone(us);
            let promoting = if zone.contains(from) { to } else { to & zone };
            let checks = promoting & self.check_squares(kind.promoted());
            checks.into_iter().for_each(|t| push(list, Move::promotion(from, t, piece)));
        }
        let checks = to & self.check_squares(kind).without(attacks::dead_end(us, kind));
        checks.into_iter().for_each(|t| push(list, Move::normal(from, t, piece)));
    }

    fn check_drops(&self, us: Color, king: Square, list: &mut MoveList) {
        let hand = self.hand(us);
        if hand.is_empty() {
            return;
        }
        let empty = !self.occupied();
        for kind in PieceType::HAND {
            if !hand.has(kind) {
                continue;
            }
            let mut to = self.check_squares(kind) & empty;
            if kind == PieceType::PAWN && to.any() {
                let pawns = self.pieces_of(us, PieceType::PAWN);
                let pawn_free = files_without(pawns & attacks::file(king));
                if (to & pawn_free).is_empty() || self.is_drop_pawn_mate(to.first()) {
                    to = Bitboard::EMPTY;
                }
            }
            to.into_iter().for_each(|t| push(list, Move::drop(kind.of(us), t)));
        }
    }

    /// The squares of `to` where a piece may go without exposing its own king.
    #[inline]
    fn unpinned(&self, us: Color, from: Square, to: Bitboard) -> Bitboard {
        if self.blockers(us).contains(from) { to & attacks::line(self.king_square(us), from) } else { to }
    }
}

#[inline]
fn push(list: &mut MoveList, mv: Move) {
    list.push(ScoredMove { mv, score: 0 });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays out random games and compares the generator with a filter over all legal moves.
    #[test]
    fn checks_are_the_legal_moves_that_give_check() {
        let starts = [
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
            "4k4/9/4P4/9/4L4/9/9/9/9 b 2r2b4g4s4n3l16p 1",
            "9/4k4/4N4/9/4R4/9/1B7/9/4K4 b RBGSNLPgs2nl8p 1",
        ];
        let mut seed = 1u64;
        let mut seen = 0;
        for start in starts.iter().cycle().take(200) {
            let mut pos = Position::from_sfen(start).unwrap();
            for _ in 0..120 {
                let all = pos.legal_moves(true);
                let mut expected: Vec<Move> =
                    all.iter().map(|m| m.mv).filter(|&m| pos.gives_check(m)).collect();
                let mut list = MoveList::new();
                pos.checks(&mut list);
                let mut found: Vec<Move> = list.iter().map(|m| m.mv).collect();
                expected.sort_unstable_by_key(|m| m.0);
                found.sort_unstable_by_key(|m| m.0);
                if pos.king_square(!pos.side_to_move()).is_some() {
                    assert_eq!(found, expected, "{}", pos.sfen());
                    seen += found.len();
                }
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let pick = |n: usize| (seed >> 33) as usize % n;
                // checks are rare in random play, so take them often
                let next = match (found.len(), all.len()) {
                    (_, 0) => break,
                    (n, _) if n > 0 && seed >> 62 != 0 => found[pick(n)],
                    (_, n) => all[pick(n)].mv,
                };
                pos.do_move(next);
            }
        }
        assert!(seen > 30_000, "{seen}");
    }
}

//! Whether a check mates, decided on bitboards without playing the move.

use super::{Bitboard, Position, attacks};
use crate::types::{Color, Move, Piece, PieceType, Square};

/// The board after one of our moves, as far as attacks are concerned.
struct After<'a> {
    pos: &'a Position,
    us: Color,
    /// The piece on its new square.
    piece: Piece,
    to: Square,
    occupied: Bitboard,
    /// Our pieces that did not move.
    ours: Bitboard,
    theirs: Bitboard,
}

impl After<'_> {
    /// Our attackers of a square under an occupancy. Pieces of theirs on `sq` itself do not matter.
    fn attackers(&self, sq: Square, occupied: Bitboard) -> Bitboard {
        let mut b = self.pos.attackers_of_both(sq, occupied, self.us) & self.ours;
        if attacks::of(self.piece, self.to, occupied).contains(sq) {
            b |= Bitboard::of(self.to);
        }
        b
    }

    /// Whether one of their pieces (not the king) can legally go to `sq`, which is empty or holds our only
    /// checker.
    fn reachable(&self, sq: Square, king: Square) -> bool {
        let them = !self.us;
        let mut movers =
            (self.pos.attackers_of_both(sq, self.occupied, them) & self.theirs).without(Bitboard::of(king));
        while movers.any() {
            let from = movers.pop();
            // The checker, captured or shut off, no longer counts; any other attack means that the mover was
            // pinned.
            let occupied = (self.occupied ^ Bitboard::of(from)) | Bitboard::of(sq);
            if self.attackers(king, occupied).without(Bitboard::of(sq)).is_empty() {
                return true;
            }
        }
        false
    }
}

impl Position {
    /// Whether a legal move that gives check mates. Errs on the safe side in one case: a pawn drop between
    /// king and checker counts as an answer even if it should itself be a forbidden pawn-drop mate.
    pub(super) fn mates(&self, m: Move) -> bool {
        let us = self.side;
        let them = !us;
        let king = self.king_square(them);
        let (to, to_bit) = (m.to(), Bitboard::of(m.to()));
        let from_bit = if m.is_drop() { Bitboard::EMPTY } else { Bitboard::of(m.from()) };
        let after = After {
            pos: self,
            us,
            piece: m.piece(),
            to,
            occupied: self.occupied().without(from_bit) | to_bit,
            ours: self.pieces(us).without(from_bit),
            theirs: self.pieces(them).without(to_bit),
        };
        let without_king = after.occupied ^ Bitboard::of(king);
        for sq in attacks::king(king).without(after.theirs) {
            if after.attackers(sq, without_king).is_empty() {
                return false;
            }
        }
        let checkers = after.attackers(king, after.occupied);
        if checkers.is_empty() {
            return false;
        }
        if checkers.more_than_one() {
            return true;
        }
        let checker = checkers.first();
        if after.reachable(checker, king) {
            return false;
        }
        let between = attacks::between(king, checker);
        for sq in between {
            if self.may_drop(them, sq, to_bit) || after.reachable(sq, king) {
                return false;
            }
        }
        true
    }

    /// Whether a side holds a piece that may be dropped on this empty square (pawn-drop mates not
    /// considered), when it has lost what stands on `taken`: a pawn that is gone leaves its file to another.
    fn may_drop(&self, color: Color, sq: Square, taken: Bitboard) -> bool {
        use PieceType as P;
        let hand = self.hand(color);
        [P::GOLD, P::SILVER, P::BISHOP, P::ROOK].into_iter().any(|k| hand.has(k))
            || [P::LANCE, P::KNIGHT]
                .into_iter()
                .any(|k| hand.has(k) && !attacks::dead_end(color, k).contains(sq))
            || hand.has(P::PAWN)
                && !attacks::dead_end(color, P::PAWN).contains(sq)
                && (attacks::file(sq) & self.pieces_of(color, P::PAWN)).without(taken).is_empty()
    }
}

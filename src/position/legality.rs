//! Tests of single moves: check, legality, and whether a move from elsewhere fits this position.

use super::{Bitboard, Position, attacks};
use crate::types::{Move, Piece, PieceType, Square};

/// Why a move is not legal.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[allow(missing_docs)] // the messages say it
pub enum Illegal {
    #[error("not a move in USI notation")]
    Notation,
    #[error("no piece on the origin")]
    EmptyOrigin,
    #[error("the piece belongs to the opponent")]
    NotYours,
    #[error("the piece does not move there")]
    OutOfReach,
    #[error("the target holds a piece of the same side")]
    OwnPiece,
    #[error("this kind of piece cannot promote")]
    CannotPromote,
    #[error("promotion outside the promotion zone")]
    OutsideZone,
    #[error("a pointless non-promotion")]
    PointlessNonPromotion,
    #[error("the piece could never move from there")]
    DeadEnd,
    #[error("no such piece in hand")]
    NotInHand,
    #[error("drop on an occupied square")]
    Occupied,
    #[error("a second unpromoted pawn on the file (nifu)")]
    Nifu,
    #[error("mate by dropping a pawn (uchifuzume)")]
    DropPawnMate,
    #[error("does not answer the check")]
    IgnoresCheck,
    #[error("leaves the king in check")]
    KingInCheck,
}

impl Position {
    /// Whether a pseudo-legal move gives check.
    #[inline(always)]
    pub fn gives_check(&self, m: Move) -> bool {
        if self.check_squares(m.piece().kind()).contains(m.to()) {
            return true;
        }
        // A discovered check: the piece leaves the line between our slider and their king.
        let them = !self.side;
        !m.is_drop()
            && self.blockers(them).contains(m.from())
            && !attacks::line(self.king_square(them), m.from()).contains(m.to())
    }

    /// Whether a pseudo-legal move leaves its own king safe.
    #[inline(always)]
    pub fn is_legal(&self, m: Move) -> bool {
        if m.is_drop() {
            return true;
        }
        let us = self.side;
        let from = m.from();
        if m.piece().kind() == PieceType::KING {
            return !self.is_attacked(!us, m.to(), self.occupied() ^ Bitboard::of(from));
        }
        !self.blockers(us).contains(from) || attacks::line(self.king_square(us), from).contains(m.to())
    }

    /// Whether a pseudo-legal move captures.
    #[inline]
    pub fn is_capture(&self, m: Move) -> bool {
        !m.is_drop() && self.piece_on(m.to()).is_some()
    }

    /// The kind of piece that a capture takes.
    #[inline]
    pub fn captured_kind(&self, m: Move) -> PieceType {
        self.piece_on(m.to()).kind()
    }

    /// Whether the generators would produce this move here; for moves out of hash tables and killer slots.
    /// `all` allows pointless non-promotions.
    #[inline]
    pub fn is_pseudo_legal(&self, m: Move, all: bool) -> bool {
        self.judge_pseudo_legal(m, all).is_ok()
    }

    pub(super) fn judge_pseudo_legal(&self, m: Move, all: bool) -> Result<(), Illegal> {
        use PieceType as P;
        let us = self.side;
        let to = m.to();
        if !m.is_some() || !to.is_some() {
            return Err(Illegal::Notation);
        }
        let target = Bitboard::of(to);
        let piece = m.piece();
        if m.is_drop() {
            let kind = m.dropped();
            if m.is_promotion() || !(1..=7).contains(&kind.0) || piece != kind.of(us) {
                return Err(Illegal::Notation);
            }
            if !self.hand(us).has(kind) {
                return Err(Illegal::NotInHand);
            }
            if self.piece_on(to).is_some() {
                return Err(Illegal::Occupied);
            }
            if attacks::dead_end(us, kind).contains(to) {
                return Err(Illegal::DeadEnd);
            }
            if kind == P::PAWN && (attacks::file(to) & self.pieces_of(us, P::PAWN)).any() {
                return Err(Illegal::Nifu);
            }
            if self.in_check() {
                let checkers = self.checkers();
                let between = attacks::between(self.king_square(us), checkers.first());
                if checkers.more_than_one() || !between.contains(to) {
                    return Err(Illegal::IgnoresCheck);
                }
            }
            if kind == P::PAWN && self.check_squares(P::PAWN).contains(to) && self.is_drop_pawn_mate(to) {
                return Err(Illegal::DropPawnMate);
            }
            return Ok(());
        }

        let from = m.from();
        if !from.is_some() {
            return Err(Illegal::Notation);
        }
        let before = self.piece_on(from);
        if before.is_none() {
            return Err(Illegal::EmptyOrigin);
        }
        if before.color() != us {
            return Err(Illegal::NotYours);
        }
        let kind = before.kind();
        let after = if m.is_promotion() { Piece(before.0 | 8) } else { before };
        if m.is_promotion() && !kind.can_promote() {
            return Err(Illegal::CannotPromote);
        }
        if piece != after {
            return Err(Illegal::Notation);
        }
        if self.pieces(us).contains(to) {
            return Err(Illegal::OwnPiece);
        }
        if !attacks::of(before, from, self.occupied()).contains(to) {
            return Err(Illegal::OutOfReach);
        }
        let zone = attacks::promotion_zone(us);
        if m.is_promotion() {
            if !zone.contains(from) && !zone.contains(to) {
                return Err(Illegal::OutsideZone);
            }
        } else {
            if attacks::dead_end(us, kind).contains(to) {
                return Err(Illegal::DeadEnd);
            }
            if !all {
                let pointless = match kind {
                    P::PAWN => zone.contains(to),
                    P::LANCE => attacks::last_ranks(us, 2).contains(to),
                    P::BISHOP | P::ROOK => zone.contains(to) || zone.contains(from),
                    _ => false,
                };
                if pointless {
                    return Err(Illegal::PointlessNonPromotion);
                }
            }
        }
        if self.in_check() && kind != P::KING {
            let checkers = self.checkers();
            let useful = checkers | attacks::between(self.king_square(us), checkers.first());
            if checkers.more_than_one() || (useful & target).is_empty() {
                return Err(Illegal::IgnoresCheck);
            }
        }
        Ok(())
    }

    /// The legal move of the 16 bits that records and books store; none if it is not legal here.
    pub fn legal_move(&self, raw16: u16) -> Option<Move> {
        let m = self.expand(raw16);
        (m.is_some() && self.is_pseudo_legal(m, true) && self.is_legal(m)).then_some(m)
    }

    /// A move from the 16 bits that tables and records store, with its piece taken from the board;
    /// [`Move::NONE`] if there is no such piece of the side to move, or the bits are no move. The result may
    /// still be illegal here.
    #[inline]
    pub fn expand(&self, raw16: u16) -> Move {
        let m = Move(u32::from(raw16));
        if !m.to().is_some() {
            return Move::NONE;
        }
        let piece = if m.is_drop() {
            let kind = m.dropped();
            if m.is_promotion() || !(1..=7).contains(&kind.0) {
                return Move::NONE;
            }
            kind.of(self.side)
        } else {
            // from == to are the special moves
            if !m.from().is_some() || m.from() == m.to() {
                return Move::NONE;
            }
            let before = self.piece_on(m.from());
            if before.is_none() || before.color() != self.side {
                return Move::NONE;
            }
            if m.is_promotion() {
                if !before.kind().can_promote() {
                    return Move::NONE;
                }
                Piece(before.0 | 8)
            } else {
                before
            }
        };
        Move(m.0 | u32::from(piece.0) << 16)
    }

    /// Whether dropping a pawn on `to`, in front of the enemy king, mates: illegal by *uchifuzume*.
    pub(super) fn is_drop_pawn_mate(&self, to: Square) -> bool {
        self.mates(Move::drop(PieceType::PAWN.of(self.side), to))
    }
}

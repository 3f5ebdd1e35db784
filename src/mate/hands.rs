//! Hands that a result holds for: the attacker's least hand of a proof, the largest of a disproof.
//!
//! A mate needs some of the attacker's pieces; with more in hand (which the defender then lacks) it works,
//! too. So a proof is stored with the smallest hand that its tree needs, and a disproof with the largest hand
//! that it withstands (Seo, "On effective utilization of dominance relations in tsume-shogi solving
//! algorithms", GPW 1999).

use crate::position::{Bitboard, Position, SET, attacks};
use crate::types::{Hand, Move, PieceType};

/// More than any attacker ever holds: the whole set of pieces.
pub(super) fn everything() -> Hand {
    let mut hand = Hand::EMPTY;
    PieceType::HAND.into_iter().for_each(|kind| set_count(&mut hand, kind, SET[kind.index()]));
    hand
}

/// Sets the count of a kind.
fn set_count(hand: &mut Hand, kind: PieceType, count: u32) {
    while hand.count(kind) > count {
        hand.sub(kind);
    }
    while hand.count(kind) < count {
        hand.add(kind);
    }
}

/// The attacker's hand after his move.
#[inline]
pub(super) fn after(pos: &Position, m: Move, mut hand: Hand) -> Hand {
    if m.is_drop() {
        if hand.has(m.dropped()) {
            hand.sub(m.dropped());
        }
    } else {
        let captured = pos.piece_on(m.to());
        if captured.is_some() {
            let kind = captured.kind().unpromoted();
            if hand.count(kind) < SET[kind.index()] {
                hand.add(kind);
            }
        }
    }
    hand
}

/// The attacker's hand before his move that leads to `hand`.
#[inline]
pub(super) fn before(pos: &Position, m: Move, mut hand: Hand) -> Hand {
    if m.is_drop() {
        let kind = m.dropped();
        if hand.count(kind) < SET[kind.index()] {
            hand.add(kind);
        }
    } else {
        let captured = pos.piece_on(m.to());
        if captured.is_some() && hand.has(captured.kind().unpromoted()) {
            hand.sub(captured.kind().unpromoted());
        }
    }
    hand
}

/// Of each kind the larger count.
#[inline]
pub(super) fn union(a: Hand, b: Hand) -> Hand {
    choose(a, b, u32::max)
}

/// Of each kind the smaller count.
#[inline]
pub(super) fn intersection(a: Hand, b: Hand) -> Hand {
    choose(a, b, u32::min)
}

#[inline]
fn choose(a: Hand, b: Hand, pick: fn(u32, u32) -> u32) -> Hand {
    if a == b {
        return a;
    }
    let mut hand = a;
    for kind in PieceType::HAND {
        set_count(&mut hand, kind, pick(a.count(kind), b.count(kind)));
    }
    hand
}

/// The attacker's hand in the parent of a position with hand `to`, given its hand `parent` in the parent of the same
/// board with hand `from`.
pub(super) fn shifted(parent: Hand, from: Hand, to: Hand) -> Hand {
    let mut hand = parent;
    for kind in PieceType::HAND {
        let (then, now) = (from.count(kind), to.count(kind));
        let count = (parent.count(kind) + now).saturating_sub(then);
        set_count(&mut hand, kind, count.min(SET[kind.index()]));
    }
    hand
}

/// The hand that proves a position of the defender all of whose moves lose to hands within `hand`. A kind
/// that the defender lacks and could drop between checker and king belongs to the proof: the attacker must
/// keep it from him.
pub(super) fn proof(pos: &Position, mut hand: Hand) -> Hand {
    let us = pos.side_to_move();
    let checkers = pos.checkers();
    if checkers.more_than_one() || checkers.is_empty() {
        return hand;
    }
    let between = attacks::between(pos.king_square(us), checkers.first());
    if between.is_empty() {
        return hand;
    }
    let (ours, theirs) = (pos.hand(us), pos.hand(!us));
    for kind in PieceType::HAND {
        if ours.has(kind) || !theirs.has(kind) {
            continue;
        }
        if kind == PieceType::PAWN && !pawn_fits(pos, between) {
            continue;
        }
        if between.without(attacks::dead_end(us, kind)).is_empty() {
            continue;
        }
        set_count(&mut hand, kind, theirs.count(kind));
    }
    hand
}

/// Whether the side to move has no pawn on one of the files of these squares.
fn pawn_fits(pos: &Position, squares: Bitboard) -> bool {
    let pawns = pos.pieces_of(pos.side_to_move(), PieceType::PAWN);
    squares.into_iter().any(|sq| (attacks::file(sq) & pawns).is_empty())
}

/// The hand that disproves a position of the attacker all of whose moves fail with hands as large as `hand`.
/// A kind that he lacks here and could drop with check does not belong to it: that check was never tried.
pub(super) fn disproof(pos: &Position, mut hand: Hand) -> Hand {
    let us = pos.side_to_move();
    let king = pos.king_square(!us);
    let held = pos.hand(us);
    let empty = !pos.occupied();
    for kind in PieceType::HAND {
        if held.has(kind) || !hand.has(kind) {
            continue;
        }
        if kind == PieceType::PAWN && (attacks::file(king) & pos.pieces_of(us, PieceType::PAWN)).any() {
            continue;
        }
        if (pos.check_squares(kind) & empty).any() {
            set_count(&mut hand, kind, 0);
        }
    }
    hand
}

/// The disproof of a position of the defender by a drop, which he can only make while he holds such a piece:
/// whatever the attacker holds in `hand`, one of them stays with the defender.
pub(super) fn keep_for_drop(pos: &Position, m: Move, mut hand: Hand) -> Hand {
    if m.is_drop() {
        let kind = m.dropped();
        let free = pos.hand(pos.side_to_move()).count(kind) + pos.hand(!pos.side_to_move()).count(kind);
        if hand.count(kind) >= free {
            set_count(&mut hand, kind, free.saturating_sub(1));
        }
    }
    hand
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hand(kinds: &[PieceType]) -> Hand {
        let mut hand = Hand::EMPTY;
        kinds.iter().for_each(|&k| hand.add(k));
        hand
    }

    #[test]
    fn union_and_intersection_go_kind_by_kind() {
        use PieceType as P;
        let (a, b) = (hand(&[P::PAWN, P::PAWN, P::ROOK]), hand(&[P::PAWN, P::GOLD]));
        assert_eq!(union(a, b), hand(&[P::PAWN, P::PAWN, P::ROOK, P::GOLD]));
        assert_eq!(intersection(a, b), hand(&[P::PAWN]));
        assert!(everything().dominates(union(a, b)));
    }

    #[test]
    fn a_far_check_binds_what_the_defender_lacks() {
        // White to move, checked from afar by the rook, holds nothing: all that Black holds and could stand
        // between counts.
        let pos = Position::from_sfen("4k4/9/9/9/4R4/9/9/9/9 w G2P 1").unwrap();
        assert_eq!(proof(&pos, Hand::EMPTY), pos.hand(crate::types::Color::Black));
        // next to the king nothing fits between
        let pos = Position::from_sfen("4k4/4R4/9/9/9/9/9/9/9 w G2P 1").unwrap();
        assert_eq!(proof(&pos, Hand::EMPTY), Hand::EMPTY);
    }

    #[test]
    fn checks_never_tried_bound_a_disproof() {
        use PieceType as P;
        let pos = Position::from_sfen("4k4/9/9/9/9/9/9/4P4/9 b G 1").unwrap();
        let left = disproof(&pos, everything());
        // pawns cannot be dropped on the king's file, gold was tried
        assert_eq!(left.count(P::PAWN), 18);
        assert_eq!(left.count(P::GOLD), 4);
        for kind in [P::LANCE, P::KNIGHT, P::SILVER, P::BISHOP, P::ROOK] {
            assert_eq!(left.count(kind), 0);
        }
    }
}

//! First guesses: proof and disproof numbers of positions never seen, and the order of equal moves.
//!
//! df-pn+ (Nagai, PhD thesis, University of Tokyo, 2002) starts from numbers that estimate how promising a
//! move is, instead of 1 and 1. The features, whose pieces reach the square and what is captured, are those of
//! GPSShogi.

use super::value::{Count, UNIT};
use crate::position::{Position, attacks};
use crate::types::{Color, Move, PieceType};

/// Proof and disproof number of the position after a check.
pub(super) fn after_check(pos: &Position, m: Move) -> (Count, Count) {
    let us = pos.side_to_move();
    let to = m.to();
    let occupied = pos.occupied();
    let support = pos.attackers(us, to, occupied).count() + u32::from(m.is_drop());
    let defence = pos.attackers(!us, to, occupied).count();
    let (mut pn, mut dn) = (UNIT, UNIT);
    if defence >= 2 {
        pn += UNIT;
    }
    let captured = pos.piece_on(to);
    let general =
        captured.is_some() && matches!(captured.kind().unpromoted(), PieceType::GOLD | PieceType::SILVER);
    if support > defence || general {
        dn += UNIT;
    } else {
        pn += UNIT;
    }
    (pn, dn)
}

/// Proof and disproof number of the position after an answer to check.
pub(super) fn after_answer(pos: &Position, m: Move) -> (Count, Count) {
    let us = pos.side_to_move();
    let to = m.to();
    if pos.is_capture(m) {
        return (2 * UNIT, UNIT);
    }
    if m.piece().kind() == PieceType::KING {
        return (UNIT, UNIT);
    }
    let occupied = pos.occupied();
    let support = pos.attackers(us, to, occupied).count() + u32::from(m.is_drop());
    let attack = pos.attackers(!us, to, occupied).count();
    if attack < support { (2 * UNIT, UNIT) } else { (UNIT, 2 * UNIT) }
}

/// Orders moves whose numbers are equal; smaller comes first. Strong pieces near the king, and promotions
/// where nothing speaks against them.
pub(super) fn order(pos: &Position, m: Move, defender: Color) -> i32 {
    /// By kind, promoted kinds included.
    const WORTH: [i32; 16] = [0, 10, 20, 20, 30, 50, 50, 50, 80, 50, 50, 50, 50, 80, 80, 80];
    let king = pos.king_square(defender);
    let to = m.to();
    let files = i32::from(king.file()) - i32::from(to.file());
    let ranks = i32::from(king.rank()) - i32::from(to.rank());
    let mut order = 10 * files.abs().max(ranks.abs()) - WORTH[m.piece().kind().index() & 15];
    if is_pointless_non_promotion(pos, m) {
        order += 1000;
    }
    order
}

/// Whether a pawn, bishop or rook could promote and does not, which is useful only to avoid a mate by pawn drop.
fn is_pointless_non_promotion(pos: &Position, m: Move) -> bool {
    if m.is_drop() || m.is_promotion() {
        return false;
    }
    let kind = m.piece().kind();
    let zone = attacks::promotion_zone(pos.side_to_move());
    matches!(kind, PieceType::PAWN | PieceType::BISHOP | PieceType::ROOK)
        && (zone.contains(m.from()) || zone.contains(m.to()))
}

/// Whether two moves of the defender, or the two ways of one move of the attacker, are so alike that the
/// later one is better looked at when the earlier one has failed: drops between king and checker on the same
/// square, drops there that nothing guards, moves with and without promotion. Returns a key; equal keys (not
/// 0) are alike.
pub(super) fn likeness(pos: &Position, m: Move, attacking: bool) -> u32 {
    /// All drops that nothing guards.
    const UNGUARDED: u32 = 1 << 16;
    let us = pos.side_to_move();
    if m.is_drop() {
        if attacking {
            return 0;
        }
        let guarded = pos.attackers(us, m.to(), pos.occupied()).any() || pos.gives_check(m);
        return if guarded { UNGUARDED + 1 + u32::from(m.to().0) } else { UNGUARDED };
    }
    let kind = m.piece_before().kind();
    let zone = attacks::promotion_zone(us);
    let both_ways = match kind {
        PieceType::PAWN | PieceType::BISHOP | PieceType::ROOK => {
            zone.contains(m.from()) || zone.contains(m.to())
        }
        PieceType::LANCE => attacks::last_ranks(us, 2).contains(m.to()),
        _ => false,
    };
    if both_ways { 1 + (m.raw16() & 0x3fff) as u32 } else { 0 }
}

//! Mate in one: finds the checks that leave the enemy king no answer, without playing them.

use super::{Bitboard, Position, attacks};
use crate::types::{Color, Move, Piece, PieceType, Square};

impl Position {
    /// A move that mates at once, or [`Move::NONE`]. The side to move must not be in check.
    #[inline]
    pub fn mate_in_one(&self) -> Move {
        if !self.king_square(!self.side).is_some() || self.in_check() {
            return Move::NONE;
        }
        Hunt::new(self).run().unwrap_or(Move::NONE)
    }
}

/// The squares from which a knight, silver or gold of a colour can move to give check to a king, with or
/// without promotion.
pub(super) static CANDIDATES: [[[Bitboard; 128]; 3]; 2] = {
    let kinds = [PieceType::KNIGHT, PieceType::SILVER, PieceType::GOLD];
    let mut t = [[[Bitboard::EMPTY; 128]; 3]; 2];
    let mut c = 0;
    while c < 2 {
        let us = if c == 0 { Color::Black } else { Color::White };
        let zone = attacks::promotion_zone(us).0;
        let mut king = 0;
        while king < 81 {
            let target = Square(king as u8);
            let mut k = 0;
            while k < 3 {
                let back = kinds[k].of(us.flip());
                let plain = attacks::const_steps(back, target);
                let golden =
                    if k == 2 { 0 } else { attacks::const_steps(PieceType::GOLD.of(us.flip()), target).0 };
                let mut from = Bitboard::EMPTY;
                let mut to = 0;
                while to < 81 {
                    let origins = attacks::const_steps(back, Square(to as u8)).0;
                    if plain.0 >> to & 1 != 0 {
                        from.0 |= origins;
                    }
                    if golden >> to & 1 != 0 {
                        // promotion needs one end of the move in the zone
                        from.0 |= if zone >> to & 1 != 0 { origins } else { origins & zone };
                    }
                    to += 1;
                }
                t[c][k][king] = from;
                k += 1;
            }
            king += 1;
        }
        c += 1;
    }
    t
};

/// The search for a mating move. A necessary condition is tested on every check before it is decided exactly:
/// the squares to which the king could flee now must all be covered by the checking piece from its new
/// square, unless the move also opens a line of ours.
struct Hunt<'a> {
    pos: &'a Position,
    us: Color,
    king: Square,
    zone: Bitboard,
    /// The board without the enemy king, which shields nothing once it flees.
    occupied: Bitboard,
    /// What our sliders reach.
    slides: Bitboard,
    /// All that we attack.
    covered: Bitboard,
    /// Neighbours of the king where it would be safe now.
    escapes: Bitboard,
}

impl<'a> Hunt<'a> {
    #[inline]
    fn new(pos: &'a Position) -> Hunt<'a> {
        let us = pos.side;
        let king = pos.king_square(!us);
        // Our sliders do not attack the king, or it would be the other side's turn: nothing hides behind it
        // yet.
        let slides = pos.slide_map(us, pos.occupied());
        let covered = slides | pos.step_map(us);
        Hunt {
            pos,
            us,
            king,
            zone: attacks::promotion_zone(us),
            occupied: pos.occupied() ^ Bitboard::of(king),
            slides,
            covered,
            escapes: attacks::king(king).without(covered | pos.pieces(!us)),
        }
    }

    #[inline]
    fn run(&self) -> Option<Move> {
        self.drops().or_else(|| self.short_range()).or_else(|| self.sliders()).or_else(|| self.discoveries())
    }

    /// The squares where a checking piece would not simply be taken by the king.
    #[inline]
    fn guarded(&self) -> Bitboard {
        self.covered | !attacks::king(self.king)
    }

    #[inline]
    fn drops(&self) -> Option<Move> {
        use PieceType as P;
        let pos = self.pos;
        let hand = pos.hand(self.us);
        if !hand.has_other_than_pawns() {
            return None;
        }
        let empty = !pos.occupied();
        let near = empty & self.guarded();
        // Steppers that do not cover the first escape square need no look.
        let back = |kind: P, sq: Square| attacks::steps(kind.of(!self.us), sq);
        let useful = |kind: P| {
            if self.escapes.is_empty() { Bitboard::ALL } else { back(kind, self.escapes.first()) }
        };
        for kind in [P::GOLD, P::SILVER, P::KNIGHT] {
            if hand.has(kind) {
                let piece = kind.of(self.us);
                let mut to = back(kind, self.king) & near & useful(kind);
                while to.any() {
                    let sq = to.pop();
                    if self.escapes.without(attacks::steps(piece, sq)).is_empty() {
                        let m = Move::drop(piece, sq);
                        if pos.mates(m) {
                            return Some(m);
                        }
                    }
                }
            }
        }
        // From afar, any piece that they can drop in between is an answer.
        let them = pos.hand(!self.us);
        let in_between = [P::GOLD, P::SILVER, P::BISHOP, P::ROOK].into_iter().any(|k| them.has(k));
        let distance = if in_between { attacks::king(self.king) } else { Bitboard::ALL };
        for kind in [P::ROOK, P::BISHOP, P::LANCE] {
            if hand.has(kind) {
                let piece = kind.of(self.us);
                let mut to = pos.check_squares(kind) & near & distance;
                while to.any() {
                    let sq = to.pop();
                    if self.escapes.without(attacks::of(piece, sq, self.occupied)).is_empty() {
                        let m = Move::drop(piece, sq);
                        if pos.mates(m) {
                            return Some(m);
                        }
                    }
                }
            }
        }
        None
    }

    /// Decides one checking move on the board.
    #[inline]
    fn try_move(&self, m: Move) -> Option<Move> {
        let from = m.from();
        if !self.slides.contains(from) {
            let occupied = self.occupied ^ Bitboard::of(from);
            if self.escapes.without(attacks::of(m.piece(), m.to(), occupied)).any() {
                return None;
            }
        }
        (self.pos.is_legal(m) && self.pos.mates(m)).then_some(m)
    }

    /// Tries the moves of a piece to the squares of `to` (where it may go) that give check: `plain` are the
    /// squares from which it would, `promoted` those from which it would when promoted.
    #[inline]
    fn try_piece(
        &self,
        from: Square,
        piece: Piece,
        to: Bitboard,
        plain: Bitboard,
        promoted: Bitboard,
    ) -> Option<Move> {
        let promoting = if self.zone.contains(from) { to } else { to & self.zone };
        let mut checks = promoting & promoted;
        while checks.any() {
            let found = self.try_move(Move::promotion(from, checks.pop(), piece));
            if found.is_some() {
                return found;
            }
        }
        let kind = piece.kind();
        let mut checks = (to & plain).without(attacks::dead_end(self.us, kind));
        if matches!(kind, PieceType::PAWN | PieceType::BISHOP | PieceType::ROOK) {
            checks = checks.without(promoting); // the promoted piece does all that the plain one does
        }
        while checks.any() {
            let found = self.try_move(Move::normal(from, checks.pop(), piece));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Pawns, knights, silvers and all that move like gold.
    #[inline]
    fn short_range(&self) -> Option<Move> {
        use PieceType as P;
        let pos = self.pos;
        let own = pos.pieces(self.us);
        let golden = pos.check_squares(P::GOLD);
        // Every square that our pieces reach is covered, so being taken is left to the exact test.
        let candidates = &CANDIDATES[self.us.index()];
        let row = self.king.index() & 127;
        let mut from = own
            & ((candidates[0][row] & pos.of_kind(P::KNIGHT))
                | (candidates[1][row] & pos.of_kind(P::SILVER))
                | (candidates[2][row] & pos.golds()));
        while from.any() {
            let sq = from.pop();
            let piece = pos.piece_on(sq);
            let to = attacks::steps(piece, sq).without(own);
            let found = match piece.kind() {
                kind @ (P::KNIGHT | P::SILVER) => {
                    self.try_piece(sq, piece, to, pos.check_squares(kind), golden)
                }
                _ => self.try_piece(sq, piece, to, golden, Bitboard::EMPTY),
            };
            if found.is_some() {
                return found;
            }
        }
        let plain = pos.check_squares(P::PAWN);
        let pushes = attacks::step_forward(self.us, pos.of_kind(P::PAWN) & own).without(own);
        let mut to = pushes & ((golden & self.zone) | plain);
        while to.any() {
            let sq = to.pop();
            let from = Square(if self.us == Color::Black { sq.0 + 1 } else { sq.0 - 1 });
            let found = self.try_piece(from, P::PAWN.of(self.us), Bitboard::of(sq), plain, golden);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    #[inline]
    fn sliders(&self) -> Option<Move> {
        use PieceType as P;
        let pos = self.pos;
        let own = pos.pieces(self.us);
        let lances = pos.of_kind(P::LANCE);
        let bishops = pos.of_kind(P::BISHOP) | pos.of_kind(P::HORSE);
        let rooks = pos.of_kind(P::ROOK) | pos.of_kind(P::DRAGON);
        let mut from = (lances | bishops | rooks) & own;
        while from.any() {
            let sq = from.pop();
            let piece = pos.piece_on(sq);
            let kind = piece.kind();
            let plain = pos.check_squares(kind);
            let promoted = match kind {
                P::HORSE | P::DRAGON => Bitboard::EMPTY,
                kind => pos.check_squares(kind.promoted()),
            };
            // most cannot check even on an empty board
            let lines = match kind {
                P::LANCE => attacks::forward(self.us, sq),
                P::BISHOP | P::HORSE => attacks::diagonals(sq),
                _ => attacks::cross(sq),
            };
            if ((lines | attacks::steps(piece, sq)) & (plain | promoted)).without(own).is_empty() {
                continue;
            }
            let to = attacks::of(piece, sq, pos.occupied()).without(own);
            let found = self.try_piece(sq, piece, to, plain, promoted);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Moves that open a line to the king.
    #[inline]
    fn discoveries(&self) -> Option<Move> {
        let pos = self.pos;
        let own = pos.pieces(self.us);
        let mut from = pos.blockers(!self.us) & own;
        while from.any() {
            let sq = from.pop();
            let piece = pos.piece_on(sq);
            let kind = piece.kind();
            let to = attacks::of(piece, sq, pos.occupied()).without(own | attacks::line(self.king, sq));
            for target in to {
                let promotes = kind.can_promote() && (self.zone.contains(sq) || self.zone.contains(target));
                let moves = [
                    promotes.then(|| Move::promotion(sq, target, piece)),
                    (!attacks::dead_end(self.us, kind).contains(target))
                        .then(|| Move::normal(sq, target, piece)),
                ];
                for m in moves.into_iter().flatten() {
                    if pos.is_legal(m) && pos.mates(m) {
                        return Some(m);
                    }
                }
            }
        }
        None
    }
}

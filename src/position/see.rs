//! Static exchange evaluation: who gains when both sides keep capturing on one square, cheapest piece first.

use super::{Bitboard, Position, attacks, material::PIECE_VALUE};
use crate::types::{Color, Move, PieceType, Square, Value};

impl Position {
    /// Whether the exchange that a pseudo-legal move starts on its target gains at least `threshold`.
    /// Promotions count nothing; pieces pinned by a slider that is still there do not take part.
    pub fn see_ge(&self, m: Move, threshold: Value) -> bool {
        let to = m.to();
        let victim = if m.is_drop() { 0 } else { PIECE_VALUE[self.piece_on(to).kind().index()] };
        // What we have won so far against the threshold, from the side that has just captured.
        let mut swap = victim - threshold;
        if swap < 0 {
            return false;
        }
        let mover = if m.is_drop() { m.dropped() } else { m.piece_before().kind() };
        swap = PIECE_VALUE[mover.index()] - swap;
        if swap <= 0 {
            return true;
        }
        // A captured piece pins no longer. (Whether the target itself is occupied does not matter to its
        // attackers.)
        let mut occupied = self.occupied() ^ Bitboard::of(to);
        if !m.is_drop() {
            occupied ^= Bitboard::of(m.from());
        }
        let mut side = self.side;
        let mut attackers = self.both_attackers(to, occupied);
        let mut result = true;
        loop {
            side = !side;
            attackers &= occupied;
            let mut ours = attackers & self.pieces(side);
            if ours.is_empty() {
                break;
            }
            if (self.pinners(!side) & occupied).any() {
                ours = ours.without(self.blockers(side));
                if ours.is_empty() {
                    break;
                }
            }
            result = !result;
            let Some((kind, from)) = self.cheapest(ours) else {
                // Only the king is left to capture: it may, unless the other side still attacks the square.
                return if attackers.without(self.pieces(side)).any() { !result } else { result };
            };
            swap = PIECE_VALUE[kind.index()] - swap;
            if swap < i32::from(result) {
                break;
            }
            occupied ^= Bitboard::of(from);
            attackers |= self.uncovered(to, from, occupied);
        }
        result
    }

    /// The pieces of both colours that attack `sq`.
    #[inline]
    fn both_attackers(&self, sq: Square, occupied: Bitboard) -> Bitboard {
        let file = attacks::rook_file(sq, occupied).into();
        let forward = |by: Color| self.forward_attackers(by, sq, file) & self.pieces(by);
        (forward(Color::Black) | forward(Color::White) | self.even_attackers(sq, occupied, file)).into()
    }

    /// The least valuable of some pieces, the king excepted; the value class gives its kind.
    #[inline]
    fn cheapest(&self, pieces: Bitboard) -> Option<(PieceType, Square)> {
        use PieceType as P;
        for kind in [P::PAWN, P::LANCE, P::KNIGHT, P::SILVER] {
            let b = pieces & self.of_kind(kind);
            if b.any() {
                return Some((kind, b.first()));
            }
        }
        let b = pieces & self.golds();
        if b.any() {
            return Some((P::GOLD, b.first()));
        }
        for kind in [P::BISHOP, P::ROOK, P::HORSE, P::DRAGON] {
            let b = pieces & self.of_kind(kind);
            if b.any() {
                return Some((kind, b.first()));
            }
        }
        None
    }

    /// The slider that attacks `to` through the square `from`, which has just been vacated. (Not inlined,
    /// because most exchanges end before.)
    #[inline(never)]
    fn uncovered(&self, to: Square, from: Square, occupied: Bitboard) -> Bitboard {
        use PieceType as P;
        let line = attacks::line(to, from);
        if line.is_empty() {
            return line; // a knight's move
        }
        if attacks::diagonals(to).contains(from) {
            return attacks::bishop(to, occupied) & line & (self.of_kind(P::BISHOP) | self.of_kind(P::HORSE));
        }
        let straight = self.of_kind(P::ROOK) | self.of_kind(P::DRAGON);
        if attacks::file(to).contains(from) {
            let lances = self.of_kind(P::LANCE);
            let upward = lances & self.colors[0] & attacks::forward(Color::White, to);
            let downward = lances & self.colors[1] & attacks::forward(Color::Black, to);
            attacks::rook_file(to, occupied) & (straight | upward | downward)
        } else {
            attacks::rook_rank(to, occupied) & straight
        }
    }
}

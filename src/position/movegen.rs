//! Move generation: one generator for all kinds of targets, which feeds a [`Sink`] that lists moves or only
//! counts them.
//!
//! The order of the moves matters: near the leaves most quiet moves have no history worth sorting by, and few
//! are looked at. Pawns, lances, knights, silvers; bishops and rooks; golds, horses, dragons and the king;
//! drops. It is YaneuraOu's order, so that the two engines can be compared node by node.
#![allow(unsafe_code)] // appending a set of moves with one capacity check instead of one for each move

use super::{Bitboard, Position, attacks};
use crate::types::{Color, Move, MoveList, Piece, PieceType, ScoredMove, Square};

/// Takes whole sets of moves that differ in their target only.
pub(super) trait Sink {
    /// The moves `base + to` for every `to`.
    fn moves(&mut self, base: u32, to: Bitboard);
    /// One move.
    fn one(&mut self, mv: u32);
    /// For every square `to`, the moves `base + to` of all `bases` (at most 6).
    fn each(&mut self, bases: &[u32], to: Bitboard);
}

/// A [`ScoredMove`] with score 0 as it lies in memory: one store instead of two, and sixteen bytes at a time
/// for drops.
const fn packed(mv: u32) -> u64 {
    if cfg!(target_endian = "little") { mv as u64 } else { (mv as u64) << 32 }
}

const _: () = assert!(size_of::<ScoredMove>() == size_of::<u64>());

/// Appends the move `base + square` for every square, without a bounds check for each.
#[inline(never)]
fn append(list: &mut MoveList, base: u32, squares: Bitboard) {
    if list.remaining_capacity() < Square::NUM {
        return append_checked(list, &[base], squares);
    }
    let on_board = squares & Bitboard::ALL;
    let len = list.len();
    let mut n = 0;
    // SAFETY: there is room for 81 moves, and `on_board` leaves at most 81 squares; `ScoredMove` is
    // `repr(C)`, eight bytes that are valid whatever they hold.
    unsafe {
        let end = list.as_mut_ptr().add(len).cast::<u64>();
        on_board.into_iter().for_each(|sq| {
            end.add(n).write_unaligned(packed(base + u32::from(sq.0)));
            n += 1;
        });
        list.set_len(len + n);
    }
}

/// Appends `N` moves for every square.
#[inline]
fn append_each<const N: usize>(list: &mut MoveList, bases: &[u32], squares: Bitboard) {
    let Some(bases) = bases.first_chunk::<N>() else { return };
    if list.remaining_capacity() < N * Square::NUM {
        return append_checked(list, bases, squares);
    }
    let bases = bases.map(packed);
    let on_board = squares & Bitboard::ALL;
    let len = list.len();
    let mut n = 0;
    // SAFETY: there is room for N moves on each of 81 squares, and `on_board` leaves at most 81; `ScoredMove`
    // is `repr(C)`, eight bytes that are valid whatever they hold.
    unsafe {
        let end = list.as_mut_ptr().add(len).cast::<u64>();
        on_board.into_iter().for_each(|sq| {
            let to = packed(u32::from(sq.0));
            end.add(n).cast::<[u64; N]>().write_unaligned(bases.map(|base| base | to));
            n += N;
        });
        list.set_len(len + n);
    }
}

/// The same for a list that is nearly full.
#[cold]
#[inline(never)]
fn append_checked(list: &mut MoveList, bases: &[u32], squares: Bitboard) {
    for sq in squares {
        for base in bases {
            list.push(ScoredMove { mv: Move(base + u32::from(sq.0)), score: 0 });
        }
    }
}

impl Sink for MoveList {
    #[inline]
    fn moves(&mut self, base: u32, to: Bitboard) {
        if to.any() {
            append(self, base, to);
        }
    }

    #[inline]
    fn one(&mut self, mv: u32) {
        self.push(ScoredMove { mv: Move(mv), score: 0 });
    }

    #[inline]
    fn each(&mut self, bases: &[u32], to: Bitboard) {
        match bases.len() {
            0 => {}
            1 => append_each::<1>(self, bases, to),
            2 => append_each::<2>(self, bases, to),
            3 => append_each::<3>(self, bases, to),
            4 => append_each::<4>(self, bases, to),
            5 => append_each::<5>(self, bases, to),
            _ => append_each::<6>(self, bases, to),
        }
    }
}

/// Counts moves without writing them down.
pub(super) struct Count(pub(super) u64);

impl Sink for Count {
    #[inline]
    fn moves(&mut self, _: u32, to: Bitboard) {
        self.0 += u64::from(to.count());
    }

    #[inline]
    fn one(&mut self, _: u32) {
        self.0 += 1;
    }

    #[inline]
    fn each(&mut self, bases: &[u32], to: Bitboard) {
        self.0 += bases.len() as u64 * u64::from(to.count());
    }
}

/// The squares where moves may end.
#[derive(Clone, Copy)]
struct Targets {
    pieces: Bitboard,
    king: Bitboard,
    drops: Bitboard,
}

const fn from_bits(from: Square) -> u32 {
    (from.0 as u32) << 7
}

const fn piece_bits(piece: Piece) -> u32 {
    (piece.0 as u32) << 16
}

const PROMOTE: u32 = 1 << 15 | 8 << 16;
const DROP: u32 = 1 << 14;

impl Position {
    /// All captures, promoting or not, when not in check; pseudo-legal. `all` includes pointless
    /// non-promotions.
    pub fn captures(&self, all: bool, list: &mut MoveList) {
        let them = self.pieces(!self.side);
        self.dispatch::<_, false>(all, Targets { pieces: them, king: them, drops: Bitboard::EMPTY }, list);
    }

    /// All other moves (promotions and drops among them) when not in check; pseudo-legal.
    pub fn quiets(&self, all: bool, list: &mut MoveList) {
        let empty = !self.occupied();
        self.dispatch::<_, false>(all, Targets { pieces: empty, king: empty, drops: empty }, list);
    }

    /// Answers to check; pseudo-legal.
    pub fn evasions(&self, all: bool, list: &mut MoveList) {
        self.dispatch::<_, false>(all, self.evasion_targets(), list);
    }

    /// All legal moves; `all` includes pointless non-promotions.
    pub fn legal_moves(&self, all: bool) -> MoveList {
        let mut list = MoveList::new();
        self.append_legal_moves(all, &mut list);
        list
    }

    /// As [`legal_moves`](Self::legal_moves), to the end of a list.
    pub fn append_legal_moves(&self, all: bool, list: &mut MoveList) {
        self.dispatch::<_, true>(all, self.all_targets(), list);
    }

    /// The number of legal moves, pointless non-promotions included.
    pub(super) fn count_legal_moves(&self) -> u64 {
        let mut count = Count(0);
        self.dispatch::<_, true>(true, self.all_targets(), &mut count);
        count.0
    }

    /// Whether the side to move has any legal move. If not, it has lost: there is no stalemate draw in shogi.
    pub fn has_legal_move(&self) -> bool {
        self.count_legal_moves() != 0
    }

    #[inline]
    fn all_targets(&self) -> Targets {
        if self.in_check() {
            self.evasion_targets()
        } else {
            let not_ours = !self.pieces(self.side);
            Targets { pieces: not_ours, king: not_ours, drops: !self.occupied() }
        }
    }

    #[inline]
    fn evasion_targets(&self) -> Targets {
        let checkers = self.checkers();
        let king = !self.pieces(self.side);
        if checkers.more_than_one() {
            return Targets { pieces: Bitboard::EMPTY, king, drops: Bitboard::EMPTY };
        }
        let between = attacks::between(self.king_square(self.side), checkers.first());
        Targets { pieces: between | checkers, king, drops: between }
    }

    #[inline]
    fn dispatch<S: Sink, const LEGAL: bool>(&self, all: bool, t: Targets, sink: &mut S) {
        match (self.side, all) {
            (Color::Black, false) => self.generate::<S, 0, false, LEGAL>(t, sink),
            (Color::Black, true) => self.generate::<S, 0, true, LEGAL>(t, sink),
            (Color::White, false) => self.generate::<S, 1, false, LEGAL>(t, sink),
            (Color::White, true) => self.generate::<S, 1, true, LEGAL>(t, sink),
        }
    }

    fn generate<S: Sink, const US: usize, const ALL: bool, const LEGAL: bool>(
        &self,
        t: Targets,
        sink: &mut S,
    ) {
        use PieceType as P;
        let us = if US == 0 { Color::Black } else { Color::White };
        let king = self.kings[US];
        let king_moves = |sink: &mut S| {
            let mut to = attacks::king(king) & t.king;
            if LEGAL {
                // The king itself must not hide the squares behind it.
                to = to.without(self.attack_map(!us, self.occupied() ^ Bitboard::of(king)));
            }
            sink.moves(from_bits(king) | piece_bits(P::KING.of(us)), to);
        };
        let in_check = self.in_check();
        if in_check {
            king_moves(sink);
        }
        if t.pieces.any() {
            self.board_moves::<S, US, ALL, LEGAL>(t.pieces, sink);
        }
        // otherwise it was among the pieces
        if LEGAL && !in_check && king.is_some() {
            king_moves(sink);
        }
        if t.drops.any() && !self.hands[US].is_empty() {
            self.drop_moves::<S, US>(t.drops, sink);
        }
    }

    #[inline]
    fn board_moves<S: Sink, const US: usize, const ALL: bool, const LEGAL: bool>(
        &self,
        target: Bitboard,
        sink: &mut S,
    ) {
        use PieceType as P;
        let us = if US == 0 { Color::Black } else { Color::White };
        let own = self.colors[US];
        let occupied = self.occupied();
        let zone = attacks::promotion_zone(us);
        let king = self.kings[US];
        let pinned = if LEGAL { self.blockers(us) & own } else { Bitboard::EMPTY };
        // Where a pinned piece may go: along the line through its king.
        let allowed = |from: Square, to: Bitboard| {
            if LEGAL && pinned.contains(from) { to & attacks::line(king, from) } else { to }
        };
        let base = |from: Square, kind: P| from_bits(from) | piece_bits(kind.of(us));

        let mut pawns = self.of_kind(P::PAWN) & own;
        if LEGAL {
            // A pinned pawn on its king's file is pinned along the file.
            pawns = pawns.without(pinned) | (pawns & pinned & attacks::file(king));
        }
        let pushes = Bitboard(if US == 0 { pawns.0 >> 1 } else { pawns.0 << 1 }) & target;
        // the origin follows from the target
        let step = if US == 0 { 128 } else { 128u32.wrapping_neg() };
        let pawn = piece_bits(P::PAWN.of(us)).wrapping_add(step);
        pushes.into_iter().for_each(|to| {
            let mv = pawn.wrapping_add(u32::from(to.0) * 129);
            let promotes = zone.contains(to);
            sink.one(if promotes { mv + PROMOTE } else { mv });
            if ALL && promotes && !attacks::last_ranks(us, 1).contains(to) {
                sink.one(mv);
            }
        });

        for from in self.of_kind(P::LANCE) & own {
            let to = allowed(from, attacks::lance(us, from, occupied) & target);
            sink.moves(base(from, P::LANCE) | PROMOTE, to & zone);
            sink.moves(base(from, P::LANCE), to.without(attacks::last_ranks(us, if ALL { 1 } else { 2 })));
        }

        let knights = self.of_kind(P::KNIGHT) & own;
        // a pinned knight never moves
        for from in knights.without(pinned) {
            let to = attacks::steps(P::KNIGHT.of(us), from) & target;
            to.into_iter().for_each(|to| {
                let mv = base(from, P::KNIGHT) + u32::from(to.0);
                if zone.contains(to) {
                    sink.one(mv + PROMOTE);
                }
                if !attacks::last_ranks(us, 2).contains(to) {
                    sink.one(mv);
                }
            });
        }

        for from in self.of_kind(P::SILVER) & own {
            let to = allowed(from, attacks::steps(P::SILVER.of(us), from) & target);
            let promoting = if zone.contains(from) { to } else { to & zone };
            let silver = base(from, P::SILVER);
            sink.each(&[silver + PROMOTE, silver], promoting);
            sink.moves(silver, to.without(promoting));
        }

        for from in (self.of_kind(P::BISHOP) | self.of_kind(P::ROOK)) & own {
            let kind = self.piece_on(from).kind();
            let slide = if kind == P::BISHOP { attacks::bishop } else { attacks::rook };
            let to = allowed(from, slide(from, occupied) & target);
            let promoting = if zone.contains(from) { to } else { to & zone };
            let slider = base(from, kind);
            let variants = [slider + PROMOTE, slider];
            sink.each(&variants[..if ALL { 2 } else { 1 }], promoting);
            sink.moves(slider, to.without(promoting));
        }

        let royal = if LEGAL || self.in_check() { Bitboard::EMPTY } else { self.of_kind(P::KING) };
        let rest = self.golds() | self.of_kind(P::HORSE) | self.of_kind(P::DRAGON) | royal;
        for from in rest & own {
            let piece = self.piece_on(from);
            let mut reach = attacks::steps(piece, from);
            match piece.kind() {
                P::HORSE => reach |= attacks::bishop(from, occupied),
                P::DRAGON => reach |= attacks::rook(from, occupied),
                _ => {}
            }
            sink.moves(from_bits(from) | piece_bits(piece), allowed(from, reach & target));
        }
    }

    #[inline]
    fn drop_moves<S: Sink, const US: usize>(&self, empty: Bitboard, sink: &mut S) {
        use PieceType as P;
        let us = if US == 0 { Color::Black } else { Color::White };
        let hand = self.hands[US];
        let last = attacks::last_ranks(us, 1);
        let last_two = attacks::last_ranks(us, 2);
        let base = |kind: P| DROP | (kind.0 as u32) << 7 | piece_bits(kind.of(us));

        if hand.has(P::PAWN) {
            let pawns = self.of_kind(P::PAWN) & self.colors[US];
            let mut to = empty & files_without(pawns).without(last);
            let mating = attacks::steps(P::PAWN.of(!us), self.kings[1 - US]) & to;
            if mating.any() && self.is_drop_pawn_mate(mating.first()) {
                to ^= mating;
            }
            sink.moves(base(P::PAWN), to);
        }
        // Knights and lances first, so that the far ranks take a tail of the array.
        let mut bases = [0; 6];
        let mut n = 0;
        let mut push = |kind: P| {
            if hand.has(kind) {
                bases[n] = base(kind);
                n += 1;
            }
            n
        };
        let without_knight = push(P::KNIGHT);
        let without_lance = push(P::LANCE);
        push(P::SILVER);
        push(P::GOLD);
        push(P::BISHOP);
        push(P::ROOK);
        if n == 0 {
            return;
        }
        if without_lance == 0 {
            sink.each(&bases[..n], empty);
            return;
        }
        sink.each(&bases[without_lance..n], empty & last);
        sink.each(&bases[without_knight..n], empty & last_two.without(last));
        sink.each(&bases[..n], empty.without(last_two));
    }
}

/// All squares of the files that hold none of these pawns.
#[inline]
pub(super) fn files_without(pawns: Bitboard) -> Bitboard {
    // In nine bits: any pawn on the other eight ranks carries into bit 8, however many there are.
    const LAST: u128 = Bitboard::RANK_9.0;
    const OTHERS: u128 = Bitboard::ALL.0 ^ LAST;
    let free = LAST & !(((pawns.0 & OTHERS) + OTHERS) | pawns.0);
    Bitboard((free << 1) - (free >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_sees_every_rank() {
        for rank in 0..9 {
            for skip in 0..9u8 {
                let pawns: Bitboard = (0..9).filter(|&f| f != skip).map(|f| Square::new(f, rank)).collect();
                assert_eq!(files_without(pawns), Bitboard::file(skip));
            }
            // mate problems may have two pawns on a file
            for other in 0..9 {
                let pawns = [Square::new(4, rank), Square::new(4, other)].into_iter().collect();
                assert_eq!(files_without(pawns), !Bitboard::file(4));
            }
        }
        assert_eq!(files_without(Bitboard::EMPTY), Bitboard::ALL);
    }
}

//! The position under search with what mate search needs of its line: depth, path, repetitions.

use super::hands;
use super::visits::Visits;
use crate::position::Position;
use crate::types::{Color, Hand, Key, Move, MoveList, PieceType};

/// A position, and the line from the root to it.
pub(super) struct Node {
    pub pos: Position,
    attacker: Color,
    visits: Visits,
    moves: Vec<Move>,
    /// One a ply, the root's first: a key of the moves played and when.
    paths: Vec<Key>,
    /// Makes the keys of different problems different: the same board with the same hand of the attacker is
    /// another position if the defender's hand or the attacking side differs.
    salt: Key,
}

impl Node {
    /// The root; the side to move attacks. `run` distinguishes the paths of different searches.
    pub(super) fn new(pos: Position, run: u64) -> Node {
        let attacker = pos.side_to_move();
        let salt = mix(total(&pos) << 1 | attacker.index() as u64);
        Node { pos, attacker, visits: Visits::new(), moves: Vec::new(), paths: vec![mix(run)], salt }
    }

    #[inline]
    pub(super) fn attacking(&self) -> bool {
        self.pos.side_to_move() == self.attacker
    }

    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.moves.len()
    }

    /// The moves from the root.
    pub(super) fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The attacker's hand.
    #[inline]
    pub(super) fn hand(&self) -> Hand {
        self.pos.hand(self.attacker)
    }

    #[inline]
    pub(super) fn board(&self) -> Key {
        self.pos.board_key() ^ self.salt
    }

    #[inline]
    pub(super) fn board_after(&self, m: Move) -> Key {
        self.pos.board_key_after(m) ^ self.salt
    }

    #[inline]
    pub(super) fn path(&self) -> Key {
        self.paths[self.paths.len() - 1]
    }

    #[inline]
    pub(super) fn path_after(&self, m: Move) -> Key {
        self.path() ^ mix(u64::from(m.0) << 16 | self.depth() as u64)
    }

    /// The attacker's hand after a move of either side.
    #[inline]
    pub(super) fn hand_after(&self, m: Move) -> Hand {
        if self.attacking() { hands::after(&self.pos, m, self.hand()) } else { self.hand() }
    }

    /// All checks for the attacker, all legal moves for the defender, into an empty list.
    #[inline]
    pub(super) fn generate(&self, list: &mut MoveList) {
        if self.attacking() { self.pos.checks(list) } else { self.pos.append_legal_moves(true, list) }
    }

    /// Plays a move that [`generate`](Self::generate) gave.
    pub(super) fn play(&mut self, m: Move) {
        let path = self.path_after(m);
        self.visits.enter(self.board(), self.hand(), self.depth());
        let gives_check = self.attacking() || self.pos.gives_check(m);
        self.paths.push(path);
        self.moves.push(m);
        self.pos.do_unrecorded(m, gives_check);
    }

    pub(super) fn take_back(&mut self) {
        self.pos.undo_unrecorded();
        self.moves.pop();
        self.paths.pop();
        self.visits.leave(self.board(), self.hand());
    }

    /// The depth of a position on the line, the current one included, with this board and at least this
    /// hand of the attacker.
    #[inline]
    pub(super) fn returns_to(&self, board: Key, hand: Hand) -> Option<u16> {
        self.visits.no_better(board, hand)
    }

    /// Whether this position is on the line.
    #[inline]
    pub(super) fn passed(&self, board: Key, hand: Hand) -> bool {
        (board == self.board() && hand == self.hand()) || self.visits.same(board, hand).is_some()
    }
}

/// Scatters a number (the finish of SplitMix64).
fn mix(x: u64) -> Key {
    let x = x.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// The pieces of a position by kind, board and hands together.
fn total(pos: &Position) -> u64 {
    PieceType::HAND.iter().fold(0, |total, &kind| {
        let held = pos.hand(Color::Black).count(kind) + pos.hand(Color::White).count(kind);
        let on_board = pos.board().iter().filter(|p| p.is_some() && p.kind().unpromoted() == kind).count();
        (total << 5) + u64::from(held) + on_board as u64
    })
}

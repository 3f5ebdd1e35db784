//! Playing moves and taking them back.

use super::occurrences::EarlierOccurrences;
use super::{Bitboard, DirtyPieces, Keys, Position, Slot, State, zobrist};
use crate::types::{Color, Key, Move, Piece, PieceType};

impl Position {
    /// Plays a legal move. See [`do_move_with`](Self::do_move_with) when it is known whether it gives check.
    #[inline]
    pub fn do_move(&mut self, m: Move) -> DirtyPieces {
        let gives_check = self.gives_check(m);
        self.do_move_with(m, gives_check)
    }

    /// Plays a legal move; `gives_check` must be whether it gives check.
    #[inline(always)]
    pub fn do_move_with(&mut self, m: Move, gives_check: bool) -> DirtyPieces {
        self.play::<true>(m, gives_check)
    }

    /// As [`do_move_with`](Self::do_move_with), but without repetitions: none is looked up or recorded, so
    /// that moves of long lines cost no more than others. Undo it with
    /// [`undo_unrecorded`](Self::undo_unrecorded).
    pub fn do_unrecorded(&mut self, m: Move, gives_check: bool) {
        self.play::<false>(m, gives_check);
    }

    #[inline(always)]
    fn play<const RECORD: bool>(&mut self, m: Move, gives_check: bool) -> DirtyPieces {
        debug_assert!(m.is_some() && gives_check == self.gives_check(m));
        let us = self.side;
        let to = m.to();
        let piece = m.piece();
        let prev = self.state();
        let mut keys = prev.keys;
        let plies_from_null = prev.plies_from_null + 1;
        let mut continuous_check = prev.continuous_check;
        let mut captured = Piece::NONE;
        let mut changes = DirtyPieces::default();

        if m.is_drop() {
            let kind = piece.kind();
            let hand = &mut self.hands[us.index()];
            changes.count = 1;
            changes.removed[0] = Slot::hand(us, kind, hand.count(kind));
            changes.added[0] = Slot::board(piece, to);
            hand.sub(kind);
            keys.take_from_hand(us, kind);
        } else {
            let from = m.from();
            let before = m.piece_before();
            captured = self.board[to.index()];
            if before.kind() == PieceType::KING {
                self.kings[us.index()] = to;
                changes.king = Some(us);
                changes.king_move = [Slot::board(piece, from), Slot::board(piece, to)];
            } else {
                changes.count = 1;
                changes.removed[0] = Slot::board(before, from);
                changes.added[0] = Slot::board(piece, to);
            }
            if captured.is_some() {
                let kind = captured.kind().unpromoted();
                let hand = &mut self.hands[us.index()];
                hand.add(kind);
                let i = changes.count as usize & 1;
                changes.removed[i] = Slot::board(captured, to);
                changes.added[i] = Slot::hand(us, kind, hand.count(kind));
                changes.count += 1;
                keys.add_to_hand(us, kind, 1);
                keys.take(captured, to);
                self.toggle(captured, Bitboard::of(to));
            }
            self.board[from.index()] = Piece::NONE;
            self.toggle(before, Bitboard::of(from));
            keys.take(before, from);
        }
        self.put(piece, to);
        keys.put(piece, to);
        keys.board ^= zobrist::side();

        let mut checkers = Bitboard::EMPTY;
        if gives_check {
            continuous_check[us.index()] += 2;
            checkers = self.attackers(us, self.kings[(!us).index()], self.occupied());
        } else {
            continuous_check[us.index()] = 0;
        }
        self.side = !us;
        self.ply = self.ply.wrapping_add(1);
        let repetition =
            if RECORD { self.record(keys.board, plies_from_null) } else { EarlierOccurrences::NOTHING };
        self.push_state(m, captured, keys, checkers, plies_from_null, continuous_check, repetition);
        changes
    }

    /// Finds what the position on the board repeats, and records the position.
    #[inline]
    pub(super) fn record(&mut self, board_key: Key, plies_from_null: u32) -> EarlierOccurrences {
        let repetition = self.find_repetition(board_key, plies_from_null);
        self.occurrences.push(board_key, self.hands[self.side.index()]);
        repetition
    }

    /// Completes the state of the position on the board and pushes it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // the fields of a state
    pub(super) fn push_state(
        &mut self,
        mv: Move,
        captured: Piece,
        keys: Keys,
        checkers: Bitboard,
        plies_from_null: u32,
        continuous_check: [u32; 2],
        repetition: EarlierOccurrences,
    ) {
        let (black_blockers, white_pinners) = self.find_blockers(Color::Black);
        let (white_blockers, black_pinners) = self.find_blockers(Color::White);
        let check_lines = self.find_check_lines();
        self.states.push(State {
            keys,
            checkers,
            blockers: [black_blockers, white_blockers],
            pinners: [black_pinners, white_pinners],
            check_lines,
            mv,
            captured,
            plies_from_null,
            continuous_check,
            repetition,
        });
    }

    /// Takes back the last move; the root position stays as it is.
    #[inline(always)]
    pub fn undo_move(&mut self) {
        if self.states.len() < 2 {
            return;
        }
        self.occurrences.pop();
        self.take_back();
    }

    /// Takes back a move that [`do_unrecorded`](Self::do_unrecorded) played.
    pub fn undo_unrecorded(&mut self) {
        if self.states.len() >= 2 {
            self.take_back();
        }
    }

    #[inline(always)]
    fn take_back(&mut self) {
        let State { mv: m, captured, .. } = *self.state();
        debug_assert!(m.is_some());
        let us = !self.side;
        let to = m.to();
        let piece = m.piece();
        self.toggle(piece, Bitboard::of(to));
        self.board[to.index()] = captured;
        if m.is_drop() {
            self.hands[us.index()].add(piece.kind());
        } else {
            let from = m.from();
            let before = m.piece_before();
            self.put(before, from);
            if before.kind() == PieceType::KING {
                self.kings[us.index()] = from;
            }
            if captured.is_some() {
                self.toggle(captured, Bitboard::of(to));
                self.hands[us.index()].sub(captured.kind().unpromoted());
            }
        }
        self.side = us;
        self.ply = self.ply.wrapping_sub(1);
        self.states.pop();
    }

    /// Passes the turn; the side to move must not be in check. The move number counts it.
    pub fn do_null_move(&mut self) {
        debug_assert!(!self.in_check());
        let st = self.state();
        let mut keys = st.keys;
        keys.board ^= zobrist::side();
        let mut continuous_check = st.continuous_check;
        continuous_check[self.side.index()] = 0;
        self.side = !self.side;
        self.ply = self.ply.wrapping_add(1);
        let repetition = self.record(keys.board, 0);
        self.push_state(Move::NULL, Piece::NONE, keys, Bitboard::EMPTY, 0, continuous_check, repetition);
    }

    /// Takes back a null move.
    pub fn undo_null_move(&mut self) {
        debug_assert!(self.last_move() == Move::NULL);
        if self.states.len() < 2 {
            return;
        }
        self.side = !self.side;
        self.ply = self.ply.wrapping_sub(1);
        self.states.pop();
        self.occurrences.pop();
    }

    /// The key of the board and the side to move after a legal move.
    #[inline]
    pub fn board_key_after(&self, m: Move) -> Key {
        let to = m.to();
        let mut board = self.board_key() ^ zobrist::side() ^ zobrist::board(m.piece(), to);
        if !m.is_drop() {
            board ^= zobrist::board(m.piece_before(), m.from());
            let captured = self.piece_on(to);
            if captured.is_some() {
                board ^= zobrist::board(captured, to);
            }
        }
        board
    }

    /// The key after a move, for prefetching; exact for every legal move.
    #[inline]
    pub fn key_after(&self, m: Move) -> Key {
        let us = self.side;
        let to = m.to();
        let mut board = self.board_key() ^ zobrist::side() ^ zobrist::board(m.piece(), to);
        let mut hand = self.hand_key();
        if m.is_drop() {
            hand = hand.wrapping_sub(zobrist::hand(us, m.piece().kind()));
        } else {
            board ^= zobrist::board(m.piece_before(), m.from());
            let captured = self.piece_on(to);
            if captured.is_some() {
                board ^= zobrist::board(captured, to);
                hand = hand.wrapping_add(zobrist::hand(us, captured.kind().unpromoted()));
            }
        }
        board ^ hand
    }

    /// The key of the opponent's pieces after a move, for prefetching; exact for every legal move.
    #[inline]
    pub fn opponent_key_after(&self, m: Move) -> Key {
        let (key, to) = (self.color_key(!self.side), m.to());
        if self.is_capture(m) { key.wrapping_sub(zobrist::board(self.piece_on(to), to)) } else { key }
    }
}

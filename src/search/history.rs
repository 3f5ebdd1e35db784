//! The histories: statistics of the search about moves ([`Histories`], one set a thread; [`SharedHistories`],
//! one set a group of threads) and about the errors of the evaluation (correction histories).
//!
//! Every entry moves towards a bonus and decays in proportion to it ("gravity"), so it stays within its
//! limit. Tables are flat and indexed by arithmetic; a piece index is the piece *after* the move, and moves
//! index by their 16 bits, so drops of different kinds are distinct everywhere.

use super::params as p;
use crate::position::{Bitboard, Position};
use crate::support::memory::{HugeBuf, OutOfMemory, prefetch};
use crate::types::{Color, Move, Piece, PieceType, Square};
use std::sync::atomic::{AtomicI16, Ordering::Relaxed};

/// (piece, square) pairs.
pub const PIECE_TO: usize = Piece::NUM * 81;
/// Plies from the root with a history of their own.
pub const LOW_PLIES: usize = 5;

const MOVES16: usize = 1 << 16;
/// Whether a move leaves and whether it enters an attacked square.
const MAIN_CASES: usize = 4;
/// Pawn structures and corrections in the shared histories of up to [`THREADS`] threads; powers of two.
const PAWN_ENTRIES: usize = 1024;
const CORRECTION_ENTRIES: usize = 1 << 14;
/// Threads of a group for which the shared histories have their smallest size. They search the same tree, so
/// most of what they write belongs to the same keys.
const THREADS: usize = 8;

const MAIN_LIMIT: i32 = 7183;
const CAPTURE_LIMIT: i32 = 10692;
const CONTINUATION_LIMIT: i32 = 30000;
const PAWN_LIMIT: i32 = 8192;
/// Bound of a correction entry.
pub const CORRECTION_LIMIT: i32 = 1024;

const CAPTURE_INIT: i16 = -678;
const PAWN_INIT: i16 = -1238;
const CONTINUATION_INIT: i16 = -523;
const CONT_CORRECTION_INIT: i16 = 6;
const LOW_PLY_INIT: i16 = 98;

/// A piece on a square as a table index.
#[inline]
pub fn piece_to(piece: Piece, to: Square) -> usize {
    piece.index() * 81 + to.index()
}

#[inline]
fn pull(old: i32, bonus: i32, limit: i32) -> i16 {
    let b = bonus.clamp(-limit, limit);
    (old + b - old * b.abs() / limit) as i16
}

#[inline]
fn update(entry: &mut i16, bonus: i32, limit: i32) {
    *entry = pull(*entry as i32, bonus, limit);
}

#[inline]
fn update_shared(entry: &AtomicI16, bonus: i32, limit: i32) {
    entry.store(pull(entry.load(Relaxed) as i32, bonus, limit), Relaxed);
}

/// A table of the continuation history, selected by an earlier move: its offset in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ContIndex(u32);

impl ContIndex {
    /// The table that follows no move (before the root, after a null move).
    pub const NONE: ContIndex = ContIndex(0);

    /// The table that follows a move of `piece` to `to`.
    #[inline]
    pub fn new(in_check: bool, capture: bool, piece: Piece, to: Square) -> ContIndex {
        let table = (usize::from(in_check) * 2 + usize::from(capture)) * PIECE_TO + piece_to(piece, to);
        ContIndex((table * PIECE_TO) as u32)
    }
}

/// Sets of squares for many membership tests: no branches, and no shift across two words.
#[derive(Clone, Copy, Debug)]
pub struct SquareTests<const SETS: usize>([[u64; 2]; SETS]);

impl<const SETS: usize> Default for SquareTests<SETS> {
    fn default() -> SquareTests<SETS> {
        SquareTests([[0; 2]; SETS])
    }
}

impl<const SETS: usize> SquareTests<SETS> {
    #[inline]
    pub fn new(sets: [Bitboard; SETS]) -> SquareTests<SETS> {
        SquareTests(sets.map(|Bitboard(set)| [set as u64, (set >> 64) as u64]))
    }

    /// Whether the set of this index contains a square.
    #[inline]
    pub fn contains(&self, set: usize, sq: Square) -> bool {
        // among all words, for a set taken out first would be copied
        self.0.as_flattened()[set * 2 + (sq.index() >> 6 & 1)] >> (sq.index() & 63) & 1 != 0
    }
}

/// The squares that the opponent attacks, for the main history; none in check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threats(SquareTests<1>);

impl Threats {
    pub fn of(pos: &Position) -> Threats {
        if pos.in_check() {
            return Threats::default();
        }
        Threats::by_map(pos.attack_map(!pos.side_to_move(), pos.occupied()))
    }

    /// Of a position that is not in check, from the squares that the opponent attacks.
    #[inline]
    pub fn by_map(attacked: Bitboard) -> Threats {
        Threats(SquareTests::new([attacked]))
    }

    /// Whether the opponent attacks a square.
    #[inline]
    fn contains(&self, sq: Square) -> bool {
        self.0.contains(0, sq)
    }
}

/// The index of a quiet move in a colour's part of the main history: by whether it leaves and whether it
/// enters a square that the opponent attacks (0 or 1), and by its 16 bits.
#[inline]
fn main_entry(leaves: usize, enters: usize, m: Move) -> usize {
    (leaves * 2 + enters) * MOVES16 + m.raw16() as usize
}

/// The index of a quiet move in the main history.
#[inline]
fn main_index(us: Color, m: Move, threats: Threats) -> usize {
    let leaves = threats.contains(m.from()) & !m.is_drop();
    let enters = threats.contains(m.to());
    us.index() * MAIN_CASES * MOVES16 + main_entry(leaves.into(), enters.into(), m)
}

/// The main history for the moves of one position.
pub struct MainScores<'a> {
    entries: &'a [i16; MAIN_CASES * MOVES16],
    /// 1 for the squares that the opponent attacks, indexed by bits 0-6 or 7-14 of a move; the upper half,
    /// which the origin bits of drops index, is empty.
    attacked: [u8; 256],
}

impl MainScores<'_> {
    #[inline]
    pub fn of(&self, m: Move) -> i32 {
        // masked like this, the indices need no bounds check
        let leaves = self.attacked[(m.0 >> 7 & 0xff) as usize] & 1;
        let enters = self.attacked[m.to().index()] & 1;
        self.entries[main_entry(leaves.into(), enters.into(), m)] as i32
    }
}

/// The histories of one thread.
pub struct Histories {
    /// See [`main_index`].
    main: Box<[i16]>,
    low_ply: Box<[i16]>,
    /// The entries of `low_ply` that differ from the initial value.
    low_ply_changed: Vec<u32>,
    capture: Box<[i16]>,
    continuation: HugeBuf<i16>,
    cont_correction: HugeBuf<i16>,
    /// Whether the transposition table's move tends to be best.
    pub tt_move: i16,
}

impl Histories {
    /// # Errors
    /// [`OutOfMemory`]: the tables take about 70 MB.
    pub fn new() -> Result<Histories, OutOfMemory> {
        let mut h = Histories {
            main: vec![0; 2 * MAIN_CASES * MOVES16].into(),
            low_ply: vec![LOW_PLY_INIT; LOW_PLIES * MOVES16].into(),
            low_ply_changed: Vec::new(),
            capture: vec![0; PIECE_TO * PieceType::NUM].into(),
            continuation: HugeBuf::zeroed(4 * PIECE_TO * PIECE_TO)?,
            cont_correction: HugeBuf::zeroed(PIECE_TO * PIECE_TO)?,
            tt_move: 0,
        };
        h.clear();
        Ok(h)
    }

    /// Resets everything.
    pub fn clear(&mut self) {
        self.main.fill(0);
        self.new_search();
        self.capture.fill(CAPTURE_INIT);
        self.continuation.fill(CONTINUATION_INIT);
        self.cont_correction.fill(CONT_CORRECTION_INIT);
        self.tt_move = 0;
    }

    /// Resets the low-ply history for a new search.
    pub fn new_search(&mut self) {
        // resetting the whole table would take a tenth of the time of a short search
        for i in self.low_ply_changed.drain(..) {
            self.low_ply[i as usize] = LOW_PLY_INIT;
        }
    }

    #[inline]
    pub fn main(&self, us: Color, m: Move, threats: Threats) -> i32 {
        self.main[main_index(us, m, threats)] as i32
    }

    /// The main history of all quiet moves of a position.
    #[inline]
    pub fn main_scores(&self, us: Color, threats: Threats) -> MainScores<'_> {
        let entries = self.main[us.index() * MAIN_CASES * MOVES16..].first_chunk().expect("of each colour");
        let mut attacked = [0; 256];
        let Threats(SquareTests([words])) = threats;
        for (half, word) in attacked.chunks_exact_mut(64).zip(words) {
            for (eight, bits) in half.chunks_exact_mut(8).zip(word.to_le_bytes()) {
                // each bit into a byte of its own
                let spread = (bits as u64 * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
                let ones = (spread + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101;
                eight.copy_from_slice(&ones.to_le_bytes());
            }
        }
        MainScores { entries, attacked }
    }

    #[inline]
    pub fn update_main(&mut self, us: Color, m: Move, threats: Threats, bonus: i32) {
        update(&mut self.main[main_index(us, m, threats)], bonus, MAIN_LIMIT);
    }

    #[inline]
    pub fn low_ply(&self, ply: usize) -> &[i16; MOVES16] {
        self.low_ply[ply * MOVES16..].first_chunk().expect("of each ply")
    }

    #[inline]
    pub fn update_low_ply(&mut self, ply: usize, m: Move, bonus: i32) {
        let i = ply * MOVES16 + m.raw16() as usize;
        if self.low_ply[i] == LOW_PLY_INIT {
            self.low_ply_changed.push(i as u32);
        }
        update(&mut self.low_ply[i], bonus, MAIN_LIMIT);
    }

    #[inline]
    pub fn capture(&self, piece: Piece, to: Square, captured: PieceType) -> i32 {
        self.capture[piece_to(piece, to) * PieceType::NUM + captured.index()] as i32
    }

    #[inline]
    pub fn update_capture(&mut self, piece: Piece, to: Square, captured: PieceType, bonus: i32) {
        let e = &mut self.capture[piece_to(piece, to) * PieceType::NUM + captured.index()];
        update(e, bonus, CAPTURE_LIMIT);
    }

    /// The continuation table of an earlier move: indexed by [`piece_to`].
    #[inline]
    pub fn continuation(&self, table: ContIndex) -> &[i16; PIECE_TO] {
        self.continuation[table.0 as usize..].first_chunk().expect("tables are whole")
    }

    /// Prefetches the continuation table of an earlier move; the page lookup costs most.
    #[inline]
    pub fn prefetch_continuation(&self, table: ContIndex) {
        let row = self.continuation(table);
        prefetch(&row[PIECE_TO / 4]);
        prefetch(&row[PIECE_TO * 3 / 4]);
    }

    #[inline]
    pub fn update_continuation(&mut self, table: ContIndex, piece: Piece, to: Square, bonus: i32) {
        update(&mut self.continuation[table.0 as usize + piece_to(piece, to)], bonus, CONTINUATION_LIMIT);
    }

    #[inline]
    pub fn cont_correction(&self, earlier: usize, piece: Piece, to: Square) -> i32 {
        self.cont_correction[earlier * PIECE_TO + piece_to(piece, to)] as i32
    }

    /// Prefetches the entry of [`Histories::cont_correction`].
    #[inline]
    pub fn prefetch_cont_correction(&self, earlier: usize, piece: Piece, to: Square) {
        prefetch(&self.cont_correction[earlier * PIECE_TO + piece_to(piece, to)]);
    }

    #[inline]
    pub fn update_cont_correction(&mut self, earlier: usize, piece: Piece, to: Square, bonus: i32) {
        let e = &mut self.cont_correction[earlier * PIECE_TO + piece_to(piece, to)];
        update(e, bonus, CORRECTION_LIMIT);
    }

    #[inline]
    pub fn update_tt_move(&mut self, bonus: i32) {
        update(&mut self.tt_move, bonus, 8192);
    }
}

/// Histories that the threads of a group share: entries keyed by the pawn structure, and corrections of the
/// static evaluation keyed by parts of the position.
pub struct SharedHistories {
    pawn: HugeBuf<AtomicI16>,
    /// `[key][side to move][pawn, minor, non-pawn black, non-pawn white]`
    correction: HugeBuf<AtomicI16>,
    /// The bits of a key that select a row of `pawn`, of `correction`.
    pawn_mask: usize,
    correction_mask: usize,
}

/// The kinds of key that corrections are stored under.
const CORRECTIONS: usize = 4;
/// The shares of the kinds in one update: pawn, minor, non-pawn; in 1/128.
const CORRECTION_SHARES: [i32; CORRECTIONS] = [128, 153, 187, 187];

impl SharedHistories {
    /// Histories for a group of `threads` threads; every thread then [clears](Self::clear) its part, so that the
    /// pages come to the group's memory.
    ///
    /// # Errors
    /// [`OutOfMemory`]: the tables take about 6 MB for every eight threads.
    pub fn new(threads: usize) -> Result<SharedHistories, OutOfMemory> {
        let scale = threads.div_ceil(THREADS).next_power_of_two();
        let (pawn, correction) = (PAWN_ENTRIES * scale, CORRECTION_ENTRIES * scale);
        Ok(SharedHistories {
            pawn: HugeBuf::zeroed(pawn * PIECE_TO)?,
            correction: HugeBuf::zeroed(correction * 2 * CORRECTIONS)?,
            pawn_mask: pawn - 1,
            correction_mask: correction - 1,
        })
    }

    /// Resets one of `parts` parts of everything.
    pub fn clear(&self, part: usize, parts: usize) {
        self.pawn[self.pawn.part(part, parts)].iter().for_each(|e| e.store(PAWN_INIT, Relaxed));
        self.correction[self.correction.part(part, parts)].iter().for_each(|e| e.store(0, Relaxed));
    }

    /// The pawn-structure history of a position: indexed by [`piece_to`].
    #[inline]
    pub fn pawn(&self, pos: &Position) -> &[AtomicI16; PIECE_TO] {
        let i = pos.pawn_key() as usize & self.pawn_mask;
        self.pawn[i * PIECE_TO..].first_chunk().expect("tables are whole")
    }

    #[inline]
    pub fn update_pawn(&self, pos: &Position, piece: Piece, to: Square, bonus: i32) {
        update_shared(&self.pawn(pos)[piece_to(piece, to)], bonus, PAWN_LIMIT);
    }

    /// Prefetches the corrections of a position.
    #[inline]
    pub fn prefetch_correction(&self, pos: &Position) {
        for entry in self.corrections(pos) {
            prefetch(entry);
        }
    }

    /// Prefetches the pawn-structure history of a position; the page lookup costs most.
    #[inline]
    pub fn prefetch_pawn(&self, pos: &Position) {
        let row = self.pawn(pos);
        prefetch(&row[PIECE_TO / 4]);
        prefetch(&row[PIECE_TO * 3 / 4]);
    }

    #[inline]
    fn corrections(&self, pos: &Position) -> [&AtomicI16; CORRECTIONS] {
        let us = pos.side_to_move().index();
        let keys =
            [pos.pawn_key(), pos.minor_key(), pos.non_pawn_key(Color::Black), pos.non_pawn_key(Color::White)];
        std::array::from_fn(|i| {
            &self.correction[((keys[i] as usize & self.correction_mask) * 2 + us) * CORRECTIONS + i]
        })
    }

    /// The weighted sum of the corrections of a position, in 1/131072 of a value unit.
    #[inline]
    pub fn correction(&self, pos: &Position) -> i32 {
        let c = self.corrections(pos).map(|e| e.load(Relaxed) as i32);
        p::correction_pawn() * c[0] + p::correction_minor() * c[1] + p::correction_non_pawn() * (c[2] + c[3])
    }

    #[inline]
    pub fn update_correction(&self, pos: &Position, bonus: i32) {
        let c = self.corrections(pos);
        for (entry, share) in c.iter().zip(CORRECTION_SHARES) {
            update_shared(entry, bonus * share / 128, CORRECTION_LIMIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_within_their_limit() {
        let mut e = 0i16;
        for i in 0..1000 {
            update(&mut e, if i % 3 == 0 { -50000 } else { 40000 }, MAIN_LIMIT);
            assert!((e as i32).abs() <= MAIN_LIMIT);
        }
        for _ in 0..100 {
            update(&mut e, 2000, MAIN_LIMIT);
        }
        assert!(e as i32 > MAIN_LIMIT * 9 / 10);
    }

    #[test]
    fn main_scores_equal_single_lookups() {
        let sfen = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";
        let pos = Position::from_sfen(sfen).unwrap();
        let (us, threats) = (pos.side_to_move(), Threats::of(&pos));
        let mut h = Histories::new().unwrap();
        let moves = pos.legal_moves(true);
        for (i, m) in moves.iter().enumerate() {
            h.update_main(us, m.mv, threats, i as i32 + 1);
        }
        let scores = h.main_scores(us, threats);
        for (i, m) in moves.iter().enumerate() {
            assert_eq!(scores.of(m.mv), i as i32 + 1, "{:?}", m.mv);
        }
    }
}

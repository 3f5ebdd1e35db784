//! The table of positions: numbers, proofs and disproofs by board and attacker's hand.
//!
//! Open addressing by the key of the board alone, so that all hands of one board lie in one run of slots: a
//! look-up reads the run and takes proofs from smaller hands, disproofs from larger ones, and bounds of the
//! numbers from both (dominance). Nothing is replaced; when the table is full enough, the half with the least
//! work is dropped (after Nagai's SmallTreeGC), and the gaps in the runs are closed.
#![allow(unsafe_code)] // in what `derive(Zeroable)` writes

use super::hands;
use super::limits::Ending;
use super::value::{Count, ENDLESS, Knowledge, Plies};
use crate::support::memory::{HugeBuf, OutOfMemory, prefetch};
use crate::types::{Hand, Key};

/// One board with one hand of the attacker. All zeroes is an empty slot.
#[derive(Clone, Copy, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Entry {
    board: Key,
    hand: Hand,
    /// The approximate number of positions visited for it; 0 marks an empty slot.
    work: u32,
    pn: Count,
    dn: Count,
    /// There is a mate within this number of plies; [`NO_MATE_KNOWN`] if none is known.
    mate: Plies,
    /// There is no mate within this number of plies.
    no_mate: Plies,
    /// The least depth at which it was searched.
    depth: u16,
    /// Not 0 if a disproof by repetition is on record somewhere for some path to it.
    repeats: u16,
    parent_board: Key,
    parent_hand: Hand,
    sums: u64,
}

const NO_MATE_KNOWN: Plies = ENDLESS + 1;
/// Added to the work of decided positions, so that they are kept longer than undecided ones.
const DECIDED_BONUS: u32 = 1_000;
/// The hand of a parent that is not known.
const NO_PARENT: Hand = Hand(u32::MAX);

/// A position to be looked up: where its run starts, and where it was seen last.
#[derive(Clone, Copy)]
pub(super) struct Query {
    pub board: Key,
    pub hand: Hand,
    pub depth: u16,
    slot: usize,
}

/// The result of a look-up.
pub(super) struct Lookup {
    pub knowledge: Knowledge,
    /// Whether numbers come from a search nearer to the root, where a loop may hide.
    pub old: bool,
    /// Whether the path to it may end in a repetition.
    pub repeats: bool,
}

/// The table; see the module's documentation.
pub(super) struct Table {
    entries: HugeBuf<Entry>,
    /// The slots in use so far: the first ones. Memory never touched costs nothing, so easy problems need not
    /// pay for a large table.
    len: usize,
    used: usize,
    sweeps: u64,
    /// When to abort moving the entries: gigabytes take longer than a `stop` may take.
    ending: Option<Ending>,
    /// Whether moving was aborted, so that the table must be cleared.
    broken: bool,
}

/// The slots of a new table.
const FIRST_LEN: usize = 1 << 18;

impl Table {
    /// A table of at most `bytes` bytes (but a few slots at least).
    pub(super) fn new(bytes: usize) -> Result<Table, OutOfMemory> {
        let count = (bytes / size_of::<Entry>()).max(1024);
        Ok(Table {
            entries: HugeBuf::zeroed(count)?,
            len: count.min(FIRST_LEN),
            used: 0,
            sweeps: 0,
            ending: None,
            broken: false,
        })
    }

    /// The number of entries in `len` slots above which look-ups get slow.
    fn limit(len: usize) -> usize {
        len / 10 * 7
    }

    /// Begins a search.
    pub(super) fn begin(&mut self, ending: Ending) {
        self.ending = Some(ending);
        if self.broken {
            self.clear();
        }
    }

    /// Whether to abort moving the entries; checked every few thousand slots.
    fn interrupted(&mut self, slot: usize) -> bool {
        const EVERY: usize = 1 << 13;
        self.broken |= slot.is_multiple_of(EVERY) && self.ending.as_ref().is_some_and(Ending::is_due);
        self.broken
    }

    pub(super) fn clear(&mut self) {
        if self.used > 0 || self.broken {
            // fresh memory costs nothing until it is touched
            match HugeBuf::zeroed(self.entries.len()) {
                Ok(entries) => self.entries = entries,
                Err(_) => self.entries.iter_mut().for_each(|e| e.work = 0),
            }
            self.broken = false;
            self.used = 0;
            self.len = self.entries.len().min(FIRST_LEN);
        }
    }

    /// How full the table is, in thousandths of what it takes before it is swept.
    pub(super) fn per_mille(&self) -> u32 {
        (self.used as u64 * 1000 / Self::limit(self.entries.len()).max(1) as u64) as u32
    }

    /// How often the table was swept.
    pub(super) fn sweeps(&self) -> u64 {
        self.sweeps
    }

    #[inline]
    fn home(&self, board: Key) -> usize {
        ((u128::from(board) * self.len as u128) >> 64) as usize
    }

    #[inline]
    fn next(&self, slot: usize) -> usize {
        if slot + 1 == self.len { 0 } else { slot + 1 }
    }

    #[inline]
    pub(super) fn query(&self, board: Key, hand: Hand, depth: usize) -> Query {
        let slot = self.home(board);
        prefetch(&raw const self.entries[slot]);
        Query { board, hand, depth: depth as u16, slot }
    }

    /// The knowledge about a mate within `plies`. Without an entry it is `fresh`, and its numbers are 1 or
    /// the bounds from entries with larger and smaller hands.
    pub(super) fn look_up(&mut self, query: &mut Query, plies: Plies) -> Lookup {
        let mut found =
            Lookup { knowledge: Knowledge { plies, ..Knowledge::NOTHING }, old: false, repeats: false };
        let result = &mut found.knowledge;
        let mut slot = self.home(query.board);
        loop {
            let entry = &mut self.entries[slot];
            if entry.work == 0 {
                break;
            }
            if entry.board == query.board {
                let smaller = query.hand.dominates(entry.hand);
                let larger = entry.hand.dominates(query.hand);
                if smaller && plies >= entry.mate {
                    found.knowledge = Knowledge::mate(entry.hand, entry.mate, entry.work);
                    return found;
                }
                if larger && plies <= entry.no_mate {
                    found.knowledge = Knowledge::no_mate(entry.hand, entry.no_mate, entry.work);
                    return found;
                }
                if smaller && larger {
                    let seen_at = entry.depth;
                    entry.depth = seen_at.min(query.depth);
                    if result.pn < entry.pn || result.dn < entry.dn {
                        result.pn = result.pn.max(entry.pn);
                        result.dn = result.dn.max(entry.dn);
                        found.old |= seen_at < query.depth;
                    }
                    result.fresh = false;
                    result.sums = entry.sums;
                    result.work = result.work.max(entry.work);
                    found.repeats = entry.repeats != 0;
                    query.slot = slot;
                } else if smaller && entry.depth <= query.depth && result.dn < entry.dn {
                    // with more in hand it is no easier to refute
                    result.dn = entry.dn;
                    found.old |= entry.depth < query.depth;
                } else if larger && entry.depth <= query.depth && result.pn < entry.pn {
                    // with less in hand it is no easier to prove
                    result.pn = entry.pn;
                    found.old |= entry.depth < query.depth;
                }
            }
            slot = self.next(slot);
        }
        found
    }

    /// Bounds of the length of the mate of a position: no mate within the first number of plies, a mate
    /// within the second (more than [`ENDLESS`] if none is known).
    pub(super) fn bounds(&self, board: Key, hand: Hand) -> (Plies, Plies) {
        let (mut no_mate, mut mate) = (-1, NO_MATE_KNOWN);
        let mut slot = self.home(board);
        while self.entries[slot].work != 0 {
            let entry = &self.entries[slot];
            if entry.board == board {
                if hand.dominates(entry.hand) {
                    mate = mate.min(entry.mate);
                }
                if entry.hand.dominates(hand) {
                    no_mate = no_mate.max(entry.no_mate);
                }
            }
            slot = self.next(slot);
        }
        (no_mate, mate)
    }

    /// The numbers of a position, with the bounds from all hands of its board, and the parent from which it
    /// was searched last.
    pub(super) fn parent(&self, board: Key, hand: Hand) -> Option<(Key, Hand, Count, Count)> {
        let (mut pn, mut dn) = (1, 1);
        let mut parent = None;
        let mut slot = self.home(board);
        while self.entries[slot].work != 0 {
            let entry = &self.entries[slot];
            if entry.board == board {
                let known = entry.parent_hand != NO_PARENT;
                if entry.hand.dominates(hand) && entry.pn > pn {
                    pn = entry.pn;
                    if known && (parent.is_none() || pn > dn) {
                        parent = Some(entry);
                    }
                }
                if hand.dominates(entry.hand) && entry.dn > dn {
                    dn = entry.dn;
                    if known && (parent.is_none() || dn > pn) {
                        parent = Some(entry);
                    }
                }
            }
            slot = self.next(slot);
        }
        let entry = parent?;
        Some((entry.parent_board, hands::shifted(entry.parent_hand, entry.hand, hand), pn, dn))
    }

    /// The slot of a position, a new one if it has none; nothing if the table is broken.
    fn slot_of(&mut self, board: Key, hand: Hand, seen: usize) -> Option<usize> {
        if self.broken {
            return None;
        }
        if let Some(entry) = self.entries.get(seen)
            && entry.work != 0
            && entry.board == board
            && entry.hand == hand
        {
            return Some(seen);
        }
        if self.used >= Self::limit(self.len) {
            if self.len < self.entries.len() {
                self.grow();
            } else {
                self.sweep();
            }
            if self.broken {
                return None;
            }
        }
        let mut slot = self.home(board);
        loop {
            let entry = &mut self.entries[slot];
            if entry.work == 0 {
                *entry = Entry {
                    board,
                    hand,
                    work: 1,
                    pn: 1,
                    dn: 1,
                    mate: NO_MATE_KNOWN,
                    no_mate: -1,
                    depth: u16::MAX,
                    repeats: 0,
                    parent_board: 0,
                    parent_hand: NO_PARENT,
                    sums: u64::MAX,
                };
                self.used += 1;
                return Some(slot);
            }
            if entry.board == board && entry.hand == hand {
                return Some(slot);
            }
            slot = self.next(slot);
        }
    }

    /// Stores what was found. A disproof by repetition only leaves a mark here: it holds for one path.
    pub(super) fn store(&mut self, query: &mut Query, result: &Knowledge, parent: Option<(Key, Hand)>) {
        let repeats = result.repetition != super::value::NO_REPETITION;
        let hand = if result.is_decided() && !repeats { result.hand } else { query.hand };
        let Some(slot) = self.slot_of(query.board, hand, query.slot) else { return };
        if hand == query.hand {
            query.slot = slot;
        }
        let entry = &mut self.entries[slot];
        if result.is_mate() {
            entry.mate = entry.mate.min(result.plies);
            entry.work = entry.work.max(result.work.saturating_add(DECIDED_BONUS));
        } else if repeats {
            entry.repeats = 1;
            // numbers counted on the way into a repetition mean nothing elsewhere
            (entry.pn, entry.dn) = (1, 1);
        } else if result.is_no_mate() {
            entry.no_mate = entry.no_mate.max(result.plies);
            entry.work = entry.work.max(result.work.saturating_add(DECIDED_BONUS));
        } else {
            entry.depth = entry.depth.min(query.depth);
            (entry.pn, entry.dn) = (result.pn, result.dn);
            (entry.parent_board, entry.parent_hand) = parent.unwrap_or((0, NO_PARENT));
            entry.sums = result.sums;
            entry.work = entry.work.max(result.work);
        }
    }

    /// Puts more slots into use and distributes the entries over them.
    #[cold]
    fn grow(&mut self) {
        let before = self.len;
        self.len = (before * 4).min(self.entries.len());
        // homes only move up, so going down leaves most entries where they belong; the rest is closed up
        for slot in (0..before).rev() {
            if self.interrupted(slot) {
                return;
            }
            let entry = self.entries[slot];
            if entry.work == 0 {
                continue;
            }
            self.entries[slot].work = 0;
            let mut target = self.home(entry.board);
            while self.entries[target].work != 0 {
                target = self.next(target);
            }
            self.entries[target] = entry;
        }
        self.close_up();
    }

    /// Drops the cheaper half of the entries.
    #[cold]
    fn sweep(&mut self) {
        const SAMPLES: usize = 20_000;
        let step = (self.len / SAMPLES).max(1) | 1;
        let mut sample: Vec<u32> =
            self.entries[..self.len].iter().step_by(step).map(|e| e.work).filter(|&work| work != 0).collect();
        let middle = sample.len() / 2;
        let most = sample.iter().copied().max().unwrap_or(0);
        let threshold = if sample.is_empty() { u32::MAX } else { *sample.select_nth_unstable(middle).1 };
        let halve = most > u32::MAX / 8;
        let mut used = 0;
        for slot in 0..self.len {
            if self.interrupted(slot) {
                return;
            }
            let entry = &mut self.entries[slot];
            if entry.work <= threshold {
                entry.work = 0;
            } else {
                used += 1;
                if halve {
                    entry.work /= 2;
                }
            }
        }
        self.used = used;
        self.sweeps += 1;
        self.close_up();
    }

    /// Moves every entry to the first free slot of its run, so that no gap hides it.
    fn close_up(&mut self) {
        let Some(gap) = self.entries[..self.len].iter().position(|e| e.work == 0) else { return };
        let mut slot = gap;
        for _ in 0..self.len {
            slot = self.next(slot);
            if self.interrupted(slot) {
                return;
            }
            if self.entries[slot].work == 0 {
                continue;
            }
            let mut target = self.home(self.entries[slot].board);
            while target != slot && self.entries[target].work != 0 {
                target = self.next(target);
            }
            if target != slot {
                self.entries[target] = self.entries[slot];
                self.entries[slot].work = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::PieceType;

    fn pawns(n: u32) -> Hand {
        let mut hand = Hand::EMPTY;
        (0..n).for_each(|_| hand.add(PieceType::PAWN));
        hand
    }

    #[test]
    fn hands_that_dominate_share_results() {
        let mut table = Table::new(1 << 20).unwrap();
        let mut query = table.query(77, pawns(3), 4);
        table.store(&mut query, &Knowledge::mate(pawns(2), 5, 1), None);
        let mut look = |n, plies| {
            let mut query = table.query(77, pawns(n), 4);
            let found = table.look_up(&mut query, plies).knowledge;
            (found.pn, found.dn)
        };
        assert_eq!(look(2, 5).0, 0);
        assert_eq!(look(7, ENDLESS).0, 0);
        assert_eq!(look(1, ENDLESS), (1, 1));
        assert_eq!(look(2, 3), (1, 1));
        let mut query = table.query(77, pawns(0), 4);
        table.store(&mut query, &Knowledge::no_mate(pawns(1), ENDLESS, 1), None);
        let mut query = table.query(77, pawns(1), 4);
        assert!(table.look_up(&mut query, ENDLESS).knowledge.is_no_mate());
        assert_eq!(table.bounds(77, pawns(2)), (-1, 5));
    }

    #[test]
    fn a_growing_table_loses_nothing() {
        let mut table = Table::new(64 << 20).unwrap();
        let boards: Vec<u64> = (0..600_000u64).map(|i| (i / 3).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        for (i, &board) in boards.iter().enumerate() {
            let mut query = table.query(board, pawns(i as u32 % 3), 1);
            table.store(
                &mut query,
                &Knowledge { pn: i as u64 + 2, fresh: false, ..Knowledge::NOTHING },
                None,
            );
        }
        assert!(table.sweeps() == 0 && table.len > FIRST_LEN && table.used == boards.len());
        for (i, &board) in boards.iter().enumerate() {
            let mut query = table.query(board, pawns(i as u32 % 3), 1);
            let known = table.look_up(&mut query, ENDLESS).knowledge;
            assert!(!known.fresh && known.pn >= i as u64 + 2);
        }
    }

    #[test]
    fn a_full_table_forgets_the_cheap_half_and_finds_the_rest() {
        let mut table = Table::new(1 << 20).unwrap();
        let mut seed = 1u64;
        let mut stored = Vec::new();
        for i in 0..40_000u32 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let board = seed ^ seed >> 32;
            let mut query = table.query(board, pawns(i % 4), 1);
            let work = if i % 10 == 0 { 1_000_000 + i } else { 1 };
            let result = Knowledge { pn: u64::from(i) + 2, dn: 3, work, fresh: false, ..Knowledge::NOTHING };
            table.store(&mut query, &result, None);
            if i % 10 == 0 {
                stored.push((board, i));
            }
        }
        assert!(table.sweeps() > 0 && table.used <= Table::limit(table.len));
        for (board, i) in stored {
            // those of little work are gone, these are not
            let mut query = table.query(board, pawns(i % 4), 1);
            assert_eq!(table.look_up(&mut query, ENDLESS).knowledge.pn, u64::from(i) + 2);
        }
    }
}

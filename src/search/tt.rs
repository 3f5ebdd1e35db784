//! The transposition table: clusters of three entries in 32 bytes, shared by all threads without locks.
//!
//! An entry is one atomic word (move, value, evaluation, depth, bound, age) and a 16-bit part of the key. All
//! accesses are relaxed, and a probe returns a copy. A word and its key may come from two writers in a rare
//! race; the search therefore plays a stored move only after checking it, and treats a stored score as it
//! treats any key collision.
#![allow(unsafe_code)] // in what `derive(Zeroable)` writes, and to clear at the speed of memory

use crate::support::memory::{HugeBuf, OutOfMemory};
use crate::types::{Bound, Key, VALUE_NONE, Value, is_loss, is_win};
use bytemuck::Zeroable;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering::Relaxed};

/// Depth of quiescence entries.
pub const DEPTH_QS: i32 = 0;
/// Depth of entries that hold only a static evaluation.
pub const DEPTH_UNSEARCHED: i32 = -2;
/// Depth of an empty entry; stored depths are relative to it.
const DEPTH_NONE: i32 = -3;

const GENERATION_BITS: u32 = 5;
const GENERATION_MASK: u8 = (1 << GENERATION_BITS) - 1;

#[derive(Zeroable)]
#[repr(C, align(32))]
struct Cluster {
    data: [AtomicU64; 3],
    keys: [AtomicU16; 4],
}

/// The content of an entry.
#[derive(Clone, Copy, Debug)]
pub struct TtData {
    /// The move's 16 bits; 0 for none.
    pub move16: u16,
    /// As stored: mate scores count from this position ([`value_from_tt`]).
    pub value: Value,
    /// The static evaluation without corrections, or `VALUE_NONE`.
    pub eval: Value,
    pub depth: i32,
    pub bound: Bound,
    pub is_pv: bool,
}

impl TtData {
    fn unpack(w: u64) -> TtData {
        TtData {
            move16: w as u16,
            value: (w >> 16) as i16 as Value,
            eval: (w >> 32) as i16 as Value,
            depth: (w >> 48 & 0xff) as i32 + DEPTH_NONE,
            bound: match w >> (56 + GENERATION_BITS) & 3 {
                0 => Bound::None,
                1 => Bound::Upper,
                2 => Bound::Lower,
                _ => Bound::Exact,
            },
            is_pv: w >> 63 != 0,
        }
    }
}

fn depth8(w: u64) -> i32 {
    (w >> 48 & 0xff) as i32
}

fn generation_of(w: u64) -> u8 {
    (w >> 56) as u8 & GENERATION_MASK
}

/// The entry for a result: the one that the probe found, or the one to replace.
#[derive(Clone, Copy)]
pub struct TtSlot {
    cluster: usize,
    entry: usize,
    /// The part of the key that the entry holds.
    key16: u16,
}

/// How many clusters positions with the same pieces of the side to move share: 128 KiB.
const NEIGHBORHOOD: usize = if cfg!(miri) { 64 } else { 4096 };

/// The table.
///
/// Positions in which the side to move has the same pieces on the same squares are near each other, so that
/// the children of one node lie in few memory pages. Otherwise nearly every probe would miss the TLB, and
/// even a prefetch waits for the page's address.
pub struct TranspositionTable {
    clusters: HugeBuf<Cluster>,
    generation: AtomicU8,
}

impl TranspositionTable {
    /// A table of at most `mb` MiB (at least 1).
    pub fn new(mb: usize) -> Result<TranspositionTable, OutOfMemory> {
        // under Miri every use of the buffer costs as much as the buffer is long
        const MEGABYTE: usize = if cfg!(miri) { 1 << 14 } else { 1 << 20 };
        let count = mb.max(1).saturating_mul(MEGABYTE) / size_of::<Cluster>() / NEIGHBORHOOD * NEIGHBORHOOD;
        Ok(TranspositionTable { clusters: HugeBuf::zeroed(count)?, generation: AtomicU8::new(0) })
    }

    /// Clears one of `parts` parts of the table. The pages of a new table come to the memory node of the thread
    /// that clears them.
    ///
    /// # Safety
    /// Nobody uses the table meanwhile, except to clear other parts.
    pub unsafe fn clear(&self, part: usize, parts: usize) {
        self.generation.store(0, Relaxed);
        let part = &self.clusters[self.clusters.part(part, parts)];
        // three times as fast as atomic stores
        // SAFETY: atomics may be changed behind a shared reference, zeros are valid clusters, and the caller
        // excludes other accesses.
        unsafe { part.as_ptr().cast_mut().write_bytes(0, part.len()) };
    }

    /// The kind of its pages, for people.
    pub fn pages(&self) -> &'static str {
        self.clusters.pages()
    }

    /// A new search begins: older entries become cheaper to replace.
    pub fn new_search(&self) {
        let g = self.generation.load(Relaxed).wrapping_add(1) & GENERATION_MASK;
        self.generation.store(g, Relaxed);
    }

    #[inline]
    fn index(&self, key: Key, own_pieces: Key) -> usize {
        let neighborhoods = self.clusters.len() / NEIGHBORHOOD;
        let neighborhood = ((own_pieces as u128 * neighborhoods as u128) >> 64) as usize;
        // the lowest 16 bits distinguish the entries of a cluster
        neighborhood * NEIGHBORHOOD + (key >> 16) as usize % NEIGHBORHOOD
    }

    /// Prefetches the cluster of a position, given its key and the key of the pieces of the side to move.
    #[inline]
    pub fn prefetch(&self, key: Key, own_pieces: Key) {
        let p: *const Cluster = &self.clusters[self.index(key, own_pieces)];
        crate::support::memory::prefetch(p);
    }

    /// Looks a position up by the same keys: the stored data, if any, and the slot to store into.
    #[inline(always)]
    pub fn probe(&self, key: Key, own_pieces: Key) -> (Option<TtData>, TtSlot) {
        let cluster = self.index(key, own_pieces);
        let c = &self.clusters[cluster];
        let key16 = key as u16;
        for entry in 0..3 {
            if c.keys[entry].load(Relaxed) == key16 {
                let w = c.data[entry].load(Relaxed);
                if depth8(w) != 0 {
                    return (Some(TtData::unpack(w)), TtSlot { cluster, entry, key16 });
                }
            }
        }
        // replace the shallowest, an old entry counting as eight plies shallower a search
        let generation = self.generation.load(Relaxed);
        let worth = |entry: usize| {
            let w = c.data[entry].load(Relaxed);
            depth8(w) - 8 * i32::from(generation.wrapping_sub(generation_of(w)) & GENERATION_MASK)
        };
        let (mut entry, mut least) = (0, worth(0));
        for e in 1..3 {
            let v = worth(e);
            if v < least {
                (entry, least) = (e, v);
            }
        }
        (None, TtSlot { cluster, entry, key16 })
    }

    /// Stores a result. Without a move (0) the stored move of the same position stays; a shallower bound does
    /// not replace a deeper one of the same position and search.
    #[inline(always)]
    pub fn store(&self, slot: TtSlot, new: TtData) {
        let TtData { move16, value, eval, depth, bound, is_pv } = new;
        let c = &self.clusters[slot.cluster];
        let old = c.data[slot.entry].load(Relaxed);
        let same = c.keys[slot.entry].load(Relaxed) == slot.key16;
        let kept_move = if move16 != 0 || !same { move16 } else { old as u16 };
        let generation = self.generation.load(Relaxed);
        let replaces = bound == Bound::Exact
            || !same
            || depth - DEPTH_NONE + 2 * i32::from(is_pv) > depth8(old) - 4
            || generation_of(old) != generation;
        let word = if replaces {
            kept_move as u64
                | (value as i16 as u16 as u64) << 16
                | (eval as i16 as u16 as u64) << 32
                | ((depth - DEPTH_NONE) as u8 as u64) << 48
                | u64::from(generation | (bound as u8) << GENERATION_BITS | u8::from(is_pv) << 7) << 56
        } else {
            old & !0xffff | kept_move as u64
        };
        if !same {
            c.keys[slot.entry].store(slot.key16, Relaxed);
        }
        if word != old {
            c.data[slot.entry].store(word, Relaxed);
        }
    }

    /// Per mille of the entries that the current search has written, from a sample.
    pub fn hashfull(&self) -> u32 {
        let generation = self.generation.load(Relaxed);
        let sample = self.clusters.len().min(1000);
        let used = (0..sample)
            .flat_map(|i| &self.clusters[i * self.clusters.len() / sample].data)
            .filter(|d| {
                let w = d.load(Relaxed);
                depth8(w) != 0 && generation_of(w) == generation
            })
            .count();
        (used * 1000 / (sample * 3)) as u32
    }
}

impl Default for TtData {
    fn default() -> TtData {
        TtData {
            move16: 0,
            value: VALUE_NONE,
            eval: VALUE_NONE,
            depth: DEPTH_NONE,
            bound: Bound::None,
            is_pv: false,
        }
    }
}

/// A mate score as counted from the node (for the table), from one counted from the root.
#[inline]
pub fn value_to_tt(v: Value, ply: usize) -> Value {
    if is_win(v) {
        v + ply as Value
    } else if is_loss(v) {
        v - ply as Value
    } else {
        v
    }
}

/// The inverse of [`value_to_tt`]; `VALUE_NONE` stays.
#[inline]
pub fn value_from_tt(v: Value, ply: usize) -> Value {
    if v == VALUE_NONE {
        VALUE_NONE
    } else if is_win(v) {
        v - ply as Value
    } else if is_loss(v) {
        v + ply as Value
    } else {
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back() {
        let tt = TranspositionTable::new(1).unwrap();
        let mut key = 0x1234_5678_9abc_def0u64;
        for i in 0..if cfg!(miri) { 100 } else { 1000i32 } {
            key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
            let (hit, slot) = tt.probe(key, key);
            assert!(hit.is_none());
            let (value, eval, depth) = (i * 31 - 16000, 12000 - i * 20, i % 100 - 2);
            let (bound, is_pv, move16) = (Bound::Lower, i & 1 == 0, i as u16 + 1);
            tt.store(slot, TtData { value, eval, depth, bound, is_pv, move16 });
            let d = tt.probe(key, key).0.expect("just stored");
            assert_eq!((d.value, d.eval, d.depth, d.move16), (value, eval, depth, i as u16 + 1));
            assert_eq!((d.bound, d.is_pv), (Bound::Lower, i & 1 == 0));
        }
        // SAFETY: this thread alone has the table.
        (0..2).for_each(|part| unsafe { tt.clear(part, 2) });
        assert!(tt.probe(key, key).0.is_none());
    }

    #[test]
    fn positions_with_the_same_own_pieces_are_neighbors() {
        let tt = TranspositionTable::new(2).unwrap();
        let neighborhood = |key, own_pieces| tt.index(key, own_pieces) / NEIGHBORHOOD;
        let own_pieces = 0xf234_5678_9abc_def0;
        let last = tt.clusters.len() / NEIGHBORHOOD - 1;
        for i in 0..100u64 {
            let key = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            assert_eq!(neighborhood(key, own_pieces), neighborhood(0, own_pieces));
            assert_eq!((neighborhood(key, 0), neighborhood(key, Key::MAX)), (0, last));
        }
        assert_ne!(tt.index(0, own_pieces), tt.index(1 << 16, own_pieces));
    }

    #[test]
    fn a_missing_move_and_a_shallow_bound_replace_nothing() {
        let tt = TranspositionTable::new(1).unwrap();
        let key = 77;
        let (_, slot) = tt.probe(key, key);
        let deep = TtData { value: 100, eval: 3, depth: 20, bound: Bound::Lower, is_pv: false, move16: 5 };
        let shallow = TtData { value: 50, depth: 2, bound: Bound::Upper, move16: 0, ..deep };
        tt.store(slot, deep);
        tt.store(slot, shallow);
        let d = tt.probe(key, key).0.unwrap();
        assert_eq!((d.move16, d.value, d.depth), (5, 100, 20));
        tt.new_search();
        tt.store(slot, shallow);
        let d = tt.probe(key, key).0.unwrap();
        assert_eq!((d.move16, d.value, d.depth), (5, 50, 2));
    }

    /// Threads that read and write the same few clusters see whole entries only: all fields of a hit come
    /// from one store.
    #[test]
    fn entries_are_never_torn_between_threads() {
        const ROUNDS: u64 = if cfg!(miri) { 200 } else { 200_000 };
        const THREADS: u64 = 4;
        let tt = TranspositionTable::new(1).unwrap();
        // all fields are derived from one number, so that a mixture of two is detected
        let entry = |n: u64| TtData {
            move16: (n % 60_000) as u16 + 1,
            value: (n % 30_000) as Value - 15_000,
            eval: (n % 29_000) as Value - 14_500,
            depth: (n % 200) as i32,
            bound: if n & 1 == 0 { Bound::Lower } else { Bound::Upper },
            is_pv: n & 2 != 0,
        };
        let hits = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (tt, hits) = (&tt, &hits);
                scope.spawn(move || {
                    let mut x = thread + 1;
                    for round in 0..ROUNDS {
                        x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                        // eight clusters, a few keys each
                        let key = (x >> 40 & 7) << 61 | x >> 50 & 15;
                        let (hit, slot) = tt.probe(key, key);
                        if let Some(data) = hit {
                            let fields = |d: &TtData| (d.value, d.eval, d.depth, d.bound, d.is_pv);
                            // 30,000 and 29,000 have the least common multiple 870,000: the pair determines
                            // the number
                            let n = (0..30)
                                .map(|k| (data.value + 15_000) as u64 + k * 30_000)
                                .find(|n| (n % 29_000) as Value - 14_500 == data.eval);
                            let n = n.expect("value and evaluation of one entry");
                            assert_eq!(fields(&data), fields(&entry(n)));
                            hits.fetch_add(1, Relaxed);
                        }
                        tt.store(slot, entry(x >> 33 & 0x3ffff));
                        if round % 64 == 0 {
                            tt.new_search();
                        }
                    }
                });
            }
        });
        assert!(hits.load(Relaxed) > ROUNDS / 4, "{hits:?} hits");
    }

    #[test]
    fn mate_scores_count_from_the_node() {
        for v in [0, 500, -500, 31990, -31990, VALUE_NONE] {
            let stored = if v == VALUE_NONE { v } else { value_to_tt(v, 7) };
            assert_eq!(value_from_tt(stored, 7), v);
        }
    }
}

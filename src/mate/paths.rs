//! Disproofs by repetition, which hold for one path only.
//!
//! A position where the attacker fails because he would repeat an earlier one may well be a mate on another
//! path (the graph history interaction problem; Kishimoto and Müller, "A general solution to the graph
//! history interaction problem", AAAI 2004). So these results are kept apart, by the key of the moves from
//! the root.
#![allow(unsafe_code)] // in what `derive(Zeroable)` writes

use super::value::Plies;
use crate::support::memory::{HugeBuf, OutOfMemory};
use crate::types::Key;

#[derive(Clone, Copy, bytemuck::Zeroable)]
#[repr(C)]
struct Path {
    /// 0 if empty.
    key: Key,
    plies: Plies,
    depth: u16,
    /// When it was stored.
    age: u32,
}

const WAYS: usize = 4;
const EMPTY: Path = Path { key: 0, plies: 0, depth: 0, age: 0 };

/// Buckets of four paths; the oldest gives way.
pub(super) struct Paths {
    slots: HugeBuf<[Path; WAYS]>,
    /// The buckets in use so far: the first ones. Memory never touched costs nothing.
    len: usize,
    clock: u64,
    /// When more buckets are taken into use.
    grow_at: u64,
}

/// The buckets of a new table.
const FIRST_LEN: usize = 1 << 14;

impl Paths {
    pub(super) fn new(bytes: usize) -> Result<Paths, OutOfMemory> {
        let count = (bytes / size_of::<[Path; WAYS]>()).max(64);
        Ok(Paths {
            slots: HugeBuf::zeroed(count)?,
            len: count.min(FIRST_LEN),
            clock: 0,
            grow_at: 2 * FIRST_LEN as u64,
        })
    }

    pub(super) fn clear(&mut self) {
        if self.clock > 0 {
            // fresh memory costs nothing until it is touched
            match HugeBuf::zeroed(self.slots.len()) {
                Ok(slots) => self.slots = slots,
                Err(_) => self.slots.fill([EMPTY; WAYS]),
            }
            self.len = self.slots.len().min(FIRST_LEN);
            self.clock = 0;
            self.grow_at = 2 * FIRST_LEN as u64;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let before = self.len;
        self.len = (before * 4).min(self.slots.len());
        self.grow_at = self.clock + 2 * self.len as u64;
        // buckets only move up: from the last to the first, none meets one that has not moved
        for index in (0..before).rev() {
            let bucket = std::mem::replace(&mut self.slots[index], [EMPTY; WAYS]);
            for path in bucket.into_iter().filter(|p| p.key != 0) {
                let target = self.bucket(path.key);
                if let Some(free) = self.slots[target].iter_mut().find(|p| p.key == 0) {
                    *free = path;
                }
            }
        }
    }

    #[inline]
    fn bucket(&self, key: Key) -> usize {
        ((u128::from(key) * self.len as u128) >> 64) as usize
    }

    /// No mate within `plies` on this path, for it returns to the position at `depth`.
    pub(super) fn store(&mut self, key: Key, depth: u16, plies: Plies) {
        self.clock += 1;
        if self.clock >= self.grow_at && self.len < self.slots.len() {
            self.grow();
        }
        // ages of the same few thousand stores are equal, so that 32 bits last
        let age = (self.clock >> 10) as u32;
        let index = self.bucket(key);
        let bucket = &mut self.slots[index];
        if let Some(path) = bucket.iter_mut().find(|p| p.key == key) {
            if path.plies != plies || path.depth <= depth {
                *path = Path { key, plies, depth, age };
            }
            return;
        }
        let oldest = bucket.iter_mut().min_by_key(|p| if p.key == 0 { 0 } else { 1 + u64::from(p.age) });
        if let Some(path) = oldest {
            *path = Path { key, plies, depth, age };
        }
    }

    /// The depth that a path returns to and the length it was refuted for, if it was for `plies` at least.
    #[inline]
    pub(super) fn look_up(&self, key: Key, plies: Plies) -> Option<(u16, Plies)> {
        let path = self.slots[self.bucket(key)].iter().find(|p| p.key == key)?;
        (path.plies >= plies).then_some((path.depth, path.plies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_until_they_are_old() {
        let mut paths = Paths::new(1 << 16).unwrap();
        paths.store(5, 3, 100);
        assert_eq!(paths.look_up(5, 100), Some((3, 100)));
        assert_eq!(paths.look_up(5, 101), None);
        assert_eq!(paths.look_up(6, 1), None);
        for i in 0..100_000u64 {
            paths.store(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, 1, 1);
        }
        assert_eq!(paths.look_up(5, 100), None);
    }
}

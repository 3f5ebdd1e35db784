//! The search threads with the sizes that the user asked for, as far as the machine's memory allows:
//! [`SizedPool`].

use crate::nnue::Network;
use crate::search::ThreadPool;
use crate::support::free_memory::{available_mb, has_gigantic_pages};
use crate::support::memory::OutOfMemory;
use crate::support::messages::Number;
use crate::support::numa::Policy;
use std::fmt;
use std::sync::Arc;

/// Numbers of threads and MiB of the transposition table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub threads: usize,
    pub hash_mb: usize,
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = Number(self.threads);
        write!(f, "{threads} thread{threads:#} and {} MB", self.hash_mb)
    }
}

/// A pool, and the sizes it was asked for (which may be more than it has).
pub(super) struct SizedPool {
    pub threads: ThreadPool,
    wanted: Sizes,
    policy: Policy,
}

impl SizedPool {
    /// A pool of these sizes, or of the largest that fit into memory. Reductions are reported to `say`.
    ///
    /// # Errors
    /// [`OutOfMemory`] where not even one thread with 1 MiB can be had.
    pub fn new(
        network: Arc<Network>,
        wanted: Sizes,
        policy: Policy,
        say: &mut dyn FnMut(&str),
    ) -> Result<SizedPool, OutOfMemory> {
        let first = fitting(wanted, None, say);
        let result = ThreadPool::new(network.clone(), first.threads, first.hash_mb, &policy);
        SizedPool::settle(result, network, (wanted, policy), first, say)
    }

    /// Whether the pool was asked for these sizes and this policy.
    pub fn was_asked_for(&self, sizes: Sizes, policy: &Policy) -> bool {
        self.wanted == sizes && self.policy == *policy
    }

    /// A pool of other sizes, with empty tables. The old memory is freed before the new is allocated. A
    /// larger request never results in a smaller pool, unless another program takes the memory in between.
    ///
    /// # Errors
    /// As for [`SizedPool::new`]; there is then no pool.
    pub fn resize(
        self,
        network: Arc<Network>,
        wanted: Sizes,
        policy: Policy,
        say: &mut dyn FnMut(&str),
    ) -> Result<SizedPool, OutOfMemory> {
        let had = Sizes { threads: self.threads.threads(), hash_mb: self.threads.tt_mb() };
        let mut first = wanted;
        let result = self.threads.resize(network.clone(), &policy, || {
            first = fitting(wanted, Some(had), say);
            (first.threads, first.hash_mb)
        });
        if result.is_err() && first != had {
            // this much memory was free a moment ago
            let back =
                Sizes { threads: first.threads.min(had.threads), hash_mb: first.hash_mb.min(had.hash_mb) };
            if let Ok(threads) = ThreadPool::new(network.clone(), back.threads, back.hash_mb, &policy) {
                say(&format!("no memory for {first}; {back} are used"));
                return Ok(SizedPool { threads, wanted, policy });
            }
        }
        SizedPool::settle(result, network, (wanted, policy), first, say)
    }

    /// Takes the pool, or tries smaller ones until one can be had.
    fn settle(
        mut result: Result<ThreadPool, OutOfMemory>,
        network: Arc<Network>,
        (wanted, policy): (Sizes, Policy),
        mut tried: Sizes,
        say: &mut dyn FnMut(&str),
    ) -> Result<SizedPool, OutOfMemory> {
        loop {
            match result {
                Ok(threads) => return Ok(SizedPool { threads, wanted, policy }),
                Err(e) if tried.threads > 1 || tried.hash_mb > 1 => {
                    tried.threads = tried.threads.div_ceil(2);
                    tried.hash_mb = tried.hash_mb.div_ceil(2);
                    say(&format!("{e}; trying {tried}"));
                    result = ThreadPool::new(network.clone(), tried.threads, tried.hash_mb, &policy);
                }
                Err(e) => return Err(e),
            }
        }
    }
}

/// Every thread has histories of its own.
const MB_A_THREAD: usize = 100;

/// The part of the free memory to take: a quarter stays for everything else.
fn usable(free_mb: usize) -> usize {
    free_mb / 4 * 3
}

/// How many of `wanted` searchers with tables of `hash_mb` MiB each have room in the free memory, at least
/// one.
pub fn affordable_searchers(wanted: usize, hash_mb: usize) -> usize {
    let most = available_mb().map_or(wanted, |free| usable(free) / (MB_A_THREAD + hash_mb));
    wanted.min(most).max(1)
}

/// The largest sizes, up to `wanted`, that fit into memory. A table in pages of 1 GB, which are set aside,
/// takes none of the free memory.
fn fitting(wanted: Sizes, had: Option<Sizes>, say: &mut dyn FnMut(&str)) -> Sizes {
    if has_gigantic_pages(wanted.hash_mb) {
        let without = Sizes { hash_mb: 0, ..wanted };
        return Sizes { threads: affordable(without, had, available_mb(), say).threads, ..wanted };
    }
    affordable(wanted, had, available_mb(), say)
}

/// The largest sizes, up to `wanted`, that fit into `free_mb` megabytes together; all of `wanted` where the
/// free memory is unknown. With more the machine would swap or kill the process. The threads leave a quarter
/// of the memory to the table. `had` is what the pool held before and has just freed.
fn affordable(wanted: Sizes, had: Option<Sizes>, free_mb: Option<usize>, say: &mut dyn FnMut(&str)) -> Sizes {
    let Some(free) = free_mb else { return wanted };
    let usable = usable(free);
    let (had_threads, had_mb) = had.map_or((1, 1), |h| (h.threads, h.hash_mb));
    let most_threads = ((usable - wanted.hash_mb.min(usable / 4)) / MB_A_THREAD).max(had_threads);
    let threads = wanted.threads.min(most_threads);
    let most_mb = usable.saturating_sub(threads * MB_A_THREAD).max(had_mb);
    if wanted.threads > most_threads {
        say(&format!(
            "Threads: {} need more memory than this machine has free; {most_threads} are used",
            wanted.threads
        ));
    }
    if wanted.hash_mb > most_mb {
        say(&format!(
            "USI_Hash: {} MB is more than this machine has free; {most_mb} MB are used",
            wanted.hash_mb
        ));
    }
    Sizes { threads, hash_mb: wanted.hash_mb.min(most_mb) }
}

/// Reduces the size of a table to what fits into memory.
pub(super) fn affordable_table(wanted_mb: usize, say: &mut dyn FnMut(&str)) -> usize {
    let wanted = Sizes { threads: 1, hash_mb: wanted_mb };
    affordable(wanted, None, available_mb(), say).hash_mb
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(
        wanted: (usize, usize),
        had: Option<(usize, usize)>,
        free: Option<usize>,
    ) -> (usize, usize, usize) {
        let sizes = |(threads, hash_mb)| Sizes { threads, hash_mb };
        let mut said = 0;
        let got = affordable(sizes(wanted), had.map(sizes), free, &mut |_| said += 1);
        (got.threads, got.hash_mb, said)
    }

    #[test]
    fn sizes_beyond_the_memory_are_reduced_and_reported() {
        assert_eq!(cut((4, 1024), None, Some(8000)), (4, 1024, 0));
        assert_eq!(cut((4, 100_000), None, Some(8000)), (4, 5600, 1));
        assert_eq!(cut((500, 100_000), None, Some(8000)), (45, 1500, 2));
        assert_eq!(cut((40, 3000), None, Some(8000)), (40, 2000, 1));
        assert_eq!(cut((500, 100_000), None, None), (500, 100_000, 0));
        assert_eq!(cut((2, 16), None, Some(0)), (1, 1, 2));
    }

    #[test]
    fn a_wish_for_more_leaves_no_less() {
        // 7,000 of 8,000 MB were the table's: three quarters of what is free now would be less
        assert_eq!(cut((1, 20_000), Some((1, 7000)), Some(8000)), (1, 7000, 1));
        assert_eq!(cut((900, 100), Some((70, 100)), Some(8000)), (70, 100, 1));
        assert_eq!(cut((1, 3000), Some((1, 7000)), Some(8000)), (1, 3000, 0));
    }
}

//! The search threads with the sizes that the user asked for, as far as the machine's memory allows: [`SizedPool`].

use crate::nnue::Network;
use crate::search::ThreadPool;
use crate::support::memory::OutOfMemory;
use std::sync::Arc;

/// Numbers of threads and MiB of the transposition table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub threads: usize,
    pub hash_mb: usize,
}

/// A pool, and the sizes it was asked for (which may be more than it has).
pub(super) struct SizedPool {
    pub threads: ThreadPool,
    wanted: Sizes,
}

impl SizedPool {
    /// A pool of these sizes, or of the largest that the memory allows. What is cut down goes to `say`.
    ///
    /// # Errors
    /// [`OutOfMemory`] where not even one thread with 1 MiB can be had.
    pub fn new(
        network: Arc<Network>,
        wanted: Sizes,
        say: &mut dyn FnMut(&str),
    ) -> Result<SizedPool, OutOfMemory> {
        let first = affordable(wanted, None, available_memory_mb(), say);
        let result = ThreadPool::new(network.clone(), first.threads, first.hash_mb);
        SizedPool::settle(result, network, wanted, first, say)
    }

    /// Whether the pool was asked for these sizes.
    pub fn was_asked_for(&self, sizes: Sizes) -> bool {
        self.wanted == sizes
    }

    /// The same with other sizes, and nothing learnt. The old memory is given back before the new is taken. A wish for more
    /// never leaves less than there was, unless somebody else has taken the memory in between.
    ///
    /// # Errors
    /// As for [`SizedPool::new`]; there is then no pool.
    pub fn resize(
        self,
        network: Arc<Network>,
        wanted: Sizes,
        say: &mut dyn FnMut(&str),
    ) -> Result<SizedPool, OutOfMemory> {
        let had = Sizes { threads: self.threads.threads(), hash_mb: self.threads.tt_mb() };
        let mut first = wanted;
        let result = self.threads.resize(network.clone(), || {
            first = affordable(wanted, Some(had), available_memory_mb(), say);
            (first.threads, first.hash_mb)
        });
        if result.is_err() && first != had {
            // this much memory was free a moment ago
            let back =
                Sizes { threads: first.threads.min(had.threads), hash_mb: first.hash_mb.min(had.hash_mb) };
            if let Ok(threads) = ThreadPool::new(network.clone(), back.threads, back.hash_mb) {
                say(&format!(
                    "no memory for {} threads and {} MB; {} threads and {} MB are used",
                    first.threads, first.hash_mb, back.threads, back.hash_mb
                ));
                return Ok(SizedPool { threads, wanted });
            }
        }
        SizedPool::settle(result, network, wanted, first, say)
    }

    /// Takes the pool, or tries smaller ones until one can be had.
    fn settle(
        mut result: Result<ThreadPool, OutOfMemory>,
        network: Arc<Network>,
        wanted: Sizes,
        mut tried: Sizes,
        say: &mut dyn FnMut(&str),
    ) -> Result<SizedPool, OutOfMemory> {
        loop {
            match result {
                Ok(threads) => return Ok(SizedPool { threads, wanted }),
                Err(e) if tried.threads > 1 || tried.hash_mb > 1 => {
                    tried.threads = tried.threads.div_ceil(2);
                    tried.hash_mb = tried.hash_mb.div_ceil(2);
                    say(&format!("{e}; trying {} threads and {} MB", tried.threads, tried.hash_mb));
                    result = ThreadPool::new(network.clone(), tried.threads, tried.hash_mb);
                }
                Err(e) => return Err(e),
            }
        }
    }
}

/// The sizes that a machine with so many free megabytes (if it says so) can bear: with a larger table it would
/// swap, or kill the process. `had` is what the pool held before and has just given back.
fn affordable(wanted: Sizes, had: Option<Sizes>, free_mb: Option<usize>, say: &mut dyn FnMut(&str)) -> Sizes {
    /// Every thread has histories of its own.
    const MB_A_THREAD: usize = 100;
    let Some(free) = free_mb else { return wanted };
    // a quarter stays for everything else
    let usable = free / 4 * 3;
    let (had_threads, had_mb) = had.map_or((1, 1), |h| (h.threads, h.hash_mb));
    let most_threads = (usable / MB_A_THREAD).max(had_threads);
    let most_mb = usable.max(had_mb);
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
    Sizes { threads: wanted.threads.min(most_threads), hash_mb: wanted.hash_mb.min(most_mb) }
}

/// So many of the megabytes wished for a table as the machine can bear.
pub(super) fn affordable_table(wanted_mb: usize, say: &mut dyn FnMut(&str)) -> usize {
    let wanted = Sizes { threads: 1, hash_mb: wanted_mb };
    affordable(wanted, None, available_memory_mb(), say).hash_mb
}

/// Megabytes that can be taken without swapping, where the system says so.
fn available_memory_mb() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kb: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(kb / 1024)
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
    fn wishes_beyond_the_memory_are_cut_and_told() {
        assert_eq!(cut((4, 1024), None, Some(8000)), (4, 1024, 0));
        assert_eq!(cut((4, 100_000), None, Some(8000)), (4, 6000, 1));
        assert_eq!(cut((500, 100_000), None, Some(8000)), (60, 6000, 2));
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

//! The search threads with the sizes that the user asked for, as far as the machine's memory allows: [`SizedPool`].

use crate::nnue::Network;
use crate::search::ThreadPool;
use crate::support::memory::OutOfMemory;
use crate::support::numa::Policy;
use std::path::Path;
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
        let first = affordable(wanted, None, available_memory_mb(), say);
        let result = ThreadPool::new(network.clone(), first.threads, first.hash_mb, &policy);
        SizedPool::settle(result, network, (wanted, policy), first, say)
    }

    /// Whether the pool was asked for these sizes and this policy.
    pub fn was_asked_for(&self, sizes: Sizes, policy: &Policy) -> bool {
        self.wanted == sizes && self.policy == *policy
    }

    /// A pool of other sizes, with empty tables. The old memory is freed before the new is allocated. A larger request
    /// never results in a smaller pool, unless another program takes the memory in between.
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
            first = affordable(wanted, Some(had), available_memory_mb(), say);
            (first.threads, first.hash_mb)
        });
        if result.is_err() && first != had {
            // this much memory was free a moment ago
            let back =
                Sizes { threads: first.threads.min(had.threads), hash_mb: first.hash_mb.min(had.hash_mb) };
            if let Ok(threads) = ThreadPool::new(network.clone(), back.threads, back.hash_mb, &policy) {
                say(&format!(
                    "no memory for {} threads and {} MB; {} threads and {} MB are used",
                    first.threads, first.hash_mb, back.threads, back.hash_mb
                ));
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
                    say(&format!("{e}; trying {} threads and {} MB", tried.threads, tried.hash_mb));
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

/// How many of `wanted` searchers with tables of `hash_mb` MiB each have room in the free memory, at least one.
pub fn affordable_searchers(wanted: usize, hash_mb: usize) -> usize {
    let most = available_memory_mb().map_or(wanted, |free| usable(free) / (MB_A_THREAD + hash_mb));
    wanted.min(most).max(1)
}

/// The largest sizes, up to `wanted`, that fit into `free_mb` megabytes together; all of `wanted` where the free memory
/// is unknown. With more the machine would swap or kill the process. The threads leave a quarter of the memory to the
/// table. `had` is what the pool held before and has just freed.
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
    affordable(wanted, None, available_memory_mb(), say).hash_mb
}

/// Megabytes that can be allocated without swapping, within the limits of containers; none where that is unknown.
fn available_memory_mb() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kb: usize = line.split_whitespace().next()?.parse().ok()?;
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(cgroup_free_mb(Path::new("/sys/fs/cgroup"), &group).map_or(kb / 1024, |mb| mb.min(kb / 1024)))
}

/// Free megabytes within the limits of the process's control group (version 2, else 1) and its parents. `group` is the
/// text of `/proc/self/cgroup`.
fn cgroup_free_mb(root: &Path, group: &str) -> Option<usize> {
    let path_of = |controller: &str| {
        let line = group
            .lines()
            .find(|l| l.split(':').nth(1).is_some_and(|c| c.split(',').any(|c| c == controller)));
        line?.splitn(3, ':').nth(2).map(|path| path.trim_start_matches('/'))
    };
    let (root, path, [limit, used, cache]) = match path_of("memory") {
        Some(path) => {
            let names = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
            (root.join("memory"), path, names)
        }
        None => (root.to_owned(), path_of("")?, ["memory.max", "memory.current", "inactive_file "]),
    };
    let number = |dir: &Path, name: &str| -> Option<u64> {
        std::fs::read_to_string(dir.join(name)).ok()?.trim().parse().ok()
    };
    let free = |dir: &Path| {
        // what is cached of files can be taken
        let stat = std::fs::read_to_string(dir.join("memory.stat")).unwrap_or_default();
        let cached = stat.lines().find_map(|l| l.strip_prefix(cache)?.trim().parse().ok()).unwrap_or(0);
        Some((number(dir, limit)? + cached).saturating_sub(number(dir, used)?))
    };
    // in a container the path may be one of the host's, and its limit stand at the root
    let own = root.join(path);
    let groups = own.ancestors().filter(|dir| dir.starts_with(&root));
    Some((groups.filter_map(free).min()? >> 20) as usize)
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
    fn limits_of_control_groups_count() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let free = |group: &str| cgroup_free_mb(dir.path(), group);
        assert_eq!(free("0::/\n"), None);
        put("a/memory.max", "2147483648\n");
        put("a/memory.current", "1073741824\n");
        put("a/memory.stat", "anon 5\ninactive_file 104857600\n");
        put("a/b/memory.max", "max\n");
        put("a/b/memory.current", "1\n");
        assert_eq!((free("0::/a/b\n"), free("0::/c\n")), (Some(1124), None));
        put("memory/memory.limit_in_bytes", "209715200");
        put("memory/memory.usage_in_bytes", "104857600");
        assert_eq!(free("4:cpu,cpuacct:/\n3:memory:/docker/x\n0::/\n"), Some(100));
        assert_eq!(free(""), None);
    }

    #[test]
    fn a_wish_for_more_leaves_no_less() {
        // 7,000 of 8,000 MB were the table's: three quarters of what is free now would be less
        assert_eq!(cut((1, 20_000), Some((1, 7000)), Some(8000)), (1, 7000, 1));
        assert_eq!(cut((900, 100), Some((70, 100)), Some(8000)), (70, 100, 1));
        assert_eq!(cut((1, 3000), Some((1, 7000)), Some(8000)), (1, 3000, 0));
    }
}

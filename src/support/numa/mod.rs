//! Threads near their memory: a [`Policy`] is what the user wants, a [`Placement`] what it means for a number
//! of threads on this machine.
//!
//! A *group* is a set of logical processors whose threads share histories: a memory node, or neighbouring L3
//! caches of one. Threads are bound to groups, never to single processors, so the system can still balance
//! them. Memory needs no call: the system puts a page on the memory node of the thread that first writes it.
//!
//! Linux describes itself in `/sys`, Windows by one call; macOS has no call that binds threads. So the
//! standard library with `libc` and `windows-sys` is enough. `hwlocality` would need hwloc, a library in C,
//! and `core_affinity` binds to single processors of the first 64.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", windows)))]
mod system {
    pub fn machine(_all: bool) -> Option<super::Machine> {
        None
    }
    pub fn cores() -> Option<Vec<Vec<Vec<usize>>>> {
        None
    }
    /// False: this system binds no threads.
    pub fn bind(_processors: &[usize]) -> bool {
        false
    }
}

pub use system::bind;

use super::messages::Number;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::str::FromStr;

/// Logical processors of one group made of L3 caches, at most: smaller groups have too few threads to learn
/// from one another.
const GROUP: usize = 32;
/// The most logical processors.
const MOST: usize = 1 << 16;

/// How threads are bound to groups, as in YaneuraOu and Stockfish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// L3 caches are groups of up to 32 logical processors; threads are bound if there are many.
    #[default]
    Auto,
    /// Every memory node is a group.
    System,
    /// As `Auto`, but always bound, and to all processors, also those that the process was not given.
    Hardware,
    /// Threads are not bound.
    None,
    /// Groups of logical processors: `0-15:16-31`.
    Lists(Vec<Vec<usize>>),
}

/// The number of threads that can run at the same time.
pub fn processors() -> usize {
    let ours = std::thread::available_parallelism().map_or(1, |n| n.get());
    #[cfg(windows)]
    let ours = system::processors().unwrap_or(ours);
    ours
}

/// A share of the processors that this process was given for each of `jobs` jobs: equally many whole cores,
/// or single logical processors where there are fewer cores than jobs, each share within a memory node. None
/// where there are fewer processors than jobs, and on systems where the processes that a bound thread starts
/// are not bound as it is.
pub fn shares(jobs: usize) -> Option<Vec<Vec<usize>>> {
    equal_shares(&system::cores()?, jobs)
}

/// Of cores by memory node.
fn equal_shares(nodes: &[Vec<Vec<usize>>], jobs: usize) -> Option<Vec<Vec<usize>>> {
    let cores: usize = nodes.iter().map(Vec::len).sum();
    let mut nodes = nodes.to_vec();
    if cores < jobs {
        nodes = nodes.iter().map(|node| node.iter().flatten().map(|p| vec![*p]).collect()).collect();
    }
    let parts: usize = nodes.iter().map(Vec::len).sum();
    let fits = |size: &usize| nodes.iter().map(|node| node.len() / size).sum::<usize>() >= jobs;
    let size = (1..=parts / jobs.max(1)).rev().find(fits)?;
    Some(nodes.iter().flat_map(|node| node.chunks_exact(size)).map(<[_]>::concat).take(jobs).collect())
}

/// A text that is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("auto, system, hardware, none or lists of different processors such as 0-15:16-31")]
pub struct NotAPolicy;

impl FromStr for Policy {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Policy, NotAPolicy> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "auto" => Policy::Auto,
            "system" => Policy::System,
            "hardware" => Policy::Hardware,
            "none" => Policy::None,
            lists => {
                let lists: Option<Vec<_>> = lists.split(':').map(parse_list).collect();
                let lists = lists.ok_or(NotAPolicy)?;
                let mut seen = BTreeSet::new();
                if lists.iter().any(Vec::is_empty) || !lists.iter().flatten().all(|p| seen.insert(p)) {
                    return Err(NotAPolicy);
                }
                Policy::Lists(lists)
            }
        })
    }
}

/// Reads `0-3,8,10`, as Linux writes sets of processors and nodes.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut list = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last >= MOST || list.len() > MOST {
            return None;
        }
        list.extend(first..=last);
    }
    Some(list)
}

/// The inverse of [`parse_list`], for an ascending list.
fn list_text(list: &[usize]) -> String {
    let mut text = String::new();
    for run in list.chunk_by(|a, b| a + 1 == *b) {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match run {
            [one] => write!(text, "{comma}{one}"),
            _ => write!(text, "{comma}{}-{}", run[0], run[run.len() - 1]),
        };
    }
    text
}

/// A set of logical processors, and the number of the memory node near them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    processors: Vec<usize>,
    memory: usize,
}

/// What the system tells: logical processors by memory node and by L3 cache.
struct Machine {
    nodes: Vec<Vec<usize>>,
    caches: Vec<Vec<usize>>,
}

impl Machine {
    fn groups(&self, policy: &Policy) -> Vec<Group> {
        let of_nodes = |parts: &dyn Fn(&Vec<usize>) -> Vec<Vec<usize>>| -> Vec<Group> {
            let groups =
                |(memory, node)| parts(node).into_iter().map(move |processors| Group { processors, memory });
            self.nodes.iter().enumerate().flat_map(groups).collect()
        };
        match policy {
            Policy::None => Vec::new(),
            Policy::System => of_nodes(&|node| vec![node.clone()]),
            Policy::Auto | Policy::Hardware => of_nodes(&|node| self.joined_caches(node)),
            Policy::Lists(lists) => {
                let memory = |p: &usize| self.nodes.iter().position(|node| node.contains(p));
                let group = |list: &Vec<usize>| {
                    let processors: Vec<usize> =
                        list.iter().copied().filter(|p| memory(p).is_some()).collect();
                    Some(Group { memory: memory(processors.first()?)?, processors })
                };
                lists.iter().filter_map(group).collect()
            }
        }
    }

    /// The L3 caches of a node, neighbours joined up to [`GROUP`] processors; or else the node.
    fn joined_caches(&self, node: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for cache in &self.caches {
            let cache: Vec<usize> = cache.iter().copied().filter(|p| node.contains(p)).collect();
            match groups.last_mut().filter(|group| group.len() + cache.len() <= GROUP) {
                Some(group) => group.extend(cache),
                None => groups.push(cache),
            }
        }
        groups.retain(|group| !group.is_empty());
        if groups.iter().map(Vec::len).sum::<usize>() != node.len() {
            return vec![node.to_vec()];
        }
        groups
    }
}

/// The groups of threads.
#[derive(Clone, Debug)]
pub struct Placement {
    /// At least one; without processors where threads are not bound.
    groups: Vec<Group>,
    /// The first thread of each group, and the number of threads.
    first: Vec<usize>,
    found: String,
}

impl Placement {
    /// The places of `threads` threads (at least one).
    pub fn new(policy: &Policy, threads: usize) -> Placement {
        let machine = if cfg!(miri) { None } else { system::machine(*policy == Policy::Hardware) };
        Placement::on(machine.as_ref(), policy, threads.max(1))
    }

    fn on(machine: Option<&Machine>, policy: &Policy, threads: usize) -> Placement {
        let mut groups = machine.map(|m| m.groups(policy)).unwrap_or_default();
        let biggest = groups.iter().map(|g| g.processors.len()).max().unwrap_or(0);
        // a few threads share one L3 cache, if the system keeps them together, and one set of histories
        let many = threads > 1 && (2 * threads > biggest || (threads > 8 && threads >= 4 * groups.len()));
        if *policy == Policy::Auto && !(groups.len() > 1 && many) {
            groups.clear();
        }
        let bound = !groups.is_empty();
        if !bound {
            groups.push(Group { processors: Vec::new(), memory: 0 });
        }
        // as many threads for each group as it has of the processors
        let total: usize = groups.iter().map(|g| g.processors.len()).sum();
        let mut first = vec![0];
        let mut before = 0;
        for group in &groups {
            before += group.processors.len();
            first.push(if bound { (before * threads).div_ceil(total) } else { threads });
        }
        let found = match machine {
            None => "the system does not report its memory nodes".into(),
            Some(machine) => {
                let processors: usize = machine.nodes.iter().map(Vec::len).sum();
                let (nodes, processors) = (Number(machine.nodes.len()), Number(processors));
                format!("{nodes} memory node{nodes:#}, {processors} logical processor{processors:#}")
            }
        };
        Placement { groups, first, found }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.first[self.groups.len()]
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The group of a thread.
    pub fn group_of(&self, thread: usize) -> usize {
        self.first.partition_point(|first| *first <= thread) - 1
    }

    /// The threads of a group.
    pub fn threads_of(&self, group: usize) -> std::ops::Range<usize> {
        self.first[group]..self.first[group + 1]
    }

    /// The number of the group's memory node, below the number of groups, and equal for groups with one
    /// memory.
    pub fn memory_of(&self, group: usize) -> usize {
        let memory = self.groups[group].memory;
        self.groups.iter().position(|g| g.memory == memory).unwrap_or(group)
    }

    /// Whether groups have different memories.
    pub fn is_spread(&self) -> bool {
        self.groups.iter().any(|g| g.memory != self.groups[0].memory)
    }

    /// Binds the calling thread to a group. Where the system refuses, the thread runs anywhere.
    pub fn bind(&self, group: usize) {
        let processors = &self.groups[group].processors;
        if !processors.is_empty() {
            system::bind(processors);
        }
    }

    /// What the machine has, and where the threads run.
    pub fn description(&self) -> String {
        if self.groups[0].processors.is_empty() {
            return format!("{}; threads are not bound", self.found);
        }
        let groups = (0..self.groups())
            .map(|g| format!("{} on {}", self.threads_of(g).len(), list_text(&self.groups[g].processors)));
        format!("{}; threads: {}", self.found, groups.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_words_or_lists_of_different_processors() {
        let policy = |text: &str| text.parse::<Policy>().ok();
        assert_eq!(policy("AUTO"), Some(Policy::Auto));
        assert_eq!(policy("0-2,5:3"), Some(Policy::Lists(vec![vec![0, 1, 2, 5], vec![3]])));
        for bad in ["", "numa", "0:", "0-1:1", "1-x", "-1", "0-65536", "99999999999999999999", "3-1"] {
            assert_eq!(policy(bad), None, "{bad}");
        }
    }

    #[test]
    fn jobs_get_whole_cores_of_one_memory_node() {
        // two memory nodes of three cores with two logical processors each
        let nodes = [0, 3].map(|first| (first..first + 3).map(|p| vec![p, p + 6]).collect::<Vec<_>>());
        let shares = |jobs| equal_shares(&nodes, jobs);
        assert_eq!(shares(1), Some(vec![vec![0, 6, 1, 7, 2, 8]]));
        assert_eq!(shares(2), Some(vec![vec![0, 6, 1, 7, 2, 8], vec![3, 9, 4, 10, 5, 11]]));
        assert_eq!(shares(3), Some(vec![vec![0, 6], vec![1, 7], vec![2, 8]]));
        assert_eq!(shares(7).unwrap().concat(), [0, 6, 1, 7, 2, 8, 3]);
        assert_eq!(shares(12).unwrap().concat(), [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]);
        assert_eq!(shares(13), None);
    }

    #[test]
    fn lists_are_written_as_they_are_read() {
        for text in ["0", "0-3", "0-1,4,6-7"] {
            assert_eq!(list_text(&parse_list(text).unwrap()), text);
        }
    }

    /// Nodes of this many processors each, with L3 caches of `cache`.
    fn machine(nodes: &[usize], cache: usize) -> Machine {
        let mut next = 0..;
        let nodes: Vec<Vec<usize>> = nodes.iter().map(|n| next.by_ref().take(*n).collect()).collect();
        let caches = nodes.iter().flat_map(|node| node.chunks(cache)).map(<[_]>::to_vec).collect();
        Machine { nodes, caches }
    }

    fn threads(machine: &Machine, policy: &str, threads: usize) -> Vec<usize> {
        let placement = Placement::on(Some(machine), &policy.parse().unwrap(), threads);
        assert_eq!(placement.threads(), threads);
        for group in 0..placement.groups() {
            assert!(placement.threads_of(group).all(|t| placement.group_of(t) == group));
        }
        (0..placement.groups()).map(|g| placement.threads_of(g).len()).collect()
    }

    #[test]
    fn few_threads_and_small_machines_are_left_to_the_system() {
        let (desktop, server) = (machine(&[32], 16), machine(&[128, 128], 16));
        for n in [1, 2, 8] {
            assert_eq!(threads(&desktop, "auto", n), [n]);
            assert_eq!(threads(&server, "auto", n), [n]);
            assert_eq!(threads(&server, "none", n), [n]);
        }
        assert_eq!(threads(&desktop, "auto", 64), [64]);
        assert_eq!(threads(&server, "none", 256), [256]);
        let nothing = Placement::on(None, &Policy::System, 100);
        assert_eq!((nothing.groups(), nothing.threads_of(0)), (1, 0..100));
    }

    #[test]
    fn many_threads_are_spread_over_groups_of_caches() {
        let server = machine(&[128, 128], 16);
        assert_eq!(threads(&server, "auto", 256), [32; 8]);
        assert_eq!(threads(&server, "auto", 128), [16; 8]);
        assert_eq!(threads(&server, "system", 100), [50; 2]);
        assert_eq!(threads(&server, "hardware", 8), [1; 8]);
        assert_eq!(threads(&server, "0-9:128-129", 24), [20, 4]);
        // processors that do not exist do not count
        assert_eq!(threads(&server, "0-9:999", 24), [24]);
        assert_eq!(threads(&machine(&[4, 4], 4), "auto", 8), [4, 4]);
        assert_eq!(threads(&machine(&[4, 4], 4), "auto", 1), [1]);
        // a group may have fewer processors than there are groups of threads to place
        assert_eq!(threads(&machine(&[6, 2], 8), "auto", 4), [3, 1]);
        let placement = Placement::on(Some(&server), &Policy::Auto, 256);
        let memories: Vec<usize> = (0..8).map(|g| placement.memory_of(g)).collect();
        assert_eq!(memories, [0, 0, 0, 0, 4, 4, 4, 4]);
        assert!(placement.is_spread());
        assert_eq!(
            Placement::on(Some(&server), &Policy::System, 4).description(),
            "2 memory nodes, 256 logical processors; threads: 2 on 0-127, 2 on 128-255"
        );
    }
}

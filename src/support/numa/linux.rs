//! Memory nodes and caches as Linux describes them in `/sys/devices/system`.
#![allow(unsafe_code)] // for the calls that read and set a thread's processors

use super::{MOST, Machine, parse_list};
use std::path::Path;

/// A bit for each logical processor.
type Mask = [u64; MOST / 64];

/// The processors that this process was given, or `all`.
pub fn machine(all: bool) -> Option<Machine> {
    let allowed = if all { None } else { given() };
    read(Path::new("/sys/devices/system"), allowed.as_ref())
}

/// The logical processors that this process was given, by memory node and core.
pub fn cores() -> Option<Vec<Vec<Vec<usize>>>> {
    let core = |p: &usize, node: &[usize]| {
        let path = format!("/sys/devices/system/cpu/cpu{p}/topology/thread_siblings_list");
        let mut core =
            std::fs::read_to_string(path).ok().and_then(|text| parse_list(&text)).unwrap_or_default();
        core.retain(|p| node.contains(p));
        if core.is_empty() { vec![*p] } else { core }
    };
    let cores = |node: &Vec<usize>| {
        let mut cores: Vec<Vec<usize>> = Vec::new();
        for p in node {
            if !cores.iter().any(|core| core.contains(p)) {
                cores.push(core(p, node));
            }
        }
        cores
    };
    Some(machine(false)?.nodes.iter().map(cores).collect())
}

/// Binds the calling thread; false where the system refuses.
pub fn bind(processors: &[usize]) -> bool {
    let mut mask: Mask = [0; MOST / 64];
    for p in processors {
        mask[p / 64] |= 1 << (p % 64);
    }
    // SAFETY: the call reads as many bytes as the mask has; 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, size_of::<Mask>(), mask.as_ptr().cast()) == 0 }
}

/// The processors of the calling thread.
fn given() -> Option<Mask> {
    let mut mask: Mask = [0; MOST / 64];
    // SAFETY: the call writes at most as many bytes as the mask has; 0 is the calling thread.
    let done = unsafe { libc::sched_getaffinity(0, size_of::<Mask>(), mask.as_mut_ptr().cast()) };
    (done >= 0).then_some(mask)
}

fn read(root: &Path, allowed: Option<&Mask>) -> Option<Machine> {
    let list = |path: String| -> Option<Vec<usize>> {
        let mut list = parse_list(&std::fs::read_to_string(root.join(path)).ok()?)?;
        list.retain(|p| allowed.is_none_or(|mask| mask[p / 64] >> (p % 64) & 1 != 0));
        Some(list)
    };
    let online = std::fs::read_to_string(root.join("node/online")).unwrap_or_default();
    let mut nodes: Vec<Vec<usize>> =
        parse_list(&online)?.into_iter().filter_map(|n| list(format!("node/node{n}/cpulist"))).collect();
    // memory without processors
    nodes.retain(|node| !node.is_empty());
    if nodes.is_empty() {
        nodes.push(list("cpu/online".into()).filter(|node| !node.is_empty())?);
    }
    let mut caches: Vec<Vec<usize>> = Vec::new();
    for p in nodes.iter().flatten() {
        if !caches.iter().any(|cache| cache.contains(p)) {
            caches.extend(list(format!("cpu/cpu{p}/cache/index3/shared_cpu_list")));
        }
    }
    Some(Machine { nodes, caches })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::put;

    #[test]
    fn nodes_and_caches_are_read_and_reduced_to_what_is_given() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| put(dir.path(), name, text);
        let sets = |allowed: Option<&Mask>| read(dir.path(), allowed).map(|m| (m.nodes, m.caches));
        assert_eq!(sets(None), None);
        put("cpu/online", "0-5\n");
        assert_eq!(sets(None), Some((vec![vec![0, 1, 2, 3, 4, 5]], vec![])));
        put("node/online", "0,2-3\n");
        put("node/node0/cpulist", "0-1,4\n");
        put("node/node2/cpulist", "2-3,5\n");
        put("node/node3/cpulist", "\n");
        for (p, shared) in [(0, "0,4"), (1, "1"), (2, "2-3,5")] {
            put(&format!("cpu/cpu{p}/cache/index3/shared_cpu_list"), shared);
        }
        let nodes = vec![vec![0, 1, 4], vec![2, 3, 5]];
        assert_eq!(sets(None), Some((nodes, vec![vec![0, 4], vec![1], vec![2, 3, 5]])));
        let mut mask: Mask = [0; MOST / 64];
        mask[0] = 0b11;
        assert_eq!(sets(Some(&mask)), Some((vec![vec![0, 1]], vec![vec![0], vec![1]])));
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the system")]
    fn a_bound_thread_runs_on_its_processors_only() {
        let given = || -> Vec<usize> {
            let mask = given().unwrap();
            (0..MOST).filter(|p| mask[p / 64] >> (p % 64) & 1 != 0).collect()
        };
        std::thread::spawn(move || {
            let all = given();
            assert!(bind(&all[..1]));
            assert_eq!(given(), all[..1]);
            // a container may hide /sys
            if let Some(bound) = machine(false) {
                assert_eq!(bound.nodes, [&all[..1]]);
                let nodes = machine(true).unwrap().nodes.concat();
                assert!(all.iter().all(|p| nodes.contains(p)), "{all:?} {nodes:?}");
            }
            assert!(!bind(&[MOST - 1]));
        })
        .join()
        .unwrap();
    }
}

//! Processors as Windows lists them. They come in *processor groups* of at most 64, and a thread is bound
//! within one group, so every memory node that Windows divides among several is several nodes here. Logical
//! processor `n` is number `n % 64` of processor group `n / 64`.
#![allow(unsafe_code)] // for the calls that list processors and bind threads

use super::Machine;
use std::collections::BTreeMap;
use windows_sys::Win32::System::SystemInformation::{
    CpuSetInformation, GROUP_AFFINITY, GetSystemCpuSetInformation, SYSTEM_CPU_SET_INFORMATION,
    SYSTEM_CPU_SET_INFORMATION_0_0,
};
use windows_sys::Win32::System::Threading::{
    ALL_PROCESSOR_GROUPS, GetActiveProcessorCount, GetCurrentProcess, GetCurrentThread,
    GetProcessAffinityMask, GetProcessGroupAffinity, SetThreadGroupAffinity,
};

/// Logical processors in all processor groups, also in those where the process did not start.
pub fn processors() -> Option<usize> {
    // SAFETY: a call without conditions.
    let count = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    usize::try_from(count).ok().filter(|n| *n > 64)
}

/// The processors that this process was given, or `all`.
pub fn machine(all: bool) -> Option<Machine> {
    let allowed = if all { None } else { given() };
    let (mut nodes, mut caches): (BTreeMap<_, Vec<usize>>, BTreeMap<_, Vec<usize>>) = Default::default();
    for set in cpu_sets()? {
        let processor = usize::from(set.Group) * 64 + usize::from(set.LogicalProcessorIndex);
        let excluded =
            |(group, mask): (u16, usize)| set.Group != group || mask >> set.LogicalProcessorIndex & 1 == 0;
        if !allowed.is_some_and(excluded) {
            // both numbers count within the processor group
            nodes.entry((set.Group, set.NumaNodeIndex)).or_default().push(processor);
            caches.entry((set.Group, set.LastLevelCacheIndex)).or_default().push(processor);
        }
    }
    let machine = Machine { nodes: nodes.into_values().collect(), caches: caches.into_values().collect() };
    Some(machine).filter(|m| !m.nodes.is_empty())
}

/// None: a process may run anywhere, wherever the thread was bound that started it.
pub fn cores() -> Option<Vec<Vec<Vec<usize>>>> {
    None
}

/// Binds the calling thread to those of the processors that are in the first one's processor group; false
/// where the system refuses.
pub fn bind(processors: &[usize]) -> bool {
    let Some(group) = processors.first().map(|p| p / 64) else { return false };
    let here = processors.iter().filter(|p| **p / 64 == group);
    let mask = here.fold(0, |mask, p| mask | 1 << (p % 64));
    let Ok(group) = group.try_into() else { return false };
    let affinity = GROUP_AFFINITY { Mask: mask, Group: group, Reserved: [0; 3] };
    // SAFETY: the affinity outlives the call, and the previous one is not asked for.
    unsafe { SetThreadGroupAffinity(GetCurrentThread(), &affinity, std::ptr::null_mut()) != 0 }
}

/// The processor group and the processors in it that the process is restricted to, if it is.
fn given() -> Option<(u16, usize)> {
    let (mut process, mut system, mut groups, mut group) = (0, 0, 1, 0);
    // SAFETY: the calls write two masks, and at most as many groups as said: one. With more they fail.
    let known = unsafe {
        let this = GetCurrentProcess();
        GetProcessAffinityMask(this, &mut process, &mut system) != 0
            && GetProcessGroupAffinity(this, &mut groups, &mut group) != 0
    };
    (known && process != 0 && process != system).then_some((group, process))
}

fn cpu_sets() -> Option<Vec<SYSTEM_CPU_SET_INFORMATION_0_0>> {
    let mut bytes = 0;
    // SAFETY: a buffer of no bytes; the call fails and writes how many it needs.
    unsafe { GetSystemCpuSetInformation(std::ptr::null_mut(), 0, &mut bytes, GetCurrentProcess(), 0) };
    let room = bytes as usize / size_of::<SYSTEM_CPU_SET_INFORMATION>() + 1;
    let mut sets = vec![SYSTEM_CPU_SET_INFORMATION::default(); room];
    let size = (room * size_of::<SYSTEM_CPU_SET_INFORMATION>()) as u32;
    // SAFETY: the buffer has the size that is said.
    let done =
        unsafe { GetSystemCpuSetInformation(sets.as_mut_ptr(), size, &mut bytes, GetCurrentProcess(), 0) };
    // a later Windows may have larger records
    let known = |set: &SYSTEM_CPU_SET_INFORMATION| {
        set.Size as usize == size_of::<SYSTEM_CPU_SET_INFORMATION>() && set.Type == CpuSetInformation
    };
    sets.truncate(bytes as usize / size_of::<SYSTEM_CPU_SET_INFORMATION>());
    if done == 0 || !sets.iter().all(known) {
        return None;
    }
    // SAFETY: records of this type hold this member.
    Some(sets.iter().map(|set| unsafe { set.Anonymous.CpuSet }).collect())
}

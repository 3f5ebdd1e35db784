//! How much memory the system has to give, within the limits of containers.

use super::pages::GIGANTIC_FROM_MB;
use std::path::Path;

/// Megabytes that can be allocated without swapping; none where that is unknown.
pub fn available_mb() -> Option<usize> {
    #[cfg(windows)]
    if let Some(mb) = windows_mb() {
        return Some(mb);
    }
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kb: usize = line.split_whitespace().next()?.parse().ok()?;
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(cgroup_free_mb(Path::new("/sys/fs/cgroup"), &group).map_or(kb / 1024, |mb| mb.min(kb / 1024)))
}

/// Physical memory that Windows can give at once.
#[cfg(windows)]
#[allow(unsafe_code)]
fn windows_mb() -> Option<usize> {
    use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
    let mut status =
        MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure has its size, which the call asks for.
    let known = unsafe { GlobalMemoryStatusEx(&mut status) } != 0;
    known.then_some((status.ullAvailPhys >> 20) as usize)
}

/// Whether a buffer of `mb` megabytes gets pages of 1 GB that the machine's owner has set aside. They are not
/// part of [`available_mb`].
pub fn has_gigantic_pages(mb: usize) -> bool {
    mb >= GIGANTIC_FROM_MB && gigantic_pages(Path::new("/sys/kernel/mm/hugepages")) >= mb.div_ceil(1024)
}

/// The number of free pages of 1 GB.
fn gigantic_pages(root: &Path) -> usize {
    let number = |name: &str| -> usize {
        let text = std::fs::read_to_string(root.join("hugepages-1048576kB").join(name)).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    };
    number("free_hugepages").saturating_sub(number("resv_hugepages"))
}

/// Free megabytes within the limits of the process's control group (version 2, else 1) and its parents.
/// `group` is the text of `/proc/self/cgroup`.
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
    use crate::support::put;

    #[test]
    fn limits_of_control_groups_count() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| put(dir.path(), name, text);
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
    fn pages_that_others_reserved_are_not_free() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(gigantic_pages(dir.path()), 0);
        put(dir.path(), "hugepages-1048576kB/free_hugepages", "12\n");
        put(dir.path(), "hugepages-1048576kB/resv_hugepages", "3\n");
        assert_eq!(gigantic_pages(dir.path()), 9);
    }
}

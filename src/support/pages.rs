//! Zeroed memory from the operating system in its largest pages: [`Pages`].
#![allow(unsafe_code)] // for the calls that map memory

use std::ptr::NonNull;

/// The size of a huge page on x86-64 and (with 4 KiB base pages) on aarch64; less under Miri, which takes
/// minutes for a few megabytes.
pub const HUGE_PAGE: usize = if cfg!(miri) { 1 << 14 } else { 2 << 20 };

/// Buffers of this size in MiB, and larger ones, get pages of 1 GiB if the machine's owner has set enough aside.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub const GIGANTIC_FROM_MB: usize = 8192;

/// Zeroed memory at a multiple of [`HUGE_PAGE`].
pub struct Pages {
    pub start: NonNull<u8>,
    /// What the pages are, for people.
    pub name: &'static str,
    /// What was mapped; `start` lies in it.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    mapped: (NonNull<u8>, usize),
}

pub use system::map;

#[cfg(target_os = "linux")]
mod system {
    use super::{GIGANTIC_FROM_MB, HUGE_PAGE, NonNull, Pages};

    /// A mapping of `bytes` bytes or more; none if there is no memory.
    pub fn map(bytes: usize) -> Option<Pages> {
        if bytes >> 20 >= GIGANTIC_FROM_MB
            && let Some(bytes) = bytes.checked_next_multiple_of(1 << 30)
            && let Some(start) = mmap(bytes, libc::MAP_HUGETLB | libc::MAP_HUGE_1GB)
        {
            return Some(Pages { start, name: "pages of 1 GB", mapped: (start, bytes) });
        }
        // One page more than needed, so that an aligned start lies within; whole pages, so that the last one
        // can be huge too. Untouched pages cost nothing.
        let span = bytes.checked_next_multiple_of(HUGE_PAGE)?;
        let bytes = span.checked_add(HUGE_PAGE)?;
        let base = mmap(bytes, 0)?;
        let start = NonNull::new(base.as_ptr().map_addr(|a| a.next_multiple_of(HUGE_PAGE)))?;
        // Miri does not know the call
        #[cfg(not(miri))]
        // SAFETY: `start .. start + span` lies within the mapping just made. The call is advice:
        // failing is harmless.
        unsafe {
            libc::madvise(start.as_ptr().cast(), span, libc::MADV_HUGEPAGE);
        }
        Some(Pages { start, name: "pages of 2 MB where the system has them", mapped: (base, bytes) })
    }

    /// A private anonymous mapping; `more` are more flags.
    fn mmap(bytes: usize, more: libc::c_int) -> Option<NonNull<u8>> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh mapping; no existing memory is affected.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind | more, -1, 0) };
        if base == libc::MAP_FAILED { None } else { NonNull::new(base.cast()) }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            let (base, bytes) = self.mapped;
            // SAFETY: exactly the mapping made in `map`, which nothing else refers to.
            unsafe {
                libc::munmap(base.as_ptr().cast(), bytes);
            }
        }
    }
}

#[cfg(windows)]
mod system {
    use super::{NonNull, Pages};
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;
    use windows_sys::Win32::Foundation::{CloseHandle, LUID};
    use windows_sys::Win32::Security::{
        AdjustTokenPrivileges, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_LOCK_MEMORY_NAME,
        SE_PRIVILEGE_ENABLED, TOKEN_ADJUST_PRIVILEGES, TOKEN_PRIVILEGES, TOKEN_QUERY,
    };
    use windows_sys::Win32::System::Memory::{
        GetLargePageMinimum, MEM_COMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE,
        VirtualAlloc, VirtualFree,
    };
    use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

    /// `bytes` bytes or more in large pages; none if the user may not lock pages in memory, or there are too few.
    pub fn map(bytes: usize) -> Option<Pages> {
        static PAGE: OnceLock<usize> = OnceLock::new();
        let page = *PAGE.get_or_init(|| {
            ask_for_the_privilege();
            // SAFETY: a call without conditions.
            unsafe { GetLargePageMinimum() }
        });
        let bytes = bytes.checked_next_multiple_of(page).filter(|_| page >= super::HUGE_PAGE)?;
        let kind = MEM_RESERVE | MEM_COMMIT | MEM_LARGE_PAGES;
        // SAFETY: fresh memory; no existing memory is affected.
        let start = NonNull::new(unsafe { VirtualAlloc(null(), bytes, kind, PAGE_READWRITE) }.cast())?;
        Some(Pages { start, name: "large pages", mapped: (start, bytes) })
    }

    /// Large pages need a privilege that an administrator gives to the user, and that a process has to
    /// enable.
    fn ask_for_the_privilege() {
        let mut token = null_mut();
        let mut luid = LUID::default();
        // SAFETY: all pointers outlive their calls, and the handle is closed. Where a call fails, the
        // privilege stays off and `VirtualAlloc` refuses.
        unsafe {
            if OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &mut token) == 0 {
                return;
            }
            if LookupPrivilegeValueW(null(), SE_LOCK_MEMORY_NAME, &mut luid) != 0 {
                let privilege = LUID_AND_ATTRIBUTES { Luid: luid, Attributes: SE_PRIVILEGE_ENABLED };
                let wanted = TOKEN_PRIVILEGES { PrivilegeCount: 1, Privileges: [privilege] };
                AdjustTokenPrivileges(token, 0, &wanted, 0, null_mut(), null_mut());
            }
            CloseHandle(token);
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: exactly the memory from `map`, which nothing else refers to.
            unsafe {
                VirtualFree(self.mapped.0.as_ptr().cast(), 0, MEM_RELEASE);
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
mod system {
    /// Nothing: ordinary allocations serve.
    pub fn map(_bytes: usize) -> Option<super::Pages> {
        None
    }
}

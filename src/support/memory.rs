//! Large zeroed buffers, in huge pages where the operating system gives them: [`HugeBuf`].
//!
//! The transposition table and the network's first layer are tens of megabytes to gigabytes and read at
//! random. With 4 KiB pages nearly every such read misses the TLB; with 2 MiB pages hardly any does, which is
//! worth 10 to 20 % of the speed of the search. On Linux a buffer is an anonymous mapping aligned to 2 MiB
//! and marked `MADV_HUGEPAGE` (transparent huge pages, no privileges needed), or of pages of 1 GiB from those
//! that are set aside. On Windows large pages need a privilege. Elsewhere, and for small buffers, it is an
//! ordinary allocation.
#![allow(unsafe_code)]

use super::pages::{self, HUGE_PAGE, Pages};
pub use bytemuck::Zeroable;
use std::alloc::Layout;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

/// Every buffer begins at a multiple of this (a cache line, and the widest vector register).
pub const ALIGN: usize = 64;

/// The operating system cannot allocate a buffer of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for a buffer of {bytes} bytes")]
pub struct OutOfMemory {
    /// The requested size.
    pub bytes: usize,
}

/// A fixed-length buffer of `T`, zeroed at first, aligned to [`ALIGN`], in huge pages if possible.
pub struct HugeBuf<T> {
    ptr: NonNull<T>,
    len: usize,
    origin: Origin,
}

/// Where the memory came from, which decides how it is freed.
enum Origin {
    /// No bytes at all.
    Nothing,
    Heap(Layout),
    Pages(Pages),
}

// SAFETY: the buffer owns its memory alone; sharing and sending it is as safe as for a `Vec<T>`.
unsafe impl<T: Send> Send for HugeBuf<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for HugeBuf<T> {}

impl<T: Zeroable> HugeBuf<T> {
    /// A buffer of `len` zeroed elements. The pages are not touched: the thread that first writes one gets it
    /// on its own NUMA node.
    pub fn zeroed(len: usize) -> Result<Self, OutOfMemory> {
        // nothing would drop the elements
        const { assert!(!std::mem::needs_drop::<T>()) };
        let align = ALIGN.max(align_of::<T>());
        let refused = OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) };
        let layout = Layout::array::<T>(len).and_then(|l| l.align_to(align)).map_err(|_| refused)?;
        if layout.size() == 0 {
            // dangling, but aligned
            let ptr = NonNull::new(std::ptr::without_provenance_mut(align)).ok_or(refused)?;
            return Ok(HugeBuf { ptr, len, origin: Origin::Nothing });
        }
        if layout.size() >= HUGE_PAGE
            && align <= HUGE_PAGE
            && let Some(pages) = pages::map(layout.size())
        {
            return Ok(HugeBuf { ptr: pages.start.cast(), len, origin: Origin::Pages(pages) });
        }
        // SAFETY: the layout's size is not 0.
        let ptr = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }.cast::<T>()).ok_or(refused)?;
        Ok(HugeBuf { ptr, len, origin: Origin::Heap(layout) })
    }

    /// The kind of its pages, for people.
    pub fn pages(&self) -> &'static str {
        match &self.origin {
            Origin::Pages(pages) => pages.name,
            _ => "ordinary pages",
        }
    }

    /// The indices of one of `parts` equal parts, which share no huge page.
    pub fn part(&self, index: usize, parts: usize) -> Range<usize> {
        let page = (HUGE_PAGE / size_of::<T>()).max(1);
        let part = self.len.div_ceil(parts.max(1)).next_multiple_of(page);
        let at = |index: usize| (index * part).min(self.len);
        at(index)..at(index + 1)
    }
}

impl<T: Zeroable + Copy> Clone for HugeBuf<T> {
    /// As `Vec` does, this aborts the process where there is no memory.
    fn clone(&self) -> HugeBuf<T> {
        let Ok(mut copy) = HugeBuf::zeroed(self.len) else {
            std::alloc::handle_alloc_error(Layout::for_value(&**self))
        };
        copy.copy_from_slice(self);
        copy
    }
}

impl<T> Deref for HugeBuf<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `ptr` is aligned and owns `len` initialised (zeroed, `T: Zeroable`) elements.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for HugeBuf<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }
}

impl<T> Drop for HugeBuf<T> {
    fn drop(&mut self) {
        if let Origin::Heap(layout) = self.origin {
            // SAFETY: allocated in `zeroed` with this very layout.
            unsafe { std::alloc::dealloc(self.ptr.as_ptr().cast(), layout) }
        }
    }
}

/// Asks the processor to load the cache line at `p`. Harmless for any address.
#[inline(always)]
pub fn prefetch<T>(p: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch reads nothing and never faults; SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(p.cast::<i8>());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch reads nothing and never faults.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) p, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = p;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_zeroed_aligned_and_writable() {
        for len in [0, 1, 1000, HUGE_PAGE / 8, HUGE_PAGE + 1] {
            let mut b = HugeBuf::<u64>::zeroed(len).unwrap();
            assert_eq!(b.len(), len);
            assert!(b.as_ptr().addr().is_multiple_of(ALIGN));
            assert!(b.iter().all(|&x| x == 0));
            b.iter_mut().enumerate().for_each(|(i, x)| *x = i as u64);
            assert!(b.iter().enumerate().all(|(i, &x)| x == i as u64));
            assert!(b.clone().iter().eq(b.iter()));
            for parts in [1, 3, 1000] {
                let indices = (0..parts).flat_map(|i| b.part(i, parts));
                assert!(indices.eq(0..len), "{len} in {parts}");
            }
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(HugeBuf::<u64>::zeroed(usize::MAX).is_err());
        assert!(HugeBuf::<u64>::zeroed(isize::MAX as usize / 8).is_err());
        // Miri stops here: it reports that its own memory is exhausted
        #[cfg(not(miri))]
        assert!(HugeBuf::<u64>::zeroed(1 << 58).is_err());
    }
}

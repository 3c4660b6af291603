//! Page-aligned memory, one slot per outstanding request, filled with incompressible bytes.

use std::alloc::{alloc_zeroed, dealloc, Layout};

use crate::fault::{Fault, Outcome};

const PAGE: usize = 4096;

#[cfg(test)]
thread_local! {
    /// Arenas that this thread has freed.
    pub static FREED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub struct Arena {
    base: *mut u8,
    layout: Layout,
    slot_bytes: usize,
}

// SAFETY: the arena owns its memory; slots are handed out to one request at a time.
unsafe impl Send for Arena {}
unsafe impl Sync for Arena {}

impl Arena {
    pub fn new(slots: usize, slot_bytes: usize) -> Outcome<Self> {
        let slot_bytes = slot_bytes.div_ceil(PAGE).saturating_mul(PAGE);
        let too_big = || Fault::Device(format!("no memory for {slots} buffers of {slot_bytes} bytes"));
        let bytes = slots.checked_mul(slot_bytes).filter(|&bytes| bytes > 0).ok_or_else(too_big)?;
        let layout = Layout::from_size_align(bytes, PAGE).map_err(|_| too_big())?;
        // SAFETY: the layout has a size above zero. Zeroed, because the slice below may refer to initialized bytes only.
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() {
            return Err(too_big());
        }
        let arena = Arena { base, layout, slot_bytes };
        // SAFETY: the memory was just allocated with this size, and is initialized.
        let bytes = unsafe { std::slice::from_raw_parts_mut(base, layout.size()) };
        fastrand::Rng::with_seed(0x5eed).fill(bytes);
        Ok(arena)
    }

    pub fn slot(&self, index: usize) -> *mut u8 {
        debug_assert!((index + 1) * self.slot_bytes <= self.layout.size());
        // SAFETY: index is below the number of slots that were allocated.
        unsafe { self.base.add(index * self.slot_bytes) }
    }

    /// Makes the slot's pages differ from what was written before, so that nothing can deduplicate them.
    pub fn stamp(&self, index: usize, length: usize, serial: u64) {
        for page in (0..length).step_by(PAGE) {
            // SAFETY: page + 8 lies inside the slot: lengths are at least a sector and at most a slot.
            unsafe { self.slot(index).add(page).cast::<u64>().write(serial ^ (page as u64) << 32) };
        }
    }

    pub fn as_iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.base.cast(), iov_len: self.layout.size() }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated with this very layout.
        unsafe { dealloc(self.base, self.layout) };
        #[cfg(test)]
        FREED.with(|freed| freed.set(freed.get() + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_cannot_be_had_is_a_fault() {
        for (slots, bytes) in [(256, usize::MAX / 256), (usize::MAX, PAGE), (1, isize::MAX as usize - PAGE), (0, PAGE)]
        {
            assert!(matches!(Arena::new(slots, bytes), Err(Fault::Device(_))), "{slots} of {bytes}");
        }
    }
}

//! Page-aligned memory, one slot per outstanding request, filled with incompressible bytes.

use std::alloc::{alloc, dealloc, Layout};

use crate::fault::{Fault, Outcome};

const PAGE: usize = 4096;

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
        let slot_bytes = slot_bytes.div_ceil(PAGE) * PAGE;
        let too_big = || Fault::Device(format!("no memory for {slots} buffers of {slot_bytes} bytes"));
        let layout = Layout::from_size_align(slots * slot_bytes, PAGE).map_err(|_| too_big())?;
        // SAFETY: the layout has a size above zero.
        let base = unsafe { alloc(layout) };
        if base.is_null() {
            return Err(too_big());
        }
        let arena = Arena { base, layout, slot_bytes };
        // SAFETY: the memory was just allocated with this size.
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
    }
}

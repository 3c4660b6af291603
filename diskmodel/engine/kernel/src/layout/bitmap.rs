//! Write-intent bitmap: which bits a write needs, and which of them are set (rule L13); see
//! `diskmodel/layout/md/bitmap.py`.

use rustc_hash::FxHashMap;

use super::{Family, Layout};

/// Bits of a page of 4 KiB, and what comes before the first one.
const BITS_PER_PAGE: i64 = 4096 * 8;
const HEADER_BITS: i64 = 256 * 8;

/// Page of the bitmap that a bit is on.
pub fn page_of(bit: i64) -> i64 {
    (HEADER_BITS + bit) / BITS_PER_PAGE
}

/// A bit that some write has needed.
#[derive(Clone, Copy, Default)]
struct Bit {
    /// Writes that need it and have not ended.
    n_writes: u32,
    /// On disk.
    is_set: bool,
    ended: i64,
}

/// The bits of an array.
pub struct Bitmap {
    interval_ns: i64,
    is_cleared: bool,
    bits: FxHashMap<i64, Bit>,
    /// Bits to be set by the next write of the bitmap, and by the one in progress.
    pending: Vec<i64>,
    flying: Vec<i64>,
}

impl Layout {
    /// First and last bit that a write of `n` sectors needs.
    pub fn bits_of(&self, sector: i64, n: i64) -> (i64, i64) {
        let bit = |place: i64| {
            let stripe = self.strip * self.n_data * self.n_groups;
            let is_row = self.family == Family::Parity;
            (if is_row { place / stripe * self.strip } else { place }) / self.bitmap_chunk
        };
        (bit(sector), bit(sector + n - 1))
    }
}

impl Bitmap {
    /// All bits clear.
    pub fn new(layout: &Layout) -> Self {
        Bitmap {
            interval_ns: layout.bitmap_interval_ns,
            is_cleared: layout.failed.is_empty(),
            bits: FxHashMap::default(),
            pending: Vec::new(),
            flying: Vec::new(),
        }
    }

    /// A write that needs these bits is about to begin; those that are not set become pending.
    pub fn enter(&mut self, (first, last): (i64, i64), now: i64) {
        for number in first..=last {
            let bit = self.bits.entry(number).or_default();
            let cleared = (bit.ended / self.interval_ns + 2).saturating_mul(self.interval_ns);
            let is_kept = bit.is_set && (!self.is_cleared || now < cleared);
            if bit.n_writes == 0 && !is_kept {
                bit.is_set = false;
                self.pending.push(number);
            }
            bit.n_writes += 1;
        }
    }

    /// A write that needed these bits has ended.
    pub fn ended(&mut self, (first, last): (i64, i64), now: i64) {
        for number in first..=last {
            let bit = self.bits.entry(number).or_default();
            bit.n_writes = bit.n_writes.saturating_sub(1);
            bit.ended = now;
        }
    }

    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Puts the pages to be written into `pages`, ascending; from now on the bits that were pending are being set.
    pub fn take(&mut self, pages: &mut Vec<i64>) {
        std::mem::swap(&mut self.flying, &mut self.pending);
        pages.clear();
        pages.extend(self.flying.iter().map(|&number| page_of(number)));
        pages.sort_unstable();
        pages.dedup();
    }

    /// The pages have been written: their bits are set.
    pub fn written(&mut self) {
        for number in self.flying.drain(..) {
            self.bits.entry(number).or_default().is_set = true;
        }
    }
}

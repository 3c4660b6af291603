//! What a host must keep, and what is made of it.

use super::start::Start;
use crate::host::{Costs, Flusher, HostTables, PageCacheTables, Pages};
use crate::rule::{all_within, each_within, has_length, size_within, within};
use crate::rule::{MAX_APART_NS, MAX_DEPTH, MAX_LENGTH_BYTES, MAX_SECTORS, MAX_TIME_NS, MAX_WORK_NS};
use crate::simulation::{Host, PageCache};

const MIN_WRITEBACK_NS: i64 = 1_000_000;
const MAX_PROCESSORS: i64 = 1024;

impl HostTables {
    /// Refuses what would not fit, over an array that takes requests of so many sectors.
    pub(super) fn check(&self, sector_bytes: i64, most_request: i64) -> Result<(), String> {
        for Costs { read, write } in [self.submission_ns, self.submission_sequential_ns] {
            all_within(&[("host.submission_ns", read), ("host.submission_ns", write)], 0, MAX_WORK_NS)?;
        }
        all_within(&[("host.lock_ns", self.lock_ns.read), ("host.lock_ns", self.lock_ns.write)], 0, MAX_WORK_NS)?;
        size_within("host.n_processors", self.n_processors, 1, MAX_PROCESSORS)?;
        let longest = MAX_LENGTH_BYTES / sector_bytes;
        let most = if self.is_buffered { longest.min(most_request) } else { longest };
        within("host.largest_request_sectors", self.largest_request_sectors, 1, most)?;
        within("host.page_sectors", self.page_sectors, 1, self.largest_request_sectors)?;
        within("host.read_ahead_sectors", self.read_ahead_sectors, 0, longest)?;
        has_length("host.pause_ns", self.pause_ns.len(), self.pause_gap_ns.len())?;
        each_within("host.pause_gap_ns", &self.pause_gap_ns, 1, MAX_APART_NS)?;
        each_within("host.pause_ns", &self.pause_ns, 1, MAX_APART_NS)?;
        let cycle = self.pause_gap_ns.iter().chain(&self.pause_ns).fold(0_i64, |sum, &ns| sum.saturating_add(ns));
        within("host.pause_ns (sum)", cycle, 0, 4 * MAX_APART_NS)?;
        let Some(cache) = &self.page_cache else { return Ok(()) };
        cache.check()
    }

    /// Of tables that were checked.
    pub(super) fn build(&self, capacity: i64, start: &Start) -> Result<Host, String> {
        let longest = (self.largest_request_sectors / self.page_sectors).max(1);
        let page_cache = self.page_cache.as_ref().map(|cache| cache.build(longest, start)).transpose()?;
        Ok(Host::new(self, page_cache, capacity))
    }
}

impl PageCacheTables {
    fn check(&self) -> Result<(), String> {
        size_within("host.page_cache.memory_pages", self.memory_pages, 1, MAX_SECTORS)?;
        size_within("host.page_cache.background_pages", self.background_pages, 0, MAX_SECTORS)?;
        size_within("host.page_cache.limit_pages", self.limit_pages, 0, MAX_SECTORS)?;
        // a flusher that wakes up more often would keep a run busy for nothing
        within("host.page_cache.old_ns", self.old_ns, MIN_WRITEBACK_NS, 2 * MAX_TIME_NS)?;
        size_within("host.page_cache.writeback_depth", self.writeback_depth, 1, MAX_DEPTH)
    }

    /// `longest`: most pages of a request.
    fn build(&self, longest: i64, start: &Start) -> Result<PageCache, String> {
        let mut pages = Pages::new(self.memory_pages, self.background_pages, self.limit_pages);
        pages.load(&start.pages_clean, &start.pages_dirty, -self.old_ns)?;
        let flusher = Flusher::new(self.old_ns, self.writeback_depth, longest);
        Ok(PageCache::new(pages, flusher, self.is_synchronous, self.sync_every))
    }
}

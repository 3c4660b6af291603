//! A host, as a caller hands it over.

use super::start::Start;
use crate::host::{Flusher, Pages};
use crate::rule::{all_within, holds, size_within, within};
use crate::rule::{MOST_APART_NS, MOST_DEPTH, MOST_LENGTH_BYTES, MOST_SECTORS, MOST_TIME_NS, MOST_WORK_NS};
use crate::simulation::{Host, HostTunables, PageCache};

const LEAST_WRITEBACK_NS: i64 = 1_000_000;

/// A host that costs time or buffers, as `diskmodel.host.tables.HostTables`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct HostTables {
    /// Of reads and of writes.
    pub submission_ns: [i64; 2],
    pub submission_sequential_ns: [i64; 2],
    /// Gaps and lengths of the processor's pauses.
    pub pauses: Vec<(i64, i64)>,
    pub is_buffered: bool,
    pub read_ahead_sectors: i64,
    pub largest_request_sectors: i64,
    pub page_sectors: i64,
    /// None: nothing is kept, and writes go to the array at once.
    pub page_cache: Option<PageCacheTables>,
}

/// A host's page cache, as `diskmodel.host.tables.PageCacheTables`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct PageCacheTables {
    pub memory_pages: usize,
    pub background_pages: usize,
    pub limit_pages: usize,
    pub dirty_expire_ns: i64,
    pub dirty_writeback_ns: i64,
    pub writeback_depth: usize,
    pub is_synchronous: bool,
    /// 0: never.
    pub sync_every: u64,
}

impl HostTables {
    /// Refuses what would not fit, over an array that takes requests of so many sectors.
    pub(super) fn check(&self, sector_bytes: i64, most_request: i64) -> Result<(), String> {
        for [reads, writes] in [self.submission_ns, self.submission_sequential_ns] {
            all_within(&[("host.submission_ns", reads), ("host.submission_ns", writes)], 0, MOST_WORK_NS)?;
        }
        let longest = MOST_LENGTH_BYTES / sector_bytes;
        let most = if self.is_buffered { longest.min(most_request) } else { longest };
        within("host.largest_request_sectors", self.largest_request_sectors, 1, most)?;
        within("host.page_sectors", self.page_sectors, 1, self.largest_request_sectors)?;
        within("host.read_ahead_sectors", self.read_ahead_sectors, 0, longest)?;
        if let Some(at) =
            self.pauses.iter().position(|&(gap, length)| gap.min(length) < 1 || gap.max(length) > MOST_APART_NS)
        {
            let rule = format_args!("a pause, and the time before it, must be 1 to {MOST_APART_NS}");
            holds(false, &format!("host.pauses[{at}]"), format_args!("{:?}", self.pauses[at]), rule)?;
        }
        let cycle = self.pauses.iter().fold(0_i64, |sum, &(gap, length)| sum.saturating_add(gap + length));
        within("host.pauses (sum)", cycle, 0, 4 * MOST_APART_NS)?;
        let Some(cache) = &self.page_cache else { return Ok(()) };
        cache.check()
    }

    /// Of tables that were checked.
    pub(super) fn build(&self, capacity: i64, start: &Start) -> Host {
        let longest = (self.largest_request_sectors / self.page_sectors).max(1);
        let page_cache = self.page_cache.as_ref().map(|cache| cache.build(longest, start));
        let tunables = HostTunables {
            submission_ns: self.submission_ns,
            sequential_ns: self.submission_sequential_ns,
            pauses: self.pauses.clone(),
            is_buffered: self.is_buffered,
            read_ahead: self.read_ahead_sectors,
            longest: self.largest_request_sectors,
            page: self.page_sectors,
            page_cache,
        };
        Host::new(tunables, capacity)
    }
}

impl PageCacheTables {
    fn check(&self) -> Result<(), String> {
        size_within("host.page_cache.memory_pages", self.memory_pages, 1, MOST_SECTORS)?;
        size_within("host.page_cache.background_pages", self.background_pages, 0, MOST_SECTORS)?;
        size_within("host.page_cache.limit_pages", self.limit_pages, 0, MOST_SECTORS)?;
        within("host.page_cache.dirty_expire_ns", self.dirty_expire_ns, 0, MOST_TIME_NS)?;
        // a flusher that wakes up more often would keep a run busy for nothing
        within("host.page_cache.dirty_writeback_ns", self.dirty_writeback_ns, LEAST_WRITEBACK_NS, MOST_TIME_NS)?;
        size_within("host.page_cache.writeback_depth", self.writeback_depth, 1, MOST_DEPTH)
    }

    /// `longest`: most pages of a request.
    fn build(&self, longest: i64, start: &Start) -> PageCache {
        let mut pages = Pages::new(self.memory_pages, self.background_pages, self.limit_pages);
        let dirty = start.pages_dirty.iter().copied().zip(start.pages_since_ns.iter().copied());
        pages.load(start.pages_clean.iter().copied(), dirty);
        let flusher = Flusher::new(self.dirty_expire_ns, self.dirty_writeback_ns, self.writeback_depth, longest);
        PageCache::new(pages, flusher, self.is_synchronous, self.sync_every)
    }
}

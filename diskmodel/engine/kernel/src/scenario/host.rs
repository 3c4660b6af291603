//! A host, as a caller hands it over.

use crate::host::{Flusher, Pages};
use crate::simulation::{Host, HostTunables, PageCache};

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
    pub fn build(&self, capacity: i64) -> Result<Host, String> {
        if self.page_sectors <= 0 || self.largest_request_sectors <= 0 {
            return Err("pages and requests must have at least one sector".into());
        }
        if self.pauses.iter().any(|&(gap, length)| gap <= 0 || length <= 0) {
            return Err("a processor's pauses, and the time between them, must be longer than 0".into());
        }
        let longest = (self.largest_request_sectors / self.page_sectors).max(1);
        let page_cache = self.page_cache.as_ref().map(|cache| cache.build(longest)).transpose()?;
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
        Ok(Host::new(tunables, capacity))
    }
}

impl PageCacheTables {
    /// `longest`: most pages of a request.
    fn build(&self, longest: i64) -> Result<PageCache, String> {
        if self.dirty_writeback_ns <= 0 || self.writeback_depth == 0 {
            return Err("a page cache must be written back at intervals, with at least one request".into());
        }
        let pages = Pages::new(self.memory_pages, self.background_pages, self.limit_pages);
        let flusher = Flusher::new(self.dirty_expire_ns, self.dirty_writeback_ns, self.writeback_depth, longest);
        Ok(PageCache::new(pages, flusher, self.is_synchronous, self.sync_every))
    }
}

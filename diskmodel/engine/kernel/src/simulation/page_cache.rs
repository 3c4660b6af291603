//! A host with a page cache: hits, partial pages, write-back, writers that wait (rules P1 to P9); see
//! `diskmodel/engine/reference/page_cache.py` and `flusher.py`.

use std::collections::VecDeque;
use std::ops::Range;

use super::{AboveHost, Host, HostRequest, Purpose, WithHost};
use crate::device::Device;
use crate::events::{Action, ARRIVE};
use crate::host::{cut, pages_of, Flusher, Pages, Run, Syncs};
use crate::mechanics::{FLUSH, READ, WRITE};

/// Memory between the clients and the controller, and who writes it back.
pub struct PageCache {
    pub pages: Pages,
    flusher: Flusher,
    is_synchronous: bool,
    /// Writes that wait, in order of arrival, and since when.
    blocked: VecDeque<(u32, i64)>,
    missing: Vec<(i64, i64)>,
    /// Each so-many-th write is followed by fsync; 0: never.
    sync_every: u64,
    n_written: u64,
    syncs: Syncs,
}

impl PageCache {
    pub fn new(pages: Pages, flusher: Flusher, is_synchronous: bool, sync_every: u64) -> Self {
        PageCache {
            pages,
            flusher,
            is_synchronous,
            blocked: VecDeque::new(),
            missing: Vec::new(),
            sync_every,
            n_written: 0,
            syncs: Syncs::default(),
        }
    }

    /// Pages that are dirty or in flight (rule Z7).
    pub fn n_dirty(&self) -> usize {
        self.pages.n_dirty()
    }

    /// Whether somebody waits for dirty pages to be sent (rules P6, P9).
    fn has_waiting(&self) -> bool {
        !self.blocked.is_empty() || self.syncs.are_unsent()
    }
}

impl<D: Device, C: AboveHost<D>> WithHost<D, C> {
    /// The page cache, and sectors of a page.
    pub(super) fn page_cache(&mut self) -> Option<(&mut PageCache, i64)> {
        let host = self.kind.front.host.system.as_mut()?;
        host.page_cache.as_mut().map(|cache| (cache, host.page))
    }

    /// A buffered request is past the processor.
    pub(super) fn enter_memory(&mut self, id: u32) {
        let now = self.events.now;
        self.requests[id].is_hit = false;
        if self.requests[id].op == READ {
            return self.read_memory(id);
        }
        let Some((cache, _)) = self.page_cache() else { return };
        cache.blocked.push_back((id, now));
        self.admit_to_memory();
        self.flush();
    }

    // ------------------------------------------------------------------ reads
    /// A read is answered once all of its pages are in memory (rule P2).
    fn read_memory(&mut self, id: u32) {
        let HostRequest { sector, n, .. } = self.requests[id];
        let (now, capacity) = (self.events.now, self.volume.layout.capacity);
        let Some(host) = &mut self.kind.front.host.system else { return };
        let page = host.page;
        let mut wanted = std::mem::take(&mut host.wanted);
        host.read_ahead.read(sector, sector + n, &mut wanted);
        let is_page_by_page = host.is_page_by_page;
        let span = pages_of(sector, n, page);
        if is_page_by_page {
            let Some(host) = &mut self.kind.front.host.system else { return };
            host.wanted = wanted;
            let at = host.begin_one_by_one(id, now);
            host.one_by_one[at].left.extend(cut(span.start * page, capacity.min(span.end * page), page));
            return self.next_page(at);
        }
        self.fetch_missing(id, &wanted, span.clone(), page);
        if let Some(host) = &mut self.kind.front.host.system {
            host.wanted = wanted;
        }
        if !self.wait_for_fetching(id) {
            return self.answer_from_memory(id, now);
        }
        if let Some((cache, _)) = self.page_cache() {
            cache.pages.use_again(span);
        }
    }

    fn answer_from_memory(&mut self, id: u32, since: i64) {
        let waited = self.events.now - since;
        let request = &mut self.requests[id];
        request.is_hit = waited == 0;
        request.cache += waited;
        let (sector, n) = (request.sector, request.n);
        if let Some((cache, page)) = self.page_cache() {
            cache.pages.use_again(pages_of(sector, n, page));
        }
        C::done(self, id);
    }

    /// Fetches the requested pages, then those of `span`, that are neither in memory nor being fetched; adjacent
    /// ones together.
    fn fetch_missing(&mut self, id: u32, wanted: &[(i64, i64)], span: Range<i64>, page: i64) {
        let capacity = self.volume.layout.capacity;
        let Some(host) = &mut self.kind.front.host.system else { return };
        let Some(cache) = &mut host.page_cache else { return };
        let mut missing = std::mem::take(&mut cache.missing);
        missing.clear();
        let of_range = |&(first, end): &(i64, i64)| pages_of(first, end - first, page);
        let others = span.filter(|at| !wanted.iter().any(|range| of_range(range).contains(at)));
        for first in wanted.iter().flat_map(of_range).chain(others).map(|at| at * page) {
            if cache.pages.holds(first / page) || host.fetching.has(first) {
                continue;
            }
            let end = (first + page).min(capacity);
            match missing.last_mut() {
                Some(last) if last.1 == first => last.1 = end,
                _ => missing.push((first, end)),
            }
        }
        let longest = host.longest;
        for (first, end) in missing.iter().flat_map(|&(first, end)| cut(first, end, longest)) {
            self.fetch_window(id, first, end);
        }
        if let Some((cache, _)) = self.page_cache() {
            cache.missing = missing;
        }
    }

    // ------------------------------------------------------------------ writes
    /// Writers enter in order of arrival while the limit lets them (rule P6).
    fn admit_to_memory(&mut self) {
        while let Some(Host { page, page_cache: Some(cache), .. }) = self.kind.front.host.system.as_deref_mut() {
            let Some(&(id, since)) = cache.blocked.front() else { return };
            let HostRequest { sector, n, .. } = self.requests[id];
            if !cache.is_synchronous && !cache.pages.may_write(pages_of(sector, n, *page)) {
                return;
            }
            cache.blocked.pop_front();
            self.write_memory(id, since);
        }
    }

    /// Pages that the write covers in part are read first (rule P3).
    fn write_memory(&mut self, id: u32, since: i64) {
        let HostRequest { sector, n, .. } = self.requests[id];
        let capacity = self.volume.layout.capacity;
        let Some(host) = &mut self.kind.front.host.system else { return };
        let (page, end) = (host.page, sector + n);
        let at = host.begin_one_by_one(id, since);
        let (first, last) = (sector / page, (end - 1) / page);
        let left = &mut host.one_by_one[at].left;
        let is_first = sector % page > 0;
        if is_first {
            left.push_back((first * page, capacity.min((first + 1) * page)));
        }
        if end % page > 0 && !(is_first && first == last) && end < capacity {
            left.push_back((last * page, capacity.min((last + 1) * page)));
        }
        self.next_page(at);
    }

    /// All pages that a request has to read are in memory.
    pub(super) fn pages_complete(&mut self, at: u32) {
        let capacity = self.volume.layout.capacity;
        let now = self.events.now;
        let Some(host) = &mut self.kind.front.host.system else { return };
        let (id, since, page, longest) = (host.one_by_one[at].host, host.one_by_one[at].since, host.page, host.longest);
        let is_synchronous = host.page_cache.as_ref().is_some_and(|cache| cache.is_synchronous);
        let HostRequest { op, row, sector, n, .. } = self.requests[id];
        let span = pages_of(sector, n, page);
        if op == WRITE && is_synchronous {
            // rule P7: the pages, whole, and the writer waits
            let (first, end) = (span.start * page, capacity.min(span.end * page));
            host.one_by_one[at].out = cut(first, end, longest).count();
            cut(first, end, longest).for_each(|part| self.send_below(row, WRITE, part, Purpose::Part(at)));
            return;
        }
        host.one_by_one.release(at);
        if op == READ {
            return self.answer_from_memory(id, since);
        }
        let is_synced = self.requests[id].sync > 0;
        if let Some((cache, _)) = self.page_cache() {
            cache.pages.write(span, now, row);
            cache.n_written += 1;
            if is_synced || cache.sync_every > 0 && cache.n_written % cache.sync_every == 0 {
                cache.syncs.begin(id, since, now);
                return self.flush();
            }
        }
        self.requests[id].cache += now - since;
        C::done(self, id);
        self.flush();
    }

    /// A part of a synchronous write is on the array (rule P7).
    pub(super) fn part_written(&mut self, at: u32) {
        let Some(host) = &mut self.kind.front.host.system else { return };
        let write = &mut host.one_by_one[at];
        write.out -= 1;
        if write.out > 0 {
            return;
        }
        let (id, since, page) = (write.host, write.since, host.page);
        host.one_by_one.release(at);
        let HostRequest { sector, n, .. } = self.requests[id];
        if let Some((cache, _)) = self.page_cache() {
            cache.pages.add(pages_of(sector, n, page));
        }
        self.requests[id].cache += self.events.now - since;
        C::make_safe(self, id);
    }

    // ------------------------------------------------------------------ write-back
    /// Pages became dirty, or have been written, or a writer waits: goes on where there is something to do (rule P5).
    fn flush(&mut self) {
        let (device, capacity) = (self.drives.len() + 2, self.volume.layout.capacity);
        while let Some((cache, page)) = self.page_cache() {
            let has_waiting = cache.has_waiting();
            let Some(Run { row, first, end }) = cache.flusher.next(&mut cache.pages, has_waiting) else { break };
            cache.syncs.sent(first);
            self.send_below(row, WRITE, (first * page, capacity.min(end * page)), Purpose::WriteBack);
        }
        self.plan_to_wake(device);
        self.answer_syncs();
    }

    /// Writers for whom everything is on the array are done (rule P9).
    fn answer_syncs(&mut self) {
        let now = self.events.now;
        let Some((cache, _)) = self.page_cache() else { return };
        cache.syncs.look(cache.pages.oldest());
        while let Some((id, since)) = self.page_cache().and_then(|(cache, _)| cache.syncs.next_done()) {
            let request = &mut self.requests[id];
            let part = if request.op == FLUSH { &mut request.sync_ns } else { &mut request.cache };
            *part += now - since;
            C::make_safe(self, id);
        }
    }

    /// A flush of a stream waits until what is dirty is on the array (rules P9 and Y11).
    pub(super) fn sync_memory(&mut self, id: u32) {
        let now = self.events.now;
        if let Some((cache, _)) = self.page_cache() {
            cache.syncs.begin(id, now, now);
        }
        self.flush();
    }

    /// Pages may be dirty when the run begins: the flusher wakes up at once (rule Z6).
    pub(super) fn start_flusher(&mut self) {
        self.plan_to_wake(self.drives.len() + 2);
    }

    fn plan_to_wake(&mut self, device: u32) {
        let Some((PageCache { pages, flusher, .. }, _)) = self.page_cache() else { return };
        if let Some(time) = flusher.next_wake(pages) {
            self.events.at(time, ARRIVE, device, 0, Action::FlusherWoken);
        }
    }

    /// What is dirty may have grown old (rule P5).
    pub(super) fn flusher_woken(&mut self) {
        let now = self.events.now;
        if let Some((PageCache { pages, flusher, .. }, _)) = self.page_cache() {
            flusher.woken(pages, now);
        }
        self.flush();
    }

    /// Pages of the flusher are on the array.
    pub(super) fn written_back(&mut self, sector: i64, n: i64) {
        if let Some((cache, page)) = self.page_cache() {
            cache.flusher.written();
            cache.syncs.written(sector / page);
            cache.pages.finish(pages_of(sector, n, page));
        }
        self.admit_to_memory();
        self.flush();
    }
}

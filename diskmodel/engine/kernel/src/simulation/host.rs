//! The host before the controller: processor time of each request, buffered reads (rules H1 to H5); see
//! `diskmodel/engine/reference/host.py`. With a page cache requests go its way (`page_cache.rs`).

use std::collections::VecDeque;

use super::{AboveController, AboveHost, HostRequest, PageCache, Purpose, WithFront, WithHost};
use crate::command::Slots;
use crate::device::Device;
use crate::events::{Action, COMPLETE, LAST_NS};
use crate::host::{cut, pages_of, Fetching, HostTables, Pauses, ReadAhead};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::progress::Progress;
use crate::traffic::PASS_THROUGH;

/// A host that costs time or buffers. Lengths in sectors.
pub struct Host {
    /// Processor time of reads and of writes.
    submission_ns: [i64; 2],
    sequential_ns: [i64; 2],
    /// Operation and place with which a request goes on where the last one ended.
    goes_on_at: Option<(u8, i64)>,
    processor_pauses: Option<Pauses>,
    pub(super) answer_pauses: Option<Pauses>,
    is_buffered: bool,
    /// Longest request that the device takes.
    pub(super) longest: i64,
    pub(super) page: i64,
    /// Whether nothing is read ahead, so that pages are fetched one after the other.
    pub(super) is_page_by_page: bool,
    pub(super) read_ahead: ReadAhead,
    pub(super) page_cache: Option<PageCache>,
    pub(super) n_processors: usize,
    lock_ns: [i64; 2],
    lock_free: i64,
    pub(super) fetching: Fetching,
    /// Reads that a range has set free, and since when they waited.
    set_free: Vec<(u32, i64)>,
    pub(super) one_by_one: Slots<OneByOne>,
    pub(super) wanted: Vec<(i64, i64)>,
}

/// A request whose pages, or those that it covers in part, are fetched one after the other.
#[derive(Default)]
pub(super) struct OneByOne {
    pub host: u32,
    pub since: i64,
    pub left: VecDeque<(i64, i64)>,
    /// Requests in flight to the array, of a write that waits for them.
    pub out: usize,
}

impl Host {
    /// Of tables that were checked, over an array of so many sectors.
    pub fn new(tables: &HostTables, page_cache: Option<PageCache>, capacity: i64) -> Self {
        let (longest, page) = (tables.largest_request_sectors, tables.page_sectors);
        let read_ahead = tables.read_ahead_sectors;
        let pauses: Vec<_> = tables.pause_gap_ns.iter().copied().zip(tables.pause_ns.iter().copied()).collect();
        Host {
            submission_ns: tables.submission_ns.by_op(),
            sequential_ns: tables.submission_sequential_ns.by_op(),
            goes_on_at: None,
            processor_pauses: Pauses::of(&pauses),
            answer_pauses: Pauses::of(&pauses),
            is_buffered: tables.is_buffered,
            longest,
            page,
            is_page_by_page: read_ahead == 0,
            read_ahead: ReadAhead::new(read_ahead, page, capacity),
            page_cache,
            n_processors: tables.n_processors,
            lock_ns: tables.lock_ns.by_op(),
            lock_free: 0,
            fetching: Fetching::new(longest),
            set_free: Vec::new(),
            one_by_one: Slots::default(),
            wanted: Vec::new(),
        }
    }

    /// Room for the pages that a request fetches one after the other, none yet.
    pub(super) fn begin_one_by_one(&mut self, host: u32, since: i64) -> u32 {
        let id = self.one_by_one.reuse();
        let slot = &mut self.one_by_one[id];
        (slot.host, slot.since, slot.out) = (host, since, 0);
        slot.left.clear();
        id
    }
}

/// A host, where there is one that costs time or buffers, and the programs on it.
pub struct Hosted<C> {
    pub(super) system: Option<Box<Host>>,
    pub(super) clients: C,
}

impl<D: Device, C: AboveHost<D>> AboveController<D> for Hosted<C> {
    #[inline(always)]
    fn answered(on: &mut WithFront<D, Self>, request: u32) {
        on.came_back(request);
    }

    fn progress(&mut self) -> &mut Progress {
        self.clients.progress()
    }
}

impl<D: Device, C: AboveHost<D>> WithHost<D, C> {
    /// A program's request sets out: through the host, where there is one.
    #[inline(always)]
    pub(super) fn submit_request(&mut self, id: u32) {
        if self.kind.front.host.system.is_some() {
            self.submit_to_host(id);
        } else {
            self.submit_to_controller(id);
        }
    }

    /// A request comes in, now: first the processor that is free first (rules H1, H4).
    pub(super) fn submit_to_host(&mut self, id: u32) {
        let now = self.events.now;
        let device = self.drives.len() + 2;
        let Some(host) = &mut self.kind.front.host.system else { return self.submit_to_controller(id) };
        let request = &mut self.requests[id];
        let work = if request.op == FLUSH {
            // in one call with its write, or in one of its own (rule Y3)
            host.submission_ns[WRITE as usize] >> u32::from(request.sync == PASS_THROUGH)
        } else {
            let is_next = host.goes_on_at == Some((request.op, request.sector));
            host.goes_on_at = Some((request.op, request.sector + request.n));
            (if is_next { host.sequential_ns } else { host.submission_ns })[request.op as usize]
        };
        if work == 0 && host.processor_pauses.is_none() {
            // what takes no time does not wait for a processor, whoever has it
            return self.take_lock(id);
        }
        let begin = now.max(self.processors.first_free());
        let begin = begin.min(LAST_NS);
        let free = match &mut host.processor_pauses {
            Some(pauses) => {
                let awake = pauses.awake(begin);
                pauses.worked(awake, work)
            }
            None => begin + work,
        };
        if free == now {
            return self.take_lock(id);
        }
        request.queue += free - work - now;
        request.overhead += work;
        self.processors.take_until(free);
        self.events.at(free, COMPLETE, device, request.row, Action::Submitted(id));
    }

    /// Takes what only one request can hold, one after the other (rule H5).
    pub(super) fn take_lock(&mut self, id: u32) {
        let now = self.events.now;
        let device = self.drives.len() + 2;
        let Some(host) = &mut self.kind.front.host.system else { return self.entered(id) };
        let request = &mut self.requests[id];
        let work = host.lock_ns[request.op.min(WRITE) as usize];
        if work == 0 {
            return self.entered(id);
        }
        let begin = now.max(host.lock_free);
        let free = begin.min(LAST_NS) + work;
        request.queue += free - work - now;
        request.overhead += work;
        host.lock_free = free;
        self.events.at(free, COMPLETE, device, request.row, Action::Entered(id));
    }

    /// Direct I/O goes down as it is; a buffered read is answered once its pages are in memory (rule H2).
    pub(super) fn entered(&mut self, id: u32) {
        let HostRequest { op, sector, n, .. } = self.requests[id];
        let (now, end) = (self.events.now, sector + n);
        if op == FLUSH && !self.takes_flushes() {
            return self.noticed(id);
        }
        if op != FLUSH && self.page_cache().is_some() {
            return self.enter_memory(id);
        }
        let Some(host) = self.kind.front.host.system.as_mut().filter(|host| host.is_buffered && op == READ) else {
            return self.submit_to_controller(id);
        };
        self.requests[id].is_hit = false;
        let mut wanted = std::mem::take(&mut host.wanted);
        host.read_ahead.read(sector, end, &mut wanted);
        if host.is_page_by_page {
            let page = host.page;
            let pages = host.begin_one_by_one(id, now);
            host.one_by_one[pages].left.extend(wanted.iter().flat_map(|&(first, last)| cut(first, last, page)));
            host.wanted = wanted;
            self.next_page(pages);
            return;
        }
        let longest = host.longest;
        for (first, last) in wanted.iter().flat_map(|&(first, last)| cut(first, last, longest)) {
            self.fetch_window(id, first, last);
        }
        if let Some(host) = &mut self.kind.front.host.system {
            host.wanted = wanted;
        }
        if !self.wait_for_fetching(id) {
            self.requests[id].is_hit = true;
            C::done(self, id);
        }
    }

    /// Sectors [first, end), at most the longest request, are being fetched into memory.
    pub(super) fn fetch_window(&mut self, id: u32, first: i64, end: i64) {
        if let Some(host) = &mut self.kind.front.host.system {
            host.fetching.add(first, end);
        }
        self.send_below(self.requests[id].row, READ, (first, end), Purpose::Window);
    }

    /// Lets a read wait for what it needs and is being fetched; false when nothing is.
    pub(super) fn wait_for_fetching(&mut self, id: u32) -> bool {
        let HostRequest { sector, n, .. } = self.requests[id];
        let (since, end) = (self.events.now, sector + n);
        self.kind.front.host.system.as_mut().is_some_and(|host| host.fetching.wait(id, since, sector, end))
    }

    /// A request of the host's own for sectors [first, end).
    pub(super) fn send_below(&mut self, row: u64, op: u8, (first, end): (i64, i64), purpose: Purpose) {
        let (sector, n, issue) = (first, end - first, self.events.now);
        let below = self.requests.put(HostRequest { row, op, sector, n, issue, purpose, ..HostRequest::default() });
        self.submit_to_controller(below);
    }

    /// Without read-ahead each page is fetched when the one before it has come (rule H3).
    pub(super) fn next_page(&mut self, at: u32) {
        let Some(host) = &mut self.kind.front.host.system else { return };
        let OneByOne { host: id, since, left, .. } = &mut host.one_by_one[at];
        let (id, since) = (*id, *since);
        while let Some((first, end)) = left.pop_front() {
            if host.page_cache.as_ref().is_some_and(|cache| cache.pages.holds(first / host.page)) {
                continue;
            }
            return self.send_below(self.requests[id].row, READ, (first, end), Purpose::Page(at));
        }
        if host.page_cache.is_some() {
            return self.pages_complete(at);
        }
        host.one_by_one.release(at);
        self.requests[id].cache += self.events.now - since;
        C::done(self, id);
    }

    /// A page of a request that fetches them one after the other has come.
    pub(super) fn page_came(&mut self, at: u32, sector: i64) {
        if let Some((cache, page)) = self.page_cache() {
            cache.pages.add(sector / page..sector / page + 1);
        }
        self.next_page(at);
    }

    /// A range has come into memory: reads that wait for nothing else are done.
    pub(super) fn fetched(&mut self, first: i64, end: i64) {
        let now = self.events.now;
        if let Some((cache, page)) = self.page_cache() {
            cache.pages.add(pages_of(first, end - first, page));
        }
        let Some(host) = &mut self.kind.front.host.system else { return };
        let mut set_free = std::mem::take(&mut host.set_free);
        host.fetching.came(first, end, |id, since| set_free.push((id, since)));
        for (id, since) in set_free.drain(..) {
            self.requests[id].cache += now - since;
            C::done(self, id);
        }
        if let Some(host) = &mut self.kind.front.host.system {
            host.set_free = set_free;
        }
    }

    // ------------------------------------------------------------------ answers
    /// The controller has answered, now; a processor of the host that stands still notices it later (rule H4).
    #[inline(always)]
    fn came_back(&mut self, host: u32) {
        let now = self.events.now;
        let device = self.drives.len() + 2;
        if let Some(pauses) = self.kind.front.host.system.as_mut().and_then(|host| host.answer_pauses.as_mut()) {
            let noticed = pauses.awake(now);
            if noticed > now {
                let request = &mut self.requests[host];
                request.queue += noticed - now;
                return self.events.at(noticed, COMPLETE, device, request.row, Action::Noticed(host));
            }
        }
        self.noticed(host);
    }

    #[inline(always)]
    pub(super) fn noticed(&mut self, host: u32) {
        let HostRequest { purpose, sector, n, sync, .. } = self.requests[host];
        match purpose {
            Purpose::Client if sync > 0 => C::make_safe(self, host),
            Purpose::Client => C::done(self, host),
            Purpose::Flush(asked) => {
                self.requests.release(host);
                C::made_safe(self, asked);
            }
            Purpose::Journal(next) => {
                self.requests.release(host);
                C::journal_answered(self, next);
            }
            Purpose::Committed => {
                self.requests.release(host);
                C::committed(self);
            }
            Purpose::Window => {
                self.requests.release(host);
                self.fetched(sector, sector + n);
            }
            Purpose::Page(at) => {
                self.requests.release(host);
                self.page_came(at, sector);
            }
            Purpose::Part(at) => {
                self.requests.release(host);
                self.part_written(at);
            }
            Purpose::WriteBack => {
                self.requests.release(host);
                self.written_back(sector, n);
            }
        }
    }
}

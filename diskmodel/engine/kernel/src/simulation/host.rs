//! The host before the controller: processor time of each request, buffered reads (rules H1 to H3); see
//! `diskmodel/engine/host.py`.

use std::collections::VecDeque;

use super::{HostRequest, Purpose, Simulation};
use crate::command::Slots;
use crate::device::Device;
use crate::events::{Action, COMPLETE};
use crate::faults::{planted, Fault};
use crate::host::ReadAhead;
use crate::mechanics::READ;
use crate::traffic::Traffic;

/// A host that costs time or buffers. Lengths in sectors.
pub struct Host {
    submission_ns: i64,
    is_buffered: bool,
    /// Longest request that the device takes.
    longest: i64,
    page: i64,
    /// Whether nothing is read ahead, so that pages are fetched one after the other.
    is_page_by_page: bool,
    read_ahead: ReadAhead,
    processor_free: i64,
    /// Ranges [first, end) on their way into memory.
    coming: Vec<(i64, i64)>,
    waiting: Vec<Waiting>,
    pages: Slots<Pages>,
    wanted: Vec<(i64, i64)>,
    spare: Vec<Vec<(i64, i64)>>,
}

/// A read that waits for ranges since some time.
struct Waiting {
    host: u32,
    since: i64,
    ranges: Vec<(i64, i64)>,
}

/// A read whose pages are fetched one after the other.
#[derive(Default)]
struct Pages {
    host: u32,
    since: i64,
    left: VecDeque<(i64, i64)>,
}

/// A host as it is described. Lengths in sectors.
#[derive(Clone, Copy, Debug)]
pub struct HostTunables {
    pub submission_ns: i64,
    pub is_buffered: bool,
    pub read_ahead: i64,
    pub longest: i64,
    pub page: i64,
}

impl Host {
    pub fn new(tunables: &HostTunables, capacity: i64) -> Self {
        let HostTunables { submission_ns, is_buffered, read_ahead, longest, page } = *tunables;
        Host {
            submission_ns,
            is_buffered,
            longest: longest - i64::from(planted(Fault::RequestCut)),
            page,
            is_page_by_page: read_ahead == 0,
            read_ahead: ReadAhead::new(read_ahead, page, capacity),
            processor_free: 0,
            coming: Vec::new(),
            waiting: Vec::new(),
            pages: Slots::default(),
            wanted: Vec::new(),
            spare: Vec::new(),
        }
    }
}

/// Pieces of [first, end) of at most `longest`.
fn cut(first: i64, end: i64, longest: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..(end - first + longest - 1) / longest).map(move |i| {
        let at = first + i * longest;
        (at, (at + longest).min(end))
    })
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// A request comes in, now: first the processor, one request after the other (rule H1).
    pub(super) fn submit_to_host(&mut self, id: u32) {
        let now = self.events.now;
        let device = self.disks.len() as u32 + 2;
        let Some(host) = &mut self.host else { return self.submit_to_controller(id) };
        if host.submission_ns == 0 {
            return self.entered(id);
        }
        let begin = if planted(Fault::SubmissionQueue) { now } else { now.max(host.processor_free) };
        host.processor_free = begin + host.submission_ns;
        let request = &mut self.hosts[id];
        request.queue += begin - now;
        request.overhead += host.submission_ns;
        self.events.at(host.processor_free, COMPLETE, device, request.row, Action::Entered(id));
    }

    /// Direct I/O goes down as it is; a buffered read is answered once its pages are in memory (rule H2).
    pub(super) fn entered(&mut self, id: u32) {
        let HostRequest { op, sector, n, .. } = self.hosts[id];
        let (now, end) = (self.events.now, sector + n);
        let Some(host) = self.host.as_mut().filter(|host| host.is_buffered && op == READ) else {
            return self.submit_to_controller(id);
        };
        self.hosts[id].is_hit = false;
        let mut wanted = std::mem::take(&mut host.wanted);
        host.read_ahead.read(sector, end, &mut wanted);
        if host.is_page_by_page {
            let page = host.page;
            let pages = host.pages.put_reusing(|pages| {
                (pages.host, pages.since) = (id, now);
                pages.left.clear();
            });
            host.pages[pages].left.extend(wanted.iter().flat_map(|&(first, last)| cut(first, last, page)));
            host.wanted = wanted;
            self.next_page(pages);
            return;
        }
        let longest = host.longest;
        for (first, last) in wanted.iter().flat_map(|&(first, last)| cut(first, last, longest)) {
            if let Some(host) = &mut self.host {
                host.coming.push((first, last));
            }
            self.fetch(id, first, last, Purpose::Window);
        }
        let Some(host) = &mut self.host else { return };
        host.wanted = wanted;
        let mut ranges = host.spare.pop().unwrap_or_default();
        ranges.extend(host.coming.iter().filter(|(first, last)| *first < end && sector < *last));
        if ranges.is_empty() {
            host.spare.push(ranges);
            self.hosts[id].is_hit = true;
            self.done(id);
        } else {
            host.waiting.push(Waiting { host: id, since: now, ranges });
        }
    }

    fn fetch(&mut self, id: u32, first: i64, end: i64, purpose: Purpose) {
        let HostRequest { row, stream, .. } = self.hosts[id];
        let (sector, n, issue) = (first, end - first, self.events.now);
        let below = HostRequest { row, stream, op: READ, sector, n, issue, purpose, ..HostRequest::default() };
        let below = self.hosts.put(below);
        self.submit_to_controller(below);
    }

    /// Without read-ahead each page is fetched when the one before it has come (rule H3).
    pub(super) fn next_page(&mut self, at: u32) {
        let Some(host) = &mut self.host else { return };
        let Pages { host: id, since, left } = &mut host.pages[at];
        let (id, since) = (*id, *since);
        if let Some((first, end)) = left.pop_front() {
            return self.fetch(id, first, end, Purpose::Page(at));
        }
        host.pages.release(at);
        self.hosts[id].cache += self.events.now - since;
        self.done(id);
    }

    /// A range has come into memory: reads that wait for nothing else are done.
    pub(super) fn fetched(&mut self, first: i64, end: i64) {
        let now = self.events.now;
        let Some(host) = &mut self.host else { return };
        if let Some(at) = host.coming.iter().position(|&range| range == (first, end)) {
            host.coming.remove(at);
        }
        let mut i = 0;
        while let Some(waiting) = self.host.as_mut().and_then(|host| host.waiting.get_mut(i)) {
            let Some(at) = waiting.ranges.iter().position(|&range| range == (first, end)) else {
                i += 1;
                continue;
            };
            waiting.ranges.remove(at);
            if !waiting.ranges.is_empty() {
                i += 1;
                continue;
            }
            let (id, since) = (waiting.host, waiting.since);
            if let Some(host) = &mut self.host {
                let ranges = host.waiting.remove(i).ranges;
                host.spare.push(ranges);
            }
            self.hosts[id].cache += now - since;
            self.done(id);
        }
    }
}

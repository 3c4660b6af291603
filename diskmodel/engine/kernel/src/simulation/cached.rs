//! A controller whose hits are an outcome: hits, write-back, read-ahead (rules K6 to K12); see
//! `diskmodel/engine/cached_controller.py`.

use std::collections::VecDeque;
use std::ops::Range;

use super::{HostRequest, Owner, Simulation};
use crate::controller::{BlockCache, DirtyBlocks};
use crate::device::Device;
use crate::events::Action;
use crate::faults::{planted, Fault};
use crate::mechanics::{div, READ, WRITE};
use crate::traffic::Traffic;

/// Sequential readers that are told apart.
const N_READERS: usize = 16;

/// What a controller with real caches keeps.
pub struct Cache {
    /// Sectors of a block.
    pub block: i64,
    pub read: Option<BlockCache>,
    pub dirty: Option<DirtyBlocks>,
    /// Destages that may be under way at once.
    pub destage_depth: usize,
    /// Sectors that are read ahead.
    pub ahead: i64,
    destages: usize,
    /// Writes that wait for room, in order of arrival, and since when.
    blocked: VecDeque<(u32, i64)>,
    readers: VecDeque<i64>,
    coming: Vec<Coming>,
    n_coming: u32,
    /// When a write first had to wait for room.
    pub full_ns: Option<i64>,
}

/// Sectors [sector, end) that are being read ahead, and who waits for them since when.
struct Coming {
    number: u32,
    sector: i64,
    end: i64,
    waiting: Vec<(u32, i64)>,
}

impl Cache {
    pub fn new(
        block: i64,
        read: Option<BlockCache>,
        dirty: Option<DirtyBlocks>,
        destage_depth: usize,
        ahead: i64,
    ) -> Self {
        Cache {
            block,
            read,
            dirty,
            destage_depth,
            ahead,
            destages: 0,
            blocked: VecDeque::new(),
            readers: VecDeque::new(),
            coming: Vec::new(),
            n_coming: 0,
            full_ns: None,
        }
    }

    fn blocks(&self, sector: i64, n: i64) -> Range<i64> {
        div(sector, self.block)..div(sector + n + self.block - 1, self.block)
    }

    /// Whether every block of a range is in the cache or dirty; each cached one is then used (rule K6).
    fn holds(&mut self, sector: i64, n: i64) -> bool {
        let blocks = self.blocks(sector, n);
        let is_dirty = |block| self.dirty.as_ref().is_some_and(|dirty| dirty.contains(block));
        let is_cached = |block| self.read.as_ref().is_some_and(|cache| cache.contains(block));
        if !blocks.clone().all(|block| is_dirty(block) || is_cached(block)) {
            return false;
        }
        if let Some(cache) = &mut self.read {
            for block in blocks {
                if cache.contains(block) {
                    cache.touch(block);
                }
            }
        }
        true
    }

    /// Data that came from (or went to) the disks is in the cache now (rule K6).
    pub fn insert(&mut self, sector: i64, n: i64) {
        let blocks = self.blocks(sector, n);
        if let Some(cache) = &mut self.read {
            blocks.for_each(|block| cache.insert(block));
        }
    }

    /// Range [start, end) to read ahead for a read of [sector, end), when it goes on where a reader ended (rule K11).
    fn next_window(&mut self, sector: i64, end: i64, capacity: i64) -> Option<(i64, i64)> {
        let Some(reader) = self.readers.iter_mut().find(|reader| **reader == sector) else {
            if self.readers.len() == N_READERS {
                self.readers.pop_front();
            }
            self.readers.push_back(end);
            return None;
        };
        *reader = end;
        let limit = (end + self.ahead + i64::from(planted(Fault::PrefetchLimit))).min(capacity);
        let mut start = end;
        while start < limit {
            if let Some(coming) = self.coming.iter().find(|p| p.sector <= start && start < p.end) {
                start = coming.end;
            } else if self.holds(start, 1) {
                start = (div(start, self.block) + 1) * self.block;
            } else {
                break;
            }
        }
        // in halves of the window, so that the reader finds the next half on its way
        let least = (self.ahead / 2 + i64::from(planted(Fault::PrefetchHalf))).max(1);
        (limit - start >= least).then_some((start, limit))
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// A request that the caches see first. False: it goes the way of a controller without them.
    pub(super) fn cached(&mut self, host: u32) -> bool {
        let Some(cache) = &mut self.cache else { return false };
        let HostRequest { op, sector, n, .. } = self.hosts[host];
        if op == WRITE {
            if cache.dirty.is_none() {
                return false;
            }
            cache.blocked.push_back((host, self.events.now));
            self.admit_writes();
            return true;
        }
        if cache.holds(sector, n) {
            self.read_ahead(sector, sector + n);
            self.hit(host);
            return true;
        }
        let covering = cache.coming.iter().position(|p| p.sector <= sector && sector + n <= p.end);
        self.read_ahead(sector, sector + n);
        let now = self.events.now;
        match (covering, &mut self.cache) {
            (Some(at), Some(cache)) => {
                cache.coming[at].waiting.push((host, now));
                true
            }
            _ => false,
        }
    }

    /// Served by the cache, after the time of a hit (rule K2).
    fn hit(&mut self, host: u32) {
        let request = &mut self.hosts[host];
        request.is_hit = true;
        request.cache += self.controller.hit_ns;
        self.later(self.events.now + self.controller.hit_ns, host, Action::HitServed(host));
    }

    // ------------------------------------------------------------------ write-back
    /// Writes enter the cache in order of arrival while there is room (rule K7).
    fn admit_writes(&mut self) {
        let now = self.events.now;
        while let Some(cache) = &mut self.cache {
            let (Some(&(host, since)), Some(dirty)) = (cache.blocked.front(), &mut cache.dirty) else { break };
            let HostRequest { sector, n, .. } = self.hosts[host];
            let (first, end) = (div(sector, cache.block), div(sector + n + cache.block - 1, cache.block));
            if end - first > dirty.capacity {
                // larger than the cache itself: straight to the disks
                cache.blocked.pop_front();
                self.hosts[host].cache += now - since;
                self.access_disks(host);
                continue;
            }
            if !dirty.accept(first, end) {
                cache.full_ns.get_or_insert(now);
                break;
            }
            cache.blocked.pop_front();
            cache.insert(sector, n);
            self.hosts[host].cache += now - since;
            self.hit(host);
        }
        self.start_destages();
    }

    /// Keeps so many writes to the disks under way as allowed (rule K9).
    fn start_destages(&mut self) {
        while let Some(cache) = &mut self.cache {
            if cache.destages >= cache.destage_depth {
                return;
            }
            let is_pressed = !cache.blocked.is_empty();
            let Some((first, end)) = cache.dirty.as_mut().and_then(|dirty| dirty.next_run(is_pressed)) else { return };
            cache.destages += 1;
            let sector = first * cache.block;
            let last = (end * cache.block).min(self.layout.capacity);
            self.access_array(Owner::Destage(first, end), WRITE, sector, last - sector);
        }
    }

    pub(super) fn destaged(&mut self, first: i64, end: i64) {
        if let Some(cache) = &mut self.cache {
            cache.destages -= 1;
            if let Some(dirty) = &mut cache.dirty {
                dirty.written(first, end);
            }
        }
        self.admit_writes();
    }

    // ------------------------------------------------------------------ read-ahead
    /// A read of [sector, end) that goes on where one of the last readers ended fetches what follows it (rule K11).
    fn read_ahead(&mut self, sector: i64, end: i64) {
        let Some(cache) = &mut self.cache else { return };
        if cache.ahead == 0 {
            return;
        }
        let Some((start, limit)) = cache.next_window(sector, end, self.layout.capacity) else { return };
        let number = cache.n_coming;
        cache.n_coming = number.wrapping_add(1);
        cache.coming.push(Coming { number, sector: start, end: limit, waiting: Vec::new() });
        self.access_array(Owner::ReadAhead(number), READ, start, limit - start);
    }

    /// What was read ahead has come: whoever waits for it has a hit now (rule K12).
    pub(super) fn came(&mut self, number: u32) {
        let now = self.events.now;
        let Some(cache) = &mut self.cache else { return };
        let Some(at) = cache.coming.iter().position(|coming| coming.number == number) else { return };
        let coming = cache.coming.remove(at);
        cache.insert(coming.sector, coming.end - coming.sector);
        for (host, since) in coming.waiting {
            self.hosts[host].cache += now - since;
            self.hit(host);
        }
    }
}

//! A controller whose hits are an outcome: hits and write-back (rules K6 to K10); see
//! `diskmodel/engine/reference/cached_controller.py`.

use std::collections::VecDeque;
use std::ops::Range;

use super::read_ahead::ReadAhead;
use super::{AboveController, HostRequest, Owner, WithFront};
use crate::controller::{BlockCache, DirtyBlocks};
use crate::device::Device;
use crate::events::Action;
use crate::mechanics::{div, FLUSH, WRITE};

/// What a controller with real caches keeps.
pub struct Cache {
    /// Sectors of a block.
    pub block: i64,
    pub read: Option<BlockCache>,
    pub dirty: Option<DirtyBlocks>,
    /// The write cache answers flushes at once (rule K13).
    is_protected: bool,
    /// Flushes that wait until nothing is dirty (rule K15).
    emptying: Vec<u32>,
    pub ahead: ReadAhead,
    /// Writes that wait for room, in order of arrival, and since when.
    blocked: VecDeque<(u32, i64)>,
    /// When a write first had to wait for room.
    pub full_ns: Option<i64>,
}

impl Cache {
    pub fn new(
        block: i64,
        read: Option<BlockCache>,
        dirty: Option<DirtyBlocks>,
        ahead: ReadAhead,
        is_protected: bool,
    ) -> Self {
        Cache { block, read, dirty, is_protected, emptying: Vec::new(), ahead, blocked: VecDeque::new(), full_ns: None }
    }

    /// Whether writes are in it that a power cut destroys.
    pub(super) fn is_exposed(&self) -> bool {
        self.dirty.is_some() && !self.is_protected
    }

    /// Blocks in the write-back cache (rule Z7).
    pub(super) fn n_dirty(&self) -> i64 {
        self.dirty.as_ref().map_or(0, DirtyBlocks::n_blocks)
    }

    fn blocks(&self, sector: i64, n: i64) -> Range<i64> {
        div(sector, self.block)..div(sector + n + self.block - 1, self.block)
    }

    pub(super) fn has(&self, block: i64) -> bool {
        self.dirty.as_ref().is_some_and(|dirty| dirty.contains(block))
            || self.read.as_ref().is_some_and(|cache| cache.contains(block))
    }

    /// Whether every block of a range is in the cache or dirty; each cached one is then used (rule K6).
    pub(super) fn holds(&mut self, sector: i64, n: i64) -> bool {
        let blocks = self.blocks(sector, n);
        if !blocks.clone().all(|block| self.has(block)) {
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
    pub fn insert(&mut self, sector: i64, n: i64, is_written: bool) {
        let blocks = self.blocks(sector, n);
        if let Some(cache) = &mut self.read {
            for block in blocks {
                cache.used(block, is_written);
            }
        }
    }
}

impl<D: Device, H: AboveController<D>> WithFront<D, H> {
    /// A request that the caches see first. False: it goes the way of a controller without them.
    pub(super) fn cached(&mut self, host: u32) -> bool {
        let Some(cache) = &mut self.kind.front.cache else { return false };
        let HostRequest { op, sector, n, .. } = self.requests[host];
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
            self.read_from_cache(sector, n);
            self.hit(host);
            return true;
        }
        let now = self.events.now;
        let waits = cache.await_pieces(host, sector, sector + n, now);
        self.read_ahead(sector, sector + n);
        waits
    }

    /// Served by the cache, after the time of a hit (rule K2).
    pub(super) fn hit(&mut self, host: u32) {
        let request = &mut self.requests[host];
        request.is_hit = true;
        request.cache += self.kind.front.controller.hit_ns;
        self.later(self.events.now + self.kind.front.controller.hit_ns, host, Action::HitServed(host));
    }

    // ------------------------------------------------------------------ write-back
    /// Writes enter the cache in order of arrival while there is room (rule K7).
    fn admit_writes(&mut self) {
        let now = self.events.now;
        while let Some(cache) = &mut self.kind.front.cache {
            if !cache.emptying.is_empty() {
                break;
            }
            let (Some(&(host, since)), Some(dirty)) = (cache.blocked.front(), &mut cache.dirty) else { break };
            if dirty.is_still_full() {
                break;
            }
            let HostRequest { sector, n, .. } = self.requests[host];
            let (first, end) = (div(sector, cache.block), div(sector + n + cache.block - 1, cache.block));
            if !dirty.fits(first, end) {
                // larger than the cache itself: straight to the disks
                cache.blocked.pop_front();
                self.requests[host].cache += now - since;
                self.access_disks(host);
                continue;
            }
            if !dirty.accept(first, end) {
                cache.full_ns.get_or_insert(now);
                break;
            }
            cache.blocked.pop_front();
            cache.insert(sector, n, true);
            self.requests[host].cache += now - since;
            self.hit(host);
        }
        self.start_destages();
    }

    /// Keeps as many writes to the disks in flight as allowed (rule K9).
    fn start_destages(&mut self) {
        while let Some(cache) = &mut self.kind.front.cache {
            let is_pressed = !cache.blocked.is_empty() || !cache.emptying.is_empty();
            let Some((first, end)) = cache.dirty.as_mut().and_then(|dirty| dirty.next_run(is_pressed)) else { return };
            let sector = first * cache.block;
            let last = (end * cache.block).min(self.volume.layout.capacity);
            self.access_array(Owner::Destage(first, end), WRITE, sector, last - sector);
        }
    }

    pub(super) fn destaged(&mut self, first: i64, end: i64) {
        if let Some(cache) = &mut self.kind.front.cache {
            if let Some(dirty) = &mut cache.dirty {
                dirty.written(first, end);
            }
        }
        self.emptied();
        self.admit_writes();
    }

    /// A flush waits until nothing is dirty (rule K15).
    #[inline(never)]
    pub(super) fn empty_for(&mut self, host: u32) {
        if let Some(cache) = &mut self.kind.front.cache {
            cache.emptying.push(host);
        }
        self.emptied();
        self.start_destages();
    }

    /// Flushes the disks for those who waited until nothing is dirty.
    fn emptied(&mut self) {
        let Some(cache) = self.kind.front.cache.as_mut().filter(|cache| cache.n_dirty() == 0) else { return };
        for host in std::mem::take(&mut cache.emptying) {
            self.access_array(Owner::Host(host), FLUSH, 0, 0);
        }
    }
}

//! What a pool reads: streams that it reads ahead of, records that have come, and its cache devices (rules X18, X19 and
//! X27); see
//! `diskmodel/engine/reference/pools/reads.py`.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::command::Slots;
use crate::device::Device;
use crate::drives::auxiliary::Ended;
use crate::events::{Action, OfAuxiliary, COMPLETE, LAST};
use crate::layout::{L2arc, ReadTables, Streams};
use crate::mechanics::READ;
use crate::simulation::pool::state::pool_device;
use crate::simulation::pool::{HasPool, OfPool};
use crate::simulation::{AboveVolume, Array, Owner, Times};

/// A record that is being read into memory.
struct InFlight {
    /// Who waits for it, and whether it is kept for others.
    readers: Vec<u32>,
    is_kept: bool,
    /// Ahead of which stream it is read.
    stream: Option<u64>,
    /// The access of disks that reads it ahead, as long as nobody waits for it.
    ahead: Option<u32>,
}

/// A read that waits for records: how many, and since when it was asked for.
#[derive(Clone, Copy)]
struct Reader {
    out: u32,
    asked: i64,
}

/// What a pool knows of its reads.
pub struct PoolReads {
    streams: Streams,
    /// Records in memory that a reader has not come past, by number in order of coming, and the other way round.
    held: FxHashMap<i64, u64>,
    in_order: BTreeMap<u64, i64>,
    n_held: u64,
    most_held: usize,
    in_flight: FxHashMap<i64, InFlight>,
    readers: FxHashMap<u32, Reader>,
    /// The cache devices, and what is being read from them, each with how many of its commands are out.
    pub(super) l2arc: Option<Box<L2arc>>,
    pub(super) from_l2arc: Slots<(OfPool, usize)>,
}

impl PoolReads {
    pub fn new(tables: &ReadTables, n_records: i64, l2arc: Option<Box<L2arc>>) -> Self {
        PoolReads {
            streams: Streams::new(tables, n_records),
            held: FxHashMap::default(),
            in_order: BTreeMap::new(),
            n_held: 0,
            most_held: tables.held as usize,
            in_flight: FxHashMap::default(),
            readers: FxHashMap::default(),
            l2arc,
            from_l2arc: Slots::default(),
        }
    }

    fn knows(&self, record: i64) -> bool {
        self.held.contains_key(&record) || self.in_flight.contains_key(&record)
    }

    fn hold(&mut self, record: i64) {
        self.n_held += 1;
        self.held.insert(record, self.n_held);
        self.in_order.insert(self.n_held, record);
        if self.held.len() > self.most_held {
            if let Some((_, oldest)) = self.in_order.pop_first() {
                self.held.remove(&oldest);
            }
        }
    }

    fn forget(&mut self, record: i64) {
        if let Some(number) = self.held.remove(&record) {
            self.in_order.remove(&number);
        }
    }
}

impl<D: Device, K: HasPool<D>> Array<D, K> {
    /// Reads what is neither in memory nor being read, and ahead of a reader that goes on.
    pub(super) fn pool_read(&mut self, host: u32, sector: i64, n: i64) {
        let (now, device, row) = (self.events.now, pool_device(&self.drives), self.requests[host].row);
        let hit_ns = self.kind.front().hit_ns();
        let Some((pool, _, tables)) = self.pool() else { return };
        let record = tables.record;
        let (first, end) = (sector / record, (sector + n - 1) / record + 1);
        let is_whole = (sector + n) % record == 0;
        let stream = pool.reads.streams.read(first, end, now);
        let is_known = (first..end).any(|number| pool.reads.knows(number));
        let is_near = is_known || (first..end).any(|number| self.is_cached(number) || self.is_on_l2arc(number));
        if stream.is_none() && !is_near {
            if let Some(l2arc) = self.kind.pool().and_then(|pool| pool.l2arc()) {
                l2arc.n_misses += end - first;
            }
            self.read_disks(Owner::Host(host), sector, n);
            return;
        }
        let mut out = 0;
        let mut hasty = Vec::new();
        for number in first..end {
            let Some((pool, ..)) = self.pool() else { return };
            let reads = &mut pool.reads;
            let is_kept = number == end - 1 && !is_whole;
            if reads.held.contains_key(&number) {
                if !is_kept {
                    reads.forget(number);
                }
                continue;
            }
            if self.is_cached(number) {
                continue;
            }
            let Some((pool, ..)) = self.pool() else { return };
            let reads = &mut pool.reads;
            out += 1;
            if let Some(read) = reads.in_flight.get_mut(&number) {
                read.readers.push(host);
                read.is_kept = is_kept;
                hasty.extend(read.ahead.take());
                continue;
            }
            let read = InFlight { readers: vec![host], is_kept, stream: None, ahead: None };
            reads.in_flight.insert(number, read);
            self.fetch(OfPool::Record(number), number, record);
        }
        if !hasty.is_empty() {
            self.drives.promote(&hasty, &mut self.events);
        }
        let Some((pool, ..)) = self.pool() else { return };
        pool.reads.readers.insert(host, Reader { out, asked: now });
        let ahead = match stream {
            Some((id, true)) => pool.reads.streams.ahead(id, out > 0),
            _ => 0..0,
        };
        if out == 0 {
            self.events.at(now + hit_ns, COMPLETE, device, row, Action::PoolRead(host));
        }
        self.read_records_ahead(stream.map(|(id, _)| id), ahead, record);
    }

    /// Goes on with the stream of a read that the cache in front of the pool serves (rule K16).
    #[inline(never)]
    pub(in crate::simulation) fn pool_hit(&mut self, sector: i64, n: i64) {
        let now = self.events.now;
        let Some((pool, _, tables)) = self.pool() else { return };
        let record = tables.record;
        let (first, end) = (sector / record, (sector + n - 1) / record + 1);
        let stream = pool.reads.streams.read(first, end, now);
        (first..end).for_each(|number| pool.reads.forget(number));
        if let Some((id, true)) = stream {
            let ahead = pool.reads.streams.ahead(id, false);
            self.read_records_ahead(Some(id), ahead, record);
        }
    }

    /// What a request read or wrote is in the cache in front of the pool now (rules K6 and K16).
    #[inline(always)]
    pub(super) fn keep(&mut self, host: u32) {
        if K::Front::keep(self, host) {
            if let Some(mut parts) = self.pool_parts() {
                parts.feed_later();
            }
        }
    }

    /// Whether the cache in front of the pool has a record (rule K16): its blocks are records.
    pub(super) fn is_cached(&mut self, number: i64) -> bool {
        self.kind.front().has(number)
    }

    /// Whether a cache device has it.
    fn is_on_l2arc(&mut self, number: i64) -> bool {
        self.kind.pool().is_some_and(|pool| pool.is_on_l2arc(number))
    }

    fn read_records_ahead(&mut self, stream: Option<u64>, ahead: Range<i64>, record: i64) {
        for number in ahead {
            let is_cached = self.is_cached(number);
            let Some((pool, ..)) = self.pool() else { return };
            if !is_cached && !pool.reads.knows(number) {
                let read = InFlight { readers: Vec::new(), is_kept: true, stream, ahead: None };
                pool.reads.in_flight.insert(number, read);
                let access = self.fetch(OfPool::Ahead(number), number, record);
                let Some((pool, ..)) = self.pool() else { return };
                if let Some(read) = pool.reads.in_flight.get_mut(&number) {
                    read.ahead = access;
                }
            }
        }
    }

    /// A record is in memory.
    #[inline(never)]
    pub(super) fn record_came(&mut self, number: i64) {
        let Some((pool, ..)) = self.pool() else { return };
        let reads = &mut pool.reads;
        let Some(read) = reads.in_flight.remove(&number) else { return };
        if read.is_kept {
            reads.hold(number);
        }
        if let Some(stream) = read.stream {
            reads.streams.came(stream, number);
        }
        for host in read.readers {
            let Some((pool, ..)) = self.pool() else { return };
            let Some(reader) = pool.reads.readers.get_mut(&host) else { continue };
            reader.out -= 1;
            if reader.out == 0 {
                self.read_done(host);
            }
        }
    }

    /// A read has all that it needs in memory, and is answered; the time that it waited counts as the cache's.
    #[inline(never)]
    pub(in crate::simulation) fn read_done(&mut self, host: u32) {
        let now = self.events.now;
        let Some((pool, ..)) = self.pool() else { return };
        let asked = pool.reads.readers.remove(&host).map_or(now, |reader| reader.asked);
        let request = &mut self.requests[host];
        request.cache += now - asked;
        request.last = Times::default();
        self.keep(host);
        K::Front::answered(self, host);
    }
}

// ------------------------------------------------------------------ cache devices
impl<D: Device, K: HasPool<D>> Array<D, K> {
    /// Records that were looked for on the cache devices: those found, and the others.
    pub fn l2arc_reads(&mut self) -> [i64; 2] {
        self.kind.pool().and_then(|pool| pool.l2arc()).map_or([0, 0], |l2arc| [l2arc.n_hits, l2arc.n_misses])
    }

    /// Reads a record from the cache devices, if they have it, or from the disks.
    pub(super) fn fetch(&mut self, purpose: OfPool, number: i64, record: i64) -> Option<u32> {
        let (now, device) = (self.events.now, pool_device(&self.drives));
        if let Some(l2arc) = self.kind.pool().and_then(|pool| pool.l2arc()) {
            if l2arc.contains(number) {
                l2arc.n_hits += 1;
                let done = l2arc.read(number, now);
                let n_bytes = record * self.drives.sector_bytes();
                let Array { kind, events, .. } = self;
                let pool = kind.pool()?;
                let read = pool.reads.from_l2arc.put((purpose, 0));
                let l2arc = pool.reads.l2arc.as_mut()?;
                match l2arc.read_drive(number, n_bytes, read, events) {
                    Some(out) => pool.reads.from_l2arc[read].1 = out,
                    None => events.at(done, COMPLETE, device, LAST, Action::L2arcRead(read)),
                }
                return None;
            }
            l2arc.n_misses += 1;
        }
        Some(self.read_disks(Owner::Pool(purpose), number * record, record))
    }

    /// A record has come from a cache device.
    #[inline(never)]
    pub(in crate::simulation) fn l2arc_read(&mut self, read: u32) {
        let Some((pool, ..)) = self.pool() else { return };
        let (purpose, _) = pool.reads.from_l2arc[read];
        pool.reads.from_l2arc.release(read);
        match purpose {
            OfPool::Record(number) | OfPool::Ahead(number) => self.record_came(number),
            OfPool::Fill(host) => self.part_came(host, Times::default()),
            _ => {}
        }
    }

    /// The L2ARC takes what the ARC evicts next, and comes again unless there was nothing.
    #[inline(never)]
    pub(in crate::simulation) fn feed_l2arc(&mut self) {
        let (pool, front) = self.kind.pool_and_front();
        let Some(l2arc) = pool.and_then(|pool| pool.l2arc()) else { return };
        let next = front.arc().and_then(|arc| l2arc.feed(arc));
        l2arc.is_fed = next.is_some();
        if let (Some(wait), Some(mut parts)) = (next, self.pool_parts()) {
            parts.write_fed(wait);
        }
    }

    /// Something happens at a drive that is a cache device.
    #[inline(never)]
    pub(in crate::simulation) fn cache_drive_happened(&mut self, what: OfAuxiliary) {
        let Array { kind, events, .. } = self;
        let Some(l2arc) = kind.pool().and_then(|pool| pool.l2arc()) else { return };
        let Some(drives) = &mut l2arc.drives else { return };
        for ended in drives.happen(what, events) {
            match ended {
                Ended::Command(command) if command.op == READ => self.cache_part_read(command.access),
                Ended::Command(_) => self.fed_part_written(),
                Ended::Flush(_) => {}
            }
        }
    }

    fn cache_part_read(&mut self, read: u32) {
        let Some((pool, ..)) = self.pool() else { return };
        let (_, out) = &mut pool.reads.from_l2arc[read];
        *out -= 1;
        if *out == 0 {
            self.l2arc_read(read);
        }
    }

    /// A record of the last feed is on its drive: when all are, the next feed may come.
    fn fed_part_written(&mut self) {
        let now = self.events.now;
        let Some(l2arc) = self.kind.pool().and_then(|pool| pool.l2arc()) else { return };
        l2arc.writing -= 1;
        let wait = (l2arc.next_feed - now).max(0);
        if let (0, Some(mut parts)) = (l2arc.writing, self.pool_parts()) {
            parts.feed_in(wait);
        }
    }
}

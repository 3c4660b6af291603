//! The intent log of a pool: who waits, and which blocks are written for them (rule X10); see
//! `diskmodel/engine/reference/pools/intent_log.py`.

use std::collections::VecDeque;

use crate::command::Command;
use crate::device::Device;
use crate::drives::auxiliary::{Auxiliary, Ended, Free};
use crate::events::{Action, OfAuxiliary, ARRIVE, LAST};
use crate::layout::{rounded, Lengths, WriteTables};
use crate::simulation::pool::state::pool_device;
use crate::simulation::pool::{HasPool, OfPool};
use crate::simulation::{AboveVolume, Array, Times};

/// Stands for the log's own drives among the vdevs that a block was written to: behind all of them.
const OWN: i64 = i64::MAX;

/// Who waits for the log.
#[derive(Clone, Copy)]
pub enum LogWaiter {
    Write(u32),
    Flush(u32),
}

/// What one write takes in the log: bytes, its header included, and records that go to their places with it.
#[derive(Clone, Copy)]
pub struct Entry {
    pub n_bytes: i64,
    pub n_records: i64,
}

/// A block of the log, and who waits for it.
#[derive(Default)]
pub(super) struct Block {
    length: i64,
    used: i64,
    /// Records that are written to their places with it.
    pub(super) n_records: i64,
    waiting: Vec<LogWaiter>,
    pub(super) issued: i64,
    /// When a processor has made it, if it has begun, and whether it is being written.
    pub(super) made: Option<i64>,
    is_begun: bool,
    out: usize,
    /// What it was written to and what blocks before it leave to be flushed with it.
    vdevs: Vec<i64>,
    /// The last command of its writes.
    written: Option<Times>,
    is_flushing: bool,
    is_safe: bool,
}

/// The log of a pool: those who wait share its blocks.
pub struct IntentLog {
    lengths: Lengths,
    pub(super) open: Option<Block>,
    /// Blocks that are being written, the first of which ends first, and the number of that one.
    written: VecDeque<Block>,
    first: u32,
    /// For so many bursts it is remembered that commits overlapped.
    n_parallel: i64,
    /// What a block takes: a mean in which the latest counts an eighth.
    latency: i64,
    /// The log's own drives, if it has any.
    drives: Option<Box<Auxiliary>>,
}

impl IntentLog {
    pub fn new(writes: &WriteTables, drives: Option<Box<Auxiliary>>) -> Self {
        IntentLog {
            lengths: Lengths::new(writes),
            open: None,
            written: VecDeque::new(),
            first: 0,
            n_parallel: 0,
            latency: 0,
            drives,
        }
    }

    /// Its own drives, if it has any.
    pub fn drives(&self) -> Option<&Auxiliary> {
        self.drives.as_deref()
    }

    fn block(&mut self, number: u32) -> &mut Block {
        &mut self.written[number.wrapping_sub(self.first) as usize]
    }

    /// The number that the open block has.
    fn open_number(&self) -> u32 {
        self.first.wrapping_add(self.written.len() as u32)
    }
}

impl<D: Device, K: HasPool<D>> Array<D, K> {
    /// Lets `waiter` go on when these entries are in the log, and their records at their places.
    pub(super) fn commit_to_log(&mut self, entries: &[Entry], waiter: LogWaiter) {
        let Some((pool, _, tables)) = self.pool() else { return };
        let (log, writes) = (&mut pool.log, &tables.writes);
        let before = log.open.as_ref().map(|_| log.open_number());
        if before.is_some() {
            log.n_parallel = writes.log_bursts;
        } else if !log.written.is_empty() {
            log.n_parallel = log.n_parallel.max(writes.log_bursts / 2);
        }
        log.lengths.come(entries.iter().map(|entry| entry.n_bytes).sum());
        for entry in entries {
            self.enter_log(entry);
        }
        let (now, device) = (self.events.now, pool_device(&self.drives));
        let Some((pool, _, tables)) = self.pool() else { return };
        let (log, writes) = (&mut pool.log, &tables.writes);
        let number = log.open_number();
        if let Some(block) = &mut log.open {
            block.waiting.push(waiter);
        }
        if before != Some(number) {
            let waits = log.n_parallel > 0;
            let when = now + if waits { log.latency * writes.log_wait_percent / 100 } else { 0 };
            self.events.at(when, ARRIVE, device, LAST, Action::LogIssued(number));
        }
    }

    /// Gives an entry room in the open block, or in others behind it.
    fn enter_log(&mut self, entry: &Entry) {
        let mut left = i64::MAX;
        loop {
            let Some((pool, _, tables)) = self.pool() else { return };
            let (log, header) = (&mut pool.log, tables.writes.log_header);
            left = left.min(entry.n_bytes - header);
            let length = log.lengths.next;
            let block = log.open.get_or_insert_with(|| Block { length, used: header, ..Block::default() });
            let room = block.length - block.used;
            if log.lengths.is_full(room, left) {
                log.lengths.within_burst(log.n_parallel > 0);
                self.issue_log_block();
                continue;
            }
            let now = left.min(room - header);
            block.used += header + now;
            left -= now;
            log.lengths.left -= now;
            if left == 0 {
                block.n_records += entry.n_records;
                log.lengths.left -= header;
                return;
            }
        }
    }

    /// A block has waited long enough, and its burst ends, unless it was full before.
    #[inline(never)]
    pub(in crate::simulation) fn log_timed(&mut self, number: u32) {
        let now = self.events.now;
        let Some((pool, ..)) = self.pool() else { return };
        let log = &mut pool.log;
        let is_open = log.open.is_some() && log.open_number() == number;
        if !is_open {
            // it was full before
            let at = number.wrapping_sub(log.first) as usize;
            if log.written.get(at).is_some_and(|block| block.made == Some(now) && !block.is_begun) {
                self.write_log_block(number);
            }
            return;
        }
        let is_made = log.open.as_ref().is_some_and(|block| block.made.is_some());
        if !is_made && self.pool_parts().is_some_and(|mut parts| parts.make_log_block(number)) {
            return;
        }
        let Some((pool, ..)) = self.pool() else { return };
        let log = &mut pool.log;
        log.n_parallel = (log.n_parallel - 1).max(0);
        log.lengths.burst_ended();
        self.issue_log_block();
    }

    /// The open block is closed, and written when it has been made.
    fn issue_log_block(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        let number = pool.log.open_number();
        let is_made = pool.log.open.as_ref().is_some_and(|block| block.made.is_some());
        let waits = !is_made && self.pool_parts().is_some_and(|mut parts| parts.make_log_block(number));
        let now = self.events.now;
        let Some((pool, ..)) = self.pool() else { return };
        let Some(block) = pool.log.open.take() else { return };
        let waits = waits || block.made.is_some_and(|made| made > now);
        pool.log.written.push_back(block);
        if !waits {
            self.write_log_block(number);
        }
    }

    /// A block is written.
    fn write_log_block(&mut self, number: u32) {
        let sector_bytes = self.drives.sector_bytes();
        let Some((pool, _, tables)) = self.pool() else { return };
        let block = pool.log.block(number);
        block.is_begun = true;
        let block_bytes = tables.block * sector_bytes;
        let blocks = (rounded(block.used) + block_bytes - 1) / block_bytes;
        let allocated = (block.length + block_bytes - 1) / block_bytes;
        let n_records = block.n_records;
        block.out = 1 + n_records as usize;
        for _ in 0..n_records {
            let Some((pool, layout, tables)) = self.pool() else { return };
            let (vdev, first) = pool.space.for_record(layout, tables);
            self.write_for_log(number, vdev, first, None);
        }
        let Array { kind, events, .. } = self;
        let Some(log) = kind.pool().map(|pool| &mut pool.log) else { return };
        if let Some(drives) = &mut log.drives {
            // one block behind the other (rule X16)
            let (first, bytes) =
                (Free { kind: 0, slab: 0, part: (0, 1) }, [blocks, allocated].map(|n| n * block_bytes));
            let out = drives.append(&first, bytes, (number, false), events);
            log.block(number).out += out - 1;
            return log.block(number).vdevs.push(OWN);
        }
        let Some((pool, layout, tables)) = self.pool() else { return };
        let (vdev, first) = pool.space.for_log(layout, tables, allocated);
        self.write_for_log(number, vdev, first, Some(blocks));
    }

    fn write_for_log(&mut self, number: u32, vdev: i64, first: i64, blocks: Option<i64>) {
        let Some((pool, ..)) = self.pool() else { return };
        let block = pool.log.block(number);
        if !block.vdevs.contains(&vdev) {
            block.vdevs.push(vdev);
        }
        self.write_blocks(OfPool::Log(number), vdev, first, blocks);
    }

    /// Something happens at a drive of the log: a block may be on it, or a flush may have ended.
    #[inline(never)]
    pub(in crate::simulation) fn intent_drive_happened(&mut self, what: OfAuxiliary) {
        let Array { kind, events, .. } = self;
        let Some(drives) = kind.pool().and_then(|pool| pool.log.drives.as_mut()) else { return };
        for ended in drives.happen(what, events) {
            match ended {
                Ended::Command(command) => self.log_part_written(command.access, Times::of(&command)),
                Ended::Flush(number) => self.log_part_flushed(number),
            }
        }
    }

    /// A block of the log, or a record with it, has been written.
    #[inline(never)]
    pub(super) fn log_written(&mut self, number: u32, last: &Command) {
        self.log_part_written(number, Times::of(last));
    }

    fn log_part_written(&mut self, number: u32, last: Times) {
        let Some((pool, ..)) = self.pool() else { return };
        let block = pool.log.block(number);
        block.out -= 1;
        if block.out == 0 {
            block.written = Some(last);
            self.flush_log_in_order();
        }
    }

    /// Blocks that are written are flushed, each when all before it are written; or with the one behind them.
    fn flush_log_in_order(&mut self) {
        let takes_flushes = self.block.flushes.takes_any();
        loop {
            let Some((pool, layout, _)) = self.pool() else { return };
            let log = &mut pool.log;
            let ready = log.written.iter().take_while(|block| block.written.is_some());
            let Some(at) = ready.enumerate().find(|(_, block)| !block.is_flushing).map(|(at, _)| at) else { return };
            let number = log.first.wrapping_add(at as u32);
            let block = &mut log.written[at];
            block.is_flushing = true;
            let mut vdevs = std::mem::take(&mut block.vdevs);
            if block.waiting.is_empty() && at + 1 < log.written.len() {
                let next = &mut log.written[at + 1].vdevs;
                vdevs.retain(|vdev| !next.contains(vdev));
                next.append(&mut vdevs);
            }
            vdevs.sort_unstable();
            let is_on_own = vdevs.last() == Some(&OWN);
            vdevs.truncate(vdevs.len() - usize::from(is_on_own));
            let is_own_flushed = is_on_own && log.drives.as_ref().is_some_and(|drives| drives.takes_flushes());
            let width = layout.group_width();
            let disks = vdevs.iter().flat_map(|vdev| vdev * width..(vdev + 1) * width).map(|disk| disk as u32);
            let disks: Vec<u32> = disks.filter(|&disk| takes_flushes && !layout.has_failed(disk)).collect();
            if disks.is_empty() && !is_own_flushed {
                self.log_safe(number);
                continue;
            }
            let n_own = log.drives.as_ref().filter(|_| is_own_flushed).map_or(0, |drives| drives.len());
            log.written[at].out = disks.len() + n_own;
            for disk in disks {
                self.block.flush_for_volume(disk, number, &mut self.drives, &mut self.events);
            }
            let Array { kind, events, .. } = self;
            if let Some(drives) = kind.pool().filter(|_| is_own_flushed).and_then(|pool| pool.log.drives.as_mut()) {
                drives.flush(number, events);
            }
        }
    }

    /// A disk has been flushed for a block.
    #[inline(never)]
    pub(in crate::simulation) fn log_part_flushed(&mut self, number: u32) {
        let Some((pool, ..)) = self.pool() else { return };
        let block = pool.log.block(number);
        block.out -= 1;
        if block.out == 0 {
            self.log_safe(number);
        }
    }

    /// A block is safe; those who wait go on when all blocks before it are, too.
    fn log_safe(&mut self, number: u32) {
        let now = self.events.now;
        let Some((pool, ..)) = self.pool() else { return };
        let log = &mut pool.log;
        let block = log.block(number);
        block.is_safe = true;
        let took = now - block.issued;
        log.latency = (log.latency * 7 + took) / 8;
        loop {
            let Some((pool, ..)) = self.pool() else { return };
            let log = &mut pool.log;
            if !log.written.front().is_some_and(|block| block.is_safe) {
                return;
            }
            let Some(ended) = log.written.pop_front() else { return };
            log.first = log.first.wrapping_add(1);
            let last = ended.written.unwrap_or_default();
            for waiter in ended.waiting {
                match waiter {
                    LogWaiter::Write(host) => self.write_done(host, last, 0),
                    LogWaiter::Flush(host) => K::Front::finished(self, host),
                }
            }
        }
    }
}

//! The intent log of a pool: who waits, and which blocks are written for them (rule X10); see
//! `diskmodel/engine/reference/intent_log.py`.

use std::collections::VecDeque;

use super::pool::LAST;
use super::{Owner, Simulation, Times};
use crate::command::Command;
use crate::device::{Device, Shared};
use crate::events::{Action, ARRIVE, COMPLETE, LAST_NS};
use crate::faults::{planted, Fault};
use crate::traffic::Traffic;

const NS_PER_S: i64 = 1_000_000_000;

/// Who waits for the log.
#[derive(Clone, Copy)]
pub enum LogWaiter {
    Write(u32),
    Flush(u32),
}

impl Default for LogWaiter {
    fn default() -> Self {
        LogWaiter::Flush(u32::MAX)
    }
}

/// Blocks of the log that are written together, and who waits for them.
#[derive(Default)]
struct Burst {
    n_bytes: i64,
    /// Records that are written to their places with it.
    n_records: i64,
    waiting: Vec<LogWaiter>,
    issued: i64,
    out: usize,
    vdevs: Vec<i64>,
    /// The command that ended it.
    last: Option<Times>,
    /// The last command before its flushes; none with a device of its own.
    before: Times,
}

/// The log of a pool: those who wait share its blocks.
#[derive(Default)]
pub struct IntentLog {
    open: Option<Burst>,
    /// Bursts that are being written, the first of which ends first, and the number of that one.
    written: VecDeque<Burst>,
    first: u32,
    /// For so many bursts it is remembered that commits overlapped.
    n_parallel: i64,
    /// What a burst takes: a mean in which the latest counts an eighth.
    latency: i64,
    /// When the log's own device is free.
    device_free: i64,
}

impl IntentLog {
    fn burst(&mut self, number: u32) -> &mut Burst {
        &mut self.written[number.wrapping_sub(self.first) as usize]
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Lets `waiter` go on when so many bytes, headers included, are in the log, and so many records at their places.
    pub(super) fn commit_to_log(&mut self, n_bytes: i64, n_records: i64, waiter: LogWaiter) {
        let (now, device) = (self.events.now, self.pool_device());
        let Some((pool, _, tables)) = self.pool() else { return };
        let (log, writes) = (&mut pool.log, &tables.writes);
        let mut issued = None;
        if log.open.is_some() {
            log.n_parallel = writes.log_bursts;
        } else {
            if !log.written.is_empty() {
                log.n_parallel = log.n_parallel.max(writes.log_bursts / 2);
            }
            let waits = log.n_parallel > 0 && !planted(Fault::PoolLogWait);
            issued = Some(now + if waits { log.latency * writes.log_wait_percent / 100 } else { 0 });
        }
        let burst = log.open.get_or_insert_with(Burst::default);
        burst.n_bytes += n_bytes;
        burst.n_records += n_records;
        burst.waiting.push(waiter);
        if let Some(issued) = issued {
            self.events.at(issued, ARRIVE, device, LAST, Action::LogIssued);
        }
    }

    /// The open burst has waited long enough.
    #[inline(never)]
    pub(super) fn issue_log(&mut self) {
        let now = self.events.now;
        let sector_bytes = self.model.sector_bytes();
        let Some((pool, _, tables)) = self.pool() else { return };
        let (log, writes) = (&mut pool.log, &tables.writes);
        let Some(mut burst) = log.open.take() else { return };
        log.n_parallel = (log.n_parallel - 1).max(0);
        let (room, block) = (writes.log_block - writes.log_header, tables.block * sector_bytes);
        let n = ((burst.n_bytes + room - 1) / room).max(1);
        let bytes = (burst.n_bytes + n - 1) / n + writes.log_header * i64::from(!planted(Fault::PoolLogHeader));
        let blocks = (bytes + block - 1) / block;
        burst.issued = now;
        let n_records = burst.n_records;
        burst.out = (n + n_records) as usize;
        log.written.push_back(burst);
        let number = log.first.wrapping_add(log.written.len() as u32 - 1);
        let has_device = writes.log_device_ns > 0;
        for _ in 0..n_records {
            let Some((pool, layout, tables)) = self.pool() else { return };
            let (vdev, first) = pool.space.for_record(layout, tables);
            self.write_for_log(number, vdev, first, None);
        }
        if has_device {
            return self.write_to_log_device(number, n, blocks * block);
        }
        for _ in 0..n {
            let Some((pool, layout, tables)) = self.pool() else { return };
            let (vdev, first) = pool.space.for_log(layout, tables, blocks);
            self.write_for_log(number, vdev, first, Some(blocks));
        }
    }

    fn write_for_log(&mut self, number: u32, vdev: i64, first: i64, blocks: Option<i64>) {
        let Some((pool, ..)) = self.pool() else { return };
        let burst = pool.log.burst(number);
        if !burst.vdevs.contains(&vdev) {
            burst.vdevs.push(vdev);
        }
        self.write_blocks(Owner::Log(number), vdev, first, blocks);
    }

    /// The log has a device of its own: one block after the other passes its link, and then takes its time (rule X16).
    fn write_to_log_device(&mut self, number: u32, n: i64, bytes: i64) {
        let (now, device) = (self.events.now, self.pool_device());
        for _ in 0..n {
            let Some((pool, _, tables)) = self.pool() else { return };
            let writes = &tables.writes;
            let sent = bytes * NS_PER_S / writes.log_device_bytes_per_s;
            pool.log.device_free = (now.max(pool.log.device_free) + sent).min(LAST_NS);
            let done = pool.log.device_free + writes.log_device_ns;
            self.events.at(done, COMPLETE, device, LAST, Action::LogDeviceDone(number));
        }
    }

    /// A block of the log has been written.
    #[inline(never)]
    pub(super) fn log_written(&mut self, number: u32, last: &Command) {
        let takes_flushes = self.flushes.takes_any();
        let Some((pool, layout, _)) = self.pool() else { return };
        let width = layout.group_width();
        let burst = pool.log.burst(number);
        burst.out -= 1;
        if burst.out > 0 {
            return;
        }
        if !takes_flushes || planted(Fault::PoolLogFlush) {
            return self.log_safe(number, Times::of(last));
        }
        burst.before = Times::of(last);
        burst.vdevs.sort_unstable();
        let vdevs = std::mem::take(&mut burst.vdevs);
        let disks = vdevs.iter().flat_map(|vdev| vdev * width..(vdev + 1) * width).map(|disk| disk as u32);
        let disks: Vec<u32> = disks.filter(|&disk| !layout.has_failed(disk)).collect();
        burst.out = disks.len();
        for disk in disks {
            self.flush_disk_for_log(disk, number);
        }
    }

    /// A disk has been flushed for a burst, or a block of it is on the log's own device.
    #[inline(never)]
    pub(super) fn log_part_safe(&mut self, number: u32) {
        let Some((pool, ..)) = self.pool() else { return };
        let burst = pool.log.burst(number);
        burst.out -= 1;
        if burst.out == 0 {
            let before = burst.before;
            self.log_safe(number, before);
        }
    }

    /// A burst is safe; those who wait go on when all bursts before it are, too.
    fn log_safe(&mut self, number: u32, last: Times) {
        let now = self.events.now;
        let Some((pool, ..)) = self.pool() else { return };
        let log = &mut pool.log;
        let burst = log.burst(number);
        burst.last = Some(last);
        let took = now - burst.issued;
        log.latency = (log.latency * 7 + took) / 8;
        loop {
            let Some((pool, ..)) = self.pool() else { return };
            let log = &mut pool.log;
            let Some(last) = log.written.front().and_then(|burst| burst.last) else { return };
            let Some(ended) = log.written.pop_front() else { return };
            log.first = log.first.wrapping_add(1);
            for waiter in ended.waiting {
                match waiter {
                    LogWaiter::Write(host) => self.write_done(host, last, 0),
                    LogWaiter::Flush(host) => self.finished(host),
                }
            }
        }
    }
}

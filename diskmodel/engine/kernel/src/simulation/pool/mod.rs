//! What stands before the layout of a pool: dirty records, transaction groups, the throttle (rules X9 to X15 and X26); see
//! `diskmodel/engine/reference/pools/writes.py`.

mod intent_log;
mod reads;
mod scan;
mod state;

use crate::command::Command;
use crate::device::Device;
use crate::drives::auxiliary::Ended;
use crate::events::{Action, OfAuxiliary, ARRIVE, COMPLETE, LAST};
use crate::layout::{blocks_above, commands_of, write_pieces, ChildIo, Layout, PoolTables};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::simulation::block::flushing::VOLUME;
use crate::simulation::block::submission::Request;
use crate::simulation::pool::intent_log::{Entry, LogWaiter};
use crate::simulation::pool::state::{most_out, pool_device, Metadata, OnSpecial, PoolParts, Turn, Write};
use crate::simulation::{AboveVolume, Array, ArrayAccess, HasFront, Owner, Times, Volume};

use crate::traffic::PASS_THROUGH;

pub use state::Pool;

/// What an access of a pool's own is for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum OfPool {
    /// A record that is read into memory: somebody waits for it, or it is read ahead.
    Record(i64),
    Ahead(i64),
    /// A write, for which a record is read.
    Fill(u32),
    /// A block of the log.
    Log(u32),
    /// A transaction group; so many sectors are clean then.
    Group(i64),
    #[default]
    Labels,
    /// What is resilvered or read by a scrub.
    Scan(scan::Scanned),
}

/// Labels of a device that are written: two at its beginning and two at its end (rule X12).
const LABELS: i64 = 4;

/// What code of a pool knows of whoever it is part of: nothing of Linux md. None: the volume is another one.
pub trait HasPool<D: Device>: HasFront<D> {
    fn pool(&mut self) -> Option<&mut Pool>;
    fn pool_and_front(&mut self) -> (Option<&mut Pool>, &Self::Front);
}

impl<D: Device, K: HasPool<D>> Array<D, K> {
    /// The pool and what it knows of its writes; only asked where there is one.
    #[inline(always)]
    fn pool(&mut self) -> Option<(&mut Pool, &Layout, &PoolTables)> {
        let Array { volume: Volume { layout, .. }, kind, .. } = self;
        let (pool, layout) = (kind.pool()?, &*layout);
        Some((pool, layout, layout.pool.as_ref()?))
    }

    /// The same with what it uses of others.
    fn pool_parts(&mut self) -> Option<PoolParts<'_, D>> {
        let Array { volume: Volume { layout, .. }, kind, drives, events, processors, .. } = self;
        let (pool, layout) = (kind.pool()?, &*layout);
        Some(PoolParts { pool, layout, tables: layout.pool.as_ref()?, drives, events, processors })
    }

    /// The group whose time has come when the run begins (rule Z12).
    pub(in crate::simulation) fn begin_pool(&mut self) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        let hand_ns = pool.quarter_ns() / commands_of(layout, tables.record / tables.block);
        self.drives.hand_over_within(hand_ns);
        if let Some((pool, ..)) = self.pool() {
            let quarter_ns = pool.quarter_ns();
            pool.special.iter_mut().for_each(|special| special.hand_over_within(quarter_ns));
        }
        if let Some(mut parts) = self.pool_parts() {
            parts.dirty_changed();
        }
        if self.pool().is_some_and(|(pool, ..)| pool.syncing.is_some()) {
            self.write_group();
        } else {
            self.begin_group(false);
        }
        self.begin_in_order();
    }

    // ------------------------------------------------------------------ requests
    /// A request reaches the pool.
    #[inline(never)]
    pub(in crate::simulation) fn pool_access(&mut self, Request { owner, op, sector, n, .. }: Request) {
        let Owner::Host(host) = owner else { return };
        let now = self.events.now;
        if op == FLUSH {
            return self.pool_flush(host);
        }
        let is_safe = self.requests[host].sync >= PASS_THROUGH;
        let Some((pool, _, tables)) = self.pool() else { return };
        pool.space.asked((sector + n - 1) / tables.record);
        if op == READ {
            return self.pool_read(host, sector, n);
        }
        let is_safe = is_safe && tables.writes.is_logged;
        let is_blocked = !pool.blocked.is_empty() || pool.dirty >= tables.writes.dirty_most;
        pool.writes.insert(host, Write { asked: now, is_safe, ..Write::default() });
        if is_blocked {
            pool.blocked.push_back(host);
        } else {
            self.delay_write(host);
        }
    }

    /// Reads from the disks, past whatever is in memory.
    fn read_disks(&mut self, owner: Owner, sector: i64, n: i64) -> u32 {
        self.plan(READ, sector, n, 0);
        let is_direct = self.is_direct(READ);
        let access = self.prepare(owner, self.events.now, is_direct, None);
        self.submit(access);
        access
    }

    /// An access has ended with its last command.
    #[inline(never)]
    pub(in crate::simulation) fn pool_access_ended(&mut self, last: &Command) {
        let ArrayAccess { owner, asked, start, .. } = self.volume.accesses[last.access];
        self.volume.accesses.release(last.access);
        match owner {
            Owner::Host(host) => {
                self.account(host, asked, start, last);
                self.keep(host);
                self.answer(host, last);
            }
            Owner::Pool(OfPool::Record(number) | OfPool::Ahead(number)) => self.record_came(number),
            Owner::Pool(OfPool::Fill(host)) => self.part_came(host, Times::of(last)),
            Owner::Pool(OfPool::Log(block)) => self.log_written(block, last),
            Owner::Pool(OfPool::Group(cleans)) => self.group_command_ended(cleans, true),
            Owner::Pool(OfPool::Labels) => self.label_written(),
            Owner::Pool(OfPool::Scan(scanned)) => self.stretch_scanned(scanned),
            // none of its accesses
            Owner::Destage(..) | Owner::ReadAhead(_) | Owner::Md(_) => {}
        }
    }

    /// Make all writes before this one safe (rule X10).
    fn pool_flush(&mut self, host: u32) {
        let Some((pool, _, tables)) = self.pool() else { return };
        if !tables.writes.is_logged {
            return K::Front::finished(self, host);
        }
        let entries = pool.take_unsafe(tables.writes.log_header);
        self.commit_to_log(&entries, LogWaiter::Flush(host));
    }

    /// A write waits behind the one before it while much is dirty (rule X15).
    fn delay_write(&mut self, host: u32) {
        let (now, device, row) = (self.events.now, pool_device(&self.drives), self.requests[host].row);
        let Some((pool, _, tables)) = self.pool() else { return };
        let delay = tables.writes.delay_of(pool.dirty);
        if delay == 0 {
            return self.fill(host);
        }
        let since = now.max(pool.delayed_until);
        pool.delayed_until = since + delay;
        let until = pool.delayed_until;
        self.events.at(until, COMPLETE, device, row, Action::PoolDelayed(host));
    }

    /// Read what is missing of records of which only a part is written (rule X9).
    #[inline(never)]
    pub(in crate::simulation) fn fill(&mut self, host: u32) {
        let (sector, n) = (self.requests[host].sector, self.requests[host].n);
        let Some((pool, _, tables)) = self.pool() else { return };
        let record = tables.record;
        let (first, last) = (sector / record, (sector + n - 1) / record);
        let is_first = sector % record > 0;
        let is_last = (sector + n) % record > 0 && !(is_first && first == last);
        let mut missing = [first, last];
        let mut n_missing = 0;
        let (has_first, has_last) = (pool.holds(first), pool.holds(last));
        for (number, is_partial, is_held) in [(first, is_first, has_first), (last, is_last, has_last)] {
            if is_partial && !is_held && !self.is_cached(number) {
                missing[n_missing] = number;
                n_missing += 1;
            }
        }
        if n_missing == 0 {
            return self.take_write(host);
        }
        let Some((pool, ..)) = self.pool() else { return };
        if let Some(write) = pool.writes.get_mut(&host) {
            write.n_reads = n_missing as u32;
        }
        for &number in &missing[..n_missing] {
            self.fetch(OfPool::Fill(host), number, record);
        }
    }

    /// A part of a record that was missing has been read, from wherever it came.
    fn part_came(&mut self, host: u32, last: Times) {
        let Some((pool, ..)) = self.pool() else { return };
        let Some(write) = pool.writes.get_mut(&host) else { return };
        write.n_reads -= 1;
        write.last = last;
        if write.n_reads == 0 {
            self.take_write(host);
        }
    }

    /// A write is in the open group (rule X9).
    fn take_write(&mut self, host: u32) {
        let (sector, n, row) = (self.requests[host].sector, self.requests[host].n, self.requests[host].row);
        let sector_bytes = self.drives.sector_bytes();
        let (now, device) = (self.events.now, pool_device(&self.drives));
        let Some((pool, _, tables)) = self.pool() else { return };
        let (writes, record) = (&tables.writes, tables.record);
        let (first, last) = (sector / record, (sector + n - 1) / record);
        let is_safe = pool.writes.get(&host).is_some_and(|write| write.is_safe);
        let is_direct = writes.direct_from > 0 && n >= writes.direct_from;
        let entries = if is_direct {
            vec![Entry { n_bytes: writes.log_header, n_records: 1 }; (last - first + 1) as usize]
        } else {
            vec![Entry { n_bytes: writes.log_header + n * sector_bytes, n_records: 0 }]
        };
        for number in first..=last {
            if let Some(l2arc) = &mut pool.reads.l2arc {
                l2arc.invalidate(number);
            }
            let group = &mut pool.open;
            if group.records.insert(number, is_direct && is_safe).is_none() {
                let n_above = blocks_above(writes, number).filter(|&block| group.indirect.insert(block)).count();
                let n = record + n_above as i64 * writes.indirect;
                group.n_dirty += n;
                pool.dirty += n;
            }
        }
        if let Some(mut parts) = self.pool_parts() {
            parts.dirty_changed();
            parts.set_group_time();
        }
        self.begin_group(false);
        if is_safe {
            return self.commit_to_log(&entries, LogWaiter::Write(host));
        }
        let hit_ns = self.kind.front().hit_ns();
        let Some((pool, _, tables)) = self.pool() else { return };
        if tables.writes.is_logged {
            pool.open.entries.extend(entries);
            if is_direct {
                pool.open.direct.extend(first..=last);
            }
        }
        self.events.at(now + hit_ns, COMPLETE, device, row, Action::PoolTaken(host));
    }

    /// A write that nobody waits for is in memory.
    #[inline(never)]
    pub(in crate::simulation) fn write_taken(&mut self, host: u32) {
        let hit_ns = self.kind.front().hit_ns();
        let Some((pool, ..)) = self.pool() else { return };
        let last = pool.writes.get(&host).map(|write| write.last).unwrap_or_default();
        self.write_done(host, last, hit_ns);
    }

    /// A write is answered; `last` is the last command that it waited for, and `hit` what it spent in memory.
    fn write_done(&mut self, host: u32, last: Times, hit: i64) {
        let now = self.events.now;
        let Some((pool, ..)) = self.pool() else { return };
        let asked = pool.writes.remove(&host).map_or(now, |write| write.asked);
        let request = &mut self.requests[host];
        request.cache += hit;
        request.queue += now - asked - hit - (last.done - last.submitted);
        request.last = last;
        self.keep(host);
        K::Front::answered(self, host);
    }

    /// Writes so many blocks, those of a record if None, at a block of a vdev.
    fn write_blocks(&mut self, purpose: OfPool, vdev: i64, first: i64, blocks: Option<i64>) {
        let Array { volume: Volume { layout, plan, .. }, .. } = self;
        let Some(tables) = &layout.pool else { return };
        plan.first.clear();
        plan.then.clear();
        let blocks = blocks.unwrap_or(tables.record / tables.block);
        write_pieces(layout, tables, vdev, first, blocks, &mut plan.first);
        self.start(Owner::Pool(purpose), self.events.now, true, None);
    }

    // ------------------------------------------------------------------ transaction groups
    #[inline(never)]
    pub(in crate::simulation) fn group_timed(&mut self) {
        if let Some((pool, ..)) = self.pool() {
            pool.is_timed = false;
        }
        self.begin_group(true);
    }

    /// Write the open group if it is time, or large enough, and none is being written.
    fn begin_group(&mut self, is_due: bool) {
        if self.pool_parts().is_some_and(|mut parts| parts.begins_group(is_due)) {
            self.write_group();
        }
    }

    /// Keep so many writes of the group out as places are chosen ahead (rule X12).
    fn write_group(&mut self) {
        let (now, device) = (self.events.now, pool_device(&self.drives));
        loop {
            let Array { processors, kind, events, .. } = self;
            let Some(pool) = kind.pool() else { return };
            if pool.left() == 0 || pool.out >= pool.most_out || pool.is_placing {
                break;
            }
            if pool.write_work_ns == 0 {
                self.write_next();
            } else if pool.prepared > 0 {
                pool.prepared -= 1;
                pool.is_placing = true;
                let done = processors.take_at_once(now, 2 * pool.quarter_ns());
                events.at(done, ARRIVE, device, LAST - 3, Action::GroupPlaced);
            } else {
                break;
            }
        }
        let Some((pool, ..)) = self.pool() else { return };
        if pool.write_work_ns > 0 && pool.turn == Turn::None && pool.left() > pool.prepared + i64::from(pool.is_placing)
        {
            pool.turn = Turn::Waits(now);
            if let Some(mut parts) = self.pool_parts() {
                parts.take_turn(now);
            }
        }
        let Some((pool, _, tables)) = self.pool() else { return };
        if pool.left() == 0 && !pool.is_above_written {
            pool.is_above_written = true;
            let (n, copies) = (tables.writes.above_file, tables.writes.indirect_copies);
            self.write_objects(n, copies);
        }
        let Some((pool, ..)) = self.pool() else { return };
        if pool.left() == 0 && pool.out == 0 && pool.out_special == 0 && pool.turn == Turn::None {
            if pool.round == 0 && self.begin_scan() {
                return;
            }
            self.next_round();
        }
    }

    /// The group goes on behind its part of the scan (rule X21).
    fn group_scanned(&mut self) {
        if self.pool().is_some_and(|(pool, ..)| pool.has_data) {
            self.next_round();
        } else {
            self.end_group();
        }
    }

    #[inline(never)]
    pub(in crate::simulation) fn group_turn(&mut self) {
        let Some(mut parts) = self.pool_parts() else { return };
        match parts.pool.turn {
            Turn::Waits(since) => parts.take_turn(since),
            _ => {
                parts.pool.turn = Turn::None;
                parts.pool.prepared += 1;
                self.write_group();
            }
        }
    }

    /// A write of the group has its place, and goes there.
    #[inline(never)]
    pub(in crate::simulation) fn group_placed(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        pool.is_placing = false;
        self.write_next();
        self.write_group();
    }

    /// The disks or the special vdev have a write of the group, and a processor ends it (rule X17).
    fn group_command_ended(&mut self, cleans: i64, of_disks: bool) {
        let (now, device) = (self.events.now, pool_device(&self.drives));
        let Array { processors, kind, events, .. } = self;
        let Some(pool) = kind.pool() else { return };
        if pool.write_work_ns == 0 || cleans == 0 {
            return self.group_written(cleans, of_disks);
        }
        pool.ending.push_back((cleans, of_disks));
        let done = processors.take_at_once(now, pool.quarter_ns());
        events.at(done, ARRIVE, device, LAST - 4, Action::GroupEnded);
    }

    #[inline(never)]
    pub(in crate::simulation) fn group_ended(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        if let Some((cleans, of_disks)) = pool.ending.pop_front() {
            self.group_written(cleans, of_disks);
        }
    }

    /// The next record of the group is written, or the copies of an indirect block: evenly among them.
    fn write_next(&mut self) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        let [n_records, n_indirect] = pool.of_group;
        let due = if n_records > 0 { (n_records - pool.left_records) * n_indirect / n_records } else { n_indirect };
        if pool.left_records > 0 && n_indirect - pool.left_indirect >= due {
            pool.left_records -= 1;
            pool.out += 1;
            let (vdev, first) = pool.space.for_record(layout, tables);
            let record = tables.record;
            return self.write_blocks(OfPool::Group(record), vdev, first, None);
        }
        pool.left_indirect -= 1;
        let (copies, blocks) = (tables.writes.indirect_copies, tables.writes.indirect_blocks);
        let indirect = tables.writes.indirect;
        for copy in 0..copies {
            self.write_metadata(copy, 0, blocks, if copy == 0 { indirect } else { 0 });
        }
    }

    fn write_metadata(&mut self, copy: i64, place: i64, blocks: i64, cleans: i64) {
        let Some(mut parts) = self.pool_parts() else { return };
        if parts.write_special(&Metadata { copy, place, blocks }, cleans) {
            return;
        }
        let PoolParts { pool, layout, tables, .. } = parts;
        pool.out += 1;
        let (vdev, first) = pool.space.for_metadata(layout, tables, copy, place, blocks);
        self.write_blocks(OfPool::Group(cleans), vdev, first, Some(blocks));
    }

    /// Something happens at a drive of the special vdev.
    #[inline(never)]
    pub(in crate::simulation) fn special_drive_happened(&mut self, what: OfAuxiliary) {
        let Array { kind, events, .. } = self;
        let Some(drives) = kind.pool().and_then(|pool| pool.special.as_mut()) else { return };
        for ended in drives.happen(what, events) {
            match ended {
                Ended::Command(command) => self.special_command_ended(command.access),
                Ended::Flush(_) => self.group_flushed(),
            }
        }
    }

    fn special_command_ended(&mut self, ticket: u32) {
        let Some((pool, ..)) = self.pool() else { return };
        let (write, out) = &mut pool.on_special[ticket];
        *out -= 1;
        if *out > 0 {
            return;
        }
        let write = *write;
        pool.on_special.release(ticket);
        match write {
            OnSpecial::Group(cleans) => self.group_command_ended(cleans, false),
            OnSpecial::Label => self.label_written(),
        }
    }

    /// Flushes all that the group was written to (rule X12).
    fn flush_group(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        // the disks count as one
        pool.flushing = 1 + pool.flushed_special().map_or(0, |special| special.len());
        self.flush_members(VOLUME);
        if let Some(mut parts) = self.pool_parts() {
            parts.flush_special();
        }
    }

    /// A write of the group has ended, and so many sectors are clean.
    #[inline(never)]
    fn group_written(&mut self, cleans: i64, of_disks: bool) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        if of_disks {
            pool.out -= 1;
            pool.most_out = (pool.most_out + 1).min(most_out(layout, &tables.writes));
        } else {
            pool.out_special -= 1;
        }
        if cleans > 0 {
            pool.dirty -= cleans;
            if let Some(mut parts) = self.pool_parts() {
                parts.dirty_changed();
            }
            self.admit_blocked();
        }
        self.write_group();
    }

    /// Writes go on that waited until less is dirty (rule X15).
    fn admit_blocked(&mut self) {
        loop {
            let Some((pool, _, tables)) = self.pool() else { return };
            if pool.dirty >= tables.writes.dirty_most {
                return;
            }
            let Some(host) = pool.blocked.pop_front() else { return };
            self.delay_write(host);
        }
    }

    /// Write the next round of metadata, or the labels behind the last (rule X12).
    fn next_round(&mut self) {
        let Some((pool, _, tables)) = self.pool() else { return };
        let (objects, copies) = (tables.writes.objects, tables.writes.object_copies);
        if pool.round < tables.writes.rounds {
            pool.round += 1;
            return self.write_objects(objects, copies);
        }
        // before its labels are written
        self.flush_group();
    }

    fn write_objects(&mut self, n: i64, copies: i64) {
        let Some((_, _, tables)) = self.pool() else { return };
        let (blocks, allocators) = (tables.writes.object_blocks, tables.writes.allocators);
        for number in 0..n {
            for copy in 0..copies {
                self.write_metadata(copy, 1 + number % allocators, blocks, 0);
            }
        }
    }

    /// The disks hold all of the group but its labels.
    #[inline(never)]
    fn write_labels(&mut self) {
        let Some(mut parts) = self.pool_parts() else { return };
        parts.pool.labels = 1;
        if parts.layout.n_groups < parts.tables.writes.labeled_vdevs {
            (0..LABELS).for_each(|number| parts.write_special_label(number));
        }
        let Array { volume: Volume { layout, plan, .. }, .. } = self;
        let Some(tables) = &layout.pool else { return };
        let writes = &tables.writes;
        let width = layout.group_width();
        let n_disks = writes.labeled_vdevs.min(layout.n_groups) * width;
        plan.first.clear();
        plan.then.clear();
        for base in [writes.label_first, writes.label_last] {
            for lba in [base, base + writes.label_apart] {
                for disk in (0..n_disks as u32).filter_map(|disk| layout.new_disk(disk, None)) {
                    plan.first.push(ChildIo::new(disk, WRITE, lba, writes.label_sectors));
                }
            }
        }
        self.start(Owner::Pool(OfPool::Labels), self.events.now, true, None);
    }

    /// A label is on the special vdev, or all are on the disks.
    #[inline(never)]
    fn label_written(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        pool.labels -= 1;
        if pool.labels == 0 {
            pool.ends_group = true;
            self.flush_group();
        }
    }

    /// The disks are flushed, or a drive of the special vdev: before the labels of the group, or behind them.
    pub(in crate::simulation) fn group_flushed(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        pool.flushing -= 1;
        if pool.flushing > 0 {
            return;
        }
        if self.kind.pool().is_some_and(|pool| std::mem::take(&mut pool.ends_group)) {
            self.end_group();
        } else {
            self.write_labels();
        }
    }

    /// The group is on the disks.
    #[inline(never)]
    fn end_group(&mut self) {
        let now = self.events.now;
        let Some((pool, layout, tables)) = self.pool() else { return };
        pool.syncing = None;
        if pool.open.records.is_empty() && !pool.is_scanned(layout) {
            return;
        }
        let is_due = now >= pool.begun + tables.writes.group_ns;
        self.begin_group(is_due);
        if let Some(mut parts) = self.pool_parts().filter(|parts| parts.pool.syncing.is_none()) {
            parts.set_group_time();
        }
    }
}

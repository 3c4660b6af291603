//! What stands before the layout of a pool: dirty records, transaction groups, the throttle (rules X9 to X15 and X26); see
//! `diskmodel/engine/reference/pools/writes.py`.

use std::collections::{HashMap, HashSet, VecDeque};

use super::intent_log::{Entry, IntentLog, LogWaiter};
use super::pool_reads::PoolReads;
use super::scan::Scan;
use super::{Owner, Simulation, Times};
use crate::command::Command;
use crate::device::Device;
use crate::events::{Action, ARRIVE, COMPLETE, LAST};
use crate::layout::{
    blocks_above, commands_of, write_pieces, DeviceQueue, Layout, Piece, PoolTables, Ring, Space, WriteTables,
};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::traffic::{Traffic, PASS_THROUGH};

/// Times of its own work that a write of a group waits for a processor which others want: the thread that begins it has
/// 15 of 1,039 parts of one (nice 19), and does an eighth of the work.
const PATIENCE: i64 = 8;
/// Labels of a device that are written: two at its beginning and two at its end (rule X12).
const LABELS: usize = 4;
/// A transaction group.
#[derive(Default)]
struct Group {
    /// Dirty records, each with whether its place has been written already.
    records: HashMap<i64, bool>,
    /// The blocks above them, and all these together in sectors.
    indirect: HashSet<(i64, i64)>,
    n_dirty: i64,
    /// What the log would get of writes that nobody has made safe, and the records of these that go to their places at
    /// once.
    entries: Vec<Entry>,
    direct: Vec<i64>,
}

/// A write of a program that is being taken.
#[derive(Clone, Copy, Default)]
struct Write {
    asked: i64,
    is_safe: bool,
    /// Reads that it waits for, and the last of them.
    n_reads: u32,
    last: Times,
}

/// What the next write of a group has of a processor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    None,
    /// It waits for one since then.
    Waits(i64),
    Works,
}

/// A write to the special vdev: of the group, with what is clean when it ends, or a label.
#[derive(Clone, Copy)]
enum OnSpecial {
    Group(i64),
    Label,
}

/// How many writes of a group may be out when it begins: a special vdev counts as one more (rules X12, X26).
fn first_out(layout: &Layout, writes: &WriteTables) -> i64 {
    writes.allocated_first * (layout.n_groups + i64::from(writes.special.is_some()))
}

/// How many may be out at most: more with each that ends on the disks.
fn most_out(layout: &Layout, writes: &WriteTables) -> i64 {
    first_out(layout, writes) + (writes.allocated - writes.allocated_first) * layout.n_groups
}

/// What a pool knows of its writes.
pub struct PoolWrites {
    pub(super) space: Space,
    pub(super) log: IntentLog,
    pub(super) reads: PoolReads,
    open: Group,
    syncing: Option<Group>,
    /// Sectors of records that are dirty, in both groups.
    dirty: i64,
    /// When the writing of the last group began, and whether a time for the next is set.
    begun: i64,
    is_timed: bool,
    /// A processor works so long on a block of the log, and on a write of a group, one after the other.
    pub(super) block_ns: i64,
    pub(super) turn_ns: i64,
    turn: Turn,
    /// Of what is still to be written: what is prepared and waits for its place, and whether one is being given its place.
    prepared: i64,
    is_placing: bool,
    /// Writes that a processor still ends: what is clean then, and whether they were on the disks.
    ending: VecDeque<(i64, bool)>,
    /// Of the special vdev, if there is one, and its writes.
    special: Option<DeviceQueue>,
    on_special: VecDeque<OnSpecial>,
    /// Labels of the group that are being written: those of the disks count as one.
    labels: i64,
    /// Records and indirect blocks of the group that are still to be written; how many writes are out, and how many to the
    /// special vdev.
    left_records: i64,
    left_indirect: i64,
    /// How many records and indirect blocks it had to write when it began.
    of_group: [i64; 2],
    out: i64,
    out_special: i64,
    /// Writes of the group that may be out on the disks; one more with each of these that ends.
    most_out: i64,
    /// Rounds of metadata that have been written of the group, and whether the blocks above its files have been.
    round: i64,
    is_above_written: bool,
    /// When the last delayed write goes on, and writes that wait until less is dirty.
    delayed_until: i64,
    blocked: VecDeque<u32>,
    writes: HashMap<u32, Write>,
    /// A resilver or a scrub, which the groups wait for (rule X21), and whether the one that is written has data.
    pub(super) scan: Option<Scan>,
    has_data: bool,
}

impl PoolWrites {
    /// `group` are records and indirect blocks of a group whose writing begins with the run, and the records below which
    /// data lies (rule Z12).
    pub fn new(layout: &Layout, turn_ns: i64, group: [i64; 3], ring: Option<Box<Ring>>) -> Option<Self> {
        let pool = layout.pool.as_ref()?;
        let [left_records, left_indirect, top] = group;
        Some(PoolWrites {
            space: Space::new(layout, &pool.writes, top),
            log: IntentLog::new(&pool.writes),
            reads: PoolReads::new(&pool.reads, pool.writes.n_records, ring),
            open: Group::default(),
            syncing: (left_records > 0).then(Group::default),
            dirty: left_records * pool.record + left_indirect * pool.writes.indirect,
            begun: 0,
            is_timed: false,
            block_ns: turn_ns,
            turn_ns: if pool.writes.record_ns < 0 { turn_ns } else { pool.writes.record_ns },
            turn: Turn::None,
            prepared: 0,
            is_placing: false,
            ending: VecDeque::new(),
            special: pool.writes.special.as_ref().map(DeviceQueue::new),
            on_special: VecDeque::new(),
            labels: 0,
            left_records,
            left_indirect,
            of_group: [left_records, left_indirect],
            out: 0,
            out_special: 0,
            most_out: first_out(layout, &pool.writes),
            round: 0,
            is_above_written: false,
            delayed_until: 0,
            blocked: VecDeque::new(),
            writes: HashMap::new(),
            scan: Scan::of(layout),
            has_data: left_records > 0,
        })
    }

    /// Sectors that a scan is through; None: there is none.
    pub(super) fn scan_front(&self) -> Option<i64> {
        self.scan.as_ref().map(|scan| scan.front)
    }

    /// Sectors that are dirty, and when the writing of the group began.
    pub(super) fn dirty(&self) -> i64 {
        self.dirty
    }

    pub(super) fn group_begun(&self) -> i64 {
        self.begun
    }

    /// Whether a scan lets one group follow the other.
    fn is_scanned(&self, layout: &Layout) -> bool {
        self.scan.as_ref().is_some_and(|scan| scan.has_work(layout))
    }

    /// Records and indirect blocks that are still to be written.
    fn left(&self) -> i64 {
        self.left_records + self.left_indirect
    }

    /// A quarter of what a processor does for a write of a group (rule X17).
    fn quarter_ns(&self) -> i64 {
        self.turn_ns / 4
    }

    fn holds(&self, record: i64) -> bool {
        self.open.records.contains_key(&record)
            || self.syncing.as_ref().is_some_and(|group| group.records.contains_key(&record))
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// The pool and what it knows of its writes; only asked where there is one.
    #[inline(always)]
    pub(super) fn pool(&mut self) -> Option<(&mut PoolWrites, &Layout, &PoolTables)> {
        let Simulation { pool, layout, .. } = self;
        let (pool, layout) = (pool.as_mut()?, &*layout);
        Some((pool, layout, layout.pool.as_ref()?))
    }

    pub(super) fn pool_device(&self) -> u32 {
        self.drives.len() + 4
    }

    /// The group whose time has come when the run begins (rule Z12).
    pub(super) fn begin_pool(&mut self) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        let hand_ns = pool.quarter_ns() / commands_of(layout, tables.record / tables.block);
        self.drives.hand_over_within(hand_ns);
        self.dirty_changed();
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
    pub(super) fn pool_access(&mut self, host: u32, op: u8, sector: i64, n: i64) {
        let now = self.events.now;
        if op == FLUSH {
            return self.pool_flush(host);
        }
        let is_safe = self.hosts[host].sync >= PASS_THROUGH;
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

    /// Make all writes before this one safe (rule X10).
    fn pool_flush(&mut self, host: u32) {
        let Some((pool, _, tables)) = self.pool() else { return };
        if !tables.writes.is_logged {
            return self.finished(host);
        }
        let mut entries = vec![Entry { n_bytes: tables.writes.log_header, n_records: 0 }];
        let mut direct = Vec::new();
        for group in pool.syncing.iter_mut().chain([&mut pool.open]) {
            entries.append(&mut group.entries);
            direct.append(&mut group.direct);
        }
        for number in &direct {
            // written with the log, and not again with its group
            for group in pool.syncing.iter_mut().chain([&mut pool.open]) {
                if let Some(is_written) = group.records.get_mut(number) {
                    *is_written = true;
                }
            }
        }
        self.commit_to_log(&entries, LogWaiter::Flush(host));
    }

    /// A write waits behind the one before it while much is dirty (rule X15).
    fn delay_write(&mut self, host: u32) {
        let (now, device, row) = (self.events.now, self.pool_device(), self.hosts[host].row);
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
    pub(super) fn fill(&mut self, host: u32) {
        let (sector, n) = (self.hosts[host].sector, self.hosts[host].n);
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
            self.fetch(Owner::Fill(host), number, record);
        }
    }

    /// A part of a record that was missing has been read.
    #[inline(never)]
    pub(super) fn filled(&mut self, host: u32, last: &Command) {
        self.part_came(host, Times::of(last));
    }

    /// The same, from wherever it came.
    pub(super) fn part_came(&mut self, host: u32, last: Times) {
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
        let (sector, n, row) = (self.hosts[host].sector, self.hosts[host].n, self.hosts[host].row);
        let sector_bytes = self.drives.sector_bytes();
        let (now, device) = (self.events.now, self.pool_device());
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
            if let Some(ring) = &mut pool.reads.ring {
                ring.invalidate(number);
            }
            let group = &mut pool.open;
            if group.records.insert(number, is_direct && is_safe).is_none() {
                let n_above = blocks_above(writes, number).filter(|&block| group.indirect.insert(block)).count();
                let n = record + n_above as i64 * writes.indirect;
                group.n_dirty += n;
                pool.dirty += n;
            }
        }
        self.dirty_changed();
        self.set_group_time();
        self.begin_group(false);
        if is_safe {
            return self.commit_to_log(&entries, LogWaiter::Write(host));
        }
        let hit_ns = self.controller.hit_ns;
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
    pub(super) fn write_taken(&mut self, host: u32) {
        let hit_ns = self.controller.hit_ns;
        let Some((pool, ..)) = self.pool() else { return };
        let last = pool.writes.get(&host).map(|write| write.last).unwrap_or_default();
        self.write_done(host, last, hit_ns);
    }

    /// A write is answered; `last` is the last command that it waited for, and `hit` what it spent in memory.
    pub(super) fn write_done(&mut self, host: u32, last: Times, hit: i64) {
        let now = self.events.now;
        let Some((pool, ..)) = self.pool() else { return };
        let asked = pool.writes.remove(&host).map_or(now, |write| write.asked);
        let request = &mut self.hosts[host];
        request.cache += hit;
        request.queue += now - asked - hit - (last.done - last.submitted);
        request.last = last;
        self.keep(host);
        self.answered(host);
    }

    /// Writes so many blocks, those of a record if None, at a block of a vdev.
    pub(super) fn write_blocks(&mut self, owner: Owner, vdev: i64, first: i64, blocks: Option<i64>) {
        let Simulation { layout, plan, .. } = self;
        let Some(tables) = &layout.pool else { return };
        plan.first.clear();
        plan.then.clear();
        let blocks = blocks.unwrap_or(tables.record / tables.block);
        write_pieces(layout, tables, vdev, first, blocks, &mut plan.first);
        self.start(owner, self.events.now, true, None);
    }

    // ------------------------------------------------------------------ transaction groups
    /// Drives are given as many writes of a group as is due now (rule X14).
    fn dirty_changed(&mut self) {
        let Some((pool, _, tables)) = self.pool() else { return };
        let n = tables.writes.active_writes(pool.dirty) as usize;
        self.drives.give_group_writes(n, &mut self.events);
    }

    /// The open group is written at the next multiple of the interval from the beginning of the last (rule X11).
    fn set_group_time(&mut self) {
        let (now, device) = (self.events.now, self.pool_device());
        let Some((pool, _, tables)) = self.pool() else { return };
        if std::mem::replace(&mut pool.is_timed, true) {
            return;
        }
        let interval = tables.writes.group_ns;
        let n = ((now - pool.begun + interval - 1) / interval).max(1);
        let when = pool.begun + n * interval;
        self.events.at(when, ARRIVE, device, LAST - 1, Action::GroupTimed);
    }

    #[inline(never)]
    pub(super) fn group_timed(&mut self) {
        if let Some((pool, ..)) = self.pool() {
            pool.is_timed = false;
        }
        self.begin_group(true);
    }

    /// Write the open group if it is time, or large enough, and none is being written.
    fn begin_group(&mut self, is_due: bool) {
        let now = self.events.now;
        let Some((pool, layout, tables)) = self.pool() else { return };
        let n = pool.open.records.len() as i64;
        let is_large = pool.open.n_dirty >= tables.writes.dirty_group;
        let is_time = pool.is_scanned(layout) || (n > 0 && (is_due || is_large));
        if pool.syncing.is_some() || !is_time {
            return;
        }
        pool.begun = now;
        pool.space.group_begins();
        pool.has_data = n > 0;
        let group = std::mem::take(&mut pool.open);
        pool.left_records = group.records.values().filter(|&&is_written| !is_written).count() as i64;
        pool.dirty -= (n - pool.left_records) * tables.record;
        pool.left_indirect = group.indirect.len() as i64;
        pool.of_group = [pool.left_records, pool.left_indirect];
        pool.syncing = Some(group);
        pool.round = 0;
        pool.is_above_written = !pool.has_data;
        pool.most_out = first_out(layout, &tables.writes);
        self.dirty_changed();
        let scan = self.pool.as_mut().and_then(|pool| pool.scan.as_mut());
        if !scan.is_some_and(Scan::begin_group) {
            self.write_group();
        }
    }

    /// Keep so many writes of the group out as places are chosen ahead (rule X12).
    pub(super) fn write_group(&mut self) {
        let (now, device) = (self.events.now, self.pool_device());
        loop {
            let Simulation { processors, pool, events, .. } = self;
            let Some(pool) = pool.as_mut() else { return };
            if pool.left() == 0 || pool.out >= pool.most_out || pool.is_placing {
                break;
            }
            if pool.turn_ns == 0 {
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
        if pool.turn_ns > 0 && pool.turn == Turn::None && pool.left() > pool.prepared + i64::from(pool.is_placing) {
            pool.turn = Turn::Waits(now);
            self.take_turn(now);
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
    pub(super) fn group_scanned(&mut self) {
        if self.pool().is_some_and(|(pool, ..)| pool.has_data) {
            self.next_round();
        } else {
            self.end_group();
        }
    }

    /// The next write of the group takes a processor that nobody else wants, or has waited long enough (rule X17).
    fn take_turn(&mut self, since: i64) {
        let (now, device) = (self.events.now, self.pool_device());
        let Simulation { processors, pool, .. } = self;
        let Some(pool) = pool else { return };
        let free = processors.first_free();
        let latest = since + pool.turn_ns * PATIENCE;
        let when = if free <= now || now >= latest {
            pool.turn = Turn::Works;
            processors.take_at_once(now, pool.turn_ns - 3 * pool.quarter_ns())
        } else {
            free.min(latest)
        };
        self.events.at(when, ARRIVE, device, LAST - 2, Action::GroupTurn);
    }

    #[inline(never)]
    pub(super) fn group_turn(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        match pool.turn {
            Turn::Waits(since) => self.take_turn(since),
            _ => {
                pool.turn = Turn::None;
                pool.prepared += 1;
                self.write_group();
            }
        }
    }

    /// A write of the group has its place, and goes there.
    #[inline(never)]
    pub(super) fn group_placed(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        pool.is_placing = false;
        self.write_next();
        self.write_group();
    }

    /// The disks or the special vdev have a write of the group, and a processor ends it (rule X17).
    pub(super) fn group_command_ended(&mut self, cleans: i64, of_disks: bool) {
        let (now, device) = (self.events.now, self.pool_device());
        let Simulation { processors, pool, events, .. } = self;
        let Some(pool) = pool else { return };
        if pool.turn_ns == 0 || cleans == 0 {
            return self.group_written(cleans, of_disks);
        }
        pool.ending.push_back((cleans, of_disks));
        let done = processors.take_at_once(now, pool.quarter_ns());
        events.at(done, ARRIVE, device, LAST - 4, Action::GroupEnded);
    }

    #[inline(never)]
    pub(super) fn group_ended(&mut self) {
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
            return self.write_blocks(Owner::Group(record), vdev, first, None);
        }
        pool.left_indirect -= 1;
        let (copies, blocks) = (tables.writes.indirect_copies, tables.writes.indirect_blocks);
        let indirect = tables.writes.indirect;
        for copy in 0..copies {
            self.write_metadata(copy, 0, blocks, if copy == 0 { indirect } else { 0 });
        }
    }

    fn write_metadata(&mut self, copy: i64, place: i64, blocks: i64, cleans: i64) {
        let sectors = blocks * self.layout.pool.as_ref().map_or(0, |tables| tables.block);
        if self.write_special(sectors, OnSpecial::Group(cleans)) {
            return;
        }
        let Some((pool, layout, tables)) = self.pool() else { return };
        pool.out += 1;
        let (vdev, first) = pool.space.for_metadata(layout, tables, copy, place, blocks);
        self.write_blocks(Owner::Group(cleans), vdev, first, Some(blocks));
    }

    /// Writes to all devices of the special vdev, if there is one: one write after another passes their links (rule X26).
    fn write_special(&mut self, sectors: i64, write: OnSpecial) -> bool {
        let bytes = sectors * self.drives.sector_bytes();
        let (now, device) = (self.events.now, self.pool_device());
        let Some((pool, ..)) = self.pool() else { return false };
        let Some(special) = &mut pool.special else { return false };
        pool.on_special.push_back(write);
        match write {
            OnSpecial::Group(_) => pool.out_special += 1,
            OnSpecial::Label => pool.labels += 1,
        }
        let done = special.end_of(bytes, now);
        self.events.at(done, COMPLETE, device, LAST - 1, Action::SpecialDone);
        true
    }

    #[inline(never)]
    pub(super) fn special_done(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        match pool.on_special.pop_front() {
            Some(OnSpecial::Group(cleans)) => self.group_command_ended(cleans, false),
            Some(OnSpecial::Label) => self.label_written(),
            None => {}
        }
    }

    /// A write of the group has ended, and so many sectors are clean.
    #[inline(never)]
    pub(super) fn group_written(&mut self, cleans: i64, of_disks: bool) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        if of_disks {
            pool.out -= 1;
            pool.most_out = (pool.most_out + 1).min(most_out(layout, &tables.writes));
        } else {
            pool.out_special -= 1;
        }
        if cleans > 0 {
            pool.dirty -= cleans;
            self.dirty_changed();
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
        self.flush_for_group();
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
    pub(super) fn write_labels(&mut self) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        pool.labels = 1;
        if layout.n_groups < tables.writes.labeled_vdevs {
            let sectors = tables.writes.label_sectors;
            for _ in 0..LABELS {
                self.write_special(sectors, OnSpecial::Label);
            }
        }
        let Simulation { layout, plan, .. } = self;
        let Some(tables) = &layout.pool else { return };
        let writes = &tables.writes;
        let width = layout.group_width();
        let n_disks = writes.labeled_vdevs.min(layout.n_groups) * width;
        plan.first.clear();
        plan.then.clear();
        for base in [writes.label_first, writes.label_last] {
            for lba in [base, base + writes.label_apart] {
                for disk in (0..n_disks as u32).filter_map(|disk| layout.new_disk(disk, None)) {
                    plan.first.push(Piece::new(disk, WRITE, lba, writes.label_sectors));
                }
            }
        }
        self.start(Owner::Labels, self.events.now, true, None);
    }

    /// A label is on the special vdev, or all are on the disks.
    #[inline(never)]
    pub(super) fn label_written(&mut self) {
        let Some((pool, ..)) = self.pool() else { return };
        pool.labels -= 1;
        if pool.labels == 0 {
            self.labels_written();
        }
    }

    /// The group is on the disks.
    #[inline(never)]
    pub(super) fn end_group(&mut self) {
        let now = self.events.now;
        let Some((pool, layout, tables)) = self.pool() else { return };
        pool.syncing = None;
        if pool.open.records.is_empty() && !pool.is_scanned(layout) {
            return;
        }
        let is_due = now >= pool.begun + tables.writes.group_ns;
        self.begin_group(is_due);
        if self.pool().is_some_and(|(pool, ..)| pool.syncing.is_none()) {
            self.set_group_time();
        }
    }
}

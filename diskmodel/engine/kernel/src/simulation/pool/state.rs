//! What a pool knows of its writes, and what it does without anybody else's help (rules X9 to X17 and X26).

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::command::Slots;
use crate::device::Device;
use crate::drives::auxiliary::{Auxiliary, Free};
use crate::drives::Drives;
use crate::events::{Action, Events, ARRIVE, LAST};
use crate::layout::{L2arc, Layout, PoolTables, Space, WriteTables};
use crate::simulation::pool::intent_log::{Entry, IntentLog};
use crate::simulation::pool::reads::PoolReads;
use crate::simulation::pool::scan::Scan;
use crate::simulation::processors::Processors;
use crate::simulation::Times;

/// Times of its own work that a write of a group waits for a processor which others want: the thread that begins it has
/// 15 of 1,039 parts of one (nice 19), and does an eighth of the work.
const PATIENCE: i64 = 8;
/// How long they are prepared without a pause once it has waited, ns; see `SLICE_NS` of the reference.
const SLICE_NS: i64 = 750_000;
/// A transaction group.
#[derive(Default)]
pub(super) struct Group {
    /// Dirty records, each with whether its place has been written already.
    pub(super) records: FxHashMap<i64, bool>,
    /// The blocks above them, and all these together in sectors.
    pub(super) indirect: FxHashSet<(i64, i64)>,
    pub(super) n_dirty: i64,
    /// What the log would get of writes that nobody has made safe, and the records of these that go to their places at
    /// once.
    pub(super) entries: Vec<Entry>,
    pub(super) direct: Vec<i64>,
}

/// A write of a program that is being taken.
#[derive(Clone, Copy, Default)]
pub(super) struct Write {
    pub(super) asked: i64,
    pub(super) is_safe: bool,
    /// Reads that it waits for, and the last of them.
    pub(super) n_reads: u32,
    pub(super) last: Times,
}

/// What the next write of a group has of a processor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    None,
    /// It waits for one since then.
    Waits(i64),
    Works,
}

/// A write to the special vdev: of the group, with what is clean when it ends, or a label.
#[derive(Clone, Copy, Default)]
pub(super) enum OnSpecial {
    Group(i64),
    #[default]
    Label,
}

/// Metadata for the special vdev: which copy, which of the places of a metaslab, and blocks.
pub(super) struct Metadata {
    pub(super) copy: i64,
    pub(super) place: i64,
    pub(super) blocks: i64,
}

/// How many writes of a group may be out when it begins: a special vdev counts as one more (rules X12, X26).
pub(super) fn first_out(layout: &Layout, writes: &WriteTables) -> i64 {
    writes.allocated_first * (layout.n_groups + i64::from(writes.has_special))
}

/// How many may be out at most: more with each that ends on the disks.
pub(super) fn most_out(layout: &Layout, writes: &WriteTables) -> i64 {
    first_out(layout, writes) + (writes.allocated - writes.allocated_first) * layout.n_groups
}

/// What a pool knows of its writes.
pub struct Pool {
    pub(super) space: Space,
    pub(super) log: IntentLog,
    pub(super) reads: PoolReads,
    pub(super) open: Group,
    pub(super) syncing: Option<Group>,
    /// Sectors of records that are dirty, in both groups.
    pub(super) dirty: i64,
    /// When the writing of the last group began, and whether a time for the next is set.
    pub(super) begun: i64,
    pub(super) is_timed: bool,
    /// A processor works so long on a block of the log, and on a write of a group, one after the other.
    pub(super) block_ns: i64,
    pub(super) write_work_ns: i64,
    pub(super) turn: Turn,
    /// Writes that are prepared without another wait.
    in_slice: i64,
    /// Of what is still to be written: what is prepared and waits for its place, and whether one is being given its place.
    pub(super) prepared: i64,
    pub(super) is_placing: bool,
    /// Writes that a processor still ends: what is clean then, and whether they were on the disks.
    pub(super) ending: VecDeque<(i64, bool)>,
    /// Drives of the special vdev, if there is one, and writes to them, each with how many of its commands are out.
    pub(super) special: Option<Box<Auxiliary>>,
    pub(super) on_special: Slots<(OnSpecial, usize)>,
    /// Flushes of the disks and of these drives that the group waits for.
    pub(super) flushing: usize,
    /// The labels of the group have been written, and the flush behind them ends it.
    pub(super) ends_group: bool,
    /// Labels of the group that are being written: those of the disks count as one.
    pub(super) labels: i64,
    /// Records and indirect blocks of the group that are still to be written; how many writes are out, and how many to the
    /// special vdev.
    pub(super) left_records: i64,
    pub(super) left_indirect: i64,
    /// How many records and indirect blocks it had to write when it began.
    pub(super) of_group: [i64; 2],
    pub(super) out: i64,
    pub(super) out_special: i64,
    /// Writes of the group that may be out on the disks; one more with each of these that ends.
    pub(super) most_out: i64,
    /// Rounds of metadata that have been written of the group, and whether the blocks above its files have been.
    pub(super) round: i64,
    pub(super) is_above_written: bool,
    /// When the last delayed write goes on, and writes that wait until less is dirty.
    pub(super) delayed_until: i64,
    pub(super) blocked: VecDeque<u32>,
    pub(super) writes: FxHashMap<u32, Write>,
    /// A resilver or a scrub, which the groups wait for (rule X21), and whether the one that is written has data.
    pub(super) scan: Option<Scan>,
    pub(super) has_data: bool,
}

impl Pool {
    /// `group` are records and indirect blocks of a group whose writing begins with the run, and the records below which
    /// data lies (rule Z12); `own` are the drives of its log and of its special vdev.
    pub fn of(
        layout: &Layout,
        host_work_ns: i64,
        group: [i64; 3],
        l2arc: Option<Box<L2arc>>,
        own: [Option<Box<Auxiliary>>; 2],
    ) -> Option<Self> {
        let pool = layout.pool.as_ref()?;
        let [left_records, left_indirect, top] = group;
        let [log, special] = own;
        Some(Pool {
            space: Space::new(layout, &pool.writes, top),
            log: IntentLog::new(&pool.writes, log),
            reads: PoolReads::new(&pool.reads, pool.writes.n_records, l2arc),
            open: Group::default(),
            syncing: (left_records > 0).then(Group::default),
            dirty: left_records * pool.record + left_indirect * pool.writes.indirect,
            begun: 0,
            is_timed: false,
            block_ns: host_work_ns,
            write_work_ns: if pool.writes.record_ns < 0 { host_work_ns } else { pool.writes.record_ns },
            turn: Turn::None,
            in_slice: 0,
            prepared: 0,
            is_placing: false,
            ending: VecDeque::new(),
            special,
            on_special: Slots::default(),
            flushing: 0,
            ends_group: false,
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
            writes: FxHashMap::default(),
            scan: Scan::of(layout),
            has_data: left_records > 0,
        })
    }

    /// Sectors that a scan is through; None: there is none.
    pub(in crate::simulation) fn scan_front(&self) -> Option<i64> {
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
    pub(super) fn is_scanned(&self, layout: &Layout) -> bool {
        self.scan.as_ref().is_some_and(|scan| scan.has_work(layout))
    }

    /// Records and indirect blocks that are still to be written.
    pub(super) fn left(&self) -> i64 {
        self.left_records + self.left_indirect
    }

    /// A quarter of what a processor does for a write of a group (rule X17).
    pub(super) fn quarter_ns(&self) -> i64 {
        self.write_work_ns / 4
    }

    /// What the log gets for a flush: what nobody has made safe, whose records that go to their places at once are
    /// written with it, and not again with their group (rule X10).
    pub(super) fn take_unsafe(&mut self, header: i64) -> Vec<Entry> {
        let mut entries = vec![Entry { n_bytes: header, n_records: 0 }];
        let mut direct = Vec::new();
        for group in self.syncing.iter_mut().chain([&mut self.open]) {
            entries.append(&mut group.entries);
            direct.append(&mut group.direct);
        }
        for number in &direct {
            for group in self.syncing.iter_mut().chain([&mut self.open]) {
                if let Some(is_written) = group.records.get_mut(number) {
                    *is_written = true;
                }
            }
        }
        entries
    }

    /// The L2ARC of its cache devices, if it has any.
    pub(super) fn l2arc(&mut self) -> Option<&mut L2arc> {
        self.reads.l2arc.as_deref_mut()
    }

    /// Its drives beside the disks: of its log, of its special vdev, and cache devices.
    pub fn own_drives(&self) -> [Option<&Auxiliary>; 3] {
        let cache = self.reads.l2arc.as_ref().and_then(|l2arc| l2arc.drives.as_deref());
        [self.log.drives(), self.special.as_deref(), cache]
    }

    /// Drives of the special vdev, where they take flushes.
    pub(super) fn flushed_special(&mut self) -> Option<&mut Auxiliary> {
        self.special.as_deref_mut().filter(|special| special.takes_flushes())
    }

    /// Whether a cache device has a record.
    pub(super) fn is_on_l2arc(&self, number: i64) -> bool {
        self.reads.l2arc.as_ref().is_some_and(|l2arc| l2arc.contains(number))
    }

    pub(super) fn holds(&self, record: i64) -> bool {
        self.open.records.contains_key(&record)
            || self.syncing.as_ref().is_some_and(|group| group.records.contains_key(&record))
    }
}

/// The device that events of a pool belong to.
pub(super) fn pool_device<D: Device>(drives: &Drives<D>) -> u32 {
    drives.len() + 4
}

/// A pool, and what it uses of others.
pub(super) struct PoolParts<'a, D: Device> {
    pub(super) pool: &'a mut Pool,
    pub(super) layout: &'a Layout,
    pub(super) tables: &'a PoolTables,
    pub(super) drives: &'a mut Drives<D>,
    pub(super) events: &'a mut Events,
    pub(super) processors: &'a mut Processors,
}

impl<D: Device> PoolParts<'_, D> {
    /// Drives are given as many writes of a group as is due now (rule X14).
    pub(super) fn dirty_changed(&mut self) {
        let n = self.tables.writes.active_writes(self.pool.dirty) as usize;
        self.drives.give_group_writes(n, self.events);
        if let Some(special) = &mut self.pool.special {
            special.give_group_writes(n, self.events);
        }
        if let Some(drives) = self.pool.l2arc().and_then(|l2arc| l2arc.drives.as_mut()) {
            drives.give_group_writes(n, self.events);
        }
    }

    /// The open group is written at the next multiple of the interval from the beginning of the last (rule X11).
    pub(super) fn set_group_time(&mut self) {
        let now = self.events.now;
        if std::mem::replace(&mut self.pool.is_timed, true) {
            return;
        }
        let (begun, interval) = (self.pool.begun, self.tables.writes.group_ns);
        let n = ((now - begun + interval - 1) / interval).max(1);
        self.events.at(begun + n * interval, ARRIVE, pool_device(self.drives), LAST - 1, Action::GroupTimed);
    }

    /// The open group begins if it is time, or large enough, and none is being written; true: it is written now, and not
    /// behind a scan.
    pub(super) fn begins_group(&mut self, is_due: bool) -> bool {
        let PoolParts { pool, layout, tables, .. } = self;
        let n = pool.open.records.len() as i64;
        let is_large = pool.open.n_dirty >= tables.writes.dirty_group;
        let is_time = pool.is_scanned(layout) || (n > 0 && (is_due || is_large));
        if pool.syncing.is_some() || !is_time {
            return false;
        }
        pool.begun = self.events.now;
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
        !self.pool.scan.as_mut().is_some_and(Scan::begin_group)
    }

    /// The next write of the group takes a processor that nobody else wants, or has waited long enough (rule X17).
    pub(super) fn take_turn(&mut self, since: i64) {
        let PoolParts { pool, processors, .. } = self;
        let now = self.events.now;
        let free = processors.first_free();
        // its thread also gives them their places, and makes their commands
        let slice = (SLICE_NS / (pool.write_work_ns - pool.quarter_ns())).max(1);
        let latest = since + pool.write_work_ns * PATIENCE * slice;
        let when = if free <= now || pool.in_slice > 0 || now >= latest {
            let is_forced = free > now && pool.in_slice == 0;
            pool.in_slice = if is_forced { slice - 1 } else { (pool.in_slice - 1).max(0) };
            pool.turn = Turn::Works;
            processors.take_at_once(now, pool.write_work_ns - 3 * pool.quarter_ns())
        } else {
            free.min(latest)
        };
        self.events.at(when, ARRIVE, pool_device(self.drives), LAST - 2, Action::GroupTurn);
    }

    /// Writes metadata to all drives of the special vdev, if there is one (rule X26).
    pub(super) fn write_special(&mut self, metadata: &Metadata, cleans: i64) -> bool {
        let PoolParts { pool, tables, drives, events, .. } = self;
        let &Metadata { copy, place, blocks } = metadata;
        let Some(special) = &mut pool.special else { return false };
        let (writes, n_slabs) = (&tables.writes, special.n_slabs());
        let bytes = blocks * tables.block * drives.sector_bytes();
        let free = Free {
            kind: (copy * (1 + writes.allocators) + place) as usize,
            slab: copy * (n_slabs / 8).max(1) % n_slabs,
            part: (place, writes.allocators + 1),
        };
        let ticket = pool.on_special.put((OnSpecial::Group(cleans), 0));
        pool.out_special += 1;
        pool.on_special[ticket].1 = special.append(&free, [bytes, bytes], (ticket, true), events);
        true
    }

    /// Writes a label to all drives of the special vdev, if there is one.
    pub(super) fn write_special_label(&mut self, number: i64) {
        let PoolParts { pool, tables, drives, events, .. } = self;
        let Some(special) = &mut pool.special else { return };
        let bytes = tables.writes.label_sectors * drives.sector_bytes();
        let ticket = pool.on_special.put((OnSpecial::Label, 0));
        pool.labels += 1;
        pool.on_special[ticket].1 = special.write_label(number, bytes, ticket, events);
    }

    /// Flushes the drives of the special vdev, where they take flushes.
    pub(super) fn flush_special(&mut self) {
        let PoolParts { pool, events, .. } = self;
        if let Some(special) = pool.flushed_special() {
            special.flush(0, events);
        }
    }

    /// A processor makes the open block of the log, in which there is room meanwhile; false where that takes no time.
    pub(super) fn make_log_block(&mut self, number: u32) -> bool {
        let now = self.events.now;
        let Some(block) = &mut self.pool.log.open else { return false };
        block.issued = now;
        let work = self.pool.block_ns + self.pool.write_work_ns * block.n_records;
        if work == 0 {
            return false;
        }
        let made = self.processors.take_at_once(now, work);
        block.made = Some(made);
        self.events.at(made, ARRIVE, pool_device(self.drives), LAST, Action::LogIssued(number));
        true
    }

    /// Something has come into the ARC, from which the L2ARC is fed a while later, if it is not yet to be.
    pub(super) fn feed_later(&mut self) {
        let Some(l2arc) = self.pool.l2arc().filter(|l2arc| !l2arc.is_fed) else { return };
        l2arc.is_fed = true;
        let wait = l2arc.feed_ns();
        self.feed_in(wait);
    }

    /// What has been fed is written, if that takes any time; the next feed comes no sooner than in this time.
    pub(super) fn write_fed(&mut self, wait: i64) {
        let n_bytes = self.tables.record * self.drives.sector_bytes();
        let PoolParts { pool, events, .. } = self;
        let is_written = pool.l2arc().is_some_and(|l2arc| l2arc.write_fed(n_bytes, wait, events));
        if !is_written {
            self.feed_in(wait);
        }
    }

    pub(super) fn feed_in(&mut self, wait: i64) {
        self.events.at(self.events.now + wait, ARRIVE, pool_device(self.drives), LAST - 5, Action::L2arcFed);
    }
}

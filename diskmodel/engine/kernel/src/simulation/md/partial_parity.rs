//! The partial parity log of Linux md, which is on the members themselves (rule Y16); see
//! `diskmodel/engine/reference/md/partial.py`.

use std::collections::VecDeque;

use crate::command::{Command, Slots};
use crate::device::Device;
use crate::layout::{within, ChildIo, Layout, PartialTables, Stripe, BATCH_STRIPES};
use crate::mechanics::WRITE;
use crate::simulation::md::{HasMd, OfMd, Turn};
use crate::simulation::{Array, Owner};

/// Stands for a part that is in no unit.
const NONE: u32 = u32::MAX;

/// The writes of an access, whose stripes are about to be logged.
#[derive(Default)]
struct Write {
    access: u32,
    pieces: Vec<ChildIo>,
}

/// Stripes of one write, one after the other: what is written to the members.
#[derive(Default)]
struct Part {
    access: u32,
    unit: u32,
    range: (i64, i64),
    pieces: Vec<ChildIo>,
}

/// Stripes whose partial parity is written together to the disk with their parity.
#[derive(Default)]
struct Unit {
    disk: u32,
    n_pages: i64,
    n_entries: i64,
    last: Option<Stripe>,
    parts: Vec<u32>,
    is_submitted: bool,
    /// Parts that are not on the members, then disks that are not flushed.
    left: usize,
    disks: Vec<u32>,
}

/// The logs of all members, each with one unit in progress while the next one gathers.
pub struct PartialLogs {
    tables: PartialTables,
    writes: Slots<Write>,
    parts: Slots<Part>,
    units: Slots<Unit>,
    /// Of each disk, its units and where the next one is written.
    logs: Vec<VecDeque<u32>>,
    next: Vec<i64>,
}

impl PartialLogs {
    /// None without such a log.
    pub fn of(layout: &Layout) -> Option<Self> {
        let n = (layout.n_disks + layout.n_spares) as usize;
        layout.ppl.as_ref().map(|tables| PartialLogs {
            tables: tables.clone(),
            writes: Slots::default(),
            parts: Slots::default(),
            units: Slots::default(),
            logs: vec![VecDeque::new(); n],
            next: vec![tables.first; n],
        })
    }

    /// Adds a stripe to the unit of a disk that gathers; whether it is a part of its own.
    fn take(&mut self, disk: u32, stripe: &Stripe, access: u32) -> bool {
        let PartialTables { pages, entries, .. } = self.tables;
        let gathers = self.logs[disk as usize].back().copied().filter(|&id| {
            let unit = &self.units[id];
            !unit.is_submitted && unit.n_pages != pages && unit.n_entries != entries
        });
        let id = gathers.unwrap_or_else(|| {
            let id = self.units.put(Unit { disk, ..Unit::default() });
            self.logs[disk as usize].push_back(id);
            id
        });
        let unit = &mut self.units[id];
        let is_continued =
            unit.last.as_ref().is_some_and(|last| stripe.number == last.number + 1 && stripe.disks == last.disks);
        unit.n_entries += i64::from(!is_continued);
        unit.n_pages += i64::from(!stripe.is_full);
        unit.last = Some(stripe.clone());
        if let Some(&last) = unit.parts.last() {
            let part = &mut self.parts[last];
            if part.access == access && part.range.1 == stripe.start {
                part.range.1 = stripe.stop;
                return false;
            }
        }
        let range = (stripe.start, stripe.stop);
        unit.parts.push(self.parts.put(Part { access, unit: id, range, pieces: Vec::new() }));
        true
    }
}

impl<D: Device, K: HasMd<D>> Array<D, K> {
    /// Logs the stripes of the writes in `self.volume.plan.first`, in the array's thread.
    #[inline(never)]
    pub(super) fn log_partial(&mut self, access: u32) {
        let Some(logs) = self.kind.partial() else { return };
        let write = logs.writes.put(Write { access, pieces: std::mem::take(&mut self.volume.plan.first) });
        self.volume.accesses[access].out += 1;
        self.in_turn(Turn::LogPartial(write));
    }

    /// Adds the stripes of a write to the logs, as many at a time as md's thread takes; those without parity are written.
    pub(super) fn take_stripes(&mut self, write: u32) {
        let Some(logs) = self.kind.partial() else { return };
        let Write { access, pieces } = std::mem::take(&mut logs.writes[write]);
        logs.writes.release(write);
        let page = logs.tables.page;
        let front = self.kind.md().map_or(0, |md| md.front(&self.volume.layout));
        let stripes = self.volume.layout.stripes(page, &pieces, &self.volume.accesses[access].lost, front);
        for stripes in stripes.chunks(BATCH_STRIPES as usize) {
            let mut exposed: Vec<(i64, i64)> = Vec::new();
            for stripe in stripes {
                let Some(logs) = self.kind.partial() else { return };
                match (stripe.parity, exposed.last_mut()) {
                    (Some(disk), _) => {
                        if logs.take(disk, stripe, access) {
                            self.volume.accesses[access].out += 1;
                        }
                        let Some(&unit) = logs.logs[disk as usize].back() else { return };
                        if let Some(&part) = logs.units[unit].parts.last() {
                            logs.parts[part].pieces = within(&pieces, logs.parts[part].range);
                        }
                    }
                    (None, Some(last)) if last.1 == stripe.start => last.1 = stripe.stop,
                    (None, _) => exposed.push((stripe.start, stripe.stop)),
                }
            }
            self.volume.accesses[access].out += exposed.len() as u32;
            for range in exposed {
                let Some(logs) = self.kind.partial() else { return };
                let part = logs.parts.put(Part { access, unit: NONE, range, pieces: within(&pieces, range) });
                self.write_part(part);
            }
            self.run_partial();
        }
        self.volume.accesses[access].out -= 1;
    }

    /// Writes the first unit of each log that has none in progress.
    pub(super) fn run_partial(&mut self) {
        let n = self.kind.partial().map_or(0, |logs| logs.logs.len());
        for disk in 0..n {
            let Some(logs) = self.kind.partial() else { return };
            if let Some(&id) = logs.logs[disk].front() {
                if !logs.units[id].is_submitted {
                    self.submit_partial(id);
                }
            }
        }
    }

    /// Writes a unit to its disk, past the disk's cache.
    fn submit_partial(&mut self, id: u32) {
        let Some(logs) = self.kind.partial() else { return };
        let PartialTables { page, first, end, .. } = logs.tables;
        let unit = &mut logs.units[id];
        unit.is_submitted = true;
        let (disk, n) = (unit.disk, page * (1 + unit.n_pages));
        let next = &mut logs.next[disk as usize];
        let lba = if end - *next < n { first } else { *next };
        *next = lba + n;
        self.start_own(OfMd::PartialLog(id), vec![ChildIo::new(disk, WRITE, lba, n)], self.block.flushes.takes_any());
    }

    /// Starts writes that no request of the host has asked for by itself.
    fn start_own(&mut self, purpose: OfMd, pieces: Vec<ChildIo>, is_fua: bool) {
        self.volume.plan.first = pieces;
        self.volume.plan.then.clear();
        self.volume.plan.lost.clear();
        let id = self.prepare(Owner::Md(purpose), self.events.now, self.block.submitter.is_none(), None);
        self.volume.accesses[id].is_fua = is_fua;
        self.submit(id);
    }

    /// Writes to the members what is in the log.
    #[inline(never)]
    pub(super) fn begin_partial(&mut self, id: u32) {
        let Some(logs) = self.kind.partial() else { return };
        let parts = logs.units[id].parts.clone();
        let mut disks: Vec<u32> =
            parts.iter().flat_map(|&part| logs.parts[part].pieces.iter().map(ChildIo::disk)).collect();
        disks.sort_unstable();
        disks.dedup();
        logs.units[id].left = parts.len();
        logs.units[id].disks = disks;
        parts.into_iter().for_each(|part| self.write_part(part));
    }

    fn write_part(&mut self, part: u32) {
        let Some(logs) = self.kind.partial() else { return };
        let Part { access, ref mut pieces, .. } = logs.parts[part];
        let pieces = std::mem::take(pieces);
        self.start_own(OfMd::Part(part), pieces, self.volume.accesses[access].is_fua);
    }

    /// Stripes are on the members: so is the access whose last ones they were; then the unit may have ended.
    #[inline(never)]
    pub(super) fn part_ended(&mut self, part: u32, last: &Command) {
        let Some(logs) = self.kind.partial() else { return };
        let Part { access, unit, .. } = logs.parts[part];
        logs.parts.release(part);
        self.volume.accesses[access].out -= 1;
        if self.volume.accesses[access].out == 0 {
            self.finish_access(&Command { access, ..*last });
        }
        let Some(logs) = self.kind.partial() else { return };
        if unit == NONE {
            return;
        }
        logs.units[unit].left -= 1;
        if logs.units[unit].left > 0 {
            return;
        }
        if !self.block.flushes.takes_any() {
            return self.partial_finished(unit);
        }
        let disks = std::mem::take(&mut logs.units[unit].disks);
        logs.units[unit].left = disks.len();
        for disk in disks {
            self.block.flush_for_volume(disk, unit, &mut self.drives, &mut self.events);
        }
    }

    /// A disk that a unit's stripes were written to has been flushed.
    pub(in crate::simulation) fn partial_flushed(&mut self, unit: u32) {
        let Some(logs) = self.kind.partial() else { return };
        logs.units[unit].left -= 1;
        if logs.units[unit].left == 0 {
            self.partial_finished(unit);
        }
    }

    /// The next unit of a log can be written.
    fn partial_finished(&mut self, unit: u32) {
        let Some(logs) = self.kind.partial() else { return };
        logs.logs[logs.units[unit].disk as usize].pop_front();
        logs.units.release(unit);
        self.in_turn(Turn::RunPartial);
    }
}

//! A journal of Linux md: stripes are in it before they are on the members (rules Y13 to Y15); see
//! `diskmodel/engine/reference/md/journal.py`.

use std::collections::VecDeque;

use crate::command::{Command, Slots};
use crate::device::Device;
use crate::drives::auxiliary::{Auxiliary, Ended, Free};
use crate::events::{Action, Events, OfAuxiliary, COMPLETE, LAST};
use crate::layout::{within, ChildIo, JournalTables, Layout, Room, BLOCK_BYTES};
use crate::mechanics::WRITE;
use crate::simulation::block::flushing::VOLUME;
use crate::simulation::block::submission::Work;
use crate::simulation::md::{HasMd, OfMd, Turn};
use crate::simulation::{Array, Owner, Volume};

/// Stripes that are written to the journal together, and to the members when it is safe there.
#[derive(Default)]
struct Unit {
    number: u64,
    n_blocks: i64,
    /// The access that they are part of, and what they write to the members.
    access: u32,
    pieces: Vec<ChildIo>,
    /// Commands to the journal's drive that are out.
    out: usize,
}

/// The journal of an array, and what waits for it.
pub struct StripeJournal {
    tables: JournalTables,
    room: Room,
    units: Slots<Unit>,
    n_units: u64,
    drives: Box<Auxiliary>,
    /// Units that wait for room, that are being written, that have been and wait for a flush, and that are flushed.
    waiting: VecDeque<u32>,
    writing: VecDeque<u32>,
    written: Vec<u32>,
    flushing: Vec<u32>,
    is_writing_superblock: bool,
    /// What is free when the superblock has been written.
    checkpoint: i64,
    /// The thread sleeps, and what it has to do then, where no writes are throttled.
    is_asleep: bool,
    asleep: VecDeque<Turn>,
}

impl StripeJournal {
    /// None without a journal; `drives` are its own.
    pub fn of(layout: &Layout, drives: Option<Box<Auxiliary>>) -> Option<Self> {
        layout.journal.as_ref().zip(drives).map(|(tables, drives)| StripeJournal {
            tables: tables.clone(),
            room: Room::new(tables),
            units: Slots::default(),
            n_units: 0,
            drives,
            waiting: VecDeque::new(),
            writing: VecDeque::new(),
            written: Vec::new(),
            flushing: Vec::new(),
            is_writing_superblock: false,
            checkpoint: 0,
            is_asleep: false,
            asleep: VecDeque::new(),
        })
    }

    pub fn drives(&self) -> &Auxiliary {
        &self.drives
    }

    /// Whether what its drive has answered is safe only behind a flush.
    fn is_flushed(&self) -> bool {
        self.tables.flush_ns > 0 || self.drives.takes_flushes()
    }

    /// Flushes the journal for all units that are written, unless a flush is in progress.
    fn flush_written(&mut self, events: &mut Events) {
        if !self.flushing.is_empty() || self.written.is_empty() {
            return;
        }
        self.flushing = std::mem::take(&mut self.written);
        if self.tables.flush_ns == 0 {
            return self.drives.flush(0, events);
        }
        // of a device of which this is all that is known
        let device = self.drives.first_device();
        events.at(events.now + self.tables.flush_ns, COMPLETE, device, LAST, Action::UnitsFlushed);
    }
}

impl<D: Device, K: HasMd<D>> Array<D, K> {
    #[inline(never)]
    pub(super) fn log_writes(&mut self, id: u32) {
        let Some(journal) = self.kind.journal() else { return };
        let pieces = &self.volume.plan.first;
        let batches = self.volume.layout.batches(&journal.tables, pieces, &self.volume.accesses[id].lost);
        self.volume.accesses[id].out += batches.len() as u32;
        let mut units = Vec::with_capacity(batches.len());
        for batch in batches {
            let pieces = within(pieces, (batch.start, batch.stop));
            units.push(journal.units.put(Unit { number: 0, n_blocks: batch.n_blocks, access: id, pieces, out: 0 }));
        }
        units.into_iter().for_each(|unit| self.in_turn(Turn::Take(unit)));
    }

    /// Does this in the array's thread, behind what it still has; at once where it never sleeps.
    pub(super) fn in_turn(&mut self, turn: Turn) {
        if self.block.submitter.is_some() {
            self.block.hand_work(Work::Turn(turn));
            return self.proceed();
        }
        match self.kind.journal() {
            Some(journal) if journal.is_asleep => journal.asleep.push_back(turn),
            _ => self.take_turn(turn),
        }
    }

    /// Flushes the journal for all units that are written.
    pub(super) fn flush_units(&mut self) {
        if let Some(journal) = self.kind.journal() {
            journal.flush_written(&mut self.events);
        }
    }

    pub(super) fn take_unit(&mut self, unit: u32) {
        let Some(journal) = self.kind.journal() else { return };
        journal.units[unit].number = journal.n_units;
        journal.n_units += 1;
        journal.waiting.push_back(unit);
        self.write_waiting();
    }

    /// Writes units in order, as far as they have room.
    fn write_waiting(&mut self) {
        let Array { kind, events, .. } = self;
        let Some(journal) = kind.journal() else { return };
        while let Some(&id) = journal.waiting.front() {
            let Unit { number, n_blocks, .. } = journal.units[id];
            if !journal.room.take(number, n_blocks) {
                return self.reclaim();
            }
            journal.waiting.pop_front();
            journal.writing.push_back(id);
            let (free, bytes) = (Free { kind: 0, slab: 0, part: (0, 1) }, n_blocks * BLOCK_BYTES);
            journal.units[id].out = journal.drives.append(&free, [bytes, bytes], (id, false), events);
        }
    }

    /// Something happens at the journal's drive.
    #[inline(never)]
    pub(in crate::simulation) fn journal_drive_happened(&mut self, what: OfAuxiliary) {
        let Array { kind, events, .. } = self;
        let Some(journal) = kind.journal() else { return };
        for ended in journal.drives.happen(what, events) {
            match ended {
                Ended::Command(command) => self.unit_part_written(command.access),
                Ended::Flush(_) => self.units_flushed(),
            }
        }
    }

    /// Units are in the journal in their order: one goes on when all before it are there, too.
    fn unit_part_written(&mut self, unit: u32) {
        let Some(journal) = self.kind.journal() else { return };
        journal.units[unit].out -= 1;
        while let Some(journal) = self.kind.journal() {
            let Some(&unit) = journal.writing.front() else { return };
            if journal.units[unit].out > 0 {
                return;
            }
            journal.writing.pop_front();
            if journal.is_flushed() {
                journal.written.push(unit);
                self.in_turn(Turn::Flush);
            } else {
                self.in_turn(Turn::Begin(unit));
            }
        }
    }

    #[inline(never)]
    pub(in crate::simulation) fn units_flushed(&mut self) {
        let Some(journal) = self.kind.journal() else { return };
        let flushed = std::mem::take(&mut journal.flushing);
        self.in_turn(Turn::Flush);
        flushed.into_iter().for_each(|unit| self.in_turn(Turn::Begin(unit)));
    }

    /// Writes to the members what is in the journal.
    pub(super) fn write_unit(&mut self, unit: u32) {
        let Some(journal) = self.kind.journal() else { return };
        let Unit { access, ref mut pieces, .. } = journal.units[unit];
        self.volume.plan.first = std::mem::take(pieces);
        self.volume.plan.then.clear();
        self.volume.plan.lost.clear();
        let is_fua = self.volume.accesses[access].is_fua;
        let id = self.prepare(Owner::Md(OfMd::Unit(unit)), self.events.now, self.block.submitter.is_none(), None);
        self.volume.accesses[id].is_fua = is_fua;
        self.submit(id);
    }

    /// The stripes of a unit are on the members: so is the access whose last ones they were, and room may be free.
    pub(super) fn unit_ended(&mut self, unit: u32, last: &Command) {
        let Some(journal) = self.kind.journal() else { return };
        let Unit { access, number, .. } = journal.units[unit];
        journal.units.release(unit);
        self.volume.accesses[access].out -= 1;
        if self.volume.accesses[access].out == 0 {
            self.finish_access(&Command { access, ..*last });
        }
        if self.kind.journal().is_some_and(|journal| journal.room.ended(number)) {
            self.reclaim();
        }
    }

    /// Frees the room of stripes that are on the members, where it is needed or enough of it.
    fn reclaim(&mut self) {
        let Some(journal) = self.kind.journal() else { return };
        let waiting = journal.waiting.front().map_or(0, |&unit| journal.units[unit].n_blocks);
        if !journal.is_writing_superblock && journal.room.is_due(waiting) {
            journal.is_writing_superblock = true;
            self.in_turn(Turn::Superblock);
        }
    }

    /// Flushes all members and writes the superblock to them, while the thread sleeps.
    pub(super) fn write_superblock(&mut self) {
        let Some(journal) = self.kind.journal() else { return };
        journal.checkpoint = journal.room.checkpoint;
        journal.is_asleep = true;
        self.block.sleep_for_bits(true);
        // before the superblock (rule Y15)
        self.flush_members(VOLUME);
    }

    /// The members are flushed.
    pub(in crate::simulation) fn submit_superblock(&mut self) {
        let Array { kind, volume: Volume { layout, plan, .. }, .. } = self;
        let Some(journal) = kind.journal() else { return };
        plan.then.clear();
        plan.lost.clear();
        plan.first.clear();
        let left = (0..layout.n_disks).filter(|disk| !layout.failed.contains(disk));
        plan.first.extend(left.map(|disk| ChildIo::new(disk, WRITE, journal.tables.super_first, 1)));
        let id = self.prepare(Owner::Md(OfMd::Superblock), self.events.now, true, None);
        self.volume.accesses[id].is_fua = self.block.flushes.takes_any();
        self.submit(id);
    }

    /// What was on the members before is free; the thread wakes up.
    pub(super) fn superblock_written(&mut self) {
        let Some(journal) = self.kind.journal() else { return };
        journal.room.tail = journal.checkpoint;
        journal.is_writing_superblock = false;
        self.write_waiting();
        // more may have ended meanwhile
        self.reclaim();
        if let Some(journal) = self.kind.journal() {
            journal.is_asleep = false;
        }
        if self.block.submitter.is_some() {
            self.block.sleep_for_bits(false);
            return self.proceed();
        }
        while let Some(journal) = self.kind.journal() {
            if journal.is_asleep {
                return;
            }
            let Some(turn) = journal.asleep.pop_front() else { return };
            self.take_turn(turn);
        }
    }
}

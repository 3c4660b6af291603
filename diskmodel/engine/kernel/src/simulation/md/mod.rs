//! What Linux md does beside planning requests: bits of intent, stripes, their logs, and a pass over the members. It names no
//! pool: whoever it is part of, `HasMd` says what it may ask of that.

mod barrier;
mod bitmap;
mod partial_parity;
mod rebuild;
mod stripe_journal;
mod stripes;

use crate::command::Command;
use crate::device::Device;
use crate::drives::auxiliary::Auxiliary;
use crate::layout::Layout;
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::simulation::block::submission::Request;
use crate::simulation::{AboveVolume, Array, ArrayAccess, HasFront, Owner};

use bitmap::Intents;
use partial_parity::PartialLogs;
use rebuild::Rebuild;
use stripe_journal::StripeJournal;
use stripes::Stripes;

pub use stripes::Stretches;

/// What an access of md's own is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OfMd {
    /// The step that began at this sector of the lost disk's data area.
    Rebuild(i64),
    /// Pages of the write-intent bitmap.
    Bitmap,
    /// The writes that a stretch of rows is part of (rule L15).
    Stripes,
    /// What a unit of the journal was written for (rule Y13), and the superblock of its array.
    Unit(u32),
    Superblock,
    /// A unit of the log of partial parity (rule Y16), and stripes that were in one.
    PartialLog(u32),
    Part(u32),
}

/// What the array's thread does for md.
#[derive(Clone, Copy)]
pub enum Turn {
    /// Take the writes that wait for the bitmap.
    TakeWrites,
    /// Write a unit to the journal.
    Take(u32),
    /// Flush the journal for all units that are written.
    Flush,
    /// Write to the members what is in the journal.
    Begin(u32),
    /// Write the superblock.
    Superblock,
    /// Log the partial parity of a write.
    LogPartial(u32),
    /// Write the first unit of each log of partial parity that has none in progress.
    RunPartial,
}

/// What an array of Linux md keeps, each where it has that.
pub struct Md {
    intents: Option<Box<Intents>>,
    stripes: Option<Box<Stripes>>,
    stripe_journal: Option<Box<StripeJournal>>,
    partial: Option<Box<PartialLogs>>,
    rebuild: Option<Box<Rebuild>>,
}

impl Md {
    /// `log` are the drives of its journal, where it has one.
    pub fn new(layout: &Layout, log: Option<Box<Auxiliary>>) -> Self {
        Md {
            intents: Intents::of(layout).map(Box::new),
            stripes: Stripes::of(layout).map(Box::new),
            stripe_journal: StripeJournal::of(layout, log).map(Box::new),
            partial: PartialLogs::of(layout).map(Box::new),
            rebuild: Rebuild::of(layout).map(Box::new),
        }
    }

    /// The drives of its journal.
    pub fn journal_drives(&self) -> Option<&Auxiliary> {
        self.stripe_journal.as_ref().map(|journal| journal.drives())
    }

    /// Sectors of the lost disk's data area that are on the spare.
    #[inline(always)]
    pub fn front(&self, layout: &Layout) -> i64 {
        self.rebuild.as_ref().map_or(layout.rebuild_front, |rebuild| rebuild.front())
    }
}

/// What code of Linux md knows of whoever it is part of: nothing of a pool. None: the volume is another one.
pub trait HasMd<D: Device>: HasFront<D> {
    fn md(&mut self) -> Option<&mut Md>;

    fn intents(&mut self) -> Option<&mut Intents> {
        self.md()?.intents.as_deref_mut()
    }

    fn stripes(&mut self) -> Option<&mut Stripes> {
        self.md()?.stripes.as_deref_mut()
    }

    fn journal(&mut self) -> Option<&mut StripeJournal> {
        self.md()?.stripe_journal.as_deref_mut()
    }

    fn partial(&mut self) -> Option<&mut PartialLogs> {
        self.md()?.partial.as_deref_mut()
    }

    fn rebuild(&mut self) -> Option<&mut Rebuild> {
        self.md()?.rebuild.as_deref_mut()
    }
}

impl<D: Device, K: HasMd<D>> Array<D, K> {
    /// A request begins: now, or when the bits that it needs are set.
    #[inline(always)]
    pub(in crate::simulation) fn begin_access(&mut self, mut request: Request) {
        if self.volume.layout.rebuild_pause_ns > 0 && request.op != FLUSH && !request.has_passed {
            let Some(may_begin) = self.pass_barrier(request) else { return };
            request = may_begin;
        }
        let Request { owner, op, sector, n, asked, .. } = request;
        if op == FLUSH {
            if let Owner::Host(host) = owner {
                self.flush_array(host);
            }
        } else if op == READ || self.kind.intents().is_none() {
            self.plan_access(owner, op, sector, n, asked);
        } else {
            self.intend(owner, sector, n, asked);
        }
    }

    #[inline(always)]
    fn plan_access(&mut self, owner: Owner, op: u8, sector: i64, n: i64, asked: i64) {
        let Some(md) = self.kind.md() else { return };
        let front = md.front(&self.volume.layout);
        let mut bits = None;
        if op == WRITE {
            let has_stripes = md.stripes.is_some();
            bits = md.intents.is_some().then(|| self.volume.layout.bits_of(sector, n));
            if has_stripes {
                return self.write_stripes(owner, sector, n, asked, bits);
            }
        }
        self.plan(op, sector, n, front);
        let is_direct = self.is_direct(op);
        if self.volume.layout.logs_stripes() && op == WRITE && self.volume.plan.then.is_empty() {
            let id = self.prepare(owner, asked, is_direct, bits);
            return self.submit_writes(id);
        }
        self.start(owner, asked, is_direct, bits);
    }

    /// Submits the writes in `self.volume.plan.first`: at once, or each batch of stripes when it is in the log.
    #[inline(always)]
    pub(in crate::simulation) fn submit_writes(&mut self, id: u32) {
        let is_logged = !matches!(self.volume.accesses[id].owner, Owner::Md(OfMd::Rebuild(_)));
        if is_logged && self.kind.partial().is_some() {
            self.log_partial(id);
        } else if is_logged && self.kind.journal().is_some() {
            self.log_writes(id);
        } else {
            self.submit(id);
        }
    }

    /// An access has ended with its last command.
    #[inline(always)]
    pub(in crate::simulation) fn finish_access(&mut self, last: &Command) {
        let ArrayAccess { owner, asked, start, .. } = self.volume.accesses[last.access];
        if matches!(owner, Owner::Md(OfMd::Stripes)) {
            return self.stretches_written(last.access, last);
        }
        // only a bitmap has set any
        let bits = if self.kind.intents().is_some() { self.volume.accesses[last.access].bits } else { None };
        self.volume.accesses.release(last.access);
        self.finish(owner, asked, start, bits, last);
    }

    /// What was asked for has been done with this command.
    #[inline(always)]
    fn finish(&mut self, owner: Owner, asked: i64, start: i64, bits: Option<(i64, i64)>, last: &Command) {
        if self.volume.layout.rebuild_pause_ns > 0 && !matches!(owner, Owner::Md(_)) {
            self.leave_barrier();
        }
        if let Some(bits) = bits {
            if let Some(intents) = self.kind.intents() {
                intents.bitmap.ended(bits, self.events.now);
            }
        }
        match owner {
            Owner::Host(host) => {
                self.account(host, asked, start, last);
                K::Front::keep(self, host);
                self.answer(host, last);
            }
            Owner::Destage(first, end) => K::Front::destaged(self, first, end),
            Owner::ReadAhead(number) => K::Front::came(self, number),
            Owner::Md(OfMd::Rebuild(first)) => self.rebuilt(first),
            // answered by `stretches_written`
            Owner::Md(OfMd::Stripes) => {}
            Owner::Md(OfMd::Bitmap) => self.bits_written(),
            Owner::Md(OfMd::Unit(id)) => self.unit_ended(id, last),
            Owner::Md(OfMd::Superblock) => self.superblock_written(),
            Owner::Md(OfMd::PartialLog(unit)) => self.begin_partial(unit),
            Owner::Md(OfMd::Part(part)) => self.part_ended(part, last),
            // none of its accesses
            Owner::Pool(_) => {}
        }
    }

    /// Flushes all disks for a request, or lets it join what waits for the next flush (rule Y5).
    #[inline(never)]
    fn flush_array(&mut self, host: u32) {
        if self.volume.layout.logs_stripes() {
            // what has been answered is safe, or taken to be (rules Y14 and Y16)
            return K::Front::finished(self, host);
        }
        self.flush_members(host);
    }

    /// The thread of the array does something that it was given to do.
    pub(in crate::simulation) fn take_turn(&mut self, turn: Turn) {
        match turn {
            Turn::TakeWrites => self.take_waiting(),
            Turn::Take(unit) => self.take_unit(unit),
            Turn::Flush => self.flush_units(),
            Turn::Begin(unit) => self.write_unit(unit),
            Turn::Superblock => self.write_superblock(),
            Turn::LogPartial(write) => self.take_stripes(write),
            Turn::RunPartial => self.run_partial(),
        }
    }
}

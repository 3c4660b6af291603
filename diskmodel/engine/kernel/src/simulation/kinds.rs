//! What is on the disks: Linux md, a pool, or a disk as it is. It plans what is asked of it as accesses to the disks, and
//! learns when these have ended.

use super::block::flushing::{GROUP, SUPERBLOCK};
use super::block::submission::Request;
use super::md::stripe_journal::Turn;
use super::{AboveDisks, AboveVolume, Array, ArrayAccess, Md, Owner, PoolWrites, Times, Volume, WithKinds};
use crate::command::Command;
use crate::device::Device;
use crate::mechanics::{FLUSH, READ, WRITE};

/// What each kind of volume keeps, and who is in front of them.
pub struct Kinds<F> {
    pub(super) md: Md,
    pub(super) pool: Option<Box<PoolWrites>>,
    pub(super) front: F,
}

impl<D: Device, F: AboveVolume<D>> AboveDisks<D> for Kinds<F> {
    #[inline(always)]
    fn begin(on: &mut WithKinds<D, F>, Request { owner, op, sector, n, asked }: Request) {
        on.begin_access(owner, op, sector, n, asked);
    }

    #[inline(always)]
    fn submit_writes(on: &mut WithKinds<D, F>, access: u32) {
        on.submit_writes(access);
    }

    #[inline(always)]
    fn ended(on: &mut WithKinds<D, F>, last: &Command) {
        on.finish_access(last);
    }

    #[inline(always)]
    fn flushed(on: &mut WithKinds<D, F>, who: u32) {
        on.flushed(who);
    }

    #[inline(always)]
    fn log_part_flushed(on: &mut WithKinds<D, F>, block: u32) {
        on.log_part_flushed(block);
    }

    #[inline(always)]
    fn partial_flushed(on: &mut WithKinds<D, F>, unit: u32) {
        on.partial_flushed(unit);
    }

    #[inline(always)]
    fn take_waiting(on: &mut WithKinds<D, F>) {
        on.take_waiting();
    }

    #[inline(always)]
    fn take_turn(on: &mut WithKinds<D, F>, turn: Turn) {
        on.do_for_journal(turn);
    }
}

impl<D: Device, F: AboveVolume<D>> WithKinds<D, F> {
    /// Begin an access: now, or when the bits that it needs are set.
    #[inline(always)]
    pub(super) fn begin_access(&mut self, owner: Owner, op: u8, sector: i64, n: i64, asked: i64) {
        if self.kind.pool.is_some() {
            if let Owner::Host(host) = owner {
                self.pool_access(host, op, sector, n);
            }
        } else if op == FLUSH {
            if let Owner::Host(host) = owner {
                self.flush_array(host);
            }
        } else if self.kind.md.intents.is_none() || op == READ {
            self.plan_access(owner, op, sector, n, asked);
        } else {
            self.intend(owner, sector, n, asked);
        }
    }

    #[inline(always)]
    pub(super) fn plan_access(&mut self, owner: Owner, op: u8, sector: i64, n: i64, asked: i64) {
        let bits = (self.kind.md.intents.is_some() && op == WRITE).then(|| self.volume.layout.bits_of(sector, n));
        if self.kind.md.stripes.is_some() && op == WRITE {
            return self.write_stripes(owner, sector, n, asked, bits);
        }
        let Array {
            volume: Volume { layout, plan, choice, .. },
            kind: Kinds { md: Md { rebuild, .. }, .. },
            drives,
            ..
        } = self;
        choice.begin();
        layout
            .plan(op, sector, n, rebuild.front(), plan, |copies, n| choice.choose(copies, n, |disk| drives.peek(disk)));
        // a parity array that has lost a disk computes reads in its thread, also those that need no lost block
        let is_direct = match &self.block.submitter {
            None => true,
            Some(s) => !s.is_host_thread && op == READ && !self.volume.layout.computes_reads(),
        };
        if self.volume.layout.logs_stripes() && op == WRITE && self.volume.plan.then.is_empty() {
            let id = self.prepare(owner, asked, is_direct, bits);
            return self.submit_writes(id);
        }
        self.start(owner, asked, is_direct, bits);
    }

    /// An access has ended with its last command.
    #[inline(always)]
    pub(super) fn finish_access(&mut self, last: &Command) {
        let ArrayAccess { owner, asked, start, .. } = self.volume.accesses[last.access];
        if matches!(owner, Owner::Stripes) {
            return self.stretches_written(last.access, last);
        }
        // only a bitmap has set any
        let bits = if self.kind.md.intents.is_some() { self.volume.accesses[last.access].bits } else { None };
        self.volume.accesses.release(last.access);
        self.finish(owner, asked, start, bits, last);
    }

    /// What was asked for has been done with this command.
    #[inline(always)]
    pub(super) fn finish(&mut self, owner: Owner, asked: i64, start: i64, bits: Option<(i64, i64)>, last: &Command) {
        let parity = last.submitted - start;
        let waited = self.events.now - asked - parity - (last.done - last.submitted);
        if let (Some(bits), Some(intents)) = (bits, &mut self.kind.md.intents) {
            intents.bitmap.ended(bits, self.events.now);
        }
        match owner {
            // answered by `stretches_written`
            Owner::Stripes => {}
            Owner::Bitmap => self.bits_written(),
            Owner::Unit(id) => self.unit_ended(id, last),
            Owner::Superblock => self.superblock_written(),
            Owner::PartialLog(unit) => self.begin_partial(unit),
            Owner::Part(part) => self.part_ended(part, last),
            Owner::Rebuild(first) => self.kind.md.rebuilt(first, &self.volume.layout, &self.drives, &mut self.events),
            Owner::Destage(first, end) => F::destaged(self, first, end),
            Owner::ReadAhead(number) => F::came(self, number),
            Owner::Fill(host) => self.filled(host, last),
            Owner::Record(number) | Owner::Ahead(number) => self.record_came(number),
            Owner::Log(burst) => self.log_written(burst, last),
            Owner::Group(cleans) => self.group_command_ended(cleans, true),
            Owner::Labels => self.label_written(),
            Owner::Scan(scanned) => self.stretch_scanned(scanned),
            Owner::Host(host) => {
                let place = self.place_of(host);
                let request = &mut self.requests[host];
                request.parity += parity;
                request.queue += waited;
                request.last = Times::of(last);
                self.keep(host);
                F::answered(self, host);
                if let Some(place) = place {
                    self.leave_place(host, place, last);
                }
            }
        }
    }

    // ------------------------------------------------------------------ flushes

    /// Flushes all disks for a request, or lets it join what waits for the next flush (rule Y5).
    #[inline(never)]
    pub(in crate::simulation) fn flush_array(&mut self, host: u32) {
        if self.volume.layout.logs_stripes() {
            // what has been answered is safe, or taken to be (rules Y14 and Y16)
            return F::finished(self, host);
        }
        self.flush_members(host);
    }

    /// Who waited for a flush of the array goes on.
    #[inline(always)]
    pub(in crate::simulation) fn flushed(&mut self, host: u32) {
        if host >= SUPERBLOCK {
            self.flushed_for_others(host);
        } else {
            F::finished(self, host);
        }
    }

    #[inline(never)]
    pub(in crate::simulation) fn flushed_for_others(&mut self, who: u32) {
        if who == SUPERBLOCK {
            self.submit_superblock();
        } else if self.kind.pool.as_mut().is_some_and(|pool| std::mem::take(&mut pool.ends_group)) {
            self.end_group();
        } else {
            self.write_labels();
        }
    }

    /// Flushes all disks before the labels of a transaction group are written (rule X12).
    pub(in crate::simulation) fn flush_for_group(&mut self) {
        self.flush_array(GROUP);
    }

    /// Flushes all disks behind the labels of a transaction group.
    #[inline(never)]
    pub(in crate::simulation) fn labels_written(&mut self) {
        if let Some(pool) = &mut self.kind.pool {
            pool.ends_group = true;
        }
        self.flush_array(GROUP);
    }

    /// Flushes all members before the superblock is written (rule Y15).
    pub(in crate::simulation) fn flush_for_superblock(&mut self) {
        self.flush_members(SUPERBLOCK);
    }
}

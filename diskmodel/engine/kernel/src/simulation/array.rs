//! An access to the array: its phases, its commands, and what becomes of it when the last one has completed.

use super::block::submission::{Request, Work};
use super::{ArrayAccess, Md, Owner, Simulation, Times, Volume};
use crate::command::Command;
use crate::device::Device;
use crate::layout::READ_AND_HOLD;
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::traffic::{Traffic, PASS_THROUGH};

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Start an access of `n` sectors to the array.
    #[inline(always)]
    pub(super) fn access_array(&mut self, owner: Owner, op: u8, sector: i64, n: i64) {
        if let (true, Owner::Host(host)) = (self.block.tags.is_some(), owner) {
            return self.access_in_place(host, op, sector, n);
        }
        let asked = self.events.now;
        if self.block.is_host_thread() {
            self.block.wait_for_thread(Request { owner, op, sector, n, asked });
            self.proceed();
        } else {
            self.begin_access(owner, op, sector, n, asked);
        }
    }

    /// Begin an access: now, or when the bits that it needs are set.
    #[inline(always)]
    pub(super) fn begin_access(&mut self, owner: Owner, op: u8, sector: i64, n: i64, asked: i64) {
        if self.pool.is_some() {
            if let Owner::Host(host) = owner {
                self.pool_access(host, op, sector, n);
            }
        } else if op == FLUSH {
            if let Owner::Host(host) = owner {
                self.flush_array(host);
            }
        } else if self.md.intents.is_none() || op == READ {
            self.plan_access(owner, op, sector, n, asked);
        } else {
            self.intend(owner, sector, n, asked);
        }
    }

    #[inline(always)]
    pub(super) fn plan_access(&mut self, owner: Owner, op: u8, sector: i64, n: i64, asked: i64) {
        let bits = (self.md.intents.is_some() && op == WRITE).then(|| self.volume.layout.bits_of(sector, n));
        if self.md.stripes.is_some() && op == WRITE {
            return self.write_stripes(owner, sector, n, asked, bits);
        }
        let Simulation { volume: Volume { layout, plan, choice, .. }, md: Md { rebuild, .. }, drives, .. } = self;
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

    /// Start the pieces in `self.volume.plan`.
    #[inline(always)]
    pub(super) fn start(&mut self, owner: Owner, asked: i64, is_direct: bool, bits: Option<(i64, i64)>) {
        let id = self.prepare(owner, asked, is_direct, bits);
        self.submit(id);
    }

    /// An access with the second phase that is in `self.volume.plan`.
    #[inline(always)]
    pub(super) fn prepare(&mut self, owner: Owner, asked: i64, is_direct: bool, bits: Option<(i64, i64)>) -> u32 {
        let now = self.events.now;
        let id = self.volume.accesses.reuse();
        let access = &mut self.volume.accesses[id];
        access.owner = owner;
        access.asked = asked;
        access.start = now;
        access.is_direct = is_direct;
        access.is_fua =
            self.block.has_passing && matches!(owner, Owner::Host(host) if self.hosts[host].sync >= PASS_THROUGH);
        access.out = 0;
        access.n_following = 0;
        access.bits = None;
        // stored only if there are any: most arrays have no bitmap
        if bits.is_some() {
            access.bits = bits;
        }
        access.then.clear();
        access.then.extend_from_slice(&self.volume.plan.then);
        if self.volume.layout.logs_stripes() {
            access.lost.clear();
            access.lost.extend_from_slice(&self.volume.plan.lost);
        }
        id
    }

    /// Hand the pieces of `self.volume.plan.first` to the disks as one phase of an access.
    #[inline(always)]
    pub(super) fn submit(&mut self, id: u32) {
        let now = self.events.now;
        let border = self.drives.border();
        let is_throttled = self.block.submitter.is_some();
        let ArrayAccess { ref owner, is_fua, .. } = self.volume.accesses[id];
        let is_bitmap = matches!(owner, Owner::Bitmap | Owner::Superblock);
        let is_of_group = matches!(owner, Owner::Group(_));
        let is_of_scan = matches!(owner, Owner::Scan(_));
        let is_ahead = matches!(owner, Owner::Ahead(_));
        let mut out = 0;
        for at in 0..self.volume.plan.first.len() {
            let piece = &self.volume.plan.first[at];
            let (device, op, mut lba, mut n) = (piece.disk(), piece.op(), piece.lba, piece.n);
            while n > 0 {
                let take = if lba + n <= border { n } else { n.min((lba / border + 1) * border - lba) };
                let seq = self.drives.number();
                let command = self.drives.put(Command {
                    seq,
                    device,
                    access: id,
                    op: if op == READ_AND_HOLD { READ } else { op },
                    holds: op == READ_AND_HOLD,
                    is_bitmap,
                    is_of_group,
                    is_of_scan,
                    is_ahead,
                    lba,
                    n: take,
                    submitted: now,
                    ..Command::default()
                });
                out += 1;
                if is_fua && op == WRITE {
                    self.block.mark_safe(command, &mut self.drives);
                    if !is_throttled {
                        self.block.data_begins(command, &self.drives);
                    }
                }
                if is_throttled {
                    self.volume.ids.push(command);
                } else {
                    self.drives.submit(command, &mut self.events);
                }
                lba += take;
                n -= take;
            }
        }
        self.volume.accesses[id].out += out;
        if !is_throttled {
            return;
        }
        let mut ids = std::mem::take(&mut self.volume.ids);
        if self.volume.accesses[id].is_direct {
            ids.iter().for_each(|&id| self.block.hand_directly(id, &mut self.drives, &mut self.events));
        } else {
            self.block.hand_commands(&ids, &mut self.drives);
            self.proceed();
        }
        ids.clear();
        self.volume.ids = ids;
    }

    /// Write behind a read on the disk that is held for it (rule L12).
    #[inline(never)]
    pub(super) fn follow(&mut self, read: Command) {
        let seq = self.drives.number();
        let write = self.drives.put(Command {
            seq,
            device: read.device,
            access: read.access,
            op: WRITE,
            follows: true,
            lba: read.lba,
            n: read.n,
            submitted: self.events.now,
            ..Command::default()
        });
        let access = &mut self.volume.accesses[read.access];
        access.n_following += 1;
        if access.is_fua {
            self.block.mark_safe(write, &mut self.drives);
            self.block.data_begins(write, &self.drives);
        }
        self.drives.follow(&read, write, &mut self.events);
    }

    #[inline(always)]
    pub(super) fn command_done(&mut self, command_id: u32) {
        let command = *self.drives.command(command_id);
        self.drives.complete(command_id, &command, &mut self.events);
        if command.op == FLUSH {
            return self.disk_flushed(command.device);
        }
        self.part_answered(&command);
        let mut joined = command.next_joined;
        while joined > 0 {
            let part = self.drives.complete_joined(joined - 1, &command);
            self.part_answered(&part);
            joined = part.next_joined;
        }
    }

    #[inline(always)]
    pub(super) fn part_done(&mut self, command: &Command) {
        self.join(command);
        if self.block.submitter.is_some() {
            self.throttled_completed(*command);
        }
    }

    /// Submit the second phase of an access.
    #[inline(always)]
    pub(super) fn begin_second(&mut self, id: u32) {
        let access = &mut self.volume.accesses[id];
        self.volume.plan.first.clear();
        self.volume.plan.first.append(&mut access.then);
        access.stretches.are_written = true;
        self.submit_writes(id);
    }

    #[inline(always)]
    pub(super) fn join(&mut self, command: &Command) {
        let id = command.access;
        if command.holds {
            self.follow(*command);
        }
        let access = &mut self.volume.accesses[id];
        if command.follows {
            access.n_following -= 1;
        } else {
            access.out -= 1;
        }
        if access.out > 0 {
            return;
        }
        if !access.then.is_empty() {
            return self.begin_second(id);
        }
        if access.n_following > 0 {
            return;
        }
        let is_direct = access.is_direct;
        match &self.block.submitter {
            Some(s) if !is_direct && s.is_host_thread => self.block.wait_for_notice(*command),
            Some(_) if !is_direct => self.block.hand_work(Work::End(*command)),
            _ => return self.finish_access(command),
        }
        self.proceed();
    }

    /// An access has ended with its last command.
    #[inline(always)]
    pub(super) fn finish_access(&mut self, last: &Command) {
        let ArrayAccess { owner, asked, start, .. } = self.volume.accesses[last.access];
        if matches!(owner, Owner::Stripes) {
            return self.stretches_written(last.access, last);
        }
        // only a bitmap has set any
        let bits = if self.md.intents.is_some() { self.volume.accesses[last.access].bits } else { None };
        self.volume.accesses.release(last.access);
        self.finish(owner, asked, start, bits, last);
    }

    /// What was asked for has been done with this command.
    #[inline(always)]
    pub(super) fn finish(&mut self, owner: Owner, asked: i64, start: i64, bits: Option<(i64, i64)>, last: &Command) {
        let parity = last.submitted - start;
        let waited = self.events.now - asked - parity - (last.done - last.submitted);
        if let (Some(bits), Some(intents)) = (bits, &mut self.md.intents) {
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
            Owner::Rebuild(first) => self.md.rebuilt(first, &self.volume.layout, &self.drives, &mut self.events),
            Owner::Destage(first, end) => self.destaged(first, end),
            Owner::ReadAhead(number) => self.came(number),
            Owner::Fill(host) => self.filled(host, last),
            Owner::Record(number) | Owner::Ahead(number) => self.record_came(number),
            Owner::Log(burst) => self.log_written(burst, last),
            Owner::Group(cleans) => self.group_command_ended(cleans, true),
            Owner::Labels => self.label_written(),
            Owner::Scan(scanned) => self.stretch_scanned(scanned),
            Owner::Host(host) => {
                let place = self.place_of(host);
                let request = &mut self.hosts[host];
                request.parity += parity;
                request.queue += waited;
                request.last = Times::of(last);
                self.keep(host);
                self.answered(host);
                if let Some(place) = place {
                    self.leave_place(host, place, last);
                }
            }
        }
    }
}

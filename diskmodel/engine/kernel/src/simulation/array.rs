//! The disks of an array with the block layer above them: accesses, their phases and their commands. What is on the disks is
//! above (`kinds.rs`).

use super::block::submission::{Request, Work};
use super::md::OfMd;
use super::pool::OfPool;
use super::{AboveDisks, ArrayAccess, BlockLayer, HostRequest, Owner, Processors, Volume};
use crate::command::{Command, Slots};
use crate::device::Device;
use crate::drives::Drives;
use crate::events::Events;
use crate::layout::{Layout, READ_AND_HOLD};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::ports::Port;
use crate::traffic::PASS_THROUGH;

/// Disks, what is in progress, and the station above them, which has the one above itself, and so on: one object, of which
/// each station sees what is its own and what is below.
pub struct Array<D: Device, K> {
    pub(super) events: Events,
    /// Of the host, from the processor down to the disks.
    pub(super) requests: Slots<HostRequest>,
    pub(super) processors: Processors,
    pub(super) volume: Volume,
    pub(super) block: BlockLayer,
    pub(super) drives: Drives<D>,
    pub(super) kind: K,
}

impl<D: Device, K> Array<D, K> {
    pub(super) fn of(drives: Drives<D>, layout: Layout, block: BlockLayer, processors: Processors, kind: K) -> Self {
        Array {
            events: Events::default(),
            requests: Slots::default(),
            processors,
            volume: Volume::new(layout, drives.each().len()),
            block,
            drives,
            kind,
        }
    }
}

impl<D: Device, K: AboveDisks<D>> Array<D, K> {
    /// Start an access of `n` sectors to the array.
    #[inline(always)]
    pub(super) fn access_array(&mut self, owner: Owner, op: u8, sector: i64, n: i64) {
        self.events.said(Port::ControllerToVolume, 0, (op, sector, n));
        if let (true, Owner::Host(host)) = (self.block.tags.is_some(), owner) {
            return self.access_in_place(host, op, sector, n);
        }
        let asked = self.events.now;
        if self.block.is_host_thread() {
            self.block.wait_for_thread(Request { owner, op, sector, n, asked, has_passed: false });
            self.proceed();
        } else {
            K::begin(self, Request { owner, op, sector, n, asked, has_passed: false });
        }
    }

    /// Plan a request, of an array that is rebuilt up to `front`, as pieces in `self.volume.plan`.
    #[inline(always)]
    pub(super) fn plan(&mut self, op: u8, sector: i64, n: i64, front: i64) {
        let Array { volume: Volume { layout, plan, choice, .. }, drives, .. } = self;
        choice.begin();
        layout.plan(op, sector, n, front, plan, |copies, n| choice.choose(copies, n, |disk| drives.peek(disk)));
    }

    /// Whether commands of the host pass the submitting thread by.
    #[inline(always)]
    pub(super) fn is_direct(&self, op: u8) -> bool {
        // a parity array that has lost a disk computes reads in its thread, also those that need no lost block
        match &self.block.submitter {
            None => true,
            Some(s) => !s.is_host_thread && op == READ && !self.volume.layout.computes_reads(),
        }
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
            self.block.has_passing && matches!(owner, Owner::Host(host) if self.requests[host].sync >= PASS_THROUGH);
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
        let is_bitmap = matches!(owner, Owner::Md(OfMd::Bitmap | OfMd::Superblock));
        let is_of_group = matches!(owner, Owner::Pool(OfPool::Group(_)));
        let is_of_scan = matches!(owner, Owner::Pool(OfPool::Scan(_)));
        let is_ahead = matches!(owner, Owner::Pool(OfPool::Ahead(_)));
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
        self.events.said(Port::DriveToVolume, command.device, (command.op, command.lba, command.n));
        self.drives.complete(command_id, &command, &mut self.events);
        if command.op == FLUSH {
            return self.disk_flushed(command.device);
        }
        self.part_answered(&command);
        let mut joined = command.next_joined;
        while joined > 0 {
            let part = self.drives.complete_joined(joined - 1, &command);
            self.events.said(Port::DriveToVolume, part.device, (part.op, part.lba, part.n));
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
        K::submit_writes(self, id);
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
            _ => return K::ended(self, command),
        }
        self.proceed();
    }
}

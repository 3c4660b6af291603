//! Flushes: who waits for whom above each disk and above the array (rules Y4 and Y5); see `diskmodel/engine/reference/flushing.py`.

use crate::command::Command;
use crate::device::Device;
use crate::drives::Drives;
use crate::events::{Action, Events, ARRIVE, LAST};
use crate::layout::Layout;
use crate::simulation::{AboveDisks, Array, BlockLayer};
use crate::traffic::{Rule, PASS_THROUGH};

/// For so long at most a flush waits for writes that will want one, too.
const MAX_DEFERRED_NS: i64 = 5_000_000_000;

/// Who waits for a flush of a disk.
#[derive(Clone, Copy)]
enum Waiter {
    /// A flush of all disks.
    Array,
    /// A request of the host.
    Host(u32),
    /// A write that is safe then.
    Data(Command),
    /// Something of the volume, which knows it by this number.
    Volume(u32),
}

/// Flushes of one disk: one is in progress while the next ones gather (rule Y4).
#[derive(Default)]
struct BlockFlushes {
    gathered: Vec<Waiter>,
    gathered_since: i64,
    served: Vec<Waiter>,
    is_in_progress: bool,
    /// Writes that a flush follows and that the disk has not answered.
    n_data: usize,
}

/// Flushes of an array: each goes to all disks, one at a time (rule Y5).
pub struct Flushes {
    /// Whether the disks take flushes, and whether single writes pass their buffers.
    takes: bool,
    has_fua: bool,
    /// How long the host works on one request.
    host_work_ns: i64,
    disks: Vec<BlockFlushes>,
    /// Disks that a flush goes to.
    targets: Vec<u32>,
    gathered: Vec<u32>,
    served: Vec<u32>,
    left: usize,
    is_in_progress: bool,
}

/// Stands for the volume itself where requests of the host wait for a flush of the array.
pub(in crate::simulation) const VOLUME: u32 = u32::MAX;

impl Flushes {
    pub fn new(layout: &Layout, n_devices: usize, (takes, has_fua): (bool, bool), host_work_ns: i64) -> Self {
        let left = (0..layout.n_disks).filter(|disk| !layout.failed.contains(disk));
        let spare = layout.has_new_disk().then_some(layout.n_disks);
        Flushes {
            takes,
            has_fua,
            host_work_ns,
            disks: (0..n_devices).map(|_| BlockFlushes::default()).collect(),
            targets: left.chain(spare).collect(),
            gathered: Vec::new(),
            served: Vec::new(),
            left: 0,
            is_in_progress: false,
        }
    }

    /// How long the host works on one request.
    pub(in crate::simulation) fn host_work_ns(&self) -> i64 {
        self.host_work_ns
    }

    /// Whether the disks take flushes.
    pub(in crate::simulation) fn takes_any(&self) -> bool {
        self.takes
    }

    /// Whether the disks take writes that pass their buffers.
    pub(in crate::simulation) fn has_fua(&self) -> bool {
        self.has_fua
    }

    /// Whether there are writes that pass the drives' buffers, those of a journal among them: there is no need to look
    /// for them elsewhere (rule Y2).
    pub(in crate::simulation) fn has_passing(&self, rules: &[Rule], has_journal: bool) -> bool {
        self.takes && (has_journal || rules.iter().any(|rule| rule.sync >= PASS_THROUGH))
    }
}

impl BlockLayer {
    /// Flushes all disks for a request, or lets it join what waits for the next flush (rule Y5); true: there are none.
    fn flush_members<D: Device>(&mut self, host: u32, drives: &mut Drives<D>, events: &mut Events) -> bool {
        match self.flushes.targets[..] {
            _ if !self.flushes.takes => return true,
            [] => return true,
            [disk] => self.flush_disk(disk, Waiter::Host(host), drives, events),
            _ => {
                self.flushes.gathered.push(host);
                self.begin_array_flush(drives, events);
            }
        }
        false
    }

    /// Flushes a disk for something of the volume, which knows it by this number.
    pub(in crate::simulation) fn flush_for_volume<D: Device>(
        &mut self,
        device: u32,
        who: u32,
        drives: &mut Drives<D>,
        events: &mut Events,
    ) {
        self.flush_disk(device, Waiter::Volume(who), drives, events);
    }

    fn begin_array_flush<D: Device>(&mut self, drives: &mut Drives<D>, events: &mut Events) {
        let flushes = &mut self.flushes;
        if flushes.is_in_progress || flushes.gathered.is_empty() {
            return;
        }
        flushes.served = std::mem::take(&mut flushes.gathered);
        flushes.is_in_progress = true;
        let n = flushes.targets.len();
        flushes.left = n;
        for at in 0..n {
            self.flush_disk(self.flushes.targets[at], Waiter::Array, drives, events);
        }
    }

    /// A disk is flushed of all: who goes on when it is the last one.
    fn array_flushed<D: Device>(&mut self, drives: &mut Drives<D>, events: &mut Events) -> Vec<u32> {
        self.flushes.left -= 1;
        if self.flushes.left > 0 {
            return Vec::new();
        }
        let served = std::mem::take(&mut self.flushes.served);
        let turn = self.flushes.host_work_ns;
        if turn > 0 {
            let next = events.now + (served.len() as i64 + 1) * turn;
            events.at(next, ARRIVE, drives.len(), LAST, Action::FlushTurn);
        } else {
            self.next_array_flush(drives, events);
        }
        served
    }

    /// The next flush of the array may begin.
    #[inline(never)]
    fn next_array_flush<D: Device>(&mut self, drives: &mut Drives<D>, events: &mut Events) {
        self.flushes.is_in_progress = false;
        self.begin_array_flush(drives, events);
    }

    fn flush_disk<D: Device>(&mut self, device: u32, waiter: Waiter, drives: &mut Drives<D>, events: &mut Events) {
        let disk = &mut self.flushes.disks[device as usize];
        if disk.gathered.is_empty() {
            disk.gathered_since = events.now;
        }
        disk.gathered.push(waiter);
        self.begin_disk_flush(device, drives, events);
    }

    fn begin_disk_flush<D: Device>(&mut self, device: u32, drives: &mut Drives<D>, events: &mut Events) {
        let now = events.now;
        let disk = &mut self.flushes.disks[device as usize];
        let is_deferred = disk.n_data > 0 && now < disk.gathered_since + MAX_DEFERRED_NS;
        if disk.is_in_progress || disk.gathered.is_empty() || is_deferred {
            return;
        }
        let gathered = std::mem::take(&mut disk.gathered);
        disk.served.extend(gathered);
        disk.is_in_progress = true;
        drives.flush(device, events);
    }

    /// A disk has completed a flush, and the next one begins: who waited for it.
    fn disk_flushed<D: Device>(&mut self, device: u32, drives: &mut Drives<D>, events: &mut Events) -> Vec<Waiter> {
        let disk = &mut self.flushes.disks[device as usize];
        let served = std::mem::take(&mut disk.served);
        disk.is_in_progress = false;
        self.begin_disk_flush(device, drives, events);
        served
    }

    /// A write is to pass the disk's buffer, or to be flushed after it (rule Y4).
    #[inline(never)]
    pub(in crate::simulation) fn mark_safe<D: Device>(&mut self, write: u32, drives: &mut Drives<D>) {
        let command = drives.command_mut(write);
        command.is_fua = self.flushes.has_fua;
        command.flushes_after = !self.flushes.has_fua;
    }

    /// A write is handed to its disk, where flushes wait for it if one follows it (rule Y4).
    #[inline(always)]
    pub(in crate::simulation) fn data_begins<D: Device>(&mut self, write: u32, drives: &Drives<D>) {
        let &Command { flushes_after, device, .. } = drives.command(write);
        if flushes_after {
            self.flushes.disks[device as usize].n_data += 1;
        }
    }

    #[inline(never)]
    fn data_answered<D: Device>(&mut self, command: &Command, drives: &mut Drives<D>, events: &mut Events) {
        self.flushes.disks[command.device as usize].n_data -= 1;
        self.flush_disk(command.device, Waiter::Data(*command), drives, events);
    }
}

impl<D: Device, K: AboveDisks<D>> Array<D, K> {
    /// Flushes all disks for a request, or lets it join what waits for the next flush (rule Y5).
    pub(in crate::simulation) fn flush_members(&mut self, host: u32) {
        if self.block.flush_members(host, &mut self.drives, &mut self.events) {
            K::flushed(self, host);
        }
    }

    /// The next flush of the array may begin.
    #[inline(never)]
    pub(in crate::simulation) fn flush_turn(&mut self) {
        self.block.next_array_flush(&mut self.drives, &mut self.events);
    }

    /// A disk has completed a flush: the next one begins, and those who waited go on.
    #[inline(never)]
    pub(in crate::simulation) fn disk_flushed(&mut self, device: u32) {
        for waiter in self.block.disk_flushed(device, &mut self.drives, &mut self.events) {
            match waiter {
                Waiter::Array => {
                    let served = self.block.array_flushed(&mut self.drives, &mut self.events);
                    served.into_iter().for_each(|host| K::flushed(self, host));
                }
                Waiter::Host(host) => {
                    K::flushed(self, host);
                    self.place_left();
                }
                Waiter::Data(command) => self.part_done(&command),
                Waiter::Volume(who) => K::disk_flushed(self, who),
            }
        }
    }

    /// A command, or a part of one, has been answered by its disk; a write may be done only when it is flushed (rule Y4).
    #[inline(always)]
    pub(in crate::simulation) fn part_answered(&mut self, command: &Command) {
        if command.flushes_after {
            self.block.data_answered(command, &mut self.drives, &mut self.events);
        } else {
            self.part_done(command);
        }
    }
}

//! Writes that must be safe from a power cut: which ones, and who waits for whom above each disk and above the array
//! (rules Y1 to Y5 and Y11); see `diskmodel/engine/reference/flushing.py`.

use std::collections::HashMap;

use crate::command::Command;
use crate::device::Device;
use crate::drives::Drives;
use crate::events::{Action, Events, ARRIVE, LAST};
use crate::layout::Layout;
use crate::mechanics::FLUSH;
use crate::simulation::{BlockLayer, HostRequest, Purpose, Simulation};
use crate::traffic::{Rule, Traffic, FLUSH_AFTER, PASS_ONLY, PASS_THROUGH};

/// For so long at most a flush waits for writes that will want one, too.
const MAX_DEFERRED_NS: i64 = 5_000_000_000;
/// Writes of each client since its last sync (rule Y1).
pub struct ClientSyncs {
    client_of: HashMap<u32, u32>,
    n_unsynced: HashMap<(u32, u32), i64>,
}

impl ClientSyncs {
    /// None where every write is synchronized, or none is.
    pub fn of(rules: &[Rule]) -> Option<Self> {
        let counts = rules.iter().any(|rule| rule.sync > 0 && rule.sync_every > 1);
        counts.then(|| ClientSyncs { client_of: HashMap::new(), n_unsynced: HashMap::new() })
    }

    #[inline(never)]
    pub fn took(&mut self, id: u32, client: u32) {
        self.client_of.insert(id, client);
    }

    /// The client of a row that is done.
    #[inline(never)]
    pub fn of_row(&mut self, id: u32) -> u32 {
        self.client_of.remove(&id).unwrap_or(0)
    }

    /// Whether a write is one that a sync follows.
    #[inline(never)]
    fn is_due(&mut self, id: u32, stream: u32, every: i64) -> bool {
        let client = self.client_of.get(&id).copied().unwrap_or(0);
        let n = self.n_unsynced.entry((stream, client)).or_default();
        *n += 1;
        let is_due = *n >= every;
        if is_due {
            *n = 0;
        }
        is_due
    }
}

/// Who waits for a flush of a disk.
#[derive(Clone, Copy)]
enum Waiter {
    /// A flush of all disks.
    Array,
    /// A request of the host.
    Host(u32),
    /// A write that is safe then.
    Data(Command),
    /// A burst of the log of a pool.
    Log(u32),
    /// A unit of the log of partial parity.
    Partial(u32),
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
    turn_ns: i64,
    disks: Vec<BlockFlushes>,
    /// Disks that a flush goes to.
    targets: Vec<u32>,
    gathered: Vec<u32>,
    served: Vec<u32>,
    left: usize,
    is_in_progress: bool,
    /// Of a flush for a transaction group of a pool: the labels have been written before it, and it ends the group.
    ends_group: bool,
}

/// Stands for the transaction group of a pool where requests of the host wait for a flush of the array.
const GROUP: u32 = u32::MAX;
/// The same for the superblock of an array with a journal (rule Y15).
const SUPERBLOCK: u32 = u32::MAX - 1;

impl Flushes {
    pub fn new(layout: &Layout, n_devices: usize, (takes, has_fua): (bool, bool), turn_ns: i64) -> Self {
        let left = (0..layout.n_disks).filter(|disk| !layout.failed.contains(disk));
        let spare = layout.has_new_disk().then_some(layout.n_disks);
        Flushes {
            takes,
            has_fua,
            turn_ns,
            disks: (0..n_devices).map(|_| BlockFlushes::default()).collect(),
            targets: left.chain(spare).collect(),
            gathered: Vec::new(),
            served: Vec::new(),
            left: 0,
            is_in_progress: false,
            ends_group: false,
        }
    }

    /// How long the host works on one request.
    pub(in crate::simulation) fn turn_ns(&self) -> i64 {
        self.turn_ns
    }

    /// Whether the disks take flushes.
    pub(in crate::simulation) fn takes_any(&self) -> bool {
        self.takes
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

    /// Flushes a disk for a burst of the log of a pool.
    pub(in crate::simulation) fn flush_for_log<D: Device>(
        &mut self,
        device: u32,
        burst: u32,
        drives: &mut Drives<D>,
        events: &mut Events,
    ) {
        self.flush_disk(device, Waiter::Log(burst), drives, events);
    }

    /// Flushes a member for a unit of the log of partial parity.
    pub(in crate::simulation) fn flush_for_partial<D: Device>(
        &mut self,
        device: u32,
        unit: u32,
        drives: &mut Drives<D>,
        events: &mut Events,
    ) {
        self.flush_disk(device, Waiter::Partial(unit), drives, events);
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
        let turn = self.flushes.turn_ns;
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

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// What follows a write of a stream whose writes are synchronized (rule Y1).
    #[inline(never)]
    pub(in crate::simulation) fn sync_of(&mut self, stream: u32, id: u32) -> i64 {
        let rule = self.clients.traffic.rules()[stream as usize];
        match &mut self.clients.syncs {
            Some(syncs) if rule.sync_every > 1 => rule.sync * i64::from(syncs.is_due(id, stream, rule.sync_every)),
            _ => self.passed(rule.sync),
        }
    }

    /// What follows a write where drives may lack FUA (rule Y7).
    pub(in crate::simulation) fn passed(&self, sync: i64) -> i64 {
        if self.pool.is_some() {
            // a pool makes it safe itself (rule X10)
            return if sync == PASS_THROUGH { PASS_ONLY } else { sync };
        }
        let is_exposed = self.cache.as_ref().is_some_and(|cache| cache.is_exposed());
        let has_fua = self.block.flushes.takes && self.block.flushes.has_fua && !is_exposed;
        if sync == PASS_ONLY && !has_fua {
            FLUSH_AFTER
        } else {
            sync
        }
    }

    /// Whether a host that wants its writes safe has to flush anything (rule Y2).
    pub(in crate::simulation) fn takes_flushes(&self) -> bool {
        if let Some(pool) = &self.volume.layout.pool {
            return pool.writes.is_logged;
        }
        self.block.flushes.takes || self.cache.as_ref().is_some_and(|cache| cache.dirty.is_some())
    }

    /// A write is done when a commit or a flush after it is, where it needs one (rules Y2, Y3 and Y7).
    #[inline(never)]
    pub(in crate::simulation) fn make_safe(&mut self, host: u32) {
        if self.clients.journal.is_some() && self.commit(host) {
            return;
        }
        // a call of its own takes the processor, also where there is nothing to flush (rule Y11)
        let is_alone = self.hosts[host].op == FLUSH && self.host.is_some();
        let is_safe = self.hosts[host].sync == PASS_ONLY || !(is_alone || self.takes_flushes());
        if is_safe {
            return self.done(host);
        }
        let now = self.events.now;
        self.hosts[host].sync_ns -= now;
        let HostRequest { row, sync, .. } = self.hosts[host];
        let purpose = Purpose::Flush(host);
        let flush = self.hosts.put(HostRequest { row, op: FLUSH, issue: now, purpose, sync, ..HostRequest::default() });
        if sync == PASS_THROUGH && !self.block.flushes.has_fua {
            // its program wakes up with the others that one flush served: who goes on with a next request comes first
            self.events.at(now, ARRIVE, 0, LAST, Action::FlushAsked(flush));
        } else {
            self.flush_asked(flush);
        }
    }

    /// A flush begins its course: with the processor, where there is one.
    #[inline(never)]
    pub(in crate::simulation) fn flush_asked(&mut self, flush: u32) {
        if self.host.is_some() {
            self.submit_to_host(flush);
        } else {
            self.submit_to_controller(flush);
        }
    }

    /// A stream asks for a flush alone, for which dirty pages go to the array first (rule Y11).
    #[inline(never)]
    pub(in crate::simulation) fn flush_alone(&mut self, host: u32) {
        if self.page_cache().is_some() {
            self.sync_memory(host);
        } else {
            self.make_safe(host);
        }
    }

    /// The flush after a write has been answered, or its commit has ended.
    #[inline(never)]
    pub(in crate::simulation) fn made_safe(&mut self, host: u32) {
        self.hosts[host].sync_ns += self.events.now;
        self.done(host);
    }

    /// Flushes all disks for a request, or lets it join what waits for the next flush (rule Y5).
    #[inline(never)]
    pub(in crate::simulation) fn flush_array(&mut self, host: u32) {
        if self.volume.layout.logs_stripes() {
            // what has been answered is safe, or taken to be (rules Y14 and Y16)
            return self.finished(host);
        }
        self.flush_members(host);
    }

    fn flush_members(&mut self, host: u32) {
        if self.block.flush_members(host, &mut self.drives, &mut self.events) {
            self.flushed(host);
        }
    }

    /// Who waited for a flush of the array goes on.
    #[inline(always)]
    fn flushed(&mut self, host: u32) {
        if host >= SUPERBLOCK {
            self.flushed_for_others(host);
        } else {
            self.finished(host);
        }
    }

    #[inline(never)]
    fn flushed_for_others(&mut self, who: u32) {
        if who == SUPERBLOCK {
            self.submit_superblock();
        } else if std::mem::take(&mut self.block.flushes.ends_group) {
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
        self.block.flushes.ends_group = true;
        self.flush_array(GROUP);
    }

    /// Flushes all members before the superblock is written (rule Y15).
    pub(in crate::simulation) fn flush_for_superblock(&mut self) {
        self.flush_members(SUPERBLOCK);
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
                    served.into_iter().for_each(|host| self.flushed(host));
                }
                Waiter::Host(host) => {
                    self.flushed(host);
                    self.place_left();
                }
                Waiter::Data(command) => self.part_done(&command),
                Waiter::Log(block) => self.log_part_flushed(block),
                Waiter::Partial(unit) => self.partial_flushed(unit),
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

//! The drives of an array, each behind its queue: the station below the volume. Whoever stands before it hands commands
//! down, lets it happen what it has asked for, and learns what has come of a command; which kind of drive that is, only
//! the drives know.

pub mod auxiliary;
pub mod remote;
pub mod write_zones;

use crate::command::{Command, Commands};
use crate::device::{Device, Shared};
use crate::divisor::Divisor;
use crate::events::Events;
use crate::layout::DiskState;
use crate::mechanics::FLUSH;
use crate::ports::Port;

/// The drives, what they share, and the commands that they have been given.
pub struct Drives<D: Device> {
    drives: Vec<D>,
    model: D::Model,
    by_sector: Divisor,
    commands: Commands,
    n_commands: u64,
}

impl<D: Device> Drives<D> {
    /// `n_buffered` writes are in the drives' buffers already: their numbers come first.
    pub fn new(drives: Vec<D>, model: D::Model, n_buffered: u64) -> Self {
        let by_sector = Divisor::new(model.sector_bytes());
        Drives { drives, model, by_sector, commands: Commands::default(), n_commands: n_buffered }
    }

    // ------------------------------------------------------------------ what they are
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.drives.len() as u32
    }

    pub fn each(&self) -> &[D] {
        &self.drives
    }

    #[inline(always)]
    pub fn sector_bytes(&self) -> i64 {
        self.model.sector_bytes()
    }

    /// Pieces are cut at multiples of so many blocks (rule D8).
    #[inline(always)]
    pub fn border(&self) -> i64 {
        self.model.border()
    }

    /// The sector that begins at a byte, or that it is in.
    #[inline(always)]
    pub fn sector_of(&self, byte: i64) -> i64 {
        self.by_sector.of(byte)
    }

    // ------------------------------------------------------------------ commands
    /// The number of the next command.
    #[inline(always)]
    pub fn number(&mut self) -> u64 {
        self.n_commands += 1;
        self.n_commands - 1
    }

    /// Keeps a new command, which has its number.
    #[inline(always)]
    pub fn put(&mut self, command: Command) -> u32 {
        self.commands.put(command)
    }

    #[inline(always)]
    pub fn command(&self, id: u32) -> &Command {
        &self.commands[id]
    }

    #[inline(always)]
    pub fn command_mut(&mut self, id: u32) -> &mut Command {
        &mut self.commands[id]
    }

    /// Commands that there have been so far.
    pub fn n_commands(&self) -> u64 {
        self.n_commands
    }

    /// Places for commands that were ever needed at once.
    #[cfg(test)]
    pub fn n_slots(&self) -> usize {
        self.commands.len()
    }

    // ------------------------------------------------------------------ down
    /// Puts a command into the queue of its drive, or before it where its zone is being written (rule N2).
    #[inline(always)]
    pub fn submit(&mut self, id: u32, events: &mut Events) {
        self.say(id, events);
        let drive = &mut self.drives[self.commands[id].device as usize];
        if !drive.front_mut().holds_back(id, &self.commands) {
            drive.submit(id, &self.model, &mut self.commands, events);
        }
    }

    #[inline(always)]
    fn say(&self, id: u32, events: &mut Events) {
        let &Command { device, op, lba, n, .. } = &self.commands[id];
        events.said(Port::VolumeToDrive, device, (op, lba, n));
    }

    /// Counts a command as one of its drive's that is still handed over (rule Q11).
    pub fn reserve(&mut self, id: u32) {
        self.drives[self.commands[id].device as usize].front_mut().pending += 1;
    }

    /// Puts a command into the queue that has been counted.
    pub fn submit_reserved(&mut self, id: u32, events: &mut Events) {
        self.say(id, events);
        let drive = &mut self.drives[self.commands[id].device as usize];
        drive.front_mut().pending -= 1;
        drive.submit(id, &self.model, &mut self.commands, events);
    }

    /// Takes a write behind the read that holds its drive (rule L12): one out of the drive's buffer has held nothing.
    pub fn follow(&mut self, read: &Command, id: u32, events: &mut Events) {
        self.say(id, events);
        let drive = &mut self.drives[read.device as usize];
        if read.is_hit {
            drive.submit(id, &self.model, &mut self.commands, events);
        } else {
            drive.follow(id, &self.model, &mut self.commands, events);
        }
    }

    /// Has a drive empty its buffer (rule D10).
    pub fn flush(&mut self, device: u32, events: &mut Events) {
        let seq = self.number();
        let id = self.put(Command { seq, device, op: FLUSH, submitted: events.now, ..Command::default() });
        self.say(id, events);
        self.drives[device as usize].flush(id, &mut self.commands, events);
    }

    // ------------------------------------------------------------------ events of their own
    /// Wakes the drives whose buffers hold something when the run begins.
    pub fn begin(&mut self, events: &mut Events) {
        for drive in self.drives.iter_mut().filter(|drive| drive.n_buffered() > 0) {
            drive.front_mut().wake(0, events);
        }
    }

    #[inline(always)]
    pub fn woken(&mut self, device: u32, events: &mut Events) {
        self.drives[device as usize].woken(&self.model, &mut self.commands, events);
    }

    #[inline(always)]
    pub fn destaged(&mut self, device: u32, n: u32, events: &mut Events) {
        self.drives[device as usize].destaged(n, events);
    }

    // ------------------------------------------------------------------ up
    /// A command has been answered, of which `command` is a copy: it leaves its drive.
    #[inline(always)]
    pub fn complete(&mut self, id: u32, command: &Command, events: &mut Events) {
        self.commands.release(id);
        let drive = &mut self.drives[command.device as usize];
        if command.op == FLUSH {
            drive.front_mut().counters.n_flushes += 1;
            return;
        }
        drive.complete(command, events);
        if let Some(next) = drive.front_mut().next_of_zone(command, &mut self.commands) {
            drive.submit(next, &self.model, &mut self.commands, events);
        }
    }

    /// A command that was served as part of one that has left (rule Q9): it leaves its drive, too, and is returned.
    #[inline(always)]
    pub fn complete_joined(&mut self, id: u32, leader: &Command) -> Command {
        let &Command { done, is_hit, overhead, seek, rotation, transfer, .. } = leader;
        let part = Command { done, is_hit, overhead, seek, rotation, transfer, ..self.commands[id] };
        self.commands.release(id);
        self.drives[leader.device as usize].front_mut().complete_joined(&part);
        part
    }

    // ------------------------------------------------------------------ what can be seen of them
    /// What a copy is chosen by.
    #[inline(always)]
    pub fn peek(&self, device: u32) -> DiskState {
        self.drives[device as usize].front().state()
    }

    /// Sectors that each drive has read and written.
    pub fn used(&self) -> impl Iterator<Item = i64> + '_ {
        self.drives.iter().map(|drive| {
            let counters = drive.front().counters;
            counters.read_sectors + counters.write_sectors
        })
    }

    /// Sectors in the drives' buffers, and the mean of their busy times up to `now` (rule Z7).
    pub fn levels(&self, now: i64) -> (i64, i64) {
        let n_buffered = self.drives.iter().map(Device::n_buffered).sum();
        let busy: i128 = self.drives.iter().map(|drive| i128::from(drive.counters_until(now).busy_ns)).sum();
        // a mean of 64-bit times fits
        (n_buffered, (busy / self.drives.len().max(1) as i128) as i64)
    }

    // ------------------------------------------------------------------ what a pool settles with its queues
    /// Somebody waits for the reads ahead of these accesses now (rule X14).
    pub fn promote(&mut self, accesses: &[u32], events: &mut Events) {
        for drive in &mut self.drives {
            drive.front_mut().promote(&mut self.commands, accesses, events);
        }
    }

    /// How many writes of a group each drive is given at once from now on.
    pub fn give_group_writes(&mut self, n: usize, events: &mut Events) {
        self.drives.iter_mut().for_each(|drive| drive.front_mut().give_group_writes(n, events));
    }

    /// A processor works so long on each write of a group that another one includes (rule X17).
    pub fn hand_over_within(&mut self, ns: i64) {
        self.drives.iter_mut().for_each(|drive| drive.front_mut().hand_over_within(ns));
    }
}

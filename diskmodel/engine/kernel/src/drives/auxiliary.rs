//! Drives at a place of their own beside the members of an array, such as those of the log of a pool: of any kind, each
//! behind a queue as a member is (rule X16); see `diskmodel/engine/reference/auxiliary/`.
//!
//! What happens at them is in the same list of events: they are handed one of their own, which is emptied into that list.

use super::remote::Remote;
use super::Drives;
use crate::command::Command;
use crate::device::{Counters, Device};
use crate::events::{Action, Events, OfAuxiliary};
use crate::flash::Flash;
use crate::hdd::Disk;
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::ports::Port;

/// What OpenZFS keeps of a drive, bytes: a label, of which there are two before what is used and two behind it; and room
/// for the first two and to boot from.
pub const LABEL_BYTES: i64 = 256 << 10;
const LABELS_BEFORE_BYTES: i64 = 4 << 20;

/// Drives of one kind. There is one of these at a place, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum OfKind {
    Hdd(Drives<Disk>),
    Flash(Drives<Flash>),
    Remote(Drives<Remote>),
}

/// Does the same with drives of any kind.
macro_rules! with {
    ($of_kind:expr, $drives:ident => $do:expr) => {
        match $of_kind {
            OfKind::Hdd($drives) => $do,
            OfKind::Flash($drives) => $do,
            OfKind::Remote($drives) => $do,
        }
    };
}

/// Where drives stand, and what of them is used.
pub struct Place {
    /// Which place it is, as its events say.
    pub number: u8,
    /// Number of the first of them in the order of events.
    pub first_device: u32,
    pub takes_flushes: bool,
    /// What is used of each drive, and of that what is written in order before it begins again.
    pub first_sector: i64,
    pub n_sectors: i64,
    pub slab_sectors: i64,
}

/// Something that is written: of which kind, in which slab, from which of how many parts of it on.
pub struct Free {
    pub kind: usize,
    pub slab: i64,
    pub part: (i64, i64),
}

/// Flushes of a drive: one is in progress while the next ones gather (rule Y4).
#[derive(Default)]
struct Flushing {
    gathered: Vec<u32>,
    served: Vec<u32>,
    is_in_progress: bool,
}

/// What has ended: a command, with those that were served as a part of it behind it, or what waited for a flush.
pub enum Ended {
    Command(Command),
    Flush(u32),
}

/// The drives of a place.
pub struct Auxiliary {
    drives: OfKind,
    place: Place,
    /// Where the next write of each kind goes, from where its kind begins on.
    next: Vec<i64>,
    flushing: Vec<Flushing>,
    own: Events,
}

impl Auxiliary {
    pub fn new(drives: OfKind, place: Place) -> Self {
        let n = with!(&drives, drives => drives.len());
        let flushing = (0..n).map(|_| Flushing::default()).collect();
        Auxiliary { drives, place, next: Vec::new(), flushing, own: Events::default() }
    }

    pub fn len(&self) -> usize {
        self.flushing.len()
    }

    /// Number of the first drive in the order of events.
    pub fn first_device(&self) -> u32 {
        self.place.first_device
    }

    pub fn takes_flushes(&self) -> bool {
        self.place.takes_flushes
    }

    /// Counters of each drive in a run that ended at `end` (rule D7).
    pub fn counters_until(&self, end: i64) -> Vec<Counters> {
        with!(&self.drives, drives => drives.each().iter().map(|drive| drive.counters_until(end)).collect())
    }

    /// Whole slabs of a drive.
    pub fn n_slabs(&self) -> i64 {
        (self.place.n_sectors / self.place.slab_sectors).max(1)
    }

    /// The next sector for what has so much room: behind the last of its kind, or where its kind begins.
    fn free(&mut self, Free { kind, slab, part: (part, of) }: &Free, room: i64) -> i64 {
        if self.next.len() <= *kind {
            self.next.resize(kind + 1, 0);
        }
        let begin = self.place.slab_sectors / of * part;
        let next = &mut self.next[*kind];
        if begin + *next + room > self.place.slab_sectors {
            *next = 0;
        }
        let lba = self.place.first_sector + slab * self.place.slab_sectors + begin + *next;
        *next += room;
        lba
    }

    /// Writes so many bytes behind the last of its kind to every drive, and keeps room for some more; returns how many
    /// commands have to end for that, which have the ticket.
    pub fn append(
        &mut self,
        free: &Free,
        [n_bytes, room_bytes]: [i64; 2],
        (ticket, is_of_group): (u32, bool),
        events: &mut Events,
    ) -> usize {
        let (n, room) = (self.sectors_of(n_bytes), self.sectors_of(room_bytes));
        let lba = self.free(free, room);
        self.write(lba, n, (ticket, is_of_group), events)
    }

    /// Writes the label with this number to every drive: two before what is used, and two behind it.
    pub fn write_label(&mut self, number: i64, n_bytes: i64, ticket: u32, events: &mut Events) -> usize {
        let Place { first_sector, n_sectors, .. } = self.place;
        let sector_bytes = with!(&self.drives, drives => drives.sector_bytes());
        let apart = LABEL_BYTES / sector_bytes;
        // the second half of a label has the ring of what is written
        let before = first_sector - LABELS_BEFORE_BYTES / sector_bytes + apart / 2;
        let base = if number < 2 { before.max(0) } else { first_sector + n_sectors };
        let n = (n_bytes + sector_bytes - 1) / sector_bytes;
        self.write(base + number % 2 * apart, n, (ticket, false), events)
    }

    fn write(&mut self, lba: i64, n: i64, what: (u32, bool), events: &mut Events) -> usize {
        self.begin(events);
        let out = (0..self.flushing.len() as u32).map(|device| self.send(device, WRITE, (lba, n), what)).sum();
        self.pass_on(events);
        out
    }

    /// Hands commands to a drive that end what has this ticket; returns how many.
    fn send(&mut self, device: u32, op: u8, (mut lba, n): (i64, i64), (access, is_of_group): (u32, bool)) -> usize {
        let (submitted, end, mut out) = (self.own.now, lba + n, 0);
        with!(&mut self.drives, drives => {
            let border = drives.border();
            while lba < end {
                let n = end.min((lba / border + 1) * border) - lba;
                let seq = drives.number();
                let command = Command { seq, device, access, op, is_of_group, lba, n, submitted, ..Command::default() };
                let id = drives.put(command);
                drives.submit(id, &mut self.own);
                out += 1;
                lba += n;
            }
        });
        out
    }

    /// Reads so many bytes of one drive, of all of which it is full the ones with this number.
    pub fn read(&mut self, device: u32, number: i64, n_bytes: i64, ticket: u32, events: &mut Events) -> usize {
        let n = self.sectors_of(n_bytes);
        let lba = self.place.first_sector + number % (self.place.n_sectors / n).max(1) * n;
        self.begin(events);
        let out = self.send(device, READ, (lba, n), (ticket, false));
        self.pass_on(events);
        out
    }

    /// Writes so many bytes to one drive behind the last ones, when nobody waits; returns how many commands.
    pub fn append_to(&mut self, device: u32, n_bytes: i64, events: &mut Events) -> usize {
        let n = self.sectors_of(n_bytes);
        let lba = self.free(&Free { kind: device as usize, slab: 0, part: (0, 1) }, n);
        self.begin(events);
        let out = self.send(device, WRITE, (lba, n), (0, true));
        self.pass_on(events);
        out
    }

    fn sectors_of(&self, n_bytes: i64) -> i64 {
        let sector_bytes = with!(&self.drives, drives => drives.sector_bytes());
        (n_bytes + sector_bytes - 1) / sector_bytes
    }

    /// Flushes every drive, or lets `who` join what waits for their next flush.
    pub fn flush(&mut self, who: u32, events: &mut Events) {
        self.begin(events);
        for device in 0..self.flushing.len() {
            self.flushing[device].gathered.push(who);
            self.begin_flush(device as u32);
        }
        self.pass_on(events);
    }

    /// How many writes of a group each drive is given at once from now on (rule X14).
    pub fn give_group_writes(&mut self, n: usize, events: &mut Events) {
        self.begin(events);
        with!(&mut self.drives, drives => drives.give_group_writes(n, &mut self.own));
        self.pass_on(events);
    }

    /// A processor works so long on each write of a group that another one includes (rule X17).
    pub fn hand_over_within(&mut self, ns: i64) {
        with!(&mut self.drives, drives => drives.hand_over_within(ns / i64::from(drives.len())));
    }

    fn begin_flush(&mut self, device: u32) {
        let flushing = &mut self.flushing[device as usize];
        if flushing.is_in_progress || flushing.gathered.is_empty() {
            return;
        }
        flushing.served.append(&mut flushing.gathered);
        flushing.is_in_progress = true;
        with!(&mut self.drives, drives => drives.flush(device, &mut self.own));
    }

    /// What has ended by something that happens at a drive.
    pub fn happen(&mut self, what: OfAuxiliary, events: &mut Events) -> Vec<Ended> {
        self.begin(events);
        let mut ended = Vec::new();
        match what {
            OfAuxiliary::Wake(device) => with!(&mut self.drives, drives => drives.woken(device, &mut self.own)),
            OfAuxiliary::Destaged(device, n) => {
                with!(&mut self.drives, drives => drives.destaged(device, n, &mut self.own));
            }
            OfAuxiliary::CommandDone(id) => self.command_done(id, &mut ended),
        }
        self.pass_on(events);
        ended
    }

    fn command_done(&mut self, id: u32, ended: &mut Vec<Ended>) {
        let command = with!(&self.drives, drives => *drives.command(id));
        self.own.said(Port::DriveToVolume, command.device, (command.op, command.lba, command.n));
        with!(&mut self.drives, drives => drives.complete(id, &command, &mut self.own));
        if command.op == FLUSH {
            let flushing = &mut self.flushing[command.device as usize];
            let served = std::mem::take(&mut flushing.served);
            flushing.is_in_progress = false;
            self.begin_flush(command.device);
            ended.extend(served.into_iter().map(Ended::Flush));
            return;
        }
        ended.push(Ended::Command(command));
        let mut joined = command.next_joined;
        while joined > 0 {
            let part = with!(&mut self.drives, drives => drives.complete_joined(joined - 1, &command));
            self.own.said(Port::DriveToVolume, part.device, (part.op, part.lba, part.n));
            joined = part.next_joined;
            ended.push(Ended::Command(part));
        }
    }

    /// Its own list of events has the time of that one.
    fn begin(&mut self, events: &Events) {
        self.own.now = events.now;
        if events.ports.is_logged() {
            self.own.ports.log();
        }
    }

    /// Its own list of events is emptied into that one.
    fn pass_on(&mut self, events: &mut Events) {
        if events.ports.is_logged() {
            for [time, port, device, op, sector, n] in self.own.ports.take() {
                events.ports.again([time, port, device + i64::from(self.place.first_device), op, sector, n]);
            }
        }
        while let Some((time, phase, device, order, action)) = self.own.take() {
            let what = match action {
                Action::Wake(device) => OfAuxiliary::Wake(device),
                Action::CommandDone(id) => OfAuxiliary::CommandDone(id),
                Action::Destaged(device, n) => OfAuxiliary::Destaged(device, n),
                // none of a drive's
                _ => continue,
            };
            let device = self.place.first_device + device;
            events.at(time, phase, device, order, Action::Auxiliary(self.place.number, what));
        }
    }
}

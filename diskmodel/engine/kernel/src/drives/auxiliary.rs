//! Drives at a place of their own beside the members of an array, such as those of the log of a pool: of any kind, each
//! behind a queue as a member is (rule X16); see `diskmodel/engine/reference/auxiliary/`.
//!
//! What happens at them is in the same list of events: they are handed one of their own, which is emptied into that list.

use super::remote::Remote;
use super::Drives;
use crate::command::Command;
use crate::events::{Action, Events, OfAuxiliary};
use crate::flash::Flash;
use crate::hdd::Disk;
use crate::mechanics::{FLUSH, WRITE};
use crate::ports::Port;

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
    pub first_sector: i64,
    pub n_sectors: i64,
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
    /// Where the next write in order goes, from the first sector on.
    next: i64,
    flushing: Vec<Flushing>,
    own: Events,
}

impl Auxiliary {
    pub fn new(drives: OfKind, place: Place) -> Self {
        let n = with!(&drives, drives => drives.len());
        let flushing = (0..n).map(|_| Flushing::default()).collect();
        Auxiliary { drives, place, next: 0, flushing, own: Events::default() }
    }

    pub fn takes_flushes(&self) -> bool {
        self.place.takes_flushes
    }

    /// Writes so many bytes to the first drive behind the last, and keeps room for some more; `ticket` is what ends then.
    pub fn append(&mut self, n_bytes: i64, room_bytes: i64, ticket: u32, events: &mut Events) {
        let sector_bytes = with!(&self.drives, drives => drives.sector_bytes());
        let sectors_of = |bytes: i64| (bytes + sector_bytes - 1) / sector_bytes;
        let (n, room) = (sectors_of(n_bytes), sectors_of(room_bytes));
        if self.next + room > self.place.n_sectors {
            self.next = 0;
        }
        let lba = self.place.first_sector + self.next;
        self.next += room;
        self.begin(events);
        with!(&mut self.drives, drives => {
            let seq = drives.number();
            let submitted = self.own.now;
            let id = drives.put(Command { seq, access: ticket, op: WRITE, lba, n, submitted, ..Command::default() });
            drives.submit(id, &mut self.own);
        });
        self.pass_on(events);
    }

    /// Flushes the first drive, or lets `who` join what waits for its next flush.
    pub fn flush(&mut self, who: u32, events: &mut Events) {
        self.begin(events);
        self.flushing[0].gathered.push(who);
        self.begin_flush(0);
        self.pass_on(events);
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

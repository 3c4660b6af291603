//! One flash drive (rules F1 to F18); see `diskmodel/engine/reference/flash_disk.py`.

mod buffer;
mod collection;
mod dies;
mod ftl;
mod places;
mod wire;

use std::collections::VecDeque;

use crate::command::{Command, Commands};
use crate::device::{answer, Counters, Device, Front, Intake, NoArms, Shared};
use crate::events::Events;
use crate::faults::{planted, Fault};
use crate::mechanics::WRITE;
use crate::queue::{Policy, Waiting};
use buffer::{Buffer, Served};
pub use ftl::{Ftl, FtlTables, GcPolicy};

const NS_PER_S: i64 = 1_000_000_000;

/// What every flash drive of the array shares.
pub struct Model {
    pub intake: Intake,
    pub sector_bytes: i64,
    pub n_sectors: i64,
    pub channels: usize,
    pub dies_per_channel: usize,
    pub sectors_per_unit: i64,
    pub units_per_page: i64,
    pub pages_per_block: i64,
    pub read_ns: i64,
    pub program_ns: i64,
    pub erase_ns: i64,
    /// Transfer of a whole page over its channel.
    pub page_ns: i64,
    pub channel_bytes_per_s: i64,
    pub interface_bytes_per_s: i64,
    pub read_latency_ns: i64,
    pub write_latency_ns: i64,
    pub is_buffered: bool,
    pub room_units: i64,
    pub ftl: FtlTables,
}

impl Model {
    pub fn n_dies(&self) -> usize {
        self.channels * self.dies_per_channel
    }

    /// Die of a page (rule F2): its number in order of programming, or -1 - p for page p as laid out at first.
    fn die_of(&self, page: i64) -> usize {
        let number = if page >= 0 { page } else { -1 - page + i64::from(planted(Fault::FirstLayout)) };
        number as usize % self.n_dies()
    }

    fn channel_ns(&self, n_sectors: i64) -> i64 {
        n_sectors * self.sector_bytes * NS_PER_S / self.channel_bytes_per_s
    }

    fn interface_ns(&self, n_sectors: i64) -> i64 {
        n_sectors * self.sector_bytes * NS_PER_S / self.interface_bytes_per_s
    }
}

impl Shared for Model {
    fn sector_bytes(&self) -> i64 {
        self.sector_bytes
    }

    fn border(&self) -> i64 {
        self.n_sectors
    }
}

pub struct Flash {
    front: Front,
    taken: VecDeque<Waiting>,
    buffer: Buffer,
    sectors_per_unit: i64,
}

impl Flash {
    /// A drive whose flash is in the state of `ftl`.
    pub fn new(index: u32, model: &Model, host: &Policy, ftl: Ftl) -> Self {
        Flash {
            front: Front::new(index, host),
            taken: VecDeque::new(),
            buffer: Buffer::new(model, ftl),
            sectors_per_unit: model.sectors_per_unit,
        }
    }

    /// Writes of before the run, by first block and sectors: those that are programmed, and the rest (rule F18).
    pub fn load(&mut self, programmed: &[(i64, i64)], buffered: &[(i64, i64)], model: &Model) {
        self.buffer.load(programmed, buffered, model);
    }
}

impl Device for Flash {
    type Model = Model;

    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    fn submit(&mut self, id: u32, _model: &Model, commands: &mut Commands, events: &mut Events) {
        let Command { seq, op, lba, n, .. } = commands[id];
        let waiting = Waiting { seq, op, lba, n, arrived: events.now, id, ..Waiting::default() };
        // background work goes on whenever the drive is asked, also for a command that has to wait
        self.front.submit(waiting, usize::MAX, commands, events, |_| ());
    }

    fn woken(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        let Flash { front, taken, buffer, .. } = self;
        front.woken(now);
        while let Some(waiting) =
            front.hand_over(model.intake.depth, now, commands, &NoArms, |w, free| model.intake.begin(w.op, now, free))
        {
            if waiting.ready > now {
                front.wake(waiting.ready, events);
            }
            taken.push_back(waiting);
        }
        let mut finish = |id: u32, served: Served, latency_ns| {
            let command = &mut commands[id];
            command.overhead += latency_ns;
            command.transfer = served.transfer;
            command.is_hit = served.is_hit;
            answer(id, served.done, commands, events);
        };
        buffer.advance(now, model);
        while let Some(&Waiting { id, op, lba, n, .. }) = taken.front().filter(|w| w.ready <= now) {
            taken.pop_front();
            if op == WRITE {
                buffer.write(now, id, lba, n, model, |id, served| finish(id, served, model.write_latency_ns));
            } else {
                finish(id, buffer.read(now, lba, n, model), model.read_latency_ns);
            }
        }
        buffer.settle(now, model, |id, served| finish(id, served, model.write_latency_ns));
        if let Some(change) = buffer.next_change() {
            front.wake(change, events);
        }
        front.counters.busy_ns = buffer.busy_ns() / model.n_dies() as i64;
    }

    fn n_buffered(&self) -> i64 {
        self.buffer.used_units() * self.sectors_per_unit
    }

    fn complete(&mut self, command: &Command, events: &mut Events) {
        self.front.complete(command);
        // a drive that has nothing to take and nothing going on in the background would do nothing
        if !self.front.waiting.is_empty() || !self.buffer.is_quiet() {
            self.front.wake(events.now, events);
        }
    }

    /// Dies are booked ahead: what is booked behind the end of the run is not busy time of the run.
    fn counters_until(&self, end: i64) -> Counters {
        let mut counters = self.front.counters;
        counters.busy_ns = counters.busy_ns.min(end);
        counters
    }
}

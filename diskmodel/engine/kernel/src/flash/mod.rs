//! One flash drive (rules F1 to F19); see `diskmodel/engine/reference/flash_disk.py`.

mod aging;
mod buffer;
mod collection;
mod dies;
mod ftl;
mod gate;
mod overlay;
mod places;
mod shared;
mod wire;

use std::collections::VecDeque;
use std::ops::Deref;

use crate::command::{Command, Commands};
use crate::device::{answer, waiting_of, Counters, Device, Front, Intake, NoArms, Shared};
use crate::divisor::Divisor;
use crate::events::Events;
use crate::mechanics::{READ, WRITE};
use crate::queue::{Policy, Waiting};
use crate::scenario::FlashTables;
use crate::units::NS_PER_S;
pub use aging::aged;
use buffer::{Buffer, Served};
use ftl::Ftl;
pub use ftl::{FtlTables, GcPolicy};
pub use places::FirstLayout;

/// What every flash drive of the array shares.
pub struct Model {
    pub tables: FlashTables,
    pub intake: Intake,
    pub sectors_per_unit: i64,
    pub units_per_page: i64,
    /// Transfer of a whole page over its channel.
    pub page_ns: i64,
    pub by_channel_rate: Divisor,
    pub by_interface_rate: Divisor,
    pub by_dies: Divisor,
    pub by_channels: Divisor,
    pub is_buffered: bool,
    /// Whether reads suspend programs and erases (rule F21).
    pub suspends: bool,
    pub room_units: i64,
}

impl Deref for Model {
    type Target = FlashTables;

    #[inline(always)]
    fn deref(&self) -> &FlashTables {
        &self.tables
    }
}

impl Model {
    pub fn n_dies(&self) -> usize {
        self.channels * self.dies_per_channel
    }

    /// Die of a page (rule F2): its number in order of programming, or -1 - p for page p as laid out at first.
    fn die_of(&self, page: i64) -> usize {
        let number = if page >= 0 { page } else { -1 - page };
        self.by_dies.split(number).1 as usize
    }

    fn channel_of(&self, die: usize) -> usize {
        self.by_channels.split(die as i64).1 as usize
    }

    fn channel_ns(&self, n_sectors: i64) -> i64 {
        self.by_channel_rate.of(n_sectors * self.sector_bytes * NS_PER_S)
    }

    fn interface_ns(&self, n_sectors: i64) -> i64 {
        self.by_interface_rate.of(n_sectors * self.sector_bytes * NS_PER_S)
    }
}

impl Shared for Model {
    fn sector_bytes(&self) -> i64 {
        self.sector_bytes
    }

    fn border(&self) -> i64 {
        self.n_sectors
    }

    fn depth(&self) -> usize {
        self.intake.depth
    }
}

pub struct Flash {
    front: Front,
    taken: VecDeque<Waiting>,
    buffer: Buffer,
    sectors_per_unit: i64,
    n_dies: i64,
    /// Reads that were served before they were ready: when they are, and how long the dies are busy with each.
    ahead: VecDeque<(i64, i64)>,
}

impl Flash {
    /// A drive whose flash is in the state of `ftl`, and its data as `first` lays them out.
    /// Its draws of delays begin at `draw`.
    pub fn new(index: u32, model: &Model, host: &Policy, ftl: Ftl, first: FirstLayout, draw: u32) -> Self {
        Flash {
            front: Front::new(index, host),
            taken: VecDeque::new(),
            buffer: Buffer::new(model, ftl, index, first, draw),
            sectors_per_unit: model.sectors_per_unit,
            n_dies: model.n_dies() as i64,
            ahead: VecDeque::new(),
        }
    }

    /// Writes of before the run, by first block and sectors: those that are programmed, and the rest (rule F18).
    pub fn load(&mut self, programmed: &[(i64, i64)], buffered: &[(i64, i64)], model: &Model) {
        self.buffer.load(programmed, buffered, model);
    }

    /// Whether nothing comes between now and when a read gets ready that the drive takes now: it processes commands in
    /// order and takes time for each, nothing else waits, and nothing goes on in the background.
    fn is_foreseen(&self, op: u8, model: &Model) -> bool {
        let is_in_order = model.intake.takes_time(READ) && model.intake.takes_time(WRITE);
        op == READ
            && is_in_order
            && self.front.takes_at_once(model.intake.depth)
            && self.taken.is_empty()
            && self.buffer.is_quiet()
    }

    /// Does now what the drive would do with a read when it gets ready: it saves two events.
    fn read_when_ready(&mut self, mut waiting: Waiting, model: &Model, commands: &mut Commands, events: &mut Events) {
        let (intake, now) = (&model.intake, events.now);
        self.front.take_at_once(&mut waiting, now, commands, |w, free| intake.begin(w.op, now, free));
        let Waiting { id, lba, n, ready, .. } = waiting;
        while self.ahead.front().is_some_and(|&(ready, _)| ready < now) {
            self.ahead.pop_front();
        }
        let busy = self.buffer.busy_ns();
        self.buffer.advance(ready, model);
        let served = self.buffer.read(ready, lba, n, model);
        self.ahead.push_back((ready, self.buffer.busy_ns() - busy));
        finish(id, served, commands, events);
    }
}

impl Flash {
    /// Flushes take their time beside everything else; there is one at a time (rule Y4).
    #[inline(never)]
    fn take_flushes(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        for at in 0..self.front.flushes.len() {
            let ready = self.front.process_flush(|free| model.intake.begin(WRITE, now, free));
            answer(self.front.flushes[at], ready + model.flush_ns + model.write_latency_ns, commands, events);
        }
        self.front.flushes.clear();
    }
}

/// Lets a command complete that was served so.
fn finish(id: u32, served: Served, commands: &mut Commands, events: &mut Events) {
    let command = &mut commands[id];
    command.overhead += served.latency;
    command.transfer = served.transfer;
    command.is_hit = served.is_hit;
    answer(id, served.done, commands, events);
}

impl Device for Flash {
    type Model = Model;

    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    fn submit(&mut self, id: u32, model: &Model, commands: &mut Commands, events: &mut Events) {
        let waiting = waiting_of(id, commands, events.now);
        if self.is_foreseen(waiting.op, model) {
            return self.read_when_ready(waiting, model, commands, events);
        }
        // background work goes on whenever the drive is asked, also for a command that has to wait
        self.front.submit(waiting, usize::MAX, commands, events, |_| ());
    }

    fn woken(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        let Flash { front, taken, .. } = self;
        front.woken();
        while let Some(waiting) =
            front.hand_over(model.intake.depth, now, commands, &NoArms, |w, free| model.intake.begin(w.op, now, free))
        {
            if waiting.ready > now {
                front.wake(waiting.ready, events);
            }
            taken.push_back(waiting);
        }
        if !self.front.flushes.is_empty() {
            self.take_flushes(model, commands, events);
        }
        let Flash { front, taken, buffer, .. } = self;
        let mut finish = |id, served| finish(id, served, commands, events);
        buffer.advance(now, model);
        while let Some(&Waiting { id, op, lba, n, .. }) = taken.front().filter(|w| w.ready <= now) {
            taken.pop_front();
            if op == WRITE {
                buffer.write(now, id, lba, n, model, &mut finish);
            } else {
                finish(id, buffer.read(now, lba, n, model));
            }
        }
        buffer.settle(now, model, &mut finish);
        if let Some(change) = buffer.next_change(model) {
            front.wake(change, events);
        }
    }

    fn n_buffered(&self) -> i64 {
        self.buffer.used_units() * self.sectors_per_unit
    }

    #[inline(always)]
    fn complete(&mut self, command: &Command, events: &mut Events) {
        self.front.complete(command);
        // a drive that has nothing to take and nothing going on in the background would do nothing
        if !self.front.is_idle() || !self.buffer.is_quiet() {
            self.front.wake(events.now, events);
        }
    }

    /// Dies are booked ahead: what is booked behind the end of the run is not busy time of the run.
    fn counters_until(&self, end: i64) -> Counters {
        let is_later = |&&(ready, _): &&(i64, i64)| ready >= end;
        let later: i64 = self.ahead.iter().filter(is_later).map(|&(_, busy)| busy).sum();
        let busy_ns = ((self.buffer.busy_ns() - later) / self.n_dies).min(end);
        let [n_units_written, n_units_programmed] = self.buffer.written();
        Counters { busy_ns, n_units_written, n_units_programmed, ..self.front.counters }
    }
}

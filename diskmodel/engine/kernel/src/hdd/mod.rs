//! One hard disk: its queue, its buffer, its arms (rules Q0, D1 to D9, C1 to C10); see `diskmodel/engine/{device,hdd}.py`.

mod actuator;
mod arms;
mod buffer;
mod cleaning;
mod draws;
mod electronics;
mod flushes;
mod read_ahead;
mod serve;
mod times;

use std::collections::VecDeque;

use crate::cache::Segments;
use crate::command::{Command, Commands};
use crate::device::{Counters, Device, Front, Shared};
use crate::dirty::DirtyBuffer;
use crate::events::Events;
use crate::mechanics::{Mechanics, Spindle, Target, READ, WRITE};
use crate::media_cache::MediaLog;
#[cfg(feature = "movements")]
use crate::movement::Movement;
use crate::queue::{Policy, Row, Waiting};
use actuator::Actuator;
use arms::{HostArms, OwnArm};
pub use cleaning::Logs;
pub use draws::Chances;
use draws::Draws;
pub use electronics::{Bus, Electronics};
use flushes::Flush;
use serve::Start;

pub struct Disk {
    front: Front,
    spindle: Spindle,
    actuators: Vec<Actuator>,
    segments: Segments,
    dirty: DirtyBuffer,
    /// Writes that wait until the buffer has room for them (rule C7).
    blocked: VecDeque<Waiting>,
    /// Flushes that are not ready, and when they are; and those that wait for writes (rule D10).
    taken_flushes: VecDeque<(u32, i64)>,
    waiting_flushes: Vec<Flush>,
    bus_free_ns: i64,
    draws: Draws,
    is_positional: bool,
    /// Writes from the buffer and commands take turns (rule C11).
    is_in_order: bool,
    /// One arm without a media cache.
    is_plain: bool,
    /// One arm, nothing ready at once, and no queue above it that looks at the arm before that is where it is going.
    is_foreseeable: bool,
    candidates: Row,
    /// What the arm did, where that is recorded.
    #[cfg(feature = "movements")]
    movements: Option<Vec<Movement>>,
}

/// What every disk of the array shares.
pub struct Model {
    pub mechanics: Mechanics,
    pub electronics: Electronics,
    pub chances: Chances,
    pub has_draws: bool,
    /// The mechanics of accesses that read in order, where others do not.
    pub in_order: Option<Box<Mechanics>>,
}

impl Disk {
    pub fn new(index: u32, model: &Model, spindle: Spindle, (host, own): (&Policy, &Policy), first_draw: u32) -> Self {
        let e = &model.electronics;
        let actuators = (0..e.actuators).map(|i| {
            let first_lba = i * e.n_sectors_per_actuator;
            let n_sectors = e.n_sectors_per_actuator.min(e.n_sectors - first_lba);
            let media = e.media_cache.as_ref().map(|tables| Box::new(MediaLog::new(tables, n_sectors)));
            Actuator::new(first_lba, own.clone(), media)
        });
        let longest = if e.destages_in_order { 0 } else { e.segment_sectors };
        Disk {
            front: Front::new(index, host),
            spindle,
            actuators: actuators.collect(),
            segments: Segments::new(e.cache_segments as usize, e.segment_sectors),
            dirty: DirtyBuffer::new(e.dirty_sectors, longest, e.n_sectors_per_actuator, e.write_room_sectors),
            blocked: VecDeque::new(),
            taken_flushes: VecDeque::new(),
            waiting_flushes: Vec::new(),
            bus_free_ns: 0,
            draws: Draws::new(first_draw, index),
            is_plain: e.actuators == 1 && e.media_cache.is_none(),
            is_positional: host.is_positional() || own.is_positional(),
            is_in_order: e.destages_in_order,
            is_foreseeable: e.actuators == 1
                && e.media_cache.is_none()
                && e.intake.takes_time(READ)
                && e.intake.takes_time(WRITE)
                && (!host.is_positional() || e.intake.depth == 1),
            candidates: Row::default(),
            #[cfg(feature = "movements")]
            movements: None,
        }
    }

    #[inline(always)]
    fn waiting(&self, id: u32, arrived: i64, model: &Model, commands: &Commands) -> Waiting {
        let Command { seq, op, lba, n, .. } = commands[id];
        let per_actuator = model.electronics.n_sectors_per_actuator;
        let actuator = if lba >= per_actuator { (lba / per_actuator) as u16 } else { 0 };
        let target = if self.is_positional {
            model.mechanics.target(lba - self.actuators[usize::from(actuator)].first_lba, &self.spindle)
        } else {
            Target::default()
        };
        Waiting { seq, op, lba, n, arrived, ready: 0, id, actuator, target }
    }

    /// Writes that the buffer holds when the run begins: number, first block, sectors (rule Z5). `room` is what writes of
    /// these numbers take, where that is more than they are long.
    pub fn load(&mut self, writes: &[(u64, i64, i64)], room: &[i64], model: &Model) {
        let per_actuator = model.electronics.n_sectors_per_actuator;
        let in_place = |lba, n| self.is_known_run(lba, n, per_actuator);
        let in_place: Vec<_> = writes.iter().map(|&(_, lba, n)| in_place(lba, n)).collect();
        let room: Vec<_> = writes.iter().map(|&(seq, _, n)| room.get(seq as usize).copied().unwrap_or(n)).collect();
        self.dirty.load(writes, &in_place, &room);
    }

    fn hand_over(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        if self.front.is_idle() {
            return;
        }
        let (intake, now) = (&model.electronics.intake, events.now);
        let angle = self.angle(now);
        loop {
            let Disk { front, actuators, spindle, .. } = self;
            let arms = HostArms { model, actuators, spindle, angle };
            let next = front.hand_over(intake.depth, now, commands, &arms, |w, free| intake.begin(w.op, now, free));
            let Some(mut waiting) = next else { return };
            if front.is_of_pool() && self.is_positional {
                waiting.target = target(&waiting, actuators, spindle, model);
            }
            self.take_in(&mut waiting, model, commands, events);
        }
    }

    /// A command that the drive has taken: it goes to its arm, and the disk looks again when something can become of it.
    #[inline(always)]
    fn take_in(&mut self, waiting: &mut Waiting, model: &Model, commands: &mut Commands, events: &mut Events) {
        note_data(waiting, model, commands);
        if self.is_foreseen(waiting, commands, events.now) {
            self.serve_when_ready(waiting, model, commands, events);
        } else {
            self.line_up(waiting, model, events);
        }
    }

    /// The one arm does what it can do now; the disk looks again when the arm is free.
    #[inline(always)]
    fn work_on(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        if !self.actuators[0].accepted.is_empty() {
            self.examine(0, model, commands, events);
        }
        if !self.taken_flushes.is_empty() {
            self.begin_flushes(model, commands, events);
        }
        while self.actuators[0].free_ns <= now && self.serve_one(0, model, commands, events) {}
        let Disk { front, actuators, dirty, .. } = self;
        let actuator = &actuators[0];
        let has_work = || !actuator.accepted.is_empty() || !actuator.ready.is_empty() || !dirty.is_empty();
        if actuator.free_ns > now && has_work() {
            front.wake(actuator.free_ns, events);
        }
    }

    /// Puts a command in line for its arm.
    fn line_up(&mut self, waiting: &mut Waiting, model: &Model, events: &mut Events) {
        let Disk { front, actuators, segments, dirty, blocked, .. } = self;
        let actuator = &mut actuators[waiting.actuator as usize];
        let Waiting { op, lba, n, ready, .. } = *waiting;
        // while the arm is busy only writes change its segments, and only writes that the buffer takes are dirty
        let is_busy = !actuator.is_held && actuator.free_ns > ready;
        let may_be_served = || {
            if op == WRITE {
                return dirty.capacity > 0 || model.electronics.changes_segments();
            }
            segments.covers(lba, n).is_some()
                || model.electronics.keeps_writes && !actuator.accepted.is_empty()
                || dirty.capacity > 0 && (!actuator.accepted.is_empty() || !blocked.is_empty() || dirty.covers(lba, n))
        };
        if !is_busy || actuator.media.is_some() || may_be_served() {
            actuator.accepted.push_back(*waiting);
            if ready > events.now {
                front.wake(ready, events);
            }
            return;
        }
        if actuator.accepted.is_empty() && (op == READ || !segments.touches(lba, n)) {
            waiting.ready = segments.growth + dirty.growth;
            actuator.enter(*waiting, model.electronics.weighed_commands);
        } else {
            actuator.accepted.push_back(*waiting);
        }
        front.wake(actuator.free_ns, events);
    }

    /// Whether nothing but this command is in an idle drive, so that nothing can come before it: the drive processes
    /// commands in order, and takes time for each.
    #[inline]
    fn is_foreseen(&self, waiting: &Waiting, commands: &Commands, now: i64) -> bool {
        let is_buffered = waiting.op == WRITE && self.dirty.capacity > 0;
        let has_dirty = !self.dirty.is_empty() || !self.blocked.is_empty();
        self.is_foreseeable
            && self.actuators[0].is_idle(now)
            && !(is_buffered || has_dirty || commands[waiting.id].holds)
    }

    /// Does now what the disk would do with a command when it gets ready: it saves an event.
    #[inline]
    fn serve_when_ready(&mut self, waiting: &Waiting, model: &Model, commands: &mut Commands, events: &mut Events) {
        let &Waiting { id, op, lba, n, ready: at, target, .. } = waiting;
        if op == WRITE {
            self.replace_segments(lba, n, model);
        } else if self.is_hit(0, model, lba, n, at) {
            return self.serve_from_buffer(id, at, model, commands, events);
        }
        self.follow_stream(0, model, at);
        let angle = self.angle(at);
        let Actuator { scheduler, arm, served_end, .. } = &mut self.actuators[0];
        let arms = OwnArm { model, arm: *arm, spindle: &self.spindle, angle };
        scheduler.choose_only(waiting, *served_end, at, &arms);
        let target = self.is_positional.then_some(target);
        self.serve(
            0,
            id,
            Start { at, target, is_follower: false, data_at: 0, in_place: false },
            model,
            commands,
            events,
        );
    }
}

/// Where a command begins.
fn target(waiting: &Waiting, actuators: &[Actuator], spindle: &Spindle, model: &Model) -> Target {
    let first_lba = actuators[waiting.actuator as usize].first_lba;
    model.mechanics.target(waiting.lba - first_lba, spindle)
}

/// A command that the drive has taken: enough of a write's data has come so long after it gets ready (rule D9).
fn note_data(waiting: &Waiting, model: &Model, commands: &mut Commands) {
    if waiting.op == WRITE {
        commands[waiting.id].data_at = model.electronics.data_ns(waiting.n, waiting.ready);
    }
}

impl Shared for Model {
    fn sector_bytes(&self) -> i64 {
        self.electronics.sector_bytes
    }

    fn border(&self) -> i64 {
        self.electronics.n_sectors_per_actuator
    }

    fn depth(&self) -> usize {
        self.electronics.intake.depth
    }
}

impl Device for Disk {
    type Model = Model;

    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    fn submit(&mut self, id: u32, model: &Model, commands: &mut Commands, events: &mut Events) {
        let (intake, now) = (&model.electronics.intake, events.now);
        let mut waiting = self.waiting(id, now, model, commands);
        if self.front.takes_at_once(intake.depth) && intake.takes_time(waiting.op) {
            self.front.take_at_once(&mut waiting, now, commands, |w, free| intake.begin(w.op, now, free));
            return self.take_in(&mut waiting, model, commands, events);
        }
        let Disk { front, actuators, spindle, is_positional, .. } = self;
        front.submit(waiting, intake.depth, commands, events, |joined| {
            if *is_positional {
                joined.target = target(joined, actuators, spindle, model);
            }
        });
    }

    fn follow(&mut self, id: u32, model: &Model, commands: &mut Commands, events: &mut Events) {
        let mut waiting = self.waiting(id, events.now, model, commands);
        self.front.pending += 1;
        let (intake, now) = (&model.electronics.intake, events.now);
        self.front.accept(&mut waiting, now, commands, |w, free| intake.begin(w.op, now, free));
        note_data(&waiting, model, commands);
        if waiting.ready > now {
            self.front.wake(waiting.ready, events);
        }
        let actuator = &mut self.actuators[waiting.actuator as usize];
        actuator.follower = Some(id);
        actuator.accepted.push_back(waiting);
        self.front.wake(events.now, events);
    }

    fn woken(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        self.front.woken();
        self.hand_over(model, commands, events);
        if !self.front.flushes.is_empty() {
            self.take_flushes(model, events);
        }
        self.admit(model, commands, events);
        if self.is_plain {
            return self.work_on(model, commands, events);
        }
        for i in 0..self.actuators.len() {
            self.examine(i, model, commands, events);
        }
        self.begin_flushes(model, commands, events);
        for i in 0..self.actuators.len() {
            while self.actuators[i].free_ns <= now && self.serve_one(i, model, commands, events) {}
        }
        // whoever finds the arm busy sees to it that the disk looks again when it is free
        for i in 0..self.actuators.len() {
            let actuator = &self.actuators[i];
            let has_work = !actuator.accepted.is_empty() || !actuator.ready.is_empty() || !self.dirty.is_empty();
            if has_work && actuator.free_ns > now {
                self.front.wake(actuator.free_ns, events);
            }
            if actuator.media.is_some() {
                self.rest(i, model, events);
            }
        }
    }

    fn destaged(&mut self, n: u32, events: &mut Events) {
        let turn = self.dirty.landed(i64::from(n), events.now);
        self.wrote(turn, false, events);
        self.front.wake(events.now, events);
    }

    fn n_buffered(&self) -> i64 {
        let in_logs = self.actuators.iter().filter_map(|actuator| actuator.media.as_ref()).map(|media| media.used());
        self.dirty.used() + in_logs.sum::<i64>()
    }

    #[cfg(feature = "movements")]
    fn record(&mut self) {
        // what begins behind the end of the run is not a movement of it
        self.is_foreseeable = false;
        self.movements = Some(Vec::new());
    }

    #[cfg(feature = "movements")]
    fn movements(&self) -> &[Movement] {
        self.movements.as_deref().unwrap_or_default()
    }

    fn is_durable(&self, seq: u64) -> bool {
        self.dirty.is_durable(seq)
    }

    #[inline(always)]
    fn complete(&mut self, command: &Command, events: &mut Events) {
        if command.number > 0 {
            self.dirty.passed_by();
            self.wrote(command.number, true, events);
        }
        self.front.complete(command);
        if !self.front.is_idle() {
            self.front.wake(events.now, events);
        }
    }

    /// An access that the run did not see the end of counts for its part, a held arm to the end, and two arms half.
    fn counters_until(&self, end: i64) -> Counters {
        let begin = |a: &Actuator| end.max(a.begun_ns);
        let late = |a: &Actuator| if a.is_held { a.free_ns - end } else { (a.free_ns - begin(a)).max(0) };
        let late: i64 = self.actuators.iter().map(late).sum();
        let mut counters = self.front.counters;
        counters.busy_ns = (counters.busy_ns - late) / self.actuators.len() as i64;
        counters
    }
}

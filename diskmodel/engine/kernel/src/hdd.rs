//! One hard disk: its queue, its buffer, its arms (rules Q0, D1 to D8, C1 to C9); see `diskmodel/engine/{device,hdd}.py`.

mod arms;
mod read_ahead;

use std::collections::VecDeque;

use crate::cache::{Dirty, DirtyBuffer, Segments};
use crate::command::{Command, Commands};
use crate::device::{Counters, Device, Front, Intake, Shared};
use crate::events::{Action, Events, COMPLETE};
use crate::faults::{planted, Fault};
use crate::mechanics::{Access, Arm, Extent, Mechanics, Spindle, READ, WRITE};
use crate::queue::{Edge, Policy, Pool, Target, Waiting};
use arms::{HostArms, OwnArm};
use read_ahead::Stream;

const NS_PER_S: i64 = 1_000_000_000;

/// Electronics and buffer of a drive, the same for every disk of an array.
#[derive(Clone, Debug)]
pub struct Electronics {
    pub sector_bytes: i64,
    pub n_sectors: i64,
    pub n_sectors_per_actuator: i64,
    pub actuators: i64,
    pub completion_overhead_ns: i64,
    pub interface_bytes_per_s: i64,
    pub cache_segments: i64,
    pub segment_sectors: i64,
    pub read_ahead_sectors: i64,
    pub dirty_sectors: i64,
    pub weighed_commands: usize,
    pub weighed_writes: usize,
    pub intake: Intake,
}

impl Electronics {
    fn bus_ns(&self, n: i64) -> i64 {
        n * self.sector_bytes * NS_PER_S / self.interface_bytes_per_s
    }

    /// Where read-ahead behind a read that ends at `end` stops (rule C3).
    fn stream_limit(&self, first_lba: i64, end: i64) -> i64 {
        let last = (first_lba + self.n_sectors_per_actuator).min(self.n_sectors);
        (end + self.read_ahead_sectors + i64::from(planted(Fault::ReadAheadLimit))).min(last)
    }
}

struct Actuator {
    scheduler: Policy,
    first_lba: i64,
    arm: Arm,
    free_ns: i64,
    served_end: i64,
    /// Commands that the drive processes, in the order in which they become ready; then those that wait for the arm.
    accepted: VecDeque<Waiting>,
    ready: Pool,
    /// Those that are not weighed yet, because others came before them (rule D3).
    beyond: VecDeque<Waiting>,
    stream: Option<Stream>,
    /// Kept for a write since `free_ns`, and that write when it has come (rule L12).
    is_held: bool,
    follower: Option<u32>,
    is_follower_ready: bool,
}

impl Actuator {
    /// Fills up what the scheduler chooses among.
    fn weigh(&mut self, most: usize) {
        while self.ready.len() < most {
            let Some(waiting) = self.beyond.pop_front() else { return };
            self.ready.push(waiting, &self.scheduler);
        }
    }

    /// The arm is no longer held; tells for how long it was.
    fn release(&mut self, now: i64) -> i64 {
        let held = now - self.free_ns;
        self.free_ns = now;
        self.is_held = false;
        self.follower = None;
        self.is_follower_ready = false;
        held - i64::from(planted(Fault::HeldBusy))
    }
}

pub struct Disk {
    front: Front,
    spindle: Spindle,
    actuators: Vec<Actuator>,
    segments: Segments,
    dirty: DirtyBuffer,
    bus_free_ns: i64,
    is_positional: bool,
    candidates: Vec<Waiting>,
}

/// Owner of a candidate that is no command but dirty data.
const DIRTY: u32 = u32::MAX;

/// What every disk of the array shares.
pub struct Model {
    pub mechanics: Mechanics,
    pub electronics: Electronics,
}

impl Disk {
    pub fn new(index: u32, model: &Model, spindle: Spindle, host: &Policy, own: &Policy) -> Self {
        let e = &model.electronics;
        let actuators = (0..e.actuators)
            .map(|i| Actuator {
                scheduler: own.clone(),
                first_lba: i * e.n_sectors_per_actuator,
                arm: Arm::default(),
                free_ns: 0,
                served_end: i * e.n_sectors_per_actuator,
                accepted: VecDeque::new(),
                ready: Pool::default(),
                beyond: VecDeque::new(),
                stream: None,
                is_held: false,
                follower: None,
                is_follower_ready: false,
            })
            .collect();
        Disk {
            front: Front::new(index, host),
            spindle,
            actuators,
            segments: Segments::new(e.cache_segments as usize, e.segment_sectors),
            dirty: DirtyBuffer {
                capacity: e.dirty_sectors,
                longest: e.segment_sectors,
                border: e.n_sectors_per_actuator,
                ..DirtyBuffer::default()
            },
            bus_free_ns: 0,
            is_positional: host.is_positional() || own.is_positional(),
            candidates: Vec::new(),
        }
    }

    fn waiting(&self, id: u32, arrived: i64, model: &Model, commands: &Commands) -> Waiting {
        let Command { seq, op, lba, n, .. } = commands[id];
        let per_actuator = model.electronics.n_sectors_per_actuator;
        let mut waiting = Waiting { seq, op, lba, n, arrived, id, ..Waiting::default() };
        if lba >= per_actuator {
            waiting.actuator = (lba / per_actuator) as u16;
        }
        if self.is_positional {
            waiting.target = self.target(&waiting, model);
        }
        waiting
    }

    fn target(&self, waiting: &Waiting, model: &Model) -> Target {
        let place = model.mechanics.place(waiting.lba - self.actuators[waiting.actuator as usize].first_lba);
        let angle = model.mechanics.angle_ns(&place, &self.spindle);
        Target { cylinder: place.cylinder as u32, head: place.head as u32, angle }
    }

    fn hand_over(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let Disk { front, actuators, spindle, is_positional, .. } = self;
        let (intake, now) = (&model.electronics.intake, events.now);
        let angle = if *is_positional { spindle.angle(now) } else { 0 };
        while let Some(waiting) = front.hand_over(
            intake.depth,
            commands,
            events,
            &HostArms { model, actuators: &*actuators, spindle, angle },
            |w, free| intake.begin(w.op, now, free),
        ) {
            actuators[waiting.actuator as usize].accepted.push_back(waiting);
        }
    }

    /// Commands that have just become ready: hits and buffered writes need no arm (rules C2, C6, C7).
    fn examine(&mut self, i: usize, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        while self.actuators[i].accepted.front().is_some_and(|w| w.ready <= now) {
            let Some(mut waiting) = self.actuators[i].accepted.pop_front() else { return };
            let Waiting { id, op, lba, n, seq, .. } = waiting;
            let from_buffer = if op == WRITE {
                self.segments.drop_range(lba, n);
                self.dirty.accept(seq, lba, n, now)
            } else {
                self.is_hit(i, model, lba, n, now)
            };
            waiting.ready = self.buffer_growth();
            let actuator = &mut self.actuators[i];
            let is_follower = actuator.follower == Some(id);
            if from_buffer {
                if is_follower {
                    self.front.counters.busy_ns += actuator.release(now);
                }
                self.serve_from_buffer(id, model, commands, events);
            } else if is_follower {
                actuator.is_follower_ready = true;
            } else {
                let is_weighed = actuator.ready.len() < model.electronics.weighed_commands;
                if is_weighed && actuator.beyond.is_empty() {
                    actuator.ready.push(waiting, &actuator.scheduler);
                } else {
                    actuator.beyond.push_back(waiting);
                }
            }
        }
    }

    fn buffer_growth(&self) -> i64 {
        self.segments.growth + self.dirty.growth
    }

    fn is_hit(&mut self, i: usize, model: &Model, lba: i64, n: i64, now: i64) -> bool {
        if self.dirty.covers(lba, n) {
            return true;
        }
        self.follow_stream(i, model, now);
        match self.segments.covers(lba, n) {
            Some(id) => {
                self.segments.touch(id);
                self.prolong_stream(i, lba, lba + n, model, now);
                true
            }
            None => false,
        }
    }

    fn serve_from_buffer(&mut self, id: u32, model: &Model, commands: &mut Commands, events: &mut Events) {
        let e = &model.electronics;
        let command = &mut commands[id];
        let bus = e.bus_ns(command.n);
        self.bus_free_ns = events.now.max(self.bus_free_ns) + bus;
        command.is_hit = true;
        command.transfer = bus;
        command.overhead += e.completion_overhead_ns;
        command.done = self.bus_free_ns + e.completion_overhead_ns;
        events.at(command.done, COMPLETE, self.front.index, command.seq, Action::CommandDone(id));
    }

    /// Start the next access of a free arm; false when there is none.
    fn serve_one(&mut self, i: usize, model: &Model, commands: &mut Commands, events: &mut Events) -> bool {
        let now = events.now;
        if self.actuators[i].is_held {
            return self.serve_follower(i, model, commands, events);
        }
        let has_ready = !self.actuators[i].ready.is_empty();
        let with_dirty = !self.dirty.waiting.is_empty() && (!has_ready || self.dirty.is_pressing());
        if !has_ready && !with_dirty {
            return false;
        }
        let chosen = self.choose_ready(i, with_dirty, model, now);
        let Some(Waiting { id, op, lba, n, seq, ready: missed_at, .. }) = chosen else { return false };
        if id == DIRTY {
            self.destage(i, seq, lba, n, model, events);
            return true;
        }
        // what the buffer did not hold when it was last looked for can only be there if the buffer has grown
        let may_hit = op == READ && missed_at < self.buffer_growth();
        if may_hit && self.is_hit(i, model, lba, n, now) {
            self.serve_from_buffer(id, model, commands, events);
            return true;
        }
        self.serve(i, id, false, model, commands, events);
        true
    }

    /// Serves the write that the arm is held for; false when it is not ready.
    fn serve_follower(&mut self, i: usize, model: &Model, commands: &mut Commands, events: &mut Events) -> bool {
        let actuator = &mut self.actuators[i];
        let Some(id) = actuator.follower else { return false };
        if !actuator.is_follower_ready {
            return false;
        }
        self.front.counters.busy_ns += actuator.release(events.now);
        self.serve(i, id, true, model, commands, events);
        true
    }

    /// Starts the media access of a command.
    fn serve(
        &mut self,
        i: usize,
        id: u32,
        is_follower: bool,
        model: &Model,
        commands: &mut Commands,
        events: &mut Events,
    ) {
        let now = events.now;
        let Command { seq, op, lba, n, holds, .. } = commands[id];
        let access = self.access(i, Extent { op, lba, n }, is_follower, model, events);
        self.actuators[i].is_held = holds;
        let e = &model.electronics;
        let mut done = access.end;
        if op == READ {
            done =
                (access.end + e.bus_ns(1 - i64::from(planted(Fault::LastSector)))).max(access.first_end + e.bus_ns(n));
            self.start_stream(i, lba, n, &access, model);
            if holds {
                self.actuators[i].stream = None;
            }
        }
        let command = &mut commands[id];
        command.seek = access.seek;
        command.rotation = access.rotation;
        command.transfer = done - now - access.seek - access.rotation;
        command.overhead += e.completion_overhead_ns;
        command.done = done + e.completion_overhead_ns;
        events.at(command.done, COMPLETE, self.front.index, seq, Action::CommandDone(id));
    }

    fn choose_ready(&mut self, i: usize, with_dirty: bool, model: &Model, now: i64) -> Option<Waiting> {
        if !with_dirty {
            self.follow_stream(i, model, now);
            let angle = self.angle(now);
            let Actuator { scheduler, ready, arm, served_end, .. } = &mut self.actuators[i];
            let arms = OwnArm { model, arm: *arm, spindle: &self.spindle, angle };
            let chosen = ready.take(scheduler, *served_end, now, &arms);
            self.actuators[i].weigh(model.electronics.weighed_commands);
            return chosen;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend(self.actuators[i].ready.list().iter());
        let n_ready = candidates.len();
        let most = n_ready + model.electronics.weighed_writes + usize::from(planted(Fault::WeighedWrites));
        for &Dirty { seq, lba, n, arrived } in &self.dirty.waiting {
            if candidates.len() == most {
                break;
            }
            let actuator = (lba / model.electronics.n_sectors_per_actuator) as u16;
            if actuator as usize == i {
                let mut entry = Waiting { seq, op: WRITE, lba, n, arrived, id: DIRTY, actuator, ..Waiting::default() };
                if self.is_positional {
                    entry.target = self.target(&entry, model);
                }
                candidates.push(entry);
            }
        }
        if planted(Fault::DestageOrder) {
            candidates[n_ready..].reverse();
        }
        let mut chosen = None;
        if !candidates.is_empty() {
            self.follow_stream(i, model, now);
            let angle = self.angle(now);
            let Actuator { scheduler, ready, arm, served_end, .. } = &mut self.actuators[i];
            let arms = OwnArm { model, arm: *arm, spindle: &self.spindle, angle };
            let at = scheduler.choose(&candidates, *served_end, now, &arms);
            chosen = candidates.get(at).copied();
            if at < n_ready {
                ready.list().remove(at);
                self.actuators[i].weigh(model.electronics.weighed_commands);
            }
        }
        self.candidates = candidates;
        chosen
    }

    fn angle(&self, now: i64) -> i64 {
        if self.is_positional {
            self.spindle.angle(now)
        } else {
            0
        }
    }

    fn access(&mut self, i: usize, wanted: Extent, is_follower: bool, model: &Model, events: &mut Events) -> Access {
        let now = events.now;
        let Extent { op, lba, n } = wanted;
        let first = self.actuators[i].first_lba;
        let access = if op == READ && self.is_on_stream(i, lba, lba + n) {
            self.continue_stream(i, lba + n, model, now)
        } else {
            let stays = is_follower && !planted(Fault::HeldTravel);
            let extra = if stays { 0 } else { self.travel_to_edge(i, model) };
            model.mechanics.access(self.actuators[i].arm, &self.spindle, Extent { op, lba: lba - first, n }, now, extra)
        };
        let actuator = &mut self.actuators[i];
        actuator.arm = access.arm;
        actuator.free_ns = access.end;
        actuator.served_end = lba + n;
        actuator.stream = None;
        self.front.counters.busy_ns += access.end - now;
        access
    }

    fn travel_to_edge(&mut self, i: usize, model: &Model) -> i64 {
        let actuator = &mut self.actuators[i];
        let (edge, swept) = actuator.scheduler.edge();
        if edge == Edge::None {
            return 0;
        }
        let seek = &model.mechanics.seek_ns;
        let last = seek.len() as i64 - 1;
        let mut to = if swept > 0 { last - i64::from(planted(Fault::SweepEdge)) } else { 0 };
        let mut travel = i64::from(seek[(to - actuator.arm.cylinder).unsigned_abs() as usize]);
        if edge == Edge::Wrap {
            travel += i64::from(seek[last as usize]);
            to = 0;
        }
        actuator.arm.cylinder = to;
        travel
    }

    fn destage(&mut self, i: usize, seq: u64, lba: i64, n: i64, model: &Model, events: &mut Events) {
        self.dirty.waiting.retain(|e| e.seq != seq);
        let access = self.access(i, Extent { op: WRITE, lba, n }, false, model, events);
        self.dirty.landing.push((seq, access.end));
        events.at(access.end, COMPLETE, self.front.index, seq, Action::Destaged(self.front.index, n));
    }
}

impl Shared for Model {
    fn sector_bytes(&self) -> i64 {
        self.electronics.sector_bytes
    }

    fn border(&self) -> i64 {
        self.electronics.n_sectors_per_actuator
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
        let waiting = self.waiting(id, events.now, model, commands);
        if let (Some(at), true) = (self.front.submit(waiting, commands, events), self.is_positional) {
            let joined = self.front.waiting.list()[at];
            self.front.waiting.list()[at].target = self.target(&joined, model);
        }
    }

    fn follow(&mut self, id: u32, model: &Model, commands: &mut Commands, events: &mut Events) {
        let waiting = self.waiting(id, events.now, model, commands);
        self.front.pending += 1;
        let (intake, now) = (&model.electronics.intake, events.now);
        let waiting = self.front.accept(waiting, commands, events, |w, free| intake.begin(w.op, now, free));
        let actuator = &mut self.actuators[waiting.actuator as usize];
        actuator.follower = Some(id);
        actuator.accepted.push_back(waiting);
        self.front.wake(events.now, events);
    }

    fn woken(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        self.front.woken(now);
        self.hand_over(model, commands, events);
        for i in 0..self.actuators.len() {
            self.examine(i, model, commands, events);
        }
        for i in 0..self.actuators.len() {
            while self.actuators[i].free_ns <= now && self.serve_one(i, model, commands, events) {}
        }
        // whoever finds the arm busy sees to it that the disk looks again when it is free
        for i in 0..self.actuators.len() {
            let actuator = &self.actuators[i];
            let has_work =
                !actuator.accepted.is_empty() || !actuator.ready.is_empty() || !self.dirty.waiting.is_empty();
            if has_work && actuator.free_ns > now {
                self.front.wake(actuator.free_ns, events);
            }
        }
    }

    fn destaged(&mut self, n: i64, events: &mut Events) {
        self.dirty.used -= n;
        let now = events.now;
        self.dirty.landing.retain(|&(_, end)| end > now);
        self.front.wake(now, events);
    }

    fn is_durable(&self, seq: u64) -> bool {
        self.dirty.waiting.iter().all(|e| e.seq >= seq) && self.dirty.landing.iter().all(|&(s, _)| s >= seq)
    }

    fn complete(&mut self, command: &Command, events: &mut Events) {
        self.front.complete(command);
        if !self.front.waiting.is_empty() {
            self.front.wake(events.now, events);
        }
    }

    /// An access that the run did not see the end of counts for its part, a held arm to the end, and two arms half.
    fn counters_until(&self, end: i64) -> Counters {
        let late = |a: &Actuator| if a.is_held { a.free_ns - end } else { (a.free_ns - end).max(0) };
        let late: i64 = self.actuators.iter().map(late).sum();
        let mut counters = self.front.counters;
        counters.busy_ns = (counters.busy_ns - late) / self.actuators.len() as i64;
        counters
    }
}

//! What a free arm does next: a command, the write that it is held for, or dirty data (rules D1 to D9, C8, C9, L12).

use super::actuator::Actuator;
use super::arms::OwnArm;
use super::draws::AccessDraw;
use super::{target, Disk, Model};
use crate::command::{Command, Commands};
use crate::dirty::Dirty;
use crate::events::{Action, Events, COMPLETE};
use crate::mechanics::{Access, Arm, Extent, Mechanics, Spindle, Target, READ, WRITE};
#[cfg(feature = "movements")]
use crate::movement::Movement;
use crate::queue::{Edge, Waiting};

/// Owner of a candidate that is no command but dirty data.
pub(super) const DIRTY: u32 = u32::MAX;

/// How an access of an arm begins.
#[derive(Clone, Copy)]
pub(super) struct Start {
    /// When; ahead of now where nothing can come before.
    pub at: i64,
    /// Where its first block lies, if that is known.
    pub target: Option<Target>,
    /// It is the write that the arm is held for.
    pub is_follower: bool,
    /// When enough of a write's data has come (rule D9).
    pub data_at: i64,
    /// A write that does not go to the media cache (rule G2).
    pub in_place: bool,
}

/// A write that waits in the buffer of arm `i`, as a scheduler looks at it.
pub(super) fn candidate(
    i: usize,
    entry: &Dirty,
    is_positional: bool,
    actuators: &[Actuator],
    spindle: &Spindle,
    model: &Model,
) -> Waiting {
    let &Dirty { seq, lba, n, arrived, .. } = entry;
    let mut waiting = Waiting { seq, op: WRITE, lba, n, arrived, id: DIRTY, actuator: i as u16, ..Waiting::default() };
    if is_positional {
        waiting.target = target(&waiting, actuators, spindle, model);
    }
    waiting
}

impl Disk {
    /// Start the next access of a free arm; false when there is none.
    pub(super) fn serve_one(&mut self, i: usize, model: &Model, commands: &mut Commands, events: &mut Events) -> bool {
        let now = events.now;
        if self.actuators[i].is_held {
            return self.serve_follower(i, model, commands, events);
        }
        let in_turn = if self.has_turns() { self.choose_in_turn(i, model, now, commands) } else { None };
        let chosen = in_turn.unwrap_or_else(|| self.choose_one(i, model, now));
        let Some(chosen) = chosen else { return false };
        self.serve_chosen(i, chosen, model, commands, events);
        true
    }

    /// What a free arm does next where no flush waits and nothing has turns.
    #[inline(always)]
    fn choose_one(&mut self, i: usize, model: &Model, now: i64) -> Option<Waiting> {
        let has_ready = !self.actuators[i].ready.is_empty();
        let is_much = || 2 * self.dirty.n_waiting(i) > model.electronics.weighed_writes;
        let is_pressing = || is_much() || self.dirty.is_pressing();
        let with_dirty = !self.dirty.is_empty() && (!has_ready || is_pressing() || !self.blocked.is_empty());
        if !has_ready && !with_dirty {
            return None;
        }
        if model.electronics.overdue_ns > 0 && !self.is_in_order {
            if let Some(overdue) = self.take_overdue(i, model, now) {
                return Some(overdue);
            }
        }
        if has_ready && self.is_on_long_stream(i) && !self.is_in_order && self.actuators[i].scheduler.is_positional() {
            if let Some(next) = self.take_from_stream(i, model, now) {
                return Some(next);
            }
        }
        self.choose_ready(i, with_dirty, model, now)
    }

    /// What has waited for too long and is taken before all else (rule D12).
    #[inline(never)]
    fn take_overdue(&mut self, i: usize, model: &Model, now: i64) -> Option<Waiting> {
        let longest = model.electronics.overdue_ns;
        let n_waiting = self.actuators[i].ready.len() + self.dirty.n_waiting(i);
        if now < self.actuators[i].may_give_way_ns || n_waiting < 2 {
            return None;
        }
        let is_overdue = |waiting: &&Waiting| now - waiting.arrived >= longest;
        let command = self.actuators[i].ready.list().commands().first().filter(is_overdue).copied();
        let mut overdue = command;
        let is_older = |w: &&Waiting| command.is_none_or(|command| w.arrived < command.arrived);
        if self.blocked.front().filter(is_overdue).filter(is_older).is_some() {
            let Disk { dirty, actuators, spindle, is_positional, .. } = self;
            let as_waiting = |entry: &Dirty| candidate(i, entry, *is_positional, actuators, spindle, model);
            let oldest = dirty.first(i, model.electronics.weighed_writes, as_waiting).commands().first();
            overdue = oldest.copied().or(command);
        }
        let chosen = overdue?;
        self.follow_stream(i, model, now);
        let angle = self.angle(now);
        let Actuator { scheduler, ready, arm, served_end, may_give_way_ns, .. } = &mut self.actuators[i];
        *may_give_way_ns = now + longest / 8;
        if chosen.id != DIRTY {
            ready.list().remove(0);
        }
        let arms = OwnArm { model, arm: *arm, spindle: &self.spindle, angle };
        scheduler.choose_only(&chosen, *served_end, now, &arms);
        self.actuators[i].weigh(model.electronics.weighed_commands);
        Some(chosen)
    }

    /// Starts what was chosen.
    #[inline(always)]
    fn serve_chosen(&mut self, i: usize, chosen: Waiting, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        let Waiting { id, op, lba, n, ready: missed_at, .. } = chosen;
        if id == DIRTY {
            return self.destage(i, &chosen, model, events);
        }
        // what the buffer did not hold when it was last looked for can only be there if the buffer has grown
        let may_hit = op == READ && missed_at < self.buffer_growth();
        if may_hit && self.is_hit(i, model, lba, n, now) {
            return self.serve_from_buffer(id, now, model, commands, events);
        }
        let target = self.is_positional.then_some(chosen.target);
        self.serve(
            i,
            id,
            Start { at: now, target, is_follower: false, data_at: 0, in_place: false },
            model,
            commands,
            events,
        );
    }

    /// Serves the write that the arm is held for; false when it is not ready.
    fn serve_follower(&mut self, i: usize, model: &Model, commands: &mut Commands, events: &mut Events) -> bool {
        let actuator = &mut self.actuators[i];
        let Some(id) = actuator.follower else { return false };
        if !actuator.is_follower_ready {
            return false;
        }
        self.front.counters.busy_ns += actuator.release(events.now);
        let start = Start { at: events.now, target: None, is_follower: true, data_at: 0, in_place: false };
        self.serve(i, id, start, model, commands, events);
        true
    }

    /// Starts the media access of a command.
    #[inline(always)]
    pub(super) fn serve(
        &mut self,
        i: usize,
        id: u32,
        start: Start,
        model: &Model,
        commands: &mut Commands,
        events: &mut Events,
    ) {
        let Command { op, lba, n, data_at, in_place, .. } = commands[id];
        let (wanted, start) = (Extent { op, lba, n }, Start { data_at, in_place, ..start });
        if self.begins_anew(i, wanted) {
            let access = self.access_anew(i, wanted, start, model);
            self.send(i, id, start.at, &access, model, commands, events);
        } else {
            self.serve_otherwise(i, id, start, model, commands, events);
        }
    }

    /// The same where the head is on the way already, or a media cache decides where it goes.
    #[inline(never)]
    fn serve_otherwise(
        &mut self,
        i: usize,
        id: u32,
        start: Start,
        model: &Model,
        commands: &mut Commands,
        events: &mut Events,
    ) {
        let Command { op, lba, n, .. } = commands[id];
        let access = self.access_otherwise(i, Extent { op, lba, n }, start, model);
        self.send(i, id, start.at, &access, model, commands, events);
    }

    /// What becomes of a command whose media access begins at `at`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn send(
        &mut self,
        i: usize,
        id: u32,
        at: i64,
        access: &Access,
        model: &Model,
        commands: &mut Commands,
        events: &mut Events,
    ) {
        let Command { seq, op, lba, n, holds, .. } = commands[id];
        let actuator = &mut self.actuators[i];
        actuator.is_held = holds;
        let begun = if actuator.media.is_some() { actuator.moved_ns } else { at };
        let e = &model.electronics;
        let mut done = access.end;
        if op == READ {
            done = e.sent(access.first_end, access.end, n);
            self.start_stream(i, lba, n, access, model);
            if holds {
                self.actuators[i].stream = None;
            }
        }
        let command = &mut commands[id];
        command.seek = access.seek;
        command.rotation = access.rotation;
        command.transfer = done - begun - access.seek - access.rotation;
        let tail = e.tail_ns(op);
        command.overhead += tail;
        command.done = done + tail;
        #[cfg(feature = "movements")]
        if let Some(movement) = self.movements.as_mut().and_then(|all| all.last_mut()) {
            (movement.submitted, movement.done) = (command.submitted, command.done);
        }
        events.at(command.done, COMPLETE, self.front.index, seq, Action::CommandDone(id));
    }

    fn choose_ready(&mut self, i: usize, with_dirty: bool, model: &Model, now: i64) -> Option<Waiting> {
        if !with_dirty {
            self.follow_stream(i, model, now);
            let actuator = &self.actuators[i];
            let angle = if actuator.ready.has_choice(&actuator.scheduler) { self.angle(now) } else { 0 };
            let Actuator { scheduler, ready, arm, served_end, .. } = &mut self.actuators[i];
            let arms = OwnArm { model, arm: *arm, spindle: &self.spindle, angle };
            let chosen = ready.take(scheduler, *served_end, now, &arms);
            self.actuators[i].weigh(model.electronics.weighed_commands);
            return chosen;
        }
        let n_ready = self.actuators[i].ready.len();
        if n_ready == 0 && self.dirty.n_waiting(i) == 0 {
            return None;
        }
        self.follow_stream(i, model, now);
        let angle = self.angle(now);
        let Disk { dirty, actuators, spindle, is_positional, candidates, .. } = self;
        let as_waiting = |entry: &Dirty| candidate(i, entry, *is_positional, actuators, spindle, model);
        let most = model.electronics.weighed_writes;
        let writes = dirty.first(i, most, as_waiting);
        let Actuator { scheduler, ready, arm, served_end, .. } = &mut actuators[i];
        let arms = OwnArm { model, arm: *arm, spindle, angle };
        if n_ready == 0 {
            let at = scheduler.choose(writes, *served_end, now, &arms);
            let chosen = writes.commands().get(at).copied();
            dirty.choose(i, at);
            return chosen;
        }
        let at = scheduler.choose_of_both([ready.list(), writes], candidates, *served_end, now, &arms);
        if at >= n_ready {
            let chosen = writes.commands().get(at - n_ready).copied();
            dirty.choose(i, at - n_ready);
            return chosen;
        }
        let chosen = ready.list().remove(at);
        actuators[i].weigh(model.electronics.weighed_commands);
        Some(chosen)
    }

    pub(super) fn angle(&self, now: i64) -> i64 {
        if self.is_positional {
            self.spindle.angle(now)
        } else {
            0
        }
    }

    fn access(&mut self, i: usize, wanted: Extent, start: Start, model: &Model) -> Access {
        if self.begins_anew(i, wanted) {
            self.access_anew(i, wanted, start, model)
        } else {
            self.access_otherwise(i, wanted, start, model)
        }
    }

    /// Whether an access begins where the arm stands, and is all of it where its blocks are.
    #[inline(always)]
    fn begins_anew(&self, i: usize, Extent { op, lba, n }: Extent) -> bool {
        self.actuators[i].media.is_none() && !(op == READ && self.is_on_stream(i, lba, lba + n))
    }

    #[inline(always)]
    fn access_anew(&mut self, i: usize, wanted: Extent, start: Start, model: &Model) -> Access {
        let Extent { op, lba, n } = wanted;
        let stays = start.is_follower;
        let extra = if stays { 0 } else { self.travel_to_edge(i, model) };
        let first = lba - self.actuators[i].first_lba;
        let target = start.target.unwrap_or_else(|| model.mechanics.target(first, &self.spindle));
        let on_arm = Extent { op, lba: first, n };
        let access = self.move_arm(self.actuators[i].arm, on_arm, &target, (start.at, extra), start.data_at, model);
        self.occupy(i, wanted, &access, start.at, model);
        access
    }

    #[inline(never)]
    fn access_otherwise(&mut self, i: usize, wanted: Extent, start: Start, model: &Model) -> Access {
        if self.actuators[i].media.is_some() {
            return self.access_by_log(i, wanted, start, model);
        }
        let access = self.stay_on_stream(i, wanted.lba + wanted.n, model, start.at);
        self.occupy(i, wanted, &access, start.at, model);
        access
    }

    /// The arm is busy with an access that begins at `at`.
    #[inline(always)]
    fn occupy(&mut self, i: usize, wanted: Extent, access: &Access, at: i64, model: &Model) {
        #[cfg(feature = "movements")]
        self.note(i, Extent { lba: wanted.lba - self.actuators[i].first_lba, ..wanted }, access, model, at);
        #[cfg(not(feature = "movements"))]
        let _ = model;
        let actuator = &mut self.actuators[i];
        actuator.arm = access.arm;
        actuator.begun_ns = at;
        actuator.free_ns = access.end;
        actuator.served_end = wanted.lba + wanted.n;
        actuator.stream = None;
        self.front.counters.busy_ns += access.end - at;
    }

    /// An access to the media, with what happens to it at random.
    #[inline(always)]
    pub(super) fn move_arm(
        &mut self,
        arm: Arm,
        wanted: Extent,
        target: &Target,
        begin: (i64, i64),
        data_at: i64,
        model: &Model,
    ) -> Access {
        let (mechanics, late_ns) = if model.has_draws { self.draw(model) } else { (&model.mechanics, 0) };
        let mut access = mechanics.access(arm, &self.spindle, wanted, target, begin, data_at);
        access.rotation += late_ns;
        access.first_end += late_ns;
        access.end += late_ns;
        access
    }

    /// What an access draws (rule M9): it is made in order if not on arrival, and ends as much later.
    #[cold]
    #[inline(never)]
    fn draw<'a>(&mut self, model: &'a Model) -> (&'a Mechanics, i64) {
        let AccessDraw { in_order, late_ns } = self.draws.next(&model.chances);
        (model.in_order.as_deref().filter(|_| in_order).unwrap_or(&model.mechanics), late_ns)
    }

    /// Records an access that begins now, as one of no command.
    #[cfg(feature = "movements")]
    pub(super) fn note(&mut self, i: usize, wanted: Extent, access: &Access, model: &Model, now: i64) {
        let (from_cylinder, Extent { op, lba, n }) = (self.actuators[i].arm.cylinder, wanted);
        let Some(movements) = &mut self.movements else { return };
        let place = model.mechanics.target(lba, &self.spindle).place;
        let (cylinder, index) = (i64::from(place.cylinder), i64::from(place.index));
        let per_track = model.mechanics.zones.of(&place).per_track;
        let &Access { seek, rotation, transfer, end: done, .. } = access;
        movements.push(Movement {
            op,
            lba,
            n,
            submitted: now,
            start: now,
            done,
            seek,
            rotation,
            transfer,
            from_cylinder,
            cylinder,
            index,
            per_track,
        });
    }

    pub(super) fn travel_to_edge(&mut self, i: usize, model: &Model) -> i64 {
        let actuator = &mut self.actuators[i];
        let (edge, swept) = actuator.scheduler.edge();
        if edge == Edge::None {
            return 0;
        }
        let seek = model.mechanics.read_seeks_ns();
        let last = seek.len() as i64 - 1;
        let mut to = if swept > 0 { last } else { 0 };
        let mut travel = i64::from(seek[(to - actuator.arm.cylinder).unsigned_abs() as usize]);
        if edge == Edge::Wrap {
            travel += i64::from(seek[last as usize]);
            to = 0;
        }
        actuator.arm.cylinder = to;
        travel
    }

    fn destage(&mut self, i: usize, entry: &Waiting, model: &Model, events: &mut Events) {
        let &Waiting { seq, lba, n, target, .. } = entry;
        let target = self.is_positional.then_some(target);
        let in_place = self.actuators[i].media.is_some() && self.dirty.is_in_place(i, seq);
        let start = Start { at: events.now, target, is_follower: false, data_at: 0, in_place };
        let access = self.access(i, Extent { op: WRITE, lba, n }, start, model);
        let room = self.dirty.leave(i, seq, access.end);
        events.at(access.end, COMPLETE, self.front.index, seq, Action::Destaged(self.front.index, room as u32));
    }
}

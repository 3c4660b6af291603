//! What a disk's buffer takes off its arms: hits and buffered writes (rules C2, C6, C7).

use super::{Disk, Model};
use crate::command::Commands;
use crate::events::{Action, Events, COMPLETE, LAST_NS};
use crate::mechanics::WRITE;
use crate::queue::Waiting;

impl Disk {
    /// Writes that waited for room enter the buffer, in their order (rule C7).
    pub(super) fn admit(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        while let Some(&Waiting { id, lba, n, seq, .. }) = self.blocked.front() {
            if !self.dirty.accept(seq, lba, n, events.now, commands[id].in_place) {
                return;
            }
            self.blocked.pop_front();
            self.serve_from_buffer(id, events.now, model, commands, events);
        }
    }

    /// Commands that have just become ready: hits and buffered writes need no arm (rules C2, C6, C7).
    pub(super) fn examine(&mut self, i: usize, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        while self.actuators[i].accepted.front().is_some_and(|w| w.ready <= now) {
            let Some(mut waiting) = self.actuators[i].accepted.pop_front() else { return };
            let Waiting { id, op, lba, n, seq, .. } = waiting;
            let is_follower = self.actuators[i].follower == Some(id);
            let from_buffer = if op == WRITE {
                self.replace_segments(lba, n, model);
                let in_place = self.note_run(i, id, lba, n, commands);
                let has_turn = (is_follower || self.blocked.is_empty()) && !commands[id].is_fua;
                let is_taken = has_turn && self.dirty.accept(seq, lba, n, now, in_place);
                if !is_taken && !commands[id].is_fua && !is_follower && n <= self.dirty.capacity {
                    self.blocked.push_back(waiting);
                    continue;
                }
                if !is_taken && self.dirty.capacity > 0 {
                    commands[id].number = self.dirty.pass_by();
                }
                is_taken
            } else {
                self.is_hit(i, model, lba, n, now)
            };
            waiting.ready = self.buffer_growth();
            let actuator = &mut self.actuators[i];
            if from_buffer {
                if is_follower {
                    self.front.counters.busy_ns += actuator.release(now);
                }
                self.serve_from_buffer(id, now, model, commands, events);
            } else if is_follower {
                actuator.is_follower_ready = true;
            } else {
                actuator.enter(waiting, model.electronics.weighed_commands);
            }
        }
    }

    /// What a write does to the segments (rule C6).
    #[inline]
    pub(super) fn replace_segments(&mut self, lba: i64, n: i64, model: &Model) {
        let e = &model.electronics;
        if e.writes_drop_all {
            self.segments.clear();
        } else {
            self.segments.drop_range(lba, n);
        }
        if e.keeps_writes {
            self.segments.insert(lba, lba + n);
        }
    }

    pub(super) fn buffer_growth(&self) -> i64 {
        self.segments.growth + self.dirty.growth
    }

    #[inline]
    pub(super) fn is_hit(&mut self, i: usize, model: &Model, lba: i64, n: i64, now: i64) -> bool {
        self.buffer_growth() > 0 && self.is_found(i, model, lba, n, now)
    }

    fn is_found(&mut self, i: usize, model: &Model, lba: i64, n: i64, now: i64) -> bool {
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

    /// Sends what the buffer holds from `now` on.
    pub(super) fn serve_from_buffer(
        &mut self,
        id: u32,
        now: i64,
        model: &Model,
        commands: &mut Commands,
        events: &mut Events,
    ) {
        let e = &model.electronics;
        let command = &mut commands[id];
        let bus = e.bus.time_ns(command.n);
        self.bus_free_ns = (now.max(self.bus_free_ns) + bus).min(LAST_NS);
        command.is_hit = true;
        command.transfer = bus;
        let tail = e.tail_ns(command.op);
        command.overhead += tail;
        command.done = self.bus_free_ns + tail;
        events.at(command.done, COMPLETE, self.front.index, command.seq, Action::CommandDone(id));
    }
}

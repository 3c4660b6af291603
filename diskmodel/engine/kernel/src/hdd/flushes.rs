//! Flushes: what they wait for, and what an arm does meanwhile (rules D10, D11, C11).

use super::arms::OwnArm;
use super::serve::{candidate, DIRTY};
use super::{Disk, Model};
use crate::command::Commands;
use crate::dirty::Dirty;
use crate::events::{Action, Events, COMPLETE};
use crate::mechanics::WRITE;
use crate::queue::{Row, Waiting};

/// A flush that waits for the writes up to turn `last`; `left` of them are not on the media.
pub(super) struct Flush {
    id: u32,
    seq: u64,
    ready: i64,
    last: u64,
    left: usize,
    tail_ns: i64,
}

impl Disk {
    /// Flushes that were handed to the drive go through its processor, behind the commands of this instant.
    #[inline(never)]
    pub(super) fn take_flushes(&mut self, model: &Model, events: &mut Events) {
        let now = events.now;
        for at in 0..self.front.flushes.len() {
            let id = self.front.flushes[at];
            let ready = self.front.process_flush(|free| model.electronics.intake.begin(WRITE, now, free));
            self.taken_flushes.push_back((id, ready));
            if ready > now {
                self.front.wake(ready, events);
            }
        }
        self.front.flushes.clear();
    }

    /// Flushes that are ready wait for what the buffer has accepted until now.
    #[inline(never)]
    pub(super) fn begin_flushes(&mut self, model: &Model, commands: &Commands, events: &mut Events) {
        while let Some(&(id, ready)) = self.taken_flushes.front().filter(|(_, ready)| *ready <= events.now) {
            self.taken_flushes.pop_front();
            let (unwritten, last) = self.dirty.unwritten();
            let left = if model.electronics.is_protected { 0 } else { unwritten };
            let (seq, tail_ns) = (commands[id].seq, model.electronics.write_completion_overhead_ns);
            if left > 0 {
                self.waiting_flushes.push(Flush { id, seq, ready, last, left, tail_ns });
            } else {
                events.at(ready + tail_ns, COMPLETE, self.front.index, seq, Action::CommandDone(id));
            }
        }
    }

    /// A write is on the media: flushes that waited for nothing else end. One that passed the buffer is answered now.
    #[inline(always)]
    pub(super) fn wrote(&mut self, turn: u64, has_tail: bool, events: &mut Events) {
        if !self.waiting_flushes.is_empty() {
            self.end_flushes(turn, has_tail, events);
        }
    }

    #[inline(never)]
    fn end_flushes(&mut self, turn: u64, has_tail: bool, events: &mut Events) {
        let (now, index) = (events.now, self.front.index);
        self.waiting_flushes.retain_mut(|flush| {
            flush.left -= usize::from(turn <= flush.last);
            if flush.left > 0 {
                return true;
            }
            let end = if has_tail { now } else { now + flush.tail_ns };
            let end = end.max(flush.ready + flush.tail_ns);
            events.at(end, COMPLETE, index, flush.seq, Action::CommandDone(flush.id));
            false
        });
    }

    /// The last turn that a flush waits for; 0: none does.
    fn flushed_until(&self) -> u64 {
        self.waiting_flushes.iter().map(|flush| flush.last).max().unwrap_or(0)
    }

    /// Whether the next access of an arm may be one that a flush waits for, or that has its turn (rules D10, C11).
    #[inline(always)]
    pub(super) fn has_turns(&self) -> bool {
        !self.waiting_flushes.is_empty() || self.is_in_order
    }

    /// What has its turn, or what a flush waits for. `None`: neither counts now, and the arm does what it does otherwise;
    /// `Some(None)`: the arm has nothing to do.
    #[inline(never)]
    pub(super) fn choose_in_turn(
        &mut self,
        i: usize,
        model: &Model,
        now: i64,
        commands: &Commands,
    ) -> Option<Option<Waiting>> {
        if self.is_in_order {
            return (!self.dirty.is_empty()).then(|| self.choose_in_order(i, model, now, commands));
        }
        self.has_flushed(i, commands).then(|| self.choose_flushed(i, model, now, commands))
    }

    /// Whether an arm has something to do that a flush waits for, and does nothing else then.
    fn has_flushed(&mut self, i: usize, commands: &Commands) -> bool {
        let last = self.flushed_until();
        self.dirty.up_to(i, last).next().is_some()
            || self.actuators[i].ready.list().commands().iter().any(|w| is_passing(w, last, commands))
    }

    /// Of what a flush waits for: writes that pass the buffer, then those that wait in it.
    fn choose_flushed(&mut self, i: usize, model: &Model, now: i64, commands: &Commands) -> Option<Waiting> {
        let last = self.flushed_until();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let ready = self.actuators[i].ready.list().commands();
        ready.iter().filter(|w| is_passing(w, last, commands)).for_each(|&w| candidates.push(w));
        for entry in self.dirty.up_to(i, last).take(model.electronics.weighed_writes) {
            candidates.push(self.candidate(i, entry, model));
        }
        self.choose_among(i, candidates, model, now)
    }

    /// Of commands and writes from the buffer, in the order in which they became ready (rule C11).
    fn choose_in_order(&mut self, i: usize, model: &Model, now: i64, commands: &Commands) -> Option<Waiting> {
        let mut all: Vec<(i64, Waiting)> = Vec::new();
        let ready = self.actuators[i].ready.list().commands();
        all.extend(ready.iter().map(|&w| (commands[w.id].ready, w)));
        let entries = self.dirty.of_arm(i).take(model.electronics.weighed_writes);
        all.extend(entries.map(|entry| (entry.arrived, self.candidate(i, entry, model))));
        all.sort_by_key(|&(since, _)| since);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        all.into_iter().for_each(|(_, waiting)| candidates.push(waiting));
        self.choose_among(i, candidates, model, now)
    }

    fn candidate(&self, i: usize, entry: &Dirty, model: &Model) -> Waiting {
        candidate(i, entry, self.is_positional, &self.actuators, &self.spindle, model)
    }

    fn choose_among(&mut self, i: usize, mut candidates: Row, model: &Model, now: i64) -> Option<Waiting> {
        let mut chosen = None;
        if !candidates.is_empty() {
            self.follow_stream(i, model, now);
            let angle = self.angle(now);
            let actuator = &mut self.actuators[i];
            let arms = OwnArm { model, arm: actuator.arm, spindle: &self.spindle, angle };
            let at = actuator.scheduler.choose(&mut candidates, actuator.served_end, now, &arms);
            chosen = candidates.commands().get(at).copied();
        }
        self.candidates = candidates;
        let chosen = chosen?;
        if chosen.id != DIRTY {
            let actuator = &mut self.actuators[i];
            let place = actuator.ready.list().commands().iter().position(|w| w.id == chosen.id);
            if let Some(at) = place {
                actuator.ready.list().remove(at);
            }
            actuator.weigh(model.electronics.weighed_commands);
        }
        Some(chosen)
    }
}

/// Whether a command is a write that passes the buffer and that a flush waits for.
fn is_passing(waiting: &Waiting, last: u64, commands: &Commands) -> bool {
    (1..=last).contains(&commands[waiting.id].number)
}

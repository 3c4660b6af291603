//! The event list and its order: (time, phase, device, order, insertion), rules T1 to T4.

use crate::faults::{planted, Fault};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

pub const COMPLETE: u64 = 0;
pub const ARRIVE: u64 = 1;
pub const DISPATCH: u64 = 2;

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A command leaves its disk.
    CommandDone(u32),
    /// Destaged data has reached the media: (device, sectors).
    Destaged(u32, i64),
    /// See what a disk can start.
    Wake(u32),
    /// The host's processor is done with a host request.
    Entered(u32),
    /// The controller's processor is done with a host request.
    Processed(u32),
    /// The data of a write has come over the link.
    WriteArrived(u32),
    /// A cache hit has been served.
    HitServed(u32),
    /// The data of a read has gone over the link.
    ReadSent(u32),
    /// A row of a stream is issued: (stream, what the traffic knows it by).
    Issue(u32, u32),
    /// A window of a disk's write throttling ends.
    WindowEnded(u32),
    /// The host's flusher wakes up.
    FlusherWoken,
    /// The next rebuild step.
    RebuildStep,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    time: i64,
    place: u64,
    order: u64,
    insertion: u64,
    action: Action,
}

impl Event {
    fn key(&self) -> (i64, u64, u64, u64) {
        (self.time, self.place, self.order, self.insertion)
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    // reversed: BinaryHeap gives the greatest first, the earliest event is wanted
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// Events of the current instant that are kept apart from the heap, at most.
const MOST_SOON: usize = 16;

/// The future, and what time it is.
#[derive(Default)]
pub struct Events {
    pub now: i64,
    heap: BinaryHeap<Event>,
    /// Some events of the current instant, the last first: most of them happen at once and need no heap.
    soon: Vec<Event>,
    inserted: u64,
}

impl Events {
    /// Let `action` happen at `time`.
    pub fn at(&mut self, time: i64, phase: u64, device: u32, order: u64, action: Action) {
        self.inserted += 1;
        let phase = if planted(Fault::PhaseOrder) && phase < DISPATCH { ARRIVE - phase } else { phase };
        let device = if planted(Fault::DeviceOrder) { u32::MAX - device } else { device };
        let place = phase << 32 | u64::from(device);
        let event = Event { time, place, order, insertion: self.inserted, action };
        if time > self.now || self.soon.len() >= MOST_SOON {
            self.heap.push(event);
        } else {
            let at = self.soon.iter().rposition(|e| e.key() > event.key()).map_or(0, |i| i + 1);
            self.soon.insert(at, event);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.heap.len() + self.soon.len()
    }

    /// When the next thing happens.
    pub fn next_time(&self) -> Option<i64> {
        let soon = self.soon.last().map(|event| event.time);
        let later = self.heap.peek().map(|event| event.time);
        soon.into_iter().chain(later).min()
    }

    /// The next thing that happens; moves the time there.
    pub fn next(&mut self) -> Option<Action> {
        let is_soon = match (self.soon.last(), self.heap.peek()) {
            (Some(soon), Some(later)) => soon.key() < later.key(),
            (soon, _) => soon.is_some(),
        };
        let event = if is_soon { self.soon.pop()? } else { self.heap.pop()? };
        self.now = event.time;
        Some(event.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More events of one instant than are kept apart, in the worst order, mixed with the future.
    #[test]
    fn events_come_in_the_order_of_their_keys() {
        let mut events = Events::default();
        for device in (0..40).rev() {
            events.at(5, DISPATCH, device, 0, Action::Wake(device));
            events.at(0, DISPATCH, device, 0, Action::Wake(device));
            events.at(0, COMPLETE, device, 7, Action::CommandDone(device));
        }
        let mut seen = Vec::new();
        while let Some(action) = events.next() {
            seen.push((events.now, action));
        }
        let mut expected: Vec<_> = (0..40).map(|d| (0, Action::CommandDone(d))).collect();
        expected.extend((0..40).map(|d| (0, Action::Wake(d))));
        expected.extend((0..40).map(|d| (5, Action::Wake(d))));
        assert_eq!(seen, expected);
    }
}

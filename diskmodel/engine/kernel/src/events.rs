//! The event list and its order: (time, phase, device, order, insertion), rules T1 to T4.
//!
//! One event costs the logarithm of how many wait, and a few comparisons where those are a few.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::ports::{Port, Ports};

pub const COMPLETE: u64 = 0;
pub const ARRIVE: u64 = 1;
pub const DISPATCH: u64 = 2;

/// The last order of an instant: behind the arrivals of the same device number.
pub const LAST: u64 = (1 << 63) - 1;

/// What a commit of the journal does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    #[default]
    Body,
    Flush,
    Block,
    Woken,
}

impl Step {
    /// The step of a number.
    pub fn of(number: u32) -> Self {
        match number {
            0 => Step::Body,
            1 => Step::Flush,
            2 => Step::Block,
            _ => Step::Woken,
        }
    }
}

/// What happens at one of the drives of a place of their own, of which each has its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfAuxiliary {
    Wake(u32),
    CommandDone(u32),
    Destaged(u32, u32),
}

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A command leaves its disk.
    CommandDone(u32),
    /// Destaged data has reached the media: (device, sectors).
    Destaged(u32, u32),
    /// See what a disk can start.
    Wake(u32),
    /// The drives have made pages of the bitmap durable.
    BitsDurable,
    /// The device of the journal of an array has been flushed, of which only the time of that is known.
    UnitsFlushed,
    /// A request has left the host's processor.
    Submitted(u32),
    /// The host's processor is done with a host request.
    Entered(u32),
    /// The host's processor, which stood still, sees an answer.
    Noticed(u32),
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
    /// The host's thread may notice the next completion.
    TurnEnded,
    /// The turn of the array's next flush has come.
    FlushTurn,
    /// A program whose write is safe has come to the flush of the same call.
    FlushAsked(u32),
    /// The turn of what a commit of the journal does next has come.
    Journal(Step),
    /// A batch of a log has waited long enough for records: (stream).
    LogDelayed(u32),
    /// A write to a pool goes on that was delayed, and one that is in memory is answered.
    PoolDelayed(u32),
    PoolTaken(u32),
    /// A read of a pool that found all in memory is answered.
    PoolRead(u32),
    /// A record has come from a cache device of a pool, and it is time to feed these.
    L2arcRead(u32),
    L2arcFed,
    /// A block of the log of a pool has waited long enough.
    LogIssued(u32),
    /// Something happens at a drive of a place of its own: (place, what).
    Auxiliary(u8, OfAuxiliary),
    /// The time of a transaction group has come, and the turn of its next write.
    GroupTimed,
    GroupTurn,
    /// A processor is done with what goes to its place, and with what has been written.
    GroupPlaced,
    GroupEnded,
    /// The host's flusher wakes up.
    FlusherWoken,
    /// The next rebuild step.
    RebuildStep,
}

impl Action {
    /// In one word: a processor that loads at once what was stored in parts waits for all of them to reach its cache.
    /// Streams and devices have 28 bits, more than `MAX_DISKS` needs. All kinds that four bits have room for are there,
    /// so that finding out the kind takes no comparison: the rarest share the last one.
    #[inline(always)]
    fn word(self) -> u64 {
        let (kind, a, b) = match self {
            Action::CommandDone(b) => (0, 0, b),
            Action::Destaged(a, b) => (1, a, b),
            Action::Wake(b) => (2, 0, b),
            Action::BitsDurable => (3, 0, 0),
            Action::Submitted(b) => (4, 0, b),
            Action::Entered(b) => (5, 0, b),
            Action::Noticed(b) => (6, 0, b),
            Action::Processed(b) => (7, 0, b),
            Action::WriteArrived(b) => (8, 0, b),
            Action::HitServed(b) => (9, 0, b),
            Action::ReadSent(b) => (10, 0, b),
            Action::Issue(a, b) => (11, a, b),
            Action::WindowEnded(b) => (12, 0, b),
            Action::FlusherWoken => (13, 0, 0),
            Action::RebuildStep => (14, 0, 0),
            Action::TurnEnded => (15, 0, 0),
            Action::FlushTurn => (15, 1, 0),
            Action::LogDelayed(b) => (15, 2, b),
            Action::Journal(step) => (15, 3, step as u32),
            Action::PoolDelayed(b) => (15, 4, b),
            Action::PoolTaken(b) => (15, 5, b),
            Action::LogIssued(b) => (15, 6, b),
            Action::Auxiliary(place, what) => {
                let (kind, device, b) = match what {
                    OfAuxiliary::Wake(b) => (0, 0, b),
                    OfAuxiliary::CommandDone(b) => (1, 0, b),
                    OfAuxiliary::Destaged(device, b) => (2, device, b),
                };
                (15, AUXILIARY + (device << 4 | kind << 2 | u32::from(place)), b)
            }
            Action::GroupTimed => (15, 8, 0),
            Action::GroupTurn => (15, 9, 0),
            Action::GroupPlaced => (15, 10, 0),
            Action::GroupEnded => (15, 11, 0),
            Action::PoolRead(b) => (15, 12, b),
            Action::UnitsFlushed => (15, 14, 0),
            Action::FlushAsked(b) => (15, 15, b),
            Action::L2arcRead(b) => (15, 17, b),
            Action::L2arcFed => (15, 18, 0),
        };
        u64::from(a) << 36 | u64::from(b) << 4 | kind
    }

    #[inline(always)]
    fn of(word: u64) -> Self {
        let (a, b) = ((word >> 36) as u32, (word >> 4) as u32);
        match word & 15 {
            0 => Action::CommandDone(b),
            1 => Action::Destaged(a, b),
            2 => Action::Wake(b),
            3 => Action::BitsDurable,
            4 => Action::Submitted(b),
            5 => Action::Entered(b),
            6 => Action::Noticed(b),
            7 => Action::Processed(b),
            8 => Action::WriteArrived(b),
            9 => Action::HitServed(b),
            10 => Action::ReadSent(b),
            11 => Action::Issue(a, b),
            12 => Action::WindowEnded(b),
            13 => Action::FlusherWoken,
            14 => Action::RebuildStep,
            _ if a == 0 => Action::TurnEnded,
            _ if a == 1 => Action::FlushTurn,
            _ if a == 2 => Action::LogDelayed(b),
            _ if a == 3 => Action::Journal(Step::of(b)),
            _ if a == 4 => Action::PoolDelayed(b),
            _ if a == 5 => Action::PoolTaken(b),
            _ if a == 6 => Action::LogIssued(b),
            _ if a == 8 => Action::GroupTimed,
            _ if a == 9 => Action::GroupTurn,
            _ if a == 10 => Action::GroupPlaced,
            _ if a == 11 => Action::GroupEnded,
            _ if a == 12 => Action::PoolRead(b),
            _ if a == 14 => Action::UnitsFlushed,
            _ if a == 15 => Action::FlushAsked(b),
            _ if a == 17 => Action::L2arcRead(b),
            _ if a == 18 => Action::L2arcFed,
            _ => {
                let (place, kind, device) = ((a - AUXILIARY) & 3, (a - AUXILIARY) >> 2 & 3, (a - AUXILIARY) >> 4);
                let what = match kind {
                    0 => OfAuxiliary::Wake(b),
                    1 => OfAuxiliary::CommandDone(b),
                    _ => OfAuxiliary::Destaged(device, b),
                };
                Action::Auxiliary(place as u8, what)
            }
        }
    }
}

/// The first number of what happens at drives of places of their own.
const AUXILIARY: u32 = 32;

/// What happens next, in the word of its event: where it is passed on, only one branch depends on it.
pub struct Next(u64);

impl Next {
    #[inline(always)]
    pub fn action(&self) -> Action {
        Action::of(self.0)
    }
}

/// Of what comes first: time and phase in one word, then the device.
#[derive(Clone, Copy, Debug)]
struct Event {
    when: u64,
    order: u64,
    /// Device, and in the lower bits the number of its insertion.
    tie: u64,
    word: u64,
}

impl Event {
    fn key(&self) -> (u64, u64, u64, u64) {
        (self.when, self.tie >> INSERTION_BITS, self.order, self.tie)
    }

    /// Hardly ever are two events in the same phase of one instant.
    #[inline(always)]
    fn is_before(&self, other: &Self) -> bool {
        if self.when == other.when {
            self.key() < other.key()
        } else {
            self.when < other.when
        }
    }

    fn time(&self) -> i64 {
        (self.when >> PHASE_BITS) as i64
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
    // reversed: BinaryHeap gives the greatest first, the earliest event comes first here
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

const PHASE_BITS: u32 = 2;
/// Of the number of an insertion: more events than a day has time for, and more devices than `MAX_DISKS` beside it.
const INSERTION_BITS: u32 = 42;
/// No time is later: a run that comes here has been refused long before. What is booked ahead ends here, too, so that
/// no sum of times leaves 64 bits.
pub const LAST_NS: i64 = 1 << 60;
/// So many of the next events are kept in order, the others in a heap.
const MAX_NEAR: usize = 48;
/// Places for them: several times as many, so that they seldom have to be moved.
const N_PLACES: usize = 4 * MAX_NEAR;

/// The next events in order, side by side, with room on both sides.
struct Near {
    held: [Event; N_PLACES],
    first: usize,
    end: usize,
}

impl Default for Near {
    fn default() -> Self {
        let none = Event { when: 0, order: 0, tie: 0, word: 0 };
        Near { held: [none; N_PLACES], first: N_PLACES / 2, end: N_PLACES / 2 }
    }
}

impl Near {
    #[inline(always)]
    fn len(&self) -> usize {
        self.end - self.first
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.first == self.end
    }

    #[inline(always)]
    fn next(&self) -> Option<&Event> {
        if self.is_empty() {
            None
        } else {
            self.held.get(self.first)
        }
    }

    fn last(&self) -> Option<&Event> {
        self.held[self.first..self.end].last()
    }

    /// Puts an event before all others.
    #[inline(always)]
    fn put_first(&mut self, event: Event) {
        if self.first == 0 {
            self.center();
        }
        self.first -= 1;
        self.held[self.first] = event;
    }

    /// Puts an event where its turn is: it looks from the nearer end, and the events on that side make room.
    #[inline(always)]
    fn put(&mut self, event: Event) {
        if self.first == 0 || self.end == N_PLACES {
            self.center();
        }
        let Near { held, first, end } = self;
        let middle = (*first + *end) / 2;
        if *first < *end && event.is_before(&held[middle]) {
            let n_before = held[*first..middle].iter().take_while(|held| held.is_before(&event)).count();
            let at = *first + n_before;
            held.copy_within(*first..at, *first - 1);
            held[at - 1] = event;
            *first -= 1;
        } else {
            let n_behind = held[middle..*end].iter().rev().take_while(|held| event.is_before(held)).count();
            let at = *end - n_behind;
            held.copy_within(at..*end, at + 1);
            held[at] = event;
            *end += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn center(&mut self) {
        let n = self.len();
        let first = (N_PLACES - n) / 2;
        self.held.copy_within(self.first..self.end, first);
        (self.first, self.end) = (first, first + n);
    }

    /// Takes out the last `n` events.
    fn take_last(&mut self, n: usize) -> &[Event] {
        self.end -= n;
        &self.held[self.end..self.end + n]
    }
}

/// The future, and what time it is.
#[derive(Default)]
pub struct Events {
    pub now: i64,
    /// The next events: most of what is scheduled happens soon, and a few disks have few events.
    near: Near,
    /// Everything that is later than those.
    later: BinaryHeap<Event>,
    inserted: u64,
    /// What is said at ports, each with its time.
    pub ports: Ports,
}

impl Events {
    /// Writes down what a station says to another one, if that is logged: of a drive, or of device 0.
    #[inline(always)]
    pub fn said(&mut self, port: Port, device: u32, io: (u8, i64, i64)) {
        if self.ports.is_logged() {
            self.ports.say(self.now, port, device, io);
        }
    }

    /// Let `action` happen at `time`.
    #[inline(always)]
    pub fn at(&mut self, time: i64, phase: u64, device: u32, order: u64, action: Action) {
        self.inserted += 1;
        let when = (time.min(LAST_NS) as u64) << PHASE_BITS | phase;
        let tie = u64::from(device) << INSERTION_BITS | self.inserted;
        let event = Event { when, order, tie, word: action.word() };
        let is_next = self.near.next().map_or(self.later.is_empty(), |next| event.is_before(next));
        if is_next && self.near.len() < MAX_NEAR {
            self.near.put_first(event);
        } else {
            self.put(event);
        }
    }

    /// Puts an event where its turn is.
    #[inline(always)]
    fn put(&mut self, event: Event) {
        if !self.later.is_empty() && !self.is_near(&event) {
            return self.put_later(event.when, event.order, event.tie, event.word);
        }
        if self.near.len() == MAX_NEAR {
            self.move_later();
            if !self.is_near(&event) {
                return self.put_later(event.when, event.order, event.tie, event.word);
            }
        }
        self.near.put(event);
    }

    /// The parts of an event on their own: they stay in registers.
    #[inline(never)]
    fn put_later(&mut self, when: u64, order: u64, tie: u64, word: u64) {
        self.later.push(Event { when, order, tie, word });
    }

    #[cold]
    #[inline(never)]
    fn move_later(&mut self) {
        self.later.extend(self.near.take_last(MAX_NEAR / 2));
    }

    /// Whether an event comes before all that are later.
    #[inline(always)]
    fn is_near(&self, event: &Event) -> bool {
        match (self.near.last(), self.later.peek()) {
            (Some(last), _) => event.is_before(last),
            (None, Some(later)) => event.is_before(later),
            (None, None) => true,
        }
    }

    /// Events since the beginning, past and future.
    pub fn n_scheduled(&self) -> u64 {
        self.inserted
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.near.len() + self.later.len()
    }

    /// When the next thing happens.
    pub fn next_time(&self) -> Option<i64> {
        self.near.next().or_else(|| self.later.peek()).map(Event::time)
    }

    /// The next thing that happens; moves the time there.
    #[inline(always)]
    pub fn next(&mut self) -> Option<Next> {
        if self.near.is_empty() {
            self.come_nearer();
            if self.near.is_empty() {
                return None;
            }
        }
        let event = &self.near.held[self.near.first];
        self.near.first += 1;
        self.now = event.time();
        Some(Next(event.word))
    }

    /// Takes out the next event as it was scheduled, and leaves the time as it is.
    pub fn take(&mut self) -> Option<(i64, u64, u32, u64, Action)> {
        if self.near.is_empty() {
            self.come_nearer();
        }
        let &Event { when, order, tie, word } = self.near.next()?;
        self.near.first += 1;
        let (time, phase) = ((when >> PHASE_BITS) as i64, when & ((1 << PHASE_BITS) - 1));
        Some((time, phase, (tie >> INSERTION_BITS) as u32, order, Action::of(word)))
    }

    #[cold]
    #[inline(never)]
    fn come_nearer(&mut self) {
        for _ in 0..MAX_NEAR / 2 {
            let Some(event) = self.later.pop() else { break };
            self.near.put(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;
    use crate::rule::MAX_DISKS;

    #[test]
    fn a_word_holds_any_action() {
        let (most, disk) = (u32::MAX, MAX_DISKS as u32);
        let by_id = [
            Action::CommandDone,
            Action::Wake,
            Action::Submitted,
            Action::Entered,
            Action::Noticed,
            Action::Processed,
            Action::WriteArrived,
            Action::HitServed,
            Action::ReadSent,
            Action::WindowEnded,
            Action::LogDelayed,
            Action::FlushAsked,
        ];
        let of_two = [Action::Issue(disk, most), Action::Destaged(disk, most), Action::Issue(0, 1)];
        let of_none =
            [Action::BitsDurable, Action::FlusherWoken, Action::RebuildStep, Action::TurnEnded, Action::FlushTurn];
        let of_steps = [Step::Body, Step::Flush, Step::Block, Step::Woken].map(Action::Journal);
        let of_place = [OfAuxiliary::Wake(most), OfAuxiliary::CommandDone(most), OfAuxiliary::Destaged(disk, most)];
        let of_place = of_place.into_iter().flat_map(|what| [0, 3].map(|place| Action::Auxiliary(place, what)));
        let all = by_id.map(|of| of(most)).into_iter().chain(of_two).chain(of_none).chain(of_steps);
        for action in all.chain(of_place) {
            assert_eq!(Action::of(action.word()), action);
        }
    }

    /// More events of one instant than are kept near, in the worst order, mixed with the future.
    #[test]
    fn events_come_in_the_order_of_their_keys() {
        let mut events = Events::default();
        for device in (0..40).rev() {
            events.at(5, DISPATCH, device, 0, Action::Wake(device));
            events.at(0, DISPATCH, device, 0, Action::Wake(device));
            events.at(0, COMPLETE, device, 7, Action::CommandDone(device));
        }
        let mut seen = Vec::new();
        while let Some(next) = events.next() {
            seen.push((events.now, next.action()));
        }
        let mut expected: Vec<_> = (0..40).map(|d| (0, Action::CommandDone(d))).collect();
        expected.extend((0..40).map(|d| (0, Action::Wake(d))));
        expected.extend((0..40).map(|d| (5, Action::Wake(d))));
        assert_eq!(seen, expected);
    }
    /// Fetching and going at random, few and many: always the least key, the first of equal ones.
    #[test]
    fn events_come_in_order_however_many_there_are() {
        let mut below = drawn_from(1);
        let mut events = Events::default();
        let mut expected = std::collections::BTreeMap::new();
        for step in 0..200_000_u32 {
            // waves of up to some hundred events
            if below(100) < if step % 4_000 < 2_000 { 60 } else { 40 } {
                let (time, phase) = (events.now + below(50), below(3) as u64);
                let (device, order) = (below(3) as u32, below(3) as u64);
                events.at(time, phase, device, order, Action::Wake(step));
                expected.insert((time, phase, device, order, step), Action::Wake(step));
            } else {
                assert_eq!(events.next_time(), expected.keys().next().map(|key| key.0));
                assert_eq!(events.next().map(|next| next.action()), expected.pop_first().map(|(_, action)| action));
            }
            assert_eq!(events.len(), expected.len());
        }
    }
}

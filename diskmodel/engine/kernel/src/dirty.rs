//! Writes that the drive's buffer has taken and that are not on the media yet (rules C7 and C8). What is asked of them
//! costs the logarithm of how many they are.

use std::collections::{BTreeMap, BTreeSet};

use crate::cells::Cells;
use crate::queue::{Row, Waiting};

#[derive(Clone, Copy, Debug)]
pub struct Dirty {
    pub seq: u64,
    pub lba: i64,
    pub n: i64,
    pub arrived: i64,
    /// Part of a run that does not go to the media cache (rule G2).
    pub in_place: bool,
    /// What it takes of the buffer, in sectors.
    pub room: i64,
}

/// What waits for an arm.
#[derive(Debug, Default)]
struct OfArm {
    /// By turn of arrival.
    waiting: BTreeMap<u64, Dirty>,
    /// The first of these as a scheduler looks at them, kept from choice to choice, and their turns. Those that came since
    /// the last choice are not among them yet.
    first: Row,
    turns: Vec<u64>,
    /// Which of them was chosen last.
    chosen: usize,
}

impl OfArm {
    /// Takes out write number `seq`, with its turn.
    fn take(&mut self, seq: u64) -> Option<(u64, Dirty)> {
        let first = self.first.commands();
        let is_chosen = first.get(self.chosen).is_some_and(|waiting| waiting.seq == seq);
        let at = is_chosen.then_some(self.chosen);
        let turn = match at.or_else(|| first.iter().position(|waiting| waiting.seq == seq)) {
            Some(at) => {
                self.first.remove(at);
                self.turns.remove(at)
            }
            None => *self.waiting.iter().find(|(_, entry)| entry.seq == seq)?.0,
        };
        Some((turn, self.waiting.remove(&turn)?))
    }
}

/// Dirty data of a write-back drive.
#[derive(Debug, Default)]
pub struct DirtyBuffer {
    pub capacity: i64,
    longest: i64,
    /// Blocks of one actuator: what another arm writes is no continuation.
    border: i64,
    /// Least room of a write.
    least: i64,
    used: i64,
    /// Grows when more is held than before.
    pub growth: i64,
    /// Being written to the media: (number, when it is there, turn).
    landing: Vec<(u64, i64, u64)>,
    /// Writes that pass the buffer and are not on the media; they have turns, too.
    n_passing: usize,
    of_arm: Vec<OfArm>,
    n_waiting: usize,
    turn: u64,
    /// Turns by the block behind the last.
    by_end: BTreeSet<(i64, u64)>,
    /// Ranges that no other one holds: first block, the one behind the last, and the turn. Both blocks grow together.
    outermost: BTreeMap<i64, (i64, u64)>,
    /// Turns of all others by first block. Mostly there are none.
    hidden: BTreeSet<(i64, u64)>,
    /// Where writes wait.
    cells: Cells,
}

impl DirtyBuffer {
    pub fn new(capacity: i64, longest: i64, border: i64, least: i64) -> Self {
        // no write is longer than the buffer
        let cells = if capacity > 0 { Cells::new(capacity) } else { Cells::default() };
        DirtyBuffer { capacity, longest, border, least, cells, ..DirtyBuffer::default() }
    }

    /// Writes that wait when the run begins, in order of arrival: number, first block, sectors (rule Z5), and the room
    /// that each takes.
    pub fn load(&mut self, writes: &[(u64, i64, i64)], in_place: &[bool], room: &[i64]) {
        let arm_of = |lba: i64| (lba / self.border) as usize;
        let n_arms = writes.iter().map(|&(_, lba, _)| arm_of(lba) + 1).max().unwrap_or(0);
        let mut of_arm = vec![Vec::new(); n_arms];
        for (((turn, &(seq, lba, n)), &in_place), &room) in (1..).zip(writes).zip(in_place).zip(room) {
            of_arm[arm_of(lba)].push((turn, Dirty { seq, lba, n, arrived: 0, in_place, room }));
        }
        let held = |own: Vec<_>| OfArm { waiting: own.into_iter().collect(), ..OfArm::default() };
        self.of_arm = of_arm.into_iter().map(held).collect();
        self.by_end = (1..).zip(writes).map(|(turn, &(_, lba, n))| (lba + n, turn)).collect();
        self.turn = writes.len() as u64;
        self.n_waiting = writes.len();
        self.used = room.iter().sum();
        let longest = writes.iter().map(|&(_, _, n)| n).max();
        self.cells = Cells::new(longest.unwrap_or(0).max(self.capacity));
        writes.iter().for_each(|&(_, lba, n)| self.cells.count(lba, lba + n));
        let ends = (1..).zip(writes).map(|(turn, &(_, lba, n))| (lba, std::cmp::Reverse(lba + n), turn));
        let mut ranges: Vec<_> = ends.collect();
        ranges.sort_unstable();
        let mut last = i64::MIN;
        for (start, std::cmp::Reverse(end), turn) in ranges {
            if end > last {
                last = end;
                self.outermost.insert(start, (end, turn));
            } else {
                self.hidden.insert((start, turn));
            }
        }
        self.growth += i64::from(!writes.is_empty());
    }

    /// Room of what is not on the media, in sectors.
    pub fn used(&self) -> i64 {
        self.used
    }

    pub fn accept(&mut self, seq: u64, lba: i64, n: i64, now: i64, in_place: bool) -> bool {
        if self.capacity == 0 {
            return false;
        }
        let is_hidden = self.covers(lba, n);
        if self.longest > 0 && is_hidden {
            return true;
        }
        let room = n.max(self.least);
        if self.used + room > self.capacity {
            return false;
        }
        self.used += room;
        self.growth += 1;
        let arm = (lba / self.border) as usize;
        if lba % self.border != 0 {
            if let Some(turn) = self.continued(arm, lba, n, in_place) {
                self.lengthen(arm, turn, n, room);
                return true;
            }
        }
        if self.of_arm.len() <= arm {
            self.of_arm.resize_with(arm + 1, OfArm::default);
        }
        self.turn += 1;
        self.n_waiting += 1;
        self.of_arm[arm].waiting.insert(self.turn, Dirty { seq, lba, n, arrived: now, in_place, room });
        self.by_end.insert((lba + n, self.turn));
        let is_alone = !self.cells.may_touch(lba, n);
        self.cells.count(lba, lba + n);
        if is_alone {
            self.outermost.insert(lba, (lba + n, self.turn));
        } else if is_hidden {
            self.hidden.insert((lba, self.turn));
        } else {
            self.hide_behind(lba, lba + n, self.turn);
        }
        true
    }

    /// The first write that ends at `lba` and stays short enough with `n` blocks more.
    fn continued(&self, arm: usize, lba: i64, n: i64, in_place: bool) -> Option<u64> {
        if !self.cells.may_hold(lba - 1) {
            return None;
        }
        let held = &self.of_arm.get(arm)?.waiting;
        let ends_there = self.by_end.range((lba, 0)..=(lba, u64::MAX)).map(|&(_, turn)| turn);
        let takes = |entry: &Dirty| entry.n + n <= self.longest && entry.in_place == in_place;
        ends_there.into_iter().find(|turn| held.get(turn).is_some_and(takes))
    }

    fn lengthen(&mut self, arm: usize, turn: u64, n: i64, room: i64) {
        let held = &mut self.of_arm[arm];
        let Some(entry) = held.waiting.get_mut(&turn) else { return };
        let end = entry.lba + entry.n;
        entry.n += n;
        if let Ok(at) = held.turns.binary_search(&turn) {
            held.first.change(at, |waiting| waiting.n += n);
        }
        entry.room += room;
        let start = entry.lba;
        self.cells.discount(start, end);
        self.cells.count(start, end + n);
        self.by_end.remove(&(end, turn));
        self.by_end.insert((end + n, turn));
        // what is new of it is not hidden
        self.hidden.remove(&(start, turn));
        self.hide_behind(start, end + n, turn);
    }

    /// A write whose range no other one holds.
    fn hide_behind(&mut self, start: i64, end: i64, turn: u64) {
        while let Some((&first, &(last, other))) = self.outermost.range(start..).next() {
            if last > end {
                break;
            }
            self.outermost.remove(&first);
            if other != turn {
                self.hidden.insert((first, other));
            }
        }
        self.outermost.insert(start, (end, turn));
    }

    fn is_hidden(&self, start: i64, end: i64) -> bool {
        self.outermost.range(..=start).next_back().is_some_and(|(_, &(last, _))| end <= last)
    }

    #[inline]
    pub fn covers(&self, lba: i64, n: i64) -> bool {
        self.n_waiting > 0 && self.cells.may_hold(lba) && self.is_hidden(lba, lba + n)
    }

    /// The writes that wait for an arm, in order of arrival.
    pub fn of_arm(&self, arm: usize) -> impl Iterator<Item = &Dirty> {
        self.of_arm.get(arm).into_iter().flat_map(|held| held.waiting.values())
    }

    /// The first `most` writes that wait for an arm, always as many, as a scheduler looks at them: `as_waiting` says how.
    pub fn first(&mut self, arm: usize, most: usize, as_waiting: impl Fn(&Dirty) -> Waiting) -> &mut Row {
        if self.of_arm.len() <= arm {
            self.of_arm.resize_with(arm + 1, OfArm::default);
        }
        let OfArm { waiting, first, turns, .. } = &mut self.of_arm[arm];
        let behind = turns.last().map_or(0, |last| last + 1);
        for (&turn, entry) in waiting.range(behind..).take(most - first.len()) {
            turns.push(turn);
            first.push(as_waiting(entry));
        }
        first
    }

    /// The write number `at` of these is chosen, and leaves next.
    pub fn choose(&mut self, arm: usize, at: usize) {
        self.of_arm[arm].chosen = at;
    }

    /// Whether write number `seq` does not go to the media cache (rule G2).
    pub fn is_in_place(&self, arm: usize, seq: u64) -> bool {
        self.of_arm(arm).find(|entry| entry.seq == seq).is_some_and(|entry| entry.in_place)
    }

    /// Write number `seq`, one of the first that wait for an arm, goes to the media, where it is at `end`; returns its
    /// room.
    pub fn leave(&mut self, arm: usize, seq: u64, end: i64) -> i64 {
        let held = &mut self.of_arm[arm];
        let Some((turn, Dirty { lba, n, room, .. })) = held.take(seq) else { return 0 };
        self.landing.push((seq, end, turn));
        self.n_waiting -= 1;
        self.by_end.remove(&(lba + n, turn));
        self.cells.discount(lba, lba + n);
        if self.outermost.get(&lba).is_none_or(|&(_, outer)| outer != turn) {
            self.hidden.remove(&(lba, turn));
            return room;
        }
        self.outermost.remove(&lba);
        if !self.hidden.is_empty() {
            self.come_to_light(arm, lba, lba + n);
        }
        room
    }

    /// What a range hid that has gone.
    #[inline(never)]
    fn come_to_light(&mut self, arm: usize, first: i64, last: i64) {
        let inside: Vec<_> = self.hidden.range((first, 0)..(last, 0)).copied().collect();
        for (start, turn) in inside {
            let Some(entry) = self.of_arm[arm].waiting.get(&turn) else { continue };
            let end = start + entry.n;
            if end <= last && !self.is_hidden(start, end) {
                self.hidden.remove(&(start, turn));
                self.hide_behind(start, end, turn);
            }
        }
    }

    /// What took so much room has reached the media now, the first by number of what does so; returns its turn.
    pub fn landed(&mut self, room: i64, now: i64) -> u64 {
        self.used -= room;
        let here = self.landing.iter().enumerate().filter(|(_, &(_, end, _))| end <= now);
        let first = here.min_by_key(|(_, &(seq, ..))| seq).map(|(at, _)| at);
        first.map_or(0, |at| self.landing.swap_remove(at).2)
    }

    /// A write passes the buffer; returns its turn.
    pub fn pass_by(&mut self) -> u64 {
        self.turn += 1;
        self.n_passing += 1;
        self.turn
    }

    /// A write that passed the buffer is on the media.
    pub fn passed_by(&mut self) {
        self.n_passing -= 1;
    }

    /// Writes with a turn that are not on the media, and the last turn.
    pub fn unwritten(&self) -> (usize, u64) {
        (self.n_waiting + self.landing.len() + self.n_passing, self.turn)
    }

    /// The writes that wait for an arm and have a turn up to `last`, in order of arrival.
    pub fn up_to(&self, arm: usize, last: u64) -> impl Iterator<Item = &Dirty> {
        self.of_arm.get(arm).into_iter().flat_map(move |held| held.waiting.range(..=last).map(|(_, entry)| entry))
    }

    pub fn is_empty(&self) -> bool {
        self.n_waiting == 0
    }

    /// Writes that wait for an arm.
    pub fn n_waiting(&self, arm: usize) -> usize {
        self.of_arm.get(arm).map_or(0, |held| held.waiting.len())
    }

    pub fn is_pressing(&self) -> bool {
        2 * self.used > self.capacity
    }

    /// Whether everything below number `seq` is on the media.
    pub fn is_durable(&self, seq: u64) -> bool {
        self.of_arm.iter().flat_map(|held| held.waiting.values()).all(|entry| entry.seq >= seq)
            && self.landing.iter().all(|&(landing, ..)| landing >= seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    /// The rule as the page states it, by looking at every write.
    #[derive(Default)]
    struct Plain {
        used: i64,
        waiting: Vec<Dirty>,
    }

    impl Plain {
        fn covers(&self, lba: i64, n: i64) -> bool {
            self.waiting.iter().any(|e| e.lba <= lba && lba + n <= e.lba + e.n)
        }

        fn accept(&mut self, buffer: &DirtyBuffer, write: Dirty) -> bool {
            let Dirty { lba, n, .. } = write;
            if buffer.longest > 0 && self.covers(lba, n) {
                return true;
            }
            if self.used + write.room > buffer.capacity {
                return false;
            }
            self.used += write.room;
            let joins = |e: &&mut Dirty| e.lba + e.n == lba && e.n + n <= buffer.longest && lba % buffer.border != 0;
            match self.waiting.iter_mut().find(joins) {
                Some(entry) => {
                    entry.n += n;
                    entry.room += write.room;
                }
                None => self.waiting.push(write),
            }
            true
        }
    }

    #[test]
    fn the_same_writes_wait_as_by_looking_at_every_one() {
        // of drives that join writes, and of one that takes each of them
        for longest in [32, 0] {
            the_same_writes_wait(longest);
        }
    }

    fn the_same_writes_wait(longest: i64) {
        let mut below = drawn_from(3);
        let mut buffer = DirtyBuffer::new(600, longest, 4096, 3);
        let mut plain = Plain::default();
        for seq in 0..60_000 {
            // close together, so that writes join, hide and overlap each other, in and between several cells
            let lba = 4096 * below(2) + [0, 1_000, 3_900][below(3) as usize] + below(120);
            let n = (1 + below(if seq % 5 == 0 { 40 } else { 4 })).min(4096 - lba % 4096);
            let seq = seq as u64;
            assert_eq!(buffer.covers(lba, n), plain.covers(lba, n), "write {seq}");
            let taken = plain.accept(&buffer, Dirty { seq, lba, n, arrived: 0, in_place: false, room: n.max(3) });
            assert_eq!(buffer.accept(seq, lba, n, 0, false), taken, "write {seq}");
            if below(3) == 0 && !plain.waiting.is_empty() {
                let gone = plain.waiting.remove(below(plain.waiting.len() as i64) as usize);
                plain.used -= gone.room;
                let room = buffer.leave((gone.lba / 4096) as usize, gone.seq, 1);
                buffer.landed(room, 1);
            }
            let facts = |e: &Dirty| (e.seq, e.lba, e.n);
            let expected = |arm| plain.waiting.iter().filter(move |e| e.lba / 4096 == arm).map(facts);
            let as_waiting = |e: &Dirty| Waiting { seq: e.seq, lba: e.lba, n: e.n, ..Waiting::default() };
            for arm in 0..2 {
                assert!(buffer.of_arm(arm).map(facts).eq(expected(arm as i64)), "write {seq}");
                let first = buffer.first(arm, 12, as_waiting).commands().iter().map(|w| (w.seq, w.lba, w.n));
                assert!(first.eq(expected(arm as i64).take(12)), "write {seq}");
            }
            assert_eq!((buffer.used, buffer.is_empty()), (plain.used, plain.waiting.is_empty()));
        }
    }
}

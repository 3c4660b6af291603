//! Dirty blocks of a write-back cache: what is held, and what is written next (rules K7 to K9); see
//! `diskmodel/controller/dirty_blocks.py`.

use super::block_set::{Ascending, BlockSet};
use crate::schema::record;

record! {
    /// How an array is divided for destaging, as `diskmodel.controller.dirty_blocks.Lanes`.
    #[derive(Clone, Copy, Debug)]
    pub struct Lanes {
        pub n: i64,
        pub block_sectors: i64,
        pub stripe_sectors: i64,
        pub lane_sectors: i64,
        pub lane_step: i64,
        pub strip_sectors: i64,
        pub strip_cost: i64,
        pub stripe_cost: i64,
        pub next_sectors: i64,
        pub budget: i64,
        pub most: i64,
    }
}

impl Lanes {
    /// The lane in which a block's first sector lies.
    pub fn lane_of(&self, block: i64) -> usize {
        if self.n == 1 {
            return 0;
        }
        (block * self.block_sectors / self.lane_sectors * self.lane_step % self.n) as usize
    }

    /// Blocks [first, end) piece by piece, each of one lane: the lane, the first block and the one behind the last.
    fn pieces(self, mut first: i64, end: i64) -> impl Iterator<Item = (usize, i64, i64)> {
        std::iter::from_fn(move || {
            if first >= end {
                return None;
            }
            let begin = first;
            first = if self.n == 1 { end } else { end.min(self.lane_end(begin)) };
            Some((self.lane_of(begin), begin, first))
        })
    }

    /// The first block that does not lie in the lane of a block any more.
    fn lane_end(&self, block: i64) -> i64 {
        let end = (block * self.block_sectors / self.lane_sectors + 1) * self.lane_sectors;
        (end + self.block_sectors - 1) / self.block_sectors
    }

    /// The first block that does not lie in the stripe of a block any more.
    fn stripe_end(&self, block: i64) -> i64 {
        let stripe = block * self.block_sectors / self.stripe_sectors;
        let end = (stripe + 1) * self.stripe_sectors;
        (end + self.block_sectors - 1) / self.block_sectors
    }

    /// The block that follows on the disks of a lane on a run before block `end`.
    fn next_of(&self, end: i64) -> i64 {
        let stripe = (end - 1) * self.block_sectors / self.stripe_sectors;
        if end < self.stripe_end(end - 1) {
            return end;
        }
        (stripe * self.stripe_sectors + self.next_sectors + self.block_sectors - 1) / self.block_sectors
    }

    /// Strips that are written when blocks [first, end) are.
    fn cost(&self, first: i64, end: i64) -> i64 {
        let last = (end * self.block_sectors - 1) / self.strip_sectors;
        let n_strips = last - first * self.block_sectors / self.strip_sectors + 1;
        n_strips * self.strip_cost + self.stripe_cost
    }
}

/// Blocks that wait for the disks of one lane, where its sweep is, and strips that are in flight.
#[derive(Clone)]
struct Lane {
    blocks: BlockSet,
    sweep: i64,
    follows: i64,
    under_way: i64,
}

impl Default for Lane {
    fn default() -> Self {
        Lane { blocks: BlockSet::default(), sweep: 0, follows: -1, under_way: 0 }
    }
}

impl Lane {
    /// The block with which the next run begins: upwards from the last ones and round again.
    fn first(&self) -> Option<i64> {
        self.blocks.next_from(self.sweep).or_else(|| self.blocks.next_from(0))
    }

    /// Whether another run may begin: a new destage, or one that follows on the last one (rule K9).
    fn may_write(&self, lanes: &Lanes) -> bool {
        if self.blocks.is_empty() {
            return false;
        }
        self.under_way < lanes.budget || (self.under_way < lanes.most && self.first() == Some(self.follows))
    }

    /// Adjacent blocks of one stripe, and lines in which none waits then.
    fn take(&mut self, lanes: &Lanes, line: i64) -> Option<(i64, i64, i64)> {
        let first = self.first()?;
        let end = self.blocks.run_end(first, lanes.stripe_end(first));
        let before = self.blocks.lines(first, end, line);
        self.blocks.remove(first, end);
        self.sweep = end;
        self.follows = lanes.next_of(end);
        Some((first, end, before - self.blocks.lines(first, end, line)))
    }
}

pub struct DirtyBlocks {
    /// Lines.
    capacity: i64,
    /// Destaging starts when more than `high` lines wait and stops at `low`.
    high: i64,
    low: i64,
    /// Blocks of a line.
    line: i64,
    lanes: Lanes,
    waiting: Vec<Lane>,
    n_waiting: i64,
    in_flight: BlockSet,
    /// Lines that blocks take that wait, and that are in flight.
    waiting_lines: i64,
    flight_lines: i64,
    next_lane: usize,
    is_destaging: bool,
    /// New lines of the write that found no room last: while it waits nothing else is accepted, so that they do not
    /// become fewer, and are not counted anew at every destage.
    refused: i64,
}

impl DirtyBlocks {
    pub fn new(capacity: i64, high: i64, low: i64, line: i64, lanes: Lanes) -> Self {
        DirtyBlocks {
            capacity,
            high,
            low,
            line,
            waiting: vec![Lane::default(); lanes.n as usize],
            lanes,
            n_waiting: 0,
            in_flight: BlockSet::default(),
            waiting_lines: 0,
            flight_lines: 0,
            next_lane: 0,
            is_destaging: false,
            refused: 0,
        }
    }

    /// Blocks that are not on the disks.
    pub fn n_blocks(&self) -> i64 {
        self.n_waiting + self.in_flight.len()
    }

    /// Lines that blocks [first, end) touch.
    fn touched(&self, first: i64, end: i64) -> i64 {
        (end - 1) / self.line - first / self.line + 1
    }

    /// Whether blocks [first, end) fit into an empty cache.
    pub fn fits(&self, first: i64, end: i64) -> bool {
        // a line that lies in two lanes takes room for both
        let room = || self.lanes.pieces(first, end).map(|(_, first, end)| self.touched(first, end)).sum::<i64>();
        2 * self.touched(first, end) <= self.capacity || room() <= self.capacity
    }

    fn used(&self) -> i64 {
        self.waiting_lines + self.flight_lines
    }

    pub fn contains(&self, block: i64) -> bool {
        self.waiting[self.lanes.lane_of(block)].blocks.contains(block) || self.in_flight.contains(block)
    }

    /// Blocks that wait when the run begins, in ascending order (rule Z4).
    pub fn load(&mut self, blocks: &[i64]) {
        let mut of_lane = vec![Ascending::default(); self.waiting.len()];
        let mut last_lines = vec![-1; self.waiting.len()];
        for run in blocks.chunk_by(|a, b| a + 1 == *b) {
            for (lane, first, end) in self.lanes.pieces(run[0], run[run.len() - 1] + 1) {
                of_lane[lane].push(first, end);
                self.waiting_lines += self.touched(first, end) - i64::from(first / self.line == last_lines[lane]);
                last_lines[lane] = (end - 1) / self.line;
            }
        }
        for (lane, own) in self.waiting.iter_mut().zip(of_lane) {
            lane.blocks = own.into();
        }
        self.n_waiting = blocks.len() as i64;
    }

    /// Whether the write that found no room last would still find none.
    pub fn is_still_full(&self) -> bool {
        self.refused > 0 && self.used() + self.refused > self.capacity
    }

    /// Takes blocks [first, end) if there is room; a line in which a block waits already takes no more (rule K7).
    pub fn accept(&mut self, first: i64, end: i64) -> bool {
        if self.used() + self.refused > self.capacity {
            return false;
        }
        let (line, waiting) = (self.line, &self.waiting);
        let free = |(lane, first, end): (usize, _, _)| {
            let blocks: &BlockSet = &waiting[lane].blocks;
            let new = end - first - blocks.count(first, end);
            (new, if line == 1 { new } else { self.touched(first, end) - blocks.lines(first, end, line) })
        };
        let add = |(a, b): (i64, i64), (c, d): (i64, i64)| (a + c, b + d);
        let (new_blocks, new) = self.lanes.pieces(first, end).map(free).fold((0, 0), add);
        self.refused = new;
        if self.used() + new > self.capacity {
            return false;
        }
        self.refused = 0;
        for (lane, first, end) in self.lanes.pieces(first, end) {
            self.waiting[lane].blocks.insert(first, end);
        }
        self.n_waiting += new_blocks;
        self.waiting_lines += new;
        true
    }

    /// Adjacent dirty blocks [first, end) to write next (rules K8, K9); none when nothing may be written now.
    ///
    /// `is_pressed`: a write waits for room, so that the low mark does not count.
    pub fn next_run(&mut self, is_pressed: bool) -> Option<(i64, i64)> {
        if self.waiting_lines > self.high {
            self.is_destaging = true;
        } else if self.waiting_lines <= self.low {
            self.is_destaging = false;
        }
        if !(self.is_destaging || is_pressed) {
            return None;
        }
        let n = self.waiting.len();
        let turns = (self.next_lane..n).chain(0..self.next_lane);
        let at = turns.into_iter().find(|&at| self.waiting[at].may_write(&self.lanes))?;
        self.next_lane = (at + 1) % n;
        let lane = &mut self.waiting[at];
        let (first, end, lines) = lane.take(&self.lanes, self.line)?;
        lane.under_way += self.lanes.cost(first, end);
        self.n_waiting -= end - first;
        self.waiting_lines -= lines;
        self.flight_lines -= self.in_flight.lines(first, end, self.line);
        self.in_flight.insert(first, end);
        self.flight_lines += self.in_flight.lines(first, end, self.line);
        Some((first, end))
    }

    /// Blocks [first, end) have reached the disks.
    pub fn written(&mut self, first: i64, end: i64) {
        self.waiting[self.lanes.lane_of(first)].under_way -= self.lanes.cost(first, end);
        self.flight_lines -= self.in_flight.lines(first, end, self.line);
        self.in_flight.remove(first, end);
        self.flight_lines += self.in_flight.lines(first, end, self.line);
    }
}

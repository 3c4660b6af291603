//! Dirty blocks of a write-back cache: what is held, and what is written next (rules K7 to K9); see
//! `diskmodel/controller/dirty_blocks.py`.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::faults::{planted, Fault};

pub struct DirtyBlocks {
    pub capacity: i64,
    /// Destaging starts when more than `high` are dirty and stops at `low`.
    high: i64,
    low: i64,
    /// Most blocks written in one go.
    longest: i64,
    waiting: BTreeSet<i64>,
    in_flight: FxHashSet<i64>,
    sweep: i64,
    is_destaging: bool,
}

impl DirtyBlocks {
    pub fn new(capacity: i64, high: i64, low: i64, longest: i64) -> Self {
        DirtyBlocks {
            capacity,
            high: high - i64::from(planted(Fault::HighMark)),
            low: low + i64::from(planted(Fault::LowMark)),
            longest: longest + i64::from(planted(Fault::DestageLength)),
            waiting: BTreeSet::new(),
            in_flight: FxHashSet::default(),
            sweep: 0,
            is_destaging: false,
        }
    }

    fn used(&self) -> i64 {
        (self.waiting.len() + self.in_flight.len()) as i64
    }

    pub fn contains(&self, block: i64) -> bool {
        self.waiting.contains(&block) || self.in_flight.contains(&block)
    }

    /// Takes blocks [first, end) if there is room; a block that waits already takes no more (rule K7).
    pub fn accept(&mut self, first: i64, end: i64) -> bool {
        let held = self.waiting.range(first..end).count() as i64;
        if self.used() + (end - first - held) > self.capacity {
            return false;
        }
        self.waiting.extend(first..end);
        true
    }

    /// Adjacent dirty blocks [first, end) to write next, upwards from the last ones and round again (rule K8).
    ///
    /// `is_pressed`: a write waits for room, so that the low mark does not count.
    pub fn next_run(&mut self, is_pressed: bool) -> Option<(i64, i64)> {
        if self.used() > self.high {
            self.is_destaging = true;
        } else if self.waiting.len() as i64 <= self.low {
            self.is_destaging = false;
        }
        if !(self.is_destaging || is_pressed) {
            return None;
        }
        let sweep = self.sweep + i64::from(planted(Fault::DestageSweep));
        let first = *self.waiting.range(sweep..).next().or_else(|| self.waiting.first())?;
        let mut end = first;
        while end - first < self.longest && self.waiting.remove(&end) {
            self.in_flight.insert(end);
            end += 1;
        }
        self.sweep = end;
        Some((first, end))
    }

    /// Blocks [first, end) have reached the disks.
    pub fn written(&mut self, first: i64, end: i64) {
        for block in first..end {
            self.in_flight.remove(&block);
        }
    }
}

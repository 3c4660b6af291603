//! Writes that the drive's buffer has taken and that are not on the media yet (rules C7 and C8).

use crate::faults::{planted, Fault};

#[derive(Clone, Copy, Debug)]
pub struct Dirty {
    pub seq: u64,
    pub lba: i64,
    pub n: i64,
    pub arrived: i64,
}

/// Dirty data of a write-back drive, in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct DirtyBuffer {
    pub capacity: i64,
    pub longest: i64,
    /// Blocks of one actuator: what another arm writes is no continuation.
    pub border: i64,
    pub used: i64,
    pub waiting: Vec<Dirty>,
    /// Grows when more is held than before.
    pub growth: i64,
    /// On its way to the media: (number, when it is there).
    pub landing: Vec<(u64, i64)>,
}

impl DirtyBuffer {
    pub fn accept(&mut self, seq: u64, lba: i64, n: i64, now: i64) -> bool {
        if self.capacity == 0 {
            return false;
        }
        if self.covers(lba, n) {
            return true;
        }
        if self.used + n > self.capacity {
            return false;
        }
        self.used += n;
        self.growth += 1;
        for entry in &mut self.waiting {
            if entry.lba + entry.n == lba && entry.n + n <= self.longest && lba % self.border != 0 {
                entry.n += n;
                return true;
            }
        }
        self.waiting.push(Dirty { seq, lba, n, arrived: now });
        true
    }

    pub fn covers(&self, lba: i64, n: i64) -> bool {
        self.waiting.iter().any(|e| e.lba <= lba && lba + n <= e.lba + e.n)
    }

    pub fn is_pressing(&self) -> bool {
        2 * self.used + i64::from(planted(Fault::DestagePressure)) > self.capacity
    }
}

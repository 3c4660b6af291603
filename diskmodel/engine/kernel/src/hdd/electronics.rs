//! Electronics and buffer of a drive: sizes, and the time that its interface takes.

use crate::device::Intake;
use crate::divisor::Divisor;
use crate::faults::{planted, Fault};

const NS_PER_S: i64 = 1_000_000_000;

/// What a drive sends its data over (rule D6).
#[derive(Clone, Copy, Debug)]
pub struct Bus {
    sector_bytes_ns: i64,
    by_rate: Divisor,
}

impl Bus {
    pub fn new(sector_bytes: i64, bytes_per_s: i64) -> Self {
        Bus { sector_bytes_ns: sector_bytes * NS_PER_S, by_rate: Divisor::new(bytes_per_s) }
    }

    /// Time that `n` sectors take.
    #[inline]
    pub fn time_ns(&self, n: i64) -> i64 {
        self.by_rate.of(n * self.sector_bytes_ns)
    }
}

/// Electronics and buffer of a drive, the same for every disk of an array.
#[derive(Clone, Debug)]
pub struct Electronics {
    pub sector_bytes: i64,
    pub n_sectors: i64,
    pub n_sectors_per_actuator: i64,
    pub actuators: i64,
    pub completion_overhead_ns: i64,
    pub bus: Bus,
    pub cache_segments: i64,
    pub segment_sectors: i64,
    pub read_ahead_sectors: i64,
    pub dirty_sectors: i64,
    pub weighed_commands: usize,
    pub weighed_writes: usize,
    pub intake: Intake,
}

impl Electronics {
    /// Where read-ahead behind a read that ends at `end` stops (rule C3).
    pub(super) fn stream_limit(&self, first_lba: i64, end: i64) -> i64 {
        let last = (first_lba + self.n_sectors_per_actuator).min(self.n_sectors);
        (end + self.read_ahead_sectors + i64::from(planted(Fault::ReadAheadLimit))).min(last)
    }
}

//! Electronics and buffer of a drive: sizes, and the time that its interface takes.

use crate::device::Intake;
use crate::faults::{planted, Fault};

const NS_PER_S: i64 = 1_000_000_000;

/// Electronics and buffer of a drive, the same for every disk of an array.
#[derive(Clone, Debug)]
pub struct Electronics {
    pub sector_bytes: i64,
    pub n_sectors: i64,
    pub n_sectors_per_actuator: i64,
    pub actuators: i64,
    pub completion_overhead_ns: i64,
    pub interface_bytes_per_s: i64,
    pub cache_segments: i64,
    pub segment_sectors: i64,
    pub read_ahead_sectors: i64,
    pub dirty_sectors: i64,
    pub weighed_commands: usize,
    pub weighed_writes: usize,
    pub intake: Intake,
}

impl Electronics {
    pub(super) fn bus_ns(&self, n: i64) -> i64 {
        n * self.sector_bytes * NS_PER_S / self.interface_bytes_per_s
    }

    /// Where read-ahead behind a read that ends at `end` stops (rule C3).
    pub(super) fn stream_limit(&self, first_lba: i64, end: i64) -> i64 {
        let last = (first_lba + self.n_sectors_per_actuator).min(self.n_sectors);
        (end + self.read_ahead_sectors + i64::from(planted(Fault::ReadAheadLimit))).min(last)
    }
}

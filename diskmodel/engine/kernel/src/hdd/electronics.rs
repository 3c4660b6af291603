//! Electronics and buffer of a drive: sizes, and the time that its interface takes.

use std::ops::Deref;

use super::Model;
use crate::device::Intake;
use crate::divisor::Divisor;
use crate::mechanics::WRITE;
use crate::scenario::HddTables;
use crate::units::NS_PER_S;

/// What a drive sends its data over (rule D6).
#[derive(Clone, Copy, Debug)]
pub struct Bus {
    sector_bytes_ns: i64,
    by_rate: Divisor,
    /// Time that one sector takes.
    sector_ns: i64,
}

impl Bus {
    pub fn new(sector_bytes: i64, bytes_per_s: i64) -> Self {
        let (sector_bytes_ns, by_rate) = (sector_bytes * NS_PER_S, Divisor::new(bytes_per_s));
        Bus { sector_bytes_ns, by_rate, sector_ns: by_rate.of(sector_bytes_ns) }
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
    /// Without the columns of which the mechanics are made.
    pub tables: HddTables,
    pub bus: Bus,
    pub intake: Intake,
}

impl Deref for Electronics {
    type Target = HddTables;

    #[inline(always)]
    fn deref(&self) -> &HddTables {
        &self.tables
    }
}

impl Electronics {
    /// When a read of `n` sectors has been sent whose first sector had passed at `first_end` and whose last one at `end`
    /// (rule D6).
    pub(super) fn sent(&self, first_end: i64, end: i64, n: i64) -> i64 {
        let last_ns = self.bus.sector_ns;
        let filling = if self.buffer_full_ppm > 0 { self.filling_ns(end - first_end) } else { 0 };
        (end + last_ns).max(first_end + filling + self.bus.time_ns(n))
    }

    /// Part of the time for which sectors pass under the head after which the buffer sends them.
    fn filling_ns(&self, passing: i64) -> i64 {
        let passing = passing.max(0);
        // whole millions apart: the product of a long way and its share would leave 64 bits
        let (millions, rest) = (passing / 1_000_000, passing % 1_000_000);
        millions * self.buffer_full_ppm + rest * self.buffer_full_ppm / 1_000_000
    }

    /// Whether a write does more to the segments than to drop those that it overlaps (rule C6).
    #[inline]
    pub(super) fn changes_segments(&self) -> bool {
        self.writes_drop_all || self.keeps_writes
    }

    /// When enough of a write that gets ready at `ready` has come (rule D9).
    pub(super) fn data_ns(&self, n: i64, ready: i64) -> i64 {
        ready + self.bus.time_ns(n.min(self.prefill_sectors).max(0))
    }

    /// From the end of the media access or of the bus to completion (rule D4).
    pub(super) fn tail_ns(&self, op: u8) -> i64 {
        if op == WRITE {
            self.write_completion_overhead_ns
        } else {
            self.completion_overhead_ns
        }
    }
}

impl Model {
    /// Sectors before block `lba` that passed under the head while it waited `wait` ns for that block (rule C10).
    pub(super) fn passed(&self, first_lba: i64, lba: i64, wait: i64, revolution: i64) -> i64 {
        if !self.electronics.read_on_arrival {
            return 0;
        }
        let place = self.mechanics.zones.place(lba - first_lba);
        (wait * self.mechanics.zones.of(&place).per_track / revolution).min(i64::from(place.sector))
    }

    /// Where read-ahead behind a read of the blocks from `start` to `end` stops (rule C3).
    pub(super) fn stream_limit(&self, first_lba: i64, start: i64, end: i64) -> i64 {
        let e = &self.electronics;
        let last = (first_lba + e.n_sectors_per_actuator).min(e.n_sectors);
        let limit = (end + e.read_ahead_sectors).min(last);
        if !e.read_ahead_in_track {
            return limit;
        }
        let place = self.mechanics.zones.place(end - 1 - first_lba);
        let goes_across = end - start > i64::from(place.sector) + 1;
        if e.read_ahead_in_own_track && goes_across {
            return limit;
        }
        limit.min(end - 1 + self.mechanics.zones.left_on_track(&place))
    }
}

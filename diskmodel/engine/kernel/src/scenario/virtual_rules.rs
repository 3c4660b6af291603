//! What a virtual disk's tables must satisfy.

use super::VirtualTables;
use crate::rule::{all_within, each_within, within};
use crate::rule::{MAX_DRIVE_BYTES, MAX_RATE, MAX_SECTOR_BYTES, MAX_TIME_NS, MIN_RATE};

impl VirtualTables {
    pub(crate) fn check(&self) -> Result<(), String> {
        within("drive.sector_bytes", self.sector_bytes, 1, MAX_SECTOR_BYTES)?;
        within("drive.n_sectors", self.n_sectors, 1, MAX_DRIVE_BYTES / self.sector_bytes)?;
        let overheads =
            [("drive.read_overhead_ns", self.read_overhead_ns), ("drive.write_overhead_ns", self.write_overhead_ns)];
        all_within(&overheads, 0, MAX_TIME_NS)?;
        let latencies =
            [("drive.read_latency_ns", self.read_latency_ns), ("drive.write_latency_ns", self.write_latency_ns)];
        all_within(&latencies, 0, MAX_TIME_NS)?;
        // no command ends at the instant at which it comes
        for ((field, overhead), (_, latency)) in overheads.into_iter().zip(latencies) {
            within(field, overhead, i64::from(latency == 0), MAX_TIME_NS)?;
        }
        each_within("drive.wake_ns", &self.wake_ns, 0, MAX_TIME_NS)?;
        for (field, rate) in [
            ("drive.read_copy_bytes_per_s", self.read_copy_bytes_per_s),
            ("drive.write_copy_bytes_per_s", self.write_copy_bytes_per_s),
        ] {
            if rate != 0 {
                within(field, rate, MIN_RATE, MAX_RATE)?;
            }
        }
        Ok(())
    }
}

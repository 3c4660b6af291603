//! A volume's tables as a caller hands them over, and what they must satisfy.

use crate::rule::{each_within, has_length, holds, within};
use crate::rule::{MAX_DRIVE_BYTES, MAX_LENGTH_BYTES, MAX_RATE, MAX_SECTOR_BYTES, MAX_TIME_NS};
use crate::schema::record;

record! {
    /// A volume's tables.
    #[derive(Clone, Debug)]
    pub struct CloudTables {
        pub sector_bytes: i64,
        pub n_sectors: i64,
        /// Limits of operations a second and of bytes a second, each list from the highest down.
        pub op_rates: Vec<i64>,
        pub byte_rates: Vec<i64>,
        /// By how much a limit may be ahead of its rate.
        pub op_bursts_ns: Vec<i64>,
        pub byte_bursts_ns: Vec<i64>,
        /// Longer runs count as several operations.
        pub op_bytes: i64,
        /// What a run counts for at least.
        pub least_bytes: i64,
        /// Whether what continues the command before belongs to its run.
        pub merges: bool,
        pub read_delay_ns: Vec<i64>,
        pub write_delay_ns: Vec<i64>,
        /// Whether nothing is left of the bursts at first.
        pub is_spent: bool,
    }
}

/// Longest time that a limit may be ahead of its rate: two years.
const MAX_BURST_NS: i64 = 1 << 56;

impl CloudTables {
    pub fn check(&self) -> Result<(), String> {
        within("drive.sector_bytes", self.sector_bytes, 1, MAX_SECTOR_BYTES)?;
        within("drive.n_sectors", self.n_sectors, 1, MAX_DRIVE_BYTES / self.sector_bytes)?;
        within("drive.op_bytes", self.op_bytes, self.sector_bytes, MAX_LENGTH_BYTES)?;
        let is_whole = self.op_bytes % self.sector_bytes == 0;
        holds(is_whole, "drive.op_bytes", self.op_bytes, "must be a multiple of the sector")?;
        within("drive.least_bytes", self.least_bytes, 0, MAX_LENGTH_BYTES)?;
        for (rates, bursts, name) in
            [(&self.op_rates, &self.op_bursts_ns, "op"), (&self.byte_rates, &self.byte_bursts_ns, "byte")]
        {
            each_within(&format!("drive.{name}_rates"), rates, 1, MAX_RATE)?;
            has_length(&format!("drive.{name}_bursts_ns"), bursts.len(), rates.len())?;
            each_within(&format!("drive.{name}_bursts_ns"), bursts, 0, MAX_BURST_NS)?;
        }
        each_within("drive.read_delay_ns", &self.read_delay_ns, 0, MAX_TIME_NS)?;
        each_within("drive.write_delay_ns", &self.write_delay_ns, 0, MAX_TIME_NS)
    }
}

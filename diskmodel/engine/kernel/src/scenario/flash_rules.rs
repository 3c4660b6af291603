//! What a flash drive's tables must keep.

use super::layout::gcd;
use super::{FlashTables, FtlTables};
use crate::rule::{all_within, each_within, has_length, holds, size_within, within};
use crate::rule::{MAX_DRIVE_BYTES, MAX_LENGTH_BYTES, MAX_RATE, MAX_SECTORS, MAX_SECTOR_BYTES, MAX_TIME_NS, MIN_RATE};

const MAX_DIES: i64 = 1 << 20;
const MAX_PAGES_PER_BLOCK: i64 = 1 << 24;
/// The longest time of so many units fits into 64 bits.
const MAX_PACE_UNITS: i64 = 1 << 20;
/// Units that the model of garbage collection may hold, the reserve included: they are numbered in 32 bits.
const MAX_MODEL_UNITS: i64 = 1 << 30;

impl FlashTables {
    pub(super) fn check(&self) -> Result<(), String> {
        within("drive.sector_bytes", self.sector_bytes, 1, MAX_SECTOR_BYTES)?;
        within("drive.n_sectors", self.n_sectors, 1, MAX_DRIVE_BYTES / self.sector_bytes)?;
        size_within("drive.channels", self.channels, 1, MAX_DIES)?;
        size_within("drive.dies_per_channel", self.dies_per_channel, 1, MAX_DIES / self.channels as i64)?;
        within("drive.pages_per_block", self.pages_per_block, 1, MAX_PAGES_PER_BLOCK)?;
        within("drive.page_bytes", self.page_bytes, 1, MAX_LENGTH_BYTES)?;
        within("drive.mapping_bytes", self.mapping_bytes, self.sector_bytes, self.page_bytes)?;
        let rule = "must be a multiple of drive.sector_bytes";
        holds(self.mapping_bytes % self.sector_bytes == 0, "drive.mapping_bytes", self.mapping_bytes, rule)?;
        let rule = "must be a multiple of drive.mapping_bytes";
        holds(self.page_bytes % self.mapping_bytes == 0, "drive.page_bytes", self.page_bytes, rule)?;
        within("drive.write_buffer_bytes", self.write_buffer_bytes, 0, MAX_DRIVE_BYTES)?;
        let dies =
            [("drive.read_ns", self.read_ns), ("drive.program_ns", self.program_ns), ("drive.erase_ns", self.erase_ns)];
        all_within(&dies, 1, MAX_TIME_NS)?;
        let times = [
            ("drive.read_overhead_ns", self.read_overhead_ns),
            ("drive.write_overhead_ns", self.write_overhead_ns),
            ("drive.read_latency_ns", self.read_latency_ns),
            ("drive.write_latency_ns", self.write_latency_ns),
            ("drive.flush_ns", self.flush_ns),
            ("drive.batch_ns", self.batch_ns),
            ("drive.read_beside_writes_ns", self.read_beside_writes_ns),
            ("drive.program_beside_reads_ns", self.program_beside_reads_ns),
        ];
        all_within(&times, 0, MAX_TIME_NS)?;
        each_within("drive.read_delay_ns", &self.read_delay_ns, 0, MAX_TIME_NS)?;
        each_within("drive.write_delay_ns", &self.write_delay_ns, 0, MAX_TIME_NS)?;
        each_within("drive.suspend_ns", &self.suspend_ns, 0, MAX_TIME_NS)?;
        within("drive.batch_units", self.batch_units, 1, MAX_SECTORS)?;
        within("drive.batch_room_units", self.batch_room_units, 1, MAX_SECTORS)?;
        within("drive.pace_units", self.pace_units, 0, MAX_PACE_UNITS)?;
        let wires = [
            ("drive.channel_bytes_per_s", self.channel_bytes_per_s),
            ("drive.interface_bytes_per_s", self.interface_bytes_per_s),
        ];
        all_within(&wires, MIN_RATE, MAX_RATE)?;
        self.ftl.check(self.page_bytes / self.mapping_bytes)
    }

    /// Mapping units of the drive; the last one may be smaller.
    pub(super) fn n_units(&self) -> i64 {
        let per_unit = self.mapping_bytes / self.sector_bytes;
        (self.n_sectors + per_unit - 1) / per_unit
    }

    /// Bytes that the state of one drive takes at the beginning, about.
    pub(super) fn state_bytes(&self) -> i64 {
        let ftl = &self.ftl;
        let dies = 128 * (self.channels * self.dies_per_channel) as i64;
        let blocks = ftl.model_blocks as i64 + 2;
        dies + 8 * ftl.units_per_page + 4 * ftl.model_units + blocks * (24 + 4 * ftl.block_units)
    }
}

impl FtlTables {
    /// The model stands for a drive of so many units in a page.
    fn check(&self, units_per_page: i64) -> Result<(), String> {
        within("drive.ftl.units_per_page", self.units_per_page, units_per_page, units_per_page)?;
        within("drive.ftl.n_units", self.n_units, 1, MAX_SECTORS)?;
        within("drive.ftl.physical_units", self.physical_units, 0, i64::MAX)?;
        within("drive.ftl.block_units", self.block_units, 1, MAX_MODEL_UNITS)?;
        let most_blocks = MAX_MODEL_UNITS / self.block_units - 2;
        size_within("drive.ftl.model_blocks", self.model_blocks, 1, most_blocks)?;
        let blocks = self.model_blocks as i64;
        within("drive.ftl.model_units", self.model_units, 1, blocks * self.block_units - 1)?;
        self.check_folding()?;
        has_length("drive.ftl.valid", self.valid.len(), self.model_blocks)?;
        each_within("drive.ftl.valid", &self.valid, 0, self.block_units)?;
        let held: i64 = self.valid.iter().sum();
        let most = self.model_units;
        holds(held <= most, "drive.ftl.valid", format_args!("(sum {held})"), format_args!("must be {most} at most"))?;
        within("drive.ftl.stride", self.stride, 1, i64::from(u32::MAX))?;
        let is_coprime = gcd(self.stride, self.model_units) == 1;
        holds(is_coprime, "drive.ftl.stride", self.stride, "must have no divisor in common with drive.ftl.model_units")
    }

    /// Every unit of the drive falls on one of the model.
    fn check_folding(&self) -> Result<(), String> {
        if self.is_exact {
            return within("drive.ftl.n_units", self.n_units, 1, self.model_units);
        }
        within("drive.ftl.extent_units", self.extent_units, 1, self.model_units)?;
        within("drive.ftl.folded_extents", self.folded_extents, 1, self.model_units / self.extent_units)?;
        let least = (self.n_units + self.extent_units - 1) / self.extent_units;
        within("drive.ftl.n_extents", self.n_extents, least, i64::MAX / self.folded_extents)
    }
}

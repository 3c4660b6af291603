//! What a hard disk's tables must keep.

use super::HddTables;
use crate::mechanics::Seeks;
use crate::media_cache::MediaCacheTables;
use crate::rule::{all_within, ascending, each_within, has_length, holds, size_within, within};
use crate::rule::{
    MAX_APART_NS, MAX_DEPTH, MAX_DRIVE_BYTES, MAX_RATE, MAX_SECTORS, MAX_SECTOR_BYTES, MAX_TIME_NS, MIN_RATE,
};

const MAX_ZONES: usize = 1 << 16;
const MAX_CYLINDERS: i64 = 1 << 28;
/// Extents that are written back together.
const MAX_EXTENTS: i64 = 1 << 20;
const MAX_HEADS: i64 = 1 << 12;
const MAX_PER_TRACK: i64 = 1 << 21;
const MAX_ACTUATORS: i64 = 4;
const MAX_REVOLUTION_NS: i64 = 1 << 42;
/// Sectors of a track times ns of a revolution, of which angles are quotients.
const MAX_ANGLE: i64 = 1 << 62;

impl HddTables {
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_sizes()?;
        self.check_zones()?;
        self.check_chances()?;
        let times = [
            ("drive.head_switch_ns", self.head_switch_ns),
            ("drive.write_settle_ns", self.write_settle_ns),
            ("drive.read_overhead_ns", self.read_overhead_ns),
            ("drive.write_overhead_ns", self.write_overhead_ns),
            ("drive.overdue_ns", self.overdue_ns),
            ("drive.completion_overhead_ns", self.completion_overhead_ns),
            ("drive.write_completion_overhead_ns", self.write_completion_overhead_ns),
        ];
        all_within(&times, 0, MAX_TIME_NS)?;
        within("drive.interface_bytes_per_s", self.interface_bytes_per_s, MIN_RATE, MAX_RATE)?;
        within("drive.buffer_full_ppm", self.buffer_full_ppm, 0, 1_000_000)?;
        within("drive.cache_segments", self.cache_segments, 0, MAX_DEPTH)?;
        within("drive.segment_sectors", self.segment_sectors, 1, MAX_SECTORS)?;
        let lengths =
            [("drive.prefill_sectors", self.prefill_sectors), ("drive.read_ahead_sectors", self.read_ahead_sectors)];
        all_within(&lengths, 0, MAX_SECTORS)?;
        // what has landed is counted in 32 bits
        within("drive.dirty_sectors", self.dirty_sectors, 0, i64::from(u32::MAX))?;
        // a write that finds no room in an empty buffer would wait without an end
        within("drive.write_room_sectors", self.write_room_sectors, 0, self.dirty_sectors)?;
        size_within("drive.weighed_commands", self.weighed_commands, 1, MAX_DEPTH)?;
        size_within("drive.weighed_writes", self.weighed_writes, 1, MAX_DEPTH)?;
        self.media_cache.as_ref().map_or(Ok(()), |cache| self.check_media_cache(cache))
    }

    /// The log, and a band behind it, lie on every arm, and a write that is no run fits into it.
    fn check_media_cache(&self, cache: &MediaCacheTables) -> Result<(), String> {
        let smallest = self.n_sectors - self.n_sectors_per_actuator * (self.actuators - 1);
        within("drive.media_cache.first_sector", cache.first_sector, 0, smallest)?;
        within("drive.media_cache.band_sectors", cache.band_sectors, 0, smallest - cache.first_sector)?;
        let room = smallest - cache.first_sector - cache.band_sectors;
        within("drive.media_cache.log_sectors", cache.log_sectors, 1, room)?;
        within("drive.media_cache.run_sectors", cache.run_sectors, 1, cache.log_sectors)?;
        within("drive.media_cache.max_extents", cache.max_extents, 1, MAX_SECTORS)?;
        within("drive.media_cache.batch_extents", cache.batch_extents, 1, MAX_EXTENTS)?;
        within("drive.media_cache.idle_ns", cache.idle_ns, 0, MAX_TIME_NS)
    }

    fn check_sizes(&self) -> Result<(), String> {
        within("drive.sector_bytes", self.sector_bytes, 1, MAX_SECTOR_BYTES)?;
        within("drive.n_sectors", self.n_sectors, 1, MAX_DRIVE_BYTES / self.sector_bytes)?;
        within("drive.actuators", self.actuators, 1, MAX_ACTUATORS)?;
        let each = self.n_sectors_per_actuator;
        within("drive.n_sectors_per_actuator", each, 1, self.n_sectors)?;
        holds(
            each * (self.actuators - 1) < self.n_sectors && self.n_sectors <= each * self.actuators,
            "drive.n_sectors_per_actuator",
            each,
            format_args!("{} such parts must be the drive's {} sectors", self.actuators, self.n_sectors),
        )
    }

    /// Every block has a place, and a cylinder that the seek table knows.
    fn check_zones(&self) -> Result<(), String> {
        let n = self.sectors_per_track.len();
        holds(
            (1..=MAX_ZONES).contains(&n),
            "drive.sectors_per_track",
            format_args!("({n} values)"),
            "1 to 65536 zones",
        )?;
        within("drive.heads", self.heads, 1, MAX_HEADS)?;
        has_length("drive.zone_first_lba", self.zone_first_lba.len(), n + 1)?;
        has_length("drive.zone_first_cylinder", self.zone_first_cylinder.len(), n + 1)?;
        for (field, column) in [
            ("drive.start_skew", &self.start_skew),
            ("drive.track_skew", &self.track_skew),
            ("drive.cylinder_skew", &self.cylinder_skew),
        ] {
            has_length(field, column.len(), n)?;
            each_within(field, column, 0, MAX_PER_TRACK)?;
        }
        has_length("drive.spare_sectors_per_track", self.spare_sectors_per_track.len(), n)?;
        has_length("drive.spare_sectors_per_cylinder", self.spare_sectors_per_cylinder.len(), n)?;
        each_within("drive.sectors_per_track", &self.sectors_per_track, 1, MAX_PER_TRACK)?;
        let (first_lba, first_cylinder) = (&self.zone_first_lba, &self.zone_first_cylinder);
        within("drive.zone_first_lba[0]", first_lba[0], 0, 0)?;
        within(&format!("drive.zone_first_lba[{n}]"), first_lba[n], self.n_sectors_per_actuator, MAX_SECTORS)?;
        ascending("drive.zone_first_lba", first_lba)?;
        let n_cylinders = self.seek_ns.len() as i64;
        within("drive.zone_first_cylinder[0]", first_cylinder[0], 0, MAX_CYLINDERS)?;
        within(&format!("drive.zone_first_cylinder[{n}]"), first_cylinder[n], 1, n_cylinders.min(MAX_CYLINDERS))?;
        ascending("drive.zone_first_cylinder", first_cylinder)?;
        for zone in 0..n {
            let (per_track, on_track) = (self.sectors_per_track[zone], self.spare_sectors_per_track[zone]);
            within(&format!("drive.spare_sectors_per_track[{zone}]"), on_track, 0, per_track - 1)?;
            let whole = self.heads * (per_track - on_track);
            let spare = self.spare_sectors_per_cylinder[zone];
            within(&format!("drive.spare_sectors_per_cylinder[{zone}]"), spare, 0, whole - 1)?;
            let room = (first_cylinder[zone + 1] - first_cylinder[zone]) * (whole - spare);
            within(&format!("drive.zone_first_lba[{}]", zone + 1), first_lba[zone + 1], 0, first_lba[zone] + room)?;
        }
        // below 2^32, since they are kept in as many bits
        let write_seeks = self.write_seek_ns.as_deref().map(|column| ("drive.write_seek_ns", column));
        for (field, column) in [("drive.seek_ns", &self.seek_ns)].into_iter().chain(write_seeks) {
            has_length(field, column.len(), self.seek_ns.len())?;
            if let Err(numbers) = &column.0 {
                each_within(field, numbers, 0, i64::from(u32::MAX))?;
            }
        }
        self.check_inward()
    }

    /// No seek ends before it begins, in either direction.
    fn check_inward(&self) -> Result<(), String> {
        if self.seek_inward_ns == 0 {
            return Ok(());
        }
        let columns = [Some(&self.seek_ns), self.write_seek_ns.as_deref()].into_iter().flatten();
        let seeks = columns.filter_map(|column| column.0.as_ref().ok());
        let least = seeks.map(Seeks::shortest_ns).min().unwrap_or(0);
        within("drive.seek_inward_ns", self.seek_inward_ns, -i64::from(least), i64::from(least))
    }

    /// Shares, and the delays that they choose among.
    fn check_chances(&self) -> Result<(), String> {
        within("drive.zero_latency_ppm", self.zero_latency_ppm, 0, 1_000_000)?;
        within("drive.retry_ppm", self.retry_ppm, 0, 1_000_000)?;
        let n = self.retry_ns.len();
        let has_times = self.retry_ppm == 0 || n > 0;
        holds(has_times, "drive.retry_ns", format_args!("({n} values)"), "at least one where accesses are delayed")?;
        each_within("drive.retry_ns", &self.retry_ns, 0, MAX_TIME_NS)
    }

    /// Every spindle turns, so that angles can be computed.
    pub(super) fn check_spindles(&self, revolution_ns: &[i64], phase_ns: &[i64]) -> Result<(), String> {
        let densest = self.sectors_per_track.iter().copied().max().unwrap_or(1);
        each_within("revolution_ns", revolution_ns, 1, MAX_REVOLUTION_NS.min(MAX_ANGLE / densest))?;
        each_within("phase_ns", phase_ns, 0, MAX_APART_NS)
    }
}

//! What a scenario must keep before anything is made of it: afterwards nothing divides by zero, nothing is looked for
//! outside of its column, no sum leaves 64 bits, and no run waits for what never comes.

use super::{Drive, Limits, Queue, Scenario};
use crate::rule::{all_within, each_within, has_length, holds, refused, size_within, within};
use crate::rule::{
    MAX_ARRAY_BYTES, MAX_DEPTH, MAX_DISKS, MAX_LENGTH_BYTES, MAX_PIECES, MAX_RATE, MAX_STATE_BYTES, MAX_TIME_NS,
    MIN_RATE,
};

/// From so many bytes on it is tried whether there is that much memory.
const LARGE_BYTES: i64 = 1 << 26;
/// Most requests that a queue or a batch may hold.
const MAX_REQUESTS: i64 = 1 << 40;

impl Scenario {
    pub(super) fn check(&self) -> Result<Limits, String> {
        let (sector_bytes, n_sectors) = self.drive.check()?;
        let n_devices = self.layout.n_devices();
        within("layout.n_disks + layout.n_spares", n_devices, 1, MAX_DISKS)?;
        holds(
            n_devices <= MAX_ARRAY_BYTES / (n_sectors * sector_bytes),
            "layout.n_disks + layout.n_spares",
            n_devices,
            format_args!("so many drives of {n_sectors} sectors hold more than 2^62 bytes"),
        )?;
        self.layout.check(n_sectors, sector_bytes)?;
        self.check_devices(n_devices)?;
        self.check_queues(sector_bytes)?;
        all_within(
            &[("command_ns", self.command_ns), ("gap_ns", self.gap_ns), ("hit_ns", self.hit_ns)],
            0,
            MAX_TIME_NS,
        )?;
        if self.link_bytes_per_s != 0 {
            within("link_bytes_per_s", self.link_bytes_per_s, MIN_RATE, MAX_RATE)?;
        }
        within("volume_depth", self.volume_depth as i64, 0, MAX_REQUESTS)?;
        let is_ratio = (0.0..=1.0).contains(&self.hit_ratio);
        holds(is_ratio, "hit_ratio", self.hit_ratio, "must be 0 to 1")?;
        let mut most = self.layout.most_request();
        if let Some(cache) = &self.cache {
            cache.check(sector_bytes, self.layout.strip.saturating_mul(self.layout.n_data.max(1)))?;
            most = most.min(cache.block_sectors.saturating_mul(MAX_PIECES));
        }
        if let Some(host) = &self.host {
            host.check(sector_bytes, most)?;
            if host.is_buffered {
                most = most.min(host.page_sectors.saturating_mul(MAX_PIECES));
            }
        }
        self.check_start()?;
        self.check_auxiliary()?;
        Ok(Limits {
            capacity_bytes: self.layout.capacity * sector_bytes,
            most_length: most.saturating_mul(sector_bytes).min(MAX_LENGTH_BYTES),
        })
    }

    fn check_devices(&self, n_devices: i64) -> Result<(), String> {
        has_length("revolution_ns", self.revolution_ns.len(), n_devices as usize)?;
        has_length("phase_ns", self.phase_ns.len(), n_devices as usize)?;
        self.drive.check_each(&self.revolution_ns, &self.phase_ns)
    }

    fn check_queues(&self, sector_bytes: i64) -> Result<(), String> {
        self.queue.check("queue")?;
        self.drive_queue.check("drive_queue")?;
        size_within("depth", self.depth, 1, MAX_DEPTH)?;
        within("merge_sectors", self.merge_sectors, 0, MAX_LENGTH_BYTES / sector_bytes)?;
        if let Some(zones) = &self.write_zones {
            zones.check(sector_bytes)?;
            let n_devices = self.layout.n_devices();
            holds(
                n_devices == 1,
                "write_zones",
                format_args!("({n_devices} drives)"),
                "must be those of a single drive",
            )?;
        }
        if self.throttle_requests == 0 {
            return Ok(());
        }
        // with fewer than two no write would ever be let through
        within("throttle_requests", self.throttle_requests, 2, MAX_REQUESTS)?;
        let rule = "must be 0 where layout.holds_disks: a disk is not held through a throttle";
        holds(!self.layout.holds_disks, "throttle_requests", self.throttle_requests, rule)
    }
}

impl Drive {
    /// Bytes of a sector, and sectors, of a drive whose tables keep their rules.
    pub(super) fn check(&self) -> Result<(i64, i64), String> {
        match self {
            Drive::Hdd(tables) => tables.check().map(|()| (tables.sector_bytes, tables.n_sectors)),
            Drive::Flash(tables) => tables.check().map(|()| (tables.sector_bytes, tables.n_sectors)),
            Drive::Remote(tables) => tables.check().map(|()| (tables.sector_bytes(), tables.n_sectors())),
        }
    }

    /// How each of the drives turns, or where its draws begin, and whether there is memory for all of them.
    pub(super) fn check_each(&self, revolution_ns: &[i64], phase_ns: &[i64]) -> Result<(), String> {
        match self {
            Drive::Hdd(tables) => tables.check_spindles(revolution_ns, phase_ns),
            Drive::Remote(_) => each_within("phase_ns", phase_ns, 0, i64::from(u32::MAX)),
            Drive::Flash(tables) => {
                each_within("phase_ns", phase_ns, 0, i64::from(u32::MAX))?;
                // one more is copied for all of them, and a run takes some more
                has_memory(tables.state_bytes().saturating_mul(phase_ns.len() as i64 + 1) / 4 * 5)
            }
        }
    }
}

impl Queue {
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        for (field, value) in [
            ("age_ns", self.age_ns),
            ("miss_margin_ns", self.miss_margin_ns),
            ("read_expire_ns", self.read_expire_ns),
            ("write_expire_ns", self.write_expire_ns),
        ] {
            within(&format!("{name}.{field}"), value, 0, MAX_TIME_NS)?;
        }
        within(&format!("{name}.age_weight_ppm"), self.age_weight_ppm, 0, 1_000_000)?;
        within(&format!("{name}.miss_256ths"), self.miss_256ths, 0, 256)?;
        within(&format!("{name}.committed"), self.committed, 0, MAX_DEPTH)?;
        within(&format!("{name}.fifo_batch"), self.fifo_batch, 1, MAX_REQUESTS)?;
        within(&format!("{name}.writes_starved"), self.writes_starved, 1, MAX_REQUESTS)
    }
}

/// An allocation that fails ends the process: so it is asked for on trial where it is large.
fn has_memory(bytes: i64) -> Result<(), String> {
    within("drive.ftl (bytes of all drives)", bytes, 0, MAX_STATE_BYTES)?;
    if bytes > LARGE_BYTES && Vec::<u8>::new().try_reserve_exact(bytes as usize).is_err() {
        return Err(refused("drive.ftl (bytes of all drives)", bytes, "there is not so much memory"));
    }
    Ok(())
}

//! A scenario as a caller hands it over: nested tables of whole numbers, the same for every front end.
//!
//! With the feature `python` they come from dictionaries, with `serde` from any format that serde reads.

use crate::device::Intake;
use crate::hdd::{Disk, Electronics, Model};
use crate::layout::{Family, Layout};
use crate::mechanics::{Mechanics, Spindle};
use crate::queue::{Policy, Tunables};
use crate::simulation::{Controller, Parts};

/// A drive's tables.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct Drive {
    pub sector_bytes: i64,
    pub n_sectors: i64,
    pub n_sectors_per_actuator: i64,
    pub actuators: i64,
    pub heads: i64,
    pub zone_first_lba: Vec<i64>,
    pub zone_first_cylinder: Vec<i64>,
    pub sectors_per_track: Vec<i64>,
    pub track_skew: Vec<i64>,
    pub cylinder_skew: Vec<i64>,
    pub spare_sectors_per_cylinder: Vec<i64>,
    pub seek_ns: Vec<i64>,
    pub head_switch_ns: i64,
    pub write_settle_ns: i64,
    pub zero_latency: bool,
    pub read_overhead_ns: i64,
    pub write_overhead_ns: i64,
    pub completion_overhead_ns: i64,
    pub interface_bytes_per_s: i64,
    pub cache_segments: i64,
    pub segment_sectors: i64,
    pub read_ahead_sectors: i64,
    pub dirty_sectors: i64,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct LayoutTables {
    pub family: String,
    pub n_disks: u32,
    pub n_spares: u32,
    pub strip: i64,
    pub member: i64,
    /// Usable sectors.
    pub capacity: i64,
    pub data_offset: i64,
    pub copies: i64,
    pub far: bool,
    pub n_groups: i64,
    pub n_data: i64,
    pub n_parity: i64,
    pub rotation: i64,
    pub read_policy: i64,
    pub write_policy: i64,
    pub failed: Vec<u32>,
    pub rebuild_disk: i64,
    pub rebuild_window: i64,
    pub rebuild_gap_ns: i64,
    pub rebuild_front: i64,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct Queue {
    pub scheduler: String,
    pub age_ns: i64,
    pub read_expire_ns: i64,
    pub write_expire_ns: i64,
    pub fifo_batch: i64,
    pub writes_starved: i64,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct Scenario {
    pub drive: Drive,
    pub layout: LayoutTables,
    pub queue: Queue,
    pub drive_queue: Queue,
    pub depth: usize,
    pub command_ns: i64,
    pub hit_ns: i64,
    pub link_bytes_per_s: i64,
    pub hit_ratio: f64,
    pub revolution_ns: Vec<i64>,
    pub phase_ns: Vec<i64>,
}

impl Scenario {
    /// What a simulation is made of.
    pub fn build(self) -> Result<Parts<Disk>, String> {
        build(self)
    }
}

fn build(array: Scenario) -> Result<Parts<Disk>, String> {
    let (d, l) = (array.drive, array.layout);
    let n_zones = d.sectors_per_track.len();
    let per_zone = [&d.track_skew, &d.cylinder_skew, &d.spare_sectors_per_cylinder];
    if d.zone_first_lba.len() != n_zones + 1
        || d.zone_first_cylinder.len() != n_zones + 1
        || per_zone.iter().any(|column| column.len() != n_zones)
        || d.seek_ns.is_empty()
    {
        return Err("the drive's zone tables do not fit each other".into());
    }
    if d.interface_bytes_per_s <= 0 || d.n_sectors_per_actuator <= 0 || d.sector_bytes <= 0 || l.strip <= 0 {
        return Err("rates and sizes must be positive".into());
    }
    let n_devices = (l.n_disks + l.n_spares) as usize;
    if array.revolution_ns.len() != n_devices || array.phase_ns.len() != n_devices {
        return Err("there must be one revolution and one phase for each disk".into());
    }
    let Ok(seek_ns) = d.seek_ns.iter().map(|&ns| u32::try_from(ns)).collect() else {
        return Err("a seek takes less than 2^32 ns".into());
    };
    let mut model = Model {
        mechanics: Mechanics {
            heads: d.heads,
            zone_first_lba: d.zone_first_lba,
            zone_first_cylinder: d.zone_first_cylinder,
            sectors_per_track: d.sectors_per_track,
            track_skew: d.track_skew,
            cylinder_skew: d.cylinder_skew,
            spare: d.spare_sectors_per_cylinder,
            seek_ns,
            head_switch_ns: d.head_switch_ns,
            write_settle_ns: d.write_settle_ns,
            zero_latency: d.zero_latency,
            zone_at: Vec::new(),
            zone_shift: 0,
        },
        electronics: Electronics {
            sector_bytes: d.sector_bytes,
            n_sectors: d.n_sectors,
            n_sectors_per_actuator: d.n_sectors_per_actuator,
            actuators: d.actuators,
            completion_overhead_ns: d.completion_overhead_ns,
            interface_bytes_per_s: d.interface_bytes_per_s,
            cache_segments: d.cache_segments,
            segment_sectors: d.segment_sectors,
            read_ahead_sectors: d.read_ahead_sectors,
            dirty_sectors: d.dirty_sectors,
            intake: Intake {
                depth: array.depth,
                read_overhead_ns: d.read_overhead_ns,
                write_overhead_ns: d.write_overhead_ns,
            },
        },
    };
    model.mechanics.index_zones();
    let family = match l.family.as_str() {
        "concat" => Family::Concat,
        "copies" => Family::Copies,
        "parity" => Family::Parity,
        other => return Err(format!("unknown layout family {other}")),
    };
    let layout = Layout {
        family,
        n_disks: l.n_disks,
        strip: l.strip,
        member: l.member,
        data_offset: l.data_offset,
        copies: l.copies,
        far: l.far,
        n_groups: l.n_groups,
        n_data: l.n_data,
        n_parity: l.n_parity,
        rotation: l.rotation,
        read_policy: l.read_policy,
        write_policy: l.write_policy,
        failed: l.failed,
        rebuild_disk: l.rebuild_disk,
        rebuild_window: l.rebuild_window,
        rebuild_gap: l.rebuild_gap_ns,
        rebuild_front: l.rebuild_front,
    };
    let controller = Controller {
        command_ns: array.command_ns,
        hit_ns: array.hit_ns,
        link_bytes_per_s: array.link_bytes_per_s,
        hit_ratio: array.hit_ratio,
    };
    let host = policy(array.queue)?;
    let own = policy(array.drive_queue)?;
    let spindles = array.revolution_ns.iter().zip(&array.phase_ns);
    let disks = spindles
        .enumerate()
        .map(|(i, (&revolution, &phase))| Disk::new(i as u32, &model, Spindle::new(revolution, phase), &host, &own))
        .collect();
    Ok(Parts { model, layout, controller, disks })
}

fn policy(queue: Queue) -> Result<Policy, String> {
    Policy::new(&Tunables {
        name: queue.scheduler,
        age_ns: queue.age_ns,
        read_expire_ns: queue.read_expire_ns,
        write_expire_ns: queue.write_expire_ns,
        fifo_batch: queue.fifo_batch,
        writes_starved: queue.writes_starved,
    })
}

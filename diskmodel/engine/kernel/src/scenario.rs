//! A scenario as a caller hands it over: nested tables of whole numbers, the same for every front end.
//!
//! With the feature `python` they come from dictionaries, with `serde` from any format that serde reads.

mod caches;
mod drives;
mod host;

use crate::device::Device;
use crate::divisor::Divisor;
use crate::flash::{Flash, Ftl};
use crate::hdd::Disk;
use crate::layout::{Divisors, Family, Layout};
use crate::mechanics::Spindle;
use crate::queue::{Policy, Tunables};
use crate::simulation::{Controller, Parts, Submitter};
pub use caches::CacheTables;
pub use drives::{Drive, FlashTables, Folded, HddTables};
pub use host::HostTables;

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
    pub cuts_reads: bool,
    pub holds_disks: bool,
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
    /// Sectors up to which adjacent waiting commands become one above a disk; 0: they do not.
    pub merge_sectors: i64,
    /// Requests of a disk's block queue, where write-back throttling is to be modelled; 0: it is not.
    pub throttle_requests: i64,
    pub depth: usize,
    pub command_ns: i64,
    pub hit_ns: i64,
    pub link_bytes_per_s: i64,
    pub hit_ratio: f64,
    /// None: a controller without real caches.
    pub cache: Option<CacheTables>,
    /// None: a host that costs nothing and does not buffer.
    pub host: Option<HostTables>,
    pub revolution_ns: Vec<i64>,
    /// Of a flash drive: where its draws of waking times begin (rule F18).
    pub phase_ns: Vec<i64>,
}

/// What a simulation is made of, by kind of drive.
pub enum Built {
    Hdd(Parts<Disk>),
    Flash(Parts<Flash>),
}

impl Scenario {
    pub fn build(self) -> Result<Built, String> {
        let n_devices = self.layout.n_disks + self.layout.n_spares;
        let layout = self.layout.build()?;
        let controller = Controller {
            command_ns: self.command_ns,
            hit_ns: self.hit_ns,
            link_bytes_per_s: self.link_bytes_per_s,
            hit_ratio: self.hit_ratio,
        };
        let cache = self.cache.as_ref().map(CacheTables::build).transpose()?;
        if [&self.revolution_ns, &self.phase_ns].iter().any(|column| column.len() != n_devices as usize) {
            return Err("there must be one revolution and one phase for each disk".into());
        }
        let buffer = self.host.as_ref().map(|host| host.build(layout.capacity)).transpose()?;
        let host = policy(self.queue)?;
        let is_redundant = layout.family == Family::Parity || layout.copies > 1;
        let submitter = (self.throttle_requests > 0 && is_redundant)
            .then(|| Submitter::new(n_devices as usize, self.throttle_requests, layout.family != Family::Parity));
        match self.drive {
            Drive::Hdd(tables) => {
                if self.revolution_ns.iter().any(|&revolution| revolution <= 0) {
                    return Err("a revolution takes time".into());
                }
                let own = policy(self.drive_queue)?;
                let model = tables.model(self.depth)?;
                let spindles = self.revolution_ns.iter().zip(&self.phase_ns).map(|(&r, &p)| Spindle::new(r, p));
                let mut disks: Vec<_> = (0..n_devices)
                    .zip(spindles)
                    .map(|(i, spindle)| Disk::new(i, &model, spindle, &host, &own))
                    .collect();
                disks.iter_mut().for_each(|disk| disk.front_mut().merge_up_to(self.merge_sectors));
                Ok(Built::Hdd(Parts { model, layout, controller, cache, host: buffer, submitter, disks }))
            }
            Drive::Flash(tables) => {
                let model = tables.model(self.depth)?;
                let ftl = Ftl::new(&model.ftl);
                let mut disks: Vec<_> = (0..n_devices)
                    .zip(&self.phase_ns)
                    .map(|(i, &draw)| Flash::new(i, &model, &host, ftl.clone(), draw as u32))
                    .collect();
                disks.iter_mut().for_each(|disk| disk.front_mut().merge_up_to(self.merge_sectors));
                Ok(Built::Flash(Parts { model, layout, controller, cache, host: buffer, submitter, disks }))
            }
        }
    }
}

impl LayoutTables {
    fn build(self) -> Result<Layout, String> {
        if self.strip <= 0 {
            return Err("a strip must hold at least one sector".into());
        }
        let family = match self.family.as_str() {
            "concat" => Family::Concat,
            "copies" => Family::Copies,
            "parity" => Family::Parity,
            other => return Err(format!("unknown layout family {other}")),
        };
        Ok(Layout {
            family,
            n_disks: self.n_disks,
            strip: self.strip,
            by: Divisors {
                strip: Divisor::new(self.strip),
                member: Divisor::new(self.member),
                disks: Divisor::new(i64::from(self.n_disks)),
                groups: Divisor::new(self.n_groups),
                data: Divisor::new(self.n_data),
                width: Divisor::new(self.n_data + self.n_parity),
            },
            member: self.member,
            capacity: self.capacity,
            data_offset: self.data_offset,
            copies: self.copies,
            far: self.far,
            n_groups: self.n_groups,
            n_data: self.n_data,
            n_parity: self.n_parity,
            rotation: self.rotation,
            cuts_reads: self.cuts_reads,
            holds_disks: self.holds_disks,
            read_policy: self.read_policy,
            write_policy: self.write_policy,
            failed: self.failed,
            rebuild_disk: self.rebuild_disk,
            rebuild_window: self.rebuild_window,
            rebuild_gap: self.rebuild_gap_ns,
            rebuild_front: self.rebuild_front,
        })
    }
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

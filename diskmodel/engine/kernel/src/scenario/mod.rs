//! A scenario as a caller hands it over: nested tables of whole numbers, the same for every front end.
//!
//! With the feature `python` they come from dictionaries, with `serde` from any format that serde reads.

mod auxiliary;
mod caches;
mod drives;
mod flash_rules;
mod hdd_rules;
mod host;
mod layout;
mod rules;
mod start;
mod virtual_rules;

use crate::device::{Device, Shared};
pub use crate::drives::remote::Tables as RemoteTables;
use crate::drives::remote::{self, Remote};
pub use crate::drives::write_zones::WriteZoneTables;
use crate::drives::write_zones::WriteZones;
use crate::flash::{self, aged, Flash};
pub use crate::flash::{FtlTables, GcPolicy};
use crate::hdd::{self, Disk, Logs};
pub use crate::host::{Costs, HostTables, PageCacheTables};
pub use crate::layout::{CopyPolicy, Family, LayoutTables, Rotation, SyncAction, WritePolicy};
use crate::layout::{L2arc, Layout};
use crate::loaded::Loaded;
use crate::mechanics::Spindle;
use crate::media_cache::MediaCacheTables;
use crate::queue::{Policy, PoolRules, WriteThrottle};
pub use crate::queue::{Queue, SchedulerName};
use crate::schema::record;
use crate::simulation::{BeforeDisks, Controller, Flushes, Parts, RequestTags, Submitter};
pub use crate::traffic::Limits;
pub use auxiliary::{AuxiliaryTables, ClassTables};
pub use caches::CacheTables;
pub use drives::{Drive, FlashTables, HddTables, VirtualTables};
pub use start::{Regions, Spans, Start};

record! {
    #[derive(Clone, Debug)]
    pub struct Scenario as "ScenarioTables" {
        pub drive: Drive,
        pub layout: LayoutTables,
        pub queue: Queue,
        pub drive_queue: Queue,
        /// Sectors up to which adjacent waiting commands become one above a disk; 0: they do not.
        pub merge_sectors: i64,
        /// None: a drive that is written anywhere.
        pub write_zones: Option<WriteZoneTables>,
        /// Requests of a disk's block queue, where write-back throttling is to be modeled; 0: it is not.
        pub throttle_requests: i64,
        pub depth: usize,
        pub command_ns: i64,
        pub gap_ns: i64,
        pub hit_ns: i64,
        pub link_bytes_per_s: i64,
        pub hit_ratio: f64,
        /// Requests that the controller works on at once; 0: any number.
        pub volume_depth: usize,
        /// None: a controller without real caches.
        pub cache: Option<CacheTables>,
        /// None: a host that costs nothing and does not buffer.
        pub host: Option<HostTables>,
        pub revolution_ns: Vec<i64>,
        /// Of a virtual disk: where its draws of wake-up times begin (rule V2).
        pub phase_ns: Vec<i64>,
        /// Where the draws of accesses to the media begin (rule M9).
        pub first_draw: u32,
        pub start: Start,
        /// The log of a pool or the journal of an array, and a special vdev, where it has drives of its own for them.
        pub log: Option<AuxiliaryTables>,
        pub special: Option<AuxiliaryTables>,
        /// Cache devices of a pool that are drives.
        pub l2arc: Option<AuxiliaryTables>,
        /// Levels are recorded after every so many completions; 0: never.
        pub sample_every: u64,
    }
}

/// What a simulation is made of, by kind of drive. There is one at a time, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Built {
    Hdd(Parts<Disk>),
    Flash(Parts<Flash>),
    Remote(Parts<Remote>),
}

/// What stands before the disks, and how it uses them.
struct Outside {
    before: BeforeDisks,
    merge_sectors: i64,
    write_zones: Option<WriteZoneTables>,
}

impl Outside {
    /// All that a simulation is made of, with disks of one kind.
    fn around<D: Device>(self, model: D::Model, mut disks: Vec<D>) -> Parts<D> {
        for front in disks.iter_mut().map(Device::front_mut) {
            front.merge_up_to(self.merge_sectors);
            if let Some(pool) = &self.before.layout.pool {
                front.divide_into_classes(PoolRules {
                    read_gap: pool.gather_gap,
                    write_gap: pool.writes.gather_gap,
                    longest: pool.gather,
                    border: model.border(),
                    most: pool.most_active,
                    most_ahead: pool.reads.active,
                    scan: pool.scan.clone(),
                });
            }
            if let Some(zones) = &self.write_zones {
                front.write_in(WriteZones::new(zones, model.border()));
            }
        }
        Parts { model, disks, before: self.before }
    }
}

/// Gives the media caches what they hold when the run begins (rule G9).
/// What media caches are filled from: the writes, the drive's media cache, sectors of a disk and of an arm.
type LogKey = (Spans, MediaCacheTables, [i64; 2]);
static LOGS: Loaded<LogKey, Logs> = Loaded::new();

fn load_logs(disks: &mut [Disk], n_disks: usize, start: &Start, model: &hdd::Model) -> Result<(), String> {
    let n_devices = disks.len() as u32;
    let drive = &model.electronics;
    let per_actuator = drive.n_sectors_per_actuator;
    if let ([first, others @ ..], Some(cache)) = (&mut disks[..n_disks], &drive.media_cache) {
        let (logged, size) = (&start.logged, [drive.n_sectors, per_actuator]);
        let is_key = |key: &LogKey| (&key.0, &key.1, key.2) == (logged, cache, size);
        let key = || (logged.clone(), cache.clone(), size);
        let logs = LOGS.get(logged.lba.len(), is_key, key, || Ok(first.load_logs(logged, per_actuator)))?;
        first.set_logs(&logs);
        others.iter_mut().for_each(|disk| disk.set_logs(&logs));
    }
    for (disk, runs) in disks.iter_mut().zip(start.runs.by_disk(n_devices)) {
        disk.load_runs(&runs, per_actuator);
    }
    Ok(())
}

/// Which places of their own a log, a special vdev and cache devices are, in events.
pub const LOG: u8 = 0;
pub const SPECIAL: u8 = 1;
pub const CACHE: u8 = 2;

/// Hard disks, and what they share, each with its revolution and angle.
fn hard_disks(
    tables: HddTables,
    depth: usize,
    (revolution_ns, phase_ns): (&[i64], &[i64]),
    policies: (&Policy, &Policy),
    first_draw: u32,
) -> (hdd::Model, Vec<Disk>) {
    let model = tables.model(depth);
    let spindles = revolution_ns.iter().zip(phase_ns).map(|(&r, &p)| Spindle::new(r, p));
    let disks = (0..).zip(spindles).map(|(i, spindle)| Disk::new(i, &model, spindle, policies, first_draw)).collect();
    (model, disks)
}

/// Flash drives, and what they share, each with where its draws begin.
fn flash_drives(
    tables: FlashTables,
    depth: usize,
    draws: &[i64],
    host: &Policy,
    start: &Start,
) -> Result<(flash::Model, Vec<Flash>), String> {
    let model = tables.model(depth);
    let ftl = aged(&model.ftl, &start.aged)?;
    let each = (0..).zip(draws);
    let disks =
        each.map(|(i, &draw)| Flash::new(i, &model, host, ftl.clone(), start.first_layout(i, &model), draw as u32));
    let disks = disks.collect();
    Ok((model, disks))
}

fn remote_drives(tables: RemoteTables, depth: usize, draws: &[i64], host: &Policy) -> (remote::Model, Vec<Remote>) {
    tables.build(depth, host, (0..).zip(draws.iter().map(|&draw| draw as u32)))
}

impl Scenario {
    /// The parts of a scenario that keeps its rules, and what requests must keep to.
    ///
    /// # Errors
    ///
    /// Names the first field that breaks a rule, its value, and the rule.
    pub fn build(self) -> Result<(Built, Limits), String> {
        let limits = self.check()?;
        self.built().map(|built| (built, limits))
    }

    fn built(self) -> Result<Built, String> {
        let n_devices = self.layout.n_devices() as u32;
        let n_disks = self.layout.n_disks as usize;
        let holds_disks = self.layout.holds_disks;
        let layout = Layout::new(self.layout);
        let times = [self.command_ns, self.gap_ns, self.hit_ns];
        let controller = Controller::new(times, self.link_bytes_per_s, self.hit_ratio, self.volume_depth);
        let start = &self.start;
        let cache = self.cache.as_ref().map(|cache| cache.build(start)).transpose()?;
        let pool = layout.pool.as_ref();
        let place = |tables: Option<AuxiliaryTables>, number| {
            tables.map(|tables| tables.build(number, pool).map(Box::new)).transpose()
        };
        let (log, special, drives) = (place(self.log, LOG)?, place(self.special, SPECIAL)?, place(self.l2arc, CACHE)?);
        let l2arc = pool.and_then(|pool| pool.l2arc.as_ref()).map(|tables| {
            let n_read = self.cache.as_ref().map_or(0, |cache| cache.read_blocks);
            L2arc::loaded(tables, start.filling(tables.slots, n_read), drives).map(Box::new)
        });
        let l2arc = l2arc.transpose()?;
        let buffer = self.host.as_ref().map(|host| host.build(layout.capacity, start)).transpose()?;
        let (n_buffered, sample_every) = (start.buffered.disk.len() as u64, self.sample_every);
        let host = Policy::new(&self.queue);
        let is_redundant = layout.family == Family::Parity || layout.copies > 1;
        let host_work_ns = self.host.as_ref().map_or(0, |host| host.host_work_ns());
        let flushing = self.drive.flushing();
        let throttle = (self.throttle_requests > 0).then(|| WriteThrottle::new(self.throttle_requests, flushing.0));
        let submitter = throttle.as_ref().filter(|_| is_redundant).map(|throttle| {
            Submitter::new(vec![throttle.clone(); n_devices as usize], !layout.is_parity(), host_work_ns)
        });
        // behind a controller with a cache Linux sees its volume, whose writes need no place at the disk
        let is_single = n_devices == 1 && !is_redundant && layout.pool.is_none() && cache.is_none();
        let tags = throttle.filter(|_| is_single).map(RequestTags::new);
        let flushes = Flushes::new(&layout, n_devices as usize, flushing, host_work_ns);
        let before = BeforeDisks {
            layout,
            controller,
            cache,
            host: buffer,
            submitter,
            tags,
            flushes,
            n_buffered,
            group: [start.group_records, start.group_indirect, start.group_top],
            l2arc,
            own: [log, special],
            sample_every,
        };
        let outside = Outside { before, merge_sectors: self.merge_sectors, write_zones: self.write_zones };
        match self.drive {
            Drive::Hdd(tables) => {
                let own = Policy::new(&self.drive_queue);
                let turns = (&*self.revolution_ns, &*self.phase_ns);
                let (model, mut disks) = hard_disks(*tables, self.depth, turns, (&host, &own), self.first_draw);
                if holds_disks {
                    disks.iter_mut().for_each(|disk| disk.front_mut().expect_bypass());
                }
                if model.electronics.media_cache.is_some() {
                    load_logs(&mut disks, n_disks, start, &model)?;
                }
                for (disk, writes) in disks.iter_mut().zip(start.buffered.by_disk(n_devices)) {
                    disk.load(&writes, &start.buffered_room, &model);
                }
                Ok(Built::Hdd(outside.around(model, disks)))
            }
            Drive::Flash(tables) => {
                let (model, mut disks) = flash_drives(*tables, self.depth, &self.phase_ns, &host, start)?;
                let before = start.programmed.by_disk(n_devices).into_iter().zip(start.buffered.by_disk(n_devices));
                for (disk, (programmed, buffered)) in disks.iter_mut().zip(before) {
                    let [programmed, buffered] = [programmed, buffered]
                        .map(|writes| writes.into_iter().map(|(_, lba, n)| (lba, n)).collect::<Vec<_>>());
                    disk.load(&programmed, &buffered, &model);
                }
                Ok(Built::Flash(outside.around(model, disks)))
            }
            Drive::Remote(tables) => {
                let (model, disks) = remote_drives(tables, self.depth, &self.phase_ns, &host);
                Ok(Built::Remote(outside.around(model, disks)))
            }
        }
    }
}

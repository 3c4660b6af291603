//! Tables of drives at a place of their own, and what the simulation makes of them.

use super::{flash_drives, hard_disks, remote_drives, Drive, Scenario};
use crate::device::{Device, Shared};
use crate::drives::auxiliary::{Auxiliary, OfKind, Place, LABEL_BYTES};
use crate::drives::Drives;
use crate::layout::{PoolTables, ScanTables};
use crate::queue::{Policy, PoolRules, Queue};
use crate::rule::{has_length, holds, size_within, within};
use crate::rule::{MAX_DEPTH, MAX_DISKS, MAX_LENGTH_BYTES, MAX_SECTORS};
use crate::scenario::Start;
use crate::schema::record;

/// No unit of a journal of Linux md is longer: a block lists all of its pages.
const MAX_UNIT_BYTES: i64 = 1 << 20;
/// The most drives at a place: no more than a pool has cache devices.
const MAX_AT_A_PLACE: i64 = 64;
/// The most commands of a class that a drive is given at once.
const MAX_ACTIVE: i64 = 1 << 20;

record! {
    /// How OpenZFS gives commands to a drive, as `diskmodel.engine.auxiliary.ClassTables`.
    #[derive(Clone, Debug)]
    pub struct ClassTables {
        /// Sectors that a read may skip to include another, and of what becomes one at most.
        pub read_gap: i64,
        pub longest: i64,
        /// Commands that somebody waits for, and reads ahead, that the drive is given at once.
        pub most: i64,
        pub most_ahead: i64,
    }
}

record! {
    /// Drives at a place of their own, as `diskmodel.engine.auxiliary.AuxiliaryTables`.
    #[derive(Clone, Debug)]
    pub struct AuxiliaryTables {
        pub drive: Drive,
        pub drive_queue: Queue,
        pub depth: usize,
        /// Number of the first of them in the order of events: behind all that an array has.
        pub first_device: u32,
        pub takes_flushes: bool,
        /// None: all that comes is given to the drive in order.
        pub classes: Option<ClassTables>,
        /// What of each drive is used.
        pub first_sector: i64,
        pub n_sectors: i64,
        /// And of that what is written in order before it begins again.
        pub slab_sectors: i64,
        pub revolution_ns: Vec<i64>,
        pub phase_ns: Vec<i64>,
        pub first_draw: u32,
    }
}

impl AuxiliaryTables {
    /// Refuses what cannot be simulated beside an array of so many devices, with writes of up to so many bytes.
    pub(super) fn check(&self, name: &str, n_devices: i64, most_bytes: i64) -> Result<(), String> {
        let at = |field: &str| format!("{name}.{field}");
        let (sector_bytes, drive_sectors) = self.drive.check()?;
        let n = self.revolution_ns.len();
        size_within(&at("revolution_ns (number)"), n, 1, MAX_AT_A_PLACE)?;
        has_length(&at("phase_ns"), self.phase_ns.len(), n)?;
        self.drive.check_each(&self.revolution_ns, &self.phase_ns)?;
        self.drive_queue.check(&at("drive_queue"))?;
        size_within(&at("depth"), self.depth, 1, MAX_DEPTH)?;
        // behind those that an array counts beside its disks
        within(&at("first_device"), i64::from(self.first_device), n_devices + 5, MAX_DISKS + 256)?;
        within(&at("first_sector"), self.first_sector, 0, MAX_SECTORS)?;
        within(&at("n_sectors"), self.n_sectors, 1, MAX_SECTORS)?;
        let rule = format_args!("must end, with two labels behind it, within the drive's {drive_sectors} sectors");
        let end = self.first_sector + self.n_sectors + 2 * (LABEL_BYTES / sector_bytes);
        holds(end <= drive_sectors, &at("n_sectors"), self.n_sectors, rule)?;
        within(&at("slab_sectors"), self.slab_sectors, 1, self.n_sectors)?;
        let rule = format_args!("must have room for a write of {most_bytes} bytes");
        holds(self.slab_sectors > most_bytes / sector_bytes, &at("slab_sectors"), self.slab_sectors, rule)?;
        let Some(classes) = &self.classes else { return Ok(()) };
        within(&at("classes.read_gap"), classes.read_gap, 0, MAX_LENGTH_BYTES / sector_bytes)?;
        within(&at("classes.longest"), classes.longest, 1, MAX_LENGTH_BYTES / sector_bytes)?;
        within(&at("classes.most"), classes.most, 1, MAX_ACTIVE)?;
        within(&at("classes.most_ahead"), classes.most_ahead, 1, MAX_ACTIVE)
    }

    /// The drives, of tables that were checked.
    pub(super) fn build(self, number: u8, pool: Option<&PoolTables>) -> Result<Auxiliary, String> {
        let place = Place {
            number,
            first_device: self.first_device,
            takes_flushes: self.takes_flushes,
            first_sector: self.first_sector,
            n_sectors: self.n_sectors,
            slab_sectors: self.slab_sectors,
        };
        // whoever waits for a drive waits in its queue by class, or in order
        let host = Policy::in_order();
        let (depth, turns) = (self.depth, (&*self.revolution_ns, &*self.phase_ns));
        let scan = pool.map(|pool| pool.scan.clone());
        let classes = self.classes.zip(scan);
        let drives = match self.drive {
            Drive::Hdd(tables) => {
                let own = Policy::new(&self.drive_queue);
                let (model, disks) = hard_disks(*tables, depth, turns, (&host, &own), self.first_draw);
                OfKind::Hdd(behind_queues(model, disks, classes))
            }
            Drive::Flash(tables) => {
                let (model, disks) = flash_drives(*tables, depth, &self.phase_ns, &host, &Start::default())?;
                OfKind::Flash(behind_queues(model, disks, classes))
            }
            Drive::Remote(tables) => {
                let (model, disks) = remote_drives(tables, depth, &self.phase_ns, &host);
                OfKind::Remote(behind_queues(model, disks, classes))
            }
        };
        Ok(Auxiliary::new(drives, place))
    }
}

fn behind_queues<D: Device>(
    model: D::Model,
    mut disks: Vec<D>,
    classes: Option<(ClassTables, ScanTables)>,
) -> Drives<D> {
    if let Some((classes, scan)) = classes {
        for front in disks.iter_mut().map(Device::front_mut) {
            front.divide_into_classes(PoolRules {
                read_gap: classes.read_gap,
                write_gap: 0,
                longest: classes.longest,
                border: model.border(),
                most: classes.most,
                most_ahead: classes.most_ahead,
                scan: scan.clone(),
            });
        }
    }
    Drives::new(disks, model, 0)
}

impl Scenario {
    /// Refuses drives at places that the array does not have.
    pub(super) fn check_auxiliary(&self) -> Result<(), String> {
        let (pool, n_devices) = (self.layout.pool.as_ref(), self.layout.n_devices());
        let has_special = pool.is_some_and(|pool| pool.writes.has_special);
        let given = |has_one: bool| if has_one { "given" } else { "None" };
        let rule = "there must be as many as the layout has";
        holds(has_special == self.special.is_some(), "special", given(self.special.is_some()), rule)?;
        let has_journal = self.layout.journal.is_some();
        let is_due = pool.is_some() || has_journal == self.log.is_some();
        holds(is_due, "log", given(self.log.is_some()), rule)?;
        if let Some(log) = &self.log {
            log.check("log", n_devices, pool.map_or(MAX_UNIT_BYTES, |pool| pool.writes.log_block))?;
        }
        let Some(pool) = pool else { return Ok(()) };
        let has_drives = pool.l2arc.as_ref().is_some_and(|l2arc| l2arc.figures.is_none());
        holds(has_drives == self.l2arc.is_some(), "l2arc", given(self.l2arc.is_some()), rule)?;
        let (sector_bytes, _) = self.drive.check()?;
        if let (Some(drives), Some(l2arc)) = (&self.l2arc, &pool.l2arc) {
            drives.check("l2arc", n_devices, pool.record * sector_bytes)?;
            has_length("l2arc.phase_ns", drives.phase_ns.len(), l2arc.devices as usize)?;
        }
        let Some(special) = &self.special else { return Ok(()) };
        let writes = &pool.writes;
        let blocks = writes.indirect_blocks.max(writes.object_blocks);
        // every kind has its part of a slab
        let most_bytes = blocks.saturating_mul(pool.block * sector_bytes).saturating_mul(writes.allocators + 1);
        special.check("special", n_devices, most_bytes.min(MAX_LENGTH_BYTES))
    }
}

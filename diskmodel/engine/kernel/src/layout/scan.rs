//! What a scan of a pool goes through, and what it reads and writes: a resilver, a scrub (rules X20 to X22); see
//! `diskmodel/layout/pools/scan.py`.

use super::pool::{n_columns, PoolTables};
use super::{Copy, Layout, Piece, Plan, SyncAction, READ};
use crate::mechanics::WRITE;
use crate::schema::record;

record! {
    /// How fast a resilver or a scrub goes on, as `diskmodel.layout.pools.scan_tables.ScanTables`.
    #[derive(Clone, Debug)]
    pub struct ScanTables {
        /// Records of the whole pool that are stored, from the first on.
        pub records: i64,
        /// Sectors of records that are read and not written yet.
        pub in_flight: i64,
        /// A transaction group waits so long at least.
        pub least_ns: i64,
        pub active_least: i64,
        pub active_most: i64,
        pub quiet: i64,
        pub credit: i64,
    }
}

/// The vdevs that a scan goes through: the lost disk's, or all of them (rules X20 and X22).
pub fn scanned_vdevs(layout: &Layout) -> std::ops::Range<i64> {
    if layout.rebuild_disk < 0 {
        return 0..if layout.sync_action == SyncAction::Check { layout.n_groups } else { 0 };
    }
    let vdev = layout.rebuild_disk / layout.group_width();
    vdev..vdev + 1
}

/// How many of the first so many records lie on a vdev (rule X2).
fn records_of(layout: &Layout, pool: &PoolTables, records: i64, vdev: i64) -> i64 {
    let all = pool.turn_records * layout.n_groups;
    let (turns, rest) = (records / all, records % all);
    turns * pool.turn_records + (rest - vdev * pool.turn_records).clamp(0, pool.turn_records)
}

/// The stored records of a vdev, in their order on the disks (rule X20).
pub struct Stored {
    pub vdev: i64,
    n: i64,
    slab: i64,
    /// Records of the metaslab: those before, and all of it.
    at: i64,
    held: i64,
}

impl Stored {
    /// Those that a scan is not through at the beginning.
    pub fn new(layout: &Layout, pool: &PoolTables, vdev: i64) -> Self {
        let n = records_of(layout, pool, pool.scan.records, vdev);
        let mut stored = Stored { vdev, n, slab: 0, at: 0, held: 0 };
        stored.held = stored.held(pool);
        let begun = layout.rebuild_front / layout.rebuild_window;
        stored.skip(pool, if layout.rebuild_disk < 0 { records_of(layout, pool, begun, vdev) } else { begun });
        stored
    }

    fn place(&self, pool: &PoolTables) -> i64 {
        match self.slab {
            0 => 0,
            slab if slab > pool.skipped_slabs => slab - pool.skipped_slabs,
            slab => slab + pool.n_slabs - pool.skipped_slabs - 1,
        }
    }

    /// Records that the metaslab holds: its second half has some only where the first one is full.
    fn held(&self, pool: &PoolTables) -> i64 {
        let place = self.place(pool);
        let others = pool.slab_records - pool.half_records;
        let first = (self.n - place * pool.half_records).clamp(0, pool.half_records);
        first + (self.n - pool.n_slabs * pool.half_records - place * others).clamp(0, others)
    }

    fn find_next(&mut self, pool: &PoolTables) {
        while self.at >= self.held && self.slab < pool.n_slabs {
            self.at -= self.held;
            self.slab += 1;
            self.held = if self.slab < pool.n_slabs { self.held(pool) } else { 0 };
        }
    }

    /// Leave out so many records.
    fn skip(&mut self, pool: &PoolTables, n: i64) {
        self.at += n;
        self.find_next(pool);
    }

    pub fn is_at_end(&self, pool: &PoolTables) -> bool {
        self.slab >= pool.n_slabs
    }

    /// First block of the next record.
    pub fn take(&mut self, pool: &PoolTables) -> i64 {
        let is_early = self.place(pool) == 0 && self.at < pool.early_records;
        let begin = if is_early { pool.early_blocks } else { pool.late_blocks };
        let first = pool.slab_begin(self.slab, 0) + begin + self.at * pool.stored;
        self.skip(pool, 1);
        first
    }
}

/// What the record at block `first` of a vdev needs, into `plan`; false: it has nothing on the lost disk. A scrub reads all
/// of it (rule X22).
pub fn step(
    layout: &Layout,
    pool: &PoolTables,
    (vdev, first): (i64, i64),
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) -> bool {
    plan.first.clear();
    plan.then.clear();
    let width = layout.group_width();
    let new = layout.n_disks;
    let is_scrub = layout.rebuild_disk < 0;
    if layout.n_parity == 0 && is_scrub {
        let lba = layout.data_offset + first * pool.block;
        let disks = vdev * width..(vdev + 1) * width;
        plan.first.extend(disks.map(|disk| Piece::new(disk as u32, READ, lba, pool.record)));
        return true;
    }
    if layout.n_parity == 0 {
        super::pool::mirror(layout, pool, vdev, first, plan, choose);
        let read = plan.first[0];
        plan.then.push(Piece::new(new, WRITE, read.lba, read.n));
        return true;
    }
    for (first, blocks) in pool.parts(layout, first, pool.record / pool.block) {
        let longest = pool.column(layout, first, blocks, 0).2;
        for number in (0..n_columns(layout, blocks)).rev() {
            let (disk, row, n) = pool.column(layout, first, blocks, number);
            let n = if pool.draid.is_some() { longest } else { n } * pool.block;
            let (disk, lba) = ((vdev * width + disk) as u32, layout.data_offset + row * pool.block);
            if i64::from(disk) == layout.rebuild_disk {
                plan.then.push(Piece::new(new, WRITE, lba, n));
            } else if !layout.has_failed(disk) {
                plan.first.push(Piece::new(disk, READ, lba, n));
            }
        }
    }
    is_scrub || !plan.then.is_empty()
}

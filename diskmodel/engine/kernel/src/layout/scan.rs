//! What a scan of a pool goes through, and what it reads and writes: a resilver, a scrub (rules X20 to X22); see
//! `diskmodel/layout/pools/scan.py`.

use super::pool::{n_columns, PoolTables};
use super::{ChildIo, Copy, Layout, Plan, SyncAction, READ};
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
        /// Blocks that a step of a sequential resilver takes at most; 0: it goes through records.
        pub segment: i64,
        /// A transaction group waits so long at least.
        pub least_ns: i64,
        pub active_least: i64,
        pub active_most: i64,
        pub quiet: i64,
        pub credit: i64,
    }
}

impl ScanTables {
    /// What is counted of a record: its blocks where a resilver goes through segments.
    fn unit(&self, pool: &PoolTables) -> i64 {
        if self.segment > 0 {
            pool.stored
        } else {
            1
        }
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

/// What a scan takes at once: first block of the vdev, and blocks of data.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    pub first: i64,
    pub blocks: i64,
}

/// How many sectors of a disk so many blocks of data of a stretch count as.
pub fn counts_as(layout: &Layout, pool: &PoolTables, blocks: i64) -> i64 {
    if pool.scan.segment == 0 {
        return layout.rebuild_window;
    }
    let rows = blocks / layout.n_data;
    pool.block * if pool.draid.is_some() { rows * (layout.n_data + layout.n_parity) } else { blocks }
}

/// What is stored on a vdev, in its order on the disks: records (rule X20), or segments of their space (X25).
pub struct Stored {
    pub vdev: i64,
    n: i64,
    slab: i64,
    /// Records of the metaslab, or their blocks: those before, and all of it.
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

    /// Records that the metaslab holds, or their blocks: its second half has some only where the first one is full.
    fn held(&self, pool: &PoolTables) -> i64 {
        let place = self.place(pool);
        let others = pool.slab_records - pool.half_records;
        let first = (self.n - place * pool.half_records).clamp(0, pool.half_records);
        let held = first + (self.n - pool.n_slabs * pool.half_records - place * others).clamp(0, others);
        held * pool.scan.unit(pool)
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
        self.at += n * pool.scan.unit(pool);
        self.find_next(pool);
    }

    pub fn is_at_end(&self, pool: &PoolTables) -> bool {
        self.slab >= pool.n_slabs
    }

    /// What comes next.
    pub fn take(&mut self, layout: &Layout, pool: &PoolTables) -> Stretch {
        if pool.scan.segment > 0 {
            return self.segment(layout, pool);
        }
        let is_early = self.place(pool) == 0 && self.at < pool.early_records;
        let begin = if is_early { pool.early_blocks } else { pool.late_blocks };
        let first = pool.slab_begin(self.slab, 0) + begin + self.at * pool.stored;
        self.skip(pool, 1);
        Stretch { first, blocks: pool.record / pool.block }
    }

    /// The next segment: as long as a step is, within a group of dRAID (rule X25).
    fn segment(&mut self, layout: &Layout, pool: &PoolTables) -> Stretch {
        let first = pool.slab_begin(self.slab, 0) + self.at;
        let mut n = pool.scan.segment.min(self.held - self.at);
        let mut blocks = n;
        if let Some(draid) = &pool.draid {
            n = n.min(draid.left(layout, first).1);
            blocks = n / (layout.n_data + layout.n_parity) * layout.n_data;
        }
        self.at += n;
        self.find_next(pool);
        Stretch { first, blocks }
    }
}

/// What blocks of data of a vdev need, into `plan`; false: nothing of them is to be written. A scrub reads all (rule X22).
pub fn step(
    layout: &Layout,
    pool: &PoolTables,
    vdev: i64,
    Stretch { first, blocks }: Stretch,
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) -> bool {
    plan.first.clear();
    plan.then.clear();
    let width = layout.group_width();
    let is_scrub = layout.rebuild_disk < 0;
    if layout.n_parity == 0 && is_scrub {
        let (lba, n) = (layout.data_offset + first * pool.block, blocks * pool.block);
        let disks = vdev * width..(vdev + 1) * width;
        plan.first.extend(disks.map(|disk| ChildIo::new(disk as u32, READ, lba, n)));
        return true;
    }
    if layout.n_parity == 0 {
        super::pool::mirror(layout, pool, (vdev, first, blocks * pool.block), plan, choose);
        let read = plan.first[0];
        plan.then.push(ChildIo::new(layout.n_disks, WRITE, read.lba, read.n));
        return true;
    }
    for (first, blocks) in pool.parts(layout, first, blocks) {
        let longest = pool.column(layout, first, blocks, 0).2;
        for number in (0..n_columns(layout, blocks)).rev() {
            let (disk, row, n) = pool.column(layout, first, blocks, number);
            let n = if pool.draid.is_some() { longest } else { n } * pool.block;
            let (disk, lba) = ((vdev * width + disk) as u32, layout.data_offset + row * pool.block);
            if !layout.has_failed(disk) {
                plan.first.push(ChildIo::new(disk, READ, lba, n));
            } else if let Some(new) = layout.new_disk(disk, Some(row)) {
                plan.then.push(ChildIo::new(new, WRITE, lba, n));
            }
        }
    }
    is_scrub || !plan.then.is_empty()
}

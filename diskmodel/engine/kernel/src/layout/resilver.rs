//! What a resilver of a pool goes through, and what it reads and writes (rules X20 and X21); see
//! `diskmodel/layout/resilver.py`.

use super::pool::{n_columns, PoolTables};
use super::{Copy, Layout, Piece, Plan, READ};
use crate::mechanics::WRITE;
use crate::schema::record;

record! {
    /// How fast a resilver goes on, as `diskmodel.layout.resilver_tables.ResilverTables`.
    #[derive(Clone, Debug)]
    pub struct ResilverTables {
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

/// How many of the stored records lie on the vdev of the lost disk (rule X2).
pub fn records_of(layout: &Layout, pool: &PoolTables) -> i64 {
    let vdev = layout.rebuild_disk / layout.group_width();
    let all = pool.turn_records * layout.n_groups;
    let (turns, rest) = (pool.resilver.records / all, pool.resilver.records % all);
    turns * pool.turn_records + (rest - vdev * pool.turn_records).clamp(0, pool.turn_records)
}

/// The stored records of a vdev, in their order on the disks (rule X20).
pub struct Stored {
    n: i64,
    slab: i64,
    /// Records of the metaslab: those before, and all of it.
    at: i64,
    held: i64,
}

impl Stored {
    pub fn new(layout: &Layout, pool: &PoolTables) -> Self {
        let n = records_of(layout, pool);
        let mut stored = Stored { n, slab: 0, at: 0, held: 0 };
        stored.held = stored.held(pool);
        stored.find_next(pool);
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
    pub fn skip(&mut self, pool: &PoolTables, n: i64) {
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
        let first = self.slab * pool.slab_blocks + begin + self.at * pool.stored;
        self.skip(pool, 1);
        first
    }
}

/// What the record at block `first` of the resilvered vdev needs, into `plan`; false: it has nothing on the lost disk.
pub fn step(
    layout: &Layout,
    pool: &PoolTables,
    first: i64,
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) -> bool {
    plan.first.clear();
    plan.then.clear();
    let width = layout.group_width();
    let vdev = layout.rebuild_disk / width;
    let new = layout.n_disks;
    if layout.n_parity == 0 {
        super::pool::mirror(layout, pool, vdev, first, plan, choose);
        let read = plan.first[0];
        plan.then.push(Piece::new(new, WRITE, read.lba, read.n));
        return true;
    }
    let blocks = pool.record / pool.block;
    for number in (0..n_columns(layout, blocks)).rev() {
        let (disk, row, n) = pool.column(layout, first, blocks, number);
        let (disk, lba, n) = ((vdev * width + disk) as u32, layout.data_offset + row * pool.block, n * pool.block);
        if i64::from(disk) == layout.rebuild_disk {
            plan.then.push(Piece::new(new, WRITE, lba, n));
        } else if !layout.has_failed(disk) {
            plan.first.push(Piece::new(disk, READ, lba, n));
        }
    }
    !plan.then.is_empty()
}

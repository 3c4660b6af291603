//! Pools of OpenZFS: where a record lies, and what reading it takes (rules X1 to X6); see `diskmodel/layout/pools/records.py`.

use super::draid::DraidTables;
use super::pool_l2arc::L2arcTables;
use super::pool_space::WriteTables;
use super::pool_streams::ReadTables;
use super::scan::ScanTables;
use super::{ChildIo, Copy, Layout, Plan, READ};
use crate::schema::record;

record! {
    /// A pool in sectors and blocks, as `diskmodel.layout.pools.records.PoolTables`.
    #[derive(Clone, Debug)]
    pub struct PoolTables {
        pub record: i64,
        pub block: i64,
        /// Blocks of the vdev that a record takes: data, parity and padding.
        pub stored: i64,
        pub turn_records: i64,
        pub n_slabs: i64,
        pub slab_blocks: i64,
        /// Records in the first half of a metaslab, which is filled first, and in all of it.
        pub half_records: i64,
        pub slab_records: i64,
        pub skipped_slabs: i64,
        /// The first records of a vdev begin elsewhere.
        pub early_records: i64,
        pub early_blocks: i64,
        pub late_blocks: i64,
        /// Blocks that every place is a multiple of.
        pub align: i64,
        /// Blocks after which parity and first data column change places; 0: they never do.
        pub swap_blocks: i64,
        pub near: i64,
        /// What a mirror adds to the load of a disk for a read near its last command, and for one farther away.
        pub near_load: i64,
        pub far_load: i64,
        pub turn_of_copies: i64,
        pub most_active: i64,
        /// Sectors that a read may skip to include another, and its most sectors then.
        pub gather_gap: i64,
        pub gather: i64,
        pub reads: ReadTables,
        pub writes: WriteTables,
        pub scan: ScanTables,
        /// Of a pool of dRAID vdevs.
        pub draid: Option<DraidTables>,
        /// Of a pool with cache devices.
        pub l2arc: Option<L2arcTables>,
    }
}

impl PoolTables {
    /// What the way from the last command of a disk adds to its load (rule X6).
    pub fn seek_load(&self, distance: i64) -> i64 {
        match distance.abs() {
            0 => 0,
            near if near < self.near => self.near_load,
            _ => self.far_load,
        }
    }

    /// First place in a metaslab, or the first so many blocks behind its beginning (rule X23).
    pub fn slab_begin(&self, slab: i64, behind: i64) -> i64 {
        (slab * self.slab_blocks + behind + self.align - 1) / self.align * self.align
    }

    /// First block and blocks of the parts of so many blocks of data: one, or two in neighboring groups of dRAID.
    pub fn parts(&self, layout: &Layout, first: i64, blocks: i64) -> impl Iterator<Item = (i64, i64)> {
        let (data, all) = self.draid.as_ref().map_or((i64::MAX, 0), |draid| draid.left(layout, first));
        let here = blocks.min(data);
        std::iter::once((first, here)).chain((blocks > here).then_some((first + all, blocks - here)))
    }

    /// Vdev of a record and its first block there (rules X2 and X3).
    pub fn place(&self, n_vdevs: i64, record: i64) -> (i64, i64) {
        let (turn, inside) = (record / self.turn_records, record % self.turn_records);
        let (round, vdev) = (turn / n_vdevs, turn % n_vdevs);
        let number = round * self.turn_records + inside;
        let (mut place, mut at) = (number / self.half_records, number % self.half_records);
        if place >= self.n_slabs {
            let behind = number - self.n_slabs * self.half_records;
            let others = self.slab_records - self.half_records;
            (place, at) = (behind / others, self.half_records + behind % others);
        }
        let n_straight = self.n_slabs - self.skipped_slabs;
        let slab = match place {
            0 => 0,
            _ if place < n_straight => place + self.skipped_slabs,
            _ => place + 1 - n_straight,
        };
        let n_early = self.early_records;
        let begin = if number < n_early { self.early_blocks } else { self.late_blocks };
        (vdev, self.slab_begin(slab, 0) + begin + at * self.stored)
    }
}

/// Pieces of a read: every record that it touches, whole, each column a command of its own (rule X5).
pub fn plan(
    layout: &Layout,
    pool: &PoolTables,
    sector: i64,
    n: i64,
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) {
    for record in sector / pool.record..=(sector + n - 1) / pool.record {
        let (vdev, first) = pool.place(layout.n_groups, record);
        if layout.n_parity == 0 {
            mirror(layout, pool, (vdev, first, pool.record), plan, choose);
        } else {
            columns(layout, pool, vdev, first, plan);
        }
    }
}

/// Read of `n` sectors of a mirror from block `first` on, from the copy that is chosen (rule X6).
pub(super) fn mirror(
    layout: &Layout,
    pool: &PoolTables,
    (vdev, first, n): (i64, i64, i64),
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) {
    let lba = layout.data_offset + first * pool.block;
    plan.copies.clear();
    for disk in vdev * layout.copies..(vdev + 1) * layout.copies {
        if !layout.has_failed(disk as u32) {
            plan.copies.push(Copy { disk: disk as u32, lba });
        }
    }
    let copy = if plan.copies.len() == 1 { plan.copies[0] } else { choose(&plan.copies, n) };
    plan.first.push(ChildIo::new(copy.disk, READ, copy.lba, n));
}

/// Reads of the data columns of a RAID-Z record, from the last to the first; with parity where data is lost (rule X4).
fn columns(layout: &Layout, pool: &PoolTables, vdev: i64, first: i64, plan: &mut Plan) {
    let (n_parity, base) = (layout.n_parity, vdev * layout.group_width());
    for (first, blocks) in pool.parts(layout, first, pool.record / pool.block) {
        let n_columns = n_columns(layout, blocks);
        let has_failed = |number| {
            let (disk, ..) = pool.column(layout, first, blocks, number);
            layout.has_failed((base + disk) as u32)
        };
        // what is computed takes padding, too
        let is_padded = pool.draid.is_some() && !layout.failed.is_empty() && (0..n_columns).any(has_failed);
        let longest = pool.column(layout, first, blocks, 0).2;
        let mut misses_data = false;
        for number in (0..n_columns).rev() {
            let (disk, row, n) = pool.column(layout, first, blocks, number);
            let (disk, n) = ((base + disk) as u32, if is_padded { longest } else { n });
            if layout.has_failed(disk) {
                misses_data |= number >= n_parity;
            } else if n > 0 && (number >= n_parity || misses_data) {
                plan.first.push(ChildIo::new(disk, READ, layout.data_offset + row * pool.block, n * pool.block));
            }
        }
    }
}

/// Columns of so many blocks of RAID-Z; those of dRAID include columns that hold nothing.
pub fn n_columns(layout: &Layout, blocks: i64) -> i64 {
    if layout.is_draid() {
        return layout.n_data + layout.n_parity;
    }
    match (blocks / layout.n_data, blocks % layout.n_data) {
        (0, rest) => rest + layout.n_parity,
        _ => layout.n_data + layout.n_parity,
    }
}

impl PoolTables {
    /// Disk of its vdev, row and blocks of a column of so many blocks of RAID-Z, or of a part of dRAID, that begin at
    /// block `first` (rules X4 and X23).
    pub fn column(&self, layout: &Layout, first: i64, blocks: i64, number: i64) -> (i64, i64, i64) {
        let width = layout.n_data + layout.n_parity;
        let (each, rest) = (blocks / layout.n_data, blocks % layout.n_data);
        let n_long = if rest > 0 { rest + layout.n_parity } else { 0 };
        if let Some(draid) = &self.draid {
            let (disk, row) = draid.column(layout, first, number);
            return (disk, row, each + i64::from(number < n_long));
        }
        let is_swapped = self.swap_blocks > 0 && first / self.swap_blocks % 2 == 1;
        let place = first % width + if is_swapped && number < 2 { 1 - number } else { number };
        // columns that change places are equally long
        (place % width, first / width + place / width, each + i64::from(number < n_long))
    }
}

//! Where a pool writes: free places, one behind the other (rules X12, X13); see `diskmodel/layout/pools/free_space.py`.

use super::pool::{n_columns, PoolTables};
use super::{ChildIo, Layout};
use crate::mechanics::WRITE;
use crate::schema::record;

record! {
    /// How a pool writes, as `diskmodel.layout.pools.writes.WriteTables`.
    #[derive(Clone, Debug)]
    pub struct WriteTables {
        pub is_logged: bool,
        pub group_ns: i64,
        pub dirty_group: i64,
        pub dirty_most: i64,
        pub delay_from: i64,
        pub more_from: i64,
        pub more_to: i64,
        pub delay_ns: i64,
        pub longest_delay_ns: i64,
        pub active_least: i64,
        pub active_most: i64,
        pub allocated: i64,
        pub allocated_first: i64,
        pub turn_blocks: i64,
        pub n_records: i64,
        pub log_block: i64,
        pub log_header: i64,
        pub direct_from: i64,
        pub log_wait_percent: i64,
        pub log_bursts: i64,
        /// Whether its metadata is on a special vdev.
        pub has_special: bool,
        pub log_slab: i64,
        pub metadata_slab: i64,
        pub slabs_apart: i64,
        pub pointers: i64,
        pub indirect: i64,
        pub record_ns: i64,
        pub indirect_blocks: i64,
        pub indirect_copies: i64,
        pub above_file: i64,
        pub rounds: i64,
        pub allocators: i64,
        pub objects: i64,
        pub object_blocks: i64,
        pub object_copies: i64,
        pub gather_gap: i64,
        pub label_first: i64,
        pub label_last: i64,
        pub label_apart: i64,
        pub label_sectors: i64,
        pub labeled_vdevs: i64,
    }
}

impl WriteTables {
    /// How many writes of a group a drive is given at once (rule X14).
    pub fn active_writes(&self, dirty: i64) -> i64 {
        if dirty <= self.more_from {
            return self.active_least;
        }
        if dirty >= self.more_to {
            return self.active_most;
        }
        let more = (dirty - self.more_from) * (self.active_most - self.active_least) / (self.more_to - self.more_from);
        self.active_least + more
    }

    /// How long a write waits behind the one before it, ns (rule X15).
    pub fn delay_of(&self, dirty: i64) -> i64 {
        if dirty <= self.delay_from {
            return 0;
        }
        if dirty >= self.dirty_most {
            return self.longest_delay_ns;
        }
        let over = i128::from(self.delay_ns) * i128::from(dirty - self.delay_from);
        let delay = over / i128::from(self.dirty_most - dirty);
        // no longer than a 64-bit time
        delay.min(i128::from(self.longest_delay_ns)) as i64
    }
}

/// The indirect blocks above a record: how many of their kind there could be, and which one it is (rule X12).
pub fn blocks_above(writes: &WriteTables, record: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
    let above = move |&(level, number): &(i64, i64)| {
        (level > 1).then(|| ((level + writes.pointers - 1) / writes.pointers, number / writes.pointers))
    };
    std::iter::successors(above(&(writes.n_records, record)), above)
}

/// Blocks of a vdev that so many blocks take (rule X1).
fn stored_blocks(layout: &Layout, blocks: i64) -> i64 {
    let m = layout.n_parity;
    if m == 0 {
        return blocks;
    }
    let rows = (blocks + layout.n_data - 1) / layout.n_data;
    if layout.is_draid() {
        return rows * (layout.n_data + m);
    }
    let together = blocks + m * rows;
    (together + m) / (m + 1) * (m + 1)
}

/// Adds the writes of so many blocks at block `first` of a vdev: to every disk that is left (rule X12).
pub fn write_pieces(layout: &Layout, pool: &PoolTables, vdev: i64, first: i64, blocks: i64, pieces: &mut Vec<ChildIo>) {
    if layout.n_parity == 0 {
        let lba = layout.data_offset + first * pool.block;
        for disk in vdev * layout.copies..(vdev + 1) * layout.copies {
            if let Some(disk) = layout.new_disk(disk as u32, Some(first)) {
                pieces.push(ChildIo::new(disk, WRITE, lba, blocks * pool.block));
            }
        }
        return;
    }
    let (n_parity, width) = (layout.n_parity, layout.group_width());
    for (first, blocks) in pool.parts(layout, first, blocks) {
        let rest = blocks % layout.n_data;
        let n_long = if rest > 0 { rest + n_parity } else { 0 };
        let together = blocks + n_parity * ((blocks + layout.n_data - 1) / layout.n_data);
        // of dRAID all columns behind the long ones
        let n_padding = stored_blocks(layout, blocks) - together;
        for number in 0..n_columns(layout, blocks) {
            let (disk, row, n) = pool.column(layout, first, blocks, number);
            if let Some(disk) = layout.new_disk((vdev * width + disk) as u32, Some(row)) {
                let is_padded = n_long <= number && number < n_long + n_padding;
                let lba = layout.data_offset + row * pool.block;
                pieces.push(ChildIo::new(disk, WRITE, lba, (n + i64::from(is_padded)) * pool.block));
            }
        }
    }
}

/// Commands of a write of so many blocks where no disk is lost (rule X12).
pub fn commands_of(layout: &Layout, blocks: i64) -> i64 {
    if layout.n_parity == 0 {
        layout.copies
    } else {
        n_columns(layout, blocks)
    }
}

/// The places of one kind: whose turn it is, what it was given, and where the next lies on each vdev.
struct Kind {
    vdev: i64,
    used: i64,
    next: Vec<i64>,
}

/// Free places of a pool, of each kind one behind the other.
pub struct Space {
    /// Records below this number are data that something has asked for.
    top: i64,
    /// Where the next record goes.
    next_record: i64,
    kinds: Vec<Kind>,
}

impl Space {
    pub fn new(layout: &Layout, writes: &WriteTables, top: i64) -> Self {
        let n_kinds = 1 + writes.indirect_copies.max(writes.object_copies) * (1 + writes.allocators);
        let n_vdevs = layout.n_groups;
        let kind = |kind: i64| Kind { vdev: kind % n_vdevs, used: 0, next: vec![0; n_vdevs as usize] };
        Space { top, next_record: top, kinds: (0..n_kinds).map(kind).collect() }
    }

    /// There is data up to this record.
    pub fn asked(&mut self, last_record: i64) {
        self.top = self.top.max(last_record + 1);
    }

    /// What follows is written behind the data (rule X13).
    pub fn group_begins(&mut self) {
        self.next_record = self.next_record.max(self.top);
    }

    /// Vdev and first block of the next place for a record.
    pub fn for_record(&mut self, layout: &Layout, pool: &PoolTables) -> (i64, i64) {
        let number = self.next_record % pool.writes.n_records;
        self.next_record += 1;
        pool.place(layout.n_groups, number)
    }

    /// Vdev and first block of the next place for so many blocks of the log: each on the next vdev (rule X13).
    pub fn for_log(&mut self, layout: &Layout, pool: &PoolTables, blocks: i64) -> (i64, i64) {
        self.next(layout, pool, (0, pool.writes.log_slab, 0), blocks, 1)
    }

    /// Vdev and first block of the next place for a copy of indirect blocks (0), or of objects (from 1).
    pub fn for_metadata(&mut self, layout: &Layout, pool: &PoolTables, copy: i64, at: i64, blocks: i64) -> (i64, i64) {
        let writes = &pool.writes;
        let slab = (writes.metadata_slab + copy * writes.slabs_apart) % pool.n_slabs;
        let apart = pool.slab_blocks / (writes.allocators + 1);
        let kind = 1 + copy * (1 + writes.allocators) + at;
        self.next(layout, pool, (kind as usize, slab, at * apart), blocks, writes.turn_blocks)
    }

    fn next(
        &mut self,
        layout: &Layout,
        pool: &PoolTables,
        (kind, slab, begin): (usize, i64, i64),
        blocks: i64,
        turn: i64,
    ) -> (i64, i64) {
        let kind = &mut self.kinds[kind];
        if kind.used >= turn {
            kind.vdev = (kind.vdev + 1) % layout.n_groups;
            kind.used = 0;
        }
        let stored = stored_blocks(layout, blocks);
        let next = &mut kind.next[kind.vdev as usize];
        // what begins at a row of a group may lie that much behind
        let at = if begin + *next + stored > pool.slab_blocks - (pool.align - 1) { 0 } else { *next };
        *next = at + stored;
        kind.used += blocks;
        (kind.vdev, pool.slab_begin(slab, begin) + at)
    }
}

//! dRAID: where the groups of a vdev lie, and which of its disks each of them has (rules X23 and X24); see
//! `diskmodel/layout/pools/draid.py`.

use super::Layout;
use crate::schema::record;

record! {
    /// The groups of a dRAID vdev, as `diskmodel.layout.pools.draid.DraidTables`.
    #[derive(Clone, Debug)]
    pub struct DraidTables {
        /// Blocks that a group has on each of its disks.
        pub row_blocks: i64,
        pub slice_groups: i64,
        pub slice_rows: i64,
        pub n_spares: i64,
        /// Orders of the disks, one behind the other: the disk at each place of a row.
        pub orders: Vec<u32>,
    }
}

impl DraidTables {
    /// Disk at a place of the rows of a slice, in a vdev of `width` disks.
    pub fn disk_at(&self, slice: i64, place: i64, width: i64) -> i64 {
        let order = slice / width % (self.orders.len() as i64 / width);
        (i64::from(self.orders[(order * width + place) as usize]) + slice) % width
    }

    /// Blocks of data that the group of block `first` has left, and blocks of the vdev until it ends.
    pub fn left(&self, layout: &Layout, first: i64) -> (i64, i64) {
        let width = layout.n_data + layout.n_parity;
        let rows = self.row_blocks - first / width % self.row_blocks;
        (rows * layout.n_data, rows * width)
    }

    /// Disk of its vdev and block there at which a column begins.
    pub fn column(&self, layout: &Layout, first: i64, number: i64) -> (i64, i64) {
        let (width, disks) = (layout.n_data + layout.n_parity, layout.group_width());
        let places = disks - self.n_spares;
        let (row, inside) = (first / width, first / width % self.row_blocks);
        let group = row / self.row_blocks;
        let (slice, in_slice) = (group / self.slice_groups, group % self.slice_groups);
        let at = in_slice * width + number;
        let disk = self.disk_at(slice, at % places, disks);
        (disk, (slice * self.slice_rows + at / places) * self.row_blocks + inside)
    }
}

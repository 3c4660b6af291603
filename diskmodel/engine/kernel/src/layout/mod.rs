//! Which disks serve a request, in which phases (rules L1 to L15, R1 to R7, X1 to X6, X20); see `diskmodel/layout/`.

mod bitmap;
mod choice;
mod draid;
mod joining;
mod journal;
mod mirror;
mod parity;
mod pool;
mod pool_l2arc;
mod pool_log;
mod pool_space;
mod pool_streams;
mod rebuild;
mod row;
mod scan;
mod stripes;
mod tables;

use std::ops::Deref;

use crate::divisor::Divisor;
use crate::mechanics::{READ, WRITE};
use crate::named::named;

/// A read after which the disk is held until the same blocks have been written (rule L12).
pub const READ_AND_HOLD: u8 = 2;

pub use bitmap::{page_of, Bitmap};
pub use choice::{CopyChoice, DiskState};
pub use draid::DraidTables;
pub use joining::Joining;
pub use journal::{within, JournalTables, PartialTables, Room, Stripe, BATCH_STRIPES, BLOCK_BYTES};
pub use pool::PoolTables;
pub use pool_l2arc::{Filling, L2arc, L2arcTables, Region};
pub use pool_log::{rounded, Lengths};
pub use pool_space::{blocks_above, commands_of, write_pieces, Space, WriteTables};
pub use pool_streams::{ReadTables, Streams};
pub use scan::{counts_as, scanned_vdevs, step as scan_step, ScanTables, Stored};
pub use stripes::{Stretch, StripeCache};
pub use tables::LayoutTables;

/// What shares are counted in.
pub const PER_MILLION: i64 = 1_000_000;

named! {
    /// What kinds of layouts there are.
    pub enum Family {
        /// Disks end to end.
        Concat = "concat",
        /// Strips with copies; one copy is RAID 0.
        Copies = "copies",
        /// Rows with parity.
        Parity = "parity",
        /// Vdevs of OpenZFS.
        Pool = "pool",
    }
}

named! {
    /// How parity moves from row to row (rule L6).
    pub enum Rotation {
        LeftSymmetric = "left-symmetric",
        LeftAsymmetric = "left-asymmetric",
        RightSymmetric = "right-symmetric",
        RightAsymmetric = "right-asymmetric",
        None = "none",
    }
}

named! {
    /// Which copy serves a read (rule L5).
    pub enum CopyPolicy {
        Nearest = "nearest",
        ShortestQueue = "shortest-queue",
        RoundRobin = "round-robin",
        Primary = "primary",
        NearestArm = "nearest-arm",
        IdleOrNearest = "idle-or-nearest",
        Lowest = "lowest",
        LeastLoaded = "least-loaded",
    }
}

named! {
    /// What is read for a write of part of a row (rule L8).
    pub enum WritePolicy {
        Fewest = "fewest",
        ReadModifyWrite = "read-modify-write",
        ReconstructWrite = "reconstruct-write",
    }
}

named! {
    /// Which pass over the members goes on (rules R1 to R7).
    pub enum SyncAction {
        None = "none",
        Recover = "recover",
        Check = "check",
        Resync = "resync",
    }
}

/// A layout: its tables, and what places are divided by.
#[derive(Clone, Debug)]
pub struct Layout {
    tables: LayoutTables,
    by: Divisors,
}

impl Layout {
    /// Of tables that were checked.
    pub fn new(tables: LayoutTables) -> Self {
        let by = Divisors {
            strip: Divisor::new(tables.strip),
            member: Divisor::new(tables.member),
            disks: Divisor::new(i64::from(tables.n_disks)),
            groups: Divisor::new(tables.n_groups),
            data: Divisor::new(tables.n_data),
            width: Divisor::new(tables.n_data + tables.n_parity),
        };
        Layout { tables, by }
    }
}

impl Deref for Layout {
    type Target = LayoutTables;

    #[inline]
    fn deref(&self) -> &LayoutTables {
        &self.tables
    }
}

/// What places are divided by.
#[derive(Clone, Copy, Debug)]
struct Divisors {
    strip: Divisor,
    member: Divisor,
    disks: Divisor,
    groups: Divisor,
    /// Data strips, and all strips, of a row.
    data: Divisor,
    width: Divisor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildIo {
    /// Disk and operation in one word: a processor that loads at once what was just stored in parts waits for all of it
    /// to reach its cache.
    on: u64,
    pub lba: i64,
    pub n: i64,
}

impl ChildIo {
    #[inline(always)]
    pub fn new(disk: u32, op: u8, lba: i64, n: i64) -> Self {
        ChildIo { on: u64::from(disk) << 8 | u64::from(op), lba, n }
    }

    #[inline(always)]
    pub fn disk(&self) -> u32 {
        (self.on >> 8) as u32
    }

    #[inline(always)]
    pub fn op(&self) -> u8 {
        self.on as u8
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Copy {
    pub disk: u32,
    pub lba: i64,
}

/// Pieces of one request in two phases, and scratch space that is used again and again.
#[derive(Default)]
pub struct Plan {
    pub first: Vec<ChildIo>,
    pub then: Vec<ChildIo>,
    /// What would be written to disks that are lost, of an array with a journal (rule Y13).
    pub lost: Vec<ChildIo>,
    copies: Vec<Copy>,
    held: Vec<Copy>,
    /// Parts of a request that have been cut off: first sector, sectors.
    waiting: Vec<(i64, i64)>,
    /// Where pieces of the two phases continue others.
    first_joins: Joining,
    then_joins: Joining,
    parts: Vec<parity::Part>,
}

impl Plan {
    fn clear(&mut self) {
        self.first.clear();
        self.then.clear();
        self.lost.clear();
        self.first_joins.clear();
        self.then_joins.clear();
    }
}

impl Layout {
    /// Pieces of a host request, into `plan`; `choose` picks the copy that serves a read.
    pub fn plan(
        &self,
        op: u8,
        sector: i64,
        n: i64,
        front: i64,
        plan: &mut Plan,
        mut choose: impl FnMut(&[Copy], i64) -> Copy,
    ) {
        plan.clear();
        match self.family {
            Family::Parity => parity::plan(self, op, sector, n, front, plan),
            Family::Pool => {
                if let Some(pool) = &self.tables.pool {
                    pool::plan(self, pool, sector, n, plan, &mut choose);
                }
            }
            _ => mirror::plan(self, op, sector, n, front, plan, &mut choose),
        }
    }

    /// Pieces of one rebuild step.
    pub fn rebuild_step(&self, front: i64, plan: &mut Plan) {
        plan.clear();
        rebuild::step(self, front, plan);
    }

    /// Where each strip of a row with parity is meant to lie, those of data first: disk, first sector.
    #[cfg(feature = "movements")]
    pub fn row(&self, row: i64) -> Vec<(u32, i64)> {
        let found = row::Row::new(self, row, 0);
        (0..found.n_strips()).map(|strip| found.place(strip)).collect()
    }

    /// Where the copies of a host strip are meant to lie.
    #[cfg(feature = "movements")]
    pub fn copies_of(&self, chunk: i64, out: &mut Vec<Copy>) {
        mirror::copies_of(self, chunk, 0, out);
    }

    pub fn is_parity(&self) -> bool {
        self.family == Family::Parity
    }

    /// Whether reads go through the array's thread: those of a parity array that has lost a disk.
    pub fn computes_reads(&self) -> bool {
        self.is_parity() && !self.failed.is_empty()
    }

    pub fn has_failed(&self, disk: u32) -> bool {
        !self.failed.is_empty() && self.failed.contains(&disk)
    }

    /// The disk of a pool whose block is written instead of another one's; None: it has failed, and is not resilvered.
    ///
    /// What is none of its blocks, a label (None), a distributed spare does not have (rule X24).
    pub fn new_disk(&self, disk: u32, block: Option<i64>) -> Option<u32> {
        if !self.has_failed(disk) {
            return Some(disk);
        }
        if i64::from(disk) != self.rebuild_disk {
            return None;
        }
        let Some(draid) = self.spare() else { return Some(self.n_disks) };
        let slice = block? / draid.row_blocks / draid.slice_rows;
        let width = self.group_width();
        let spare = i64::from(disk) / width * width + draid.disk_at(slice, width - 1, width);
        (!self.has_failed(spare as u32)).then_some(spare as u32)
    }

    /// The groups of a vdev that has a distributed spare.
    fn spare(&self) -> Option<&DraidTables> {
        self.pool.as_ref()?.draid.as_ref().filter(|draid| draid.n_spares > 0)
    }

    /// Whether a disk of its own takes what a rebuild writes.
    pub fn has_new_disk(&self) -> bool {
        self.rebuild_disk >= 0 && self.spare().is_none()
    }
}

/// Whether one of the others, all of the same operation, covers a piece.
pub fn is_within(piece: &ChildIo, others: &[ChildIo]) -> bool {
    others.iter().any(|o| o.on == piece.on && o.lba <= piece.lba && piece.lba + piece.n <= o.lba + o.n)
}

//! Which disks serve a request, in which phases (rules L1 to L11, R1 to R4); see `diskmodel/layout/`.

mod choice;
mod mirror;
mod parity;
mod rebuild;
mod row;

use crate::divisor::Divisor;
use crate::faults::{planted, Fault};
use crate::mechanics::{READ, WRITE};

/// A read after which the disk is held until the same blocks have been written (rule L12).
pub const READ_AND_HOLD: u8 = 2;

pub use choice::{CopyChoice, DiskState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Concat,
    Copies,
    Parity,
}

/// A layout in sectors, as `diskmodel.layout.tables.LayoutTables`.
#[derive(Clone, Debug)]
pub struct Layout {
    pub family: Family,
    pub n_disks: u32,
    pub strip: i64,
    pub by: Divisors,
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
    pub rebuild_gap: i64,
    pub rebuild_front: i64,
}

/// What places are divided by.
#[derive(Clone, Copy, Debug)]
pub struct Divisors {
    pub strip: Divisor,
    pub member: Divisor,
    pub disks: Divisor,
    pub groups: Divisor,
    /// Data strips, and all strips, of a row.
    pub data: Divisor,
    pub width: Divisor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub disk: u32,
    pub op: u8,
    pub lba: i64,
    pub n: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Copy {
    pub disk: u32,
    pub lba: i64,
}

/// Pieces of one request in two phases, and scratch space that is used again and again.
#[derive(Default)]
pub struct Plan {
    pub first: Vec<Piece>,
    pub then: Vec<Piece>,
    copies: Vec<Copy>,
    held: Vec<Copy>,
    parts: Vec<parity::Part>,
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
        plan.first.clear();
        plan.then.clear();
        match self.family {
            Family::Parity => parity::plan(self, op, sector, n, front, plan),
            _ => mirror::plan(self, op, sector, n, front, plan, &mut choose),
        }
    }

    /// Pieces of one rebuild step.
    pub fn rebuild_step(&self, front: i64, plan: &mut Plan) {
        plan.first.clear();
        plan.then.clear();
        rebuild::step(self, front, plan);
    }

    fn has_failed(&self, disk: u32) -> bool {
        !self.failed.is_empty() && self.failed.contains(&disk)
    }
}

/// Adds a piece of a read: joined, or on its own where the layout keeps strips apart (rule L4).
fn push_read(layout: &Layout, pieces: &mut Vec<Piece>, piece: Piece) {
    if layout.cuts_reads && !planted(Fault::CutReads) {
        pieces.push(piece);
    } else {
        push_merged(pieces, piece);
    }
}

/// Adds a piece, joined to the last one of its disk and operation where it continues that (rule L2).
fn push_merged(pieces: &mut Vec<Piece>, piece: Piece) {
    if let Some(last) = pieces.iter_mut().rev().find(|p| p.disk == piece.disk && p.op == piece.op) {
        if last.lba + last.n == piece.lba {
            last.n += piece.n;
            return;
        }
    }
    pieces.push(piece);
}

//! Rows with parity: RAID 3, 4, 5, 50, 6, 60 and k + m (rules L6 to L10).

use crate::faults::{planted, Fault};

use super::{push_merged, push_read, Layout, Piece, Plan, READ, READ_AND_HOLD, WRITE};
use crate::mechanics::div;

const LEFT_SYMMETRIC: i64 = 0;
const LEFT_ASYMMETRIC: i64 = 1;
const RIGHT_SYMMETRIC: i64 = 2;
const NO_ROTATION: i64 = 4;
const FEWEST: i64 = 0;
const READ_MODIFY_WRITE: i64 = 1;

/// One row: its disks, data then parity; `lost[i]` tells whether disk i of them is lost.
#[derive(Default)]
pub struct Row {
    disks: Vec<u32>,
    lost: Vec<bool>,
    n_data: usize,
    lba: i64,
}

/// Sectors [start, end) of data strip `strip`.
#[derive(Clone, Copy)]
pub struct Part {
    strip: usize,
    start: i64,
    end: i64,
}

fn fill_row(layout: &Layout, row: i64, front: i64, out: &mut Row) {
    let (group, number) = if layout.n_groups == 1 { (0, row) } else { (row % layout.n_groups, row / layout.n_groups) };
    let (n, m) = (layout.n_data + layout.n_parity, layout.n_parity);
    let first = match layout.rotation {
        NO_ROTATION => n - m,
        LEFT_SYMMETRIC | LEFT_ASYMMETRIC => n - 1 - (number - div(number, n) * n),
        _ => number - div(number, n) * n,
    };
    let first = if planted(Fault::ParityRotation) { (first + 1) % n } else { first };
    let base = group * n;
    out.disks.clear();
    out.lost.clear();
    let wrap = |i: i64| if i >= n { i - n } else { i };
    if layout.rotation == LEFT_SYMMETRIC || layout.rotation == RIGHT_SYMMETRIC {
        for j in 0..layout.n_data {
            out.disks.push((base + (first + m + j) % n) as u32);
        }
    } else {
        for disk in 0..n {
            if (0..m).all(|i| wrap(first + i) != disk) {
                out.disks.push((base + disk) as u32);
            }
        }
    }
    for i in 0..m {
        out.disks.push((base + wrap(first + i)) as u32);
    }
    out.n_data = layout.n_data as usize;
    out.lba = layout.data_offset + number * layout.strip;
    let is_rebuilt =
        layout.rebuild_disk >= 0 && (number + 1 + i64::from(planted(Fault::RebuildFront))) * layout.strip <= front;
    for disk in &mut out.disks {
        let mut lost = layout.has_failed(*disk);
        if lost && is_rebuilt && i64::from(*disk) == layout.rebuild_disk {
            *disk = layout.n_disks;
            lost = false;
        }
        out.lost.push(lost);
    }
}

impl Row {
    fn piece(&self, i: usize, op: u8, start: i64, end: i64) -> Piece {
        Piece { disk: self.disks[i], op, lba: self.lba + start, n: end - start }
    }

    /// The strips that are left, data before parity.
    fn survivors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.disks.len()).filter(|&i| !self.lost[i])
    }
}

pub fn plan(layout: &Layout, op: u8, sector: i64, n: i64, front: i64, plan: &mut Plan) {
    let (mut sector, mut n) = (sector, n);
    let mut current = -1;
    plan.parts.clear();
    while n > 0 {
        let chunk = div(sector, layout.strip);
        let inside = sector - chunk * layout.strip;
        let row = div(chunk, layout.n_data);
        let take = n.min(layout.strip - inside);
        if row != current {
            emit(layout, op, current, front, plan);
            current = row;
        }
        let strip = (chunk - row * layout.n_data) as usize;
        plan.parts.push(Part { strip, start: inside, end: inside + take });
        sector += take;
        n -= take;
    }
    emit(layout, op, current, front, plan);
    if plan.first.is_empty() {
        std::mem::swap(&mut plan.first, &mut plan.then);
    }
}

/// Pieces of one row for the parts collected in `plan.parts`.
fn emit(layout: &Layout, op: u8, row: i64, front: i64, plan: &mut Plan) {
    if plan.parts.is_empty() {
        return;
    }
    fill_row(layout, row, front, &mut plan.row);
    if op == READ {
        read(layout, plan);
    } else {
        write(layout, plan);
    }
    plan.parts.clear();
}

fn read(layout: &Layout, plan: &mut Plan) {
    for part in &plan.parts {
        if plan.row.lost[part.strip] {
            for i in plan.row.survivors() {
                push_read(layout, &mut plan.first, plan.row.piece(i, READ, part.start, part.end));
            }
        } else {
            push_read(layout, &mut plan.first, plan.row.piece(part.strip, READ, part.start, part.end));
        }
    }
}

/// Writes of all parts and of all parity, as far as their disks are left.
fn push_writes(row: &Row, parts: &[Part], low: i64, high: i64, then: &mut Vec<Piece>) {
    for part in parts.iter().filter(|p| !row.lost[p.strip]) {
        push_merged(then, row.piece(part.strip, WRITE, part.start, part.end));
    }
    for i in (row.n_data..row.disks.len()).filter(|&i| !row.lost[i]) {
        push_merged(then, row.piece(i, WRITE, low, high));
    }
}

fn write(layout: &Layout, plan: &mut Plan) {
    let row = &plan.row;
    let low = plan.parts.iter().map(|p| p.start).min().unwrap_or(0);
    let high = plan.parts.iter().map(|p| p.end).max().unwrap_or(0);
    if plan.parts.len() == row.n_data && plan.parts.iter().all(|p| p.start == low && p.end == high) {
        push_writes(row, &plan.parts, low, high, &mut plan.then);
        return;
    }
    plan.modify.clear();
    plan.reconstruct.clear();
    let mut can_modify = true;
    for part in &plan.parts {
        can_modify &= !row.lost[part.strip];
        plan.modify.push(row.piece(part.strip, READ, part.start, part.end));
    }
    for i in row.n_data..row.disks.len() {
        can_modify &= !row.lost[i];
        plan.modify.push(row.piece(i, READ, low, high));
    }
    let mut can_reconstruct = true;
    for strip in 0..row.n_data {
        let gaps = match plan.parts.iter().find(|p| p.strip == strip) {
            None => [(low, high), (0, 0)],
            Some(p) => [(low, p.start), (p.end, high)],
        };
        for (start, end) in gaps {
            if start < end {
                can_reconstruct &= !row.lost[strip];
                plan.reconstruct.push(row.piece(strip, READ, start, end));
            }
        }
    }
    let prefers_modify = layout.write_policy == READ_MODIFY_WRITE
        || (layout.write_policy == FEWEST
            && plan.modify.len() < plan.reconstruct.len() + usize::from(planted(Fault::WriteMethodTie)));
    let modifies = can_modify && (prefers_modify || !can_reconstruct);
    if modifies && layout.holds_disks {
        // each disk writes behind its own read: data at once, parity when all old data is there
        for (i, &piece) in plan.modify.iter().enumerate() {
            let phase = if i < plan.parts.len() { &mut plan.first } else { &mut plan.then };
            push_merged(phase, Piece { op: READ_AND_HOLD, ..piece });
        }
        return;
    }
    push_writes(row, &plan.parts, low, high, &mut plan.then);
    if !modifies {
        if !can_reconstruct {
            plan.reconstruct.clear();
            plan.reconstruct.extend(row.survivors().map(|i| row.piece(i, READ, low, high)));
        }
        std::mem::swap(&mut plan.modify, &mut plan.reconstruct);
    }
    for &piece in &plan.modify {
        push_merged(&mut plan.first, piece);
    }
}

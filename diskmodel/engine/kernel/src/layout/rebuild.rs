//! What a step of a rebuild, a check or a resync reads and writes (rules R1, R2, R7).

use super::mirror::copies_of;
use super::row::Row;
use super::{ChildIo, Family, Layout, Plan, SyncAction, READ, WRITE};

pub fn step(layout: &Layout, front: i64, plan: &mut Plan) {
    let n = layout.rebuild_window.min(layout.member - front);
    let lba = layout.data_offset + front;
    if layout.sync_action == SyncAction::Recover {
        return recover(layout, front, n, lba, plan);
    }
    let is_resync = layout.sync_action == SyncAction::Resync;
    // mirrors of each other need no comparison
    let is_copied = is_resync && layout.copies == i64::from(layout.n_disks);
    let n_read = if is_copied { 1 } else { layout.n_disks };
    plan.first.extend((0..n_read).map(|disk| ChildIo::new(disk, READ, lba, n)));
    if is_resync {
        rewrite(layout, front, n, plan);
    }
}

/// What a resync writes in a window: parity, or every copy but the first.
fn rewrite(layout: &Layout, mut front: i64, mut n: i64, plan: &mut Plan) {
    while n > 0 {
        let (strip, inside) = (front / layout.strip, front % layout.strip);
        let take = n.min(layout.strip - inside);
        let Plan { then, then_joins, .. } = &mut *plan;
        let mut write = |disk| then_joins.add(then, ChildIo::new(disk, WRITE, layout.data_offset + front, take));
        if layout.family == Family::Parity {
            for group in 0..layout.n_groups {
                let row = Row::new(layout, strip * layout.n_groups + group, 0);
                (row.n_data()..row.n_strips())
                    .for_each(|parity| write(row.piece(layout, parity, WRITE, (0, 1)).disk()));
            }
        } else {
            let n_disks = i64::from(layout.n_disks);
            for disk in 0..n_disks {
                let place = strip * n_disks + disk;
                if place % layout.copies > 0 && place / layout.copies < layout.capacity / layout.strip {
                    write(disk as u32);
                }
            }
        }
        front += take;
        n -= take;
    }
}

/// Reads the window of the lost disk from the survivors, then writes it to the spare.
fn recover(layout: &Layout, front: i64, n: i64, lba: i64, plan: &mut Plan) {
    if layout.family == Family::Parity {
        let width = layout.n_data + layout.n_parity;
        let base = layout.rebuild_disk / width * width;
        let sources = (base..base + width).map(|d| d as u32).filter(|&d| !layout.has_failed(d));
        for disk in sources.take(layout.n_data as usize) {
            plan.first.push(ChildIo::new(disk, READ, lba, n));
        }
    } else {
        from_copies(layout, front, n, plan);
    }
    let phase = if plan.first.is_empty() { &mut plan.first } else { &mut plan.then };
    phase.push(ChildIo::new(layout.n_disks, WRITE, lba, n));
}

fn from_copies(layout: &Layout, front: i64, n: i64, plan: &mut Plan) {
    let (mut front, mut n) = (front, n);
    while n > 0 {
        let (strip, inside) = (front / layout.strip, front % layout.strip);
        let take = n.min(layout.strip - inside);
        plan.copies.clear();
        if let Some(chunk) = chunk_at(layout, layout.rebuild_disk, strip) {
            copies_of(layout, chunk, inside, &mut plan.copies);
        }
        if let Some(copy) = plan.copies.iter().find(|c| !layout.has_failed(c.disk)) {
            plan.first_joins.add(&mut plan.first, ChildIo::new(copy.disk, READ, copy.lba, take));
        }
        front += take;
        n -= take;
    }
}

/// Host strip whose copy is the given strip of a disk, or none where it holds nothing.
fn chunk_at(layout: &Layout, disk: i64, strip: i64) -> Option<i64> {
    let (n, n_strips) = (i64::from(layout.n_disks), layout.member / layout.strip);
    if !layout.far {
        let chunk = (strip * n + disk) / layout.copies;
        return (chunk < n_strips * n / layout.copies).then_some(chunk);
    }
    let part = n_strips / layout.copies;
    let (c, row) = (strip / part, strip % part);
    (c < layout.copies).then(|| row * n + (disk - c).rem_euclid(n))
}

//! What a rebuild step reads and writes (rules R1 to R4).

use super::mirror::copies_of;
use super::{push_merged, Family, Layout, Piece, Plan, READ, WRITE};

pub fn step(layout: &Layout, front: i64, plan: &mut Plan) {
    let n = layout.rebuild_window.min(layout.member - front);
    let lba = layout.data_offset + front;
    if layout.family == Family::Parity {
        let width = layout.n_data + layout.n_parity;
        let base = layout.rebuild_disk / width * width;
        let sources = (base..base + width).map(|d| d as u32).filter(|&d| !layout.has_failed(d));
        for disk in sources.take(layout.n_data as usize) {
            plan.first.push(Piece { disk, op: READ, lba, n });
        }
    } else {
        from_copies(layout, front, n, plan);
    }
    let phase = if plan.first.is_empty() { &mut plan.first } else { &mut plan.then };
    phase.push(Piece { disk: layout.n_disks, op: WRITE, lba, n });
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
            push_merged(&mut plan.first, Piece { disk: copy.disk, op: READ, lba: copy.lba, n: take });
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

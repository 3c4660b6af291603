//! Striping with copies: JBOD, RAID 0, 1, 1E, 10 (rules L3 to L5, L14).

use super::{ChildIo, Copy, Family, Layout, Plan, PER_MILLION, READ, WRITE};

/// Copies of host strip `chunk`, offset by `inside` sectors, the first copy first.
pub fn copies_of(layout: &Layout, chunk: i64, inside: i64, out: &mut Vec<Copy>) {
    out.clear();
    let n = i64::from(layout.n_disks);
    let part = if layout.far { layout.member / layout.strip / layout.copies } else { 0 };
    for c in 0..layout.copies {
        let (disk, strip) = if layout.far {
            ((chunk + c) % n, chunk / n + c * part)
        } else {
            let at = chunk * layout.copies + c;
            let (strip, disk) = layout.by.disks.split(at);
            (disk, strip)
        };
        out.push(Copy { disk: disk as u32, lba: layout.data_offset + strip * layout.strip + inside });
    }
}

pub fn plan(
    layout: &Layout,
    op: u8,
    sector: i64,
    n: i64,
    front: i64,
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) {
    if layout.family == Family::Concat && layout.failed.is_empty() {
        let (disk, inside) = layout.by.member.split(sector);
        if inside + n <= layout.member {
            plan.first.push(ChildIo::new(disk as u32, op, layout.data_offset + inside, n));
            return;
        }
    }
    if layout.largest_request == 0 || is_whole(layout, sector, n) {
        if layout.family == Family::Copies && layout.failed.is_empty() {
            let (chunk, inside) = layout.by.strip.split(sector);
            if inside + n <= layout.strip {
                return within_strip(layout, op, (chunk, inside, n), plan, choose);
            }
        }
        return part(layout, op, (sector, n), front, plan, choose);
    }
    plan.waiting.clear();
    plan.waiting.push((sector, n));
    while let Some((sector, whole)) = plan.waiting.pop() {
        let length = whole.min(layout.largest_request);
        let take = length.min(layout.strip - layout.by.strip.split(sector).1);
        if take < length {
            plan.waiting.push((sector + take, length - take));
        }
        if length < whole {
            // behind what was cut off at a strip, so that it comes first
            plan.waiting.push((sector + length, whole - length));
        }
        part(layout, op, (sector, take), front, plan, choose);
    }
}

/// Pieces of a request within a host strip, the common case: nothing is joined, because copies are on different disks.
fn within_strip(
    layout: &Layout,
    op: u8,
    (chunk, inside, n): (i64, i64, i64),
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) {
    let Plan { first, held, .. } = plan;
    copies_of(layout, chunk, inside, held);
    if op == READ {
        let copy = if held.len() == 1 { held[0] } else { choose(held, n) };
        first.push(ChildIo::new(copy.disk, READ, copy.lba, n));
    } else {
        first.extend(held.iter().map(|copy| ChildIo::new(copy.disk, WRITE, copy.lba, n)));
    }
}

/// Whether a request lies in huge pages (rule L14).
fn is_whole(layout: &Layout, sector: i64, n: i64) -> bool {
    let number = sector / n;
    // places are below 2^52, and a share is below 2^20
    let below = |number: i64| i128::from(number) * i128::from(layout.huge_page_ppm) / i128::from(PER_MILLION);
    below(number + 1) > below(number)
}

/// Adds the pieces of a part of a request, its strips in order.
fn part(
    layout: &Layout,
    op: u8,
    (mut sector, mut n): (i64, i64),
    front: i64,
    plan: &mut Plan,
    choose: &mut impl FnMut(&[Copy], i64) -> Copy,
) {
    let mut held_n = 0;
    plan.held.clear();
    while n > 0 {
        let take;
        if layout.family == Family::Concat {
            let (disk, inside) = layout.by.member.split(sector);
            take = n.min(layout.member - inside);
            let copies = if held_n == 0 { &mut plan.held } else { &mut plan.copies };
            copies.clear();
            copies.push(Copy { disk: disk as u32, lba: layout.data_offset + inside });
        } else {
            let (chunk, inside) = layout.by.strip.split(sector);
            take = n.min(layout.strip - inside);
            copies_of(layout, chunk, inside, if held_n == 0 { &mut plan.held } else { &mut plan.copies });
        }
        let continues = layout.family != Family::Concat
            && !(op == READ && layout.cuts_reads)
            && held_n > 0
            && plan.held.iter().zip(&plan.copies).all(|(a, b)| a.disk == b.disk && a.lba + held_n == b.lba);
        if continues || held_n == 0 {
            held_n += take;
        } else {
            emit(layout, op, held_n, front, plan, choose);
            std::mem::swap(&mut plan.held, &mut plan.copies);
            held_n = take;
        }
        sector += take;
        n -= take;
    }
    emit(layout, op, held_n, front, plan, choose);
}

/// Pieces of one run of `n` sectors on the copies in `plan.held`.
fn emit(layout: &Layout, op: u8, n: i64, front: i64, plan: &mut Plan, choose: &mut impl FnMut(&[Copy], i64) -> Copy) {
    if n == 0 {
        return;
    }
    if !layout.failed.is_empty() {
        plan.held.retain_mut(|copy| {
            if !layout.has_failed(copy.disk) {
                return true;
            }
            let is_rebuilt = i64::from(copy.disk) == layout.rebuild_disk && copy.lba + n <= layout.data_offset + front;
            copy.disk = layout.n_disks;
            is_rebuilt
        });
    }
    if op == READ {
        let copy = if plan.held.len() == 1 { plan.held[0] } else { choose(&plan.held, n) };
        let piece = ChildIo::new(copy.disk, READ, copy.lba, n);
        plan.first_joins.add_read(layout, &mut plan.first, piece);
    } else {
        let Plan { first, first_joins, held, .. } = plan;
        for copy in held {
            first_joins.add(first, ChildIo::new(copy.disk, WRITE, copy.lba, n));
        }
    }
}

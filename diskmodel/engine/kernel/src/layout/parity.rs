//! Requests on rows with parity: RAID 3, 4, 5, 50, 6, 60 and k + m (rules L6 to L10).

use super::row::Row;
use super::{ChildIo, Joining, Layout, Plan, WritePolicy, READ, READ_AND_HOLD, WRITE};

/// Sectors [start, end) of data strip `strip`.
#[derive(Clone, Copy)]
pub struct Part {
    strip: usize,
    start: i64,
    end: i64,
}

pub fn plan(layout: &Layout, op: u8, sector: i64, n: i64, front: i64, plan: &mut Plan) {
    let mut n = n;
    let (mut chunk, mut inside) = layout.by.strip.split(sector);
    let (mut row, mut strip) = layout.by.data.split(chunk);
    if n <= layout.strip - inside && layout.failed.is_empty() && !layout.holds_disks && layout.n_data > 1 {
        let part = Part { strip: strip as usize, start: inside, end: inside + n };
        if op == READ {
            let row = Row::new(layout, row, front);
            plan.first.push(row.piece(layout, part.strip, READ, (part.start, part.end)));
            return;
        }
        if modifies_one(layout) {
            return modify(layout, &Row::new(layout, row, front), part, plan);
        }
    }
    plan.parts.clear();
    while n > 0 {
        let take = n.min(layout.strip - inside);
        plan.parts.push(Part { strip: strip as usize, start: inside, end: inside + take });
        n -= take;
        (chunk, inside) = (chunk + 1, 0);
        strip += 1;
        if strip == layout.n_data || n == 0 {
            emit(layout, op, row, front, plan);
            (row, strip) = (row + 1, 0);
        }
    }
    if plan.first.is_empty() {
        std::mem::swap(&mut plan.first, &mut plan.then);
    }
}

/// Pieces of one row for the parts collected in `plan.parts`.
fn emit(layout: &Layout, op: u8, row: i64, front: i64, plan: &mut Plan) {
    let row = Row::new(layout, row, front);
    if op == READ {
        read(layout, &row, plan);
    } else {
        write(layout, &row, plan);
    }
    plan.parts.clear();
}

/// Whether a write to one data strip of a row of several, all of them left, is read-modify-write (rule L8).
fn modifies_one(layout: &Layout) -> bool {
    let n_unwritten = layout.n_data - 1;
    layout.write_policy == WritePolicy::ReadModifyWrite
        || layout.write_policy == WritePolicy::Fewest && 1 + layout.n_parity < n_unwritten
}

/// That write, the common case: nothing is joined, because every strip is on another disk.
fn modify(layout: &Layout, row: &Row, part: Part, plan: &mut Plan) {
    let span = (part.start, part.end);
    let strips = || std::iter::once(part.strip).chain(row.n_data()..row.n_strips());
    plan.first.extend(strips().map(|strip| row.piece(layout, strip, READ, span)));
    plan.then.extend(strips().map(|strip| row.piece(layout, strip, WRITE, span)));
}

fn read(layout: &Layout, row: &Row, plan: &mut Plan) {
    let Plan { first, first_joins, parts, .. } = plan;
    let lost = parts.iter().position(|part| row.is_lost(layout, part.strip));
    let Some(lost) = lost else {
        for &Part { strip, start, end } in parts.iter() {
            first_joins.add_read(layout, first, row.piece(layout, strip, READ, (start, end)));
        }
        return;
    };
    // each block once, whether it is asked for, needed for what is lost, or both
    let before = || parts[..lost].iter().map(|part| part.strip);
    for strip in before().chain(row.survivors(layout).filter(|&strip| before().all(|own| own != strip))) {
        let needed = parts.iter().filter(|part| part.strip == strip || row.is_lost(layout, part.strip));
        for span in united(needed.map(|part| (part.start, part.end))).into_iter().filter(|(start, end)| start < end) {
            first_joins.add_read(layout, first, row.piece(layout, strip, READ, span));
        }
    }
}

/// Spans of a strip as one, or as two with a gap between. Parts of one request's row begin with the strip or end with
/// it, but for one that is alone.
fn united(spans: impl Iterator<Item = (i64, i64)>) -> [(i64, i64); 2] {
    let [mut low, mut high] = [(0, 0); 2];
    for (start, end) in spans {
        if low.0 == low.1 || start <= low.1 && low.0 <= end {
            low = if low.0 == low.1 { (start, end) } else { (low.0.min(start), low.1.max(end)) };
        } else if high.0 == high.1 {
            high = (start, end);
        } else {
            high = (high.0.min(start), high.1.max(end));
        }
        if high.0 < high.1 && high.0 <= low.1 && low.0 <= high.1 {
            (low, high) = ((low.0.min(high.0), low.1.max(high.1)), (0, 0));
        }
    }
    if high.0 < high.1 && high.0 < low.0 {
        return [high, low];
    }
    [low, high]
}

/// Writes of all parts and of all parity, as far as their disks are left.
fn push_writes(
    layout: &Layout,
    row: &Row,
    parts: &[Part],
    span: (i64, i64),
    (then, joins): (&mut Vec<ChildIo>, &mut Joining),
) {
    for &Part { strip, start, end } in parts.iter().filter(|part| !row.is_lost(layout, part.strip)) {
        joins.add(then, row.piece(layout, strip, WRITE, (start, end)));
    }
    for strip in (row.n_data()..row.n_strips()).filter(|&strip| !row.is_lost(layout, strip)) {
        joins.add(then, row.piece(layout, strip, WRITE, span));
    }
}

/// What would be written to disks that are lost.
fn note_lost(layout: &Layout, row: &Row, parts: &[Part], span: (i64, i64), lost: &mut Vec<ChildIo>) {
    let data = parts.iter().map(|part| (part.strip, (part.start, part.end)));
    let all = data.chain((row.n_data()..row.n_strips()).map(|strip| (strip, span)));
    lost.extend(
        all.filter(|&(strip, _)| row.is_lost(layout, strip)).map(|(strip, span)| row.planned_piece(strip, WRITE, span)),
    );
}

/// What reconstruct-write reads: between `low` and `high` all data of the row that is not written.
fn unwritten<'a>(row: &Row, parts: &'a [Part], (low, high): (i64, i64)) -> impl Iterator<Item = Part> + 'a {
    (0..row.n_data()).flat_map(move |strip| {
        let gaps = match parts.iter().find(|part| part.strip == strip) {
            None => [(low, high), (0, 0)],
            Some(part) => [(low, part.start), (part.end, high)],
        };
        gaps.into_iter().filter(|(start, end)| start < end).map(move |(start, end)| Part { strip, start, end })
    })
}

fn write(layout: &Layout, row: &Row, plan: &mut Plan) {
    let Plan { first, then, first_joins, then_joins, parts, lost, .. } = plan;
    let low = parts.iter().map(|part| part.start).min().unwrap_or(0);
    let high = parts.iter().map(|part| part.end).max().unwrap_or(0);
    let span = (low, high);
    if layout.logs_stripes() && !layout.failed.is_empty() {
        note_lost(layout, row, parts, span, lost);
    }
    if parts.len() == row.n_data() && parts.iter().all(|part| (part.start, part.end) == span) {
        push_writes(layout, row, parts, span, (then, then_joins));
        return;
    }
    let parity = row.n_data()..row.n_strips();
    let is_lost = |strip: usize| row.is_lost(layout, strip);
    let can_modify = !parts.iter().any(|part| is_lost(part.strip)) && !parity.clone().any(is_lost);
    let can_reconstruct = layout.failed.is_empty() || !unwritten(row, parts, span).any(|part| is_lost(part.strip));
    let prefers_modify = layout.write_policy == WritePolicy::ReadModifyWrite
        || layout.write_policy == WritePolicy::Fewest && {
            let in_part = |part: &Part| usize::from(low < part.start) + usize::from(part.end < high);
            let n_unwritten = row.n_data() - parts.len() + parts.iter().map(in_part).sum::<usize>();
            parts.len() + parity.len() < n_unwritten
        };
    if can_modify && (prefers_modify || !can_reconstruct) {
        let op = if layout.holds_disks { READ_AND_HOLD } else { READ };
        for &Part { strip, start, end } in parts.iter() {
            first_joins.add(first, row.piece(layout, strip, op, (start, end)));
        }
        // each held disk writes behind its own read: data at once, parity when all old data is there
        let (reads, joins) = if layout.holds_disks { (&mut *then, &mut *then_joins) } else { (first, first_joins) };
        for strip in parity {
            joins.add(reads, row.piece(layout, strip, op, span));
        }
        if layout.holds_disks {
            return;
        }
    } else if can_reconstruct {
        for Part { strip, start, end } in unwritten(row, parts, span) {
            first_joins.add(first, row.piece(layout, strip, READ, (start, end)));
        }
    } else {
        for strip in row.survivors(layout) {
            first_joins.add(first, row.piece(layout, strip, READ, span));
        }
    }
    push_writes(layout, row, parts, span, (then, then_joins));
}

//! What requests must keep before they are run.

use std::fmt::Display;

use super::{Column, Completions, Requests, Rule, N_PARTS, PASS_ONLY};
use crate::mechanics::FLUSH;
use crate::rule::{has_length, holds, refused, within};
use crate::rule::{MAX_APART_NS, MAX_DISKS, MAX_SECTOR_BYTES};

/// Clients of a stream, and streams.
const MAX_CLIENTS: i64 = 1 << 40;

/// What every request must keep to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub capacity_bytes: i64,
    pub most_length: i64,
}

/// Refuses streams that cannot be.
pub fn check_rules(rules: &[Rule], capacity_bytes: i64) -> Result<(), String> {
    within("streams (number)", rules.len() as i64, 0, MAX_DISKS)?;
    for (stream, rule) in rules.iter().enumerate() {
        within(&format!("streams[{stream}].n_clients"), rule.n_clients, 0, MAX_CLIENTS)?;
        within(&format!("streams[{stream}].pace_ns"), rule.pace_ns, 0, MAX_APART_NS)?;
        within(&format!("streams[{stream}].sync"), rule.sync, 0, PASS_ONLY)?;
        within(&format!("streams[{stream}].is_of_file"), rule.is_of_file, 0, 1)?;
        within(&format!("streams[{stream}].log_delay_ns"), rule.log_delay_ns, 0, MAX_APART_NS)?;
        if rule.log_bytes != 0 {
            within(&format!("streams[{stream}].log_first_byte"), rule.log_first_byte, 0, capacity_bytes)?;
            within(&format!("streams[{stream}].log_bytes"), rule.log_bytes, 1, capacity_bytes - rule.log_first_byte)?;
            within(&format!("streams[{stream}].log_block_bytes"), rule.log_block_bytes, 1, rule.log_bytes)?;
        }
        if rule.journal_bytes != 0 {
            let left = capacity_bytes - rule.journal_first_byte;
            within(&format!("streams[{stream}].journal_first_byte"), rule.journal_first_byte, 0, capacity_bytes)?;
            within(&format!("streams[{stream}].journal_bytes"), rule.journal_bytes, MAX_SECTOR_BYTES, left)?;
            let parts = [
                ("body", 0, rule.journal_body_bytes),
                ("more", 0, rule.journal_more_bytes),
                ("block", 1, rule.journal_block_bytes),
            ];
            for (name, least, bytes) in parts {
                within(&format!("streams[{stream}].journal_{name}_bytes"), bytes, least, rule.journal_bytes)?;
            }
            within(&format!("streams[{stream}].journal_tick_ns"), rule.journal_tick_ns, 0, MAX_APART_NS)?;
        }
    }
    Ok(())
}

/// Columns of requests, and where their completions go.
pub fn check_columns(requests: &Requests, out: &Completions, limits: &Limits) -> Result<(), String> {
    let n = requests.when.len();
    within("requests (number)", n as i64, 0, i64::from(u32::MAX))?;
    check_rules(&requests.rules, limits.capacity_bytes)?;
    has_length("requests.stream", requests.stream.len(), n)?;
    let are_open = requests.rules.iter().all(|rule| rule.n_clients == 0);
    let rule = "may be left out only where every stream is open";
    holds(out.issue.is_some() || are_open, "out.issue_ns", "None", rule)?;
    has_length("out.issue_ns", out.issue.as_ref().map_or(n, |column| column.len()), n)?;
    has_length("out.done_ns", out.done.len(), n)?;
    has_length("out.parts_ns", out.parts.len(), n * N_PARTS)?;
    has_length("out.is_hit", out.is_hit.len(), n)?;
    let n_streams = requests.rules.len() as i64;
    let is_none = |s: i32| s < 0 || i64::from(s) >= n_streams;
    find("requests.stream", &requests.stream, is_none, format_args!("there are {n_streams} streams"))?;
    check_rows(&requests.rows(), limits)?;
    check_order(requests)
}

/// Columns of one block of a stream; `last` is when its last row was issued.
pub fn check_block(rows: &Rows, rule: Rule, last: &mut i64, limits: &Limits) -> Result<(), String> {
    check_rows(rows, limits)?;
    if rule.n_clients == 0 {
        for at in 0..rows.when.len() {
            check_after(at, rows.when.at(at), last)?;
        }
    }
    Ok(())
}

/// What every request asks for.
pub struct Rows<'a, 'b> {
    pub when: &'b Column<'a, i64>,
    pub op: &'b Column<'a, u8>,
    pub offset: &'b Column<'a, i64>,
    pub length: &'b Column<'a, i64>,
    pub cache_draw: &'b Column<'a, f64>,
}

impl<'a> Requests<'a> {
    fn rows(&self) -> Rows<'a, '_> {
        let Requests { when, op, offset, length, cache_draw, .. } = self;
        Rows { when, op, offset, length, cache_draw }
    }
}

fn check_rows(rows: &Rows, limits: &Limits) -> Result<(), String> {
    let Limits { capacity_bytes, most_length } = *limits;
    let n = rows.when.len();
    has_length("requests.op", rows.op.len(), n)?;
    has_length("requests.offset", rows.offset.len(), n)?;
    has_length("requests.length", rows.length.len(), n)?;
    has_length("requests.cache_draw", rows.cache_draw.len(), n)?;
    find("requests.when_ns", rows.when, |t| t < 0, "must not be negative")?;
    find("requests.op", rows.op, |op| op > FLUSH, "must be 0 (read), 1 (write) or 2 (flush)")?;
    check_lengths(rows, most_length)?;
    find("requests.cache_draw", rows.cache_draw, |draw| !(0.0..=1.0).contains(&draw), "must be 0 to 1")?;
    let is_outside = |at: usize| {
        let offset = rows.offset.at(at);
        offset < 0 || offset > capacity_bytes - rows.length.at(at)
    };
    let is_any = match (rows.offset, rows.length) {
        // without a branch for each row
        (Column::Each(offsets), Column::Each(lengths)) => {
            let places = offsets.iter().zip(*lengths);
            places.fold(false, |any, (&offset, &length)| any | (offset < 0) | (offset > capacity_bytes - length))
        }
        _ => true,
    };
    match (0..n).find(|&at| is_any && is_outside(at)) {
        None => Ok(()),
        Some(at) => Err(refused(
            &format!("requests.offset[{at}]"),
            rows.offset.at(at),
            format_args!("{} bytes from there are not within the array's {capacity_bytes}", rows.length.at(at)),
        )),
    }
}

/// Reads and writes have a length, flushes none (rule Y11).
fn check_lengths(rows: &Rows, most_length: i64) -> Result<(), String> {
    let rule = format_args!("must be 1 to {most_length} bytes");
    if rows.op.position(|op| op == FLUSH).is_none() {
        return find("requests.length", rows.length, |n| n < 1 || n > most_length, rule);
    }
    for at in 0..rows.length.len() {
        let (is_flush, n) = (rows.op.at(at) == FLUSH, rows.length.at(at));
        let field = format!("requests.length[{at}]");
        holds(!is_flush || n == 0, &field, n, "must be 0 of a flush")?;
        holds(is_flush || (1..=most_length).contains(&n), &field, n, rule)?;
    }
    Ok(())
}

/// Open streams come in order of time.
fn check_order(requests: &Requests) -> Result<(), String> {
    let mut last = vec![0; requests.rules.len()];
    if requests.rules.iter().all(|rule| rule.n_clients > 0) {
        return Ok(());
    }
    for at in 0..requests.when.len() {
        let stream = requests.stream.at(at) as usize;
        if requests.rules[stream].n_clients == 0 {
            check_after(at, requests.when.at(at), &mut last[stream])?;
        }
    }
    Ok(())
}

#[inline]
fn check_after(at: usize, when: i64, last: &mut i64) -> Result<(), String> {
    if when < *last {
        let rule = format_args!("an open stream's request must not come before the one before it, at {last}");
        return holds(false, &format!("requests.when_ns[{at}]"), when, rule);
    }
    *last = when;
    Ok(())
}

/// Refuses a column in which a value is wrong.
fn find<T: Copy + Display>(
    field: &str,
    column: &Column<T>,
    is_wrong: impl Fn(T) -> bool,
    rule: impl Display,
) -> Result<(), String> {
    match column.position(is_wrong) {
        None => Ok(()),
        Some(at) => Err(refused(&format!("{field}[{at}]"), column.at(at), rule)),
    }
}

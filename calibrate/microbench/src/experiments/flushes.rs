//! What a flush costs after some writes, and whether the device does anything at all then.

use std::iter::{once, repeat_n};

use serde_json::{json, Value};

use super::Experiment;
use crate::fault::Outcome;
use crate::request::{Op, Request, Samples};
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "flushes",
    why: "fdatasync after none, one or many writes shows what a commit waits for, and devices that answer without writing",
    weight: 4.0,
    min_seconds: 1.5,
    min_span_bytes: 16 << 20,
    writes: true,
    only: None,
    run,
};

/// Writes before a flush, one count after the other.
const BEFORE: [usize; 7] = [0, 1, 2, 4, 8, 16, 32];
/// Rounds through these counts. With half, the median of a count is one of a few revolutions.
const ROUNDS: usize = 40;
/// A flush of so many writes at random places takes a rotating disk several revolutions; one that answers within this
/// part of a single revolution has not written them.
const MANY: usize = 8;
const ANSWERED_SHARE: f64 = 0.25;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let length = s.page();
    s.parameters = json!({"length": length, "writes_before": BEFORE, "rounds": ROUNDS});
    let (mut rng, span) = (s.rng.fork(), s.span());
    // a cache full of what came before takes a disk half a minute to write, which is not the time of this experiment
    let before = Plan { queue_depth: 1, max_length: length, seconds: s.seconds_left(), max_requests: 1 };
    let mut first = once(Request::flush());
    s.run(json!({"part": "flush of what came before"}), before, &mut || first.next())?;
    let mut ops = BEFORE.iter().cycle().flat_map(|&n| repeat_n(Op::Write, n).chain(once(Op::Flush)));
    let round: usize = BEFORE.iter().map(|n| n + 1).sum();
    let plan = Plan {
        queue_depth: 1,
        max_length: length,
        seconds: s.seconds_left().max(EXPERIMENT.min_seconds),
        max_requests: (ROUNDS * round).min(s.rows_left()),
    };
    let rows = s.run(json!({"part": "writes and flushes"}), plan, &mut || match ops.next()? {
        Op::Flush => Some(Request::flush()),
        op => Some(Request { op, ..Request::read(Session::random_offset(&mut rng, span, length), length) }),
    })?;
    let found = by_writes_before(&s.samples, rows.clone());
    let after = |least: usize| stats::median(found.iter().filter(|(n, _)| *n >= least).map(|&(_, ns)| ns));
    let is_answered = s.findings.rotation_period_ns.filter(|_| found.iter().any(|(n, _)| *n >= MANY)).map(|period| {
        let took = after(MANY);
        (took as f64) < ANSWERED_SHARE * period
    });
    if is_answered == Some(true) {
        s.warn(
            "flush_without_writing",
            format!(
                "flushes after {MANY} and more writes are answered in {} us, a small part of a revolution: a cache that is \
                 protected against power failure, or a device that does not keep what a flush promises",
                after(MANY) / 1000
            ),
        );
    }
    let rows: Vec<Value> = BEFORE
        .iter()
        .map(|&n| (n, found.iter().filter(|(before, _)| *before == n).map(|&(_, ns)| ns).collect::<Vec<u64>>()))
        .filter(|(_, latencies)| !latencies.is_empty())
        .map(|(n, latencies)| json!({"writes_before": n, "n": latencies.len(), "p50_ns": stats::median(latencies)}))
        .collect();
    Ok(json!({"by_writes_before": rows, "is_answered_without_writing": is_answered}))
}

/// Writes since the flush before, and latency, of each flush but the first.
fn by_writes_before(samples: &Samples, rows: std::ops::Range<usize>) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    let mut writes = None;
    for row in rows {
        if samples.op[row] == Op::Flush as u8 {
            found.extend(writes.map(|n| (n, samples.latency_ns[row])));
            writes = Some(0);
        } else {
            writes = writes.map(|n| n + 1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_counts_the_writes_since_the_one_before() {
        let mut samples = Samples::default();
        let write = Request { op: Op::Write, ..Request::read(0, 4096) };
        let list = [Request::flush(), write, Request::flush(), write, write, Request::flush(), Request::flush()];
        for (at, request) in list.iter().enumerate() {
            samples.push(0, at as u64, request);
        }
        assert_eq!(by_writes_before(&samples, 0..7), [(1, 2), (2, 5), (0, 6)]);
        assert_eq!(by_writes_before(&samples, 1..3), []);
    }
}

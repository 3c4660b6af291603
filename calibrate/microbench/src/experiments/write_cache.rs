//! Write-back or write-through, and how much a write buffer takes before it pushes back.

use serde_json::{json, Value};

use super::Experiment;
use crate::fault::Outcome;
use crate::request::{Op, Request};
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "write_cache",
    why: "Plain against durable writes distinguish write-back from write-through; writing until it slows shows the buffer's size",
    weight: 6.0,
    min_seconds: 2.0,
    min_span_bytes: 64 << 20,
    writes: true,
    only: None,
    run,
};

const PAIRS: usize = 200;
/// A plain write this much faster than a durable one was only put into a buffer.
const BACK_SHARE: f64 = 0.5;
const WINDOW: usize = 64;
const ONSET: f64 = 3.0;
const BURST_QUEUE_DEPTH: usize = 4;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let length = s.page();
    s.parameters = json!({"length": length, "pairs": PAIRS, "window": WINDOW, "burst_queue_depth": BURST_QUEUE_DEPTH});
    let (mut rng, span) = (s.rng.fork(), s.span());
    let mut at = move || Session::random_offset(&mut rng, span, length);
    let plan = Plan { queue_depth: 1, max_length: length, seconds: s.seconds / 3.0, max_requests: 2 * PAIRS };
    let mut durable = false;
    let rows = s.run(json!({"part": "plain and durable"}), plan, &mut || {
        durable = !durable;
        let op = if durable { Op::DurableWrite } else { Op::Write };
        Some(Request { op, ..Request::read(at(), length) })
    })?;
    let middle =
        |op: Op| stats::median(rows.clone().filter(|&r| s.samples.op[r] == op as u8).map(|r| s.samples.latency_ns[r]));
    let (plain, durable) = (middle(Op::Write), middle(Op::DurableWrite));
    let is_write_back = (plain as f64) < BACK_SHARE * durable as f64;
    let plan = Plan {
        queue_depth: BURST_QUEUE_DEPTH,
        max_length: length,
        seconds: s.seconds_left(),
        max_requests: s.rows_left(),
    };
    let rows =
        s.run(json!({"part": "burst"}), plan, &mut || Some(Request { op: Op::Write, ..Request::read(at(), length) }))?;
    let onset = onset_index(s.latencies(&rows));
    Ok(json!({
        "plain_p50_ns": plain,
        "durable_p50_ns": durable,
        "is_write_back": is_write_back,
        "burst_bytes": rows.len() as u64 * u64::from(length),
        "buffer_bytes": onset.map(|index| index as u64 * u64::from(length)),
    }))
}

/// First row of the first window whose median is well above the first window's, and stays so in the next.
fn onset_index(latencies: &[u64]) -> Option<usize> {
    let medians: Vec<u64> =
        latencies.chunks_exact(WINDOW).map(|window| stats::median(window.iter().copied())).collect();
    let limit = *medians.first()? as f64 * ONSET;
    medians.windows(2).position(|pair| pair.iter().all(|&m| m as f64 > limit)).map(|window| window * WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_ends_where_latency_jumps_for_good() {
        let mut latencies = vec![10; 5 * WINDOW];
        latencies[WINDOW + 3] = 10_000; // one straggler is not the end of the buffer
        latencies.extend(vec![100; 3 * WINDOW]);
        assert_eq!(onset_index(&latencies), Some(5 * WINDOW));
        assert_eq!(onset_index(&vec![10; 5 * WINDOW]), None);
        assert_eq!(onset_index(&[]), None);
    }
}

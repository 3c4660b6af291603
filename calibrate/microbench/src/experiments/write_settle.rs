//! What a durable write costs beside a read of the same place: the write settle.

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::request::{Op, Request};
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "write_settle",
    why: "Reads and durable writes (RWF_DSYNC) at random places, in random order: their lower envelopes differ by the write settle",
    weight: 6.0,
    min_seconds: 1.0,
    min_span_bytes: 16 << 20,
    writes: true,
    only: None,
    run,
};

const MOST_ON_FLASH: usize = 4000;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let length = s.page();
    s.parameters = json!({"length": length, "durable_write_share": 0.5});
    let most = if s.findings.nature == Nature::NotRotating { MOST_ON_FLASH } else { usize::MAX };
    let plan =
        Plan { queue_depth: 1, max_length: length, seconds: s.seconds_left(), max_requests: s.rows_left().min(most) };
    let (mut rng, span) = (s.rng.fork(), s.span());
    let rows = s.run(json!({"length": length}), plan, &mut || {
        let request = Request::read(Session::random_offset(&mut rng, span, length), length);
        Some(if rng.bool() { Request { op: Op::DurableWrite, ..request } } else { request })
    })?;
    let quantiles = |op: Op| {
        let all = stats::sorted(rows.clone().filter(|&r| s.samples.op[r] == op as u8).map(|r| s.samples.latency_ns[r]));
        (stats::quantile(&all, 0.05), stats::quantile(&all, 0.5))
    };
    let (read, write) = (quantiles(Op::Read), quantiles(Op::DurableWrite));
    Ok(json!({
        "read_p5_ns": read.0, "read_p50_ns": read.1, "durable_write_p5_ns": write.0, "durable_write_p50_ns": write.1,
        "p5_difference_ns": write.0 as i64 - read.0 as i64, "p50_difference_ns": write.1 as i64 - read.1 as i64,
    }))
}

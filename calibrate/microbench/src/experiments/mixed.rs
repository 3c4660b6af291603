//! Reads and writes together: how much writes slow down reads.

use serde_json::{json, Value};

use super::Experiment;
use crate::fault::Outcome;
use crate::request::{Op, Request};
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "mixed_read_write",
    why: "Random mixes from reads only to writes only at several depths: rate, and what a read suffers from writes beside it",
    weight: 10.0,
    min_seconds: 2.0,
    min_span_bytes: 16 << 20,
    writes: true,
    only: None,
    run,
};

const READ_FRACTIONS: [f64; 5] = [1.0, 0.9, 0.7, 0.5, 0.0];
const DEPTHS: [usize; 3] = [1, 4, 16];
const REPETITIONS: usize = 2;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let length = s.page();
    let cells: Vec<(f64, usize)> = READ_FRACTIONS.iter().flat_map(|&f| DEPTHS.map(|depth| (f, depth))).collect();
    let n_runs = cells.len() * REPETITIONS;
    let (seconds, rows_each) = (s.seconds / n_runs as f64, s.rows_left() / n_runs);
    s.parameters =
        json!({"read_fractions": READ_FRACTIONS, "queue_depths": DEPTHS, "repetitions": REPETITIONS, "length": length});
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); cells.len()];
    let mut reads: Vec<Vec<f64>> = vec![Vec::new(); cells.len()];
    for repetition in 0..REPETITIONS {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        s.rng.shuffle(&mut order);
        for which in order {
            let (fraction, queue_depth) = cells[which];
            let plan = Plan { queue_depth, max_length: length, seconds, max_requests: rows_each };
            let (mut rng, span) = (s.rng.fork(), s.span());
            let parameters = json!({"read_fraction": fraction, "repetition": repetition, "length": length});
            let rows = s.run(parameters, plan, &mut || {
                let request = Request::read(Session::random_offset(&mut rng, span, length), length);
                Some(if rng.f64() < fraction { request } else { Request { op: Op::Write, ..request } })
            })?;
            let of_reads: Vec<u64> =
                rows.filter(|&r| s.samples.op[r] == Op::Read as u8).map(|r| s.samples.latency_ns[r]).collect();
            if !of_reads.is_empty() {
                reads[which].push(of_reads.iter().sum::<u64>() as f64 / of_reads.len() as f64);
            }
            if let Some(iops) = s.runs.last().and_then(|run| run["summary"]["iops"].as_f64()) {
                rates[which].push(iops);
            }
        }
    }
    let alone = |depth: usize| {
        let which = cells.iter().position(|&cell| cell == (1.0, depth))?;
        Some(stats::median_f64(&reads[which])).filter(|mean| *mean > 0.0)
    };
    let mut table = Vec::new();
    for (which, &(fraction, depth)) in cells.iter().enumerate() {
        let mean = (!reads[which].is_empty()).then(|| stats::median_f64(&reads[which]));
        table.push(json!({
            "read_fraction": fraction,
            "queue_depth": depth,
            "iops": stats::median_f64(&rates[which]),
            "spread_ratio": stats::spread_ratio(&rates[which]),
            "read_mean_ns": mean,
            "read_slowdown_ratio": mean.zip(alone(depth)).map(|(mean, alone)| mean / alone),
        }));
    }
    Ok(json!({"by_mix": table}))
}

//! Random reads of growing size: what a byte costs beside what a request costs.

use serde_json::{json, Value};

use super::Experiment;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "block_sizes",
    why: "Latency and rate by request size, alone and at depth 16: transfer cost of a disk, parallelism and bandwidth of flash",
    weight: 7.0,
    min_seconds: 1.0,
    min_span_bytes: 64 << 20,
    writes: false,
    only: None,
    run,
};

const SIZES: [u32; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const DEPTHS: [usize; 2] = [1, 16];
const REPETITIONS: usize = 2;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let cells: Vec<(u32, usize)> =
        SIZES.iter().flat_map(|&size| DEPTHS.map(|depth| (size.max(s.page()), depth))).collect();
    let n_runs = cells.len() * REPETITIONS;
    let (seconds, rows_each) = (s.seconds / n_runs as f64, s.rows_left() / n_runs);
    s.parameters = json!({"lengths": SIZES, "queue_depths": DEPTHS, "repetitions": REPETITIONS});
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); cells.len()];
    let mut middles: Vec<Vec<f64>> = vec![Vec::new(); cells.len()];
    for repetition in 0..REPETITIONS {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        s.rng.shuffle(&mut order);
        for which in order {
            let (length, queue_depth) = cells[which];
            let plan = Plan { queue_depth, max_length: length, seconds, max_requests: rows_each };
            let (mut rng, span) = (s.rng.fork(), s.span());
            let mut source = || Some(Request::read(Session::random_offset(&mut rng, span, length), length));
            let rows = s.run(json!({"length": length, "repetition": repetition}), plan, &mut source)?;
            middles[which].push(stats::median(s.latencies(&rows).iter().copied()) as f64);
            if let Some(rate) = s.runs.last().and_then(|run| run["summary"]["bytes_per_s"].as_f64()) {
                rates[which].push(rate);
            }
        }
    }
    let table: Vec<Value> = cells
        .iter()
        .zip(rates.iter().zip(&middles))
        .map(|((length, depth), (rates, middles))| {
            json!({
                "length": length,
                "queue_depth": depth,
                "p50_ns": stats::median_f64(middles),
                "bytes_per_s": stats::median_f64(rates),
                "spread_ratio": stats::spread_ratio(rates),
            })
        })
        .collect();
    Ok(json!({"by_length": table}))
}

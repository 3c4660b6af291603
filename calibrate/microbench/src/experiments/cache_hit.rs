//! The drive's cache, command overhead and interface rate: the same block again and again, in several sizes.

use serde_json::{json, Value};

use super::Experiment;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::Session;
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "cache_hit",
    why: "Re-reading one block is answered from the drive's cache: the latency is command overhead plus transfer over the interface",
    weight: 2.0,
    min_seconds: 0.1,
    min_span_bytes: 16 << 20,
    writes: false,
    only: None,
    run,
};

const REREADS: usize = 100;
const ROUNDS: usize = 3;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let sizes: Vec<u32> =
        [512, 4096, 16384, 65536, 131_072, 262_144].into_iter().filter(|&x| u64::from(x) >= s.sector()).collect();
    s.parameters = json!({"lengths": sizes, "rereads": REREADS, "rounds": ROUNDS});
    let mut hits: Vec<Vec<u64>> = vec![Vec::new(); sizes.len()];
    for round in 0..ROUNDS {
        for (which, &size) in sizes.iter().enumerate() {
            if s.seconds_left() <= 0.0 || s.rows_left() == 0 {
                break;
            }
            let place = s.anywhere(s.span(), 262_144);
            let list = vec![Request::read(place, size); REREADS + 1];
            let rows = s.run_list(json!({"length": size, "repetition": round}), &list)?;
            // The first read brings the block into the cache.
            hits[which].extend_from_slice(s.latencies(&rows).get(1..).unwrap_or_default());
        }
    }
    let medians: Vec<(f64, f64)> = sizes
        .iter()
        .zip(&hits)
        .filter(|(_, latencies)| !latencies.is_empty())
        .map(|(&size, latencies)| (f64::from(size), stats::median(latencies.iter().copied()) as f64))
        .collect();
    let page = f64::from(s.page());
    s.findings.cache_hit_ns = medians.iter().find(|(size, _)| *size >= page).map(|(_, hit)| *hit as u64);
    let fit = stats::line(&medians);
    Ok(json!({
        "by_length": medians.iter().map(|(size, hit)| json!({"length": *size as u64, "p50_ns": *hit as u64})).collect::<Vec<_>>(),
        "overhead_ns": fit.map(|(a, _)| a.round()),
        "interface_bytes_per_s": fit.filter(|(_, b)| *b > 0.0).map(|(_, b)| (1e9 / b).round()),
    }))
}

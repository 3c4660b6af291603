//! How far the drive reads ahead of a sequential reader while it is idle.

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::Session;
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "read_ahead",
    why: "Two consecutive reads, a pause, and a read some way ahead: it is fast as far as the drive has read ahead",
    weight: 4.0,
    min_seconds: 1.0,
    min_span_bytes: 256 << 20,
    writes: false,
    only: Some(Nature::Rotating),
    run,
};

/// Several revolutions: time for the drive to read ahead all that it wants to.
const PAUSE_NS: u64 = 40_000_000;
const MOST_TRIALS: usize = 12;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let page = u64::from(s.page());
    let gaps: Vec<u64> = std::iter::once(0).chain((0..12).map(|k| page << k)).collect();
    s.parameters = json!({"gaps_bytes": gaps, "pause_ns": PAUSE_NS, "rows": "x, x + length, then after the pause x + 2·length + gap"});
    let mut probes: Vec<Vec<u64>> = vec![Vec::new(); gaps.len()];
    for trial in 0..MOST_TRIALS {
        let mut order: Vec<usize> = (0..gaps.len()).collect();
        s.rng.shuffle(&mut order);
        for which in order {
            if s.seconds_left() <= 0.0 || s.rows_left() < 3 {
                break;
            }
            let room = s.span() - 2 * page - gaps[which] - page;
            let x = s.rng.u64(0..room / page) * page;
            let at = |offset: u64| Request::read(offset, page as u32);
            let list = [at(x), at(x + page), at(x + 2 * page + gaps[which]).after(PAUSE_NS)];
            let rows = s.run_list(json!({"gap_bytes": gaps[which], "trial": trial}), &list)?;
            probes[which].extend(s.latencies(&rows).get(2));
        }
    }
    let threshold = s.hit_threshold_ns();
    let hit_ratio =
        |probes: &Vec<u64>| probes.iter().filter(|&&x| x < threshold).count() as f64 / probes.len().max(1) as f64;
    let table: Vec<Value> = gaps
        .iter()
        .zip(&probes)
        .map(|(gap, probes)| {
            json!({"gap_bytes": gap, "n": probes.len(), "p50_ns": stats::median(probes.iter().copied()), "hit_ratio": hit_ratio(probes)})
        })
        .collect();
    let reached = gaps.iter().zip(&probes).take_while(|(_, probes)| hit_ratio(probes) > 0.5).last();
    Ok(json!({
        "by_gap": table,
        "hit_below_ns": threshold,
        "read_ahead_at_least_bytes": reached.map_or(0, |(gap, _)| gap + page),
    }))
}

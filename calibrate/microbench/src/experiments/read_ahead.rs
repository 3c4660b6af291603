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

/// With this much time the gap is looked for between the powers of two as well.
const SECONDS_TO_REFINE: f64 = 5.0;
const PARTS: u64 = 8;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let page = u64::from(s.page());
    let mut gaps: Vec<u64> = std::iter::once(0).chain((0..12).map(|k| page << k)).collect();
    let mut probes: Vec<Vec<u64>> = vec![Vec::new(); gaps.len()];
    let is_refined = s.seconds > SECONDS_TO_REFINE;
    probe(s, &gaps, &mut probes, if is_refined { s.seconds / 2.0 } else { 0.0 })?;
    if is_refined {
        let n = n_reached(s, &probes);
        if let (true, Some(&above)) = (n > 0, gaps.get(n)) {
            let below = gaps[n - 1];
            let between = (1..PARTS).map(|k| (below + (above - below) * k / PARTS) / page * page);
            let mut finer: Vec<u64> = between.filter(|gap| *gap > below).collect();
            finer.dedup();
            let mut found = vec![Vec::new(); finer.len()];
            probe(s, &finer, &mut found, 0.0)?;
            gaps.splice(n..n, finer);
            probes.splice(n..n, found);
        }
    }
    s.parameters = json!({"gaps_bytes": gaps, "pause_ns": PAUSE_NS, "rows": "x, x + length, then after the pause x + 2·length + gap"});
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
    let reached = n_reached(s, &probes);
    Ok(json!({
        "by_gap": table,
        "hit_below_ns": threshold,
        "read_ahead_at_least_bytes": if reached > 0 { gaps[reached - 1] + page } else { 0 },
        "read_ahead_below_bytes": gaps.get(reached).map(|gap| gap + page),
    }))
}

/// Gaps from the smallest on that were mostly answered from the cache.
fn n_reached(s: &Session<'_>, probes: &[Vec<u64>]) -> usize {
    let threshold = s.hit_threshold_ns();
    probes
        .iter()
        .take_while(|latencies| 2 * latencies.iter().filter(|&&x| x < threshold).count() > latencies.len())
        .count()
}

/// Tries each gap, in shuffled order, until enough was seen or only `leave_s` seconds are left.
fn probe(s: &mut Session<'_>, gaps: &[u64], probes: &mut [Vec<u64>], leave_s: f64) -> Outcome<()> {
    let page = u64::from(s.page());
    for trial in 0..MOST_TRIALS {
        let mut order: Vec<usize> = (0..gaps.len()).collect();
        s.rng.shuffle(&mut order);
        for which in order {
            if s.seconds_left() <= leave_s || s.rows_left() < 3 {
                return Ok(());
            }
            let room = s.span() - 2 * page - gaps[which] - page;
            let x = s.rng.u64(0..room / page) * page;
            let at = |offset: u64| Request::read(offset, page as u32);
            let list = [at(x), at(x + page), at(x + 2 * page + gaps[which]).after(PAUSE_NS)];
            let rows = s.run_list(json!({"gap_bytes": gaps[which], "trial": trial}), &list)?;
            probes[which].extend(s.latencies(&rows).get(2));
        }
    }
    Ok(())
}

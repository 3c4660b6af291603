//! The platter's revolution. Blocks spread over the target are read again and again in shuffled rounds: between two
//! reads of a block many others are read, so that no cache still has it, and its reads end whole revolutions apart.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::period;
use crate::request::Request;
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "rotation_period",
    why: "Reads of one block end a whole number of revolutions apart; reading elsewhere in between keeps the cache out",
    weight: 6.0,
    min_seconds: 1.0,
    min_span_bytes: 16 << 20,
    writes: false,
    only: None,
    run,
};

const BLOCKS: usize = 64;
const MOST_BLOCKS: usize = 4096;
const TRIAL_ROUNDS: usize = 3;
/// Nothing that turns answers random reads faster than this at the median.
const MECHANICAL_NS: u64 = 1_000_000;
/// A re-read this much faster than a first read came out of a cache.
const HIT_SHARE: f64 = 0.25;
const HITS_TOLERATED: f64 = 0.1;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let mut blocks = BLOCKS;
    let (mut rows, mut hit_ratio);
    loop {
        s.parameters = json!({"blocks": blocks});
        let mut order = Rounds::new(s, blocks);
        let plan = Plan {
            queue_depth: 1,
            max_length: s.sector() as u32,
            seconds: s.seconds_left(),
            max_requests: (blocks * TRIAL_ROUNDS).min(s.rows_left()),
        };
        rows = s.run(json!({"blocks": blocks, "part": "trial"}), plan, &mut || Some(order.next()))?;
        let latencies = s.latencies(&rows);
        let split = blocks.min(latencies.len());
        let first = stats::median(latencies[..split].iter().copied());
        hit_ratio = ratio_below(&latencies[split..], (first as f64 * HIT_SHARE) as u64);
        s.findings.random_read_ns = Some(first);
        if first < MECHANICAL_NS {
            s.findings.nature = Nature::NotRotating;
            s.findings.nature_evidence =
                format!("random reads take {:.0} µs at the median, less than any rotating disk's", first as f64 / 1e3);
            return Ok(json!({"is_found": false, "why": s.findings.nature_evidence, "reread_hit_ratio": hit_ratio}));
        }
        let fits = blocks * 4 <= MOST_BLOCKS && (blocks * 4) as u64 * s.sector() * 64 <= s.span();
        if hit_ratio <= HITS_TOLERATED || !fits || s.seconds_left() <= 0.0 {
            let plan = Plan { seconds: s.seconds_left(), max_requests: s.rows_left(), ..plan };
            if plan.max_requests > 0 && plan.seconds > 0.0 {
                rows.end = s.run(json!({"blocks": blocks, "part": "main"}), plan, &mut || Some(order.next()))?.end;
            }
            break;
        }
        blocks *= 4;
    }
    conclude(s, rows, hit_ratio)
}

fn conclude(s: &mut Session<'_>, rows: Range<usize>, hit_ratio: f64) -> Outcome<Value> {
    let threshold = (s.findings.random_read_ns.unwrap_or(0) as f64 * HIT_SHARE) as u64;
    let mut series: HashMap<u64, Vec<u64>> = HashMap::new();
    for row in rows.filter(|&row| s.samples.latency_ns[row] >= threshold) {
        series.entry(s.samples.offset[row]).or_default().push(s.samples.done_ns(row));
    }
    let mut series: Vec<(u64, Vec<u64>)> = series.into_iter().collect();
    series.sort_unstable();
    let series: Vec<Vec<u64>> = series.into_iter().map(|(_, times)| times).collect();
    let Some(found) = period::estimate(&series) else {
        s.findings.nature_evidence = "too few platter reads to determine it".into();
        return Ok(json!({"is_found": false, "why": s.findings.nature_evidence, "reread_hit_ratio": hit_ratio}));
    };
    let is_found = found.coherence >= period::COHERENT;
    s.findings.rotation_coherence = Some(found.coherence);
    if is_found {
        s.findings.nature = Nature::Rotating;
        s.findings.nature_evidence = format!(
            "re-reads of a block end whole multiples of {:.4} ms apart (coherence {:.2})",
            found.period_ns / 1e6,
            found.coherence
        );
        s.findings.rotation_period_ns = Some(found.period_ns);
        s.findings.rotation_stderr_ns = Some(found.stderr_ns);
    } else {
        s.findings.nature_evidence =
            format!("random reads are slow, but completions show no rotation (coherence {:.2})", found.coherence);
    }
    Ok(json!({
        "is_found": is_found,
        "period_ns": is_found.then_some(found.period_ns),
        "stderr_ns": is_found.then_some(found.stderr_ns),
        "rpm": is_found.then_some(60e9 / found.period_ns),
        "coherence": found.coherence,
        "n": found.n,
        "reread_hit_ratio": hit_ratio,
    }))
}

fn ratio_below(values: &[u64], limit: u64) -> f64 {
    values.iter().filter(|&&x| x < limit).count() as f64 / values.len().max(1) as f64
}

/// Endless shuffled rounds over the blocks; each half of a round is shuffled by itself, so that between two reads of a
/// block at least half of the others are read.
struct Rounds {
    offsets: Vec<u64>,
    at: usize,
    rng: fastrand::Rng,
    length: u32,
}

impl Rounds {
    fn new(s: &mut Session<'_>, blocks: usize) -> Self {
        let slice = s.span() / blocks as u64 / s.sector();
        let sector = s.sector();
        let mut offsets: Vec<u64> =
            (0..blocks as u64).map(|i| (i * slice + s.rng.u64(0..slice.max(1))) * sector).collect();
        s.rng.shuffle(&mut offsets);
        let at = offsets.len();
        Rounds { offsets, at, rng: s.rng.fork(), length: sector as u32 }
    }

    fn next(&mut self) -> Request {
        if self.at == self.offsets.len() {
            self.at = 0;
            let half = self.offsets.len() / 2;
            let (left, right) = self.offsets.split_at_mut(half);
            self.rng.shuffle(left);
            self.rng.shuffle(right);
        }
        self.at += 1;
        Request::read(self.offsets[self.at - 1], self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_reads_of_a_block_half_of_the_others_are_read() {
        let offsets: Vec<u64> = (0..64).collect();
        let mut rounds = Rounds { at: 64, offsets, rng: fastrand::Rng::with_seed(1), length: 512 };
        let mut last = HashMap::new();
        for step in 0..6400usize {
            let offset = rounds.next().offset;
            if let Some(before) = last.insert(offset, step) {
                assert!(step - before > 32, "{offset} came back after {}", step - before);
            }
        }
        assert_eq!(last.len(), 64);
    }
}

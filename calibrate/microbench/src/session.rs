//! What one experiment has at hand: the device, its share of the time, a generator, and the recorder of its runs.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use serde_json::{json, Value};

use crate::clock;
use crate::document::{Findings, Warning};
use crate::engine::{self, Kind, Limits, Times};
use crate::fault::Outcome;
use crate::noise;
use crate::progress::Progress;
use crate::request::{Op, Request, Samples, Source};
use crate::stats;
use crate::target::Target;

pub struct Session<'a> {
    pub target: &'a Target,
    pub kind: Kind,
    pub stop: &'a AtomicBool,
    pub progress: &'a mut Progress,
    pub findings: &'a mut Findings,
    pub name: &'static str,
    pub rng: fastrand::Rng,
    /// Time allotted to this experiment.
    pub seconds: f64,
    /// Seconds of the whole measurement that come after this experiment.
    pub seconds_after: f64,
    pub seconds_total: f64,
    pub max_rows: usize,
    pub is_thorough: bool,
    pub parameters: Value,
    pub runs: Vec<Value>,
    pub samples: Samples,
    pub warnings: Vec<Warning>,
    pub origin_ns: u64,
    pub start_ns: u64,
}

/// One run: how deep, how large requests get, and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub queue_depth: usize,
    pub max_length: u32,
    pub seconds: f64,
    pub max_requests: usize,
}

impl Session<'_> {
    pub fn span(&self) -> u64 {
        self.target.facts.size_bytes
    }

    /// Smallest direct I/O.
    pub fn sector(&self) -> u64 {
        self.target.facts.alignment_bytes
    }

    /// The usual small request: 4 KiB, or a sector where that is larger.
    pub fn page(&self) -> u32 {
        self.sector().max(4096) as u32
    }

    pub fn seconds_left(&self) -> f64 {
        (self.seconds - (clock::now_ns() - self.start_ns) as f64 / 1e9).max(0.0)
    }

    pub fn rows_left(&self) -> usize {
        self.max_rows.saturating_sub(self.samples.len())
    }

    /// Does one run and records it; returns its rows.
    pub fn run(&mut self, mut parameters: Value, plan: Plan, source: &mut Source<'_>) -> Outcome<Range<usize>> {
        let first = self.samples.len();
        let limits = Limits {
            queue_depth: plan.queue_depth,
            max_length: plan.max_length,
            duration_ns: (plan.seconds * 1e9) as u64,
            max_requests: plan.max_requests,
        };
        let times = engine::run(self.kind, self.target.fd(), &limits, source, &mut self.samples, self.stop)?;
        let rows = first..self.samples.len();
        if let Some(parameters) = parameters.as_object_mut() {
            parameters.insert("queue_depth".into(), json!(plan.queue_depth));
        }
        self.runs.push(json!({
            "parameters": parameters,
            "first": rows.start,
            "count": rows.len(),
            "summary": summary(&self.samples, &rows, &times, self.origin_ns),
        }));
        let done = self.seconds_total - self.seconds_after - self.seconds_left();
        let left = self.seconds_after + self.seconds_left();
        self.progress.tick(self.name, done / self.seconds_total, left);
        Ok(rows)
    }

    /// Reads one after the other at queue depth 1, until the list ends or time or rows run out.
    pub fn run_list(&mut self, parameters: Value, list: &[Request]) -> Outcome<Range<usize>> {
        let mut next = list.iter().copied();
        let longest = list.iter().map(|request| request.length).max().unwrap_or(4096);
        let plan =
            Plan { queue_depth: 1, max_length: longest, seconds: self.seconds_left(), max_requests: self.rows_left() };
        self.run(parameters, plan, &mut || next.next())
    }

    pub fn latencies(&self, rows: &Range<usize>) -> &[u64] {
        &self.samples.latency_ns[rows.clone()]
    }

    pub fn warn(&mut self, code: &str, message: String) {
        self.warnings.push(Warning { code: code.into(), experiment: Some(self.name.into()), message });
    }

    /// Summary of repetitions of the same thing, with warnings when they disagree.
    pub fn repetitions(&mut self, what: &str, rates: &[f64]) -> Value {
        let spread = stats::spread_ratio(rates);
        if noise::is_slowing_down(rates) {
            self.warn(
                "slowing_down",
                format!("{what}: each repetition was slower than the last; the device may be throttling"),
            );
        } else if spread > noise::DISAGREE_RATIO {
            let message =
                format!("{what}: {} repetitions differ by {:.0} % of their median", rates.len(), spread * 100.0);
            self.warn("repetitions_disagree", message);
        }
        let rounded: Vec<f64> = rates.iter().map(|x| (x * 10.0).round() / 10.0).collect();
        json!({"median": stats::median_f64(rates), "spread_ratio": spread, "repetitions": rounded})
    }

    /// Faster than this came out of the drive's cache: a quarter of the way from a hit to a random read; where something
    /// turns, a sixteenth of a revolution more than a hit, because a read nearby may wait for hardly any rotation.
    pub fn hit_threshold_ns(&self) -> u64 {
        let hit = self.findings.cache_hit_ns.unwrap_or(100_000);
        let miss = self.findings.random_read_ns.unwrap_or(8_000_000);
        match self.findings.rotation_period_ns {
            Some(period) => hit + (period / 16.0) as u64,
            None => hit + miss.saturating_sub(hit) / 4,
        }
    }

    pub fn anywhere(&mut self, span: u64, length: u32) -> u64 {
        Self::random_offset(&mut self.rng, span, length)
    }

    /// An offset below `span` at which a request of this length lies whole, aligned to its length.
    pub fn random_offset(rng: &mut fastrand::Rng, span: u64, length: u32) -> u64 {
        let length = u64::from(length);
        rng.u64(0..(span / length).max(1)) * length
    }
}

/// Requests completed before the run stopped issuing, per second: the drain at the end does not count.
pub fn iops(samples: &Samples, rows: &Range<usize>, times: &Times) -> f64 {
    let done = rows.clone().filter(|&row| samples.done_ns(row) <= times.stop_ns).count();
    done as f64 * 1e9 / (times.stop_ns.saturating_sub(times.start_ns)).max(1) as f64
}

fn summary(samples: &Samples, rows: &Range<usize>, times: &Times, origin_ns: u64) -> Value {
    let mut summary = stats::latency_summary(&samples.latency_ns[rows.clone()]);
    let iops = iops(samples, rows, times);
    let n = rows.len().max(1) as f64;
    let bytes: u64 = samples.length[rows.clone()].iter().map(|&x| u64::from(x)).sum();
    let overtaken = rows.clone().skip(1).filter(|&row| samples.issue_ns[row] < samples.issue_ns[row - 1]).count();
    if let Some(map) = summary.as_object_mut() {
        map.insert("iops".into(), json!(iops));
        map.insert("bytes_per_s".into(), json!(iops * bytes as f64 / n));
        map.insert("start_ns".into(), json!(times.start_ns.saturating_sub(origin_ns)));
        map.insert("stop_ns".into(), json!(times.stop_ns.saturating_sub(origin_ns)));
        map.insert("end_ns".into(), json!(times.end_ns.saturating_sub(origin_ns)));
        map.insert("cpu_user_ns_per_io".into(), json!((times.cpu_user_ns as f64 / n).round()));
        map.insert("cpu_system_ns_per_io".into(), json!((times.cpu_system_ns as f64 / n).round()));
        map.insert("overtaken_ratio".into(), json!(overtaken as f64 / n));
        let is_mixed = samples.op[rows.clone()].windows(2).any(|pair| pair[0] != pair[1]);
        for (name, wanted) in [("reads", true), ("writes", false)].into_iter().filter(|_| is_mixed) {
            let part: Vec<u64> = rows
                .clone()
                .filter(|&row| (samples.op[row] == Op::Read as u8) == wanted)
                .map(|row| samples.latency_ns[row])
                .collect();
            map.insert(name.into(), stats::latency_summary(&part));
        }
    }
    summary
}

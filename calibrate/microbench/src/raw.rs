//! One job, as a load generator would run it: pattern, length, depth, share of reads.

use std::sync::atomic::AtomicBool;

use serde_json::json;

use crate::cli::{Pattern, Raw};
use crate::clock;
use crate::document::{self, Settings};
use crate::engine;
use crate::fault::{Fault, Outcome};
use crate::measure;
use crate::noise;
use crate::progress::Progress;
use crate::request::{Op, Request, Samples};
use crate::session::{Plan, Session};

pub fn run(arguments: &Raw, progress: &mut Progress, stop: &AtomicBool) -> Outcome<()> {
    arguments.check()?;
    let common = &arguments.common;
    let target = measure::open_target(common, progress, stop)?;
    let alignment = target.facts.alignment_bytes;
    if arguments.length % alignment != 0 {
        let rule = format!("must be a multiple of {alignment}, the smallest direct I/O");
        return Err(Fault::input("length", arguments.length, &rule, "try 4K"));
    }
    let span = arguments.span.unwrap_or(target.facts.size_bytes).min(target.facts.size_bytes);
    if span < arguments.length {
        return Err(Fault::input("span", span, "must be at least the length of one request", "give a larger --span"));
    }
    let (kind, note) = engine::choose(common.engine.kind())?;
    let settings = Settings {
        mode: "raw".into(),
        seconds: arguments.seconds,
        seed: common.seed,
        is_writing: common.write,
        max_rows: arguments.requests.unwrap_or(usize::MAX),
        experiments: Vec::new(),
    };
    let mut document = measure::new_document(&target, settings, measure::overhead(kind, note));
    let origin_ns = clock::now_ns();
    let watch = noise::Watch::start(target.facts.device.disk.as_deref());
    let mut session = Session {
        target: &target,
        kind,
        stop,
        progress,
        findings: &mut document.findings,
        name: "raw",
        rng: fastrand::Rng::with_seed(common.seed),
        seconds: arguments.seconds,
        seconds_after: 0.0,
        seconds_total: arguments.seconds,
        max_rows: usize::MAX,
        is_thorough: false,
        parameters: json!({
            "pattern": if arguments.pattern == Pattern::Random { "random" } else { "sequential" },
            "length": arguments.length, "queue_depth": arguments.depth, "read_fraction": arguments.read_fraction, "span_bytes": span,
        }),
        runs: Vec::new(),
        samples: Samples::default(),
        warnings: Vec::new(),
        origin_ns,
        start_ns: origin_ns,
    };
    let plan = Plan {
        queue_depth: arguments.depth,
        max_length: arguments.length as u32,
        seconds: arguments.seconds,
        max_requests: arguments.requests.unwrap_or(usize::MAX),
    };
    let mut generator = Generator::new(arguments, span, session.rng.fork());
    let outcome = session.run(session.parameters.clone(), plan, &mut || Some(generator.next()));
    let Session { parameters, runs, samples, .. } = session;
    document.warnings.extend(watch.finish("raw", samples.bytes()));
    let outcome = outcome.and_then(|rows| match rows.len() {
        0 => Err(Fault::Device("no request was recorded".into())),
        _ => Ok(()),
    });
    let summary = runs.first().map_or(json!({}), |run| run["summary"].clone());
    let value = json!({
        "name": "raw", "why": "One job", "epoch": 0, "parameters": parameters, "runs": runs, "summary": summary,
        "is_partial": outcome.is_err(), "start_ns": 0, "end_ns": clock::now_ns() - origin_ns,
    });
    let rows = if arguments.no_samples { Samples::default() } else { samples };
    document.experiments.push(measure::with_samples(&value, &rows, origin_ns)?);
    document.elapsed_s = progress.elapsed_s();
    if outcome.is_ok() {
        document.state = "complete".into();
    }
    document::save(&common.out, &document)?;
    outcome
}

struct Generator {
    rng: fastrand::Rng,
    slots: u64,
    length: u32,
    position: u64,
    is_random: bool,
    read_fraction: f64,
}

impl Generator {
    fn new(arguments: &Raw, span: u64, rng: fastrand::Rng) -> Self {
        Generator {
            rng,
            slots: span / arguments.length,
            length: arguments.length as u32,
            position: 0,
            is_random: arguments.pattern == Pattern::Random,
            read_fraction: arguments.read_fraction,
        }
    }

    fn next(&mut self) -> Request {
        let slot = if self.is_random {
            self.rng.u64(0..self.slots)
        } else {
            let here = self.position;
            self.position = (here + 1) % self.slots;
            here
        };
        let reads = self.read_fraction >= 1.0 || self.rng.f64() < self.read_fraction;
        let op = if reads { Op::Read } else { Op::Write };
        Request { op, ..Request::read(slot * u64::from(self.length), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(is_random: bool, read_fraction: f64) -> Generator {
        Generator { rng: fastrand::Rng::with_seed(5), slots: 10, length: 4096, position: 0, is_random, read_fraction }
    }

    #[test]
    fn sequential_wraps_at_the_end() {
        let mut generator = generator(false, 1.0);
        let offsets: Vec<u64> = (0..12).map(|_| generator.next().offset / 4096).collect();
        assert_eq!(offsets, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    }

    #[test]
    fn random_covers_the_span_with_the_mix_asked_for() {
        let mut generator = generator(true, 0.7);
        let requests: Vec<Request> = (0..10_000).map(|_| generator.next()).collect();
        assert!(requests.iter().all(|r| r.offset < 40_960 && r.offset % 4096 == 0));
        assert_eq!(requests.iter().map(|r| r.offset).collect::<std::collections::HashSet<_>>().len(), 10);
        let reads = requests.iter().filter(|r| r.op == Op::Read).count();
        // Standard deviation 46.
        assert!((6_800..7_200).contains(&reads), "{reads}");
    }
}

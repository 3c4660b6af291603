//! A whole measurement: plans the time, does one experiment after the other, keeps the document up to date.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use serde_json::value::{RawValue, Value};

use crate::cli::{Common, Measure};
use crate::clock;
use crate::document::{self, Document, Findings, Host, Overhead, Program, Settings, Stub, Warning};
use crate::engine::{self, Kind};
use crate::experiments::{Experiment, Offer, ALL};
use crate::fault::{Fault, Outcome};
use crate::noise;
use crate::output;
use crate::progress::Progress;
use crate::request::Samples;
use crate::session::Session;
use crate::target::{self, Target, Wish};

pub fn open_target(common: &Common, progress: &mut Progress, stop: &AtomicBool) -> Outcome<Target> {
    output::check(&common.out, Path::new(&common.target))?;
    let wish = Wish {
        target: &common.target,
        write: common.write,
        allow_target: common.allow_target.as_deref(),
        scratch_bytes: common.size,
    };
    target::open(&wish, &mut |done, all| {
        progress.tick("filling the scratch file", done as f64 / all as f64 * 0.01, (all - done) as f64 / 1e9);
        if stop.load(Ordering::Relaxed) {
            Err(Fault::Interrupted)
        } else {
            Ok(())
        }
    })
}

pub fn overhead(kind: Kind, note: Option<String>) -> Overhead {
    let noop = if kind == Kind::Uring { engine::noop_latency_ns().ok() } else { None };
    Overhead {
        engine: kind.name().into(),
        engine_note: note,
        clock_read_ns: clock::overhead_ns(),
        noop_p50_ns: noop.map(|n| n.0),
        noop_p99_ns: noop.map(|n| n.1),
    }
}

pub fn new_document(target: &Target, settings: Settings, overhead: Overhead) -> Document {
    Document {
        format: document::FORMAT.into(),
        version: document::VERSION,
        program: Program::this(),
        host: Host::here(),
        started_unix_s: document::started(),
        elapsed_s: 0.0,
        state: "partial".into(),
        target: target.facts.clone(),
        findings: Findings { rotational_hint: target.facts.device.rotational_hint, ..Findings::default() },
        settings,
        overhead,
        experiments: Vec::new(),
        warnings: Vec::new(),
    }
}

pub fn measure(arguments: &Measure, progress: &mut Progress, stop: &AtomicBool) -> Outcome<()> {
    let settings = arguments.settings()?;
    let common = &arguments.common;
    let earlier = if arguments.resume && common.out.exists() { Some(document::load(&common.out)?) } else { None };
    let target = open_target(common, progress, stop)?;
    let (kind, note) = engine::choose(common.engine.kind())?;
    let mut document = new_document(&target, settings, overhead(kind, note));
    let mut epoch = 0;
    if let Some(earlier) = earlier {
        epoch = resume(&mut document, earlier)?;
    }
    let mut course = Course {
        target: &target,
        kind,
        stop,
        progress,
        epoch,
        origin_ns: clock::now_ns(),
        is_thorough: arguments.thorough,
    };
    let outcome = course.all(&mut document, &common.out).and_then(|()| verdict(&document));
    if outcome.is_ok() {
        document.state = "complete".into();
    }
    document.elapsed_s += course.progress.elapsed_s();
    document::save(&common.out, &document)?;
    for warning in &document.warnings {
        let place = warning.experiment.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        let text = format!("warning: {}{place}", warning.message);
        course.progress.say("warning", &text, json!({"code": warning.code, "experiment": warning.experiment}));
    }
    let text = format!("{} after {:.0} s: {}", document.state, document.elapsed_s, common.out.display());
    course.progress.say("done", &text, json!({"state": document.state}));
    outcome
}

/// Whether a measurement whose experiments have all had their turn is complete.
fn verdict(document: &Document) -> Outcome<()> {
    let stubs: Vec<Stub> = document.experiments.iter().map(|raw| Stub::of(raw)).collect::<Outcome<_>>()?;
    if let Some(failed) = stubs.iter().find_map(|stub| stub.failed.as_ref().map(|why| (&stub.name, why))) {
        return Err(Fault::Device(format!("{} ended early: {}; the result is partial", failed.0, failed.1)));
    }
    if stubs.iter().all(|stub| stub.samples.n == 0) {
        let named = match document.settings.experiments.join(",") {
            names if names.is_empty() => "all".to_string(),
            names => names,
        };
        let reason = stubs.iter().find_map(|stub| stub.skipped.as_deref()).unwrap_or("the time was too short");
        let fix = "give more time (--seconds), or other experiments; `diskmodel-bench list` shows what they need";
        return Err(Fault::input("experiments", named, &format!("no request was recorded: {reason}"), fix));
    }
    Ok(())
}

/// Takes over what an earlier run finished; returns the epoch of the new rows.
fn resume(document: &mut Document, earlier: Document) -> Outcome<u32> {
    let fix = "repeat the first command with --resume added, or measure again without it";
    if earlier.settings != document.settings {
        let value = format!("{:?}", document.settings);
        return Err(Fault::input(
            "resume",
            value,
            &format!("must have the settings of the first part: {:?}", earlier.settings),
            fix,
        ));
    }
    if (&earlier.target.path, earlier.target.size_bytes) != (&document.target.path, document.target.size_bytes) {
        let value = format!("{} ({} bytes)", document.target.path, document.target.size_bytes);
        let rule =
            format!("must be the first part's target: {} ({} bytes)", earlier.target.path, earlier.target.size_bytes);
        return Err(Fault::input("target", value, &rule, fix));
    }
    let mut epoch = 0;
    for raw in earlier.experiments {
        let stub = Stub::of(&raw)?;
        epoch = epoch.max(stub.epoch + 1);
        if !stub.is_partial && stub.skipped.is_none() {
            document.warnings.extend(
                earlier.warnings.iter().filter(|w| w.experiment.as_deref() == Some(stub.name.as_str())).cloned(),
            );
            document.experiments.push(raw);
        }
    }
    document.started_unix_s = earlier.started_unix_s;
    document.elapsed_s = earlier.elapsed_s;
    document.findings = earlier.findings;
    Ok(epoch)
}

struct Course<'a> {
    target: &'a Target,
    kind: Kind,
    stop: &'a AtomicBool,
    progress: &'a mut Progress,
    epoch: u32,
    origin_ns: u64,
    is_thorough: bool,
}

impl Course<'_> {
    fn all(&mut self, document: &mut Document, out: &std::path::Path) -> Outcome<()> {
        let named = document.settings.experiments.clone();
        let finished: Vec<String> =
            document.experiments.iter().map(|raw| Stub::of(raw).map(|s| s.name)).collect::<Outcome<_>>()?;
        let planned: Vec<&Experiment> =
            ALL.iter().filter(|e| named.is_empty() || named.iter().any(|name| name == e.name)).collect();
        let total_weight: f64 = planned.iter().map(|e| e.weight).sum();
        let done_weight: f64 = planned.iter().filter(|e| finished.iter().any(|f| f == e.name)).map(|e| e.weight).sum();
        let mut budget = Budget {
            seconds: document.settings.seconds * (1.0 - done_weight / total_weight),
            total: document.settings.seconds,
            rows: (document.settings.max_rows as f64 * (1.0 - done_weight / total_weight)) as usize,
        };
        let todo: Vec<&Experiment> = planned.into_iter().filter(|e| !finished.iter().any(|f| f == e.name)).collect();
        for (index, experiment) in todo.iter().enumerate() {
            let offer = |seconds| Offer {
                seconds,
                span_bytes: self.target.facts.size_bytes,
                may_write: self.target.facts.is_writable && document.settings.is_writing,
                findings: &document.findings,
                is_asked_for: !named.is_empty(),
            };
            // Time goes only to those that can run as far as is known now.
            let hopeful = |e: &&&Experiment| e.obstacle(&offer(f64::INFINITY)).is_none();
            let weight: f64 = todo[index..].iter().filter(hopeful).map(|e| e.weight).sum();
            let share = if weight > 0.0 { experiment.weight / weight } else { 0.0 };
            let seconds = budget.seconds * share;
            if let Some(why) = experiment.obstacle(&offer(seconds)) {
                self.skip(document, experiment, &why)?;
                continue;
            }
            let rows = (budget.rows as f64 * share) as usize;
            let (used_s, used_rows) = self.one(document, experiment, seconds, rows.max(1000), &budget)?;
            budget.seconds = (budget.seconds - used_s).max(0.0);
            budget.rows = budget.rows.saturating_sub(used_rows);
            document::save_progress(out, document)?;
        }
        Ok(())
    }

    fn skip(&mut self, document: &mut Document, experiment: &Experiment, why: &str) -> Outcome<()> {
        let text = format!("skipped {}: {why}", experiment.name);
        self.progress.say("skipped", &text, json!({"experiment": experiment.name, "reason": why}));
        let value = json!({
            "name": experiment.name, "why": experiment.why, "skipped": why, "epoch": self.epoch,
            "needs": needs(experiment), "parameters": {}, "summary": {}, "runs": [],
        });
        document.experiments.push(raw(&value)?);
        Ok(())
    }

    /// Does one experiment and puts it into the document; returns the seconds and rows that it used.
    fn one(
        &mut self,
        document: &mut Document,
        experiment: &Experiment,
        seconds: f64,
        max_rows: usize,
        budget: &Budget,
    ) -> Outcome<(f64, usize)> {
        let text = format!("{}, about {seconds:.0} s: {}", experiment.name, experiment.why);
        self.progress.say("experiment", &text, json!({"experiment": experiment.name, "seconds": seconds}));
        let watch = noise::Watch::start(self.target.facts.device.disk.as_deref());
        // Each experiment has its own stream of random numbers, so that resuming doesn't change any.
        let seed = experiment
            .name
            .bytes()
            .fold(document.settings.seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut session = Session {
            target: self.target,
            kind: self.kind,
            stop: self.stop,
            progress: &mut *self.progress,
            findings: &mut document.findings,
            name: experiment.name,
            rng: fastrand::Rng::with_seed(seed),
            seconds,
            seconds_after: budget.seconds - seconds,
            seconds_total: budget.total,
            max_rows,
            is_thorough: self.is_thorough,
            parameters: json!({}),
            runs: Vec::new(),
            samples: Samples::default(),
            warnings: Vec::new(),
            origin_ns: self.origin_ns,
            start_ns: clock::now_ns(),
        };
        let outcome = (experiment.run)(&mut session);
        let (start_ns, end_ns) = (session.start_ns - self.origin_ns, clock::now_ns() - self.origin_ns);
        let Session { parameters, runs, samples, warnings, .. } = session;
        document.warnings.extend(warnings);
        document.warnings.extend(watch.finish(experiment.name, samples.bytes()));
        let mut value = json!({
            "name": experiment.name, "why": experiment.why, "needs": needs(experiment), "epoch": self.epoch,
            "start_ns": start_ns, "end_ns": end_ns, "parameters": parameters, "runs": runs, "summary": {},
        });
        let stopped = match outcome {
            Ok(summary) => {
                value["summary"] = summary;
                Ok(())
            }
            Err(Fault::Interrupted) => {
                value["is_partial"] = json!(true);
                Err(Fault::Interrupted)
            }
            // The other experiments may still work.
            Err(fault) => {
                value["is_partial"] = json!(true);
                value["failed"] = json!(fault.to_string());
                let message = format!("it ended early: {fault}");
                document.warnings.push(Warning {
                    code: "io_error".into(),
                    experiment: Some(experiment.name.into()),
                    message,
                });
                Ok(())
            }
        };
        document.experiments.push(with_samples(&value, &samples, self.origin_ns)?);
        stopped.map(|()| ((end_ns - start_ns) as f64 / 1e9, samples.len()))
    }
}

struct Budget {
    seconds: f64,
    total: f64,
    rows: usize,
}

fn needs(experiment: &Experiment) -> Value {
    json!({"seconds": experiment.min_seconds, "span_bytes": experiment.min_span_bytes, "writes": experiment.writes})
}

fn raw(value: &Value) -> Outcome<Box<RawValue>> {
    serde_json::value::to_raw_value(value).map_err(|error| Fault::Device(format!("writing JSON: {error}")))
}

/// The experiment with its columns put in as text: millions of integers need not become JSON values first.
pub fn with_samples(value: &Value, samples: &Samples, origin_ns: u64) -> Outcome<Box<RawValue>> {
    let failed = |error: serde_json::Error| Fault::Device(format!("writing JSON: {error}"));
    let mut text = serde_json::to_string(value).map_err(failed)?;
    text.pop();
    text.push_str(",\"samples\":");
    text.push_str(samples.to_json(origin_ns).map_err(failed)?.get());
    text.push('}');
    RawValue::from_string(text).map_err(failed)
}

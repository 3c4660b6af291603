//! Random reads over the whole span at several queue depths, each measured several times, interleaved.

use serde_json::{json, Value};

use super::Experiment;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "random_reads",
    why: "Rate and latency by queue depth: how the device orders and overlaps requests, and how well it repeats",
    weight: 24.0,
    min_seconds: 1.0,
    min_span_bytes: 16 << 20,
    writes: false,
    only: None,
    run,
};

pub fn depths(seconds: f64, is_thorough: bool) -> Vec<usize> {
    let most = if is_thorough {
        256
    } else if seconds > 60.0 {
        64
    } else {
        32
    };
    (0..).map(|k| 1usize << k).take_while(|&depth| depth <= most).collect()
}

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let depths = depths(s.seconds, s.is_thorough);
    let repetitions = if s.is_thorough {
        8
    } else if s.seconds > 60.0 {
        5
    } else {
        3
    };
    let length = s.page();
    s.parameters = json!({"queue_depths": depths, "repetitions": repetitions, "length": length});
    let seconds = s.seconds / (depths.len() * repetitions) as f64;
    let rows_each = s.rows_left() / (depths.len() * repetitions);
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); depths.len()];
    let mut means: Vec<Vec<f64>> = vec![Vec::new(); depths.len()];
    for repetition in 0..repetitions {
        let mut order: Vec<usize> = (0..depths.len()).collect();
        s.rng.shuffle(&mut order);
        for which in order {
            let plan = Plan { queue_depth: depths[which], max_length: length, seconds, max_requests: rows_each };
            let (mut rng, span) = (s.rng.fork(), s.span());
            let mut source = || Some(Request::read(Session::random_offset(&mut rng, span, length), length));
            s.run(json!({"repetition": repetition, "length": length}), plan, &mut source)?;
            let Some(summary) = s.runs.last().map(|run| &run["summary"]) else { continue };
            rates[which].push(summary["iops"].as_f64().unwrap_or(0.0));
            means[which].push(summary["mean_ns"].as_f64().unwrap_or(0.0));
        }
    }
    s.findings.random_read_ns = means.first().map(|m| stats::median_f64(m) as u64).or(s.findings.random_read_ns);
    let table: Vec<Value> = depths
        .iter()
        .enumerate()
        .map(|(which, depth)| {
            let mut entry = s.repetitions(&format!("random reads at queue depth {depth}"), &rates[which]);
            entry["queue_depth"] = json!(depth);
            entry["mean_ns"] = json!(stats::median_f64(&means[which]));
            entry
        })
        .collect();
    Ok(json!({"iops_by_queue_depth": table}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_grow_with_the_time_there_is() {
        assert_eq!(depths(20.0, false), [1, 2, 4, 8, 16, 32]);
        assert_eq!(depths(120.0, false).last(), Some(&64));
        assert_eq!(depths(20.0, true).last(), Some(&256));
    }
}

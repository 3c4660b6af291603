//! Flash under sustained random overwriting: when garbage collection begins, and what rate is left then.

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::request::{Op, Request};
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "gc_onset",
    why: "Random overwriting without pause: the rate falls when free blocks run out and garbage collection copies data",
    weight: 20.0,
    min_seconds: 20.0,
    min_span_bytes: 256 << 20,
    writes: true,
    only: Some(Nature::NotRotating),
    run,
};

const QUEUE_DEPTH: usize = 32;
const WINDOWS: usize = 60;
const FALLEN: f64 = 0.7;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    // Larger requests where the rows would not last for the time there is.
    let length = 64 << 10;
    s.parameters = json!({"length": length, "queue_depth": QUEUE_DEPTH, "windows": WINDOWS});
    let plan =
        Plan { queue_depth: QUEUE_DEPTH, max_length: length, seconds: s.seconds_left(), max_requests: s.rows_left() };
    let (mut rng, span) = (s.rng.fork(), s.span());
    let rows = s.run(json!({"length": length}), plan, &mut || {
        Some(Request { op: Op::Write, ..Request::read(Session::random_offset(&mut rng, span, length), length) })
    })?;
    let done: Vec<u64> = rows.map(|row| s.samples.done_ns(row)).collect();
    let rates = window_rates(&done, u64::from(length));
    let onset = onset(&rates);
    Ok(json!({
        "bytes_per_s_by_window": rates,
        "written_bytes": done.len() as u64 * u64::from(length),
        "initial_bytes_per_s": rates.get(..5).map(stats::median_f64),
        "onset_bytes": onset.map(|window| (done.len() * window / WINDOWS) as u64 * u64::from(length)),
        "sustained_bytes_per_s": onset.map(|window| stats::median_f64(&rates[window..])),
    }))
}

/// Rates over windows of equally many requests.
fn window_rates(done: &[u64], length: u64) -> Vec<f64> {
    let edges: Vec<usize> = (0..=WINDOWS).map(|k| k * done.len().saturating_sub(1) / WINDOWS).collect();
    edges
        .windows(2)
        .filter(|edge| edge[1] > edge[0] && done[edge[1]] > done[edge[0]])
        .map(|edge| (edge[1] - edge[0]) as f64 * length as f64 * 1e9 / (done[edge[1]] - done[edge[0]]) as f64)
        .collect()
}

/// First of four windows in a row that are well below the first five, when most later ones are too.
fn onset(rates: &[f64]) -> Option<usize> {
    let limit = stats::median_f64(rates.get(..5)?) * FALLEN;
    (5..rates.len().saturating_sub(3))
        .find(|&k| rates[k..k + 4].iter().all(|&x| x < limit) && stats::median_f64(&rates[k..]) < limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn onset_is_where_the_rate_falls_and_stays_low() {
        let mut rates = vec![100.0; 30];
        rates[10] = 20.0;
        rates.extend(vec![40.0; 30]);
        assert_eq!(onset(&rates), Some(30));
        assert_eq!(onset(&[100.0; 60]), None);
        assert_eq!(onset(&[]), None);
    }

    #[test]
    fn rates_count_bytes_between_completions() {
        let done: Vec<u64> = (0..=600).map(|k| k * 1_000_000).collect();
        let rates = window_rates(&done, 1000);
        assert_eq!(rates.len(), WINDOWS);
        assert!(rates.iter().all(|rate| (rate - 1e6).abs() < 1.0));
    }
}

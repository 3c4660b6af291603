//! Sequential rate by position: the zone map.

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "zones",
    why: "Sequential reading at positions all over the device: outer zones of a disk have more sectors and are faster",
    weight: 9.0,
    min_seconds: 1.0,
    min_span_bytes: 64 << 20,
    writes: false,
    only: None,
    run,
};

const LENGTH: u32 = 256 << 10;
const QUEUE_DEPTH: usize = 4;
const PASSES: usize = 2;
/// Long enough for the angles of a rotating disk's reads to determine the density: fifteen revolutions and more.
const SECONDS_EACH: f64 = 0.25;
const MOST_POSITIONS: usize = 64;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let wanted = wanted_positions(s.seconds, s.is_thorough, s.findings.nature == Nature::Rotating);
    let positions = wanted.min((s.span() / (16 << 20)) as usize);
    let slice = s.span() / positions as u64 / u64::from(LENGTH) * u64::from(LENGTH);
    let seconds = s.seconds / (positions * PASSES) as f64;
    s.parameters = json!({"positions": positions, "passes": PASSES, "length": LENGTH});
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); positions];
    for pass in 0..PASSES {
        let mut order: Vec<usize> = (0..positions).collect();
        s.rng.shuffle(&mut order);
        for which in order {
            // Each pass reads its own part of the slice: what the last one read may be cached.
            let part = slice / PASSES as u64 / u64::from(LENGTH) * u64::from(LENGTH);
            let mut offset = which as u64 * slice + pass as u64 * part;
            let end = offset + part;
            let most = (s.rows_left() / (positions * PASSES)).max(8);
            let plan = Plan { queue_depth: QUEUE_DEPTH, max_length: LENGTH, seconds, max_requests: most };
            let mut source = || {
                let request = Request::read(offset, LENGTH);
                offset += u64::from(LENGTH);
                (offset <= end).then_some(request)
            };
            let position = which as u64 * slice + slice / 2;
            let rows = s.run(json!({"position_bytes": position, "pass": pass, "length": LENGTH}), plan, &mut source)?;
            if let Some(rate) = steady_rate(s, rows) {
                rates[which].push(rate);
            }
        }
    }
    let medians = rates.iter().filter(|rates| !rates.is_empty()).map(|rates| stats::median_f64(rates));
    s.findings.slowest_bytes_per_s = medians.min_by(f64::total_cmp);
    let table: Vec<Value> = rates
        .iter()
        .enumerate()
        .map(|(which, rates)| {
            let position = which as u64 * slice + slice / 2;
            json!({"position_bytes": position, "bytes_per_s": stats::median_f64(rates), "spread_ratio": stats::spread_ratio(rates)})
        })
        .collect();
    Ok(json!({"rate_by_position": table}))
}

/// More short runs rather than fewer long ones on something that turns: where a zone ends is known no better than to the
/// distance of two runs. Elsewhere the rate counts, which takes time.
fn wanted_positions(seconds: f64, is_thorough: bool, is_rotating: bool) -> usize {
    let usual = if seconds > 30.0 { 32 } else { 16 };
    if is_thorough {
        MOST_POSITIONS
    } else if is_rotating {
        ((seconds / PASSES as f64 / SECONDS_EACH) as usize).clamp(usual, MOST_POSITIONS)
    } else {
        usual
    }
}

/// Bytes per second between completions, the first few left out: they still contain the seek.
fn steady_rate(s: &Session<'_>, rows: std::ops::Range<usize>) -> Option<f64> {
    let begin = rows.start + (2 * QUEUE_DEPTH).min(rows.len() / 4);
    if rows.len() < 4 || begin + 1 >= rows.end {
        return None;
    }
    let elapsed = s.samples.done_ns(rows.end - 1).saturating_sub(s.samples.done_ns(begin));
    let bytes = (rows.end - 1 - begin) as f64 * f64::from(LENGTH);
    (elapsed > 0).then(|| bytes * 1e9 / elapsed as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_is_read_at_more_places_as_time_allows() {
        assert_eq!(wanted_positions(5.0, false, true), 16);
        assert_eq!(wanted_positions(15.0, false, true), 30);
        assert_eq!(wanted_positions(50.0, false, true), 64);
        assert_eq!(wanted_positions(15.0, false, false), 16);
        assert_eq!(wanted_positions(50.0, false, false), 32);
        assert_eq!(wanted_positions(5.0, true, false), 64);
    }
}

//! Track boundaries and skew by strided access (Talagala, Arpaci-Dusseau, Patterson, "Microbenchmark-based extraction of
//! local and global disk characteristics", 2000; Worthington, Ganger, Patt, Wilkes, "On-line extraction of SCSI disk
//! drive parameters", 1995). Strides go backwards, so that read-ahead doesn't answer.

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::{Plan, Session};

pub const EXPERIMENT: Experiment = Experiment {
    name: "track_boundaries",
    why: "Single sectors at growing and at constant strides: jumps in the completions' angle are track and cylinder switches",
    weight: 14.0,
    min_seconds: 5.0,
    min_span_bytes: 256 << 20,
    writes: false,
    only: Some(Nature::Rotating),
    run,
};

/// Sectors between reads of a constant stride where no rate is known: a few per track of even the smallest disk.
const STRIDE_SECTORS: u64 = 29;
/// Reads on the shortest track otherwise: two that agree determine its angle, and few reads show many tracks.
const READS_PER_TRACK: f64 = 3.0;
/// With less time than this only the constant strides, which show more.
const SECONDS_FOR_BOTH: f64 = 30.0;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let places = if s.seconds > 60.0 { 8 } else { 3 };
    let stride = stride(s);
    s.parameters = json!({"places": places, "stride_sectors": stride, "sector_bytes": s.sector()});
    let (span, sector) = (s.span(), s.sector());
    let kinds: &[bool] = if s.seconds > SECONDS_FOR_BOTH { &[true, false] } else { &[false] };
    let n_runs = kinds.len() * places;
    let (seconds, rows_each) = (s.seconds / n_runs as f64, s.rows_left() / n_runs);
    for place in 0..places as u64 {
        // Counted from the end of each slice downwards.
        let from = (span / places as u64 * (place + 1) / sector).saturating_sub(2) * sector;
        for &growing in kinds {
            let plan = Plan { queue_depth: 1, max_length: sector as u32, seconds, max_requests: rows_each };
            let mut steps = strides(from, sector, if growing { None } else { Some(stride) });
            let mut source = || steps.next().map(|offset| Request::read(offset, sector as u32));
            s.run(
                json!({"from_bytes": from, "stride": if growing { "growing" } else { "constant" }}),
                plan,
                &mut source,
            )?;
        }
    }
    let jumps = s.findings.rotation_period_ns.map(|period| angle_jumps(s, period));
    Ok(json!({"angle_jumps": jumps}))
}

/// A third of the shortest track, as far as rotation and rates are known; never a whole page, which a cache may contain.
fn stride(s: &Session<'_>) -> u64 {
    let (Some(period_ns), Some(rate)) = (s.findings.rotation_period_ns, s.findings.slowest_bytes_per_s) else {
        return STRIDE_SECTORS;
    };
    let track_sectors = rate * period_ns / 1e9 / s.sector() as f64;
    (track_sectors / READS_PER_TRACK) as u64 | 1
}

/// Offsets going down from `from`: always by the same number of sectors, or by 1, 2, 3 …
fn strides(from: u64, sector: u64, constant: Option<u64>) -> impl Iterator<Item = u64> {
    let mut offset = Some(from);
    let mut step = constant.unwrap_or(0);
    std::iter::from_fn(move || {
        let here = offset?;
        step += u64::from(constant.is_none());
        offset = here.checked_sub(step * sector);
        Some(here)
    })
}

/// Advance of the angle, in turns, from one read of a constant stride to the next: equal within a track, and another
/// value where a boundary lies between.
fn angle_jumps(s: &Session<'_>, period: f64) -> Vec<Value> {
    let mut found = Vec::new();
    for run in s.runs.iter().filter(|run| run["parameters"]["stride"] == "constant") {
        let (Some(first), Some(count)) = (run["first"].as_u64(), run["count"].as_u64()) else { continue };
        let rows = first as usize..(first + count) as usize;
        let advances: Vec<f64> = rows
            .clone()
            .skip(1)
            .map(|row| ((s.samples.done_ns(row) - s.samples.done_ns(row - 1)) as f64 / period).fract())
            .collect();
        let usual = usual_angle(&advances);
        let jumps: Vec<u64> = rows
            .skip(1)
            .zip(&advances)
            .filter(|(_, advance)| turn_distance(**advance, usual) > 0.02)
            .map(|(row, _)| s.samples.offset[row])
            .collect();
        found.push(
            json!({"from_bytes": run["parameters"]["from_bytes"], "usual_advance_turns": usual, "jump_offsets": jumps}),
        );
    }
    found
}

fn turn_distance(a: f64, b: f64) -> f64 {
    let d = (a - b).rem_euclid(1.0);
    d.min(1.0 - d)
}

/// The angle that most others are near to.
fn usual_angle(angles: &[f64]) -> f64 {
    let near = |a: f64| angles.iter().filter(|b| turn_distance(a, **b) < 0.01).count();
    angles.iter().copied().max_by_key(|&a| near(a)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_go_down_and_end_at_the_start() {
        let growing: Vec<u64> = strides(5120, 512, None).collect();
        assert_eq!(growing, [5120, 4608, 3584, 2048, 0]);
        let constant: Vec<u64> = strides(40_000, 512, Some(29)).collect();
        assert_eq!(constant, [40_000, 25_152, 10_304]);
    }

    #[test]
    fn angles_near_a_full_turn_are_near_zero() {
        assert!((turn_distance(0.99, 0.01) - 0.02).abs() < 1e-12);
        assert!(turn_distance(usual_angle(&[0.3, 0.301, 0.299, 0.9]), 0.3) < 0.002);
    }
}

//! Latency against seek distance. Each distance is met from many places, so that the platter's angle is random: the
//! lowest latencies are those with hardly any rotation in them.

use std::collections::BTreeMap;

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::{Plan, Session};
use crate::stats;

pub const EXPERIMENT: Experiment = Experiment {
    name: "seek_profile",
    why: "Pairs of reads a given distance apart; the lower envelope over many pairs is the seek with the rotation taken out",
    weight: 14.0,
    min_seconds: 1.0,
    min_span_bytes: 16 << 20,
    writes: false,
    only: None,
    run,
};

/// Closer than this only backwards, or the drive's read-ahead answers.
const READ_AHEAD_BYTES: u64 = 16 << 20;
/// More pairs per distance add nothing.
const MOST_ROUNDS: usize = 400;
/// From this distance on pairs are up to a quarter further apart, at most so far: at one distance the angle between two
/// blocks is nearly the same everywhere, and what a read shows of a seek depends on the angle.
const SPREAD_FROM_SECTORS: u64 = 1024;
const MOST_SPREAD_SECTORS: u64 = 4096;
/// Pairs closer than the first distance show neither the length of a track nor moves; closer than the second the arm
/// hardly ever moves; at the last distance moves are no longer short.
const ANGLE_SECTORS: u64 = 64;
const TRACK_SECTORS: u64 = 1024;
const SHORT_SECTORS: u64 = 65536;
/// Far reads this much slower than near ones show a moving arm.
const DISTANCE_MATTERS: f64 = 1.3;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let distances = distances(s.span(), s.sector());
    let cap = if s.findings.nature == Nature::NotRotating { 40 } else { MOST_ROUNDS };
    s.parameters = json!({"distances": distances, "rows": "base, then base ± distance, alternating; from 1024 sectors on up to a quarter more, at most 4096 sectors"});
    let mut pairs = Pairs::new(distances, s.span(), s.sector(), s.rng.fork());
    let plan = Plan {
        queue_depth: 1,
        max_length: s.sector() as u32,
        seconds: s.seconds_left(),
        max_requests: (2 * cap * pairs.distances.len()).min(s.rows_left()),
    };
    let rows = s.run(json!({}), plan, &mut || Some(pairs.next()))?;
    let mut by_distance: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in rows.clone().skip(1).step_by(2) {
        let distance = s.samples.offset[row].abs_diff(s.samples.offset[row - 1]);
        by_distance.entry(pairs.nominal(distance)).or_default().push(s.samples.latency_ns[row]);
    }
    let table: Vec<Value> = by_distance
        .iter()
        .map(|(distance, latencies)| {
            let ascending = stats::sorted(latencies.iter().copied());
            json!({
                "distance_bytes": distance,
                "n": ascending.len(),
                "min_ns": ascending[0],
                "p10_ns": stats::quantile(&ascending, 0.1),
                "p50_ns": stats::quantile(&ascending, 0.5),
            })
        })
        .collect();
    let ratio = distance_ratio(&by_distance, s.span());
    s.findings.distance_ratio = ratio;
    if s.findings.nature == Nature::Undecided {
        if let Some(ratio) = ratio.filter(|ratio| *ratio > DISTANCE_MATTERS) {
            s.findings.nature_evidence += &format!("; far reads take {ratio:.2} times as long as near ones");
        }
    }
    Ok(json!({"by_distance": table, "distance_ratio": ratio}))
}

/// Median of reads beyond half the span over median of reads within a thousandth of it.
fn distance_ratio(by_distance: &BTreeMap<u64, Vec<u64>>, span: u64) -> Option<f64> {
    let pool = |keep: &dyn Fn(u64) -> bool| {
        let all = by_distance.iter().filter(|(d, _)| keep(**d)).flat_map(|(_, l)| l.iter().copied());
        stats::median(all) as f64
    };
    let (near, far) = (pool(&|d| d <= span / 1000), pool(&|d| d >= span / 2));
    (near > 0.0 && far > 0.0).then_some(far / near)
}

/// From one sector to a sixteenth of the span, then in sixteenths. Most are where the arm moves a little: few sectors come
/// by soon enough after a short move to show how long it took.
fn distances(span: u64, sector: u64) -> Vec<u64> {
    let mut list = Vec::new();
    let mut sectors = 1;
    while sectors * sector < span / 16 {
        list.push(sectors * sector);
        sectors = match sectors {
            ..ANGLE_SECTORS => sectors * 8,
            TRACK_SECTORS..SHORT_SECTORS if sectors.is_power_of_two() => sectors * 3 / 2,
            TRACK_SECTORS..SHORT_SECTORS => sectors * 4 / 3,
            _ => sectors * 2,
        };
    }
    list.extend((1..16).map(|k| span / 16 * k / sector * sector));
    list
}

/// Sectors over which the distance of pairs is spread.
fn spread_sectors(distance: u64, span: u64) -> u64 {
    if distance < SPREAD_FROM_SECTORS {
        1
    } else {
        (distance / 4).min(MOST_SPREAD_SECTORS).min(span / 64).max(1)
    }
}

struct Pairs {
    distances: Vec<u64>,
    at: usize,
    target: Option<u64>,
    position: u64,
    span: u64,
    sector: u64,
    rng: fastrand::Rng,
}

impl Pairs {
    fn new(distances: Vec<u64>, span: u64, sector: u64, rng: fastrand::Rng) -> Self {
        Pairs { at: distances.len(), distances, target: None, position: span / 2, span, sector, rng }
    }

    /// The distance of the list that represents a pair this far apart.
    fn nominal(&self, distance: u64) -> u64 {
        self.distances.iter().copied().filter(|&d| d <= distance).max().unwrap_or(distance)
    }

    fn next(&mut self) -> Request {
        let offset = match self.target.take() {
            Some(target) => target,
            None => self.begin_pair(),
        };
        self.position = offset;
        Request::read(offset, self.sector as u32)
    }

    /// Chooses the next distance and a base not far from here, so that little time goes into getting there.
    fn begin_pair(&mut self) -> u64 {
        if self.at == self.distances.len() {
            self.at = 0;
            self.rng.shuffle(&mut self.distances);
        }
        let spread = spread_sectors(self.distances[self.at] / self.sector, self.span / self.sector);
        let distance = self.distances[self.at] + self.rng.u64(0..spread) * self.sector;
        self.at += 1;
        let last = self.span - self.sector;
        let backwards = distance < READ_AHEAD_BYTES || self.rng.bool();
        let (low, high) = if backwards { (distance, last) } else { (0, last - distance) };
        let reach = self.span / 32;
        let from = self.position.saturating_sub(reach).clamp(low, high);
        let to = (self.position + reach).clamp(low, high);
        let base = (self.rng.u64(from..=to) / self.sector * self.sector).max(low.next_multiple_of(self.sector));
        self.target = Some(if backwards { base - distance } else { base + distance });
        base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stay_on_the_target_and_keep_their_distance() {
        for (span, sector) in
            [(16 << 20, 512), (64 << 20, 512), (1 << 30, 512), (40_000_000_512, 512), (32 << 20, 4096)]
        {
            pairs_are_right(span, sector);
        }
    }

    fn pairs_are_right(span: u64, sector: u64) {
        let all = distances(span, sector);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        let mut pairs = Pairs::new(all.clone(), span, sector, fastrand::Rng::with_seed(7));
        let mut seen = std::collections::HashSet::new();
        for _ in 0..2000 {
            let (base, target) = (pairs.next(), pairs.next());
            for request in [base, target] {
                assert!(request.offset + u64::from(request.length) <= span && request.offset % sector == 0);
            }
            let distance = base.offset.abs_diff(target.offset);
            let nominal = pairs.nominal(distance);
            assert!((distance - nominal) / sector < spread_sectors(nominal / sector, span / sector));
            assert!(nominal >= READ_AHEAD_BYTES || target.offset < base.offset);
            seen.insert(nominal);
        }
        assert_eq!(seen.len(), all.len());
    }

    #[test]
    fn distance_matters_only_where_latency_depends_on_it() {
        let table = BTreeMap::from([(512, vec![10, 10, 10]), (900_000, vec![30, 30])]);
        assert_eq!(distance_ratio(&table, 1_000_000), Some(3.0));
        assert_eq!(distance_ratio(&BTreeMap::new(), 1_000_000), None);
    }
}

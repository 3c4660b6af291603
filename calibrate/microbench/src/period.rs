//! The platter's revolution from completion times: reads of one block end a whole number of revolutions apart.

/// A revolution, how sharply it is known, and how well the completions agree on it (1 = perfectly, 0 = not at all).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    pub period_ns: f64,
    pub stderr_ns: f64,
    pub coherence: f64,
    pub n: usize,
}

/// 3 300 rpm … 17 000 rpm.
const SHORTEST_NS: f64 = 3_500_000.0;
const LONGEST_NS: f64 = 18_200_000.0;
/// Below this the completions show no rotation.
pub const COHERENT: f64 = 0.6;
/// Coherence at a fraction of the true period equals that at the period: the longest of the near-best is taken.
const NEARLY_BEST: f64 = 0.9;

/// Each series holds the ascending completion times of re-reads of one block.
///
/// The circular resultant of the differences between successive completions is searched over all plausible
/// revolutions; the best is then sharpened by straight lines through ever longer stretches.
pub fn estimate(series: &[Vec<u64>]) -> Option<Period> {
    let differences: Vec<f64> = lagged(series, 1);
    if differences.len() < 12 {
        return None;
    }
    let longest = differences.iter().copied().fold(0.0, f64::max);
    // Steps so small that the phase of the longest difference moves by at most a twentieth of a turn.
    let step = (0.05 * SHORTEST_NS / longest.max(LONGEST_NS)).max(1e-6);
    let mut scores = Vec::new();
    let mut period = LONGEST_NS;
    while period > SHORTEST_NS {
        scores.push((period, resultant(&differences, period)));
        period *= 1.0 - step;
    }
    let best = scores.iter().map(|s| s.1).fold(0.0, f64::max);
    let first = scores.iter().position(|s| s.1 >= NEARLY_BEST * best)?;
    // The peak that begins there.
    let peak = (first..scores.len()).find(|&i| i + 1 == scores.len() || scores[i + 1].1 < scores[i].1)?;
    let (coarse, coherence) = scores[peak];
    if coherence < COHERENT {
        return Some(Period { period_ns: coarse, stderr_ns: f64::INFINITY, coherence, n: differences.len() });
    }
    let mut sharp = coarse;
    let most = series.iter().map(Vec::len).max().unwrap_or(0);
    let mut lag = 1;
    while lag < most {
        if let Some(better) = sharpen(&lagged(series, lag), sharp) {
            sharp = better;
        }
        lag *= 2;
    }
    let (period_ns, stderr_ns, n) = regress(series, sharp)?;
    Some(Period { period_ns, stderr_ns, coherence, n })
}

fn lagged(series: &[Vec<u64>], lag: usize) -> Vec<f64> {
    series.iter().flat_map(|times| times.iter().zip(times.iter().skip(lag)).map(|(a, b)| (b - a) as f64)).collect()
}

fn resultant(differences: &[f64], period: f64) -> f64 {
    let (mut x, mut y) = (0.0, 0.0);
    for d in differences {
        let (sin, cos) = (std::f64::consts::TAU * (d / period).fract()).sin_cos();
        x += cos;
        y += sin;
    }
    (x * x + y * y).sqrt() / differences.len() as f64
}

/// Slope through the origin of differences against their number of revolutions, outliers left out.
fn sharpen(differences: &[f64], period: f64) -> Option<f64> {
    let (mut top, mut bottom) = (0.0, 0.0);
    for &d in differences {
        let turns = (d / period).round();
        if turns >= 1.0 && (d - turns * period).abs() < 0.1 * period {
            top += d * turns;
            bottom += turns * turns;
        }
    }
    (bottom > 0.0).then(|| top / bottom)
}

/// Line through all completions with an own phase for each block: slope, its standard error, points used.
fn regress(series: &[Vec<u64>], period: f64) -> Option<(f64, f64, usize)> {
    let mut points = Vec::new(); // (turns, time) relative to the block's means
    for times in series.iter().filter(|times| times.len() > 1) {
        let rows: Vec<(f64, f64)> = times
            .iter()
            .map(|t| {
                let d = (t - times[0]) as f64;
                ((d / period).round(), d)
            })
            .collect();
        let offset = median(rows.iter().map(|(k, d)| d - k * period).collect());
        let good: Vec<(f64, f64)> =
            rows.into_iter().filter(|(k, d)| (d - k * period - offset).abs() < 0.1 * period).collect();
        let n = good.len() as f64;
        let mk = good.iter().map(|p| p.0).sum::<f64>() / n;
        let md = good.iter().map(|p| p.1).sum::<f64>() / n;
        points.extend(good.into_iter().map(|(k, d)| (k - mk, d - md)));
    }
    let skk: f64 = points.iter().map(|p| p.0 * p.0).sum();
    if points.len() < 4 || skk <= 0.0 {
        return None;
    }
    let slope = points.iter().map(|p| p.0 * p.1).sum::<f64>() / skk;
    let residual: f64 = points.iter().map(|p| (p.1 - slope * p.0).powi(2)).sum();
    let freedom = (points.len() as f64 - series.len() as f64 - 1.0).max(1.0);
    Some((slope, (residual / freedom / skk).sqrt(), points.len()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Re-reads of `blocks` blocks of a platter, in shuffled rounds, each read late by up to `noise_ns`.
    fn platter(period: f64, blocks: usize, rounds: usize, noise_ns: f64, seed: u64) -> Vec<Vec<u64>> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let phases: Vec<f64> = (0..blocks).map(|_| rng.f64() * period).collect();
        let mut series = vec![Vec::new(); blocks];
        let mut now = 0.0;
        for _ in 0..rounds {
            let mut order: Vec<usize> = (0..blocks).collect();
            rng.shuffle(&mut order);
            for block in order {
                let there = now + 1e6 + rng.f64() * 8e6;
                let turns = ((there - phases[block]) / period).ceil();
                now = phases[block] + turns * period + rng.f64() * noise_ns;
                series[block].push(now as u64);
            }
        }
        series
    }

    #[test]
    fn periods_of_common_drives_come_back() {
        for rpm in [5400.0, 7200.0, 10_000.0, 15_000.0] {
            let truth = 60e9 / rpm;
            let found = estimate(&platter(truth, 32, 12, 60_000.0, 1)).unwrap();
            assert!((found.period_ns / truth - 1.0).abs() < 2e-5, "{rpm} rpm: {found:?}");
            assert!((found.period_ns - truth).abs() < 5.0 * found.stderr_ns, "{rpm} rpm: {found:?}");
        }
    }

    #[test]
    fn random_times_are_not_coherent() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut series = vec![Vec::new(); 32];
        let mut now = 0;
        for _ in 0..12 {
            for times in &mut series {
                now += rng.u64(1_000_000..15_000_000);
                times.push(now);
            }
        }
        let found = estimate(&series).unwrap();
        assert!(found.coherence < COHERENT, "{found:?}");
    }

    #[test]
    fn too_few_completions_give_no_estimate() {
        assert_eq!(estimate(&[vec![0, 8_333_333]]), None);
    }
}

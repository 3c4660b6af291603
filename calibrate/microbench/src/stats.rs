//! Order statistics and the few estimators that the experiments need.

use serde_json::{json, Value};

/// Ten samples beyond the percentile: with fewer, p99.9 is one of the largest few samples and says nothing of the rest.
/// Half as many would let it wander by half its distance from the median; twice as many would hide it from short runs.
const MIN_P999_SAMPLES: usize = 10_000;

/// Value at rank `q` (0..=1) of ascending values, nearest rank.
pub fn quantile(sorted: &[u64], q: f64) -> u64 {
    match sorted.len() {
        0 => 0,
        n => sorted[((q * n as f64).ceil() as usize).clamp(1, n) - 1],
    }
}

pub fn sorted(values: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.into_iter().collect();
    values.sort_unstable();
    values
}

pub fn median(values: impl IntoIterator<Item = u64>) -> u64 {
    quantile(&sorted(values), 0.5)
}

pub fn median_f64(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// (maximum − minimum) / median: how badly repetitions disagree; 0 for fewer than two.
pub fn spread_ratio(values: &[f64]) -> f64 {
    let middle = median_f64(values);
    if values.len() < 2 || middle <= 0.0 {
        return 0.0;
    }
    let high = values.iter().copied().fold(f64::MIN, f64::max);
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    (high - low) / middle
}

pub fn latency_summary(latencies: &[u64]) -> Value {
    let ascending = sorted(latencies.iter().copied());
    if ascending.is_empty() {
        return json!({"n": 0});
    }
    let mean = ascending.iter().map(|&x| x as f64).sum::<f64>() / ascending.len() as f64;
    json!({
        "n": ascending.len(),
        "mean_ns": (mean * 10.0).round() / 10.0,
        "min_ns": ascending[0],
        "p50_ns": quantile(&ascending, 0.5),
        "p95_ns": quantile(&ascending, 0.95),
        "p99_ns": quantile(&ascending, 0.99),
        "p999_ns": (ascending.len() >= MIN_P999_SAMPLES).then(|| quantile(&ascending, 0.999)),
        "max_ns": ascending[ascending.len() - 1],
    })
}

/// Least-squares line through (x, y): intercept and slope. None unless two different x are there.
pub fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let mx = points.iter().map(|p| p.0).sum::<f64>() / n;
    let my = points.iter().map(|p| p.1).sum::<f64>() / n;
    let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    if points.len() < 2 || sxx <= 0.0 {
        return None;
    }
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / sxx;
    Some((my - slope * mx, slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_rank() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!(quantile(&values, 0.5), 50);
        assert_eq!(quantile(&values, 0.99), 99);
        assert_eq!(quantile(&values, 1.0), 100);
        assert_eq!(quantile(&[], 0.5), 0);
        assert_eq!(quantile(&[7], 0.001), 7);
    }

    #[test]
    fn few_samples_have_no_far_percentile() {
        assert!(latency_summary(&vec![1; 9_999])["p999_ns"].is_null());
        assert_eq!(latency_summary(&vec![1; 10_000])["p999_ns"], 1);
    }

    #[test]
    fn a_line_is_found_exactly() {
        let points: Vec<(f64, f64)> = (0..5).map(|x| (f64::from(x), 3.0 + 2.0 * f64::from(x))).collect();
        let (a, b) = line(&points).unwrap();
        assert!((a - 3.0).abs() < 1e-12 && (b - 2.0).abs() < 1e-12);
        assert!(line(&[(1.0, 2.0), (1.0, 3.0)]).is_none());
    }

    #[test]
    fn spread_is_relative_to_the_median() {
        assert!((spread_ratio(&[90.0, 100.0, 110.0]) - 0.2).abs() < 1e-12);
        assert_eq!(spread_ratio(&[5.0]), 0.0);
    }
}

//! How late answers were: a histogram of eighths of powers of two, and the exact greatest.

const PER_OCTAVE: usize = 8;

#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    n: u64,
    most_ns: i64,
}

impl Default for Lateness {
    fn default() -> Self {
        Lateness { counts: vec![0; 64 * PER_OCTAVE], n: 0, most_ns: 0 }
    }
}

impl Lateness {
    pub fn record(&mut self, late_ns: i64) {
        self.n += 1;
        self.most_ns = self.most_ns.max(late_ns);
        self.counts[bucket(late_ns.max(0) as u64)] += 1;
    }

    /// Upper end of the bucket that holds the share `q` of all answers; 0 when there were none.
    pub fn quantile_ns(&self, q: f64) -> i64 {
        let wanted = (q * self.n as f64).ceil() as u64;
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && *count > 0 {
                return (upper(i) as i64).min(self.most_ns);
            }
        }
        0
    }

    pub fn most_ns(&self) -> i64 {
        self.most_ns
    }
}

fn bucket(value: u64) -> usize {
    if value < PER_OCTAVE as u64 {
        return value as usize;
    }
    let octave = value.ilog2() as usize; // at least 3
    let eighth = (value >> (octave - 3)) as usize - PER_OCTAVE;
    (octave - 2) * PER_OCTAVE + eighth
}

fn upper(bucket: usize) -> u64 {
    if bucket < PER_OCTAVE {
        return bucket as u64;
    }
    let (octave, eighth) = (bucket / PER_OCTAVE + 2, bucket % PER_OCTAVE);
    ((((PER_OCTAVE + eighth + 1) as u128) << (octave - 3)) - 1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_an_eighth_wide() {
        let mut last = 0;
        for value in (0..10_000u64).chain((14..63).map(|k| 1 << k)) {
            let at = bucket(value);
            assert!(at >= last);
            last = at;
            assert!(upper(at) >= value && upper(at) - value <= value / 8, "{value}");
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let mut late = Lateness::default();
        assert_eq!(late.quantile_ns(0.5), 0);
        (1..=1000).for_each(|x| late.record(x));
        assert!((500..=563).contains(&late.quantile_ns(0.5)));
        assert!((990..=1000).contains(&late.quantile_ns(0.99)));
        assert_eq!(late.most_ns(), 1000);
    }
}

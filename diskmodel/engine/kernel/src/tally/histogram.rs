//! Counts in buckets that grow with the value; the buckets of `diskmodel/result/statistics/histogram.py`.

/// Each power of two is divided into 2^PRECISION_BITS equal buckets.
pub const PRECISION_BITS: u32 = 8;

/// Counts of values that are not negative. Memory reaches as far as the largest value.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    pub counts: Vec<u64>,
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, value: i64) {
        let bucket = bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
    }

    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }
}

/// Number of a value's bucket: one each below 2^(PRECISION_BITS + 1), then 2^PRECISION_BITS for each power of two.
#[inline]
fn bucket(value: i64) -> usize {
    let high = (value >> PRECISION_BITS) as u64;
    if high == 0 {
        return value as usize;
    }
    let shift = 63 - high.leading_zeros();
    ((shift as usize) << PRECISION_BITS) + (value >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_without_a_gap_and_narrow() {
        let mut last = (0, 0);
        for value in (0..100_000).chain((17..62).map(|bit| 1i64 << bit)).chain([i64::MAX]) {
            let at = bucket(value);
            assert!(at == last.0 || (at == last.0 + 1) || value > 100_000);
            assert!(at > last.0 || (value - last.1) << PRECISION_BITS <= value.max(1 << PRECISION_BITS));
            if at > last.0 {
                last = (at, value);
            }
        }
    }
}

//! Division by numbers that stay the same during a run: a multiplication and a correction on most machines.

/// A divisor and 2^64 divided by it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Divisor {
    by: u64,
    inverse: u64,
}

impl Divisor {
    /// `by` is at least 1.
    pub fn new(by: i64) -> Self {
        let by = by.max(1) as u64;
        Divisor { by, inverse: u64::MAX / by }
    }

    /// Quotient and rest of a number that is not negative.
    #[inline(always)]
    pub fn split(&self, value: i64) -> (i64, i64) {
        let value = value as u64;
        // WebAssembly has no product of 128 bits; a division takes less time there than the function that stands for it
        if cfg!(target_arch = "wasm32") {
            return ((value / self.by) as i64, (value % self.by) as i64);
        }
        // the estimate is right or one too small: value · (2^64 − by · inverse) is less than 2^64 · by
        let estimate = ((u128::from(value) * u128::from(self.inverse)) >> 64) as u64;
        let rest = value - estimate * self.by;
        let is_small = u64::from(rest >= self.by);
        ((estimate + is_small) as i64, (rest - is_small * self.by) as i64)
    }

    /// Quotient of a number that is not negative.
    #[inline(always)]
    pub fn of(&self, value: i64) -> i64 {
        self.split(value).0
    }

    /// Quotient of a product of numbers that are not negative, where the product may leave 64 bits.
    #[cold]
    pub fn of_product(&self, a: i64, b: i64) -> i64 {
        (a as u128 * b as u128 / u128::from(self.by)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_rests_are_exact() {
        for by in [1, 2, 3, 5, 7, 63, 64, 100, 1_016, 4_000_000, 8_333_333, 1 << 31, (1 << 55) - 1, i64::MAX] {
            let divisor = Divisor::new(by);
            let near = (0..40).flat_map(|k| [by.checked_mul(k), by.checked_mul(k).map(|v| v - 1)]).flatten();
            let far = (0..62).flat_map(|bit| [1_i64 << bit, (1 << bit) - 1, (1 << bit) + 1]);
            for value in near.chain(far).chain([i64::MAX, i64::MAX - 1]).filter(|&value| value >= 0) {
                assert_eq!(divisor.split(value), (value / by, value % by), "{value} / {by}");
                assert_eq!(divisor.of_product(value, by), value);
            }
        }
    }
}

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
}

/// A fraction whose products are rounded down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fraction {
    part: u64,
    whole: u64,
    /// The fraction times 2^64, rounded up.
    scaled: u64,
    /// The scaled fraction is exact for numbers up to this one.
    most: u64,
    short: u64,
}

impl Fraction {
    /// `part` is not negative, and `whole` is at least 1.
    pub fn new(part: i64, whole: i64) -> Self {
        let (part, whole) = (part as u64, whole as u64);
        let most = if part == 0 {
            u64::MAX
        } else if part < whole {
            u64::MAX / whole
        } else {
            0
        };
        if part == 0 || most == 0 {
            return Fraction { part, whole, scaled: 0, most, short: most & 0xFFFF_FFFF };
        }
        // what rounding adds to a product, value · whole / (2^64 · whole), is less than it lacks to the next number
        let scaled = (u128::from(part) << 64).div_ceil(u128::from(whole)) as u64;
        let most_short = ((u128::from(whole) << 30) / u128::from(part)).min(u128::from(most)).min(1 << 32) as u64;
        Fraction { part, whole, scaled, most, short: (1 << most_short.ilog2()) - 1 }
    }

    /// Product with a number that is not negative.
    #[inline(always)]
    pub fn of(&self, value: i64) -> i64 {
        let value = value as u64;
        if value > self.most {
            return self.of_any(value);
        }
        if cfg!(target_arch = "wasm32") {
            return (value * self.part / self.whole) as i64;
        }
        ((u128::from(value) * u128::from(self.scaled)) >> 64) as i64
    }

    /// The scaled fraction in two parts of 32 bits.
    #[inline(always)]
    pub fn halves(&self) -> (u64, u64) {
        (self.scaled >> 32, self.scaled & 0xFFFF_FFFF)
    }

    /// Bits of numbers for which it is exact and whose products have no more than 30 bits.
    #[inline(always)]
    pub fn short(&self) -> u64 {
        self.short
    }

    #[cold]
    #[inline(never)]
    fn of_any(&self, value: u64) -> i64 {
        (u128::from(value) * u128::from(self.part) / u128::from(self.whole)) as i64
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
            }
        }
    }

    #[test]
    fn products_are_rounded_down() {
        for whole in [1_i64, 2, 7, 1_000_000, 3_000_000, 64_000_000, 999_999_937, 1 << 40] {
            for part in [0, 1, 3, 50_000, 300_000, 999_999, 1_000_000, 1 << 20].into_iter().chain([whole - 1, whole]) {
                let fraction = Fraction::new(part, whole);
                let exact = |value: i64| (i128::from(value) * i128::from(part) / i128::from(whole)) as i64;
                let near =
                    (0..50).flat_map(|k| [k, k * whole / part.max(1), (k * whole / part.max(1)).saturating_sub(1)]);
                let far = (0..43).flat_map(|bit| [1_i64 << bit, (1 << bit) - 1, (1 << bit) + 1]);
                let last = (u64::MAX / whole as u64).min(1 << 43) as i64;
                for value in near.chain(far).chain([last - 1, last, last + 1]).filter(|&value| value >= 0) {
                    assert_eq!(fraction.of(value), exact(value), "{value} · {part} / {whole}");
                }
            }
        }
    }
}

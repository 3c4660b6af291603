//! How a platter turns (rule M4).

use crate::divisor::Divisor;
use crate::faults::{planted, Fault};

#[derive(Clone, Copy, Debug, Default)]
pub struct Spindle {
    pub revolution: i64,
    pub by_revolution: Divisor,
    phase: i64,
    /// Longest wait that counts as none, because only rounding made it (rule M4).
    longest: i64,
}

impl Spindle {
    pub fn new(revolution: i64, phase: i64) -> Self {
        let by_revolution = Divisor::new(revolution);
        Spindle { revolution, by_revolution, phase, longest: revolution - revolution / 100_000 }
    }

    /// Angle at a time, in ns of a revolution.
    #[inline]
    pub fn angle(&self, at: i64) -> i64 {
        self.by_revolution.split(at + self.phase).1
    }

    /// Wait until angle `target` comes under a head that is at angle `angle` now.
    #[inline]
    pub fn wait_ns(&self, target: i64, angle: i64) -> i64 {
        let wait = target - angle;
        let wait = wait + ((wait >> 63) & self.revolution);
        if wait > self.longest && !planted(Fault::RotationSlack) {
            0
        } else {
            wait
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_never_costs_a_revolution() {
        let spindle = Spindle::new(4_000_000, 0);
        assert_eq!(spindle.wait_ns(100, 100), 0);
        assert_eq!(spindle.wait_ns(100, 139), 0);
        assert_eq!(spindle.wait_ns(100, 140), 3_999_960);
    }
}

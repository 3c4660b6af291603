//! How a platter turns (rule M4).

use crate::divisor::Divisor;
use crate::events::LAST_NS;

#[derive(Clone, Copy, Debug, Default)]
pub struct Spindle {
    pub revolution: i64,
    pub by_revolution: Divisor,
    phase: i64,
    /// Whole revolutions, more than any move takes.
    ahead: i64,
    /// Longest wait that counts as none, because only rounding made it (rule M4).
    longest: i64,
}

impl Spindle {
    pub fn new(revolution: i64, phase: i64) -> Self {
        let by_revolution = Divisor::new(revolution);
        let (ahead, longest) = (by_revolution.of(LAST_NS) * revolution, revolution - revolution / 100_000);
        Spindle { revolution, by_revolution, phase, ahead, longest }
    }

    /// Angle at a time, in ns of a revolution.
    #[inline]
    pub fn angle(&self, at: i64) -> i64 {
        self.by_revolution.split(at + self.phase).1
    }

    /// Wait until angle `target` comes under a head that is at angle `angle` now and moves for `time` first.
    #[inline(always)]
    pub fn wait_behind_ns(&self, target: i64, angle: i64, time: i64) -> i64 {
        let wait = self.by_revolution.split(self.ahead - angle + target - time).1;
        if wait > self.longest {
            0
        } else {
            wait
        }
    }

    /// Longest wait that counts, if any does not.
    #[inline(always)]
    pub fn longest_wait_ns(&self) -> i64 {
        self.longest
    }

    /// Wait until angle `target` comes under a head that is at angle `angle` now.
    #[inline]
    pub fn wait_ns(&self, target: i64, angle: i64) -> i64 {
        let wait = target - angle;
        let wait = wait + ((wait >> 63) & self.revolution);
        if wait > self.longest {
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

    #[test]
    fn a_wait_behind_a_move_is_that_at_its_end() {
        for (revolution, target) in [(1, 0), (7, 3), (4_000_000, 1_234_567), (8_333_333, 8_333_332)] {
            let spindle = Spindle::new(revolution, 0);
            for (angle, time) in [(0, 0), (revolution - 1, 1), (revolution / 2, 9_876_543), (0, 3 << 42)] {
                let end = (angle + time) % revolution;
                assert_eq!(spindle.wait_behind_ns(target, angle, time), spindle.wait_ns(target, end));
            }
        }
    }
}

//! The random numbers of drives; see `diskmodel/drive/generator.py`.

use crate::faults::{planted, Fault};

const MULTIPLIER: u32 = 1_664_525;
const INCREMENT: u32 = 1_013_904_223;

/// Draws one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    state: u32,
}

impl Generator {
    pub fn new(first: u32) -> Self {
        Generator { state: first }
    }

    /// The next draw, 0 to `n` - 1.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        self.state = MULTIPLIER.wrapping_mul(self.state).wrapping_add(INCREMENT);
        (u64::from(self.state) * n) >> 32
    }

    /// The next of equally likely times; 0 without any. A fault takes the one after it.
    #[inline]
    pub fn one_of(&mut self, times: &[i64], fault: Fault) -> i64 {
        if times.is_empty() {
            return 0;
        }
        let at = self.below(times.len() as u64) as usize;
        times[(at + usize::from(planted(fault))) % times.len()]
    }
}

//! The random numbers of drives; see `diskmodel/drive/generator.py`.

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

    /// The next of equally likely times; 0 without any.
    #[inline]
    pub fn one_of(&mut self, times: &[i64]) -> i64 {
        if times.is_empty() {
            return 0;
        }
        times[self.below(times.len() as u64) as usize]
    }
}

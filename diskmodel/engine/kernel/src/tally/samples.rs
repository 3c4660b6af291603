//! Numbers that came and left, at equally distant times; the distance doubles when there are too many of them.

const MOST: usize = 8192;
const FIRST_STEP_NS: i64 = 1 << 14;

/// Running counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub came_open: u64,
    pub left_open: u64,
    pub done: u64,
}

/// Counts at `step`, `2 step`, … (what happened at that very time included).
pub struct Samples {
    pub count: Count,
    pub held: Vec<Count>,
    pub step: i64,
    next: i64,
}

impl Default for Samples {
    fn default() -> Self {
        Samples { count: Count::default(), held: Vec::new(), step: FIRST_STEP_NS, next: FIRST_STEP_NS }
    }
}

impl Samples {
    /// Takes the samples of all times before `now`, at which something is about to happen.
    #[inline]
    pub fn until(&mut self, now: i64) {
        while self.next < now {
            self.held.push(self.count);
            if self.held.len() == MOST {
                // samples 1, 3, 5, … lie at the multiples of the doubled step
                for i in 0..MOST / 2 {
                    self.held[i] = self.held[2 * i + 1];
                }
                self.held.truncate(MOST / 2);
                self.step *= 2;
            }
            self.next = self.step * (self.held.len() as i64 + 1);
        }
    }
}

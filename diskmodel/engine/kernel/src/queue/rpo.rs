//! Rotational position ordering, as a drive's firmware does it (rule Q12).

use super::{Arms, Queue, Scheduler, Waiting};
use crate::faults::{planted, Fault};

/// The command that the head is sure to reach soonest, with a bonus for waiting, among all but the newest.
#[derive(Clone, Debug)]
pub struct Rpo {
    miss_margin_ns: i64,
    age_weight_ppm: i64,
    committed: usize,
}

impl Scheduler for Rpo {
    const IS_POSITIONAL: bool = true;

    fn of(queue: &Queue) -> Self {
        Rpo {
            miss_margin_ns: queue.miss_margin_ns,
            age_weight_ppm: queue.age_weight_ppm,
            committed: queue.committed as usize,
        }
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, now: i64, arms: &impl Arms) -> usize {
        let late = self.committed + usize::from(planted(Fault::Committed));
        let n = waiting.len().saturating_sub(late).max(1);
        if n == 1 {
            return 0;
        }
        let mut best = (i64::MAX, 0);
        for (i, w) in waiting[..n].iter().enumerate() {
            let score = arms.time_ns(w, self.miss_margin_ns) - self.bonus_ns(now - w.arrived, waiting.len());
            if score < best.0 {
                best = (score, i);
            }
        }
        best.1
    }
}

impl Rpo {
    /// What a wait among so many commands is worth.
    fn bonus_ns(&self, waited: i64, n: usize) -> i64 {
        let share = 1_000_000 * (n as i64 + i64::from(planted(Fault::AgeWeight)));
        match waited.checked_mul(self.age_weight_ppm) {
            Some(product) => product / share,
            None => (i128::from(waited) * i128::from(self.age_weight_ppm) / i128::from(share)) as i64,
        }
    }
}

//! Rotational position ordering, as a drive's firmware does it (rule Q12).

use super::{Arms, Queue, Scheduler, Waiting};
use crate::divisor::Divisor;
use crate::faults::{planted, Fault};

/// The command that the head is sure to reach soonest, with a bonus for waiting, among all but the newest.
#[derive(Clone, Debug)]
pub struct Rpo {
    miss_margin_ns: i64,
    age_weight_ppm: i64,
    committed: usize,
    /// What a wait is divided by among so many commands as there were last: mostly it stays the same.
    share: Divisor,
    n_sharing: usize,
}

impl Scheduler for Rpo {
    const IS_POSITIONAL: bool = true;

    fn of(queue: &Queue) -> Self {
        Rpo {
            miss_margin_ns: queue.miss_margin_ns,
            age_weight_ppm: queue.age_weight_ppm,
            committed: queue.committed as usize,
            share: Divisor::default(),
            n_sharing: 0,
        }
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, now: i64, arms: &impl Arms) -> usize {
        let late = self.committed + usize::from(planted(Fault::Committed));
        let n = waiting.len().saturating_sub(late).max(1);
        if n == 1 {
            return 0;
        }
        self.share_among(waiting.len());
        let weighed = &waiting[..n];
        match self.miss_margin_ns {
            0 => self.soonest(weighed, now, |w| arms.time_ns(w, 0)),
            margin => self.soonest(weighed, now, |w| arms.time_ns(w, margin)),
        }
    }
}

impl Rpo {
    /// Index of the command with the shortest time less its bonus.
    #[inline(always)]
    fn soonest(&self, waiting: &[Waiting], now: i64, time_ns: impl Fn(&Waiting) -> i64) -> usize {
        let mut best = (i64::MAX, 0);
        for (i, w) in waiting.iter().enumerate() {
            let score = time_ns(w) - self.bonus_ns(now - w.arrived);
            if score < best.0 {
                best = (score, i);
            }
        }
        best.1
    }

    /// Prepares what waits among `n` commands are divided by.
    #[inline]
    fn share_among(&mut self, n: usize) {
        let n = n + usize::from(planted(Fault::AgeWeight));
        if n != self.n_sharing {
            (self.share, self.n_sharing) = (Divisor::new(1_000_000 * n as i64), n);
        }
    }

    /// What a wait is worth.
    #[inline(always)]
    fn bonus_ns(&self, waited: i64) -> i64 {
        match waited.checked_mul(self.age_weight_ppm) {
            Some(product) => self.share.of(product),
            None => self.share.of_product(waited, self.age_weight_ppm),
        }
    }
}

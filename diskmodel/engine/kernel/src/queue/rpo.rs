//! Rotational position ordering, as a drive's firmware does it (rule Q12).

use super::least::first_least_weighed;
use super::{times_of, Arms, Queue, Row, Scheduler, Waiting, LANES, WORTH_IT};
use crate::divisor::Fraction;

/// The command that the head is sure to reach soonest, with a bonus for waiting, among all but the newest.
#[derive(Clone, Debug)]
pub struct Rpo {
    miss_margin_ns: i64,
    age_weight_ppm: i64,
    committed: usize,
    /// What a wait counts among so many commands.
    shares: Vec<Fraction>,
    times: Vec<[i32; LANES]>,
}

impl Scheduler for Rpo {
    const IS_POSITIONAL: bool = true;

    fn of(queue: &Queue) -> Self {
        Rpo {
            miss_margin_ns: queue.miss_margin_ns,
            age_weight_ppm: queue.age_weight_ppm,
            committed: queue.committed as usize,
            shares: Vec::new(),
            times: Vec::new(),
        }
    }

    #[inline(always)]
    fn has_choice(&self, n: usize) -> bool {
        n > self.n_late() + 1
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, now: i64, arms: &impl Arms) -> usize {
        if !self.has_choice(waiting.len()) {
            return 0;
        }
        let n = waiting.len() - self.n_late();
        let share = self.share_among(waiting.len());
        let weighed = &waiting[..n];
        match self.miss_margin_ns {
            0 => least_time(weighed, now, 0, share, arms),
            margin => least_time(weighed, now, margin, share, arms),
        }
    }

    fn choose_in(&mut self, row: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
        let n = row.len().saturating_sub(self.n_late());
        if n >= WORTH_IT {
            let share = self.share_among(row.len());
            row.find_targets(n);
            if row.has_short_waits(now, share.short()) {
                if let Some(times) = times_of(row, n, self.miss_margin_ns, arms, &mut self.times) {
                    return first_least_weighed(times, &row.targets().arrived, n, now as u32, &share);
                }
            }
        }
        row.forget_targets();
        self.choose(row.commands(), head, now, arms)
    }
}

impl Rpo {
    /// The newest commands, among which it does not choose.
    #[inline(always)]
    fn n_late(&self) -> usize {
        self.committed
    }

    /// What a wait counts among `n` commands.
    #[inline]
    fn share_among(&mut self, n: usize) -> Fraction {
        while self.shares.len() <= n {
            let whole = 1_000_000 * self.shares.len().max(1) as i64;
            self.shares.push(Fraction::new(self.age_weight_ppm, whole));
        }
        self.shares[n]
    }
}

/// Index of the command with the shortest time less what its wait counts.
#[inline(always)]
fn least_time(waiting: &[Waiting], now: i64, margin: i64, share: Fraction, arms: &impl Arms) -> usize {
    let mut best = (i64::MAX, 0);
    for (i, w) in waiting.iter().enumerate() {
        let score = arms.time_ns(w, margin) - share.of(now - w.arrived);
        if score < best.0 {
            best = (score, i);
        }
    }
    best.1
}

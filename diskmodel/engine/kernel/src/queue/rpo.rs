//! Rotational position ordering, as a drive's firmware does it (rule Q12).

use super::least::least_weighed;
use super::{times_of, Arms, Margin, Queue, Row, Scheduler, Waiting, LANES, WORTH_IT};
use crate::divisor::Fraction;

/// The command that the head is sure to reach soonest, with a bonus for waiting, among all but the newest.
#[derive(Clone, Debug)]
pub struct Rpo {
    margin: Margin,
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
            margin: Margin { ns: queue.miss_margin_ns, move_256ths: queue.miss_256ths },
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
        match self.margin {
            Margin::NONE => least_time(weighed, now, Margin::NONE, share, arms),
            margin => least_time(weighed, now, margin, share, arms),
        }
    }

    fn choose_in(&mut self, row: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
        let n = row.len().saturating_sub(self.n_late());
        if n >= WORTH_IT {
            let share = self.share_among(row.len());
            if let Some((_, at)) = self.least_of(row, n, now, share, arms) {
                return at;
            }
        }
        row.forget_targets();
        self.choose(row.commands(), head, now, arms)
    }

    fn choose_of_both(&mut self, rows: [&mut Row; 2], both: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
        let [first, second] = rows;
        let (n_first, n_all) = (first.len(), first.len() + second.len());
        let n = n_all.saturating_sub(self.n_late());
        if n >= WORTH_IT {
            let share = self.share_among(n_all);
            let of_first = self.least_of(first, n.min(n_first), now, share, arms);
            let of_second = self.least_of(second, n.saturating_sub(n_first), now, share, arms);
            if let (Some((least, at)), Some((other, behind))) = (of_first, of_second) {
                return if other < least { n_first + behind } else { at };
            }
        }
        both.take_both([first, second]);
        self.choose(both.commands(), head, now, arms)
    }
}

impl Rpo {
    /// The newest commands, among which it does not choose.
    #[inline(always)]
    fn n_late(&self) -> usize {
        self.committed
    }

    /// The least score of the first `n` commands in a row, computed at once, and the index of the first that has it; none
    /// where that is not possible.
    #[inline(always)]
    fn least_of(
        &mut self,
        row: &mut Row,
        n: usize,
        now: i64,
        share: Fraction,
        arms: &impl Arms,
    ) -> Option<(i64, usize)> {
        row.find_targets(n);
        let has_short_waits = row.has_short_waits(now, share.short());
        let times = times_of(row, n, self.margin, arms, &mut self.times)?;
        if has_short_waits {
            let (least, at) = least_weighed(times, &row.targets().arrived, n, now as u32, &share);
            return Some((i64::from(least), at));
        }
        Some(least_of_long_waits(times, &row.commands()[..n], now, share))
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
fn least_time(waiting: &[Waiting], now: i64, margin: Margin, share: Fraction, arms: &impl Arms) -> usize {
    least_score(waiting.iter().map(|w| (arms.time_ns(w, margin), w)), now, share).1
}

/// The least score, and the first that has it, of positioning times that are known already: as in a write buffer that is
/// full for long.
#[inline(never)]
fn least_of_long_waits(times: &[[i32; LANES]], waiting: &[Waiting], now: i64, share: Fraction) -> (i64, usize) {
    let times = times.as_flattened().iter().map(|&time| i64::from(time));
    least_score(times.zip(waiting), now, share)
}

/// The same of times and the commands that take them.
#[inline(always)]
fn least_score<'a>(timed: impl Iterator<Item = (i64, &'a Waiting)>, now: i64, share: Fraction) -> (i64, usize) {
    let mut best = (i64::MAX, 0);
    for (i, (time, w)) in timed.enumerate() {
        let score = time - share.of(now - w.arrived);
        if score < best.0 {
            best = (score, i);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;
    use crate::queue::Targets;

    /// An arm that takes a microsecond for a cylinder.
    struct Plain;

    impl Arms for Plain {
        fn time_ns(&self, waiting: &Waiting, _margin: Margin) -> i64 {
            1_000 * i64::from(waiting.target.place.cylinder)
        }

        fn times_ns(&self, aims: &Targets, _margin: Margin, times: &mut [[i32; LANES]]) -> bool {
            for (times, cylinders) in times.iter_mut().zip(&aims.cylinders) {
                *times = cylinders.map(|cylinder| 1_000 * cylinder as i32);
            }
            true
        }

        fn cylinder(&self, _actuator: u32) -> i64 {
            0
        }

        fn least_ns(&self, _distance: i64) -> i64 {
            0
        }
    }

    /// Waits of less than a second and of many: as a full write buffer has them.
    #[test]
    fn long_waits_are_weighed_as_short_ones() {
        let mut below = drawn_from(7);
        for step in 0..4_000_i64 {
            let (shares, times) = Default::default();
            let mut rpo = Rpo { margin: Margin::NONE, age_weight_ppm: below(1_000_000), committed: 1, shares, times };
            let mut row = Row::default();
            let (now, longest) = (1_i64 << 40, [1_000_000, 1_000_000_000, 100_000_000_000][(step % 3) as usize]);
            for seq in 0..(1 + below(150)) as u64 {
                let mut waiting = Waiting { seq, arrived: now - below(longest), ..Waiting::default() };
                waiting.target.place.cylinder = below(20_000) as u32;
                row.push(waiting);
            }
            let expected = rpo.clone().choose(row.commands(), 0, now, &Plain);
            let mut parts = [Row::default(), Row::default()];
            let n_first = below(row.len() as i64 + 1) as usize;
            row.commands().iter().enumerate().for_each(|(i, &w)| parts[usize::from(i >= n_first)].push(w));
            assert_eq!(rpo.choose_in(&mut row, 0, now, &Plain), expected, "step {step}");
            let [first, second] = &mut parts;
            let found = rpo.choose_of_both([first, second], &mut Row::default(), 0, now, &Plain);
            assert_eq!(found, expected, "step {step}: {n_first} of {}", row.len());
        }
    }
}

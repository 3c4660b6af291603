//! Which of several scores is the least, eight at once.

use super::targets::LANES;
use crate::divisor::Fraction;
use crate::machine::for_wide_registers;

/// The least score of each lane so far, and in which group it was.
struct Least {
    score: [i32; LANES],
    group: [i32; LANES],
}

impl Least {
    #[inline(always)]
    fn new() -> Self {
        Least { score: [i32::MAX; LANES], group: [0; LANES] }
    }

    /// Takes the scores of a group, of which the first ones up to number `n` of all count.
    #[inline(always)]
    fn take(&mut self, group: usize, scores: &[i32; LANES], n: usize) {
        let n = n as i32 - (group * LANES) as i32;
        for (lane, &score) in scores.iter().enumerate() {
            let score = if (lane as i32) < n { score } else { i32::MAX };
            let is_less = score < self.score[lane];
            self.score[lane] = if is_less { score } else { self.score[lane] };
            self.group[lane] = if is_less { group as i32 } else { self.group[lane] };
        }
    }

    /// The least score, and the index of the first that is.
    #[inline(always)]
    fn best(&self) -> (i32, usize) {
        let mut best = i64::MAX;
        for lane in 0..LANES {
            let at = self.group[lane] * LANES as i32 + lane as i32;
            best = best.min(i64::from(self.score[lane]) << 32 | i64::from(at));
        }
        ((best >> 32) as i32, best as u32 as usize)
    }
}

for_wide_registers! {
    /// Index of the first of the least scores among the first `n`.
    pub fn first_least(scores: &[[i32; LANES]], n: usize) -> usize {
        let mut least = Least::new();
        for (group, scores) in scores.iter().enumerate() {
            least.take(group, scores, n);
        }
        least.best().1
    }
}

for_wide_registers! {
    /// The least of times less `share` of how long each of these commands has waited, a number of [`Fraction::short`], and
    /// the index of the first. `arrived` and `now` are the lower halves of these times.
    pub fn least_weighed(
        times: &[[i32; LANES]],
        arrived: &[[u32; LANES]],
        n: usize,
        now: u32,
        share: &Fraction,
    ) -> (i32, usize) {
        let (high, low) = share.halves();
        let mut least = Least::new();
        for (group, (times, arrived)) in times.iter().zip(arrived).enumerate() {
            let mut scores = [0; LANES];
            for lane in 0..LANES {
                let wait = u64::from(now.wrapping_sub(arrived[lane]));
                // as the fraction itself does, in two products of 32 bits
                let part = (wait * high + ((wait * low) >> 32)) >> 32;
                scores[lane] = times[lane].wrapping_sub(part as i32);
            }
            least.take(group, &scores, n);
        }
        least.best()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    /// The first of the least, whatever lies behind the last one.
    #[test]
    fn the_first_of_the_least_scores_is_found() {
        let mut below = drawn_from(5);
        for n in 1..100_usize {
            let mut scores = vec![[0; LANES]; n.div_ceil(LANES)];
            scores.as_flattened_mut().fill_with(|| below(20) as i32 - 10);
            let of_row = &scores.as_flattened()[..n];
            let least = of_row.iter().min().unwrap();
            assert_eq!(first_least(&scores, n), of_row.iter().position(|score| score == least).unwrap());
        }
    }

    /// Short and long waits, shares of nothing, of little and of everything, anything behind the last command.
    #[test]
    fn waits_are_weighed_as_one_by_one() {
        let mut below = drawn_from(6);
        let mut n_tried = 0;
        for step in 0..20_000_usize {
            let (n, now) = (1 + below(40) as usize, (1 << 45) + below(1 << 40));
            let share = Fraction::new([0, 50_000, 999_999, 1_000_000][step % 4], 1_000_000 * (1 + below(64)));
            let longest = share.short().min((1 << (20 + step % 13)) - 1) as i64;
            n_tried += usize::from(longest > 1 << 20);
            let (mut times, mut arrived) = (vec![[0; LANES]; n.div_ceil(LANES)], vec![[0; LANES]; n.div_ceil(LANES)]);
            times.as_flattened_mut().fill_with(|| below(1 << 30) as i32);
            let waits: Vec<_> = (0..n).map(|_| below(longest + 1)).collect();
            arrived.as_flattened_mut().fill_with(|| below(1 << 32) as u32);
            for (arrived, wait) in arrived.as_flattened_mut().iter_mut().zip(&waits) {
                *arrived = (now - wait) as u32;
            }
            let scores = times.as_flattened().iter().zip(&waits).map(|(&time, &wait)| i64::from(time) - share.of(wait));
            let scores: Vec<_> = scores.collect();
            let least = scores.iter().min().unwrap();
            let first = scores.iter().position(|score| score == least).unwrap();
            assert_eq!(least_weighed(&times, &arrived, n, now as u32, &share), (*least as i32, first));
        }
        assert!(n_tried > 10_000, "{n_tried}");
    }
}

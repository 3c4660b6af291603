//! When the host's processor stands still (rule H4): pure decisions; see `diskmodel/host/pauses.py`.

use crate::events::LAST_NS;

/// Goes through the pauses in order of time; questions may not go back.
pub struct Pauses {
    /// From the end of the pause before (or from time 0) to the beginning, and how long it lasts; at least one.
    drawn: Vec<(i64, i64)>,
    next: usize,
    begin: i64,
    end: i64,
    /// All gaps, and all gaps and pauses together: after so long they come again.
    gaps: i64,
    cycle: i64,
}

impl Pauses {
    /// Nothing where no pause was drawn.
    pub fn of(drawn: &[(i64, i64)]) -> Option<Self> {
        if drawn.is_empty() {
            return None;
        }
        let gaps: i64 = drawn.iter().map(|&(gap, _)| gap).sum();
        let cycle = gaps + drawn.iter().map(|&(_, length)| length).sum::<i64>();
        let mut pauses = Pauses { drawn: drawn.to_vec(), next: 0, begin: 0, end: 0, gaps, cycle };
        pauses.step();
        Some(pauses)
    }

    fn step(&mut self) {
        let (gap, length) = self.drawn[self.next];
        self.next = (self.next + 1) % self.drawn.len();
        self.begin = self.end + gap;
        self.end = self.begin + length;
    }

    /// Goes to the first pause that ends behind a time; whole rounds of them at once.
    fn step_behind(&mut self, time: i64) {
        if time - self.end >= self.cycle {
            let rounds = (time - self.end) / self.cycle * self.cycle;
            self.begin += rounds;
            self.end += rounds;
        }
        while self.end <= time {
            self.step();
        }
    }

    /// The first time from `time` on that lies in no pause.
    pub fn awake(&mut self, time: i64) -> i64 {
        self.step_behind(time);
        if self.begin <= time {
            self.end
        } else {
            time
        }
    }

    /// When work is done that begins at a time outside of pauses.
    pub fn worked(&mut self, begin: i64, work: i64) -> i64 {
        let (mut at, mut left) = (begin, work);
        self.step_behind(at);
        while at + left > self.begin {
            if at >= LAST_NS {
                break;
            }
            if left > self.begin - at + self.gaps {
                // as many whole rounds as the work lasts for sure, in which it goes on in every gap
                let rounds = (left - (self.begin - at)) / self.gaps;
                let rounds = rounds.min(1 + (LAST_NS - at) / self.cycle);
                left -= rounds * self.gaps;
                at += rounds * self.cycle;
                self.begin += rounds * self.cycle;
                self.end += rounds * self.cycle;
                continue;
            }
            left -= self.begin - at;
            at = self.end;
            self.step();
        }
        at + left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    /// Work step by step, without whole rounds at once.
    fn worked_plainly(pauses: &mut Pauses, begin: i64, work: i64) -> i64 {
        let (mut at, mut left) = (begin, work);
        while pauses.end <= at {
            pauses.step();
        }
        while at + left > pauses.begin {
            left -= pauses.begin - at;
            at = pauses.end;
            pauses.step();
        }
        at + left
    }

    #[test]
    fn whole_rounds_are_what_their_steps_are() {
        let mut below = drawn_from(5);
        let drawn: Vec<_> = (0..7).map(|_| (1 + below(9), 1 + below(9))).collect();
        let (mut quick, mut plain) = (Pauses::of(&drawn).unwrap(), Pauses::of(&drawn).unwrap());
        let mut now = 0;
        for _ in 0..5_000 {
            now += if below(9) == 0 { below(1_000) } else { below(5) };
            let begin = quick.awake(now);
            while plain.end <= now {
                plain.step();
            }
            assert_eq!(begin, if plain.begin <= now { plain.end } else { now });
            let work = if below(5) == 0 { below(700) } else { below(12) };
            now = quick.worked(begin, work);
            assert_eq!(now, worked_plainly(&mut plain, begin, work));
        }
    }

    #[test]
    fn work_that_pauses_stretch_beyond_all_time_ends() {
        let mut pauses = Pauses::of(&[(1, 1 << 50), (2, 1)]).unwrap();
        assert!(pauses.worked(0, 1 << 50) >= LAST_NS);
        assert!(pauses.awake(LAST_NS) >= LAST_NS);
    }
}

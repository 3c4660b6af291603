//! Shortest positioning time first, plain and aged (rule Q6).

use super::least::first_least;
use super::{times_of, Arms, Deep, Margin, Order, Queue, Row, Scheduler, Waiting, LANES, WORTH_IT};

/// The command that the head reaches soonest, rotation included.
#[derive(Clone, Debug)]
pub struct Sptf {
    times: Vec<[i32; LANES]>,
}

impl Scheduler for Sptf {
    const ORDER: Order = Order::Cylinder;
    const IS_POSITIONAL: bool = true;

    fn of(_queue: &Queue) -> Self {
        Sptf { times: Vec::new() }
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, _now: i64, arms: &impl Arms) -> usize {
        super::first_least(waiting, |w| arms.time_ns(w, Margin::NONE))
    }

    fn choose_in(&mut self, row: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
        match times_of_all(row, arms, &mut self.times) {
            Some(times) => first_least(times, row.len()),
            None => self.choose(row.commands(), head, now, arms),
        }
    }

    fn take(&mut self, deep: &mut Deep, _head: i64, now: i64, arms: &impl Arms) -> Option<(u64, Waiting)> {
        deep.least_time(None, now, arms)
    }
}

/// The same, where waiting for `age_ns` is worth a whole access.
#[derive(Clone, Debug)]
pub struct SptfAged {
    age_ns: i64,
    times: Vec<[i32; LANES]>,
}

impl Scheduler for SptfAged {
    const ORDER: Order = Order::CylinderAndArrival;
    const IS_POSITIONAL: bool = true;

    fn of(queue: &Queue) -> Self {
        SptfAged { age_ns: queue.age_ns, times: Vec::new() }
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, now: i64, arms: &impl Arms) -> usize {
        least_time_aged(waiting.iter().map(|w| (arms.time_ns(w, Margin::NONE), w.arrived)), self.age_ns, now)
    }

    fn choose_in(&mut self, row: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
        match times_of_all(row, arms, &mut self.times) {
            Some(times) => {
                let each = times.as_flattened().iter().zip(row.commands());
                let each = each.map(|(&time, waiting)| (i64::from(time), waiting.arrived));
                least_time_aged(each, self.age_ns, now)
            }
            None => self.choose(row.commands(), head, now, arms),
        }
    }

    fn take(&mut self, deep: &mut Deep, _head: i64, now: i64, arms: &impl Arms) -> Option<(u64, Waiting)> {
        deep.least_time(Some(self.age_ns), now, arms)
    }
}

/// Positioning times of all commands in a row at once; none where that is not possible, or takes longer than one by one.
#[inline(always)]
fn times_of_all<'a>(row: &mut Row, arms: &impl Arms, times: &'a mut Vec<[i32; LANES]>) -> Option<&'a [[i32; LANES]]> {
    let n = row.len();
    if n < WORTH_IT {
        row.forget_targets();
        return None;
    }
    row.find_targets(n);
    times_of(row, n, Margin::NONE, arms, times)
}

/// Index of the command with the least product of its time and of what is left of the age limit, of times and arrivals.
#[inline(always)]
fn least_time_aged(each: impl Iterator<Item = (i64, i64)>, age_ns: i64, now: i64) -> usize {
    let mut best = (i128::MAX, 0);
    for (i, (time, arrived)) in each.enumerate() {
        let score = i128::from(time) * i128::from(aged(age_ns, now - arrived));
        if score < best.0 {
            best = (score, i);
        }
    }
    best.1
}

/// What is left of the age limit.
pub fn aged(age_ns: i64, waited: i64) -> i64 {
    age_ns - waited.min(age_ns)
}

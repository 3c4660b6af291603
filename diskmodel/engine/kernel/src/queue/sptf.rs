//! Shortest positioning time first, plain and aged (rule Q6).

use super::{for_each_time, Arms, Deep, Order, Queue, Scheduler, Waiting};
use crate::faults::{planted, Fault};

/// The command that the head reaches soonest, rotation included.
#[derive(Clone, Debug)]
pub struct Sptf;

impl Scheduler for Sptf {
    const ORDER: Order = Order::Cylinder;
    const IS_POSITIONAL: bool = true;

    fn of(_queue: &Queue) -> Self {
        Sptf
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, _now: i64, arms: &impl Arms) -> usize {
        let mut best = (i64::MAX, 0);
        for_each_time(waiting, 0, arms, |i, _, time| {
            if time < best.0 {
                best = (time, i);
            }
        });
        best.1
    }

    fn take(&mut self, deep: &mut Deep, _head: i64, now: i64, arms: &impl Arms) -> Option<(u64, Waiting)> {
        deep.soonest(None, now, arms)
    }
}

/// The same, where waiting for `age_ns` is worth a whole access.
#[derive(Clone, Debug)]
pub struct SptfAged {
    age_ns: i64,
}

impl Scheduler for SptfAged {
    const ORDER: Order = Order::CylinderAndArrival;
    const IS_POSITIONAL: bool = true;

    fn of(queue: &Queue) -> Self {
        SptfAged { age_ns: queue.age_ns }
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, now: i64, arms: &impl Arms) -> usize {
        let mut best = (i128::MAX, 0);
        for_each_time(waiting, 0, arms, |i, w, time| {
            let score = i128::from(time) * i128::from(aged(self.age_ns, now - w.arrived));
            if score < best.0 {
                best = (score, i);
            }
        });
        best.1
    }

    fn take(&mut self, deep: &mut Deep, _head: i64, now: i64, arms: &impl Arms) -> Option<(u64, Waiting)> {
        deep.soonest(Some(self.age_ns), now, arms)
    }
}

/// What is left of the age limit.
pub fn aged(age_ns: i64, waited: i64) -> i64 {
    age_ns - waited.min(age_ns) + i64::from(planted(Fault::AgeLimit))
}

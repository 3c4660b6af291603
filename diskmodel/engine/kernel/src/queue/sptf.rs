//! Shortest positioning time first, plain and aged (rule Q6).

use crate::faults::{planted, Fault};

use super::Waiting;

pub fn soonest(waiting: &[Waiting], positioning_ns: impl Fn(&Waiting, i64) -> i64) -> usize {
    let mut best = (i64::MAX, 0);
    for (i, w) in waiting.iter().enumerate() {
        let time = positioning_ns(w, best.0);
        if time < best.0 {
            best = (time, i);
        }
    }
    best.1
}

pub fn soonest_aged(
    waiting: &[Waiting],
    age_ns: i64,
    now: i64,
    positioning_ns: impl Fn(&Waiting, i64) -> i64,
) -> usize {
    let mut best = (i128::MAX, 0);
    for (i, w) in waiting.iter().enumerate() {
        let left = age_ns - (now - w.arrived).min(age_ns) + i64::from(planted(Fault::AgeLimit));
        let score = if left == 0 { 0 } else { i128::from(positioning_ns(w, i64::MAX)) * i128::from(left) };
        if score < best.0 {
            best = (score, i);
        }
    }
    best.1
}

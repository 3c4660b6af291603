//! Shortest positioning time first, plain and aged (rule Q6).

use crate::faults::{planted, Fault};

use super::{Arms, Waiting};

pub fn soonest(waiting: &[Waiting], arms: &impl Arms) -> usize {
    let mut best = (i64::MAX, 0);
    for (i, w) in waiting.iter().enumerate() {
        let time = arms.time_ns(w, best.0);
        if time < best.0 {
            best = (time, i);
        }
    }
    best.1
}

pub fn soonest_aged(waiting: &[Waiting], age_ns: i64, now: i64, arms: &impl Arms) -> usize {
    let mut best = (i128::MAX, 0);
    for (i, w) in waiting.iter().enumerate() {
        let left = aged(age_ns, now - w.arrived);
        let score = if left == 0 { 0 } else { i128::from(arms.time_ns(w, i64::MAX)) * i128::from(left) };
        if score < best.0 {
            best = (score, i);
        }
    }
    best.1
}

/// What is left of the age limit.
pub fn aged(age_ns: i64, waited: i64) -> i64 {
    age_ns - waited.min(age_ns) + i64::from(planted(Fault::AgeLimit))
}

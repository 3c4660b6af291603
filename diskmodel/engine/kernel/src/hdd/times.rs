//! Positioning times of several waiting commands at once: the same as one by one, most of it without a branch in
//! registers that hold four of them.

use super::Model;
use crate::faults::{planted, Fault};
use crate::mechanics::{Arm, Spindle};
use crate::queue::{Times, Waiting, TOGETHER};

/// So many revolutions may a move take. They are taken off one by one, which takes less time than a division.
const MOST_TURNS: i64 = 8;
/// Longer moves and revolutions do not fit: the sum of both has 31 bits.
const TOO_LONG_NS: i64 = 1 << 29;

/// Positioning times of the first commands of `waiting` when the platter is at `angle` (rules Q6, Q12); none where they
/// have to be computed one by one.
#[inline(always)]
pub(super) fn times(
    model: &Model,
    spindle: &Spindle,
    waiting: &[Waiting],
    angle: i64,
    margin: i64,
    arm_of: impl Fn(&Waiting) -> Arm,
) -> Option<Times> {
    let moves = model.mechanics.plain_moves(TOO_LONG_NS)?;
    let n_turns = spindle.by_revolution.of(moves.longest_ns) + 2;
    if n_turns > MOST_TURNS || spindle.revolution >= TOO_LONG_NS {
        return None;
    }
    let (mut seeks, mut distances, mut others) = ([0; TOGETHER], [0; TOGETHER], [0; TOGETHER]);
    let (mut ops, mut ahead) = ([0; TOGETHER], [0; TOGETHER]);
    for (i, waiting) in waiting.iter().enumerate().take(TOGETHER) {
        let (arm, place) = (arm_of(waiting), &waiting.target.place);
        let distance = place.cylinder.abs_diff(arm.cylinder as u32);
        seeks[i] = moves.seek_ns(distance);
        distances[i] = distance;
        others[i] = u32::from(place.head) ^ arm.head as u32;
        ops[i] = u32::from(waiting.op);
        ahead[i] = waiting.target.angle as i32;
    }
    let (revolution, angle) = (spindle.revolution as i32, angle as i32);
    let mut times = [0; TOGETHER];
    for i in 0..TOGETHER {
        times[i] = moves.whole_ns(seeks[i], distances[i], others[i], ops[i]);
        ahead[i] -= angle + times[i];
    }
    for _ in 0..n_turns {
        for ahead in &mut ahead {
            *ahead += (*ahead >> 31) & revolution;
        }
    }
    let longest_wait_ns = spindle.longest_wait_ns() as i32;
    let margin = if planted(Fault::MissMargin) { margin / 2 } else { margin }.min(TOO_LONG_NS) as i32;
    for i in 0..TOGETHER {
        let wait = if ahead[i] > longest_wait_ns { 0 } else { ahead[i] };
        let is_missed = ((times[i] > 0) | planted(Fault::MarginAtRest)) & (wait < margin);
        times[i] += wait + (revolution & -i32::from(is_missed));
    }
    Some(times)
}

//! Positioning times of several waiting commands at once: the same as one by one, most of it without a branch in
//! registers that hold four of them.

use crate::faults::{planted, Fault};
use crate::mechanics::{Arm, Mechanics, Spindle};
use crate::queue::{Times, Waiting, TOGETHER};

/// So many revolutions may a move take. They are taken off one by one, which takes less time than a division.
const MOST_TURNS: i64 = 8;
/// Longer moves and revolutions do not fit: the sum of both has 31 bits.
const TOO_LONG_NS: i64 = 1 << 29;

/// Positioning times of the first commands of `waiting` when the platter is at `angle` (rules Q6, Q12); none where they
/// have to be computed one by one.
#[inline(always)]
pub(super) fn times(
    mechanics: &Mechanics,
    spindle: &Spindle,
    waiting: &[Waiting],
    angle: i64,
    margin: i64,
    arm_of: impl Fn(&Waiting) -> Arm,
) -> Option<Times> {
    let moves = mechanics.plain_moves(TOO_LONG_NS)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;
    use crate::mechanics::{SeekColumn, Target, ZoneColumns, Zones};

    fn mechanics(seek_ns: &[i64]) -> Mechanics {
        let zones = Zones::new(
            4,
            &ZoneColumns {
                first_lba: vec![0, 4 * 50 * 64, 4 * 100 * 56],
                first_cylinder: vec![0, 50],
                sectors_per_track: vec![64, 48],
                start_skew: vec![3, 0],
                track_skew: vec![5, 4],
                cylinder_skew: vec![9, 7],
                spare: vec![0, 0],
            },
        );
        let seeks = SeekColumn::from(seek_ns.to_vec()).0.unwrap_or_default();
        Mechanics::new(zones, seeks, 160_000, 500_000, false)
    }

    /// Of near and far seeks, rests on the track, all margins, and fewer commands than are computed at once.
    #[test]
    fn times_at_once_are_those_one_by_one() {
        let mut below = drawn_from(3);
        let mechanics = mechanics(
            &(0..100).map(|distance| i64::from(distance > 0) * 300_000 + distance * 90_000).collect::<Vec<_>>(),
        );
        for step in 0..5_000 {
            let spindle = Spindle::new([4_000_000, 8_333_333, 16_666_667][below(3) as usize], below(1_000_000));
            let n = 1 + below(TOGETHER as i64) as usize;
            let waiting: Vec<_> = (0..n)
                .map(|_| {
                    let (op, lba) = (below(2) as u8, below(4 * 100 * 56));
                    Waiting { op, lba, target: mechanics.target(lba, &spindle), ..Waiting::default() }
                })
                .collect();
            let Target { place, .. } = waiting[below(n as i64) as usize].target;
            let arm = Arm { cylinder: i64::from(place.cylinder), head: i64::from(place.head) };
            let (angle, margin) = (spindle.angle(below(1 << 30)), [0, 200_000, 1 << 40][step % 3]);
            let found = times(&mechanics, &spindle, &waiting, angle, margin, |_| arm);
            let expected = waiting.iter().map(|w| {
                let time = mechanics.plain_move_ns(arm, &w.target.place, w.op);
                let wait = spindle.wait_behind_ns(w.target.angle, angle, time);
                time + wait + if time > 0 && wait < margin { spindle.revolution } else { 0 }
            });
            let found = found.map(|times| times[..n].iter().map(|&time| i64::from(time)).collect::<Vec<_>>());
            assert_eq!(found, Some(expected.collect()));
        }
    }

    #[test]
    fn long_moves_and_revolutions_are_left_to_others() {
        let quick = [0, 300_000];
        let times_of = |seek_ns: &[i64], revolution| {
            let (mechanics, spindle) = (mechanics(seek_ns), Spindle::new(revolution, 0));
            times(&mechanics, &spindle, &[Waiting::default()], 0, 0, |_| Arm::default()).is_some()
        };
        assert!(times_of(&quick, 4_000_000));
        assert!(!times_of(&quick, TOO_LONG_NS));
        assert!(!times_of(&[0, TOO_LONG_NS], TOO_LONG_NS - 1));
        assert!(!times_of(&[0, 8 * 4_000_000], 4_000_000));
    }
}

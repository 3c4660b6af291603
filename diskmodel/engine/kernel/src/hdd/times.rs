//! Positioning times of several waiting commands at once: the same as one by one, most of it without a branch in
//! registers that hold four or eight of them.

use crate::machine::for_wide_registers;
use crate::mechanics::{Arm, Mechanics, Moves, Spindle, READ};
use crate::queue::{head_of, Margin, Targets, LANES};

/// So many revolutions may a move take. They are taken off one by one, which takes less time than a division.
const MOST_TURNS: i64 = 8;
/// Longer moves and revolutions do not fit: the sum of both has 31 bits.
const TOO_LONG_NS: i64 = 1 << 29;

/// A move of an arm and the latency behind it, in 31 bits.
#[derive(Clone, Copy)]
pub struct Motion<'a> {
    moves: Moves<'a>,
    cylinder: u32,
    head: u32,
    angle: i32,
    revolution: i32,
    n_turns: i64,
    longest_wait_ns: i32,
    margin: i32,
    move_256ths: i32,
}

/// Positioning times of commands when the platter is at `angle` (rules Q6, Q12), in `times`; false where they have to be
/// computed one by one.
#[inline(always)]
pub(super) fn times_at_once(
    mechanics: &Mechanics,
    spindle: &Spindle,
    (arm, angle): (Arm, i64),
    targets: &Targets,
    margin: Margin,
    times: &mut [[i32; LANES]],
) -> bool {
    let Some(moves) = mechanics.plain_moves(TOO_LONG_NS) else { return false };
    let n_turns = spindle.by_revolution.of(moves.longest_ns) + 2;
    if n_turns > MOST_TURNS || spindle.revolution >= TOO_LONG_NS {
        return false;
    }
    let motion = Motion {
        moves,
        cylinder: arm.cylinder as u32,
        head: head_of(arm.head as u32, READ),
        angle: angle as i32,
        revolution: spindle.revolution as i32,
        n_turns,
        longest_wait_ns: spindle.longest_wait_ns() as i32,
        margin: margin.ns.min(TOO_LONG_NS) as i32,
        move_256ths: margin.move_256ths as i32,
    };
    all_times(&motion, targets, times);
    true
}

impl Motion<'_> {
    /// Times of the first groups; without writes nothing is looked up of their seeks and settling.
    #[inline(always)]
    fn all<const WITH_WRITES: bool>(&self, targets: &Targets, times: &mut [[i32; LANES]]) {
        let places = targets.cylinders.iter().zip(&targets.heads).zip(&targets.angles);
        for (times, ((cylinders, heads), angles)) in times.iter_mut().zip(places) {
            self.times::<WITH_WRITES>(cylinders, heads, angles, times);
        }
    }

    #[inline(always)]
    fn times<const WITH_WRITES: bool>(
        &self,
        cylinders: &[u32; LANES],
        heads: &[u32; LANES],
        angles: &[i32; LANES],
        times: &mut [i32; LANES],
    ) {
        let distances = cylinders.map(|cylinder| cylinder.abs_diff(self.cylinder));
        let (seeks, mut ahead) = (self.moves.seeks_ns::<LANES, WITH_WRITES>(&distances, heads), [0; LANES]);
        for i in 0..LANES {
            let op = if WITH_WRITES { heads[i] & 1 } else { 0 };
            times[i] = self.moves.whole_ns(seeks[i], distances[i], (heads[i] ^ self.head) >> 1, op);
            ahead[i] = angles[i] - self.angle - times[i];
        }
        for _ in 0..self.n_turns {
            for ahead in &mut ahead {
                *ahead += (*ahead >> 31) & self.revolution;
            }
        }
        for i in 0..LANES {
            let wait = if ahead[i] > self.longest_wait_ns { 0 } else { ahead[i] };
            let margin = self.margin + (times[i] >> 8) * self.move_256ths;
            let is_missed = (times[i] > 0) & (wait < margin);
            times[i] += wait + (self.revolution & -i32::from(is_missed));
        }
    }
}

for_wide_registers! {
    /// Positioning times of the first groups of commands, as many as there are in `times`.
    pub fn all_times(motion: &Motion<'_>, targets: &Targets, times: &mut [[i32; LANES]]) {
        let heads = &targets.heads[..times.len()];
        if heads.as_flattened().iter().fold(0, |any, head| any | head) & 1 == 0 {
            motion.all::<false>(targets, times);
        } else {
            motion.all::<true>(targets, times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;
    use crate::mechanics::{SeekColumn, Target, ZoneColumns, Zones};
    use crate::queue::Waiting;

    fn mechanics(seek_ns: &[i64], more_of_writes: i64) -> Mechanics {
        let zones = Zones::new(
            4,
            &ZoneColumns {
                first_lba: vec![0, 4 * 50 * 64, 4 * 100 * 56],
                first_cylinder: vec![0, 50],
                sectors_per_track: vec![64, 48],
                start_skew: vec![3, 0],
                track_skew: vec![5, 4],
                cylinder_skew: vec![9, 7],
                spare_per_track: vec![0, 0],
                spare_per_cylinder: vec![0, 0],
            },
        );
        let of =
            |more: i64| SeekColumn::from(seek_ns.iter().map(|&ns| ns + more * ns.signum()).collect::<Vec<_>>()).take();
        let writes = (more_of_writes > 0).then(|| of(more_of_writes));
        let seeks = of(0).table(writes.as_ref());
        Mechanics::new(zones, seeks, 160_000, 500_000, false)
    }

    /// Of near and far seeks, rests on the track, all margins, and fewer commands than are computed at once.
    #[test]
    fn times_at_once_are_those_one_by_one() {
        let mut below = drawn_from(3);
        let seek_ns: Vec<_> = (0..100).map(|distance| i64::from(distance > 0) * 300_000 + distance * 90_000).collect();
        let drives = [0, 777_000].map(|more| mechanics(&seek_ns, more));
        for step in 0..5_000 {
            let mechanics = &drives[step % 2];
            let spindle = Spindle::new([4_000_000, 8_333_333, 16_666_667][below(3) as usize], below(1_000_000));
            let n = 1 + below(3 * LANES as i64) as usize;
            let waiting: Vec<_> = (0..n)
                .map(|_| {
                    let (op, lba) = (below(2) as u8, below(4 * 100 * 56));
                    Waiting { op, lba, target: mechanics.target(lba, &spindle), ..Waiting::default() }
                })
                .collect();
            let Target { place, .. } = waiting[below(n as i64) as usize].target;
            let arm = Arm { cylinder: i64::from(place.cylinder), head: i64::from(place.head) };
            let (ns, move_256ths) = ([0, 200_000, 1 << 40][step % 3], [0, 77, 256][step / 3 % 3]);
            let (angle, margin) = (spindle.angle(below(1 << 30)), Margin { ns, move_256ths });
            let mut targets = Targets::default();
            waiting.iter().for_each(|w| targets.push(w));
            let mut found = vec![[0; LANES]; n.div_ceil(LANES)];
            assert!(times_at_once(mechanics, &spindle, (arm, angle), &targets, margin, &mut found));
            let expected = waiting.iter().map(|w| {
                let time = mechanics.plain_move_ns(arm, &w.target.place, w.op);
                let wait = spindle.wait_behind_ns(w.target.angle, angle, time);
                time + wait + if time > 0 && wait < margin.behind(time) { spindle.revolution } else { 0 }
            });
            let found: Vec<_> = found.as_flattened()[..n].iter().copied().map(i64::from).collect();
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_moves_and_revolutions_are_left_to_others() {
        let quick = [0, 300_000];
        let times_of = |seek_ns: &[i64], revolution| {
            let (mechanics, spindle) = (mechanics(seek_ns, 0), Spindle::new(revolution, 0));
            times_at_once(&mechanics, &spindle, (Arm::default(), 0), &Targets::default(), Margin::NONE, &mut [])
        };
        assert!(times_of(&quick, 4_000_000));
        assert!(!times_of(&quick, TOO_LONG_NS));
        assert!(!times_of(&[0, TOO_LONG_NS], TOO_LONG_NS - 1));
        assert!(!times_of(&[0, 8 * 4_000_000], 4_000_000));
    }
}

//! When a shared wire is free: reservations with gaps between them (rule F3); see
//! `diskmodel/drive/flash/reservations.py`.

use crate::events::LAST_NS;
use crate::line::Line;

/// Reservations that are looked at first.
const N_LAST: usize = 8;

/// A channel or an interface: one transfer at a time, in the earliest gap that holds it.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    busy: Line<(i64, i64)>,
}

impl Wire {
    /// End of a transfer of `duration` ns that begins at `earliest` or later, and is now reserved.
    ///
    /// No later call asks for less than `floor`; what ended by then is forgotten.
    pub fn reserve(&mut self, earliest: i64, duration: i64, floor: i64) -> i64 {
        if duration == 0 {
            return earliest;
        }
        while self.busy.first().is_some_and(|&(_, end)| end <= floor) {
            self.busy.remove(0);
        }
        match self.busy.last_mut() {
            None => self.busy.push((earliest, earliest + duration)),
            Some(last) if last.1 < earliest => self.busy.push((earliest, earliest + duration)),
            Some(last) if last.1 == earliest => last.1 += duration,
            Some(_) => return self.fit(earliest, duration),
        }
        earliest + duration
    }

    /// The same where the transfer may have to go between others.
    fn fit(&mut self, earliest: i64, duration: i64) -> i64 {
        let busy = &mut self.busy;
        let mut start = earliest;
        let mut at = n_before(busy, earliest).saturating_sub(1);
        while let Some(&(begin, end)) = busy.get(at) {
            if begin >= start + duration {
                break;
            }
            start = start.max(end);
            at += 1;
        }
        if start >= LAST_NS {
            return start;
        }
        // adjacent intervals are kept as one interval, so that the list stays short
        let end = start + duration;
        let touches_next = busy.get(at).is_some_and(|next| next.0 == end);
        let touches_last = at > 0 && busy[at - 1].1 == start;
        match (touches_last, touches_next) {
            (true, true) => {
                busy[at - 1].1 = busy[at].1;
                busy.remove(at);
            }
            (true, false) => busy[at - 1].1 = end,
            (false, true) => busy[at].0 = start,
            (false, false) => busy.insert(at, (start, end)),
        }
        end
    }
}

/// How many of the reservations begin before a time.
#[inline(always)]
fn n_before(busy: &[(i64, i64)], time: i64) -> usize {
    // most often it is among the last ones, and to count them needs no branch that depends on where
    let last = busy.len().saturating_sub(N_LAST);
    if last > 0 && busy[last].0 >= time {
        return busy[..last].partition_point(|&(begin, _)| begin < time);
    }
    last + busy[last..].iter().filter(|&&(begin, _)| begin < time).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_takes_the_first_gap_that_holds_it() {
        let mut wire = Wire::default();
        assert_eq!(wire.reserve(0, 10, 0), 10);
        assert_eq!(wire.reserve(20, 10, 0), 30);
        assert_eq!(wire.reserve(5, 11, 0), 41);
        assert_eq!(wire.reserve(5, 10, 0), 20);
        assert_eq!(*wire.busy, [(0, 41)]);
        assert_eq!(wire.reserve(0, 0, 0), 0);
        assert_eq!(wire.reserve(50, 5, 41), 55);
        assert_eq!(*wire.busy, [(50, 55)]);
    }
}

//! Commands in order of arrival, as a scheduler looks at them.

use super::targets::Targets;
use super::Waiting;
use crate::line::Line;

/// A row of commands, and what their positioning times depend on: of as many of the first ones as it was asked for.
#[derive(Debug, Default)]
pub struct Row {
    held: Line<Waiting>,
    targets: Targets,
}

impl Row {
    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        self.held.push(waiting);
    }

    #[inline]
    pub fn remove(&mut self, at: usize) -> Waiting {
        self.targets.remove(at);
        self.held.remove(at)
    }

    pub fn clear(&mut self) {
        self.held.clear();
        self.targets.clear();
    }

    /// Lets `change` change a command.
    pub fn change(&mut self, at: usize, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.held[at]);
        self.targets.change(at, &self.held[at]);
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    #[inline(always)]
    pub fn commands(&self) -> &[Waiting] {
        &self.held
    }

    /// What positioning times of the commands depend on for which it was last asked for.
    #[inline(always)]
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Finds out what positioning times of the first `n` commands depend on.
    #[inline(always)]
    pub fn find_targets(&mut self, n: usize) {
        for waiting in self.held.get(self.targets.len()..n).unwrap_or_default() {
            self.targets.push(waiting);
        }
    }

    /// Takes copies of the commands of two rows, one behind the other, instead of its own.
    pub fn take_both(&mut self, rows: [&mut Row; 2]) {
        self.clear();
        rows.into_iter().for_each(|row| self.held.extend(&row.held));
    }

    /// Whether the commands with targets have waited for times of so many bits.
    #[inline(always)]
    pub fn has_short_waits(&mut self, now: i64, short: u64) -> bool {
        self.targets.has_short_waits(&self.held, now, short)
    }

    /// Keeps no targets up to date: the next choices need none.
    #[inline(always)]
    pub fn forget_targets(&mut self) {
        self.targets.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    /// Targets are those of the first commands, however these come, change and leave between choices.
    #[test]
    fn aims_follow_the_commands() {
        let mut below = drawn_from(7);
        let mut row = Row::default();
        for step in 0..50_000_u32 {
            match below(16) {
                0..=7 => {
                    let mut waiting = Waiting { op: below(2) as u8, arrived: i64::from(step), ..Waiting::default() };
                    waiting.target.place.cylinder = step;
                    waiting.target.place.head = below(9) as u16;
                    waiting.target.angle = below(1 << 20);
                    row.push(waiting);
                }
                8..=13 if !row.is_empty() => _ = row.remove(below(row.len() as i64) as usize),
                14 if !row.is_empty() => {
                    row.change(below(row.len() as i64) as usize, |w| w.target.place.cylinder = step)
                }
                15 if step % 64 == 0 => row.forget_targets(),
                _ => {}
            }
            if row.len() > 90 {
                row.clear();
            }
            let n = below(row.len() as i64 + 1) as usize;
            let mut expected = Targets::default();
            row.commands()[..n].iter().for_each(|waiting| expected.push(waiting));
            row.find_targets(n);
            let targets = row.targets();
            assert_eq!(targets.cylinders.as_flattened()[..n], expected.cylinders.as_flattened()[..n]);
            assert_eq!(targets.heads.as_flattened()[..n], expected.heads.as_flattened()[..n]);
            assert_eq!(targets.angles.as_flattened()[..n], expected.angles.as_flattened()[..n]);
            assert_eq!(targets.arrived.as_flattened()[..n], expected.arrived.as_flattened()[..n]);
            let oldest = row.commands()[..row.targets().len()].iter().map(|waiting| waiting.arrived).min();
            if let Some(oldest) = oldest {
                let (wait, longest) = (i64::from(step) - oldest, below(200));
                assert_eq!(row.has_short_waits(i64::from(step), longest as u64), wait <= longest);
            }
        }
    }
}

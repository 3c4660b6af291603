//! What positioning times of commands in a row depend on: parts of the same kind side by side, eight to a group.

use super::Waiting;
use crate::mechanics::WRITE;

/// Numbers that are computed with at once.
pub const LANES: usize = 8;

/// Numbers of commands in a row, in groups; what is behind the last command counts nothing.
type Groups<T> = Vec<[T; LANES]>;

/// What the positioning times of the first commands in a row depend on. Angles of more than 31 bits are cut: then times are
/// computed one by one from the commands themselves.
#[derive(Clone, Debug)]
pub struct Targets {
    n: usize,
    pub cylinders: Groups<u32>,
    /// Twice the head, and one more for a write.
    pub heads: Groups<u32>,
    pub angles: Groups<i32>,
    /// Lower halves of when they came.
    pub arrived: Groups<u32>,
    /// None of them came before.
    oldest: i64,
}

/// A head as `Targets` have it.
pub fn head_of(head: u32, op: u8) -> u32 {
    head << 1 | u32::from(op == WRITE)
}

impl Default for Targets {
    fn default() -> Self {
        let (cylinders, heads, angles, arrived) = Default::default();
        Targets { n: 0, cylinders, heads, angles, arrived, oldest: i64::MAX }
    }
}

impl Targets {
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.n
    }

    #[inline]
    pub fn push(&mut self, waiting: &Waiting) {
        if self.n + LANES >= self.cylinders.len() * LANES {
            self.make_room();
        }
        self.n += 1;
        self.set(self.n - 1, waiting);
    }

    /// Room for the next command, and for a group behind it.
    #[cold]
    fn make_room(&mut self) {
        let n = 2 * self.cylinders.len() + 2;
        self.cylinders.resize(n, [0; LANES]);
        self.heads.resize(n, [0; LANES]);
        self.angles.resize(n, [0; LANES]);
        self.arrived.resize(n, [0; LANES]);
    }

    /// A command that it has was changed.
    pub fn change(&mut self, at: usize, waiting: &Waiting) {
        if at < self.n {
            self.set(at, waiting);
        }
    }

    #[inline]
    fn set(&mut self, at: usize, waiting: &Waiting) {
        let place = &waiting.target.place;
        let (group, lane) = (at / LANES, at % LANES);
        self.cylinders[group][lane] = place.cylinder;
        self.heads[group][lane] = head_of(u32::from(place.head), waiting.op);
        self.angles[group][lane] = waiting.target.angle as i32;
        self.arrived[group][lane] = waiting.arrived as u32;
        self.oldest = self.oldest.min(waiting.arrived);
    }

    /// A command leaves the row.
    #[inline]
    pub fn remove(&mut self, at: usize) {
        if at >= self.n {
            return;
        }
        move_up(&mut self.cylinders, at, self.n);
        move_up(&mut self.heads, at, self.n);
        move_up(&mut self.angles, at, self.n);
        move_up(&mut self.arrived, at, self.n);
        self.n -= 1;
    }

    pub fn clear(&mut self) {
        self.n = 0;
        self.oldest = i64::MAX;
    }

    /// Whether no command, of those that this has of a row, has waited for a time that has other bits than `short`.
    #[inline(always)]
    pub fn has_short_waits(&mut self, commands: &[Waiting], now: i64, short: u64) -> bool {
        let is_short = |oldest: i64| (now - oldest) as u64 <= short;
        if !is_short(self.oldest) {
            self.oldest = commands[..self.n].iter().map(|waiting| waiting.arrived).min().unwrap_or(i64::MAX);
        }
        is_short(self.oldest)
    }
}

/// Moves numbers behind the one at `at` one place up, a group at once.
#[inline(always)]
fn move_up<T: Copy>(groups: &mut Groups<T>, at: usize, n: usize) {
    let numbers = &mut groups.as_flattened_mut()[at..n + LANES];
    let mut first = 0;
    while let Some(behind) = numbers[first..].get(1..=LANES) {
        let behind: [T; LANES] = std::array::from_fn(|lane| behind[lane]);
        numbers[first..first + LANES].copy_from_slice(&behind);
        first += LANES;
    }
}

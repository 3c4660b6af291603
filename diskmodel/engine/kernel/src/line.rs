//! Values in a row, side by side in memory.

use std::ops::{Deref, DerefMut};

/// A row whose first value leaves in constant time; elsewhere values come and leave by moving the shorter side of it.
#[derive(Clone, Debug)]
pub struct Line<T> {
    held: Vec<T>,
    /// What lies before has left.
    first: usize,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line { held: Vec::new(), first: 0 }
    }
}

impl<T: Copy> Line<T> {
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.held.len() == self.held.capacity() {
            self.make_room();
        }
        self.held.push(value);
    }

    /// Takes copies of the values of another row, behind its own.
    pub fn extend(&mut self, others: &[T]) {
        self.held.extend_from_slice(others);
    }

    /// Puts a value before the one that is at `at` now.
    pub fn insert(&mut self, at: usize, value: T) {
        if 2 * at < self.len() && self.first > 0 {
            self.held.copy_within(self.first..self.first + at, self.first - 1);
            self.first -= 1;
            self.held[self.first + at] = value;
            return;
        }
        if self.held.len() == self.held.capacity() {
            self.make_room();
        }
        self.held.insert(self.first + at, value);
    }

    /// Moves the row to where values have left, if those are many.
    #[cold]
    fn make_room(&mut self) {
        if 2 * self.first > self.held.len() {
            self.held.drain(..self.first);
            self.first = 0;
        }
    }

    /// Takes out a value that is there.
    #[inline]
    pub fn remove(&mut self, at: usize) -> T {
        let (place, behind) = (self.first + at, self.len() - 1 - at);
        let value = self.held[place];
        if at == 0 {
            self.first += 1;
        } else if at < behind {
            self.held.copy_within(self.first..place, self.first + 1);
            self.first += 1;
        } else {
            self.held.copy_within(place + 1.., place);
            self.held.truncate(place + behind);
        }
        if self.first == self.held.len() {
            self.clear();
        }
        value
    }

    pub fn clear(&mut self) {
        self.held.clear();
        self.first = 0;
    }
}

impl<T> Deref for Line<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.held[self.first..]
    }
}

impl<T> DerefMut for Line<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.held[self.first..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    #[test]
    fn values_come_and_leave_anywhere_and_the_others_stay_in_order() {
        let mut below = drawn_from(1);
        let (mut line, mut expected) = (Line::default(), Vec::new());
        for step in 0..100_000 {
            // waves of up to some hundred values
            if expected.is_empty() || below(100) < if step % 2_000 < 1_000 { 40 } else { 26 } {
                let at = [0, expected.len() as i64, below(expected.len() as i64 + 1)][below(3) as usize] as usize;
                line.insert(at, step);
                expected.insert(at, step);
                line.push(-step);
                expected.push(-step);
            } else {
                let last = expected.len() as i64 - 1;
                let at = [0, last, below(last + 1)][below(3) as usize] as usize;
                assert_eq!(line.remove(at), expected.remove(at));
            }
            assert_eq!(&*line, expected);
        }
        // what has left makes room for what comes
        assert!(line.held.capacity() < 2_000);
    }
}

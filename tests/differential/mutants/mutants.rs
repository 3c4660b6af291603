//! Which mutant is switched on: only in the copy of the kernel that the tests compile.

use std::sync::atomic::{AtomicUsize, Ordering};

const NONE: usize = usize::MAX;
static PLANTED: AtomicUsize = AtomicUsize::new(NONE);

/// Whether the mutant of that number is switched on.
pub fn planted(number: usize) -> bool {
    PLANTED.load(Ordering::Relaxed) == number
}

/// Switches on the mutant of a number and all others off; without a number, all of them.
pub fn plant(number: Option<usize>) {
    PLANTED.store(number.unwrap_or(NONE), Ordering::Relaxed);
}

//! Time of the model against time of the machine, and waiting that ends when it should.

use std::os::fd::RawFd;

/// The end of a wait is spent looking at the clock: at least this, and never more than that.
const MIN_SPIN_NS: i64 = 60_000;
const MAX_SPIN_NS: i64 = 400_000;
/// How fast it follows the machine, and of how many wakings one may come later than it allows.
const SPIN_STEP_NS: i64 = 50_000;
const WAKINGS: i64 = 50;

pub fn monotonic_ns() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// Model time that runs with the machine's, `scale` times as slowly.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: i64,
    scale: f64,
}

impl Clock {
    pub fn new(scale: f64) -> Self {
        Clock { origin_ns: monotonic_ns(), scale }
    }

    /// Model time at a time of the machine.
    pub fn model_ns(&self, real_ns: i64) -> i64 {
        let passed = real_ns - self.origin_ns;
        if self.scale == 1.0 {
            passed
        } else {
            (passed as f64 / self.scale) as i64
        }
    }

    /// Time of the machine at a model time.
    pub fn real_ns(&self, model_ns: i64) -> i64 {
        if self.scale == 1.0 {
            self.origin_ns + model_ns
        } else {
            self.origin_ns + (model_ns as f64 * self.scale) as i64
        }
    }
}

/// Waits, and learns how late a sleeping thread wakes: tens of microseconds, on a virtual machine hundreds.
#[derive(Debug)]
pub struct Waiter {
    spin_ns: i64,
}

impl Waiter {
    pub fn new() -> Self {
        Waiter { spin_ns: MIN_SPIN_NS }
    }

    /// Sleeps until a descriptor has something to read, or until shortly before `deadline_ns`; returns whether time is
    /// near: then the caller goes on looking at the clock.
    pub fn wait(&mut self, fds: [RawFd; 2], deadline_ns: Option<i64>) -> bool {
        let mut timeout = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let mut timeout_ptr = std::ptr::null();
        let wake_ns = deadline_ns.map(|deadline| deadline - self.spin_ns);
        if let Some(wake_ns) = wake_ns {
            let left = wake_ns - monotonic_ns();
            if left <= 0 {
                return true;
            }
            timeout.tv_sec = left / 1_000_000_000;
            timeout.tv_nsec = left % 1_000_000_000;
            timeout_ptr = &raw const timeout;
        }
        let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: both pointers are valid for the call; a null time-out means none.
        let n_ready = unsafe { libc::ppoll(polled.as_mut_ptr(), 2, timeout_ptr, std::ptr::null()) };
        if let (0, Some(wake_ns)) = (n_ready, wake_ns) {
            self.woke_late(monotonic_ns() - wake_ns);
        }
        false
    }

    /// Moves to where one waking of `WAKINGS` comes later (Robbins and Monro, 1951).
    fn woke_late(&mut self, late_ns: i64) {
        let step = if late_ns > self.spin_ns { SPIN_STEP_NS } else { -SPIN_STEP_NS / WAKINGS };
        self.spin_ns = (self.spin_ns + step).clamp(MIN_SPIN_NS, MAX_SPIN_NS);
    }
}

pub fn is_readable(fd: RawFd) -> bool {
    let mut polled = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd, no waiting.
    unsafe { libc::poll(&mut polled, 1, 0) > 0 }
}

/// Wakes at the asked nanosecond instead of up to 50 µs later.
pub fn sharpen_timers() {
    // SAFETY: changes one number of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waiter_learns_how_late_it_wakes() {
        let mut waiter = Waiter::new();
        let mut late = lateness();
        let mut missed = 0;
        for turn in 0..20_000 {
            let late_ns = late();
            missed += i32::from(turn >= 10_000 && late_ns > waiter.spin_ns);
            waiter.woke_late(late_ns);
        }
        assert!((100..350).contains(&missed), "{missed} of 10,000");
        for _ in 0..20_000 {
            waiter.woke_late(1_000);
        }
        assert_eq!(waiter.spin_ns, MIN_SPIN_NS);
    }

    /// Lateness between 0 and 200 µs, evenly.
    fn lateness() -> impl FnMut() -> i64 {
        let mut state = 7u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 200_000) as i64
        }
    }

    #[test]
    fn scaled_time_goes_there_and_back() {
        for scale in [1.0, 0.1, 25.0] {
            let clock = Clock::new(scale);
            let real = clock.real_ns(5_000_000_000);
            assert!((clock.model_ns(real) - 5_000_000_000).abs() <= 10, "{scale}");
            assert!(((real - clock.real_ns(0)) as f64 / 5e9 - scale).abs() < 1e-6);
        }
    }
}

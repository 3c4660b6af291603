//! Time of the model against time of the machine, and waiting that ends when it should.

use std::os::fd::RawFd;

/// A sleeping thread wakes late by tens of microseconds: the end of a wait is spent looking at the clock.
const SPIN_NS: i64 = 60_000;

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

/// Sleeps until a descriptor has something to read, or until shortly before `deadline_ns`; returns whether time is
/// near: then the caller goes on looking at the clock.
pub fn wait(fds: [RawFd; 2], deadline_ns: Option<i64>) -> bool {
    let mut timeout = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let mut timeout_ptr = std::ptr::null();
    if let Some(deadline) = deadline_ns {
        let left = deadline - monotonic_ns() - SPIN_NS;
        if left <= 0 {
            return true;
        }
        timeout.tv_sec = left / 1_000_000_000;
        timeout.tv_nsec = left % 1_000_000_000;
        timeout_ptr = &raw const timeout;
    }
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: both pointers are valid for the call; a null time-out means none.
    unsafe { libc::ppoll(polled.as_mut_ptr(), 2, timeout_ptr, std::ptr::null()) };
    false
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
    fn scaled_time_goes_there_and_back() {
        for scale in [1.0, 0.1, 25.0] {
            let clock = Clock::new(scale);
            let real = clock.real_ns(5_000_000_000);
            assert!((clock.model_ns(real) - 5_000_000_000).abs() <= 10, "{scale}");
            assert!(((real - clock.real_ns(0)) as f64 / 5e9 - scale).abs() < 1e-6);
        }
    }
}

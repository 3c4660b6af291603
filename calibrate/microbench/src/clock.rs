//! Nanosecond clocks, and what reading them costs.

use std::time::Duration;

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; these clock ids exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CLOCK_MONOTONIC in nanoseconds.
#[inline]
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME minus CLOCK_MONOTONIC: moves when somebody steps the wall clock.
pub fn wall_offset_ns() -> i64 {
    let before = now_ns();
    let wall = read(libc::CLOCK_REALTIME);
    let after = now_ns();
    wall as i64 - (before + (after - before) / 2) as i64
}

pub fn wall_seconds() -> u64 {
    read(libc::CLOCK_REALTIME) / 1_000_000_000
}

/// Waits until the monotonic clock shows `deadline_ns`: sleeps through most of it, spins the rest.
pub fn wait_until(deadline_ns: u64) {
    const SPIN_NS: u64 = 80_000;
    loop {
        let now = now_ns();
        if now >= deadline_ns {
            return;
        }
        if deadline_ns - now > SPIN_NS {
            std::thread::sleep(Duration::from_nanos(deadline_ns - now - SPIN_NS));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// User and system CPU time of this process so far, in nanoseconds.
pub fn cpu_ns() -> (u64, u64) {
    // SAFETY: getrusage fills the zeroed struct that it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1_000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

/// Time that this thread has waited for a processor so far, in nanoseconds; None where the kernel does not count it.
pub fn waited_for_processor_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Median cost of one clock reading, in nanoseconds (over 1000 batches of 16).
pub fn overhead_ns() -> f64 {
    let mut costs: Vec<u64> = (0..1000)
        .map(|_| {
            let start = now_ns();
            for _ in 0..15 {
                std::hint::black_box(now_ns());
            }
            now_ns() - start
        })
        .collect();
    costs.sort_unstable();
    costs[costs.len() / 2] as f64 / 16.0
}

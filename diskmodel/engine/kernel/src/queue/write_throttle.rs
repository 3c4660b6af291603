//! Linux's write-back throttling above one disk (rule Q10); see `diskmodel/queue/write_throttle.py`.

use crate::mechanics::READ;

const WINDOW_NS: i64 = 100_000_000;
const TARGET_NS: i64 = 75_000_000;
const DEFAULT_DEPTH: i64 = 16;
const MIN_WRITES: u32 = 3;
const IDLE_WINDOWS: u32 = 5;

/// Writes that one disk may be given.
#[derive(Clone, Debug)]
pub struct WriteThrottle {
    /// Requests that the disk's block queue holds.
    most: i64,
    /// The disk has a cache that holds writes: those that wait are woken only when none is in flight.
    has_cache: bool,
    step: i32,
    pub limit: i64,
    n_writes: i64,
    n_idle_windows: u32,
    pub is_open: bool,
    is_highest: bool,
    /// The read that is watched while it is out: its number, when the disk was given it.
    watched: Option<(u64, i64)>,
    window_ns: i64,
    fastest_read: Option<i64>,
    n_writes_done: u32,
}

impl WriteThrottle {
    pub fn new(most: i64, has_cache: bool) -> Self {
        let mut throttle = WriteThrottle {
            most,
            has_cache,
            step: 0,
            limit: 0,
            n_writes: 0,
            n_idle_windows: 0,
            is_open: false,
            is_highest: false,
            watched: None,
            window_ns: WINDOW_NS,
            fastest_read: None,
            n_writes_done: 0,
        };
        throttle.scale(0);
        throttle
    }

    fn scale(&mut self, step: i32) {
        self.step = step;
        self.n_idle_windows = 0;
        self.is_highest = false;
        let depth = DEFAULT_DEPTH.min(self.most);
        self.limit = if step > 0 {
            1 + ((depth - 1) >> step.min(31))
        } else if step < 0 {
            let highest = 3 * self.most / 4;
            // beyond 2^40 the limit is at its highest anyway
            let depth = 1 + ((depth - 1) << step.unsigned_abs().min(40));
            self.is_highest = depth > highest;
            depth.min(highest)
        } else {
            depth
        };
    }

    /// Begins a window; returns its length.
    pub fn open_window(&mut self) -> i64 {
        self.window_ns = if self.step <= 0 {
            WINDOW_NS
        } else {
            let step = i64::from(self.step) + 1;
            16 * WINDOW_NS / ((step << 8) as f64).sqrt() as i64
        };
        self.is_open = true;
        self.fastest_read = None;
        self.n_writes_done = 0;
        self.window_ns
    }

    /// Judges the window that ends now and scales the limit; whether another one follows.
    pub fn close_window(&mut self, now: i64) -> bool {
        self.is_open = false;
        if self.is_too_slow(now) {
            if self.limit > 1 {
                self.scale(if self.step < 0 { 0 } else { self.step + 1 });
            }
        } else if self.n_writes_done > 0 || self.n_writes > 0 {
            if !self.is_highest {
                self.scale(self.step - 1);
            }
        } else {
            self.n_idle_windows += 1;
            if self.n_idle_windows >= IDLE_WINDOWS && self.step != 0 {
                self.scale(self.step - self.step.signum());
            }
        }
        self.step != 0 || self.n_writes > 0
    }

    fn is_too_slow(&self, now: i64) -> bool {
        let waited = self.watched.map_or(0, |(_, since)| now - since);
        if waited > self.window_ns || (waited > TARGET_NS && self.fastest_read.is_none()) {
            return true;
        }
        self.n_writes_done >= MIN_WRITES && self.fastest_read.is_some_and(|fastest| fastest > TARGET_NS)
    }

    /// A command is given to the disk: a write takes a place, a read may be the one that is watched.
    pub fn issued(&mut self, seq: u64, op: u8, now: i64) {
        if op != READ {
            self.n_writes += 1;
        } else if self.watched.is_none() {
            self.watched = Some((seq, now));
        }
    }

    /// A write has completed that took no place: a window counts it all the same.
    pub fn exempt_completed(&mut self) {
        self.n_writes_done += u32::from(self.is_open);
    }

    /// A command has completed; whether the writes that wait are woken.
    pub fn completed(&mut self, seq: u64, op: u8, response: i64) -> bool {
        if op == READ {
            if self.watched.is_some_and(|(watched, _)| watched == seq) {
                self.watched = None;
            }
            if self.is_open && self.fastest_read.is_none_or(|fastest| response < fastest) {
                self.fastest_read = Some(response);
            }
            return false;
        }
        self.exempt_completed();
        self.left()
    }

    /// Whether there is a place.
    pub fn has_place(&self) -> bool {
        self.n_writes < self.limit
    }

    /// A place is taken.
    pub fn take(&mut self) {
        self.n_writes += 1;
    }

    /// A place becomes free; whether those that wait are woken. A flush leaves one, and is no write that is timed.
    pub fn left(&mut self) -> bool {
        self.n_writes -= 1;
        if self.n_writes == 0 {
            return true;
        }
        if self.has_cache {
            return false;
        }
        let (low, gap) =
            if self.limit <= 2 { (self.limit, 0) } else { ((self.limit + 1) / 2, (self.limit + 3) / 4 / 2) };
        self.n_writes < low && low - self.n_writes >= gap
    }
}

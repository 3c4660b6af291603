//! Ranges being fetched into the host's memory, and the reads that wait for it (rule H2). Ranges are ordered by place, so
//! that overlaps are found at once; each knows which reads wait for it, so that its arrival concerns no others.

use std::collections::BTreeMap;

use crate::command::Slots;

/// Ranges [first, end) being fetched; a range that was fetched twice comes twice.
pub struct Fetching {
    ranges: BTreeMap<(i64, i64), Fetched>,
    longest: i64,
    waiting: Slots<Waiting>,
    spare: Vec<Vec<Waiter>>,
}

#[derive(Default)]
struct Fetched {
    times: u32,
    waiters: Vec<Waiter>,
}

/// A read that waits for a range to come so many times more.
struct Waiter {
    waiting: u32,
    times: u32,
}

/// A read of the host that has waited since some time for so many comings.
#[derive(Default)]
struct Waiting {
    host: u32,
    since: i64,
    left: u64,
}

impl Fetching {
    /// Nothing yet, of ranges at most `longest` sectors long.
    pub fn new(longest: i64) -> Self {
        Fetching { ranges: BTreeMap::new(), longest, waiting: Slots::default(), spare: Vec::new() }
    }

    pub fn add(&mut self, first: i64, end: i64) {
        debug_assert!(end - first <= self.longest);
        let spare = &mut self.spare;
        let fetched = self
            .ranges
            .entry((first, end))
            .or_insert_with(|| Fetched { times: 0, waiters: spare.pop().unwrap_or_default() });
        fetched.times += 1;
    }

    /// Whether a sector is being fetched.
    pub fn has(&self, sector: i64) -> bool {
        let from = (sector - self.longest, i64::MIN);
        self.ranges.range(from..=(sector, i64::MAX)).any(|(&(_, end), _)| sector < end)
    }

    /// Lets a read of [first, end) wait for all of it that is being fetched; false when nothing is.
    pub fn wait(&mut self, host: u32, since: i64, first: i64, end: i64) -> bool {
        let at = self.waiting.put(Waiting { host, since, left: 0 });
        let from = (first - self.longest, i64::MIN);
        let mut left = 0;
        for (_, fetched) in self.ranges.range_mut(from..(end, i64::MIN)).filter(|((_, last), _)| first < *last) {
            fetched.waiters.push(Waiter { waiting: at, times: fetched.times });
            left += u64::from(fetched.times);
        }
        self.waiting[at].left = left;
        if left == 0 {
            self.waiting.release(at);
        }
        left > 0
    }

    /// Removes a range that has come; calls `done` with the reads that waited for nothing else and the time since when,
    /// in the order in which they began to wait.
    pub fn came(&mut self, first: i64, end: i64, mut done: impl FnMut(u32, i64)) {
        let Some(fetched) = self.ranges.get_mut(&(first, end)) else { return };
        fetched.times -= 1;
        let waiting = &mut self.waiting;
        fetched.waiters.retain_mut(|waiter| {
            let read = &mut waiting[waiter.waiting];
            read.left -= 1;
            waiter.times -= 1;
            if read.left == 0 {
                done(read.host, read.since);
                waiting.release(waiter.waiting);
            }
            waiter.times > 0
        });
        if fetched.times == 0 {
            if let Some(gone) = self.ranges.remove(&(first, end)) {
                self.spare.push(gone.waiters);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    type Ranges = Vec<(i64, i64)>;

    /// The same, by looking at everything.
    #[derive(Default)]
    struct Plain {
        ranges: Ranges,
        waiting: Vec<(u32, i64, Ranges)>,
    }

    impl Plain {
        fn wait(&mut self, host: u32, since: i64, first: i64, end: i64) -> bool {
            let ranges: Ranges = self.ranges.iter().copied().filter(|r| r.0 < end && first < r.1).collect();
            let is_any = !ranges.is_empty();
            if is_any {
                self.waiting.push((host, since, ranges));
            }
            is_any
        }

        fn came(&mut self, range: (i64, i64)) -> Vec<(u32, i64)> {
            if let Some(at) = self.ranges.iter().position(|&r| r == range) {
                self.ranges.remove(at);
            }
            for (_, _, ranges) in &mut self.waiting {
                if let Some(at) = ranges.iter().position(|&r| r == range) {
                    ranges.remove(at);
                }
            }
            let done = self.waiting.iter().filter(|w| w.2.is_empty()).map(|w| (w.0, w.1)).collect();
            self.waiting.retain(|w| !w.2.is_empty());
            done
        }
    }

    #[test]
    fn waits_as_by_looking_at_everything() {
        let mut below = drawn_from(7);
        let (mut fetching, mut plain) = (Fetching::new(8), Plain::default());
        for step in 0..20_000 {
            let (first, n) = (below(60), 1 + below(8));
            match below(5) {
                0 | 1 if plain.ranges.len() < 30 => {
                    fetching.add(first, first + n);
                    plain.ranges.push((first, first + n));
                }
                2 => {
                    let (host, end) = (step as u32, first + 3 * n);
                    assert_eq!(fetching.wait(host, step, first, end), plain.wait(host, step, first, end));
                }
                _ if !plain.ranges.is_empty() => {
                    let range = plain.ranges[below(plain.ranges.len() as i64) as usize];
                    let mut done = Vec::new();
                    fetching.came(range.0, range.1, |host, since| done.push((host, since)));
                    assert_eq!(done, plain.came(range));
                }
                _ => {}
            }
            assert_eq!(fetching.has(first), plain.ranges.iter().any(|r| r.0 <= first && first < r.1));
        }
        assert!(fetching.waiting.len() < 1000);
    }
}

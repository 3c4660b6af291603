//! When dirty pages go to the array, and in which order (rules P4, P5): pure decisions; see
//! `diskmodel/engine/reference/flusher.py`.

use super::pages::{Pages, Run, Snapshot};
use crate::faults::{planted, Fault};

/// Pages that were to be written when it began, taken in order of place, from `border` on and round.
#[derive(Default)]
struct Batch {
    pages: Snapshot,
    n_left: usize,
    border: i64,
    at: i64,
    is_round: bool,
    is_background: bool,
}

/// The thread that writes dirty pages back, batch by batch.
pub struct Flusher {
    expire: i64,
    interval: i64,
    depth: usize,
    /// Most pages of a request.
    longest: i64,
    batch: Batch,
    /// Where the last request ended.
    position: i64,
    outstanding: usize,
    is_waking: bool,
}

impl Flusher {
    pub fn new(expire: i64, interval: i64, depth: usize, longest: i64) -> Self {
        Flusher {
            expire: expire + if planted(Fault::PageExpiry) { interval } else { 0 },
            interval,
            depth: depth + usize::from(planted(Fault::WritebackDepth)),
            longest: longest + i64::from(planted(Fault::WritebackLength)),
            batch: Batch::default(),
            position: 0,
            outstanding: 0,
            is_waking: false,
        }
    }

    /// Pages became dirty, or have been written, or a writer waits: a batch of all pages where it is time (rule P5).
    pub fn look(&mut self, pages: &Pages, has_blocked: bool) {
        if self.batch.n_left == 0 && is_pressing(pages, has_blocked) {
            self.begin(pages.all_waiting(), true);
        }
    }

    /// It is the time of a wake-up: a batch of the pages that are old enough (rule P5).
    pub fn woken(&mut self, pages: &Pages, now: i64) {
        self.is_waking = false;
        if self.batch.n_left == 0 {
            self.begin(pages.waiting_since(now - self.expire), false);
        }
    }

    fn begin(&mut self, (pages, n_left): (Snapshot, usize), is_background: bool) {
        let border = if planted(Fault::WritebackSweep) { 0 } else { self.position };
        self.batch = Batch { pages, n_left, border, at: border, is_round: false, is_background };
    }

    /// The next request, which is now in flight; none when there is nothing to do or enough is in flight.
    pub fn next(&mut self, pages: &mut Pages, has_blocked: bool) -> Option<Run> {
        let batch = &mut self.batch;
        if batch.n_left == 0 || self.outstanding >= self.depth {
            return None;
        }
        if batch.is_background && !is_pressing(pages, has_blocked) && !planted(Fault::BatchDropped) {
            batch.n_left = 0;
            return None;
        }
        let upwards = if batch.is_round { batch.at..batch.border } else { batch.at..i64::MAX };
        let run = pages.next_run(&batch.pages, upwards, self.longest).or_else(|| {
            batch.is_round = true;
            pages.next_run(&batch.pages, 0..batch.border, self.longest)
        })?;
        batch.n_left = batch.n_left.saturating_sub((run.end - run.first) as usize);
        batch.at = run.end;
        self.position = run.end;
        self.outstanding += 1;
        pages.start(run.first..run.end);
        Some(run)
    }

    /// A request has been written.
    pub fn written(&mut self) {
        self.outstanding -= 1;
    }

    /// Pages may be dirty when the run begins: whether to wake up at once (rule Z6).
    pub fn wakes_at_once(&mut self, pages: &Pages) -> bool {
        self.is_waking = pages.has_dirty();
        self.is_waking
    }

    /// When to wake up next, once, where there is something that grows old.
    pub fn next_wake(&mut self, pages: &Pages, now: i64) -> Option<i64> {
        if self.is_waking || !pages.has_dirty() {
            return None;
        }
        self.is_waking = true;
        Some(if planted(Fault::WakeGrid) { now + self.interval } else { (now / self.interval + 1) * self.interval })
    }
}

/// Whether pages are written whatever their age (rule P5).
fn is_pressing(pages: &Pages, has_blocked: bool) -> bool {
    pages.is_above_background() || has_blocked
}

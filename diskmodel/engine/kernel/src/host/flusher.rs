//! When dirty pages go to the array, and in which order (rules P4, P5): pure decisions; see
//! `diskmodel/engine/reference/flusher.py`.

use super::pages::{Pages, Run};

/// The thread that writes dirty pages back, in a sweep over their places.
pub struct Flusher {
    /// Time after which what is dirty is old.
    old: i64,
    depth: usize,
    /// Most pages of a request.
    longest: i64,
    /// Where the last request ended.
    position: i64,
    outstanding: usize,
    is_waking: bool,
    /// What is dirty has grown old, and is written until nothing is dirty.
    is_late: bool,
}

impl Flusher {
    pub fn new(old: i64, depth: usize, longest: i64) -> Self {
        Flusher { old, depth, longest, position: 0, outstanding: 0, is_waking: false, is_late: false }
    }

    /// What is dirty may be old, if there was no moment without dirty pages (rule P5).
    pub fn woken(&mut self, pages: &Pages, now: i64) {
        self.is_waking = false;
        let is_old = now >= pages.dirty_since() + self.old;
        self.is_late = pages.has_dirty() && is_old;
    }

    /// The next request, which is now in flight; none when there is nothing to do or enough is in flight.
    pub fn next(&mut self, pages: &mut Pages, has_blocked: bool) -> Option<Run> {
        let is_pressing = self.is_late || pages.is_above_background() || has_blocked;
        if !is_pressing || self.outstanding >= self.depth {
            return None;
        }
        let run = pages.next_run(self.position, self.longest)?;
        self.position = run.end;
        self.outstanding += 1;
        pages.start(run.first..run.end);
        Some(run)
    }

    /// A request has been written.
    pub fn written(&mut self) {
        self.outstanding -= 1;
    }

    /// When to wake up next, once, where there is something that grows old; after all that can be sent now has been.
    pub fn next_wake(&mut self, pages: &Pages) -> Option<i64> {
        self.is_late &= pages.has_dirty();
        if self.is_waking || self.is_late || !pages.has_dirty() {
            return None;
        }
        self.is_waking = true;
        Some(pages.dirty_since() + self.old)
    }
}

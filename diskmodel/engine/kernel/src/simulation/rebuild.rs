//! The rebuild: step after step over the members (rules R1 to R4); see `diskmodel/engine/reference/rebuild.py`.

use super::{Owner, Simulation};
use crate::device::Device;
use crate::events::{Action, ARRIVE};
use crate::faults::{planted, Fault};
use crate::layout::{Layout, Plan};
use crate::traffic::Traffic;

/// How far a rebuild has come, and when its next step begins.
pub struct Rebuild {
    /// Sectors of the lost disk's data area that are on the spare.
    front: i64,
    /// Sectors of it that steps have been begun for.
    begun: i64,
    step_began: i64,
    n_running: i64,
    is_scheduled: bool,
    /// First sectors of the steps that have ended before one that began earlier: a few at most.
    ended: Vec<i64>,
}

impl Rebuild {
    pub fn new(layout: &Layout) -> Self {
        let front = layout.rebuild_front;
        Rebuild { front, begun: front, step_began: 0, n_running: 0, is_scheduled: false, ended: Vec::new() }
    }

    /// Sectors of the lost disk's data area that are on the spare.
    pub fn front(&self) -> i64 {
        self.front
    }

    /// Whether a disk is to be rebuilt of which something is left.
    pub fn has_work(&self, layout: &Layout) -> bool {
        layout.rebuild_disk >= 0 && self.front < layout.member
    }

    /// The step that begins now: its first sector; its pieces go to `plan`.
    fn begin_step(&mut self, layout: &Layout, now: i64, plan: &mut Plan) -> i64 {
        let first = self.begun;
        self.is_scheduled = false;
        self.step_began = now;
        self.begun = (first + layout.rebuild_window).min(layout.member);
        self.n_running += 1;
        layout.rebuild_step(first, plan);
        first
    }

    /// The step that began at `first` has ended.
    fn end_step(&mut self, layout: &Layout, first: i64) {
        self.n_running -= 1;
        self.ended.push(first);
        while let Some(i) = self.ended.iter().position(|&ended| ended == self.front) {
            self.ended.swap_remove(i);
            self.front = (self.front + layout.rebuild_window).min(layout.member);
        }
    }

    /// When the next step begins, if there is one and it may.
    fn next_step(&mut self, layout: &Layout, now: i64) -> Option<i64> {
        if self.is_scheduled || self.n_running == layout.rebuild_steps || self.begun >= layout.member {
            return None;
        }
        self.is_scheduled = true;
        let gap = layout.rebuild_gap_ns + i64::from(planted(Fault::RebuildGap));
        Some(now.max(self.step_began + gap))
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    pub(super) fn schedule_rebuild(&mut self, time: i64) {
        let device = self.disks.len() as u32 + 1;
        self.events.at(time, ARRIVE, device, 0, Action::RebuildStep);
    }

    pub(super) fn rebuild_step(&mut self) {
        let first = self.rebuild.begin_step(&self.layout, self.events.now, &mut self.plan);
        self.start(Owner::Rebuild(first), self.events.now, true, None);
        self.schedule_next_step();
    }

    pub(super) fn rebuilt(&mut self, first: i64) {
        self.rebuild.end_step(&self.layout, first);
        self.schedule_next_step();
    }

    fn schedule_next_step(&mut self) {
        if let Some(time) = self.rebuild.next_step(&self.layout, self.events.now) {
            self.schedule_rebuild(time);
        }
    }
}

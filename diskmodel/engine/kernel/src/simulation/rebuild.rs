//! The rebuild: step after step over the members (rules R1 to R4); see `diskmodel/engine/rebuild.py`.

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
    step_began: i64,
}

impl Rebuild {
    pub fn new(layout: &Layout) -> Self {
        Rebuild { front: layout.rebuild_front, step_began: 0 }
    }

    /// Sectors of the lost disk's data area that are on the spare.
    pub fn front(&self) -> i64 {
        self.front
    }

    /// Whether a disk is to be rebuilt of which something is left.
    pub fn has_work(&self, layout: &Layout) -> bool {
        layout.rebuild_disk >= 0 && self.front < layout.member
    }

    /// Pieces of the step that begins now.
    pub fn begin_step(&mut self, layout: &Layout, now: i64, plan: &mut Plan) {
        self.step_began = now;
        layout.rebuild_step(self.front, plan);
    }

    /// A step has ended: when the next one begins, if there is one.
    pub fn end_step(&mut self, layout: &Layout, now: i64) -> Option<i64> {
        self.front = (self.front + layout.rebuild_window).min(layout.member);
        let gap = layout.rebuild_gap_ns + i64::from(planted(Fault::RebuildGap));
        (self.front < layout.member).then(|| now.max(self.step_began + gap))
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    pub(super) fn schedule_rebuild(&mut self, time: i64) {
        let device = self.disks.len() as u32 + 1;
        self.events.at(time, ARRIVE, device, 0, Action::RebuildStep);
    }

    pub(super) fn rebuild_step(&mut self) {
        self.rebuild.begin_step(&self.layout, self.events.now, &mut self.plan);
        self.start(Owner::Rebuild, self.events.now, true);
    }

    pub(super) fn rebuilt(&mut self) {
        if let Some(time) = self.rebuild.end_step(&self.layout, self.events.now) {
            self.schedule_rebuild(time);
        }
    }
}

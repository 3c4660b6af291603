//! The rebuild: step after step over the members (rules R1 to R4); see `diskmodel/engine/rebuild.py`.

use super::{Owner, Simulation};
use crate::device::Device;
use crate::events::{Action, ARRIVE};
use crate::faults::{planted, Fault};
use crate::traffic::Traffic;

impl<D: Device, T: Traffic> Simulation<D, T> {
    pub(super) fn schedule_rebuild(&mut self, time: i64) {
        let device = self.disks.len() as u32 + 1;
        self.events.at(time, ARRIVE, device, 0, Action::RebuildStep);
    }

    pub(super) fn rebuild_step(&mut self) {
        self.rebuild_start = self.events.now;
        self.layout.rebuild_step(self.front, &mut self.plan);
        self.start(Owner::Rebuild, self.events.now, true);
    }

    pub(super) fn rebuilt(&mut self) {
        self.front = (self.front + self.layout.rebuild_window).min(self.layout.member);
        if self.front < self.layout.member {
            self.schedule_rebuild(
                self.events
                    .now
                    .max(self.rebuild_start + self.layout.rebuild_gap_ns + i64::from(planted(Fault::RebuildGap))),
            );
        }
    }
}

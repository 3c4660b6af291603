//! What schedulers may ask of a disk's arms (rule Q6).

use super::{Actuator, Model};
use crate::faults::{planted, Fault};
use crate::mechanics::{Arm, Spindle};
use crate::queue::{Arms, Waiting};

/// All arms of a disk, for the queue above it.
pub(super) struct HostArms<'a> {
    pub model: &'a Model,
    pub actuators: &'a [Actuator],
    pub spindle: &'a Spindle,
    pub angle: i64,
}

impl Arms for HostArms<'_> {
    #[inline]
    fn time_ns(&self, waiting: &Waiting, margin: i64) -> i64 {
        let arm = self.actuators[waiting.actuator as usize].arm;
        positioning(self.model, arm, self.spindle, waiting, self.angle, margin)
    }

    fn cylinder(&self, actuator: u32) -> i64 {
        self.actuators[actuator as usize].arm.cylinder
    }

    fn least_ns(&self, distance: i64) -> i64 {
        self.model.mechanics.least_move_ns(distance)
    }
}

/// One arm of a disk.
pub(super) struct OwnArm<'a> {
    pub model: &'a Model,
    pub arm: Arm,
    pub spindle: &'a Spindle,
    pub angle: i64,
}

impl Arms for OwnArm<'_> {
    #[inline]
    fn time_ns(&self, waiting: &Waiting, margin: i64) -> i64 {
        positioning(self.model, self.arm, self.spindle, waiting, self.angle, margin)
    }

    fn cylinder(&self, _actuator: u32) -> i64 {
        self.arm.cylinder
    }

    fn least_ns(&self, distance: i64) -> i64 {
        self.model.mechanics.least_move_ns(distance)
    }
}

/// Seek and rotational latency of a waiting command (rule Q6), when the platter is at `angle`; a revolution more where
/// the head moves and the latency is shorter than `margin` (rule Q12).
#[inline]
fn positioning(model: &Model, arm: Arm, spindle: &Spindle, waiting: &Waiting, angle: i64, margin: i64) -> i64 {
    let target = &waiting.target;
    let time = model.mechanics.move_ns(arm, &target.place, waiting.op);
    let wait = spindle.wait_ns(target.angle, spindle.by_revolution.split(angle + time).1);
    let has_moved = time > 0 || planted(Fault::MarginAtRest);
    let is_missed = has_moved && wait < if planted(Fault::MissMargin) { margin / 2 } else { margin };
    time + wait + if is_missed { spindle.revolution } else { 0 }
}

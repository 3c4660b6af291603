//! What schedulers may ask of a disk's arms (rule Q6).

use super::times::times_at_once;
use super::{Actuator, Model};
use crate::mechanics::{Arm, Spindle};
use crate::queue::{Arms, Margin, Targets, Waiting, LANES};

/// All arms of a disk, for the queue above it.
pub(super) struct HostArms<'a> {
    pub model: &'a Model,
    pub actuators: &'a [Actuator],
    pub spindle: &'a Spindle,
    pub angle: i64,
}

impl Arms for HostArms<'_> {
    #[inline(always)]
    fn time_ns(&self, waiting: &Waiting, margin: Margin) -> i64 {
        let arm = self.actuators[waiting.actuator as usize].arm;
        positioning(self.model, arm, self.spindle, waiting, self.angle, margin)
    }

    #[inline(always)]
    fn times_ns(&self, targets: &Targets, margin: Margin, times: &mut [[i32; LANES]]) -> bool {
        let [actuator] = self.actuators else { return false };
        times_at_once(&self.model.mechanics, self.spindle, (actuator.arm, self.angle), targets, margin, times)
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
    #[inline(always)]
    fn time_ns(&self, waiting: &Waiting, margin: Margin) -> i64 {
        positioning(self.model, self.arm, self.spindle, waiting, self.angle, margin)
    }

    #[inline(always)]
    fn times_ns(&self, targets: &Targets, margin: Margin, times: &mut [[i32; LANES]]) -> bool {
        times_at_once(&self.model.mechanics, self.spindle, (self.arm, self.angle), targets, margin, times)
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
#[inline(always)]
fn positioning(model: &Model, arm: Arm, spindle: &Spindle, waiting: &Waiting, angle: i64, margin: Margin) -> i64 {
    if model.mechanics.is_turned() {
        return turned_positioning(model, arm, spindle, waiting, angle, margin);
    }
    let time = model.mechanics.plain_move_ns(arm, &waiting.target.place, waiting.op);
    behind(time, spindle, waiting, angle, margin)
}

/// The same where seeks differ by direction.
#[cold]
#[inline(never)]
fn turned_positioning(
    model: &Model,
    arm: Arm,
    spindle: &Spindle,
    waiting: &Waiting,
    angle: i64,
    margin: Margin,
) -> i64 {
    let time = model.mechanics.turned_move_ns(arm, &waiting.target.place, waiting.op);
    behind(time, spindle, waiting, angle, margin)
}

/// A move that takes `time`, and the latency behind it.
#[inline(always)]
fn behind(time: i64, spindle: &Spindle, waiting: &Waiting, angle: i64, margin: Margin) -> i64 {
    let wait = spindle.wait_behind_ns(waiting.target.angle, angle, time);
    let may_miss = margin != Margin::NONE && time > 0;
    let is_missed = may_miss && wait < margin.behind(time);
    time + wait + if is_missed { spindle.revolution } else { 0 }
}

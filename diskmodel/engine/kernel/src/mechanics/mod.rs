//! Seek, rotation and transfer of one access (rules M1 to M8); see `diskmodel/drive/mechanics.py`.

mod seeks;
mod spindle;
mod zones;

use std::sync::Arc;

use crate::events::LAST_NS;
use crate::faults::{planted, Fault};

pub use seeks::{SeekColumn, Seeks};
pub use spindle::Spindle;
pub use zones::{Place, ZoneColumns, Zones};

pub const READ: u8 = 0;
pub const WRITE: u8 = 1;

/// Tables of a drive.
#[derive(Clone, Debug, Default)]
pub struct Mechanics {
    pub zones: Zones,
    pub seek_ns: Arc<[u32]>,
    least_seek_ns: Arc<[u32]>,
    head_switch_ns: i64,
    write_settle_ns: i64,
    zero_latency: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    pub cylinder: i64,
    pub head: i64,
}

impl Arm {
    fn at(place: &Place) -> Self {
        Arm { cylinder: i64::from(place.cylinder), head: i64::from(place.head) }
    }
}

/// Blocks of one actuator, and what to do with them.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub op: u8,
    pub lba: i64,
    pub n: i64,
}

/// Where an access begins, and the angle there as a part of the revolution in ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Target {
    pub place: Place,
    pub angle: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    pub seek: i64,
    pub rotation: i64,
    pub transfer: i64,
    pub first_end: i64,
    /// How long the head stood on the track before the first sector.
    pub first_wait: i64,
    pub end: i64,
    pub arm: Arm,
}

/// Quotient of two non-negative numbers, by the cheaper instruction where both are small.
#[inline(always)]
pub fn div(a: i64, b: i64) -> i64 {
    if (a | b) >> 32 == 0 {
        i64::from(a as u32 / b as u32)
    } else {
        (a as u64 / b as u64) as i64
    }
}

impl Mechanics {
    pub fn new(zones: Zones, seeks: Seeks, head_switch_ns: i64, write_settle_ns: i64, zero_latency: bool) -> Self {
        let Seeks { ns: seek_ns, least_ns: least_seek_ns } = seeks;
        Mechanics { zones, seek_ns, least_seek_ns, head_switch_ns, write_settle_ns, zero_latency }
    }

    /// Place of a block, and the angle at which it begins (rules M1, M2 and M4).
    #[inline]
    pub fn target(&self, lba: i64, spindle: &Spindle) -> Target {
        let place = self.zones.place(lba);
        let zone = self.zones.of(&place);
        let up = if planted(Fault::AngleRounding) { zone.per_track - 1 } else { 0 };
        Target { place, angle: zone.by_track.of(i64::from(place.index) * spindle.revolution + up) }
    }

    /// What no move over so many cylinders or more is shorter than.
    #[inline]
    pub fn least_move_ns(&self, distance: i64) -> i64 {
        let at = (distance as usize).min(self.least_seek_ns.len() - 1);
        i64::from(self.least_seek_ns[at])
    }

    /// Seek, head switch and settling (rule M3).
    #[inline]
    pub fn move_ns(&self, arm: Arm, place: &Place, op: u8) -> i64 {
        let distance = (i64::from(place.cylinder) - arm.cylinder).abs();
        let other_head = i64::from(place.head) != arm.head;
        if distance == 0 && !other_head {
            return if planted(Fault::WriteSettle) && op == WRITE { self.write_settle_ns } else { 0 };
        }
        let nearer = i64::from(planted(Fault::SeekDistance) && distance > 1);
        let seek = i64::from(self.seek_ns[(distance - nearer) as usize]);
        let no_switch = planted(Fault::HeadSwitch) && distance > 0;
        let switch = if other_head && !no_switch { self.head_switch_ns } else { 0 };
        let settle = if op == WRITE { self.write_settle_ns } else { 0 };
        seek.max(switch) + settle
    }

    /// An access from now on that begins at `target`, where the first block of `extent` is; nothing passes under the
    /// head before `data_at` (rule D9).
    pub fn access(
        &self,
        from: Arm,
        spindle: &Spindle,
        extent: Extent,
        target: &Target,
        (at, extra): (i64, i64),
        data_at: i64,
    ) -> Access {
        let Extent { op, mut lba, mut n } = extent;
        let mut target = *target;
        let mut arm = from;
        let mut now = at + extra;
        let mut access = Access { seek: extra, ..Access::default() };
        let revolution = spindle.revolution;
        while n > 0 && now < LAST_NS {
            let Target { place, angle } = target;
            let by_track = &self.zones.of(&place).by_track;
            let index = i64::from(place.index);
            let time = self.move_ns(arm, &place, op);
            let arrived = (now + time).max(data_at);
            let mut wait = spindle.wait_ns(angle, spindle.angle(arrived));
            let take = n.min(self.zones.left_on_track(&place));
            let pass = by_track.of((index + take) * revolution) - angle;
            let is_first = access.first_end == 0;
            if is_first {
                access.first_end = arrived + wait + by_track.of((index + 1) * revolution) - angle;
            }
            if self.zero_latency && wait + pass > revolution {
                wait = (revolution - pass - i64::from(planted(Fault::ZeroLatency))).max(0);
            }
            if is_first {
                access.first_wait = wait;
            }
            access.seek += time;
            access.rotation += wait;
            access.transfer += arrived - now - time + pass;
            now = arrived + wait + pass;
            arm = Arm::at(&place);
            lba += take;
            n -= take;
            if n > 0 {
                target = self.target(lba, spindle);
            }
        }
        access.first_end = access.first_end.min(now);
        access.end = now;
        access.arm = arm;
        access
    }

    /// How far a read has come at `at` that began at `from_ns` at block `lba` (rule C4).
    pub fn streamed(&self, spindle: &Spindle, arm: Arm, blocks: (i64, i64), from_ns: i64, at: i64) -> (i64, Arm) {
        let (mut lba, limit) = blocks;
        let (mut now, mut arm) = (from_ns, arm);
        while lba < limit {
            let Target { place, angle } = self.target(lba, spindle);
            let zone = self.zones.of(&place);
            let index = i64::from(place.index);
            let time = self.move_ns(arm, &place, READ);
            let start = now + time + spindle.wait_ns(angle, spindle.angle(now + time));
            if start >= at {
                break;
            }
            arm = Arm::at(&place);
            let take = (limit - lba).min(self.zones.left_on_track(&place));
            let end = start + zone.by_track.of((index + take) * spindle.revolution) - angle;
            if end > at {
                let passed = spindle.by_revolution.of((at - start + angle + 1) * zone.per_track - 1) - index;
                return (lba + passed.min(take).max(0), arm);
            }
            lba += take;
            now = end;
        }
        (lba, arm)
    }
}

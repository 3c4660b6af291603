//! Seek, rotation and transfer of one access (rules M1 to M9); see `diskmodel/drive/mechanics.py`.

mod seeks;
mod spindle;
mod zones;

use crate::events::LAST_NS;

pub use seeks::{SeekColumn, SeekTable, Seeks, Turned};
pub use spindle::Spindle;
pub use zones::{Place, ZoneColumns, Zones};

pub const READ: u8 = 0;
pub const WRITE: u8 = 1;
/// What makes all that was written before safe; no access.
pub const FLUSH: u8 = 2;

/// Tables of a drive.
#[derive(Clone, Debug, Default)]
pub struct Mechanics {
    pub zones: Zones,
    seeks: SeekTable,
    /// Where those of writes begin.
    writes_at: u32,
    /// No move takes longer, where seeks do not differ by direction.
    longest_move_ns: i64,
    head_switch_ns: i64,
    write_settle_ns: i64,
    zero_latency: bool,
    turned: Turned,
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

/// How far a read has come: the next block, when it comes there at the earliest, and where the arm is.
#[derive(Clone, Copy)]
pub struct Progress {
    pub lba: i64,
    pub at_ns: i64,
    pub arm: Arm,
}

/// What moves are made of, in 31 bits; the same as [`Mechanics::plain_move_ns`] in parts, which the compiler computes for
/// several moves at once.
#[derive(Clone, Copy)]
pub struct Moves<'a> {
    seek_ns: &'a [u32],
    cylinders: u32,
    writes_at: u32,
    pub longest_ns: i64,
    switch_ns: i32,
    settle_ns: i32,
}

impl Moves<'_> {
    /// Seeks over so many cylinders; the last bit of `ops` is the operation, where some may be writes.
    #[inline(always)]
    pub fn seeks_ns<const N: usize, const WITH_WRITES: bool>(&self, distances: &[u32; N], ops: &[u32; N]) -> [i32; N] {
        let farthest = distances.iter().fold(0, |farthest: u32, &distance| farthest.max(distance));
        assert!(farthest < self.cylinders, "a seek to a cylinder that the drive does not have");
        let mut places = *distances;
        if WITH_WRITES {
            places.iter_mut().zip(ops).for_each(|(place, op)| *place += self.writes_at & (op & 1).wrapping_neg());
        }
        // SAFETY: not even the farthest one is outside of the table, which has as many behind `writes_at`
        places.map(|place| unsafe { *self.seek_ns.get_unchecked(place as usize) as i32 })
    }

    /// The whole move with that seek; `other` is 0 where the head stays the same, `op` is 1 for a write and 0 for a read.
    #[inline(always)]
    pub fn whole_ns(&self, seek_ns: i32, distance: u32, other: u32, op: u32) -> i32 {
        let switch_ns = self.switch_ns & -i32::from(other != 0);
        let settle_ns = self.settle_ns & -(op as i32);
        (seek_ns.max(switch_ns) + settle_ns) & -i32::from((distance | other) != 0)
    }
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
    pub fn new(zones: Zones, seeks: SeekTable, head_switch_ns: i64, write_settle_ns: i64, zero_latency: bool) -> Self {
        let writes_at = (seeks.ns.len() - seeks.cylinders) as u32;
        let longest_ns = seeks.longest_ns;
        Mechanics {
            zones,
            seeks,
            writes_at,
            longest_move_ns: i64::from(longest_ns).max(head_switch_ns).saturating_add(write_settle_ns),
            head_switch_ns,
            write_settle_ns,
            zero_latency,
            turned: Turned::default(),
        }
    }

    /// The same with seeks that differ by direction.
    #[must_use]
    pub fn with(self, turned: Turned) -> Self {
        Mechanics { turned, ..self }
    }

    /// The same of accesses that read in order.
    #[must_use]
    pub fn in_order(&self) -> Self {
        Mechanics { zero_latency: false, ..self.clone() }
    }

    /// Whether seeks differ by direction.
    #[inline(always)]
    pub fn is_turned(&self) -> bool {
        self.turned.inward_ns != 0
    }

    /// Seeks of reads over each number of cylinders.
    pub fn read_seeks_ns(&self) -> &[u32] {
        &self.seeks.ns[..self.seeks.cylinders]
    }

    #[inline(always)]
    fn seek_ns(&self, distance: u64, op: u8) -> i64 {
        i64::from(
            self.seeks.ns[distance as usize + (self.writes_at as usize & usize::from(op == WRITE).wrapping_neg())],
        )
    }

    /// Place of a block, and the angle at which it begins (rules M1, M2 and M4).
    #[inline]
    pub fn target(&self, lba: i64, spindle: &Spindle) -> Target {
        let place = self.zones.place(lba);
        let zone = self.zones.of(&place);
        Target { place, angle: zone.by_track.of(i64::from(place.index) * spindle.revolution) }
    }

    /// What no move over so many cylinders or more is shorter than.
    #[inline]
    pub fn least_move_ns(&self, distance: i64) -> i64 {
        let least_ns = self.seeks.least_ns();
        let at = (distance as usize).min(least_ns.len() - 1);
        i64::from(least_ns[at].saturating_sub(self.turned.inward_ns.unsigned_abs() as u32))
    }

    /// Seek, head switch and settling (rule M3).
    #[inline(always)]
    fn move_ns(&self, arm: Arm, place: &Place, op: u8) -> i64 {
        if self.is_turned() {
            self.turned_move_ns(arm, place, op)
        } else {
            self.plain_move_ns(arm, place, op)
        }
    }

    /// What moves are made of where seeks do not differ by direction and are not `too_long`.
    #[inline(always)]
    pub fn plain_moves(&self, too_long: i64) -> Option<Moves<'_>> {
        if self.is_turned() || self.longest_move_ns >= too_long.min(1 << 30) {
            return None;
        }
        Some(Moves {
            seek_ns: &self.seeks.ns,
            cylinders: self.seeks.cylinders as u32,
            writes_at: self.writes_at,
            longest_ns: self.longest_move_ns,
            switch_ns: self.head_switch_ns as i32,
            settle_ns: self.write_settle_ns as i32,
        })
    }

    /// The same where seeks do not differ by direction.
    #[inline(always)]
    pub fn plain_move_ns(&self, arm: Arm, place: &Place, op: u8) -> i64 {
        let distance = (i64::from(place.cylinder) - arm.cylinder).unsigned_abs();
        let other_head = i64::from(place.head) != arm.head;
        if distance == 0 && !other_head {
            return 0;
        }
        self.settled_ns(self.seek_ns(distance, op), other_head, op)
    }

    /// The same where they do.
    #[cold]
    #[inline(never)]
    pub fn turned_move_ns(&self, arm: Arm, place: &Place, op: u8) -> i64 {
        let inward = i64::from(place.cylinder) - arm.cylinder;
        let other_head = i64::from(place.head) != arm.head;
        if inward == 0 && !other_head {
            return 0;
        }
        let turned = if inward == 0 { 0 } else { self.turned.ns(inward > 0) };
        self.settled_ns(self.seek_ns(inward.unsigned_abs(), op) + turned, other_head, op)
    }

    /// The longer of a seek and a head switch, and settling.
    #[inline(always)]
    fn settled_ns(&self, seek: i64, other_head: bool, op: u8) -> i64 {
        // a mask instead of a branch: which head comes next cannot be guessed
        let switch = self.head_switch_ns & -i64::from(other_head);
        let settle = self.write_settle_ns & -i64::from(op == WRITE);
        seek.max(switch) + settle
    }

    /// An access from now on that begins at `target`, where the first block of `extent` is; nothing passes under the
    /// head before `data_at` (rule D9).
    #[inline(always)]
    pub fn access(
        &self,
        from: Arm,
        spindle: &Spindle,
        extent: Extent,
        target: &Target,
        (at, extra): (i64, i64),
        data_at: i64,
    ) -> Access {
        let begin = at + extra;
        if begin >= LAST_NS {
            return Access { seek: extra, end: begin, arm: from, ..Access::default() };
        }
        let (mut access, taken) = self.access_track(from, spindle, extent, target, begin, data_at);
        if taken < extent.n {
            let Extent { op, lba, n } = extent;
            let rest = Extent { op, lba: lba + taken, n: n - taken };
            let begun = Access { seek: 0, rotation: 0, transfer: 0, ..access };
            let rest = self.go_on(begun, spindle, rest, data_at);
            access.seek += rest.seek;
            access.rotation += rest.rotation;
            access.transfer += rest.transfer;
            (access.end, access.arm) = (rest.end, rest.arm);
        }
        access.seek += extra;
        access.first_end = access.first_end.min(access.end);
        access
    }

    /// The tracks of an access behind its first one.
    #[inline(never)]
    fn go_on(&self, mut access: Access, spindle: &Spindle, extent: Extent, data_at: i64) -> Access {
        let Extent { op, mut lba, mut n } = extent;
        while n > 0 && access.end < LAST_NS {
            let target = self.target(lba, spindle);
            let extent = Extent { op, lba, n };
            let (next, taken) = self.access_track(access.arm, spindle, extent, &target, access.end, data_at);
            access.seek += next.seek;
            access.rotation += next.rotation;
            access.transfer += next.transfer;
            (access.end, access.arm) = (next.end, next.arm);
            lba += taken;
            n -= taken;
        }
        access
    }

    /// The part of an access that lies on the track of `target`, and its sectors.
    #[inline(always)]
    fn access_track(
        &self,
        arm: Arm,
        spindle: &Spindle,
        extent: Extent,
        &Target { place, angle }: &Target,
        now: i64,
        data_at: i64,
    ) -> (Access, i64) {
        let revolution = spindle.revolution;
        let by_track = &self.zones.of(&place).by_track;
        let index = i64::from(place.index);
        let seek = self.move_ns(arm, &place, extent.op);
        let arrived = (now + seek).max(data_at);
        let mut wait = spindle.wait_ns(angle, spindle.angle(arrived));
        let taken = extent.n.min(self.zones.left_on_track(&place));
        let pass = by_track.of((index + taken) * revolution) - angle;
        let first_end = arrived + wait + by_track.of((index + 1) * revolution) - angle;
        if self.zero_latency && wait + pass > revolution {
            wait = (revolution - pass).max(0);
        }
        let transfer = arrived - now - seek + pass;
        let (end, arm) = (arrived + wait + pass, Arm::at(&place));
        (Access { seek, rotation: wait, transfer, first_end, first_wait: wait, end, arm }, taken)
    }

    /// Whether an access to a whole track begins wherever the head arrives.
    #[inline(always)]
    pub fn is_zero_latency(&self) -> bool {
        self.zero_latency
    }

    /// How far a read up to block `limit` has come at `at`: the next block, and the arm (rule C4). `reached` moves on to
    /// the end of the last whole track.
    pub fn streamed(&self, spindle: &Spindle, reached: &mut Progress, limit: i64, at: i64) -> (i64, Arm) {
        let Progress { mut lba, at_ns: mut now, mut arm } = *reached;
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
            let left = self.zones.left_on_track(&place);
            let take = (limit - lba).min(left);
            let end = start + zone.by_track.of((index + take) * spindle.revolution) - angle;
            if end > at {
                let passed = spindle.by_revolution.of((at - start + angle + 1) * zone.per_track - 1) - index;
                return (lba + passed.min(take).max(0), arm);
            }
            lba += take;
            now = end;
            if take == left {
                *reached = Progress { lba, at_ns: now, arm };
            }
        }
        (lba, arm)
    }
}

//! Seek, rotation and transfer of one access (rules M1 to M8); see `diskmodel/drive/mechanics.py`.

pub const READ: u8 = 0;
pub const WRITE: u8 = 1;

/// Tables of a drive; the geometry is that of one actuator.
#[derive(Clone, Debug, Default)]
pub struct Mechanics {
    pub heads: i64,
    pub zone_first_lba: Vec<i64>,
    pub zone_first_cylinder: Vec<i64>,
    pub sectors_per_track: Vec<i64>,
    pub track_skew: Vec<i64>,
    pub cylinder_skew: Vec<i64>,
    pub spare: Vec<i64>,
    pub seek_ns: Vec<i64>,
    pub head_switch_ns: i64,
    pub write_settle_ns: i64,
    pub zero_latency: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Spindle {
    pub revolution: i64,
    pub phase: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    pub cylinder: i64,
    pub head: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub zone: usize,
    pub cylinder: i64,
    pub head: i64,
    pub sector: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    pub seek: i64,
    pub rotation: i64,
    pub transfer: i64,
    pub first_end: i64,
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
    #[inline]
    pub fn place(&self, lba: i64) -> Place {
        let zone = self.zone_first_lba.partition_point(|&first| first <= lba) - 1;
        let per_track = self.sectors_per_track[zone];
        let per_cylinder = self.heads * per_track - self.spare[zone];
        let inside = lba - self.zone_first_lba[zone];
        let cylinder = div(inside, per_cylinder);
        let rest = inside - cylinder * per_cylinder;
        let head = div(rest, per_track);
        Place {
            zone,
            cylinder: self.zone_first_cylinder[zone] + cylinder,
            head,
            sector: rest - head * per_track,
        }
    }

    #[inline]
    pub fn left_on_track(&self, place: &Place) -> i64 {
        let per_track = self.sectors_per_track[place.zone];
        // spares are the last sectors of a cylinder and may take more than its last track
        let end = per_track.min((self.heads - place.head) * per_track - self.spare[place.zone]);
        end - place.sector
    }

    #[inline]
    pub fn angle_index(&self, place: &Place) -> i64 {
        let zone = place.zone;
        let skew = (place.cylinder - self.zone_first_cylinder[zone])
            * ((self.heads - 1) * self.track_skew[zone] + self.cylinder_skew[zone])
            + place.head * self.track_skew[zone];
        let per_track = self.sectors_per_track[zone];
        let index = skew + place.sector;
        index - div(index, per_track) * per_track
    }

    /// Angle of a place as a part of the revolution in ns.
    #[inline]
    pub fn angle_ns(&self, place: &Place, spindle: &Spindle) -> i64 {
        div(self.angle_index(place) * spindle.revolution, self.sectors_per_track[place.zone])
    }

    #[inline]
    pub fn move_ns(&self, arm: Arm, cylinder: i64, head: i64, op: u8) -> i64 {
        let distance = (cylinder - arm.cylinder).abs();
        if distance == 0 && head == arm.head {
            return 0;
        }
        let mut time = self.seek_ns[distance as usize];
        if head != arm.head && self.head_switch_ns > time {
            time = self.head_switch_ns;
        }
        if op == WRITE {
            time += self.write_settle_ns;
        }
        time
    }

    /// Wait from `at` until angle `target` comes under the head.
    #[inline]
    pub fn wait_ns(spindle: &Spindle, target: i64, at: i64) -> i64 {
        let revolution = spindle.revolution;
        let turned = at + spindle.phase;
        let angle = turned - (turned as u64 / revolution as u64) as i64 * revolution;
        let mut wait = target - angle;
        if wait < 0 {
            wait += revolution;
        }
        if wait > revolution - div(revolution, 100_000) {
            0
        } else {
            wait
        }
    }

    pub fn access(&self, from: Arm, spindle: &Spindle, op: u8, lba: i64, n: i64, at: i64, extra: i64) -> Access {
        let (mut lba, mut n) = (lba, n);
        let mut arm = from;
        let mut now = at + extra;
        let mut access = Access { seek: extra, ..Access::default() };
        let revolution = spindle.revolution;
        while n > 0 {
            let place = self.place(lba);
            let per_track = self.sectors_per_track[place.zone];
            let index = self.angle_index(&place);
            let start = div(index * revolution, per_track);
            let time = self.move_ns(arm, place.cylinder, place.head, op);
            let mut wait = Self::wait_ns(spindle, start, now + time);
            let take = n.min(self.left_on_track(&place));
            let pass = div((index + take) * revolution, per_track) - start;
            if access.first_end == 0 {
                access.first_end = now + time + wait + div((index + 1) * revolution, per_track) - start;
            }
            if self.zero_latency && wait + pass > revolution {
                wait = (revolution - pass).max(0);
            }
            now += time + wait + pass;
            access.seek += time;
            access.rotation += wait;
            access.transfer += pass;
            arm = Arm { cylinder: place.cylinder, head: place.head };
            lba += take;
            n -= take;
        }
        access.first_end = access.first_end.min(now);
        access.end = now;
        access.arm = arm;
        access
    }

    /// How far a read has come at `at` that began at `from_ns` at block `lba` (rule C4).
    pub fn streamed(&self, spindle: &Spindle, arm: Arm, lba: i64, limit: i64, from_ns: i64, at: i64) -> (i64, Arm) {
        let (mut now, mut arm, mut lba) = (from_ns, arm, lba);
        while lba < limit {
            let place = self.place(lba);
            let per_track = self.sectors_per_track[place.zone];
            let index = self.angle_index(&place);
            let first = div(index * spindle.revolution, per_track);
            let time = self.move_ns(arm, place.cylinder, place.head, READ);
            let start = now + time + Self::wait_ns(spindle, first, now + time);
            if start >= at {
                break;
            }
            arm = Arm { cylinder: place.cylinder, head: place.head };
            let take = (limit - lba).min(self.left_on_track(&place));
            let end = start + div((index + take) * spindle.revolution, per_track) - first;
            if end > at {
                let passed = div((at - start + first + 1) * per_track - 1, spindle.revolution) - index;
                return (lba + passed.min(take).max(0), arm);
            }
            lba += take;
            now = end;
        }
        (lba, arm)
    }
}

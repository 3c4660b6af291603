//! Seek, rotation and transfer of one access (rules M1 to M8); see `diskmodel/drive/mechanics.py`.

use crate::faults::{planted, Fault};

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
    pub seek_ns: Vec<u32>,
    /// The least seek over so many cylinders or more: measured seeks need not grow with the distance.
    pub least_seek_ns: Vec<u32>,
    pub head_switch_ns: i64,
    pub write_settle_ns: i64,
    pub zero_latency: bool,
    /// Zone in which every 2^`zone_shift`-th block lies.
    pub zone_at: Vec<u16>,
    pub zone_shift: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Spindle {
    pub revolution: i64,
    pub phase: i64,
    /// Longest wait that counts as none, because only rounding made it (rule M5).
    longest: i64,
}

impl Spindle {
    pub fn new(revolution: i64, phase: i64) -> Self {
        Spindle { revolution, phase, longest: revolution - revolution / 100_000 }
    }

    /// Angle at a time, in ns of a revolution.
    #[inline]
    pub fn angle(&self, at: i64) -> i64 {
        let turned = at + self.phase;
        turned - (turned as u64 / self.revolution as u64) as i64 * self.revolution
    }

    /// Wait until angle `target` comes under a head that is at angle `angle` now.
    #[inline]
    pub fn wait_ns(&self, target: i64, angle: i64) -> i64 {
        let wait = target - angle;
        let wait = if wait < 0 { wait + self.revolution } else { wait };
        if wait > self.longest && !planted(Fault::RotationSlack) {
            0
        } else {
            wait
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    pub cylinder: i64,
    pub head: i64,
}

/// Blocks of one actuator, and what to do with them.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub op: u8,
    pub lba: i64,
    pub n: i64,
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

/// Entries of the table that leads to a block's zone, about.
const ZONE_ENTRIES: i64 = 4096;

impl Mechanics {
    /// Makes the tables behind `zone_of` and `least_move_ns`; call it once, when zones and seeks are known.
    pub fn index_zones(&mut self) {
        self.least_seek_ns = self.seek_ns.clone();
        for distance in (1..self.least_seek_ns.len()).rev() {
            self.least_seek_ns[distance - 1] = self.least_seek_ns[distance - 1].min(self.least_seek_ns[distance]);
        }
        let n_sectors = self.zone_first_lba.last().copied().unwrap_or(0);
        while n_sectors >> self.zone_shift > ZONE_ENTRIES {
            self.zone_shift += 1;
        }
        let zone_of = |lba: i64| self.zone_first_lba.partition_point(|&first| first <= lba) - 1;
        self.zone_at = (0..=n_sectors >> self.zone_shift)
            .map(|i| zone_of((i << self.zone_shift).min(n_sectors - 1)) as u16)
            .collect();
    }

    #[inline]
    fn zone_of(&self, lba: i64) -> usize {
        let mut zone = usize::from(self.zone_at[(lba >> self.zone_shift) as usize]);
        while self.zone_first_lba[zone + 1] <= lba {
            zone += 1;
        }
        if planted(Fault::ZoneBorder) && zone > 0 && lba == self.zone_first_lba[zone] {
            zone -= 1;
        }
        zone
    }

    #[inline]
    pub fn place(&self, lba: i64) -> Place {
        let zone = self.zone_of(lba);
        let per_track = self.sectors_per_track[zone];
        let per_cylinder = self.heads * per_track - self.spare[zone];
        let inside = lba - self.zone_first_lba[zone];
        let cylinder = div(inside, per_cylinder);
        let rest = inside - cylinder * per_cylinder;
        let head = div(rest, per_track);
        Place { zone, cylinder: self.zone_first_cylinder[zone] + cylinder, head, sector: rest - head * per_track }
    }

    #[inline]
    pub fn left_on_track(&self, place: &Place) -> i64 {
        let per_track = self.sectors_per_track[place.zone];
        // spares are the last sectors of a cylinder and may take more than its last track
        let spare = if planted(Fault::SpareSectors) { 0 } else { self.spare[place.zone] };
        let end = per_track.min((self.heads - place.head) * per_track - spare);
        end - place.sector
    }

    #[inline]
    pub fn angle_index(&self, place: &Place) -> i64 {
        let zone = place.zone;
        let head = place.head + i64::from(planted(Fault::TrackSkew));
        let cylinder_skew = self.cylinder_skew[zone] + i64::from(planted(Fault::CylinderSkew));
        let skew = (place.cylinder - self.zone_first_cylinder[zone])
            * ((self.heads - 1) * self.track_skew[zone] + cylinder_skew)
            + head * self.track_skew[zone];
        let per_track = self.sectors_per_track[zone];
        let index = skew + place.sector;
        index - div(index, per_track) * per_track
    }

    /// Angle of a place as a part of the revolution in ns.
    #[inline]
    pub fn angle_ns(&self, place: &Place, spindle: &Spindle) -> i64 {
        let up = if planted(Fault::AngleRounding) { self.sectors_per_track[place.zone] - 1 } else { 0 };
        div(self.angle_index(place) * spindle.revolution + up, self.sectors_per_track[place.zone])
    }

    #[inline]
    /// What no move over so many cylinders or more is shorter than.
    pub fn least_move_ns(&self, distance: i64) -> i64 {
        let at = (distance as usize).min(self.least_seek_ns.len() - 1);
        i64::from(self.least_seek_ns[at])
    }

    pub fn move_ns(&self, arm: Arm, cylinder: i64, head: i64, op: u8) -> i64 {
        let distance = (cylinder - arm.cylinder).abs();
        if distance == 0 && head == arm.head {
            return if planted(Fault::WriteSettle) && op == WRITE { self.write_settle_ns } else { 0 };
        }
        let nearer = i64::from(planted(Fault::SeekDistance) && distance > 1);
        let mut time = i64::from(self.seek_ns[(distance - nearer) as usize]);
        if head != arm.head && self.head_switch_ns > time && !(planted(Fault::HeadSwitch) && distance > 0) {
            time = self.head_switch_ns;
        }
        if op == WRITE {
            time += self.write_settle_ns;
        }
        time
    }

    pub fn access(&self, from: Arm, spindle: &Spindle, wanted: Extent, at: i64, extra: i64) -> Access {
        let Extent { op, mut lba, mut n } = wanted;
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
            let mut wait = spindle.wait_ns(start, spindle.angle(now + time));
            let take = n.min(self.left_on_track(&place));
            let pass = div((index + take) * revolution, per_track) - start;
            if access.first_end == 0 {
                access.first_end = now + time + wait + div((index + 1) * revolution, per_track) - start;
            }
            if self.zero_latency && wait + pass > revolution {
                wait = (revolution - pass - i64::from(planted(Fault::ZeroLatency))).max(0);
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
    pub fn streamed(&self, spindle: &Spindle, arm: Arm, blocks: (i64, i64), from_ns: i64, at: i64) -> (i64, Arm) {
        let (mut lba, limit) = blocks;
        let (mut now, mut arm) = (from_ns, arm);
        while lba < limit {
            let place = self.place(lba);
            let per_track = self.sectors_per_track[place.zone];
            let index = self.angle_index(&place);
            let first = div(index * spindle.revolution, per_track);
            let time = self.move_ns(arm, place.cylinder, place.head, READ);
            let start = now + time + spindle.wait_ns(first, spindle.angle(now + time));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Three zones of uneven size, the last one tiny: the table must not skip it.
    fn three_zones() -> Mechanics {
        let mut mechanics = Mechanics {
            heads: 2,
            zone_first_lba: vec![0, 7_000, 19_990, 20_000],
            zone_first_cylinder: vec![0, 70, 200, 201],
            sectors_per_track: vec![50, 50, 5],
            track_skew: vec![0; 3],
            cylinder_skew: vec![0; 3],
            spare: vec![0; 3],
            ..Mechanics::default()
        };
        mechanics.index_zones();
        mechanics
    }

    #[test]
    fn zone_table_agrees_with_a_search() {
        let mechanics = three_zones();
        for lba in 0..20_000 {
            let found = mechanics.zone_first_lba.partition_point(|&first| first <= lba) - 1;
            assert_eq!(mechanics.place(lba).zone, found, "block {lba}");
        }
    }

    #[test]
    fn rounding_never_costs_a_revolution() {
        let spindle = Spindle::new(4_000_000, 0);
        assert_eq!(spindle.wait_ns(100, 100), 0);
        assert_eq!(spindle.wait_ns(100, 139), 0);
        assert_eq!(spindle.wait_ns(100, 140), 3_999_960);
    }
}

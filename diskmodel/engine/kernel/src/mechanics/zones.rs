//! Where a block lies (rules M1 and M2).

use crate::divisor::Divisor;

/// Zones as a drive describes them; the geometry is that of one actuator.
#[derive(Clone, Debug, Default)]
pub struct ZoneColumns {
    pub first_lba: Vec<i64>,
    pub first_cylinder: Vec<i64>,
    pub sectors_per_track: Vec<i64>,
    pub start_skew: Vec<i64>,
    pub track_skew: Vec<i64>,
    pub cylinder_skew: Vec<i64>,
    pub spare_per_track: Vec<i64>,
    pub spare_per_cylinder: Vec<i64>,
}

/// One zone, with what is asked of it for every access side by side.
#[derive(Clone, Debug)]
pub struct Zone {
    first_lba: i64,
    /// First block behind it.
    end_lba: i64,
    first_cylinder: i64,
    /// Sectors of a track, by which angles are counted, and those that store blocks.
    pub per_track: i64,
    pub by_track: Divisor,
    blocks: i64,
    by_blocks: Divisor,
    blocks_per_cylinder: i64,
    by_cylinder: Divisor,
    start_skew: i64,
    track_skew: i64,
    /// From a cylinder's first track to the next one's.
    skew_per_cylinder: i64,
}

/// A block's place, and the number of its sector by angle (rule M2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub cylinder: u32,
    pub head: u16,
    pub zone: u16,
    pub sector: u32,
    pub index: u32,
}

/// All zones, and a table that leads to a block's zone.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    held: Vec<Zone>,
    /// Zone in which every 2^`shift`-th block lies.
    at: Vec<u16>,
    shift: u32,
}

/// Entries of the table that leads to a block's zone, about.
const ENTRIES: i64 = 4096;

impl Zones {
    /// Of columns that fit each other.
    pub fn new(heads: i64, columns: &ZoneColumns) -> Self {
        let ZoneColumns { first_lba, first_cylinder, sectors_per_track, start_skew, track_skew, cylinder_skew, .. } =
            columns;
        let n = sectors_per_track.len();
        let held: Vec<_> = (0..n)
            .map(|zone| {
                let blocks = sectors_per_track[zone] - columns.spare_per_track[zone];
                let blocks_per_cylinder = heads * blocks - columns.spare_per_cylinder[zone];
                Zone {
                    first_lba: first_lba[zone],
                    end_lba: first_lba[zone + 1],
                    first_cylinder: first_cylinder[zone],
                    per_track: sectors_per_track[zone],
                    by_track: Divisor::new(sectors_per_track[zone]),
                    blocks,
                    by_blocks: Divisor::new(blocks),
                    blocks_per_cylinder,
                    by_cylinder: Divisor::new(blocks_per_cylinder),
                    start_skew: start_skew[zone],
                    track_skew: track_skew[zone],
                    skew_per_cylinder: (heads - 1) * track_skew[zone] + cylinder_skew[zone],
                }
            })
            .collect();
        let n_sectors = first_lba[n];
        let mut shift = 0;
        while n_sectors >> shift > ENTRIES {
            shift += 1;
        }
        let zone_of = |lba: i64| first_lba.partition_point(|&first| first <= lba) - 1;
        let at = (0..=n_sectors >> shift).map(|i| zone_of((i << shift).min(n_sectors - 1)) as u16).collect();
        Zones { held, at, shift }
    }

    pub fn of(&self, place: &Place) -> &Zone {
        &self.held[usize::from(place.zone)]
    }

    #[inline]
    fn zone_of(&self, lba: i64) -> usize {
        let mut zone = usize::from(self.at[(lba >> self.shift) as usize]);
        while self.held[zone].end_lba <= lba {
            zone += 1;
        }
        zone
    }

    #[inline]
    pub fn place(&self, lba: i64) -> Place {
        let number = self.zone_of(lba);
        let zone = &self.held[number];
        let (cylinder, rest) = zone.by_cylinder.split(lba - zone.first_lba);
        let (head, sector) = zone.by_blocks.split(rest);
        let skew = zone.start_skew + cylinder * zone.skew_per_cylinder + head * zone.track_skew;
        Place {
            cylinder: (zone.first_cylinder + cylinder) as u32,
            head: head as u16,
            zone: number as u16,
            sector: sector as u32,
            index: zone.by_track.split(skew + sector).1 as u32,
        }
    }

    /// Sectors from a place to the end of its track.
    #[inline]
    pub fn left_on_track(&self, place: &Place) -> i64 {
        let zone = self.of(place);
        // spares of a cylinder may take more than its last track
        let end = zone.blocks.min(zone.blocks_per_cylinder - i64::from(place.head) * zone.blocks);
        end - i64::from(place.sector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three zones of uneven size, the last one tiny: the table must not skip it.
    #[test]
    fn zone_table_agrees_with_a_search() {
        let columns = ZoneColumns {
            first_lba: vec![0, 7_000, 19_990, 20_000],
            first_cylinder: vec![0, 70, 200, 201],
            sectors_per_track: vec![50, 50, 5],
            start_skew: vec![0; 3],
            track_skew: vec![0; 3],
            cylinder_skew: vec![0; 3],
            spare_per_track: vec![0; 3],
            spare_per_cylinder: vec![0; 3],
        };
        let zones = Zones::new(2, &columns);
        for lba in 0..20_000 {
            let found = columns.first_lba.partition_point(|&first| first <= lba) - 1;
            assert_eq!(usize::from(zones.place(lba).zone), found, "block {lba}");
        }
    }
}

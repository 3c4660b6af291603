//! What the cache devices of a pool hold, and when reads of them are done (rule X27); see
//! `diskmodel/layout/pools/l2arc.py`.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::controller::{uses, ZfsArc};
use crate::drives::auxiliary::Auxiliary;
use crate::events::Events;
use crate::loaded::Loaded;
use crate::rule::{all_within, within};
use crate::rule::{MAX_DISKS, MAX_PIECES, MAX_SECTORS, MAX_TIME_NS};
use crate::schema::record;

/// Those that were filled last, by what they were filled with.
static LOADED: Loaded<Filling, Held> = Loaded::new();

record! {
    /// The cache devices of a pool, as `diskmodel.layout.pools.l2arc.L2arcTables`.
    #[derive(Clone, Debug)]
    pub struct L2arcTables {
        /// Records that all devices have room for.
        pub slots: i64,
        /// Records that a feed takes at most, and that it looks at in a list.
        pub feed: i64,
        pub headroom: i64,
        pub feed_ns: i64,
        pub busy_feed_ns: i64,
        pub devices: i64,
        /// None: they are drives.
        pub figures: Option<CacheDeviceTables>,
    }
}

record! {
    /// Cache devices of which figures are known, as `diskmodel.layout.pools.l2arc.CacheDeviceTables`.
    #[derive(Clone, Copy, Debug)]
    pub struct CacheDeviceTables {
        /// Dies of each, and pages that a record takes.
        pub dies: i64,
        pub pages: i64,
        pub sense_ns: i64,
        pub send_ns: i64,
        pub latency_ns: i64,
    }
}

impl L2arcTables {
    pub fn check(&self) -> Result<(), String> {
        let counts = [
            ("layout.pool.l2arc.slots", self.slots),
            ("layout.pool.l2arc.feed", self.feed),
            ("layout.pool.l2arc.headroom", self.headroom),
        ];
        all_within(&counts, 1, MAX_SECTORS / 2)?;
        within("layout.pool.l2arc.devices", self.devices, 1, MAX_DISKS)?;
        let times =
            [("layout.pool.l2arc.feed_ns", self.feed_ns), ("layout.pool.l2arc.busy_feed_ns", self.busy_feed_ns)];
        all_within(&times, 1, MAX_TIME_NS / 1024)?;
        let Some(figures) = &self.figures else { return Ok(()) };
        let parts =
            [("layout.pool.l2arc.figures.dies", figures.dies), ("layout.pool.l2arc.figures.pages", figures.pages)];
        all_within(&parts, 1, MAX_DISKS)?;
        within("layout.pool.l2arc.figures.dies", self.devices * figures.dies, 1, MAX_PIECES)?;
        let times = [
            ("layout.pool.l2arc.figures.sense_ns", figures.sense_ns),
            ("layout.pool.l2arc.figures.send_ns", figures.send_ns),
        ];
        all_within(&times, 1, MAX_TIME_NS / 1024)?;
        within("layout.pool.l2arc.figures.latency_ns", figures.latency_ns, 0, MAX_TIME_NS)
    }
}

/// Records `first` to `first + n - 1`, of which some are on the L2ARC when a run begins: number `b * step % n` of them is
/// `b` behind the first. `ages` of them are in equal parts of the slots that are taken, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub first: i64,
    pub n: i64,
    pub step: i64,
    pub ages: Vec<i64>,
}

impl Region {
    /// How many are on the L2ARC.
    pub fn kept(&self) -> i64 {
        self.ages.iter().sum()
    }

    /// Which of those that are kept a record is.
    fn number(&self, record: i64) -> Option<i64> {
        let behind = record - self.first;
        if !(0..self.n).contains(&behind) {
            return None;
        }
        let number = (i128::from(behind) * i128::from(self.step) % i128::from(self.n)) as i64;
        (number < self.kept()).then_some(number)
    }

    /// How many have made room when so many of the slots that are taken have.
    fn gone(&self, n_slots: i64, taken: i64) -> i64 {
        let n_ages = self.ages.len() as i64;
        let age = n_slots * n_ages / taken;
        let whole: i64 = self.ages[..age as usize].iter().sum();
        let part = self.ages.get(age as usize).map_or(0, |n| n * (n_slots * n_ages - age * taken) / taken);
        whole + part
    }
}

/// What an L2ARC is filled with before a run.
#[derive(Clone, Default, PartialEq)]
pub struct Filling {
    pub slots: i64,
    /// Slots that the regions' records were put on, which not all of them have any more.
    pub taken: i64,
    pub regions: Vec<Region>,
    /// Room of the ARC, what came into it, and which of these were written.
    pub read_blocks: usize,
    /// Length of one of its lists up to which all that is used comes onto the L2ARC.
    pub seen: i64,
    pub cached: Vec<i64>,
    pub cached_written: Vec<i64>,
    /// From which of these on the L2ARC takes what they evict.
    pub from: usize,
    /// Records that the L2ARC loses, and before which of these; ascending.
    pub lost: Vec<i64>,
    pub lost_at: Vec<i64>,
}

/// Records on the cache devices. Each that comes takes the place of the oldest one.
#[derive(Clone, Default)]
struct Held {
    /// What they hold from the beginning, and how many of each region have made room already.
    regions: Vec<(Region, i64)>,
    /// Records of these that have been written since.
    written: FxHashSet<i64>,
    /// Slots that they were put on, and how many of these have been taken since.
    taken: i64,
    n_retaken: i64,
    n_free: i64,
    /// Those that came since, in order, each with its number; and the number of each that is still valid.
    order: VecDeque<(i64, u64)>,
    number: FxHashMap<i64, u64>,
    n_come: u64,
}

impl Held {
    fn filled(filling: &Filling) -> Result<Self, String> {
        let regions = filling.regions.iter().map(|region| (region.clone(), 0)).collect();
        let Filling { slots, taken, .. } = *filling;
        let mut held = Held { regions, taken, n_free: slots - taken, ..Held::default() };
        if filling.read_blocks > 0 {
            let mut arc = ZfsArc::new(filling.read_blocks);
            let mut lost = filling.lost.iter().zip(&filling.lost_at).peekable();
            for (at, (record, is_written)) in uses(&filling.cached, &filling.cached_written).enumerate() {
                while let Some((&written, _)) = lost.next_if(|&(_, &when)| when <= at as i64) {
                    held.invalidate(written);
                }
                let evicted = arc.used(record, is_written);
                if at < filling.from {
                    continue;
                }
                // a list that feeds look at to its end leaves nothing for them to find later
                let is_seen = arc.n_beside(record) as i64 <= filling.seen;
                for comes in evicted.into_iter().chain(is_seen.then_some(record)) {
                    if !held.contains(comes) {
                        held.insert(comes);
                    }
                }
            }
        }
        Ok(held)
    }

    fn contains(&self, record: i64) -> bool {
        self.number.contains_key(&record) || self.is_from_the_beginning(record)
    }

    fn is_from_the_beginning(&self, record: i64) -> bool {
        let is_left = |(region, gone): &(Region, i64)| region.number(record).is_some_and(|number| number >= *gone);
        self.regions.iter().any(is_left) && !self.written.contains(&record)
    }

    /// Puts a record on the L2ARC that is not there yet.
    fn insert(&mut self, record: i64) {
        if self.n_free > 0 {
            self.n_free -= 1;
        } else if self.n_retaken < self.taken {
            self.n_retaken += 1;
            for (region, gone) in &mut self.regions {
                *gone = region.gone(self.n_retaken, self.taken);
            }
        } else if let Some((oldest, number)) = self.order.pop_front() {
            if self.number.get(&oldest) == Some(&number) {
                self.number.remove(&oldest);
            }
        }
        self.n_come += 1;
        self.order.push_back((record, self.n_come));
        self.number.insert(record, self.n_come);
    }

    /// A record has been written: what the L2ARC has of it is of no use, but takes its place as before.
    fn invalidate(&mut self, record: i64) {
        if self.number.remove(&record).is_none() && self.is_from_the_beginning(record) {
            self.written.insert(record);
        }
    }
}

/// The cache devices of a pool: what they hold, and when they are free.
pub struct L2arc {
    tables: L2arcTables,
    held: Held,
    /// Their drives, if they are drives; records that the last feed took, those of its writes that are out, and when the
    /// next one is due.
    pub drives: Option<Box<Auxiliary>>,
    pub fed: Vec<i64>,
    pub writing: usize,
    pub next_feed: i64,
    /// Of all devices of which figures are known, one behind the other.
    die_free: Vec<i64>,
    link_free: Vec<i64>,
    /// A time to feed it is set.
    pub is_fed: bool,
    /// Records that were looked for: those found, and the others.
    pub n_hits: i64,
    pub n_misses: i64,
}

impl L2arc {
    /// The L2ARC of these tables, with what it holds when the run begins.
    pub fn loaded(tables: &L2arcTables, filling: Filling, drives: Option<Box<Auxiliary>>) -> Result<Self, String> {
        let n_records = filling.cached.len();
        let held = LOADED.get(n_records, |key| *key == filling, || filling.clone(), || Held::filled(&filling))?;
        Ok(L2arc {
            held,
            drives,
            fed: Vec::new(),
            writing: 0,
            next_feed: 0,
            die_free: vec![0; tables.figures.as_ref().map_or(0, |figures| tables.devices * figures.dies) as usize],
            link_free: vec![0; tables.devices as usize],
            tables: tables.clone(),
            is_fed: false,
            n_hits: 0,
            n_misses: 0,
        })
    }

    pub fn contains(&self, record: i64) -> bool {
        self.held.contains(record)
    }

    pub fn invalidate(&mut self, record: i64) {
        self.held.invalidate(record);
    }

    /// How long after something has come into the ARC the L2ARC is fed.
    pub fn feed_ns(&self) -> i64 {
        self.tables.feed_ns
    }

    /// Takes what the ARC evicts next; how long it is to the next feed, none where there was nothing.
    pub fn feed(&mut self, arc: &ZfsArc) -> Option<i64> {
        let tables = &self.tables;
        let is_warm = arc.is_full();
        let times = if is_warm { 1 } else { 2 };
        let most = (tables.feed * times).min((tables.slots / 4).max(1));
        let headroom = tables.headroom * times;
        let mut n_fed = 0;
        self.fed.clear();
        for list in ZfsArc::FED {
            for (passed, record) in (0..).zip(arc.in_order(list, !is_warm)) {
                if passed >= headroom || n_fed == most {
                    break;
                }
                if !self.held.contains(record) {
                    self.held.insert(record);
                    self.fed.push(record);
                    n_fed += 1;
                }
            }
        }
        let next = if 2 * n_fed > most { tables.busy_feed_ns } else { tables.feed_ns };
        (n_fed > 0).then_some(next)
    }

    /// Reads a record of so many bytes from its drive, if it is on one; how many commands end that, which have the ticket.
    pub fn read_drive(&mut self, record: i64, n_bytes: i64, ticket: u32, events: &mut Events) -> Option<usize> {
        let devices = self.tables.devices;
        let drives = self.drives.as_mut()?;
        Some(drives.read((record % devices) as u32, record / devices, n_bytes, ticket, events))
    }

    /// Writes what has been fed to the drives, after which the next feed is due in `wait`; false where it takes no time.
    pub fn write_fed(&mut self, n_bytes: i64, wait: i64, events: &mut Events) -> bool {
        let Some(drives) = &mut self.drives else { return false };
        self.next_feed = events.now + wait;
        for record in &self.fed {
            self.writing += drives.append_to((record % self.tables.devices) as u32, n_bytes, events);
        }
        true
    }

    /// Begins to read a record; when it has come.
    pub fn read(&mut self, record: i64, now: i64) -> i64 {
        let devices = self.tables.devices;
        let Some(CacheDeviceTables { dies, pages, sense_ns, send_ns, latency_ns }) = self.tables.figures else {
            return now;
        };
        let (device, first) = (record % devices, record / devices * pages);
        let mut sensed = now;
        for page in first..first + pages {
            let free = &mut self.die_free[(device * dies + page % dies) as usize];
            *free = now.max(*free) + sense_ns;
            sensed = sensed.max(*free);
        }
        let free = &mut self.link_free[device as usize];
        *free = now.max(*free) + send_ns;
        (sensed + send_ns).max(*free) + latency_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn_from;

    /// Against a list of all that it holds.
    #[test]
    fn the_oldest_makes_room() {
        let mut below = drawn_from(3);
        let regions = [
            Region { first: 3, n: 20, step: 13, ages: vec![5, 1] },
            Region { first: 40, n: 5, step: 3, ages: vec![1, 3] },
        ];
        let (slots, taken) = (15, 12);
        let filling = Filling { slots, taken, regions: regions.to_vec(), ..Filling::default() };
        let mut held = Held::filled(&filling).unwrap();
        let mut plain: VecDeque<Vec<i64>> = vec![vec![]; 3].into();
        let record_of = |r: &Region, number| (0..r.n).find(|b| b * r.step % r.n == number).unwrap() + r.first;
        // the first half of the slots has five and one of them, the second one and three
        for at in 1..=taken {
            let gone = |at: i64, [old, new]: [i64; 2]| if at <= 6 { old * at / 6 } else { old + new * (at - 6) / 6 };
            let numbers = [[5, 1], [1, 3]].map(|ages| gone(at - 1, ages)..gone(at, ages));
            let records = regions.iter().zip(numbers).flat_map(|(r, n)| n.map(|number| record_of(r, number)));
            plain.push_back(records.collect());
        }
        for _ in 0..2_000 {
            let record = below(50);
            let is_there = plain.iter().flatten().any(|&other| other == record);
            assert_eq!(held.contains(record), is_there, "{record}");
            if below(3) == 0 {
                held.invalidate(record);
                plain.iter_mut().for_each(|slot| slot.retain(|&other| other != record));
            } else if !is_there {
                held.insert(record);
                plain.pop_front();
                plain.push_back(vec![record]);
            }
        }
    }
}

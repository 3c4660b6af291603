//! What caches and buffers hold when a run begins, as a caller hands it over (rules Z1 to Z6).

use std::collections::BTreeMap;

use super::{CacheTables, Scenario};
use crate::controller::ArcLists;
use crate::flash::{self, FirstLayout};
use crate::layout::{Filling, Region};
use crate::rule::MAX_SECTORS;
use crate::rule::{all_within, ascending, each_within, has_length, holds, refused, within};
use crate::scenario::Drive;
use crate::schema::record;

record! {
    /// State at time 0, as `diskmodel.engine.steady.start.Start`.
    #[derive(Clone, Debug, Default)]
    pub struct Start {
        /// Blocks that wait in the controller's write-back cache, ascending.
        pub dirty: Vec<i64>,
        /// Blocks that came into the controller's read cache, in order.
        pub cached: Vec<i64>,
        /// Which of these were written: their numbers, ascending.
        pub cached_written: Vec<i64>,
        /// What the ARC of a pool holds instead.
        pub arc: Option<ArcLists>,
        /// Units that every flash drive has written before everything else, in order.
        pub aged: Vec<i64>,
        /// Units that flash drives' data were last written in together; 0: all of them, in order.
        pub piece_units: i64,
        /// Units before the first one on its page, of each flash drive; empty: none.
        pub shifts: Vec<i64>,
        /// Writes that flash drives have programmed last, in order.
        pub programmed: Writes,
        /// Writes that the drives' buffers have accepted after these, in order.
        pub buffered: Writes,
        /// Room that each of these takes in a hard disk's buffer, in sectors; empty: as much as it is long.
        pub buffered_room: Vec<i64>,
        /// Writes that lie in the media cache of every hard disk but the spares, in order.
        pub logged: Spans,
        /// Runs of writes that go on, of hard disks with media caches, in order.
        pub runs: Writes,
        /// Dirty pages of the host, old enough to be written.
        pub pages_dirty: Vec<i64>,
        /// Clean pages, the least recently used first.
        pub pages_clean: Vec<i64>,
        /// Records and indirect blocks of a transaction group whose writing begins at time 0, and the records of the pool
        /// below which data lies.
        pub group_records: i64,
        pub group_indirect: i64,
        pub group_top: i64,
        /// What the cache devices of a pool hold before the read cache is filled, and from which of its blocks on they
        /// take what these evict.
        pub l2arc: Regions,
        /// How many records of each region are in equal parts of the slots that are taken, the oldest first.
        pub l2arc_ages: Vec<i64>,
        pub l2arc_taken: i64,
        pub l2arc_from: i64,
        /// Length of a list of the ARC up to which all that is used comes onto them.
        pub l2arc_seen: i64,
        /// Records that they lose, and before which of these blocks; ascending.
        pub l2arc_lost: Vec<i64>,
        pub l2arc_lost_at: Vec<i64>,
    }
}

record! {
    /// Records of a pool of which some are on its cache devices.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Regions {
        pub first: Vec<i64>,
        pub n: Vec<i64>,
        pub step: Vec<i64>,
    }
}

record! {
    /// Writes of before the run.
    #[derive(Clone, Debug, Default)]
    pub struct Writes {
        pub disk: Vec<i64>,
        /// First block and sectors.
        pub lba: Vec<i64>,
        pub n: Vec<i64>,
    }
}

record! {
    /// Places on any disk.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Spans {
        /// First block and sectors.
        pub lba: Vec<i64>,
        pub n: Vec<i64>,
    }
}

impl Writes {
    /// Number, first block and sectors of the writes of each disk.
    pub(super) fn by_disk(&self, n_disks: u32) -> Vec<Vec<(u64, i64, i64)>> {
        let mut of_disk = vec![Vec::new(); n_disks as usize];
        let writes = self.lba.iter().zip(&self.n);
        for ((seq, &disk), (&lba, &n)) in (0..).zip(&self.disk).zip(writes) {
            of_disk[disk as usize].push((seq, lba, n));
        }
        of_disk
    }
}

impl Start {
    /// What the cache devices of a pool, with so many slots, are filled with beside an ARC of so many records.
    pub(super) fn filling(&self, slots: i64, read_blocks: usize) -> Filling {
        let Regions { first, n, step } = &self.l2arc;
        let ages = self.l2arc_ages.chunks_exact((self.l2arc_ages.len() / first.len().max(1)).max(1));
        let regions = first.iter().zip(n).zip(step).zip(ages);
        Filling {
            slots,
            seen: self.l2arc_seen,
            taken: self.l2arc_taken,
            regions: regions
                .map(|(((&first, &n), &step), ages)| Region { first, n, step, ages: ages.into() })
                .collect(),
            read_blocks,
            cached: self.cached.clone(),
            cached_written: self.cached_written.clone(),
            from: self.l2arc_from as usize,
            lost: self.l2arc_lost.clone(),
            lost_at: self.l2arc_lost_at.clone(),
        }
    }

    /// How the data of a flash drive lie that are not written in this run (rule F2).
    pub(super) fn first_layout(&self, drive: u32, model: &flash::Model) -> FirstLayout {
        let n_units = model.n_sectors / model.sectors_per_unit;
        let n_pieces = if self.piece_units > 0 { (n_units / self.piece_units).max(1) } else { 0 };
        let shift = self.shifts.get(drive as usize).copied().unwrap_or(0);
        FirstLayout { piece_units: self.piece_units, n_pieces, shift }
    }
}

impl Scenario {
    /// Refuses what there is no room for, and places that are not there.
    pub(super) fn check_start(&self) -> Result<(), String> {
        let (start, sectors) = (&self.start, self.layout.capacity);
        let n_of = |unit: i64| (sectors + unit - 1) / unit;
        let room = self.cache.as_ref().map_or(0, CacheTables::dirty_blocks);
        let n_blocks = self.cache.as_ref().map_or(1, |cache| n_of(cache.block_sectors));
        within("start.dirty (number)", start.dirty.len() as i64, 0, room)?;
        each_within("start.dirty", &start.dirty, 0, n_blocks - 1)?;
        check_ascending("start.dirty", &start.dirty, 1)?;
        let has_reads = self.cache.as_ref().is_some_and(|cache| cache.read_blocks > 0);
        let rule = "there is no read cache with a size";
        holds(has_reads || start.cached.is_empty(), "start.cached (number)", start.cached.len(), rule)?;
        each_within("start.cached", &start.cached, 0, n_blocks - 1)?;
        if let Some(arc) = &start.arc {
            let is_arc = self.cache.as_ref().is_some_and(|cache| cache.read_blocks > 0 && cache.policy == "zfs-arc");
            holds(is_arc && start.cached.is_empty(), "start.arc", "lists", "there is no empty ARC")?;
            arc.check(n_blocks)?;
        }
        each_within("start.cached_written", &start.cached_written, 0, start.cached.len() as i64 - 1)?;
        check_ascending("start.cached_written", &start.cached_written, 1)?;
        self.check_writes()?;
        let n_records = self.layout.pool.as_ref().map_or(0, |pool| pool.writes.n_records);
        let group = [
            ("start.group_records", start.group_records),
            ("start.group_indirect", start.group_indirect),
            ("start.group_top", start.group_top),
        ];
        all_within(&group, 0, n_records)?;
        self.check_l2arc(n_records)?;
        let cache = self.host.as_ref().and_then(|host| host.page_cache.as_ref());
        let room = cache.map_or(0, |cache| cache.memory_pages as i64);
        let n_pages = self.host.as_ref().map_or(1, |host| n_of(host.page_sectors));
        for (field, pages) in [("start.pages_dirty", &start.pages_dirty), ("start.pages_clean", &start.pages_clean)] {
            within(&format!("{field} (number)"), pages.len() as i64, 0, room)?;
            each_within(field, pages, 0, n_pages - 1)?;
        }
        Ok(())
    }

    /// What is on cache devices is there, and once.
    fn check_l2arc(&self, n_records: i64) -> Result<(), String> {
        let Start { l2arc: Regions { first, n, step }, l2arc_ages, l2arc_lost, l2arc_lost_at, cached, .. } =
            &self.start;
        let l2arc = self.layout.pool.as_ref().and_then(|pool| pool.l2arc.as_ref());
        holds(
            l2arc.is_some() || first.is_empty(),
            "start.l2arc.first (number)",
            first.len(),
            "there is no cache device",
        )?;
        has_length("start.l2arc.n", n.len(), first.len())?;
        has_length("start.l2arc.step", step.len(), first.len())?;
        each_within("start.l2arc.step", step, 0, n_records)?;
        each_within("start.l2arc.first", first, 0, n_records)?;
        each_within("start.l2arc.n", n, 1, n_records)?;
        let n_ages = l2arc_ages.len() / first.len().max(1);
        has_length("start.l2arc_ages", l2arc_ages.len(), n_ages * first.len())?;
        let taken = self.start.l2arc_taken;
        within("start.l2arc_taken", taken, 0, l2arc.map_or(0, |l2arc| l2arc.slots))?;
        each_within("start.l2arc_ages", l2arc_ages, 0, taken)?;
        let mut end = 0;
        let mut left = taken;
        for (at, (&first, &n)) in first.iter().zip(n).enumerate() {
            within(&format!("start.l2arc.first[{at}]"), first, end, n_records)?;
            end = first + n;
            let kept = l2arc_ages[at * n_ages..(at + 1) * n_ages].iter().sum();
            within(&format!("start.l2arc_ages of region {at} (sum)"), kept, 0, n.min(left))?;
            left -= kept;
        }
        each_within("start.l2arc_lost", l2arc_lost, 0, n_records)?;
        has_length("start.l2arc_lost_at", l2arc_lost_at.len(), l2arc_lost.len())?;
        each_within("start.l2arc_lost_at", l2arc_lost_at, 0, cached.len() as i64)?;
        ascending("start.l2arc_lost_at", l2arc_lost_at)?;
        within("start.l2arc_from", self.start.l2arc_from, 0, cached.len() as i64)?;
        within("start.l2arc_seen", self.start.l2arc_seen, 0, n_records)
    }

    fn check_writes(&self) -> Result<(), String> {
        let Start { aged, programmed, buffered, piece_units, shifts, .. } = &self.start;
        // room, sectors of an arm, and sectors that take room together
        let (room, arm, unit) = match &self.drive {
            Drive::Hdd(tables) => (tables.dirty_sectors, tables.n_sectors_per_actuator, 1),
            Drive::Flash(tables) => {
                (tables.loadable_sectors(), tables.n_sectors, tables.mapping_bytes / tables.sector_bytes)
            }
            Drive::Remote(tables) => (0, tables.n_sectors(), 1),
        };
        let is_flash = matches!(self.drive, Drive::Flash(_));
        let rule = "only flash drives program";
        holds(is_flash || programmed.disk.is_empty(), "start.programmed (number)", programmed.disk.len(), rule)?;
        holds(is_flash || aged.is_empty(), "start.aged (number)", aged.len(), rule)?;
        holds(is_flash || *piece_units == 0, "start.piece_units", piece_units, rule)?;
        holds(is_flash || shifts.is_empty(), "start.shifts (number)", shifts.len(), rule)?;
        if let Drive::Flash(tables) = &self.drive {
            each_within("start.aged", aged, 0, tables.n_units() - 1)?;
            within("start.piece_units", *piece_units, 0, tables.n_units())?;
            if !shifts.is_empty() {
                has_length("start.shifts", shifts.len(), self.layout.n_devices() as usize)?;
            }
            each_within("start.shifts", shifts, 0, tables.page_bytes / tables.mapping_bytes - 1)?;
        }
        self.check_places("start.programmed", programmed, arm)?;
        self.check_places("start.buffered", buffered, arm)?;
        self.check_places("start.runs", &self.start.runs, arm)?;
        self.check_logged(arm)?;
        let rooms = &self.start.buffered_room;
        if !rooms.is_empty() {
            has_length("start.buffered_room", rooms.len(), buffered.n.len())?;
            each_within("start.buffered_room", rooms, 0, room)?;
        }
        let mut used = vec![0_i64; self.layout.n_devices() as usize];
        let places = buffered.lba.iter().zip(&buffered.n);
        for (at, (&disk, (&lba, &n))) in buffered.disk.iter().zip(places).enumerate() {
            let own = ((lba + n - 1) / unit - lba / unit + 1) * unit;
            used[disk as usize] += rooms.get(at).map_or(own, |&room| room.max(own));
            if used[disk as usize] > room {
                let rule = format_args!("disk {disk} has room for {room} sectors");
                return Err(refused(&format!("start.buffered.n[{at}]"), n, rule));
            }
        }
        Ok(())
    }

    /// Every arm's part has room for what it holds.
    fn check_logged(&self, arm: i64) -> Result<(), String> {
        let Spans { lba, n } = &self.start.logged;
        self.check_spans("start.logged", lba, n, arm)?;
        let cache = match &self.drive {
            Drive::Hdd(tables) => tables.media_cache.as_ref(),
            Drive::Flash(_) | Drive::Remote(_) => None,
        };
        let (room, run) = cache.map_or((0, 0), |cache| (cache.log_sectors, cache.run_sectors));
        let mut used = BTreeMap::new();
        let is_too_much = |(&lba, &n): (&i64, &i64)| {
            let own = used.entry(lba / arm).or_insert(0_i64);
            // the last write may reach beyond the end: a cache is full when it has begun there (rule G6)
            let is_full = *own >= room;
            *own += n;
            is_full || n >= run
        };
        match lba.iter().zip(n).position(is_too_much) {
            None => Ok(()),
            Some(at) => {
                let rule = format_args!("there is a media cache of {room} sectors, for writes of less than {run}");
                Err(refused(&format!("start.logged.n[{at}]"), n[at], rule))
            }
        }
    }

    /// Every write lies on a disk, and on one arm of it.
    fn check_places(&self, field: &str, Writes { disk, lba, n }: &Writes, arm: i64) -> Result<(), String> {
        has_length(&format!("{field}.lba"), lba.len(), disk.len())?;
        each_within(&format!("{field}.disk"), disk, 0, self.layout.n_devices() - 1)?;
        self.check_spans(field, lba, n, arm)
    }

    /// Every write lies on one arm of a disk.
    fn check_spans(&self, field: &str, lba: &[i64], n: &[i64], arm: i64) -> Result<(), String> {
        let n_sectors = match &self.drive {
            Drive::Hdd(tables) => tables.n_sectors,
            Drive::Flash(tables) => tables.n_sectors,
            Drive::Remote(tables) => tables.n_sectors(),
        };
        has_length(&format!("{field}.n"), n.len(), lba.len())?;
        each_within(&format!("{field}.n"), n, 1, MAX_SECTORS)?;
        each_within(&format!("{field}.lba"), lba, 0, n_sectors - 1)?;
        let is_not_on_arm = |(&lba, &n): (&i64, &i64)| lba + n > n_sectors || lba / arm != (lba + n - 1) / arm;
        match lba.iter().zip(n).position(is_not_on_arm) {
            None => Ok(()),
            Some(at) => {
                let rule = format_args!("so many sectors from {} on do not lie on one arm of {arm}", lba[at]);
                Err(refused(&format!("{field}.n[{at}]"), n[at], rule))
            }
        }
    }
}

/// Every number is the one before it and at least `step` more.
fn check_ascending(field: &str, values: &[i64], step: i64) -> Result<(), String> {
    match values.windows(2).position(|pair| pair[1] - pair[0] < step) {
        None => Ok(()),
        Some(at) => {
            let rule = if step > 0 {
                "must be more than the one before it"
            } else {
                "must not be less than the one before it"
            };
            Err(refused(&format!("{field}[{}]", at + 1), values[at + 1], rule))
        }
    }
}

//! What a layout must keep.

use crate::layout::{page_of, PER_MILLION};
use crate::layout::{DraidTables, Family, L2arcTables, LayoutTables, SyncAction, WriteTables};
use crate::rule::{all_within, ascending, holds, within};
use crate::rule::{
    MAX_APART_NS, MAX_DISKS, MAX_LENGTH_BYTES, MAX_PIECES, MAX_REBUILD_STEPS, MAX_SECTORS, MAX_STRIPE_PAGES,
};

/// The most disks of an array with a journal: a block of it lists a page of every disk. The least journal has room for
/// several of the largest batches of stripes.
const MAX_JOURNALED_DISKS: i64 = 203;
const MIN_JOURNAL_BLOCKS: i64 = 1024;

/// Of anything that a pool writes at once.
const MAX_WRITES: i64 = 1 << 20;

impl LayoutTables {
    /// Disks, spares included.
    pub(super) fn n_devices(&self) -> i64 {
        i64::from(self.n_disks) + i64::from(self.n_spares)
    }

    /// Refuses what places cannot be calculated from, on drives of so many sectors.
    pub(super) fn check(&self, drive_sectors: i64, sector_bytes: i64) -> Result<(), String> {
        let family = self.family;
        let n_disks = i64::from(self.n_disks);
        within("layout.n_disks", n_disks, 1, MAX_DISKS)?;
        within("layout.n_spares", i64::from(self.n_spares), 0, MAX_DISKS)?;
        all_within(&[("layout.strip", self.strip), ("layout.member", self.member)], 1, MAX_SECTORS)?;
        within("layout.largest_request", self.largest_request, 0, MAX_SECTORS)?;
        within("layout.huge_page_ppm", self.huge_page_ppm, 0, PER_MILLION)?;
        within("layout.data_offset", self.data_offset, 0, MAX_SECTORS)?;
        holds(
            self.data_offset + self.member <= drive_sectors,
            "layout.member",
            self.member,
            format_args!("must end within the drive's {drive_sectors} sectors, from data_offset on"),
        )?;
        let most_copies = if matches!(family, Family::Copies | Family::Pool) { n_disks } else { 1 };
        within("layout.copies", self.copies, 1, most_copies)?;
        let least = i64::from(family == Family::Parity);
        let counts = [("layout.n_groups", self.n_groups), ("layout.n_data", self.n_data)];
        all_within(&counts, i64::from(matches!(family, Family::Parity | Family::Pool)), n_disks)?;
        within("layout.n_parity", self.n_parity, least, n_disks)?;
        self.check_pool()?;
        holds(
            family != Family::Parity || self.n_groups * (self.n_data + self.n_parity) == n_disks,
            "layout.n_groups",
            self.n_groups,
            format_args!("groups of n_data + n_parity disks must be all {n_disks} disks"),
        )?;
        within("layout.capacity", self.capacity, 1, self.most_capacity(family))?;
        self.check_failed(family)?;
        self.check_bitmap(drive_sectors)?;
        self.check_stripes()?;
        self.check_journal(drive_sectors)?;
        self.check_partial(drive_sectors)?;
        self.check_rebuild(sector_bytes)
    }

    /// Disks of a parity group, of a mirror, or of a vdev.
    pub fn group_width(&self) -> i64 {
        if self.family == Family::Pool {
            i64::from(self.n_disks) / self.n_groups
        } else if self.n_parity > 0 {
            self.n_data + self.n_parity
        } else {
            self.copies
        }
    }

    /// Groups of the vdevs of a pool of dRAID.
    fn draid(&self) -> Option<&DraidTables> {
        self.pool.as_ref()?.draid.as_ref()
    }

    /// Whether it is a pool of dRAID vdevs.
    pub fn is_draid(&self) -> bool {
        self.draid().is_some()
    }

    fn check_pool(&self) -> Result<(), String> {
        let Some(pool) = &self.pool else {
            return holds(self.family != Family::Pool, "layout.pool", "None", "a pool needs its tables");
        };
        let width = self.group_width();
        let group = self.n_data + self.n_parity;
        let is_vdev = match &pool.draid {
            Some(draid) => {
                draid.check(width, group)?;
                self.n_parity > 0 && self.copies == 1 && pool.align == group && pool.stored % group == 0
            }
            None if self.n_parity > 0 => group == width && self.copies == 1 && pool.align == 1,
            None => self.n_data == 1 && self.copies == width && pool.align == 1,
        };
        holds(
            self.family == Family::Pool
                && self.n_groups * width == i64::from(self.n_disks)
                && is_vdev
                && self.stripe_cache == 0
                && self.bitmap_chunk == 0
                && self.sync_action != SyncAction::Resync,
            "layout.pool",
            width,
            format_args!("vdevs of so many disks must be all {} disks, with nothing of RAID", self.n_disks),
        )?;
        let counts = [
            ("layout.pool.record", pool.record),
            ("layout.pool.block", pool.block),
            ("layout.pool.stored", pool.stored),
            ("layout.pool.turn_records", pool.turn_records),
            ("layout.pool.n_slabs", pool.n_slabs),
            ("layout.pool.slab_blocks", pool.slab_blocks),
            ("layout.pool.half_records", pool.half_records),
            ("layout.pool.slab_records", pool.slab_records),
            ("layout.pool.near", pool.near),
            ("layout.pool.turn_of_copies", pool.turn_of_copies),
            ("layout.pool.most_active", pool.most_active),
            ("layout.pool.gather", pool.gather),
        ];
        all_within(&counts, 1, MAX_SECTORS)?;
        let others = [
            ("layout.pool.skipped_slabs", pool.skipped_slabs),
            ("layout.pool.early_records", pool.early_records),
            ("layout.pool.early_blocks", pool.early_blocks),
            ("layout.pool.late_blocks", pool.late_blocks),
            ("layout.pool.swap_blocks", pool.swap_blocks),
            ("layout.pool.near_load", pool.near_load),
            ("layout.pool.far_load", pool.far_load),
            ("layout.pool.gather_gap", pool.gather_gap),
        ];
        all_within(&others, 0, MAX_SECTORS)?;
        let ahead = [
            ("layout.pool.reads.streams", pool.reads.streams),
            ("layout.pool.reads.least", pool.reads.least),
            ("layout.pool.reads.most", pool.reads.most),
            ("layout.pool.reads.held", pool.reads.held),
            ("layout.pool.reads.active", pool.reads.active),
        ];
        all_within(&ahead, 1, MAX_SECTORS)?;
        within("layout.pool.reads.reap_ns", pool.reads.reap_ns, 0, MAX_APART_NS)?;
        self.check_pool_writes(&pool.writes)?;
        pool.l2arc.as_ref().map_or(Ok(()), L2arcTables::check)?;
        let scan = &pool.scan;
        within("layout.pool.scan.records", scan.records, 0, self.capacity / pool.record)?;
        within("layout.pool.scan.in_flight", scan.in_flight, 1, MAX_SECTORS)?;
        within("layout.pool.scan.segment", scan.segment, 0, MAX_SECTORS)?;
        let has_fixed_rows = pool.draid.is_some() || self.n_parity == 0;
        holds(
            scan.segment == 0
                || has_fixed_rows
                    && self.sync_action == SyncAction::Recover
                    && scan.segment % pool.align == 0
                    && pool.early_blocks == pool.late_blocks,
            "layout.pool.scan.segment",
            scan.segment,
            "must be 0 but in the resilver of a mirror or of dRAID, of which it is whole rows",
        )?;
        within("layout.pool.scan.least_ns", scan.least_ns, 0, MAX_APART_NS)?;
        let reads = [
            ("layout.pool.scan.active_least", scan.active_least),
            ("layout.pool.scan.active_most", scan.active_most),
            ("layout.pool.scan.quiet", scan.quiet),
            ("layout.pool.scan.credit", scan.credit),
        ];
        all_within(&reads, 1, MAX_WRITES)?;
        holds(pool.record % pool.block == 0, "layout.pool.record", pool.record, "must be a multiple of a block")?;
        holds(
            pool.half_records < pool.slab_records,
            "layout.pool.half_records",
            pool.half_records,
            "must leave records for the other half of a metaslab",
        )?;
        within("layout.pool.skipped_slabs", pool.skipped_slabs, 0, pool.n_slabs - 1)?;
        let wide = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let begin = pool.early_blocks.max(pool.late_blocks);
        holds(
            wide(pool.slab_records, pool.stored) + i128::from(begin + pool.align - 1) <= i128::from(pool.slab_blocks)
                && pool.stored >= pool.record / pool.block,
            "layout.pool.slab_records",
            pool.slab_records,
            "the last record of a metaslab must end in it",
        )?;
        let all = wide(pool.n_slabs, pool.slab_blocks);
        let rows = match &pool.draid {
            Some(draid) => draid.rows_of(all, width, group),
            None if self.n_parity > 0 => (all + i128::from(width) - 1) / i128::from(width),
            None => all,
        };
        holds(
            rows * i128::from(pool.block) <= i128::from(self.member),
            "layout.pool.n_slabs",
            pool.n_slabs,
            "so many metaslabs must lie on the members",
        )?;
        let turns = wide(pool.n_slabs, pool.slab_records) / i128::from(pool.turn_records);
        let most = turns * wide(pool.turn_records, self.n_groups);
        holds(
            i128::from(self.capacity / pool.record) <= most && self.capacity % pool.record == 0,
            "layout.capacity",
            self.capacity,
            "must be whole records that the metaslabs have room for",
        )
    }

    fn check_pool_writes(&self, writes: &WriteTables) -> Result<(), String> {
        let times = [
            ("layout.pool.writes.group_ns", writes.group_ns),
            ("layout.pool.writes.longest_delay_ns", writes.longest_delay_ns),
        ];
        all_within(&times, 1, MAX_APART_NS)?;
        within("layout.pool.writes.delay_ns", writes.delay_ns, 0, MAX_APART_NS)?;
        let sectors = [
            ("layout.pool.writes.dirty_group", writes.dirty_group),
            ("layout.pool.writes.dirty_most", writes.dirty_most),
            ("layout.pool.writes.delay_from", writes.delay_from),
            ("layout.pool.writes.more_from", writes.more_from),
            ("layout.pool.writes.more_to", writes.more_to),
            ("layout.pool.writes.turn_blocks", writes.turn_blocks),
            ("layout.pool.writes.n_records", writes.n_records),
            ("layout.pool.writes.pointers", writes.pointers - 1),
            ("layout.pool.writes.label_sectors", writes.label_sectors),
        ];
        all_within(&sectors, 1, MAX_SECTORS)?;
        let counts = [
            ("layout.pool.writes.active_least", writes.active_least),
            ("layout.pool.writes.active_most", writes.active_most),
            ("layout.pool.writes.allocated", writes.allocated),
            ("layout.pool.writes.allocated_first", writes.allocated_first),
            ("layout.pool.writes.allocators", writes.allocators),
            ("layout.pool.writes.log_bursts", writes.log_bursts),
            ("layout.pool.writes.indirect_blocks", writes.indirect_blocks),
            ("layout.pool.writes.indirect", writes.indirect),
            ("layout.pool.writes.indirect_copies", writes.indirect_copies),
            ("layout.pool.writes.objects", writes.objects),
            ("layout.pool.writes.object_blocks", writes.object_blocks),
            ("layout.pool.writes.object_copies", writes.object_copies),
            ("layout.pool.writes.labeled_vdevs", writes.labeled_vdevs),
        ];
        all_within(&counts, 1, MAX_WRITES)?;
        let shares = [
            ("layout.pool.writes.rounds", writes.rounds),
            ("layout.pool.writes.above_file", writes.above_file),
            ("layout.pool.writes.log_wait_percent", writes.log_wait_percent),
        ];
        all_within(&shares, 0, MAX_WRITES)?;
        let places = [
            ("layout.pool.writes.direct_from", writes.direct_from),
            ("layout.pool.writes.log_slab", writes.log_slab),
            ("layout.pool.writes.metadata_slab", writes.metadata_slab),
            ("layout.pool.writes.slabs_apart", writes.slabs_apart),
            ("layout.pool.writes.gather_gap", writes.gather_gap),
            ("layout.pool.writes.label_first", writes.label_first),
            ("layout.pool.writes.label_last", writes.label_last),
            ("layout.pool.writes.label_apart", writes.label_apart),
        ];
        all_within(&places, 0, MAX_SECTORS)?;
        within("layout.pool.writes.record_ns", writes.record_ns, -1, MAX_APART_NS)?;
        within("layout.pool.writes.log_block", writes.log_block, 4096, MAX_LENGTH_BYTES)?;
        // an entry with a part of its data has room in the longest block, and so has a sixteenth of that
        within("layout.pool.writes.log_header", writes.log_header, 0, writes.log_block / 4)
    }

    fn check_bitmap(&self, drive_sectors: i64) -> Result<(), String> {
        within("layout.bitmap_chunk", self.bitmap_chunk, 0, MAX_SECTORS)?;
        if self.bitmap_chunk == 0 {
            return Ok(());
        }
        within("layout.bitmap_end", self.bitmap_end, 1, drive_sectors)?;
        within("layout.bitmap_start", self.bitmap_start, 0, self.bitmap_end - 1)?;
        within("layout.bitmap_page", self.bitmap_page, 1, drive_sectors)?;
        let covered = if self.family == Family::Parity { self.member } else { self.capacity };
        let last_page = page_of((covered - 1) / self.bitmap_chunk);
        holds(
            self.bitmap_start.saturating_add(last_page.saturating_mul(self.bitmap_page)) < self.bitmap_end,
            "layout.bitmap_page",
            self.bitmap_page,
            format_args!("page {last_page} from bitmap_start on must begin before bitmap_end"),
        )?;
        within("layout.bitmap_interval_ns", self.bitmap_interval_ns, 1, MAX_APART_NS)?;
        within("layout.bitmap_flush_ns", self.bitmap_flush_ns, 0, MAX_APART_NS)
    }

    fn check_stripes(&self) -> Result<(), String> {
        within("layout.stripe_cache", self.stripe_cache, 0, MAX_STRIPE_PAGES)?;
        if self.stripe_cache == 0 {
            return Ok(());
        }
        within("layout.stripe_page", self.stripe_page, 1, self.strip)?;
        holds(
            self.family == Family::Parity
                && self.n_groups == 1
                && self.n_disks <= u64::BITS
                && !self.holds_disks
                && self.strip % self.stripe_page == 0,
            "layout.stripe_cache",
            self.stripe_cache,
            "needs one group with parity of up to 64 disks that are not held, and strips of whole pages",
        )
    }

    fn check_journal(&self, drive_sectors: i64) -> Result<(), String> {
        let Some(journal) = &self.journal else { return Ok(()) };
        holds(
            self.family == Family::Parity
                && self.n_groups == 1
                && i64::from(self.n_disks) <= MAX_JOURNALED_DISKS
                && !self.holds_disks
                && self.bitmap_chunk == 0,
            "layout.journal",
            self.n_disks,
            format_args!(
                "is for one group with parity of up to {MAX_JOURNALED_DISKS} disks that are not held, without a bitmap"
            ),
        )?;
        within("layout.journal.page", journal.page, 1, self.strip)?;
        holds(
            self.strip % journal.page == 0,
            "layout.journal.page",
            journal.page,
            "the strip must be a multiple of it",
        )?;
        within("layout.journal.flush_ns", journal.flush_ns, 0, MAX_APART_NS)?;
        within("layout.journal.blocks", journal.blocks, MIN_JOURNAL_BLOCKS, MAX_SECTORS)?;
        within("layout.journal.reclaimed", journal.reclaimed, 1, journal.blocks / 4)?;
        within("layout.journal.super_first", journal.super_first, 0, drive_sectors - 1)
    }

    fn check_partial(&self, drive_sectors: i64) -> Result<(), String> {
        let Some(ppl) = &self.ppl else { return Ok(()) };
        holds(
            self.family == Family::Parity
                && self.n_groups == 1
                && self.n_parity == 1
                && self.n_disks <= u64::BITS
                && !self.holds_disks
                && self.bitmap_chunk == 0
                && self.journal.is_none(),
            "layout.ppl",
            self.n_disks,
            "is for one group with one parity of up to 64 disks that are not held, without a bitmap or a journal",
        )?;
        within("layout.ppl.page", ppl.page, 1, self.strip)?;
        holds(self.strip % ppl.page == 0, "layout.ppl.page", ppl.page, "the strip must be a multiple of it")?;
        within("layout.ppl.pages", ppl.pages, 1, MAX_WRITES)?;
        within("layout.ppl.entries", ppl.entries, 1, MAX_WRITES)?;
        within("layout.ppl.first", ppl.first, 0, drive_sectors)?;
        within("layout.ppl.end", ppl.end, ppl.first + ppl.page * (1 + ppl.pages), drive_sectors)
    }

    /// What the members hold.
    fn most_capacity(&self, family: Family) -> i64 {
        let (n_disks, strips) = (i64::from(self.n_disks), self.member / self.strip);
        match family {
            Family::Concat => self.member * n_disks,
            Family::Copies if self.far => strips / self.copies * n_disks * self.strip,
            Family::Copies => strips * n_disks / self.copies * self.strip,
            // groups of dRAID are fewer disks than all: that its metaslabs lie on them is checked with the pool
            Family::Pool if self.is_draid() => self.member.saturating_mul(i64::from(self.n_disks)),
            Family::Parity | Family::Pool => strips * self.strip * self.n_data * self.n_groups,
        }
    }

    /// Of everything something must be left.
    fn check_failed(&self, family: Family) -> Result<(), String> {
        if self.failed.is_empty() {
            return Ok(());
        }
        let n_disks = self.n_disks as usize;
        let failed: Vec<i64> = self.failed.iter().map(|&disk| i64::from(disk)).collect();
        all_within(
            &[("layout.failed", failed[0]), ("layout.failed", failed[failed.len() - 1])],
            0,
            n_disks as i64 - 1,
        )?;
        ascending("layout.failed", &failed)?;
        let mut is_lost = vec![false; n_disks];
        failed.iter().for_each(|&disk| is_lost[disk as usize] = true);
        let is_kept = match family {
            Family::Concat => false,
            Family::Pool if self.n_parity == 0 => {
                is_lost.chunks(self.copies as usize).all(|vdev| vdev.iter().any(|&lost| !lost))
            }
            Family::Parity | Family::Pool => {
                let width = self.group_width() as usize;
                let n_lost = |group: &[bool]| group.iter().filter(|&&lost| lost).count() as i64;
                is_lost.chunks(width).all(|group| n_lost(group) <= self.n_parity)
            }
            Family::Copies => self.has_copies(&is_lost),
        };
        holds(
            is_kept,
            "layout.failed",
            format_args!("{:?}", self.failed),
            "so many lost disks leave data that is nowhere",
        )
    }

    /// Whether a copy of each strip is left: no run of lost disks, round the last one, takes all of a strip's.
    fn has_copies(&self, is_lost: &[bool]) -> bool {
        let (n, copies) = (is_lost.len(), self.copies as usize);
        // strips begin at every disk, or at every so-many-th
        let step = if self.far { 1 } else { gcd(n as i64, self.copies) as usize };
        let mut run = is_lost.iter().rev().take_while(|&&lost| lost).count().min(copies);
        for (disk, &lost) in is_lost.iter().enumerate() {
            run = if lost { run + 1 } else { 0 };
            if run >= copies && (disk + 1 + n - copies) % step == 0 {
                return false;
            }
        }
        true
    }

    fn check_rebuild(&self, sector_bytes: i64) -> Result<(), String> {
        within("layout.rebuild_disk", self.rebuild_disk, -1, i64::from(self.n_disks) - 1)?;
        match self.sync_action {
            SyncAction::None => return Ok(()),
            SyncAction::Recover => {
                holds(
                    self.rebuild_disk >= 0 && self.failed.contains(&(self.rebuild_disk as u32)),
                    "layout.rebuild_disk",
                    self.rebuild_disk,
                    "must be one of the failed disks",
                )?;
                let has_spare = self.n_spares > 0 || self.draid().is_some_and(|draid| draid.n_spares > 0);
                holds(has_spare, "layout.n_spares", self.n_spares, "a rebuild needs a spare to write to")?;
            }
            SyncAction::Check | SyncAction::Resync => {
                let is_whole = self.failed.is_empty() && self.rebuild_disk < 0 && !self.far;
                let is_redundant = self.n_parity > 0 || self.copies > 1;
                holds(
                    is_whole && is_redundant,
                    "layout.sync_action",
                    format_args!("{:?}", self.sync_action),
                    "needs near copies or parity, and no failed disk",
                )?;
            }
        }
        let most = (MAX_LENGTH_BYTES / sector_bytes).min(self.strip.saturating_mul(MAX_PIECES / self.copies));
        within("layout.rebuild_window", self.rebuild_window, 1, most)?;
        within("layout.rebuild_steps", self.rebuild_steps, 1, MAX_REBUILD_STEPS)?;
        within("layout.rebuild_gap_ns", self.rebuild_gap_ns, 0, MAX_APART_NS)?;
        within("layout.rebuild_speed_min", self.rebuild_speed_min, 0, MAX_SECTORS)?;
        within("layout.rebuild_idle", self.rebuild_idle, 0, MAX_SECTORS)?;
        within("layout.rebuild_pause_ns", self.rebuild_pause_ns, 0, MAX_APART_NS)?;
        // of dRAID they are sectors of all disks
        let vdevs = match self.family {
            Family::Pool if self.is_draid() => i64::from(self.n_disks),
            Family::Pool => self.n_groups,
            _ => 1,
        };
        within("layout.rebuild_front", self.rebuild_front, 0, self.member.saturating_mul(vdevs))
    }

    /// Longest request in sectors that becomes no more than `MAX_PIECES` commands.
    pub(super) fn most_request(&self) -> i64 {
        if !self.cuts_reads && self.largest_request == 0 && self.failed.is_empty() {
            return MAX_SECTORS;
        }
        // a record of dRAID may lie in two groups
        let pieces = if self.is_draid() { 2 * (self.n_data + self.n_parity) } else { self.group_width() };
        self.strip.saturating_mul((MAX_PIECES / pieces).max(1))
    }
}

impl DraidTables {
    /// Refuses groups of `group` disks that do not lie in rows of whole vdevs of `width` disks.
    fn check(&self, width: i64, group: i64) -> Result<(), String> {
        let counts = [
            ("layout.pool.draid.row_blocks", self.row_blocks),
            ("layout.pool.draid.slice_groups", self.slice_groups),
            ("layout.pool.draid.slice_rows", self.slice_rows),
        ];
        all_within(&counts, 1, MAX_SECTORS)?;
        within("layout.pool.draid.n_spares", self.n_spares, 0, width - group)?;
        let places = i128::from(width - self.n_spares);
        holds(
            i128::from(self.slice_groups) * i128::from(group) == i128::from(self.slice_rows) * places,
            "layout.pool.draid.slice_groups",
            self.slice_groups,
            "must fill whole rows",
        )?;
        let is_order = |order: &[u32]| {
            let mut sorted = order.to_vec();
            sorted.sort_unstable();
            (0..width).eq(sorted.into_iter().map(i64::from))
        };
        holds(
            !self.orders.is_empty() && self.orders.chunks(width as usize).all(is_order),
            "layout.pool.draid.orders",
            self.orders.len(),
            format_args!("each must have every one of {width} disks"),
        )
    }

    /// Blocks of each disk that the first so many blocks of a vdev reach into.
    fn rows_of(&self, blocks: i128, width: i64, group: i64) -> i128 {
        let (group, row) = (i128::from(group), i128::from(self.row_blocks));
        let (slice_groups, places) = (i128::from(self.slice_groups), i128::from(width - self.n_spares));
        let last = (blocks - 1) / (group * row);
        let rows =
            last / slice_groups * i128::from(self.slice_rows) + (last % slice_groups * group + group - 1) / places;
        (rows + 1) * row
    }
}

pub(super) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

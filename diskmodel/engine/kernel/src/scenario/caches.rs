//! A controller's real caches, as a caller hands them over.

use super::start::Start;
use crate::controller::{BlockCache, DirtyBlocks, Lanes};
use crate::rule::{holds, refused, size_within, within};
use crate::rule::{MAX_DEPTH, MAX_DISKS, MAX_LENGTH_BYTES, MAX_SECTORS};
use crate::schema::record;
use crate::simulation::{Cache, ReadAhead};

/// Pieces that may be in flight for one reader: each that is added is compared with all of them.
const MAX_AHEAD: i64 = 1 << 14;

record! {
    /// A controller's real caches, as `diskmodel.controller.tables.CacheTables`.
    #[derive(Clone, Debug)]
    pub struct CacheTables {
        pub block_sectors: i64,
        pub policy: String,
        /// 0: no read cache.
        pub read_blocks: usize,
        /// 0: no write cache.
        pub dirty_lines: i64,
        pub high_lines: i64,
        pub low_lines: i64,
        /// Blocks of a line.
        pub line_blocks: i64,
        /// The write cache answers flushes at once (rule K13).
        pub is_protected: bool,
        pub lanes: Lanes,
        pub read_ahead_sectors: i64,
        pub read_ahead_piece_sectors: i64,
    }
}

impl CacheTables {
    /// Refuses what would not fit, over rows of so many sectors of data.
    pub(super) fn check(&self, sector_bytes: i64, row_sectors: i64) -> Result<(), String> {
        let longest = MAX_LENGTH_BYTES / sector_bytes;
        within("cache.block_sectors", self.block_sectors, 1, longest)?;
        size_within("cache.read_blocks", self.read_blocks, 0, MAX_SECTORS)?;
        within("cache.line_blocks", self.line_blocks, 1, longest)?;
        within("cache.dirty_lines", self.dirty_lines, 0, MAX_SECTORS / self.line_blocks)?;
        within("cache.high_lines", self.high_lines, 0, self.dirty_lines)?;
        within("cache.low_lines", self.low_lines, 0, self.high_lines)?;
        let Lanes { block_sectors, stripe_sectors, strip_sectors, .. } = self.lanes;
        let rule = format_args!("must be cache.block_sectors, {}", self.block_sectors);
        holds(block_sectors == self.block_sectors, "cache.lanes.block_sectors", block_sectors, rule)?;
        within("cache.lanes.n", self.lanes.n, 1, MAX_DISKS)?;
        within("cache.lanes.stripe_sectors", stripe_sectors, 1, MAX_SECTORS)?;
        within("cache.lanes.lane_sectors", self.lanes.lane_sectors, 1, MAX_SECTORS)?;
        within("cache.lanes.lane_step", self.lanes.lane_step, 1, MAX_DISKS)?;
        within("cache.lanes.strip_sectors", strip_sectors, 1, MAX_SECTORS)?;
        within("cache.lanes.strip_cost", self.lanes.strip_cost, 1, MAX_DISKS)?;
        within("cache.lanes.stripe_cost", self.lanes.stripe_cost, 0, MAX_DISKS)?;
        within("cache.lanes.next_sectors", self.lanes.next_sectors, 1, MAX_SECTORS)?;
        within("cache.lanes.budget", self.lanes.budget, 1, MAX_DEPTH * MAX_DISKS)?;
        within("cache.lanes.most", self.lanes.most, 1, MAX_DEPTH * MAX_DISKS)?;
        let run = self.dirty_blocks().min(stripe_sectors / self.block_sectors + 1);
        let rule = format_args!("a stripe is more than 4 GiB at once");
        holds(run <= longest / self.block_sectors, "cache.lanes.stripe_sectors", stripe_sectors, rule)?;
        within("cache.read_ahead_sectors", self.read_ahead_sectors, 0, longest)?;
        let field = "cache.read_ahead_piece_sectors";
        let most = longest.min(row_sectors.max(self.block_sectors));
        within(field, self.read_ahead_piece_sectors, 1, most)?;
        let n_pieces = self.read_ahead_sectors / self.read_ahead_piece_sectors;
        let rule = format_args!("must be no more than {MAX_AHEAD} in cache.read_ahead_sectors");
        holds(n_pieces <= MAX_AHEAD, field, self.read_ahead_piece_sectors, rule)
    }

    /// Blocks that the write cache has room for where they fill whole lines.
    pub(super) fn dirty_blocks(&self) -> i64 {
        self.dirty_lines * self.line_blocks
    }

    /// The read cache with what it holds when a run begins.
    fn block_cache(&self, start: &Start) -> Result<BlockCache, String> {
        if let Some(arc) = &start.arc {
            return Ok(BlockCache::ZfsArc(arc.build(self.read_blocks)));
        }
        BlockCache::loaded(&self.policy, self.read_blocks, &start.cached, &start.cached_written)
            .map_err(|rule| refused("cache.policy", &self.policy, rule))
    }

    /// Of tables that were checked.
    pub(super) fn build(&self, start: &Start) -> Result<Cache, String> {
        let read = if self.read_blocks > 0 { Some(self.block_cache(start)?) } else { None };
        let mut dirty = (self.dirty_lines > 0)
            .then(|| DirtyBlocks::new(self.dirty_lines, self.high_lines, self.low_lines, self.line_blocks, self.lanes));
        if let Some(dirty) = &mut dirty {
            dirty.load(&start.dirty);
        }
        let ahead = ReadAhead::new(self.read_ahead_sectors, self.read_ahead_piece_sectors);
        Ok(Cache::new(self.block_sectors, read, dirty, ahead, self.is_protected))
    }
}

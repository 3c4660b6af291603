//! A controller's real caches, as a caller hands them over.

use crate::controller::{BlockCache, DirtyBlocks};
use crate::rule::{holds, refused, size_within, within};
use crate::rule::{MOST_DEPTH, MOST_LENGTH_BYTES, MOST_SECTORS};
use crate::simulation::{Cache, ReadAhead};

/// Pieces that may be in flight for one reader: each that is added is compared with all of them.
const MOST_AHEAD: i64 = 1 << 14;

/// A controller's real caches, as `diskmodel.controller.tables.CacheTables`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct CacheTables {
    pub block_sectors: i64,
    pub policy: String,
    /// 0: no read cache.
    pub read_blocks: usize,
    /// 0: no write cache.
    pub dirty_blocks: i64,
    pub high_blocks: i64,
    pub low_blocks: i64,
    pub destage_blocks: i64,
    pub destage_depth: usize,
    pub read_ahead_sectors: i64,
    pub read_ahead_piece_sectors: i64,
}

impl CacheTables {
    /// Refuses what would not fit, over rows of so many sectors of data.
    pub(super) fn check(&self, sector_bytes: i64, row_sectors: i64) -> Result<(), String> {
        let longest = MOST_LENGTH_BYTES / sector_bytes;
        within("cache.block_sectors", self.block_sectors, 1, longest)?;
        size_within("cache.read_blocks", self.read_blocks, 0, MOST_SECTORS)?;
        within("cache.dirty_blocks", self.dirty_blocks, 0, MOST_SECTORS)?;
        within("cache.high_blocks", self.high_blocks, 0, self.dirty_blocks)?;
        within("cache.low_blocks", self.low_blocks, 0, self.high_blocks)?;
        let least = i64::from(self.dirty_blocks > 0);
        within("cache.destage_blocks", self.destage_blocks, least, MOST_SECTORS)?;
        size_within("cache.destage_depth", self.destage_depth, least, MOST_DEPTH)?;
        let run = self.destage_blocks.min(self.dirty_blocks);
        let rule = format_args!("so many blocks of {} sectors are more than 4 GiB at once", self.block_sectors);
        holds(run <= longest / self.block_sectors, "cache.destage_blocks", self.destage_blocks, rule)?;
        within("cache.read_ahead_sectors", self.read_ahead_sectors, 0, longest)?;
        let field = "cache.read_ahead_piece_sectors";
        let most = longest.min(row_sectors.max(self.block_sectors));
        within(field, self.read_ahead_piece_sectors, 1, most)?;
        let n_pieces = self.read_ahead_sectors / self.read_ahead_piece_sectors;
        let rule = format_args!("must be no more than {MOST_AHEAD} in cache.read_ahead_sectors");
        holds(n_pieces <= MOST_AHEAD, field, self.read_ahead_piece_sectors, rule)
    }

    fn block_cache(&self) -> Result<BlockCache, String> {
        BlockCache::new(&self.policy, self.read_blocks).map_err(|rule| refused("cache.policy", &self.policy, rule))
    }

    /// Of tables that were checked.
    pub(super) fn build(&self) -> Result<Cache, String> {
        let read = if self.read_blocks > 0 { Some(self.block_cache()?) } else { None };
        let dirty = (self.dirty_blocks > 0)
            .then(|| DirtyBlocks::new(self.dirty_blocks, self.high_blocks, self.low_blocks, self.destage_blocks));
        let ahead = ReadAhead::new(self.read_ahead_sectors, self.read_ahead_piece_sectors);
        Ok(Cache::new(self.block_sectors, read, dirty, self.destage_depth, ahead))
    }
}

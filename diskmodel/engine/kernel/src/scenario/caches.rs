//! A controller's real caches, as a caller hands them over.

use crate::controller::{BlockCache, DirtyBlocks};
use crate::simulation::{Cache, ReadAhead};

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
    pub fn build(&self) -> Result<Cache, String> {
        if self.block_sectors <= 0 {
            return Err("a cache's block must have at least one sector".into());
        }
        if self.read_ahead_piece_sectors <= 0 {
            return Err("a piece that is read ahead must have at least one sector".into());
        }
        let read = if self.read_blocks > 0 { Some(BlockCache::new(&self.policy, self.read_blocks)?) } else { None };
        let dirty = (self.dirty_blocks > 0)
            .then(|| DirtyBlocks::new(self.dirty_blocks, self.high_blocks, self.low_blocks, self.destage_blocks));
        let ahead = ReadAhead::new(self.read_ahead_sectors, self.read_ahead_piece_sectors);
        Ok(Cache::new(self.block_sectors, read, dirty, self.destage_depth, ahead))
    }
}

//! The controller's caches: pure state; see `diskmodel/controller/`.

mod block_cache;
mod block_set;
mod dirty_blocks;

pub use block_cache::BlockCache;
pub use dirty_blocks::{DirtyBlocks, Lanes};

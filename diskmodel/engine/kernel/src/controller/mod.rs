//! The controller's caches: pure state; see `diskmodel/controller/`.

mod block_cache;
mod block_set;
mod dirty_blocks;
#[cfg(any(feature = "python", test))]
mod swept;

pub use block_cache::{Arc as ArcCache, BlockCache};
pub use dirty_blocks::{DirtyBlocks, Lanes};
#[cfg(feature = "python")]
pub use swept::swept;

//! The controller's caches: pure state; see `diskmodel/controller/`.

mod block_cache;
mod block_set;
mod dirty_blocks;
#[cfg(feature = "python")]
mod swept;

pub use block_cache::BlockCache;
pub use dirty_blocks::{DirtyBlocks, Lanes};
#[cfg(feature = "python")]
pub use swept::swept;

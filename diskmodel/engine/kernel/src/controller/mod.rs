//! The controller's caches: pure state; see `diskmodel/controller/`.

mod block_cache;
mod block_set;
mod dirty_blocks;
mod loaded_cache;
#[cfg(any(feature = "python", test))]
mod swept;

pub use block_cache::BlockCache;
pub use dirty_blocks::{DirtyBlocks, Lanes};
pub use loaded_cache::loaded_cache;
#[cfg(feature = "python")]
pub use swept::swept;

//! The controller's caches: pure state; see `diskmodel/controller/`.

mod block_cache;
mod block_set;
mod dirty_blocks;
#[cfg(any(feature = "python", test))]
mod swept;
mod zfs_arc;

pub use block_cache::{uses, BlockCache};
pub use dirty_blocks::{DirtyBlocks, Lanes};
#[cfg(feature = "python")]
pub use swept::swept;
pub use zfs_arc::ZfsArc;

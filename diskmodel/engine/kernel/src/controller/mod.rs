//! The controller's caches: pure state; see `diskmodel/controller/`.

mod block_cache;
mod block_set;
mod dirty_blocks;
mod swept;
mod waiting;
mod zfs_arc;

pub use block_cache::{uses, BlockCache};
pub use dirty_blocks::{DirtyBlocks, Lanes};
pub use swept::swept;
pub use waiting::{waiting_in_round, Waiting};
pub use zfs_arc::{ArcLists, ZfsArc};

//! The host's memory: pure decisions; see `diskmodel/host/`.

mod fetching;
mod flusher;
mod pages;
mod pauses;
mod ranges;
mod read_ahead;
mod syncs;
mod tables;

pub use fetching::Fetching;
pub use flusher::Flusher;
pub use pages::{Pages, Run};
pub use pauses::Pauses;
pub use ranges::{cut, pages_of};
pub use read_ahead::ReadAhead;
pub use syncs::Syncs;
pub use tables::{Costs, HostTables, PageCacheTables};

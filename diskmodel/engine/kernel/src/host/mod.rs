//! The host's memory: pure decisions; see `diskmodel/host/`.

mod coming;
mod flusher;
mod pages;
mod pauses;
mod read_ahead;
mod syncs;

pub use coming::Coming;
pub use flusher::Flusher;
pub use pages::{Pages, Run};
pub use pauses::Pauses;
pub use read_ahead::ReadAhead;
pub use syncs::Syncs;

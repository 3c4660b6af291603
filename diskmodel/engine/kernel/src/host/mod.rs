//! The host's memory: pure decisions; see `diskmodel/host/`.

mod flusher;
mod pages;
mod read_ahead;

pub use flusher::Flusher;
pub use pages::{Pages, Run};
pub use read_ahead::ReadAhead;

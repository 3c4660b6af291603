//! A simulated drive as a file that answers in real time, over FUSE.
//!
//! One thread does everything: it takes what the kernel sends, hands it to the simulation, waits for the simulation's
//! next event, and answers what has completed. The mount is made and undone by the caller.

#![cfg(target_os = "linux")]

mod clock;
mod drive;
mod lateness;
mod protocol;
mod server;
mod store;

pub use drive::Drive;
pub use protocol::Tree;
pub use server::{Ending, Server, Settings, Statistics};
pub use store::Store;

//! The native simulation kernel of diskmodel: same inputs, same outputs as the SimPy engine, to the nanosecond.
//!
//! It knows nothing of who calls it: `diskmodel-python` beside it is what Python loads, `diskmodel-web` what a page does,
//! and `diskmodel-serve` answers as a file. `docs/reference/semantics.md` numbers the rules.

mod cache;
mod cells;
mod command;
pub mod controller;
pub mod device;
mod dirty;
mod divisor;
#[cfg(test)]
mod drawn;
mod drives;
mod events;
mod flash;
mod generator;
mod hdd;
mod host;
pub mod layout;
mod line;
mod lists;
mod loaded;
mod machine;
pub mod mechanics;
pub mod media_cache;
#[cfg(feature = "movements")]
pub mod movement;
pub mod online;
pub mod ports;
mod progress;
mod queue;
mod record;
pub mod rule;
pub mod runs;
pub mod scenario;
pub mod simulation;
pub mod streamed;
pub mod tally;
pub mod traffic;
mod units;
mod virtual_disk;

use record::named;
pub use record::{given, schema};

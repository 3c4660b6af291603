//! The native simulation kernel of diskmodel: same inputs, same outputs as the SimPy engine, to the nanosecond.
//!
//! The core knows nothing of Python; `python` is the glue. `docs/reference/semantics.md` numbers the rules.

mod cache;
mod command;
mod controller;
mod device;
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
mod layout;
mod line;
mod lists;
mod loaded;
mod machine;
mod mechanics;
mod media_cache;
#[cfg(feature = "web")]
mod movement;
mod named;
pub mod online;
mod ports;
mod progress;
#[cfg(feature = "python")]
mod python;
mod queue;
mod rule;
pub mod scenario;
mod schema;
#[cfg(target_os = "linux")]
pub mod serve;
pub mod simulation;
pub mod streamed;
pub mod tally;
pub mod traffic;
mod units;
mod virtual_disk;
#[cfg(feature = "web")]
mod web;

#[cfg(feature = "python")]
#[pyo3::pymodule]
mod _kernel {
    #[pymodule_export]
    use crate::python::{
        break_off, expected_phasors, filled_media_cache, folded, likeliest_layout, ports, run, run_streamed,
        runs_of_writes, scheduler_names, schema, stop_runs, sweep_rounds, OnlineArrays,
    };

    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::serve::glue::serve_array;

    /// True when the kernel was built without optimisation.
    #[pymodule_export]
    const IS_DEBUG_BUILD: bool = cfg!(debug_assertions);

    /// Whether `ports` has a log to return.
    #[pymodule_export]
    const HAS_PORTS: bool = crate::ports::HAS_PORTS;
}

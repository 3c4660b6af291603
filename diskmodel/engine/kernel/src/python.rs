//! Glue between Python and the core: NumPy columns in and out without copying, the interpreter released meanwhile.
//!
//! What comes in is checked here once. It is refused with KeyError where something is missing, with TypeError where
//! something is of another kind or does not fit its field, and with ValueError where it breaks a rule, naming field, value
//! and rule. The core takes the rules for granted. A run that is longer than it may be is an OverflowError.

mod columns;
pub mod extract;
pub mod guard;
mod streamed;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

pub use streamed::run_streamed;

use crate::device::{Counters, Device};
use crate::scenario::{Built, Scenario, SchedulerName};
use crate::simulation::{Levels, Parts, Simulation, TOO_LONG};
use crate::traffic::{check_columns, Columns};
use columns::{CompletionsOut, RequestsIn};
use extract::extracted;
use guard::{defect, guarded};

/// End of the run in ns, rebuilt sectors, when a write first had to wait for room in the controller's cache, counters of
/// each disk, parts of a time that are too long for their column with their places, levels over time.
type Outcome = (i64, i64, Option<i64>, Vec<[i64; 8]>, Vec<(usize, i64)>, Vec<Levels>);

/// Runs requests through an array.
///
/// Fills the columns of `out`; returns the `Outcome`.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    requests: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
) -> PyResult<Outcome> {
    guarded(py, || {
        let (built, limits) = extracted::<Scenario>("array", array)?.build().map_err(PyValueError::new_err)?;
        let (requests, mut out) =
            (extracted::<RequestsIn>("requests", requests)?, extracted::<CompletionsOut>("out", out)?);
        let (requests, completions) = (requests.columns()?, out.columns()?);
        check_columns(&requests, &completions, &limits).map_err(PyValueError::new_err)?;
        let columns = Columns::new(requests, completions);
        py.detach(|| match built {
            Built::Hdd(parts) => run_parts(parts, columns),
            Built::Flash(parts) => run_parts(parts, columns),
        })
        .map_err(|message| failure(py, message))
    })
}

/// A run that is too long is the input's fault, anything else the kernel's.
fn failure(py: Python<'_>, message: &'static str) -> PyErr {
    if message == TOO_LONG {
        PyOverflowError::new_err(message)
    } else {
        defect(py, message)
    }
}

fn run_parts<D: Device>(parts: Parts<D>, columns: Columns) -> Result<Outcome, &'static str> {
    let mut simulation = Simulation::new(parts, columns);
    let (end, rebuilt) = simulation.run()?;
    let counters = simulation.disks().iter().map(|disk| row_of(&disk.counters_until(end))).collect::<Result<_, _>>()?;
    let cache_full_ns = simulation.cache_full_ns();
    let levels = simulation.take_levels();
    Ok((end, rebuilt, cache_full_ns, counters, simulation.into_traffic().put_aside()?, levels))
}

/// A disk's counters; responses whose sum leaves 64 bits are those of a run that is too long.
fn row_of(c: &Counters) -> Result<[i64; 8], &'static str> {
    let response_ns = i64::try_from(c.response_ns).map_err(|_| TOO_LONG)?;
    Ok([
        c.busy_ns,
        response_ns,
        c.n_reads,
        c.n_writes,
        c.read_sectors,
        c.write_sectors,
        c.n_cache_hits,
        c.read_response_ns,
    ])
}

/// Panics on purpose, for the tests of what becomes of a panic.
#[pyfunction]
pub fn break_off(py: Python<'_>) -> PyResult<()> {
    guarded(py, || py.detach(|| panic!("on purpose")))
}

/// Names of the schedulers that the kernel has.
#[pyfunction]
pub fn scheduler_names() -> &'static [&'static str] {
    SchedulerName::NAMES
}

/// Names of the faults that this build can plant.
#[cfg(feature = "faults")]
#[pyfunction]
pub fn fault_names() -> Vec<&'static str> {
    crate::faults::NAMES.to_vec()
}

/// Plants a fault, or none (-1).
#[cfg(feature = "faults")]
#[pyfunction]
pub fn plant(number: isize) {
    crate::faults::plant(usize::try_from(number).unwrap_or(usize::MAX));
}

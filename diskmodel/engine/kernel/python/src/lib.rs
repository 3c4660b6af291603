//! Glue between Python and the core: NumPy columns in and out without copying, the interpreter released meanwhile.
//!
//! What comes in is checked here once. It is refused with KeyError where something is missing, with TypeError where
//! something is of another kind or does not fit its field, and with ValueError where it breaks a rule, naming field, value
//! and rule. The core takes the rules for granted. A run that is longer than it may be is an OverflowError.

mod angles;
mod columns;
mod extract;
mod filled;
mod guard;
mod online;
mod records;
mod seeks;
#[cfg(target_os = "linux")]
mod serving;
mod streamed;
mod sweep;
mod watch;

use std::collections::BTreeSet;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use diskmodel_kernel::device::Counters;
use diskmodel_kernel::ports::Said;
use diskmodel_kernel::runs::{self, Recorded};
use diskmodel_kernel::scenario::{Scenario, SchedulerName};
use diskmodel_kernel::schema::Described;
use diskmodel_kernel::simulation::{Levels, STARVED, TOO_LONG};
use diskmodel_kernel::traffic::{check_columns, Columns, Feed};

use columns::{CompletionsOut, RequestsIn};
use extract::extracted;
use guard::{defect, guarded};
use records::returned;
use streamed::BlockIn;
use watch::Watch;

returned! {
    /// What a run leaves behind, beside the columns that it fills.
    pub struct Outcome {
        end_ns: i64,
        rebuilt_sectors: i64,
        /// When a write first had to wait for room in the controller's cache.
        cache_full_ns: Option<i64>,
        /// Records that were looked for on a pool's cache devices: those found, and the others.
        l2arc_hits: i64,
        l2arc_misses: i64,
        counters: CountersOut,
        /// Of drives beside the disks: those of a log, of a special vdev, and cache devices.
        own_counters: CountersOut,
        /// Parts of a time that are too long for their column, and their places in it.
        long_places: Vec<usize>,
        long_values: Vec<i64>,
        levels: Vec<Levels>,
    }
}

returned! {
    /// Counters in columns, a value for each disk.
    #[derive(Default)]
    pub struct CountersOut as "Counters" {
        busy_ns: Vec<i64>,
        response_ns: Vec<i64>,
        n_reads: Vec<i64>,
        n_writes: Vec<i64>,
        read_sectors: Vec<i64>,
        write_sectors: Vec<i64>,
        n_cache_hits: Vec<i64>,
        read_response_ns: Vec<i64>,
        n_flushes: Vec<i64>,
        n_units_written: Vec<i64>,
        n_units_programmed: Vec<i64>,
        n_charged: Vec<i64>,
    }
}

impl CountersOut {
    /// Counters of disks; responses whose sum leaves 64 bits are those of a run that is too long.
    fn from_each(each: &[Counters]) -> Result<Self, &'static str> {
        let mut out = CountersOut::default();
        for c in each {
            out.busy_ns.push(c.busy_ns);
            out.response_ns.push(i64::try_from(c.response_ns).map_err(|_| TOO_LONG)?);
            out.n_reads.push(c.n_reads);
            out.n_writes.push(c.n_writes);
            out.read_sectors.push(c.read_sectors);
            out.write_sectors.push(c.write_sectors);
            out.n_cache_hits.push(c.n_cache_hits);
            out.read_response_ns.push(c.read_response_ns);
            out.n_flushes.push(c.n_flushes);
            out.n_units_written.push(c.n_units_written);
            out.n_units_programmed.push(c.n_units_programmed);
            out.n_charged.push(c.n_charged);
        }
        Ok(out)
    }
}

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
    run_logged(py, [array, requests, out], false).map(|(outcome, _)| outcome)
}

/// What stations say to each other in the same run, nothing unless `HAS_PORTS`: time, port, drive, operation, first sector, sectors.
#[pyfunction]
pub fn ports(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    requests: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
) -> PyResult<Vec<Said>> {
    run_logged(py, [array, requests, out], true).map(|(_, said)| said)
}

fn run_logged(
    py: Python<'_>,
    [array, requests, out]: [&Bound<'_, PyAny>; 3],
    is_logged: bool,
) -> PyResult<(Outcome, Vec<Said>)> {
    guarded(py, || {
        let (built, limits) = extracted::<Scenario>("array", array)?.build().map_err(PyValueError::new_err)?;
        let (requests, mut out) =
            (extracted::<RequestsIn>("requests", requests)?, extracted::<CompletionsOut>("out", out)?);
        let (requests, completions) = (requests.columns()?, out.columns()?);
        check_columns(&requests, &completions, &limits).map_err(PyValueError::new_err)?;
        let columns = Feed::Columns(Columns::new(requests, completions));
        let mut watch = Watch::new();
        let recorded = Recorded { ports: is_logged, ..Recorded::default() };
        let (ended, feed) = py.detach(|| runs::run(built, columns, &mut || watch.is_stopped(), recorded));
        watch.raised()?;
        ended.and_then(|ended| outcome_of(ended, feed)).map_err(|message| failure(py, message))
    })
}

/// A run without an end is the input's fault, anything else the kernel's.
fn failure(py: Python<'_>, message: &'static str) -> PyErr {
    if message == TOO_LONG || message == STARVED {
        PyOverflowError::new_err(message)
    } else {
        defect(py, message)
    }
}

fn outcome_of(ended: runs::Outcome, feed: Feed) -> Result<(Outcome, Vec<Said>), &'static str> {
    let [l2arc_hits, l2arc_misses] = ended.l2arc_reads;
    let (long_places, long_values) = feed.into_columns().put_aside()?.into_iter().unzip();
    let outcome = Outcome {
        end_ns: ended.end_ns,
        rebuilt_sectors: ended.rebuilt_sectors,
        cache_full_ns: ended.cache_full_ns,
        l2arc_hits,
        l2arc_misses,
        counters: CountersOut::from_each(&ended.counters)?,
        own_counters: CountersOut::from_each(&ended.own_counters)?,
        long_places,
        long_values,
        levels: ended.levels,
    };
    Ok((outcome, ended.said))
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

/// The schema: what the records are made of that cross over, a line for each field (`diskmodel/schema.py`).
#[pyfunction]
pub fn schema() -> Vec<String> {
    let mut lines = BTreeSet::new();
    for word in [Scenario::word, RequestsIn::word, BlockIn::word, CompletionsOut::word, Outcome::word] {
        word(&mut lines);
    }
    lines.into_iter().collect()
}

#[pymodule]
mod _kernel {
    #[pymodule_export]
    use super::angles::{expected_phasors, folded, likeliest_layout};
    #[pymodule_export]
    use super::filled::{arc_after, filled_media_cache, runs_of_writes};
    #[pymodule_export]
    use super::online::OnlineArrays;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::serving::serve_array;
    #[pymodule_export]
    use super::streamed::run_streamed;
    #[pymodule_export]
    use super::sweep::{sweep_rounds, waiting_in_round};
    #[pymodule_export]
    use super::watch::stop_runs;
    #[pymodule_export]
    use super::{break_off, ports, run, scheduler_names, schema};

    /// True when the kernel was built without optimisation.
    #[pymodule_export]
    const IS_DEBUG_BUILD: bool = cfg!(debug_assertions);

    /// Whether `ports` has a log to return.
    #[pymodule_export]
    const HAS_PORTS: bool = diskmodel_kernel::ports::HAS_PORTS;
}

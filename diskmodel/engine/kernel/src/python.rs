//! Glue between Python and the core: NumPy columns in and out without copying, the interpreter released meanwhile.

mod streamed;

use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pub use streamed::run_streamed;

use crate::device::{Counters, Device};
use crate::scenario::{Built, Scenario};
use crate::simulation::{Parts, Simulation, TOO_LONG};
use crate::traffic::{Column, Columns, Completions, PartColumns, Requests, Rule, N_PARTS};

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RequestsIn<'py> {
    when_ns: PyReadonlyArray1<'py, i64>,
    op: PyReadonlyArray1<'py, u8>,
    offset: PyReadonlyArray1<'py, i64>,
    length: PyReadonlyArray1<'py, i64>,
    stream: PyReadonlyArray1<'py, i32>,
    cache_draw: PyReadonlyArray1<'py, f64>,
    streams: Vec<(i64, i64)>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct CompletionsOut<'py> {
    /// None: the requests' own times, all of them being open.
    issue_ns: Option<PyReadwriteArray1<'py, i64>>,
    done_ns: PyReadwriteArray1<'py, i64>,
    parts_ns: PartsOut<'py>,
    is_hit: PyReadwriteArray1<'py, bool>,
}

#[derive(FromPyObject)]
pub enum PartsOut<'py> {
    Wide(PyReadwriteArray1<'py, i64>),
    Narrow(PyReadwriteArray1<'py, i32>),
}

/// A column without copying; one that repeats a single value (a stride of 0) is that value.
fn column<'a, T: Element + Copy>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<Column<'a, T>> {
    let view = array.as_array();
    match view.first() {
        Some(&value) if view.strides()[0] == 0 => Ok(Column::All(value, view.len())),
        _ => Ok(Column::Each(array.as_slice()?)),
    }
}

/// End of the run in ns, rebuilt sectors, when a write first had to wait for room in the controller's cache, counters of
/// each disk, parts of a time that are too long for their column with their places.
type Outcome = (i64, i64, Option<i64>, Vec<[i64; 8]>, Vec<(usize, i64)>);

/// Runs requests through an array.
///
/// Fills the columns of `out`; returns the `Outcome`.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    array: Scenario,
    requests: RequestsIn<'_>,
    mut out: CompletionsOut<'_>,
) -> PyResult<Outcome> {
    let built = array.build().map_err(PyValueError::new_err)?;
    let columns = Requests {
        when: column(&requests.when_ns)?,
        op: column(&requests.op)?,
        offset: column(&requests.offset)?,
        length: column(&requests.length)?,
        stream: column(&requests.stream)?,
        cache_draw: column(&requests.cache_draw)?,
        rules: requests.streams.iter().map(|&(n_clients, pace)| Rule { n_clients, pace }).collect(),
    };
    let completions = Completions {
        issue: out.issue_ns.as_mut().map(|column| column.as_slice_mut()).transpose()?,
        done: out.done_ns.as_slice_mut()?,
        parts: match &mut out.parts_ns {
            PartsOut::Wide(values) => PartColumns::Wide(values.as_slice_mut()?),
            PartsOut::Narrow(values) => PartColumns::Narrow(values.as_slice_mut()?, Vec::new()),
        },
        is_hit: out.is_hit.as_slice_mut()?,
    };
    check(&columns, &completions).map_err(PyValueError::new_err)?;
    let columns = Columns::new(columns, completions);
    py.detach(|| match built {
        Built::Hdd(parts) => run_parts(parts, columns),
        Built::Flash(parts) => run_parts(parts, columns),
    })
    .map_err(failure)
}

/// A run that is too long is the input's fault, anything else the kernel's.
fn failure(message: &'static str) -> PyErr {
    if message == TOO_LONG {
        PyOverflowError::new_err(message)
    } else {
        PyRuntimeError::new_err(message)
    }
}

fn run_parts<D: Device>(parts: Parts<D>, columns: Columns) -> Result<Outcome, &'static str> {
    let mut simulation = Simulation::new(parts, columns);
    let (end, rebuilt) = simulation.run()?;
    let counters = simulation.disks().iter().map(|disk| row_of(&disk.counters_until(end))).collect::<Result<_, _>>()?;
    let cache_full_ns = simulation.cache_full_ns();
    Ok((end, rebuilt, cache_full_ns, counters, simulation.into_traffic().put_aside()?))
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

/// What the core takes for granted, so that it cannot panic.
fn check(requests: &Requests, out: &Completions) -> Result<(), String> {
    let n = requests.when.len();
    let lengths = [
        requests.op.len(),
        requests.offset.len(),
        requests.length.len(),
        requests.stream.len(),
        requests.cache_draw.len(),
        out.issue.as_ref().map_or(n, |column| column.len()),
        out.done.len(),
        out.parts.len() / N_PARTS,
        out.is_hit.len(),
    ];
    if lengths.iter().any(|&length| length != n) {
        return Err("columns must have the same length".into());
    }
    let n_streams = requests.rules.len();
    if requests.stream.any(|s| s < 0 || s as usize >= n_streams) {
        return Err("a request names a stream that there is not".into());
    }
    if requests.op.any(|op| op > 1) {
        return Err("an operation is 0 (read) or 1 (write)".into());
    }
    if requests.when.any(|t| t < 0) {
        return Err("times must not be negative".into());
    }
    Ok(())
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

//! Arrays that run side by side, each asked by a program in Python that decides what is asked next.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use diskmodel_kernel::mechanics::FLUSH;
use diskmodel_kernel::online::Array;
use diskmodel_kernel::scenario::Scenario;

use crate::extract::extracted;
use crate::guard::guarded;
use crate::CountersOut;

/// Arrays on one clock, in nanoseconds from 0. An event of one of them is over before what comes after it happens in
/// another, so that a program can answer each completion at its time.
#[pyclass(frozen)]
pub struct OnlineArrays {
    arrays: Mutex<Vec<Array>>,
}

impl OnlineArrays {
    fn locked(&self) -> MutexGuard<'_, Vec<Array>> {
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn one(arrays: &mut [Array], which: usize) -> PyResult<&mut Array> {
    arrays.get_mut(which).ok_or_else(|| PyIndexError::new_err("there is no such array"))
}

#[pymethods]
impl OnlineArrays {
    /// The arrays of scenarios at time 0.
    #[new]
    fn new(py: Python<'_>, scenarios: Vec<Bound<'_, PyAny>>, seed: u64) -> PyResult<Self> {
        guarded(py, || {
            let arrays = scenarios.iter().enumerate().map(|(at, scenario)| {
                let scenario: Scenario = extracted("array", scenario)?;
                Array::new(scenario, seed.wrapping_add(at as u64)).map_err(PyValueError::new_err)
            });
            Ok(OnlineArrays { arrays: Mutex::new(arrays.collect::<PyResult<_>>()?) })
        })
    }

    /// A request to array `which` at `now` (0 read, 1 write, 2 flush; bytes); with `is_safe` a write that a flush follows.
    #[allow(clippy::too_many_arguments)]
    fn submit(
        &self,
        py: Python<'_>,
        which: usize,
        now_ns: i64,
        tag: u64,
        op: u8,
        offset: i64,
        length: i64,
        is_safe: bool,
    ) -> PyResult<()> {
        guarded(py, || {
            let mut arrays = self.locked();
            let array = one(&mut arrays, which)?;
            if op == FLUSH {
                array.flush(now_ns, tag);
                return Ok(());
            }
            let submitted = if is_safe {
                array.write_safely(now_ns, tag, offset, length)
            } else {
                array.submit(now_ns, tag, op, offset, length)
            };
            submitted.map_err(PyValueError::new_err)
        })
    }

    /// Lets time pass until something is done, up to `limit` (that instant included): tags and times of what is done.
    fn step(&self, py: Python<'_>, limit_ns: i64) -> PyResult<Vec<(u64, i64)>> {
        guarded(py, || {
            let mut arrays = self.locked();
            let mut done = Vec::new();
            while done.is_empty() {
                let next = arrays.iter().enumerate().filter_map(|(at, array)| Some((array.next_event_ns()?, at))).min();
                let Some((time, at)) = next.filter(|&(time, _)| time <= limit_ns) else { break };
                arrays[at].advance(time, |tag, at_ns| done.push((tag, at_ns)));
            }
            Ok(done)
        })
    }

    /// Counters of the disks of array `which` until now.
    fn counters(&self, py: Python<'_>, which: usize) -> PyResult<CountersOut> {
        guarded(py, || {
            let mut arrays = self.locked();
            let counters = one(&mut arrays, which)?.counters();
            CountersOut::from_each(&counters).map_err(PyValueError::new_err)
        })
    }

    /// Usable bytes of array `which`.
    fn capacity_bytes(&self, which: usize) -> PyResult<i64> {
        Ok(one(&mut self.locked(), which)?.capacity_bytes())
    }
}

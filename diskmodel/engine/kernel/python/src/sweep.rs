//! Rounds of the destaging sweep for Python, and what waits in one.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use diskmodel_kernel::controller::{self, swept, Lanes};

use crate::extract::extracted;
use crate::guard::guarded;

/// Sweeps a cache without disks: whole rounds, the uses that they took together, and blocks that wait behind the sweeps.
#[pyfunction]
pub fn sweep_rounds(
    py: Python<'_>,
    uses: PyReadonlyArray1<'_, i64>,
    waiting: PyReadonlyArray1<'_, i64>,
    n: usize,
    lanes: &Bound<'_, PyAny>,
) -> PyResult<(usize, usize, usize)> {
    guarded(py, || {
        let lanes: Lanes = extracted("lanes", lanes)?;
        let (uses, waiting) = (uses.as_slice()?, waiting.as_slice()?);
        let found = py.detach(|| swept(uses, waiting, n, &lanes));
        Ok((found.n_rounds, found.n_uses, found.n_behind))
    })
}

/// Blocks that wait in `n` lines when a sweep takes as many as come, and the uses of blocks that its round takes.
#[pyfunction]
#[pyo3(signature = (uses, n, lane, line_blocks))]
pub fn waiting_in_round<'py>(
    py: Python<'py>,
    uses: PyReadonlyArray1<'py, i64>,
    n: usize,
    lane: Option<PyReadonlyArray1<'py, i64>>,
    line_blocks: i64,
) -> PyResult<(Bound<'py, PyArray1<i64>>, i64)> {
    guarded(py, || {
        let uses = uses.as_slice()?;
        let lane = lane.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
        if lane.is_some_and(|lane| lane.len() != uses.len()) || u32::try_from(uses.len()).is_err() {
            return Err(PyValueError::new_err("uses and lane must have as many values, fewer than 2**32"));
        }
        let is_place = |&value: &i64| value >= 0;
        if line_blocks < 1 || !uses.iter().all(is_place) || !lane.is_none_or(|lane| lane.iter().all(is_place)) {
            return Err(PyValueError::new_err(
                "blocks and lanes are numbered from 0 on, and a line has one block at least",
            ));
        }
        let found = py.detach(|| controller::waiting_in_round(uses, lane, n, line_blocks));
        Ok((found.blocks.into_pyarray(py), found.round_uses))
    })
}

//! Rounds of the destaging sweep for Python.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use diskmodel_kernel::controller::{swept, Lanes};

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

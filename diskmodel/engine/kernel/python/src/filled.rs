//! Media caches and ARCs after a long time of use, for Python.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use diskmodel_kernel::controller::{uses, ZfsArc};
use diskmodel_kernel::media_cache::{filled, runs};

use crate::guard::guarded;

type Int64Array<'py> = Bound<'py, PyArray1<i64>>;

/// Fills a media cache: numbers of the writes that it holds, and of those before which room was made; whether it was full
/// in the end, and writes that it held after half of them.
#[pyfunction]
#[pyo3(signature = (lba, n, band, max_extents, log_sectors))]
pub fn filled_media_cache<'py>(
    py: Python<'py>,
    lba: PyReadonlyArray1<'py, i64>,
    n: PyReadonlyArray1<'py, i64>,
    band: Option<PyReadonlyArray1<'py, i64>>,
    max_extents: usize,
    log_sectors: i64,
) -> PyResult<(Int64Array<'py>, Int64Array<'py>, bool, usize)> {
    guarded(py, || {
        let (lba, n) = (lba.as_slice()?, n.as_slice()?);
        let band = band.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
        if n.len() != lba.len() || band.is_some_and(|band| band.len() != lba.len()) {
            return Err(PyValueError::new_err("lba, n and band must have as many values"));
        }
        let found = py.detach(|| filled(lba, n, band, max_extents, log_sectors));
        let column = |values: Vec<usize>| values.into_iter().map(|at| at as i64).collect::<Vec<_>>().into_pyarray(py);
        Ok((column(found.held), column(found.cleaned_at), found.is_full, found.n_at_half))
    })
}

/// Runs of writes in order: sectors of that of each write, and disk, begin and end of those that go on after the last.
#[pyfunction]
#[pyo3(signature = (disk, lba, end))]
pub fn runs_of_writes<'py>(
    py: Python<'py>,
    disk: PyReadonlyArray1<'py, i64>,
    lba: PyReadonlyArray1<'py, i64>,
    end: PyReadonlyArray1<'py, i64>,
) -> PyResult<(Int64Array<'py>, Int64Array<'py>)> {
    guarded(py, || {
        let (disk, lba, end) = (disk.as_slice()?, lba.as_slice()?, end.as_slice()?);
        if disk.len() != lba.len() || end.len() != lba.len() {
            return Err(PyValueError::new_err("disk, lba and end must have as many values"));
        }
        let (lengths, left) = py.detach(|| runs(disk, lba, end));
        Ok((lengths.into_pyarray(py), left.concat().into_pyarray(py)))
    })
}

/// The lists of an ARC after uses of blocks, of which those with the numbers in `written` wrote: recent blocks, frequent
/// ones, and those evicted of both, the oldest first; and the share of recent ones.
#[pyfunction]
#[pyo3(signature = (capacity, blocks, written))]
pub fn arc_after<'py>(
    py: Python<'py>,
    capacity: usize,
    blocks: PyReadonlyArray1<'py, i64>,
    written: PyReadonlyArray1<'py, i64>,
) -> PyResult<(Vec<Int64Array<'py>>, u64)> {
    guarded(py, || {
        let (blocks, written) = (blocks.as_slice()?, written.as_slice()?);
        let (lists, share) = py.detach(|| {
            let mut arc = ZfsArc::new(capacity);
            arc.reserve(blocks.len());
            for (block, is_written) in uses(blocks, written) {
                arc.used(block, is_written);
            }
            arc.state()
        });
        Ok((lists.into_iter().map(|list| list.into_pyarray(py)).collect(), share))
    })
}

//! Glue between Python and the server: descriptors and a scenario in, counts out, the interpreter released meanwhile.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use diskmodel_kernel::online::Array;
use diskmodel_kernel::rule::{holds, within};
use diskmodel_kernel::scenario::Scenario;
use diskmodel_serve::{Ending, Server, Settings, Store, Tree};

use crate::extract::extracted;
use crate::guard::guarded;
use crate::records::taken;

taken! {
    pub struct SettingsIn as "Settings" {
        fuse_fd: i32,
        stop_fd: i32,
        /// -1: reads as zeros.
        store_fd: i32,
        size_bytes: u64,
        uid: u32,
        gid: u32,
        mounted_unix_s: u64,
        time_scale: f64,
        seed: u64,
    }
}

#[derive(IntoPyObject)]
pub struct StatisticsOut {
    is_unmounted: bool,
    n_reads: u64,
    n_writes: u64,
    read_bytes: u64,
    write_bytes: u64,
    n_flushes: u64,
    n_data_errors: u64,
    most_outstanding: usize,
    busy_ns: i64,
    late_p50_ns: i64,
    late_p99_ns: i64,
    late_max_ns: i64,
}

/// Most and least seconds of the machine that a second of the model lasts.
const SCALES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Serves an array as a file until stopped or unmounted.
#[pyfunction]
pub fn serve_array(py: Python<'_>, array: &Bound<'_, PyAny>, settings: &Bound<'_, PyAny>) -> PyResult<StatisticsOut> {
    guarded(py, || serve(py, extracted("array", array)?, extracted("settings", settings)?))
}

fn serve(py: Python<'_>, array: Scenario, settings: SettingsIn) -> PyResult<StatisticsOut> {
    let array = Array::new(array, settings.seed).map_err(PyValueError::new_err)?;
    let SettingsIn { fuse_fd, stop_fd, store_fd, size_bytes, uid, gid, mounted_unix_s, time_scale, .. } = settings;
    let size = i64::try_from(size_bytes).unwrap_or(i64::MAX);
    within("settings.size_bytes", size, 1, array.capacity_bytes())
        .and_then(|()| within("settings.fuse_fd", fuse_fd.into(), 0, i32::MAX.into()))
        .and_then(|()| within("settings.stop_fd", stop_fd.into(), 0, i32::MAX.into()))
        .and_then(|()| holds(SCALES.contains(&time_scale), "settings.time_scale", time_scale, "must be 1e-9 to 1e9"))
        .map_err(PyValueError::new_err)?;
    let store = if store_fd < 0 { Store::Zero } else { Store::File(store_fd) };
    let tree = Tree { size_bytes, uid, gid, mounted_unix_s };
    let (ending, counted) = py
        .detach(|| {
            let mut server = Server::new(array, Settings { fuse_fd, stop_fd, store, tree, time_scale });
            server.run().map(|ending| (ending, server.statistics().clone()))
        })
        .map_err(PyRuntimeError::new_err)?;
    let (late_p50_ns, late_p99_ns, late_max_ns) = counted.late_ns();
    Ok(StatisticsOut {
        is_unmounted: ending == Ending::Unmounted,
        n_reads: counted.n_reads,
        n_writes: counted.n_writes,
        read_bytes: counted.read_bytes,
        write_bytes: counted.write_bytes,
        n_flushes: counted.n_flushes,
        n_data_errors: counted.n_data_errors,
        most_outstanding: counted.most_outstanding,
        busy_ns: counted.busy_ns,
        late_p50_ns,
        late_p99_ns,
        late_max_ns,
    })
}

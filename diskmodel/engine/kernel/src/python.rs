//! Glue between Python and the core: NumPy columns in and out without copying, the interpreter released meanwhile.

use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::device::{Counters, Device, Intake};
use crate::hdd::{Disk, Electronics, Model};
use crate::layout::{Family, Layout};
use crate::mechanics::{Mechanics, Spindle};
use crate::queue::{Policy, Tunables};
use crate::simulation::{Completions, Controller, Requests, Simulation, N_PARTS};

/// A drive's tables, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct DriveIn {
    sector_bytes: i64,
    n_sectors: i64,
    n_sectors_per_actuator: i64,
    actuators: i64,
    heads: i64,
    zone_first_lba: Vec<i64>,
    zone_first_cylinder: Vec<i64>,
    sectors_per_track: Vec<i64>,
    track_skew: Vec<i64>,
    cylinder_skew: Vec<i64>,
    spare_sectors_per_cylinder: Vec<i64>,
    seek_ns: Vec<i64>,
    head_switch_ns: i64,
    write_settle_ns: i64,
    zero_latency: bool,
    read_overhead_ns: i64,
    write_overhead_ns: i64,
    completion_overhead_ns: i64,
    interface_bytes_per_s: i64,
    cache_segments: i64,
    segment_sectors: i64,
    read_ahead_sectors: i64,
    dirty_sectors: i64,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LayoutIn {
    family: String,
    n_disks: u32,
    n_spares: u32,
    strip: i64,
    member: i64,
    data_offset: i64,
    copies: i64,
    far: bool,
    n_groups: i64,
    n_data: i64,
    n_parity: i64,
    rotation: i64,
    read_policy: i64,
    write_policy: i64,
    failed: Vec<u32>,
    rebuild_disk: i64,
    rebuild_window: i64,
    rebuild_gap_ns: i64,
    rebuild_front: i64,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct QueueIn {
    scheduler: String,
    age_ns: i64,
    read_expire_ns: i64,
    write_expire_ns: i64,
    fifo_batch: i64,
    writes_starved: i64,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ArrayIn {
    drive: DriveIn,
    layout: LayoutIn,
    queue: QueueIn,
    drive_queue: QueueIn,
    depth: usize,
    command_ns: i64,
    hit_ns: i64,
    link_bytes_per_s: i64,
    hit_ratio: f64,
    revolution_ns: Vec<i64>,
    phase_ns: Vec<i64>,
}

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
    issue_ns: PyReadwriteArray1<'py, i64>,
    done_ns: PyReadwriteArray1<'py, i64>,
    parts_ns: PyReadwriteArray1<'py, i64>,
    is_hit: PyReadwriteArray1<'py, bool>,
}

/// Runs requests through an array of hard disks.
///
/// Fills the columns of `out`; returns (end_ns, rebuilt sectors, counters of each disk).
#[pyfunction]
pub fn run_hdd(
    py: Python<'_>,
    array: ArrayIn,
    requests: RequestsIn<'_>,
    mut out: CompletionsOut<'_>,
) -> PyResult<(i64, i64, Vec<[i64; 7]>)> {
    let (model, layout, controller, disks) = build(array).map_err(PyValueError::new_err)?;
    let columns = Requests {
        when: requests.when_ns.as_slice()?,
        op: requests.op.as_slice()?,
        offset: requests.offset.as_slice()?,
        length: requests.length.as_slice()?,
        stream: requests.stream.as_slice()?,
        cache_draw: requests.cache_draw.as_slice()?,
        streams: requests.streams,
    };
    let completions = Completions {
        issue: out.issue_ns.as_slice_mut()?,
        done: out.done_ns.as_slice_mut()?,
        parts: out.parts_ns.as_slice_mut()?,
        is_hit: out.is_hit.as_slice_mut()?,
    };
    check(&columns, &completions, &model, &layout).map_err(PyValueError::new_err)?;
    let (end, rebuilt, counters) = py
        .detach(|| {
            let mut simulation = Simulation::new(model, layout, controller, disks, columns, completions);
            let (end, rebuilt) = simulation.run()?;
            let counters = simulation.disks().iter().map(|disk| row_of(&disk.counters_until(end))).collect();
            Ok((end, rebuilt, counters))
        })
        .map_err(|message: &str| PyRuntimeError::new_err(message))?;
    Ok((end, rebuilt, counters))
}

fn row_of(c: &Counters) -> [i64; 7] {
    [c.busy_ns, c.response_ns, c.n_reads, c.n_writes, c.read_sectors, c.write_sectors, c.n_cache_hits]
}

fn build(array: ArrayIn) -> Result<(Model, Layout, Controller, Vec<Disk>), String> {
    let (d, l) = (array.drive, array.layout);
    let n_zones = d.sectors_per_track.len();
    let per_zone = [&d.track_skew, &d.cylinder_skew, &d.spare_sectors_per_cylinder];
    if d.zone_first_lba.len() != n_zones + 1
        || d.zone_first_cylinder.len() != n_zones + 1
        || per_zone.iter().any(|column| column.len() != n_zones)
        || d.seek_ns.is_empty()
    {
        return Err("the drive's zone tables do not fit each other".into());
    }
    let n_devices = (l.n_disks + l.n_spares) as usize;
    if array.revolution_ns.len() != n_devices || array.phase_ns.len() != n_devices {
        return Err("there must be one revolution and one phase for each disk".into());
    }
    let Ok(seek_ns) = d.seek_ns.iter().map(|&ns| u32::try_from(ns)).collect() else {
        return Err("a seek takes less than 2^32 ns".into());
    };
    let mut model = Model {
        mechanics: Mechanics {
            heads: d.heads,
            zone_first_lba: d.zone_first_lba,
            zone_first_cylinder: d.zone_first_cylinder,
            sectors_per_track: d.sectors_per_track,
            track_skew: d.track_skew,
            cylinder_skew: d.cylinder_skew,
            spare: d.spare_sectors_per_cylinder,
            seek_ns,
            head_switch_ns: d.head_switch_ns,
            write_settle_ns: d.write_settle_ns,
            zero_latency: d.zero_latency,
            zone_at: Vec::new(),
            zone_shift: 0,
        },
        electronics: Electronics {
            sector_bytes: d.sector_bytes,
            n_sectors: d.n_sectors,
            n_sectors_per_actuator: d.n_sectors_per_actuator,
            actuators: d.actuators,
            completion_overhead_ns: d.completion_overhead_ns,
            interface_bytes_per_s: d.interface_bytes_per_s,
            cache_segments: d.cache_segments,
            segment_sectors: d.segment_sectors,
            read_ahead_sectors: d.read_ahead_sectors,
            dirty_sectors: d.dirty_sectors,
            intake: Intake {
                depth: array.depth,
                read_overhead_ns: d.read_overhead_ns,
                write_overhead_ns: d.write_overhead_ns,
            },
        },
    };
    model.mechanics.index_zones();
    let family = match l.family.as_str() {
        "concat" => Family::Concat,
        "copies" => Family::Copies,
        "parity" => Family::Parity,
        other => return Err(format!("unknown layout family {other}")),
    };
    let layout = Layout {
        family,
        n_disks: l.n_disks,
        strip: l.strip,
        member: l.member,
        data_offset: l.data_offset,
        copies: l.copies,
        far: l.far,
        n_groups: l.n_groups,
        n_data: l.n_data,
        n_parity: l.n_parity,
        rotation: l.rotation,
        read_policy: l.read_policy,
        write_policy: l.write_policy,
        failed: l.failed,
        rebuild_disk: l.rebuild_disk,
        rebuild_window: l.rebuild_window,
        rebuild_gap: l.rebuild_gap_ns,
        rebuild_front: l.rebuild_front,
    };
    let controller = Controller {
        command_ns: array.command_ns,
        hit_ns: array.hit_ns,
        link_bytes_per_s: array.link_bytes_per_s,
        hit_ratio: array.hit_ratio,
    };
    let host = policy(array.queue)?;
    let own = policy(array.drive_queue)?;
    let spindles = array.revolution_ns.iter().zip(&array.phase_ns);
    let disks = spindles
        .enumerate()
        .map(|(i, (&revolution, &phase))| Disk::new(i as u32, &model, Spindle::new(revolution, phase), &host, &own))
        .collect();
    Ok((model, layout, controller, disks))
}

fn policy(queue: QueueIn) -> Result<Policy, String> {
    Policy::new(&Tunables {
        name: queue.scheduler,
        age_ns: queue.age_ns,
        read_expire_ns: queue.read_expire_ns,
        write_expire_ns: queue.write_expire_ns,
        fifo_batch: queue.fifo_batch,
        writes_starved: queue.writes_starved,
    })
}

/// What the core takes for granted, so that it cannot panic.
fn check(requests: &Requests, out: &Completions, model: &Model, layout: &Layout) -> Result<(), String> {
    let n = requests.when.len();
    let lengths = [
        requests.op.len(),
        requests.offset.len(),
        requests.length.len(),
        requests.stream.len(),
        requests.cache_draw.len(),
        out.issue.len(),
        out.done.len(),
        out.parts.len() / N_PARTS,
        out.is_hit.len(),
    ];
    if lengths.iter().any(|&length| length != n) {
        return Err("columns must have the same length".into());
    }
    let n_streams = requests.streams.len();
    if requests.stream.iter().any(|&s| s < 0 || s as usize >= n_streams) {
        return Err("a request names a stream that there is not".into());
    }
    let e = &model.electronics;
    if e.interface_bytes_per_s <= 0 || e.n_sectors_per_actuator <= 0 || e.sector_bytes <= 0 || layout.strip <= 0 {
        return Err("rates and sizes must be positive".into());
    }
    if requests.op.iter().any(|&op| op > 1) {
        return Err("an operation is 0 (read) or 1 (write)".into());
    }
    if requests.when.iter().any(|&t| t < 0) {
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

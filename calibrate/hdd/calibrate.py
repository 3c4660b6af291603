"""Calibration of a hard disk: mechanics from single reads, queue from depths, one depth held out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrate.calibration import Calibration, Parameter
from calibrate.closed_loop import random_reads, scenario_of
from calibrate.evidence import Cells, Key, Measurement
from calibrate.hdd.conditions import conditions_of
from calibrate.hdd.from_fio.parameters import order_parameters
from calibrate.hdd.joint import refine
from calibrate.hdd.rotation import Rotation
from calibrate.hdd.scheduler import QueueFit, fit_queue, in_drive
from calibrate.hdd.stages import HddFit, drive_of, fit_mechanics
from calibrate.hdd.uncertainty import joint_uncertainty, moved_fit, stage_errors, stage_uncertainty
from calibrate.score import N_REQUESTS, choose_held_out, contradiction, held_out_report, nothing_held_out
from diskmodel.drive import Hdd

#: Largest misfit of the queue, root mean square of relative errors, of a fit that has converged.
_MAX_MISFIT_RATIO = 0.15
#: What is said where nothing was written and no data sheet was named.
UNKNOWN_CACHE = (
    "nothing was written, so that the drive's write cache is unknown and the profile has none: arrays of it need more "
    "disks than with one; name the drive of the catalogue (--drive), or measure writes too"
)
#: Points of the seek curve that are reported, as a share of the longest seek.
_SEEK_POINTS = (("one_cylinder", 0.0), ("third", 1 / 3), ("full_stroke", 1.0))


def calibrate_hdd(
    measurement: Measurement,
    cells: Cells,
    rotation: Rotation,
    *,
    capacity_bytes: int,
    name: str,
    provenance: dict[str, Any],
    warnings: list[str],
    sheet: Hdd | None = None,
    seed: int = 0,
) -> Calibration:
    """Fit the rotating drive behind a measurement; `sheet` supplies what a measurement without writes cannot show.

    Raises
    ------
    InputError
        When the measurement has too few reads one at a time.
    """
    fit = fit_mechanics(measurement, rotation)
    span = measurement.size_bytes
    held_out = choose_held_out(cells)
    # a file on a larger drive is fitted as a drive of the file's size
    trial = drive_of(fit, capacity_bytes=span, name=name)
    queue = fit_queue(
        trial,
        measurement,
        cells.without(held_out),
        span_bytes=trial.capacity_bytes,
        seed=seed,
    )
    drive = drive_of(fit, capacity_bytes=span, name=name, queue=queue.queue.to_dict())
    if capacity_bytes > span:
        warnings.append(
            f"only {span} of {capacity_bytes} bytes were measured; the profile describes these: seeks are shorter there"
        )
    errors = stage_errors(fit, drive)
    fitted, apart = conditions_of(
        measurement,
        held_out,
        writes_back=bool(fit.cache.is_write_back),
        late_ns=fit.late_ns,
        hits_late_ns=fit.electronics.late_ns,
    )
    joint = refine(drive, fitted, apart, errors, queue.near)
    uncertainty = stage_uncertainty(fit, drive)
    if joint is not None and joint.is_kept:
        uncertainty = joint_uncertainty(fit, drive, errors, joint, fitted)
        fit, drive = moved_fit(fit, drive, errors, joint, uncertainty), joint.drive
        queue = in_drive(queue, drive, cells, span_bytes=drive.capacity_bytes, seed=seed)
    if joint is not None:
        provenance = {**provenance, "last_stage": joint.to_dict()}
    report = nothing_held_out("fewer than four queue depths of random reads were measured")
    if held_out:
        report = held_out_report(cells, {key: predict(drive, key, seed=seed + 1) for key in held_out})
    has_converged, message = _verdict(fit, queue, report)
    if len(queue.near) > 1:
        likely = [item.to_dict() for item in dict.fromkeys([drive.queue, *queue.near])]
        uncertainty = uncertainty.model_copy(update={"queues": tuple(likely)})
    drive = drive.model_copy(update={"provenance": provenance, "notes": _notes(fit), "uncertainty": uncertainty})
    if fit.cache.is_write_back is None:
        if sheet is None:
            warnings.append(UNKNOWN_CACHE)
        else:
            drive = with_sheet(drive, sheet)
    rows = _residuals(cells, queue)
    return Calibration(
        drive,
        has_converged,
        message,
        parameters_of(fit, queue),
        report,
        {"residuals": rows, "warnings": warnings, "schedulers": queue.schedulers},
    )


def with_sheet(drive: Hdd, sheet: Hdd) -> Hdd:
    """Return a drive whose measurement only read, with the bus and the write cache of its data sheet.

    A cache that reads have shown keeps its segments; only what it does with writes is the sheet's.
    """
    cache = sheet.cache
    if drive.cache is not None and cache is not None:
        kept = {"write_back": cache.write_back, "power_loss_protected": cache.power_loss_protected}
        cache = drive.cache.model_copy(update=kept)
    notes = f"{drive.notes} Bus and write cache are those of {sheet.name}."
    update = {"bus": sheet.bus, "form_factor": sheet.form_factor, "cache": cache or drive.cache, "notes": notes}
    return drive.model_copy(update=update)


def predict(drive: Hdd, key: Key, *, seed: int, span_bytes: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return responses in ns of random reads by a drive."""
    n = max(N_REQUESTS, 100 * key.queue_depth)
    span_bytes = span_bytes or drive.capacity_bytes // 4096 * 4096
    return random_reads(
        scenario_of(drive),
        length=key.length_bytes,
        queue_depth=key.queue_depth,
        n=n,
        seed=seed,
        span_bytes=span_bytes,
    )


def parameters_of(fit: HddFit, queue: QueueFit) -> dict[str, Parameter]:
    """Return everything that the profile has, with errors and what each value rests on."""
    rotation, tracks, electronics, seek = fit.rotation, fit.tracks, fit.electronics, fit.seek
    period, sector = rotation.period_ns, fit.sector_bytes
    has_cache, why = electronics.has_cache, "re-reads that the cache answered"
    found = {
        "revolution": Parameter(period, rotation.stderr_ns, "ns", True, "re-reads end whole revolutions apart"),
        "rpm": Parameter(60e9 / period, 60e9 / period**2 * rotation.stderr_ns, "1/min", True, "as revolution"),
        "read_overhead": Parameter(
            electronics.overhead_ns, electronics.overhead_stderr_ns, "ns", has_cache, why if has_cache else "assumed"
        ),
        "interface_rate": Parameter(
            electronics.interface_bytes_per_s,
            electronics.interface_stderr,
            "bytes/s",
            bool(np.isfinite(electronics.interface_stderr)),
            why if has_cache else "assumed",
        ),
    }
    distance = seek.distance
    for name, part in _SEEK_POINTS:
        where = distance[0] if part == 0.0 else part * distance[-1]
        near = int(np.argmin(np.abs(distance - where)))
        value = float(seek.at(np.array([where]))[0]) - fit.before_seek_ns
        stderr = float(seek.stderr_ns[near])
        is_known = stderr < 0.1 * period
        found[f"seek_{name}"] = Parameter(value, stderr, "ns", is_known, f"{seek.n} reads one at a time")
    for name, density in (("outer", tracks.per_track[0]), ("inner", tracks.per_track[-1])):
        rate = float(density) * sector / period * 1e9 / (1.0 + tracks.skew_turns)
        found[f"{name}_rate"] = Parameter(
            rate, rate * tracks.stderr_ratio, "bytes/s", tracks.is_identified, "density of tracks and skew"
        )
        found[f"{name}_sectors_per_track"] = Parameter(
            float(density),
            float(density) * tracks.stderr_ratio,
            "1",
            tracks.is_identified,
            "angles between neighboring blocks" if tracks.is_identified else "rates, with an assumed skew",
        )
    found["skew"] = Parameter(
        tracks.skew_turns,
        tracks.stderr_ratio,
        "revolutions",
        tracks.is_skew_identified,
        "sequential rate against density of tracks",
    )
    found.update(_heads(fit))
    found.update(_cache_and_writes(fit))
    found["queue_depth"] = Parameter(
        float(queue.queue.depth),
        None,
        "1",
        queue.is_depth_identified,
        f"with scheduler {' or '.join(queue.schedulers)}",
    )
    if queue.age_stderr_ns is not None and queue.queue.scheduler == "sptf-aged":
        why = "rates and percentiles of reads at several depths"
        found["queue.age_ns"] = Parameter(queue.queue.age_ns / 1e6, queue.age_stderr_ns / 1e6, "ms", True, why)
    return found if queue.ordered is None else found | order_parameters(queue.ordered)


def _heads(fit: HddFit) -> dict[str, Parameter]:
    heads = fit.found_heads
    if heads is None:
        why = "assumed; does not change seeks by distance"
        return {"heads": Parameter(float(fit.n_heads), None, "1", False, why)}
    why = f"{heads.n_jumps} jumps of the angle between tracks"
    return {
        "heads": Parameter(float(heads.heads), None, "1", True, why),
        "track_skew": Parameter(heads.track_skew_turns, heads.stderr_turns, "revolutions", True, why),
        "cylinder_skew": Parameter(heads.cylinder_skew_turns, heads.stderr_turns, "revolutions", True, why),
    }


def _cache_and_writes(fit: HddFit) -> dict[str, Parameter]:
    """Return the findings of the experiments on the cache and with writes, if they were made."""
    cache, found = fit.cache, {}
    for name, bracket, unit in (
        ("cache_segments", cache.segments, "1"),
        ("read_ahead", cache.read_ahead_bytes, "bytes"),
        ("cache_segment", cache.segment_bytes, "bytes"),
    ):
        if bracket is not None:
            why = f"between {bracket.low} and {bracket.high}"
            found[name] = Parameter(float(bracket.value), bracket.stderr, unit, True, why)
    if cache.is_write_back is not None:
        why = "plain writes are much faster than durable ones" if cache.is_write_back else "plain writes are not faster"
        found["write_back"] = Parameter(float(cache.is_write_back), None, "1", True, why)
    flushes = cache.flushes
    if flushes is not None and cache.is_write_back and flushes.is_answered_without_writing is not None:
        is_kept = flushes.is_answered_without_writing
        why = f"{flushes.n} flushes after writes took {flushes.median_ns / 1e6:.3g} ms at the median"
        found["power_loss_protected"] = Parameter(float(is_kept), None, "1", True, why)
    if fit.writes is not None:
        why = f"{fit.writes.n} durable writes"
        found["write_settle"] = Parameter(fit.writes.settle_ns, fit.writes.stderr_ns, "ns", True, why)
    return found


def _verdict(fit: HddFit, queue: QueueFit, held_out: Mapping[str, Any]) -> tuple[bool, str]:
    if not fit.seek.has_converged:
        return False, "the seek curve has not converged; measure more reads one at a time"
    if queue.misfit_ratio > _MAX_MISFIT_RATIO:
        return False, (
            f"no scheduler explains the rates: the best, {queue.queue.scheduler}, is off by {queue.misfit_ratio:.0%}"
        )
    if contradicted := contradiction(held_out):
        return False, contradicted
    return True, (
        f"rotation, tracks, seeks and queue fitted; {queue.queue.scheduler} fits the queue depths within "
        f"{queue.misfit_ratio:.1%}"
        + (f", the next scheduler by {queue.runner_up_ratio:.1%}" if np.isfinite(queue.runner_up_ratio) else "")
    )


def _notes(fit: HddFit) -> str:
    known = "angles between blocks" if fit.tracks.is_identified else "sequential rates and an assumed skew"
    writes = "" if fit.writes else " Writes are assumed to cost what reads cost."
    heads = "" if fit.found_heads else f"{fit.n_heads} heads are assumed. "
    return f"{heads}Tracks from {known}.{writes}"


def _residuals(cells: Cells, queue: QueueFit) -> list[dict[str, Any]]:
    return [
        {
            "what": str(key),
            "measured_mean_ms": cells[key].mean_ns / 1e6,
            "predicted_mean_ms": predicted / 1e6,
            "error_ratio": predicted / cells[key].mean_ns - 1.0,
            "stderr_ratio": cells.sigma_ratio(key),
        }
        for key, predicted in queue.predicted_ns.items()
    ]

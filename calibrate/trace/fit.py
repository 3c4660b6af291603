"""Calibrate a drive from its request trace, and validate it against another part: what the commands call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrate.calibration import Calibration, Parameter
from calibrate.evidence import RequestTrace
from calibrate.score import contradiction
from calibrate.score.agreement import agreement
from calibrate.trace.access.bus import fit_bus, is_sequential, reached_platter
from calibrate.trace.clock.rotation import Rotation, fit_rotation
from calibrate.trace.engine.calibrate import EngineDrive, engine_drive
from calibrate.trace.engine.replay import replay_on_engine
from calibrate.trace.engine.residuals import residual_rows
from calibrate.trace.engine.uncertainty import parameters_of
from calibrate.trace.geometry.angle_map import AngleMap, count_heads, fit_geometry, track_blocks
from calibrate.trace.model import Prediction, TraceModel, fit_model
from calibrate.trace.model_dict import model_from_dict
from calibrate.trace.unlocated import FALLBACK_RPM, likeliest_period
from diskmodel.drive import Hdd
from diskmodel.errors import Fault, InputError

#: Requests needed to calibrate; with half of them hardly any revolution is identified.
MIN_REQUESTS = 400
#: Share of the trace, at its end, that the score is taken on.
HELD_OUT_SHARE = 0.2
#: Largest demerit on held-out requests, as a share of their mean, of a fit that has converged. The six real traces
#: reach 0.5 to 7 % (docs/explanation/validation-traces.md).
CONVERGED_DEMERIT = 0.15
#: What is said of a drive whose capacity is not known.
_ASSUMED_CAPACITY = (
    "the profile ends where the trace does, and cannot be run on traces that reach further; give the drive's capacity "
    "(--capacity)"
)
_WHY = {
    "revolution": "angles of the platter over the whole trace",
    "rpm": "as revolution",
    "read_overhead": "the fastest reads that the buffer answered",
    "bus_block": "how hits grow with size",
    "write_back": "1 where most writes are done as fast as hits",
    "heads": "tracks from one large step of the angle to the next",
    "bus_share": "part of a read's bus time that follows its time under the head",
    "angle_coherence": "how alike the angles of accesses are",
}


@dataclass(frozen=True)
class TraceFit:
    """A fitted trace model with its parameters, and its score on held-out requests."""

    model: TraceModel
    parameters: dict[str, Parameter]
    engine: EngineDrive
    has_converged: bool
    message: str
    held_out: dict[str, Any]
    trace: RequestTrace
    has_capacity: bool = True

    def predict(self, trace: RequestTrace, *, seed: int = 0) -> Prediction:
        """Return the response of each request, given only the requests and the clock of their issue."""
        return self.model.predict(trace, seed)

    def to_drive(self, name: str = "calibrated drive") -> Hdd:
        """Return the profile, with the trace model in its provenance."""
        return self.engine.drive.model_copy(update={"name": name})

    def calibration(self, name: str, provenance: Mapping[str, Any]) -> Calibration:
        """Return the fit in the form of calibrations from other evidence; `provenance` is added to the profile's."""
        drive = self.to_drive(name)
        drive = drive.model_copy(update={"provenance": {**provenance, **drive.provenance}})
        rows = [] if self.engine.response_ms is None else residual_rows(self.trace, self.engine.response_ms)
        return Calibration(
            drive,
            self.has_converged,
            self.message,
            {**self.parameters, **parameters_of(drive)},
            self.held_out,
            {"residuals": rows, "warnings": [] if self.has_capacity else [_ASSUMED_CAPACITY]},
        )


def fit_trace(trace: RequestTrace, *, sheet: Mapping[str, Any] | None = None, seed: int = 0) -> TraceFit:
    """Fit the drive behind a trace: rotation, angle map, seek, cache, bus.

    Parameters
    ----------
    trace : RequestTrace
        At least 400 requests, one outstanding at a time.
    sheet : mapping, optional
        Figures of the data sheet: `blocks`, `surfaces`, `cache_bytes`, `segments`, each optional.
    seed : int
        Of the draws behind the held-out score.

    Raises
    ------
    InputError
        Too few requests, none that reached the platter, or some beyond the drive that the sheet describes.
    """
    n_blocks = _blocks(trace, sheet or {})
    model = fit_trace_model(trace)
    held_out = _held_out(model, trace, n_blocks, sheet or {}, seed)
    rotation = model.rotation
    in_engines = held_out.get("engine") or held_out
    contradicted = contradiction(in_engines)
    is_near = all(score["demerit_ratio"] < CONVERGED_DEMERIT for score in (held_out, in_engines))
    has_converged = rotation.is_identified and model.angles is not None and is_near and not contradicted
    if has_converged:
        message = "rotation, angle map, seek and cache fitted"
    elif not rotation.is_identified:
        rpm = 60e3 / rotation.period_ms
        message = f"completion times show no revolution: {rpm:.0f} rpm is likeliest, angles unknown"
    elif is_near and contradicted:
        message = contradicted
    else:
        message = f"held-out requests are predicted with a demerit of {held_out['demerit_ratio']:.1%}"
        if in_engines is not held_out:
            message += f", and of {in_engines['demerit_ratio']:.1%} by the profile in the engines"
    parameters = _parameters(model, trace)
    engine = engine_drive(model, trace, n_blocks, "calibrated drive", sheet or {})
    has_capacity = "blocks" in (sheet or {})
    return TraceFit(model, parameters, engine, has_converged, message, held_out, trace, has_capacity)


def fit_trace_model(trace: RequestTrace) -> TraceModel:
    """Return what `fit_trace` finds of a drive, without a profile for the engines and without a score.

    Raises
    ------
    InputError
        Too few requests, or none that reached the platter.
    """
    if len(trace) < MIN_REQUESTS:
        rule = f"must have at least {MIN_REQUESTS} requests to calibrate from"
        raise InputError(Fault("requests", len(trace), rule, "take a longer part of the trace"))
    bus = fit_bus(trace)
    if reached_platter(trace, bus).sum() < MIN_REQUESTS // 4:
        rule = "too few requests waited for the platter"
        raise InputError(Fault("requests", len(trace), rule, "record accesses that miss the cache"))
    rotation = fit_rotation(trace, bus)
    if rotation.is_identified:
        angles = fit_geometry(trace, bus, rotation)
        return fit_model(trace, bus, _sharpened(rotation, angles), angles)
    rotation = replace(rotation, period_ms=60e3 / FALLBACK_RPM, stderr_ms=0.0)
    rotation = replace(rotation, period_ms=likeliest_period(trace, bus, rotation))
    return fit_model(trace, bus, rotation, None)


def fit_drive(trace: RequestTrace, name: str, *, sheet: Mapping[str, Any] | None = None) -> Hdd:
    """Return the drive of `fit_trace`, in half the time: without its score on held-out requests.

    Raises
    ------
    InputError
        As `fit_trace`.
    """
    n_blocks = _blocks(trace, sheet or {})
    return engine_drive(fit_trace_model(trace), trace, n_blocks, name, sheet or {}).drive


def _held_out(
    model: TraceModel, trace: RequestTrace, n_blocks: int, sheet: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Return the score of the last requests, predicted from a fit to those before them."""
    kept = int(len(trace) * (1 - HELD_OUT_SHARE))
    inner, rest = trace.part(0, kept), trace.part(kept, None)
    bus, rotation = model.bus, model.rotation
    if not rotation.is_identified:
        prediction = fit_model(inner, bus, rotation, None).predict(rest, seed)
        return dict(agreement(rest.response_ms, prediction.expected_ms, prediction.draws_ms))
    heads = None if model.angles is None else count_heads(model.angles)[0]
    angles = fit_geometry(inner, bus, rotation, heads)
    inner_model = fit_model(inner, bus, _sharpened(rotation, angles), angles)
    prediction = inner_model.predict(rest, seed)
    found: dict[str, Any] = dict(agreement(rest.response_ms, prediction.expected_ms, prediction.draws_ms))
    drive = engine_drive(inner_model, inner, n_blocks, "held out", sheet).drive
    found["engine"] = replay_on_engine(drive, rest)
    return found


def _blocks(trace: RequestTrace, sheet: Mapping[str, Any]) -> int:
    """Return the blocks of the drive: from the sheet, else up to the last one that was accessed."""
    reached = int(trace.end.max())
    blocks = int(sheet.get("blocks", reached))
    if blocks < reached:
        rule = f"the trace reaches block {reached - 1}, beyond a drive of {blocks} blocks"
        raise InputError(Fault("capacity", blocks * 512, rule, f"give {reached * 512} bytes at least, or leave it out"))
    return blocks


def calibrate_trace(
    trace: RequestTrace,
    *,
    sheet: Mapping[str, Any] | None = None,
    seed: int = 0,
    name: str = "calibrated drive",
    provenance: Mapping[str, Any] | None = None,
) -> Calibration:
    """Return the drive behind a trace with its parameters, held-out errors, and the residuals of the engines.

    Raises
    ------
    InputError
        As `fit_trace`.
    """
    return fit_trace(trace, sheet=sheet, seed=seed).calibration(name, provenance or {})


def validate_traces(drive: Hdd, trace: RequestTrace, *, seed: int = 0) -> dict[str, Any]:
    """Compare a trace with a profile that was calibrated from a trace: what `diskmodel validate --json` prints.

    Raises
    ------
    InputError
        The profile has no trace model.
    """
    if "trace_model" not in drive.provenance:
        rule = "has no trace model, and block angles are unknown without one"
        raise InputError(Fault("provenance.trace_model", None, rule, "calibrate the drive from a request trace first"))
    prediction = model_from_dict(drive.provenance["trace_model"]).predict(trace, seed)
    everything = np.ones(len(trace), dtype=np.bool_)
    scores = []
    for chosen in (everything, ~trace.is_write, trace.is_write):
        scores.append(agreement(trace.response_ms[chosen], prediction.expected_ms[chosen], prediction.draws_ms[chosen]))
    found = {**scores[0], "reads": scores[1], "writes": scores[2]}
    reached = int(trace.end.max()) * drive.sector_bytes
    if reached <= drive.capacity_bytes:
        return {**found, "engine": replay_on_engine(drive, trace)}
    why = (
        f"the engines were not compared: the trace reaches byte {reached:,}, and the profile {drive.capacity_bytes:,}; "
        "calibrate with the drive's capacity (--capacity)"
    )
    return {**found, "engine": None, "engine_why": why}


def _sharpened(rotation: Rotation, angles: AngleMap | None) -> Rotation:
    """Return the rotation with the period of the angle map."""
    if angles is None:
        return rotation
    stderr = rotation.stderr_ms if angles.period_stderr_ms is None else angles.period_stderr_ms
    return replace(rotation, period_ms=angles.period_ms, stderr_ms=stderr)


def _parameters(model: TraceModel, trace: RequestTrace) -> dict[str, Parameter]:
    rotation, bus = model.rotation, model.bus
    rows: dict[str, Parameter] = {}

    def add(name: str, value: float, stderr: float | None, unit: str, identified: bool) -> None:
        error = None if stderr is None else float(stderr)
        rows[name] = Parameter(float(value), error, unit, bool(identified), _WHY.get(name, ""))

    located = rotation.is_identified and model.angles is not None
    add("revolution", rotation.period_ms, rotation.stderr_ms if located else None, "ms", located)
    add("rpm", 60e3 / rotation.period_ms, 60e3 / rotation.period_ms**2 * rotation.stderr_ms, "1/min", located)
    hits = ~trace.is_write & is_sequential(trace) & ~reached_platter(trace, bus)
    spread = trace.response_ms[hits] - trace.n_blocks[hits] * bus.block_ms
    noise = float(spread.std() / np.sqrt(len(spread))) if len(spread) > 5 else None
    add("read_overhead", bus.read_overhead_ms, noise, "ms", bus.n_hits >= 30)
    sizes = float(trace.n_blocks[hits].std()) if hits.any() else 0.0
    slope_noise = noise / sizes if noise is not None and sizes > 0 else None
    add("bus_block", bus.block_ms, slope_noise, "ms", bus.n_hits >= 30)
    add("write_back", float(bus.is_write_back), None, "1", bool(trace.is_write.any()))
    for op, curve, write in (("read", model.ready_read, False), ("write", model.ready_write, True)):
        n = int((reached_platter(trace, bus) & (trace.is_write == write)).sum())
        known = n >= 100 and not (write and bus.is_write_back)
        stderr = curve.spread_ms / np.sqrt(max(n / len(curve.ready_ms), 1))
        add(f"{op}_ready_near", curve.ready_ms[min(1, len(curve.ready_ms) - 1)], stderr, "ms", known)
        add(f"{op}_ready_middle", curve.ready_ms[len(curve.ready_ms) // 2], stderr, "ms", known)
        add(f"{op}_ready_far", curve.ready_ms[-1], stderr, "ms", known)
    if model.angles is not None:
        heads, agreed = count_heads(model.angles)
        add("heads", heads or 0, None, "1", heads is not None and agreed > 0.5)
        add("bus_share", model.angles.bus_share, 0.05, "1", True)
        add("angle_coherence", model.angles.read_coherence, None, "1", True)
        for k, zone in enumerate(model.angles.zones):
            wide = (zone.last - zone.first) * np.sqrt(max(zone.n_points, 1)) * 2
            blocks = track_blocks(zone)
            known = zone.track.turns > 0
            add(f"zone_{k}_sectors_per_track", blocks, blocks**2 / wide if known else None, "blocks", known)
    return rows

"""The write side of a flash drive with parallel dies: the cost of a write that the buffer accepts, and the drain.

A write is done when it is in the buffer. Short runs therefore show the command's own cost (serial), its latency (which
overlaps) and the interface; runs that write more than a buffer can take show how fast the dies drain it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from calibrate.arrays import Flags, Floats
from calibrate.calibration import MAX_IDENTIFIED_RATIO, Parameter
from calibrate.evidence import Cell, Cells, Flushes, Key, Measurement
from calibrate.flash.model import FlashShape
from calibrate.flash.profile import ERASE_BY_READ

#: Largest write buffer of drives, bytes: a run that wrote more drained for most of its time. At half, the buffer of a
#: large drive passes for its drain; at double, `gc_onset` runs must be twice as long.
MAX_BUFFER_BYTES = 256 << 20
#: Buffer where bursts were written and none slowed down, bytes. It is more than `profile.UNMEASURED_BUFFER_BYTES`,
#: since the bursts did fit.
UNSEEN_BUFFER_BYTES = 16 << 20
#: Logarithms of the limits: processor ns, latency ns, drain in bytes per ns.
LOW, HIGH = np.log([10.0, 100.0, 1e-4]), np.log([1e6, 2e7, 1e3])
#: Logarithms of typical processor time (5 µs), latency (15 µs) and drain (1 GB/s), a factor of ten wide.
PRIOR = np.log([5_000.0, 15_000.0, 1.0])
_PRIOR_SIGMA = np.log(10.0)
#: Relative error of the model: no drive is so simple. At 0, repeatable means are over-fitted; at double, misfits go
#: unnoticed.
_MODEL_ERROR = 0.03
#: Flush in which nothing was programmed, ns: half of what the fastest cells take for a page (SLC, 200 us). At double, a
#: drive of such cells counts as protected; at half, a protected one behind a slow host does not.
FASTEST_PROGRAM_NS = 100_000
#: Conditions needed to fit three parameters beside their priors.
_MIN_CELLS = 2


@dataclass(frozen=True)
class WriteFit:
    """Times in ns, drain in bytes per ns.

    Attributes
    ----------
    overhead_ns, latency_ns, drain_bytes_per_ns : float
    covariance : (3, 3) float
        Of the logarithms.
    is_drained : bool
        Whether some run was slower than the interface and the processor allow: then the drain is known.
    buffer_bytes : int or None
        As found by the micro-benchmark.
    keys : tuple of Key
    predicted_ns : (n,) float
    """

    overhead_ns: float
    latency_ns: float
    drain_bytes_per_ns: float
    covariance: Floats
    is_drained: bool
    buffer_bytes: int | None
    keys: tuple[Key, ...]
    predicted_ns: Floats


def fit_writes(cells: Cells, shape: FlashShape, buffer_bytes: int | None = None) -> WriteFit | None:
    """Fit the write side to cells of writes only; None with fewer than two of them.

    Parameters
    ----------
    cells : Cells
    shape : FlashShape
        Of the read side: the interface is the same.
    buffer_bytes : int, optional
        As measured.
    """
    keys = tuple(sorted(key for key in cells if key.op == "write"))
    if len(keys) < _MIN_CELLS:
        return None
    is_long, host_ns = np.array([_is_long(cells[key], key) for key in keys]), cells.host_ns(keys)
    measured = np.log([cells.expected_ns(key) for key in keys])
    sigma = np.hypot([cells.sigma_ratio(key) for key in keys], _MODEL_ERROR)

    def misfit(vector: Floats) -> Floats:
        predicted = np.log(_response_ns(vector, keys, is_long, shape.interface_bytes_per_ns, host_ns))
        return np.concatenate([(predicted - measured) / sigma, (vector - PRIOR) / _PRIOR_SIGMA])

    alone = float(np.exp(measured.min()))
    long_rates = [
        k.queue_depth * k.length_bytes / np.exp(m) for k, m, at in zip(keys, measured, is_long, strict=True) if at
    ]
    starts = [np.log([alone * share, alone * (1 - share), max([*long_rates, 1e-3])]) for share in (0.05, 0.3, 0.8)]
    found = min(
        (
            least_squares(misfit, np.clip(start, LOW + 1e-6, HIGH - 1e-6), bounds=(LOW, HIGH), loss="soft_l1")
            for start in starts
        ),
        key=lambda item: float(item.cost),
    )
    freely = found.x + np.array([0.0, 0.0, 50.0])
    predicted = _response_ns(found.x, keys, is_long, shape.interface_bytes_per_ns, host_ns)
    undrained = _response_ns(freely, keys, is_long, shape.interface_bytes_per_ns, host_ns)
    jacobian = np.asarray(found.jac)
    residuals = misfit(found.x)[: len(keys)]
    scale = (float(np.sum(residuals**2)) + 1.0) / (max(len(keys) - 3, 0) + 1.0)
    jacobian[: len(keys)] /= np.sqrt(scale)
    overhead, latency, drain = (float(value) for value in np.exp(found.x))
    return WriteFit(
        overhead,
        latency,
        drain,
        np.asarray(np.linalg.inv(jacobian.T @ jacobian)),
        bool(np.any(predicted > 1.1 * undrained)),
        buffer_bytes,
        keys,
        predicted,
    )


def _is_long(cell: Cell, key: Key) -> bool:
    """Return whether a repetition writes more than any buffer takes; results without single requests are long runs."""
    if not cell.latency_ns:
        return True
    return float(np.median([len(part) for part in cell.latency_ns])) * key.length_bytes > MAX_BUFFER_BYTES


def _response_ns(vector: Floats, keys: Sequence[Key], is_long: Flags, wire: float, host_ns: Floats) -> Floats:
    """Return the response of a closed loop with constant service: alone, or queued at the slowest serial part."""
    overhead, latency, drain = np.exp(vector)
    depth = np.array([key.queue_depth for key in keys], np.float64)
    length = np.array([key.length_bytes for key in keys], np.float64)
    serial = np.maximum(np.maximum(overhead, host_ns), length / wire)
    serial = np.where(is_long, np.maximum(serial, length / drain), serial)
    return np.asarray(np.maximum(host_ns + latency + overhead + length / wire, depth * serial))


def buffer_of(measurements: Iterable[Measurement]) -> int | None:
    """Return the write buffer's size by the micro-benchmark, the median of several; None if no burst slowed down."""
    found = []
    for measurement in measurements:
        experiment = measurement.experiment("write_cache")
        size = experiment.summary.get("buffer_bytes") if experiment is not None else None
        if size:
            found.append(int(size))
    return int(np.median(found)) if found else None


def fields_of(fit: WriteFit, shape: FlashShape) -> dict[str, Any]:
    """Return fields of the profile; the mapping unit is unknown: 4 KiB, so that small writes read nothing."""
    return {
        "write_overhead_ns": round(fit.overhead_ns),
        "write_latency_ns": round(fit.latency_ns),
        "write_buffer_bytes": fit.buffer_bytes or UNSEEN_BUFFER_BYTES,
        "mapping_bytes": min(4096, shape.page_bytes),
        "program_ns": max(round(shape.n_dies * shape.page_bytes / fit.drain_bytes_per_ns), 1),
        "erase_ns": ERASE_BY_READ * max(round(shape.read_ns), 1),
        "state": "fresh",
    }


def parameters_of(fit: WriteFit, shape: FlashShape) -> dict[str, Parameter]:
    """Return the parameters of the write side."""
    relative = np.sqrt(np.diag(fit.covariance))
    program = shape.n_dies * shape.page_bytes / fit.drain_bytes_per_ns
    rows = (
        ("write_overhead", fit.overhead_ns, relative[0], True, "growth of the response of writes with queue depth"),
        ("write_latency", fit.latency_ns, relative[1], True, "response of single writes less their serial parts"),
        ("die_program", program, relative[2], fit.is_drained, "rate of writing on when the buffer is full"),
    )
    found: dict[str, Parameter] = {}
    for name, value, ratio, is_seen, why in rows:
        is_identified = bool(is_seen and ratio < MAX_IDENTIFIED_RATIO)
        bound = "no run was slower than the interface: a bound"
        unseen = "cannot be separated from the others" if is_seen else bound
        found[name] = Parameter(value, float(value * ratio), "ns", is_identified, why if is_identified else unseen)
    buffer = float(fit.buffer_bytes or UNSEEN_BUFFER_BYTES)
    seen = "where a burst of writes slowed down" if fit.buffer_bytes else "no burst slowed down; assumed"
    found["write_buffer"] = Parameter(buffer, None, "bytes", fit.buffer_bytes is not None, seen)
    return found


def flush_fields(flushes: Flushes, *, command_ns: int) -> dict[str, Any]:
    """Return fields of the profile about flushes, from what they took after writes and what a command takes anyway."""
    took_ns = max(round(flushes.median_ns) - command_ns, 0)
    return {"flush_ns": took_ns, "power_loss_protected": took_ns < FASTEST_PROGRAM_NS}


def flush_parameter(flushes: Flushes, fields: Mapping[str, Any]) -> Parameter:
    """Return the time of a flush as a parameter."""
    after = f"{flushes.n} flushes after writes"
    why = f"{after}; faster than any program: the buffer is protected" if fields["power_loss_protected"] else after
    return Parameter(float(fields["flush_ns"]), None, "ns", True, why)

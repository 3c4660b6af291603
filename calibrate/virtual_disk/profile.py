"""A virtual disk's fit as a profile: values and errors of its parameters, assumptions where the evidence has
nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrate.calibration import MAX_IDENTIFIED_RATIO, Parameter
from calibrate.virtual_disk.fit import NAMES, ServerFit
from diskmodel.drive import Virtual

NOTES = (
    "One server that processes all waiting commands and answers them together, as the host of a virtual disk does. "
    "What is behind the host was not seen."
)
READ_ONLY_NOTES = " Writes were not measured: they are assumed to cost what reads do."
_FIELDS = ("wake_ns", "read_overhead_ns", "read_copy_bytes_per_s", "write_overhead_ns", "write_copy_bytes_per_s")
_UNITS = ("ns", "ns", "bytes/s", "ns", "bytes/s")
_WHY = (
    "response at queue depth 1 less the command's own cost",
    "growth of the response with queue depth",
    "growth of the response with size",
    "growth of the response with queue depth and with the share of writes",
    "growth of the response of writes with size",
)
_AS_READS = "no writes in the evidence; assumed to cost what reads do"
#: Parameters whose logarithm is less certain than this are not drawn: their spread is that of the prior.
_OWN_SPREAD = 2.0
#: Commands that the disk accepts at a time: more than any measurement has outstanding, so that it limits none. At half,
#: deep measurements would queue in front of the disk instead of in one batch.
_QUEUE_DEPTH = 1024


def parameters_of(fit: ServerFit) -> dict[str, Parameter]:
    """Return every parameter of the profile."""
    relative = np.sqrt(np.diag(fit.covariance))
    found: dict[str, Parameter] = {}
    for i, (name, unit, why) in enumerate(zip(NAMES, _UNITS, _WHY, strict=True)):
        value, ratio = _values(fit)[i], float(relative[i])
        is_silent = not fit.has_writes and name.startswith("write")
        is_identified = ratio < MAX_IDENTIFIED_RATIO and not is_silent
        reason = why if is_identified else _AS_READS if is_silent else "the evidence cannot separate it from the others"
        found[name] = Parameter(value, value * ratio, unit, is_identified, reason)
    found["parallel_servers"] = Parameter(1.0, None, "1", True, "the response grows by whole commands from depth 1 on")
    return found


def profile_of(fit: ServerFit, *, capacity_bytes: int, name: str, provenance: dict[str, Any]) -> Virtual:
    """Return the profile."""
    shape, sector = fit.shape, 512
    table = shape.wake_table_ns or (shape.wake_ns,)
    return Virtual.parse(
        {
            "kind": "virtual",
            "name": name,
            "source": "calibrated from measurements",
            "notes": NOTES + ("" if fit.has_writes else READ_ONLY_NOTES),
            "capacity_bytes": capacity_bytes // sector * sector,
            "sector_bytes": sector,
            "read_overhead_ns": round(shape.read_overhead_ns),
            "write_overhead_ns": round(shape.write_overhead_ns),
            "read_copy_bytes_per_s": 1e9 / shape.read_copy_ns,
            "write_copy_bytes_per_s": 1e9 / shape.write_copy_ns,
            "wake_ns": [round(value) for value in table],
            "completion": "batch",
            "queue_depth": _QUEUE_DEPTH,
            "provenance": provenance,
            "uncertainty": _uncertainty(fit),
        }
    )


def _values(fit: ServerFit) -> tuple[float, ...]:
    """Return the parameters in the units of the profile's fields."""
    shape = fit.shape
    return (
        shape.wake_ns,
        shape.read_overhead_ns,
        1e9 / shape.read_copy_ns,
        shape.write_overhead_ns,
        1e9 / shape.write_copy_ns,
    )


def _uncertainty(fit: ServerFit) -> dict[str, Any]:
    """Return the covariance in the units of the fields; that of `wake_ns` is of its mean.

    A rate falls as the time per byte grows. Parameters of writes that were not measured are left out: their spread
    would be an assumption, as the profile's notes say.
    """
    chosen = [i for i, name in enumerate(NAMES) if fit.has_writes or not name.startswith("write")]
    chosen = [i for i in chosen if fit.covariance[i, i] < _OWN_SPREAD**2]
    sign = np.array([-1.0 if _FIELDS[i].endswith("per_s") else 1.0 for i in chosen])
    values = np.array([_values(fit)[i] for i in chosen]) * sign
    covariance = fit.covariance[np.ix_(chosen, chosen)] * np.outer(values, values)
    covariance = (covariance + covariance.T) / 2
    return {"names": [_FIELDS[i] for i in chosen], "covariance": covariance.tolist()}

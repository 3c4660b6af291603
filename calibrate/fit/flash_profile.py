"""A flash fit as a profile: values and errors of its parameters, priors where the evidence is silent."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrate.fit.calibration import Parameter
from calibrate.fit.flash import NAMES, FlashFit
from calibrate.fit.flash_model import FlashShape
from diskmodel.drive import Flash

#: Relative standard error up to which a parameter counts as identified.
IDENTIFIED = 0.35
#: Standard deviation of a logarithm from which on nothing at all is known.
_OWN_SPREAD = 2.0

#: Writes where none were measured: as reads of the same pattern, and so much more. One published set of fio results
#: (4 KiB, queue depth 64, a drive whose buffer does not fill) has 1.12 for random and 1.18 for sequential requests;
#: other drives write faster than they read, so this is a stand-in and no more.
WRITE_BY_READ = 1.12
ERASE_BY_READ = 80
ASSUMED_BUFFER_BYTES = 1 << 20
ASSUMED_MAPPING_BYTES = 8192

_FIELDS = ("read_overhead_ns", "read_latency_ns", "read_ns", "interface_bytes_per_s")
_UNITS = ("ns", "ns", "ns", "bytes/s")
_WHY = (
    "rate at great queue depths, where commands are served one at a time",
    "response at queue depth 1 less what dies and wires take",
    "growth of the response with queue depth, and response at queue depth 1",
    "growth of the response with size",
)


def parameters_of(fit: FlashFit) -> dict[str, Parameter]:
    """Every parameter of the profile that the read side has."""
    shape = fit.shape
    values = (shape.overhead_ns, shape.latency_ns, shape.read_ns, shape.interface_bytes_per_ns * 1e9)
    relative = np.sqrt(np.diag(fit.covariance))
    found: dict[str, Parameter] = {}
    for name, value, ratio, unit, why in zip(NAMES, values, relative, _UNITS, _WHY, strict=True):
        is_identified = bool(ratio < IDENTIFIED)
        reason = why if is_identified else "the evidence does not tell it from the others"
        found[name] = Parameter(float(value), float(value * ratio), unit, is_identified, reason)
    fewest, most = fit.dies_range
    is_narrow = most <= 1.5 * fewest and len(fit.keys) > len(NAMES) + 1
    why = f"{fewest} to {most} dies fit equally well"
    if len(fit.keys) <= len(NAMES) + 1:
        why = "fewer observations than parameters"
    found["parallel_servers"] = Parameter(float(shape.n_dies), (most - fewest) / 4, "1", is_narrow, why)
    found["page"] = Parameter(
        float(shape.page_bytes), None, "bytes", False, "best of the usual sizes; other sizes fit nearly as well"
    )
    return found


def assumed_writes(shape: FlashShape) -> dict[str, Any]:
    """Fields of the write side that stand in where writes were not measured.

    A random write of less than the mapping unit senses the rest, and so costs a die what a read costs, and its share of
    a page's program; a sequential one costs the processor what a read does, and a little more.
    """
    mapping = min(ASSUMED_MAPPING_BYTES, shape.page_bytes)
    share = mapping / shape.page_bytes
    own = WRITE_BY_READ - 1.0 if mapping > 4096 else WRITE_BY_READ
    return {
        "write_overhead_ns": round(WRITE_BY_READ * max(shape.overhead_ns, 4096 / shape.interface_bytes_per_ns)),
        "write_latency_ns": round(shape.latency_ns),
        "write_buffer_bytes": ASSUMED_BUFFER_BYTES,
        "mapping_bytes": mapping,
        "program_ns": max(round(own * shape.read_ns / share), 1),
        "erase_ns": ERASE_BY_READ * max(round(shape.read_ns), 1),
        "state": "fresh",
    }


def profile_of(
    fit: FlashFit, parameters: dict[str, Parameter], *, capacity_bytes: int, name: str, provenance: dict[str, Any],
    writes: dict[str, Any], notes: str,
) -> Flash:  # fmt: skip
    """The profile that the engines read."""
    shape = fit.shape
    read_ns = max(round(shape.read_ns), 1)
    sector = 512
    return Flash.parse(
        {
            "kind": "flash",
            "name": name,
            "source": "calibrated from measurements",
            "notes": notes,
            "capacity_bytes": capacity_bytes // sector * sector,
            "sector_bytes": sector,
            "channels": shape.n_dies,
            "dies_per_channel": 1,
            "page_bytes": shape.page_bytes,
            "pages_per_block": 256,
            "read_ns": read_ns,
            "channel_bytes_per_s": 1e15,
            "interface_bytes_per_s": shape.interface_bytes_per_ns * 1e9,
            "read_overhead_ns": round(shape.overhead_ns),
            "read_latency_ns": round(shape.latency_ns),
            "queue_depth": 1024,
            **writes,
            "provenance": provenance,
            **_uncertainty(fit, parameters),
        }
    )


def _uncertainty(fit: FlashFit, parameters: dict[str, Parameter]) -> dict[str, Any]:
    """Covariance in the units of the fields.

    Parameters that are not identified are in it: what they have in common with others is, and drawing the others alone
    would give responses that the evidence excludes.
    """
    chosen = [i for i in range(len(NAMES)) if fit.covariance[i, i] < _OWN_SPREAD**2]
    if not chosen:
        return {}
    values = np.array([parameters[NAMES[i]].value for i in chosen])
    covariance = fit.covariance[np.ix_(chosen, chosen)] * np.outer(values, values)
    covariance = (covariance + covariance.T) / 2
    return {"uncertainty": {"names": [_FIELDS[i] for i in chosen], "covariance": covariance.tolist()}}

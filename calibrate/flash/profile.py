"""A flash fit as a profile: values and errors of its parameters, assumptions where the evidence has nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calibrate.calibration import MAX_IDENTIFIED_RATIO, Parameter
from calibrate.flash.delays import delays_ns, latency_besides_ns
from calibrate.flash.fit import NAMES, FlashFit
from calibrate.flash.model import FlashShape
from diskmodel.drive import Flash

#: Writes where none were measured: as reads of the same pattern, and so much more. One published set of fio results
#: (4 KiB, queue depth 64, a drive whose buffer does not fill) has 1.12 for random and 1.18 for sequential requests;
#: other drives write faster than they read, so this is a stand-in and no more.
WRITE_BY_READ = 1.12
#: Time of an erase in reads: about 5 ms by 60 µs. It counts only once garbage collection runs, which is not fitted.
ERASE_BY_READ = 80
#: Write buffer where no writes were measured, bytes: small, so that long runs are drained at the assumed rate. With
#: measured writes it is `writes.UNSEEN_BUFFER_BYTES`.
UNMEASURED_BUFFER_BYTES = 1 << 20
#: Mapping unit where writes were not measured, bytes: smaller writes read the rest of the unit.
ASSUMED_MAPPING_BYTES = 8192

_UNITS = ("ns", "ns", "ns", "bytes/s")
_WHY = (
    "rate at great queue depths, where commands are served one at a time",
    "response at queue depth 1 less what dies and wires take",
    "growth of the response with queue depth, and response at queue depth 1",
    "growth of the response with size",
)


def parameters_of(fit: FlashFit) -> dict[str, Parameter]:
    """Return every parameter of the read side."""
    shape = fit.shape
    values = (shape.overhead_ns, shape.latency_ns, shape.read_ns, shape.interface_bytes_per_ns * 1e9)
    found: dict[str, Parameter] = {}
    for name, value, ratio, unit, why in zip(NAMES, values, fit.relative_errors, _UNITS, _WHY, strict=True):
        is_identified = bool(ratio < MAX_IDENTIFIED_RATIO)
        reason = why if is_identified else "the evidence cannot separate it from the others"
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
    """Return fields of the write side where writes were not measured.

    A random write of less than the mapping unit senses the rest, and so costs a die what a read costs, and its share of
    a page's program; a sequential one costs the processor what a read does, and a little more.
    """
    mapping = min(ASSUMED_MAPPING_BYTES, shape.page_bytes)
    share = mapping / shape.page_bytes
    own = WRITE_BY_READ - 1.0 if mapping > 4096 else WRITE_BY_READ
    return {
        "write_overhead_ns": round(WRITE_BY_READ * max(shape.overhead_ns, 4096 / shape.interface_bytes_per_ns)),
        "write_latency_ns": round(shape.latency_ns),
        "write_buffer_bytes": UNMEASURED_BUFFER_BYTES,
        "mapping_bytes": mapping,
        "program_ns": max(round(own * shape.read_ns / share), 1),
        "erase_ns": ERASE_BY_READ * max(round(shape.read_ns), 1),
        "state": "fresh",
    }


def profile_of(
    fit: FlashFit,
    *,
    capacity_bytes: int,
    name: str,
    provenance: dict[str, Any],
    writes: Callable[[FlashShape], dict[str, Any]],
    notes: str,
    alone_ns: Mapping[float, float],
) -> Flash:
    """Return the profile.

    `writes` gives the fields of the write side of a shape; `alone_ns` has percentiles of single reads, if known.
    """
    sector = 512
    delays = delays_ns(alone_ns, round(fit.shape.latency_ns))

    def fields(shape: FlashShape) -> dict[str, Any]:
        latency_ns = latency_besides_ns(round(shape.latency_ns), delays)
        return _read_fields(shape) | {"read_latency_ns": latency_ns} | writes(shape)

    return Flash.parse(
        {
            "kind": "flash",
            "name": name,
            "source": "calibrated from measurements",
            "notes": notes,
            "capacity_bytes": capacity_bytes // sector * sector,
            "sector_bytes": sector,
            "dies_per_channel": 1,
            "pages_per_block": 256,
            "channel_bytes_per_s": 1e15,
            "queue_depth": 1024,
            **fields(fit.shape),
            "read_delay_ns": delays,
            "provenance": provenance,
            **_uncertainty(fields(fit.shape), [fields(shape) for shape in fit.draws]),
        }
    )


def _read_fields(shape: FlashShape) -> dict[str, Any]:
    return {
        "channels": shape.n_dies,
        "page_bytes": shape.page_bytes,
        "read_ns": max(round(shape.read_ns), 1),
        "interface_bytes_per_s": float(f"{shape.interface_bytes_per_ns * 1e9:.6g}"),
        "read_overhead_ns": round(shape.overhead_ns),
    }


def _uncertainty(fields: dict[str, Any], draws: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the draws field by field, and their covariance for readers of single fields.

    All fields that differ between draws are in it, also those of the write side that follow from the read side: drawing
    some without the others would give drives that the evidence excludes.
    """
    names = [name for name in fields if any(draw[name] != fields[name] for draw in draws)]
    if not names:
        return {}
    rows = [[draw[name] for name in names] for draw in draws]
    values = np.array([fields[name] for name in names], np.float64)
    apart = np.log(np.maximum(rows, 1e-3) / values)
    covariance = apart.T @ apart / len(rows) * np.outer(values, values)
    return {"uncertainty": {"names": names, "covariance": covariance.tolist(), "draws": rows}}

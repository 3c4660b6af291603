"""The hard disk that a draw of what is not known describes: the same with other seeks, overheads and rates."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.perturbation import DrivePerturbation, scaled_ns, scaled_times
from diskmodel.drive.seek import SeekTable
from diskmodel.records import Int64

if TYPE_CHECKING:
    from diskmodel.drive.hdd.description import Hdd

_Hdd = TypeVar("_Hdd", bound="Hdd")

#: Distances of the table that replaces a seek curve. Interpolation between 120 of them, closer where seeks are short,
#: is off by less than 0.1 %; a curve through the times of a data sheet takes a tenth of a second to fit.
_DISTANCES = 120
#: Distances from which the mean seek is taken, which a draw needs only to 1 %.
_SAMPLED = 2000
#: Smallest factor of seek times: a drive is not faster than its rotation.
_LEAST_SEEK = 0.1


def perturbed_hdd(drive: _Hdd, perturbation: DrivePerturbation) -> _Hdd:
    """Return a hard disk with other seeks, overheads, rates and order; it rotates as it is described.

    Raises
    ------
    DescriptionError
        When no such drive is possible.
    """
    update: dict[str, Any] = {"uncertainty": None}
    if perturbation.queue is not None:
        update["queue"] = perturbation.queue
    if perturbation.order is not None:
        update["queue"] = drive.queue.model_copy(update=perturbation.order._asdict() | {"assumed_from": None})
    positioning = perturbation.positioning - perturbation.speed
    sequential = 0.0 if _has_known_tracks(drive) else perturbation.sequential + perturbation.speed
    if sequential:
        update |= _rates(drive, sequential)
    by_op = (positioning, positioning - perturbation.writes)
    of_all, of_writes = (_seek_factor(drive, by) if by else 0.0 for by in by_op)
    if of_all or sequential:
        update |= _seeks(drive, of_all, sequential)
    if of_all or of_writes or sequential:
        update |= _write_seeks(drive, of_all, of_writes, sequential)
    if perturbation.overhead:
        names = ("read_overhead_ns", "write_overhead_ns", "completion_overhead_ns", "write_completion_overhead_ns")
        update |= scaled_times(drive, names, perturbation.overhead)
    return drive.model_copy(update=update)


def _seek_factor(drive: Hdd, positioning: float) -> float:
    """Return the logarithm of the factor of seeks at which a random access takes so much longer."""
    seek_ns = _mean_seek_ns(drive.tables())
    access_ns = seek_ns + drive.period_ns / 2 + drive.read_overhead_ns
    return math.log(max(1 + math.expm1(positioning) * access_ns / seek_ns, _LEAST_SEEK))


@lru_cache(maxsize=8)
def _mean_seek_ns(tables: HddTables) -> float:
    """Return the mean seek over all pairs of different cylinders, from some of the distances.

    Many draws are made of few drives: their tables are kept.
    """
    n = tables.n_cylinders
    distance = _distinct(np.linspace(1, n - 1, _SAMPLED).astype(np.int64))
    return float(np.average(tables.seek_ns[distance], weights=n - distance))


def _rates(drive: Hdd, sequential: float) -> dict[str, Any]:
    """Return the rates of a drive whose tracks hold more."""
    given = {name: getattr(drive, name) for name in ("outer_bytes_per_s", "inner_bytes_per_s")}
    return {name: value * math.exp(sequential) for name, value in given.items() if value is not None}


def _has_known_tracks(drive: Hdd) -> bool:
    """Return whether the number of tracks is given, and with it how much one holds on average."""
    return drive.zones is not None or drive.cylinders is not None


def _seeks(drive: Hdd, log_factor: float, sequential: float) -> dict[str, Any]:
    """Return seeks that take so much longer, as tables; where tracks hold more, there are fewer of them to cross."""
    denser = math.exp(sequential)
    tables = drive.tables()
    found: dict[str, Any] = {"seek": _table(tables.seek_ns, log_factor, denser)}
    found["head_switch_ns"] = scaled_ns(drive.switch_ns, log_factor)
    if drive.seek_inward_ns:
        found["seek_inward_ns"] = round(drive.seek_inward_ns * math.exp(log_factor))
    return found


def _write_seeks(drive: Hdd, of_all: float, of_writes: float, sequential: float) -> dict[str, Any]:
    """Return seeks of writes that take so much longer; those of reads where they are the same."""
    found: dict[str, Any] = {"write_settle_ns": scaled_ns(drive.settle_ns, of_writes)}
    if drive.zones is None:
        found["skew_margin_ns"] = drive.margin_ns
    tables = drive.tables()
    if tables.write_seek_ns is not None or of_writes != of_all:
        curve_ns = tables.seek_ns if tables.write_seek_ns is None else tables.write_seek_ns
        found["write_seek"] = _table(curve_ns, of_writes, math.exp(sequential))
    return found


def _table(curve_ns: Any, log_factor: float, denser: float) -> SeekTable:
    """Return a curve as a table of times that are longer by a factor, over tracks that are denser by a factor."""
    distance = _distances(len(curve_ns) - 1)
    time_ms = curve_ns[distance] * (math.exp(log_factor) / 1e6)
    places = np.unique(np.maximum(np.rint(distance / denser), 1).astype(np.int64), return_index=True)
    return SeekTable(kind="table", distance=tuple(places[0].tolist()), time_ms=tuple(time_ms[places[1]].tolist()))


@lru_cache(maxsize=8)
def _distances(last: int) -> Int64:
    """Return the distances of a table up to the last one, which many draws of a drive share."""
    return _distinct(np.rint(np.geomspace(1, last, _DISTANCES)).astype(np.int64))


def _distinct(ascending: Int64) -> Int64:
    """Return the numbers of a column in order, each once: `numpy.unique` loads masked arrays, which takes 15 ms."""
    found: Int64 = ascending[np.append(True, ascending[1:] != ascending[:-1])]
    return found

"""Caching of writes and the settling of the head before them, fitted to random writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from calibrate.arrays import Floats
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from diskmodel.drive import Hdd, SeekTimes

#: Cached writes among which firmware may choose.
WEIGHED_WRITES = (8, 16, 32, 64, 128, 256, 512, 1024)
#: Spread of the write settle among drives of a class, ms: data sheets print average write seeks 0.5 to 1.5 ms longer
#: than those of reads.
SETTLE_SPREAD_MS = 0.4
#: Longest write settle that is tried, and the step of its derivative, ms.
MAX_SETTLE_MS, SETTLE_STEP_MS = 4.0, 0.1


@dataclass(frozen=True)
class Writes:
    """How an array's drives write.

    Attributes
    ----------
    drive : Hdd
    array : MeasuredArray
        With the drives' write caches on or off.
    weighed : int or None
        Cached writes among which the firmware chooses; None without a cache.
    settle_error_ms : float or None
        Standard error of the write settle; None where caches hide it: what shows is the time of a write in the order
        that the firmware chose, and settling is a part of it.
    rate_error, other_error : float, float or None
        Root mean square error of the rates' logarithms, and with caches off instead of on or the reverse; None where
        the array states it.
    """

    drive: Hdd
    array: MeasuredArray
    weighed: int | None
    rate_error: float
    settle_error_ms: float | None
    other_error: float | None = None


@dataclass(frozen=True)
class _Tried:
    """A drive that was tried with writes cached or not, and the errors of its rates and of all that was measured."""

    drive: Hdd
    weighed: int | None
    rate_error: float
    misfit: float


def fit_writes(array: MeasuredArray, drive: Hdd, writes: Sequence[Condition], seed: int) -> Writes:
    """Fit whether writes are cached, among how many the firmware chooses, and how long the head settles."""

    def tried(state: MeasuredArray, weighed: int | None) -> _Tried:
        candidate = drive if weighed is None else _with_weighed(drive, weighed)
        seen = [state.predict(candidate, condition, seed) for condition in writes]
        logs = [np.log(one.iops / asked.iops) for one, asked in zip(seen, writes, strict=True)]
        shapes = [np.sum(((one.values - c.targets) / c.errors) ** 2) for one, c in zip(seen, writes, strict=True)]
        return _Tried(candidate, weighed, float(np.sqrt(np.mean(np.square(logs)))), float(np.sum(shapes)))

    # Whether there is a cache decides the rates by itself. Among how many of its writes a drive chooses hardly shows in
    # rates, with seeks of writes that the cache hides, but it does in percentiles: few are fast in the median.
    states = {}
    for is_on in array.write_cache_states(drive):
        state = array.with_write_cache(is_on)
        states[is_on] = [tried(state, weighed) for weighed in (WEIGHED_WRITES if is_on else (None,))]
    rates = {is_on: min(one.rate_error for one in found) for is_on, found in states.items()}
    is_cached = min(rates, key=lambda is_on: rates[is_on])
    best, array = min(states[is_cached], key=lambda one: one.misfit), array.with_write_cache(is_cached)
    other_error = rates.get(not is_cached)
    if best.weighed is not None:
        return Writes(best.drive, array, best.weighed, best.rate_error, None, other_error)
    assert isinstance(drive.seek, SeekTimes)
    usual_ms = (drive.write_settle_ns or drive.seek.write_excess_ns) / 1e6

    def residuals(x: Floats) -> Floats:
        candidate = _with_settle(drive, float(x[0]))
        parts = [(array.predict(candidate, c, seed).values - c.targets) / c.errors for c in writes]
        return np.concatenate([*parts, (x - usual_ms) / SETTLE_SPREAD_MS])

    def slopes(x: Floats) -> Floats:
        return ((residuals(x + SETTLE_STEP_MS) - residuals(x - SETTLE_STEP_MS)) / (2 * SETTLE_STEP_MS))[:, None]

    bounds = (SETTLE_STEP_MS, MAX_SETTLE_MS)
    start = np.clip([usual_ms], *bounds)
    fitted = least_squares(residuals, start, jac=slopes, x_scale=SETTLE_SPREAD_MS, max_nfev=8, bounds=bounds)
    error = 1.0 / float(np.sqrt(np.sum(fitted.jac**2)))
    return Writes(_with_settle(drive, float(fitted.x[0])), array, None, best.rate_error, error, other_error)


def as_found(written: Writes) -> Hdd:
    """Return the drive of a disk alone, whose profile says itself whether it caches writes."""
    drive = written.drive
    if drive.cache is None or written.weighed is not None:
        return drive
    return drive.model_copy(update={"cache": drive.cache.to_dict() | {"write_back": False}})


def _with_weighed(drive: Hdd, n: int) -> Hdd:
    """Return the drive with a write cache from which its firmware chooses among so many."""
    assert drive.cache is not None
    cache = drive.cache.to_dict() | {"write_back": True}
    return drive.model_copy(update={"queue": drive.queue.to_dict() | {"weighed_writes": n}, "cache": cache})


def _with_settle(drive: Hdd, settle_ms: float) -> Hdd:
    """Return the drive whose writes take so much longer after any move: over the span that was measured."""
    return drive.model_copy(update={"write_settle_ns": round(settle_ms * 1e6), "write_seek": None})

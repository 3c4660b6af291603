"""The fitted parameters with standard errors, and which of them the evidence cannot determine."""

from __future__ import annotations

from calibrate.calibration import Parameter
from calibrate.hdd.from_fio.mechanics import (
    AGE_SPREAD,
    MARGIN_SPREAD_MS,
    OVERHEAD_SPREAD,
    SEEK_SPREAD,
    SHORTEST_SPREAD,
    STROKE_SPREAD,
    Ordered,
)
from calibrate.hdd.from_fio.writes import SETTLE_SPREAD_MS, Writes
from diskmodel.drive import Hdd, SeekTimes

#: A parameter is identified where its standard error is below this part of the spread among drives of a class. At 0.5,
#: parameters that the evidence halves pass for unknown; at 1 everything is identified.
IDENTIFIED_PART = 0.7
#: Why a parameter is not identified.
NO_BETTER = "the evidence determines it hardly better than the class of drives does"
#: Share of the disks that must be measured for the average and the longest seek to be identified: an average seek goes
#: over a third of the stroke. A smaller region has only shorter seeks.
AVERAGE_SEEK_RATIO = 1 / 3
#: Chi-square by which another number of committed commands must fit worse: two standard errors.
MIN_RIVAL_GAIN = 4.0
#: How much larger the errors of rates must be with the drives' write caches in the other state. Caches change rates by
#: a third and more; at 1.1 a misfit of another cause decides, at 3 hardly any evidence does.
MIN_CACHE_GAIN = 1.5


def read_parameters(found: Ordered, speed: Parameter, region_ratio: float, *, has_choice: bool) -> dict[str, Parameter]:
    """Return what reads determine.

    Parameters
    ----------
    found : Ordered
    speed : Parameter
    region_ratio : float
        Share of the disks over which the evidence was measured.
    has_choice : bool
        Whether some reads were so deep that a disk can order them.
    """
    drive, errors = found.drive, found.errors
    seek = drive.seek
    assert isinstance(seek, SeekTimes)
    shortest, longest = seek.resolved()
    parameters = {
        "rpm": speed,
        "seek.average_ns": _scaled(seek.average_ns / 1e6, errors[0], SEEK_SPREAD, "ms"),
        "seek.track_to_track_ns": _scaled(shortest / 1e6, errors[1], SHORTEST_SPREAD, "ms"),
        "seek.full_stroke_ns": _scaled(longest / 1e6, errors[3], STROKE_SPREAD, "ms"),
        "read_overhead_ns": _scaled(drive.read_overhead_ns / 1e6, errors[2], OVERHEAD_SPREAD, "ms"),
    }
    if region_ratio < AVERAGE_SEEK_RATIO:
        unseen = f"only {region_ratio:.1%} of each disk was measured: extrapolated by the form of the seek curve"
        for name in ("seek.average_ns", "seek.full_stroke_ns"):
            parameters[name] = Parameter(parameters[name].value, None, "ms", False, unseen)
    return parameters | (order_parameters(found) if has_choice else _unseen_order(drive))


def order_parameters(found: Ordered) -> dict[str, Parameter]:
    """Return how the firmware orders commands."""
    queue, error_ms = found.drive.queue, float(found.errors[4])
    is_narrow = error_ms < IDENTIFIED_PART * MARGIN_SPREAD_MS
    as_good = [n for n, gain in found.rivals.items() if gain < MIN_RIVAL_GAIN]
    why = "best of a grid" if not as_good else f"{' and '.join(map(str, sorted(as_good)))} fit as well"
    return {
        "queue.miss_margin_ns": Parameter(
            queue.miss_margin_ns / 1e6, error_ms, "ms", is_narrow, "" if is_narrow else NO_BETTER
        ),
        "queue.age_weight": _scaled(queue.age_weight, found.errors[5], AGE_SPREAD, ""),
        "queue.committed": Parameter(float(queue.committed), None, "", not as_good, why),
    }


def _unseen_order(drive: Hdd) -> dict[str, Parameter]:
    queue, unseen = drive.queue, "no random reads at depths above 2"
    return {
        "queue.miss_margin_ns": Parameter(queue.miss_margin_ns / 1e6, None, "ms", False, unseen),
        "queue.age_weight": Parameter(queue.age_weight, None, "", False, unseen),
        "queue.committed": Parameter(float(queue.committed), None, "", False, unseen),
    }


def write_parameters(written: Writes) -> dict[str, Parameter]:
    """Return what writes determine."""
    error, drive = written.settle_error_ms, written.drive
    if error is None:
        assert isinstance(drive.seek, SeekTimes)
        average_ms = (drive.seek.average_ns + drive.seek.write_excess_ns) / 1e6
        why = "the cache hides it: of the class of drives"
        parameters = {"seek.average_write_ns": Parameter(average_ms, None, "ms", False, why)}
    else:
        is_narrow = error < IDENTIFIED_PART * SETTLE_SPREAD_MS
        settle = Parameter(drive.settle_ns / 1e6, error, "ms", is_narrow, "" if is_narrow else NO_BETTER)
        parameters = {"write_settle_ns": settle}
    if written.weighed is not None:
        best = "best of a grid, for the rates and percentiles of random writes"
        parameters["queue.weighed_writes"] = Parameter(float(written.weighed), None, "", True, best)
    if written.other_error is not None:
        is_on = written.weighed is not None
        states = ("on", "off") if is_on else ("off", "on")
        own, other = f"{written.rate_error:.0%}", f"{written.other_error:.0%}"
        why = f"{states[0]}: rates are off by {own}, with caches {states[1]} by {other}"
        is_clear = written.other_error > MIN_CACHE_GAIN * written.rate_error
        parameters["drive_write_cache"] = Parameter(float(is_on), None, "", is_clear, why)
    return parameters


def _scaled(value: float, log_error: float, spread: float, unit: str) -> Parameter:
    """A parameter that was fitted as a logarithm; not identified where the fit is hardly narrower than the class."""
    is_identified = bool(log_error < IDENTIFIED_PART * spread)
    return Parameter(value, value * float(log_error), unit, is_identified, "" if is_identified else NO_BETTER)

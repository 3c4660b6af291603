"""A run over time: latency, requests in the system and utilization, interval by interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.records import PARTS, Int64
from diskmodel.result.result import Result

Floats = NDArray[np.float64]

#: Parts of a response during which a disk works for the request.
_AT_DISK = [PARTS.index(name) for name in ("overhead", "seek", "rotation", "transfer")]

#: Lengths that an interval may have, in seconds: people read 10 s or a minute, not 7.3 s.
_WIDTHS_S = tuple(
    factor * unit
    for unit in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 60, 3600)
    for factor in ((1, 2, 5, 10, 15, 30) if unit in (1, 60) else (1, 2, 3, 6, 12, 24) if unit == 3600 else (1, 2, 5))
)

#: Intervals of a run, about: as many points as a line across a page shows. Half hides short bursts; double draws noise.
N_INTERVALS = 200

#: Length of the worst window, and how many of them a run needs; a shorter run has shorter windows.
_MINUTE_S = 60.0
_MIN_WINDOWS = 5
#: Starts of windows within the length of one. With fewer, the worst minute may be cut in two.
_STEPS = 6
#: Requests that a window needs to count as the worst, as a share of what an average one has. At 0, one slow request in
#: a quiet night would be the worst minute; at 1, half of all minutes could not be.
_MIN_SHARE = 0.1


@dataclass(frozen=True)
class WorstWindow(Record):
    """The window whose requests wait longest on average.

    Attributes
    ----------
    start_s, length_s : float
        Requests count by their time of issue.
    n_requests : int
    mean_ms, p99_ms, max_ms : float
        Of their latency.
    utilization_ratio : float
        Of the disks in this window.
    """

    start_s: float
    length_s: float
    n_requests: int
    mean_ms: float
    p99_ms: float
    max_ms: float
    utilization_ratio: float

    def json_fields(self) -> Mapping[str, Any]:
        """Return the fields by their JSON keys."""
        return {
            "start_s": self.start_s,
            "length_s": self.length_s,
            "requests": self.n_requests,
            "latency_ms": {"mean": self.mean_ms, "p99": self.p99_ms, "max": self.max_ms},
            "utilization_ratio": self.utilization_ratio,
        }


@dataclass(frozen=True)
class Timeline(Record):
    """A run over time, arrays of shape (n_intervals,).

    Attributes
    ----------
    interval_s : float
        Length of an interval; the first begins at time 0, and the last contains the last completion.
    arrivals_per_s : float64
    mean_ms, p99_ms : float64
        Latency of the requests that were issued in the interval; nan where none was.
    outstanding : float64
        Mean number of requests in the system.
    utilization_ratio : float64
        Of the disks. A disk's busy time is known for the whole run; it is divided over time as the requests' time at
        the disk is (seek, rotation, transfer, overhead at the end of each response).
    most_outstanding : int
        The most requests in the system at any moment.
    worst : WorstWindow
    """

    interval_s: float
    arrivals_per_s: Floats
    mean_ms: Floats
    p99_ms: Floats
    outstanding: Floats
    utilization_ratio: Floats
    most_outstanding: int
    worst: WorstWindow

    @property
    def start_s(self) -> Floats:
        """Start of each interval, shape (n_intervals,)."""
        return np.arange(len(self.mean_ms), dtype=np.float64) * self.interval_s

    def json_fields(self) -> Mapping[str, Any]:
        """Return the series by their JSON keys."""
        return {
            "interval_s": self.interval_s,
            "start_s": self.start_s,
            "arrivals_per_s": self.arrivals_per_s,
            "latency_ms": {"mean": self.mean_ms, "p99": self.p99_ms},
            "outstanding": self.outstanding,
            "utilization_ratio": self.utilization_ratio,
        }


def timeline(result: Result, *, n_disks: int, interval_s: float | None = None) -> Timeline:
    """Return a run over time.

    Parameters
    ----------
    result : Result
        Of a run that kept every completion.
    n_disks : int
        Disks that share the work, spares and failed disks left out.
    interval_s : float, more than 0, optional
        Default: a round number that divides the run into about `N_INTERVALS`. A shorter one than a hundred-thousandth
        of the run is made that long.
    """
    done = result.run.completions
    issue_ns, done_ns = done.issue_ns, done.done_ns
    end_ns = max(int(result.run.end_ns), int(issue_ns.max()) + 1)
    width_s = _round_width(end_ns / 1e9 / N_INTERVALS) if interval_s is None else max(interval_s, end_ns / 1e9 / 1e5)
    width_ns = max(round(width_s * 1e9), 1)
    n = -(-end_ns // width_ns)
    edges = np.arange(n + 1, dtype=np.int64) * width_ns
    order = np.argsort(issue_ns, kind="stable")
    came, response_ms = issue_ns[order], (done_ns - issue_ns)[order] / 1e6
    first = np.searchsorted(came, edges)
    mean, p99 = (np.full(n, np.nan) for _ in range(2))
    for index in np.flatnonzero(np.diff(first)):
        part = response_ms[first[index] : first[index + 1]]
        mean[index], p99[index] = part.mean(), _p99(part)
    busy = _Busy(result, n_disks)
    waiting = _Occupancy(issue_ns, done_ns)
    return Timeline(
        interval_s=width_ns / 1e9,
        arrivals_per_s=np.diff(first) / (width_ns / 1e9),
        mean_ms=mean,
        p99_ms=p99,
        outstanding=np.diff(waiting.integral_ns(edges)) / width_ns,
        utilization_ratio=busy.ratio(edges),
        most_outstanding=_most_at_once(issue_ns, done_ns),
        worst=_worst(came, response_ms, busy),
    )


def _round_width(least_s: float) -> float:
    return next((width for width in _WIDTHS_S if width >= least_s), least_s)


def _p99(values: Floats) -> float:
    rank = max(-(-99 * len(values) // 100), 1) - 1
    return float(np.partition(values, rank)[rank])


def _most_at_once(issue_ns: Int64, done_ns: Int64) -> int:
    """Return the most requests in the system; one that leaves when another comes makes room first."""
    came, left = np.sort(issue_ns), np.sort(done_ns)
    return int((np.arange(1, len(came) + 1) - np.searchsorted(left, came, side="right")).max())


class _Occupancy:
    """Time spent between starts and ends, up to any moment."""

    def __init__(self, start_ns: Int64, end_ns: Int64) -> None:
        self._starts, self._ends = (np.sort(x) for x in (start_ns, end_ns))
        self._sums = tuple(np.concatenate([[0.0], np.cumsum(x, dtype=np.float64)]) for x in (self._starts, self._ends))

    def integral_ns(self, at_ns: Int64) -> Floats:
        """Return the total time inside, of all together, from the beginning to each moment."""
        total = np.zeros(len(at_ns))
        for sign, times, sums in ((1, self._starts, self._sums[0]), (-1, self._ends, self._sums[1])):
            n = np.searchsorted(times, at_ns)
            total += sign * (n * at_ns.astype(np.float64) - sums[n])
        return total


class _Busy:
    """Busy time of the disks, divided over time as the requests' time at the disk is."""

    def __init__(self, result: Result, n_disks: int) -> None:
        done = result.run.completions
        at_disk_ns = done.parts_ns[:, _AT_DISK].sum(axis=1, dtype=np.int64)
        total = float(at_disk_ns.sum())
        self._occupancy = _Occupancy(done.done_ns - at_disk_ns, done.done_ns)
        self._share = float(result.run.devices.busy_ns.sum()) / total / n_disks if total else 0.0

    def ratio(self, edges_ns: Int64) -> Floats:
        busy_ns: Floats = np.diff(self._occupancy.integral_ns(edges_ns)) * self._share
        return np.minimum(busy_ns / np.diff(edges_ns), 1.0)


def _worst(came_ns: Int64, response_ms: Floats, busy: _Busy) -> WorstWindow:
    length_s = (int(came_ns[-1]) + 1) / 1e9
    window_s = min(_MINUTE_S, _round_width(length_s / _MIN_WINDOWS))
    if length_s < _MIN_WINDOWS * _MINUTE_S:
        window_s = max((w for w in _WIDTHS_S if w <= length_s / _MIN_WINDOWS), default=length_s)
    window_ns = max(round(window_s * 1e9), 1)
    step_ns = max(window_ns // _STEPS, 1)
    starts = np.arange(0, max(int(came_ns[-1]) + 1 - window_ns, 0) + step_ns, step_ns, dtype=np.int64)
    first, last = (np.searchsorted(came_ns, edge) for edge in (starts, starts + window_ns))
    sums = np.concatenate([[0.0], np.cumsum(response_ms)])
    count = last - first
    enough = max(_MIN_SHARE * len(came_ns) * window_ns / (int(came_ns[-1]) + 1), 1)
    mean = np.where(count >= enough, (sums[last] - sums[first]) / np.maximum(count, 1), -1.0)
    at = int(mean.argmax())
    part = response_ms[first[at] : last[at]]
    return WorstWindow(
        start_s=int(starts[at]) / 1e9,
        length_s=window_ns / 1e9,
        n_requests=len(part),
        mean_ms=float(part.mean()),
        p99_ms=_p99(part),
        max_ms=float(part.max()),
        utilization_ratio=float(busy.ratio(np.array([starts[at], starts[at] + window_ns]))[0]),
    )

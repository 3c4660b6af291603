"""Detect overload of an open system from the growth of the number in system, never from a large latency."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.records import Int64

#: Times at which the number in system is sampled. Fewer miss short visits to small numbers; more cost time.
N_SAMPLES = 4096
#: Times that are sorted into the samples at once, to save memory.
_PIECE = 1 << 18
#: Fewest requests of a verdict: with fewer, a burst of random arrivals looks like growth.
MIN_JUDGED = 200
#: Fewest requests of a verdict where caches or buffers absorb writes: there a run is as fast for a while whether the
#: disks keep up or not. At half, what random writes do to a level in that time is as much as an overload by a fifth; at
#: double, the short runs of a course have no verdict.
MIN_ABSORBED = 1_000
#: Requests below which growth has to be more than arrivals at random explain: elevators serve the faster the more wait,
#: so that a queue near saturation rises for thousands of requests before it stays. At a fifth, eight disks in RAID 50
#: at 99 % are called overloaded by one seed in three; at double, the first run of a question seldom sees an overload.
SHORT_REQUESTS = 10_000
#: How many standard deviations more, and times in which arrivals are counted to know theirs.
DEVIATIONS, N_COUNTS = 3, 16
#: Share of the growth that must still go on in the last quarter: a straight line has 1/2, a plateau 0. Nearer to 1/2,
#: slow overload is missed; nearer to 0, queues that are still filling are called overloaded.
_LATE_SHARE = 1 / 6
#: Share of the arrivals that must have completed, over the last half, for a run to be called stable. A run of 200
#: requests at 90 % load leaves some ten more in the system than it found: closer to 1, such runs would be unknown; at a
#: half, an array that serves 2 of 3 requests would be called stable.
_KEPT_UP_SHARE = 0.9


@dataclass(frozen=True)
class Stability:
    """Verdict on the open streams of a run.

    Attributes
    ----------
    is_stable : bool
        False only where overload was found.
    is_known : bool
        Whether the run is long enough to say so: as many completed as came but for a tenth, of at least 200 requests,
        or 1,000 where writes may wait; an overload in fewer than 10,000 is more than random arrivals explain.
    offered_per_s, completed_per_s : float
        Rates of arrival and of completion of the open streams over the last half of the arrivals' time.
    """

    is_stable: bool
    offered_per_s: float
    completed_per_s: float
    is_known: bool = True

    @property
    def verdict(self) -> bool | None:
        """Whether the array is stable; None where the run is too short to decide."""
        return self.is_stable if self.is_known else None


def judge_stability(issue_ns: Int64, done_ns: Int64, until_ns: int) -> Stability:
    """Judge whether open streams were served as fast as they came, up to `until_ns` (while all still came).

    Notes
    -----
    A stable queue comes back to its usual length again and again; an overloaded one leaves every length behind for
    good. The run is called unstable if all of this is true, with N(t) sampled at 4096 equally distant times:

    1. N never falls, over the last half of the time, to the median that it had over the first half;
    2. the rise has not ended: from the third quarter to the last one the mean of N grows by at least a sixth of its
       growth from the first half to the last (a straight line gives a half, a plateau that was reached late gives 0);
    3. at least 200 requests came;
    4. where fewer than 10,000 came, as many more came than left over the last half as three standard deviations of the
       number of arrivals that differ like those of equal times of the run. Else nothing is known.

    False alarms for M/M/1 at 90 % load and misses at 105 % are counted in `tests/theory`. Near saturation a short run
    cannot decide, whatever the test: the relaxation time grows as 1 / (1 - load)^2.
    """
    if len(issue_ns) < 2 or until_ns <= 0:
        return Stability(True, 0.0, 0.0, is_known=False)
    times = np.linspace(0, until_ns, N_SAMPLES + 1)[1:]
    return judge_counts(times, _n_until(times, issue_ns), _n_until(times, done_ns), len(issue_ns))


def falls_behind(issue_ns: Int64, done_ns: Int64) -> bool:
    """Return whether open streams of too few requests for a verdict were served more slowly than they came.

    In an overload by a tenth each request waits longer than the one before by a tenth of the time between them. The
    last responses of a run may also go on for longer than all came: then hits of a cache say nothing about its misses.
    """
    in_order = np.argsort(issue_ns, kind="stable")
    came, took = issue_ns[in_order], (done_ns - issue_ns)[in_order]
    half = len(came) // 2
    if not half:
        return False
    if done_ns.max() > 2 * came[-1]:
        return True
    between = came[-half:].mean() - came[:half].mean()
    return bool(len(came) < MIN_JUDGED and took[-half:].mean() - took[:half].mean() > (1 - _KEPT_UP_SHARE) * between)


def _n_until(times: NDArray[np.float64], values: Int64) -> Int64:
    """Count the values at or before each time; in pieces, so that a long run needs no sorted copy."""
    counts: Int64 = np.zeros(len(times), np.int64)
    for first in range(0, len(values), _PIECE):
        # nearly in order, of which a stable sort makes use
        counts += np.searchsorted(np.sort(values[first : first + _PIECE], kind="stable"), times, side="right")
    return counts


def median(values: NDArray[Any]) -> float:
    """Return the median. That of NumPy loads its masked arrays first, which takes longer than a short run."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    middle = np.partition(values, [low, high])[[low, high]]
    return float(middle.mean())


def judge_counts(times: NDArray[np.float64], n_came: Int64, n_left: Int64, n_requests: int) -> Stability:
    """Return the verdict of `judge_stability` on numbers that came and left until equally distant times (ns).

    `n_requests` came in all; there are at least 8 times.
    """
    inside = n_came - n_left
    half, quarter = len(times) // 2, len(times) // 4
    first, last = inside[:half], inside[half:]
    never_returns = last.min() > median(first)
    late_growth = last[quarter:].mean() - last[:quarter].mean()
    still_rises = late_growth >= _LATE_SHARE * (last.mean() - first.mean())
    grows = bool(n_requests >= MIN_JUDGED and never_returns and still_rises and late_growth > 0)
    is_overloaded = grows and (n_requests >= SHORT_REQUESTS or _is_more_than_chance(n_came, n_left))
    seconds = (times[-1] - times[half - 1]) / 1e9
    offered = float(n_came[-1] - n_came[half - 1]) / seconds
    completed = float(n_left[-1] - n_left[half - 1]) / seconds
    is_known = is_overloaded or (not grows and n_requests >= MIN_JUDGED and completed >= _KEPT_UP_SHARE * offered)
    return Stability(not is_overloaded, offered, completed, is_known)


def _is_more_than_chance(n_came: Int64, n_left: Int64) -> bool:
    """Return whether more came than left over the last half than random arrivals explain."""
    half = len(n_came) // 2
    grown = int(n_came[-1] - n_left[-1]) - int(n_came[half - 1] - n_left[half - 1])
    counts = np.diff(n_came[:: max(len(n_came) // N_COUNTS, 1)]).astype(np.float64)
    dispersion = float(counts.var() / counts.mean()) if len(counts) and counts.mean() > 0 else 0.0
    # services differ as much as arrivals, at most
    return grown > DEVIATIONS * math.sqrt(2 * dispersion * int(n_came[-1] - n_came[half - 1]))

"""Results that fio prints while it runs (`--status-interval`, SIGUSR1): each counts from the start, the last counts.

The text names the process of a job; terse lines and JSON do not. There a later result belongs to the same run when it
contains the earlier one: no fewer bytes, no shorter run, extremes no narrower.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from diskmodel.formats.fio.job import FioDirection, FioJob

#: A later snapshot has run longer: clones of one job end within milliseconds of each other, and snapshots are rarely
#: closer than a second. Half of this would take clones of short runs for snapshots.
_LONGER_NS = 200_000_000
_LONGER_SHARE = 1.02
#: Two results of one run, the second at its end: they differ by the requests of a few milliseconds, which leave most
#: percentiles and the mean as they were. Those of clones with equal rates differ in about half.
_MILLISECONDS_NS = 5_000_000
_SAME_PERCENTILES = 0.8
_SAME_MEAN = 0.01


def without_earlier(jobs: Sequence[FioJob]) -> list[FioJob]:
    """Return the last snapshot of a list that is one set of jobs, repeated; another list as it is."""
    names = [(job.name, job.group) for job in jobs]
    for period in range(1, len(jobs) // 2 + 1):
        if len(jobs) % period or names != names[:period] * (len(jobs) // period):
            continue
        sets = [jobs[first : first + period] for first in range(0, len(jobs), period)]
        if _is_series(sets):
            return [replace(job, notes=(*job.notes, said(len(sets)))) for job in sets[-1]]
    return list(jobs)


def _is_series(sets: Sequence[Sequence[FioJob]]) -> bool:
    """Whether results follow each other; the last may follow at once, as at the end of whole intervals."""
    *before, last = itertools.pairwise(sets)
    if not all(continues(earlier, later) for earlier, later in before):
        return False
    earlier, later = last
    if continues(earlier, later):
        return True
    went_on = any(_went_on(one, other) for first, second in before for one, other in zip(first, second, strict=True))
    return contains(earlier, later) and (went_on or _grew_little(earlier, later))


def _grew_little(earlier: Sequence[FioJob], later: Sequence[FioJob]) -> bool:
    """Whether results differ by no more than some milliseconds of the same run: few bytes, and the same percentiles.

    Clones of one job have percentiles of their own.
    """
    for before, after in zip(earlier, later, strict=True):
        for name, late in after.directions.items():
            early = before.directions.get(name)
            if early is None or early.clat is None or late.clat is None or not late.clat.percentiles:
                return False
            beyond_ns = late.runtime_ns - early.runtime_ns + _MILLISECONDS_NS
            if late.total_bytes - early.total_bytes > 2 * late.bandwidth_bytes_per_s * beyond_ns / 1e9 + 2048:
                return False
            levels = set(early.clat.percentiles) & set(late.clat.percentiles)
            same = sum(early.clat.percentiles[level] == late.clat.percentiles[level] for level in levels)
            if same < _SAME_PERCENTILES * len(late.clat.percentiles):
                return False
            means = [early.clat.mean_ns, late.clat.mean_ns]
            if max(means) - min(means) > _SAME_MEAN * max(means):
                return False
    return True


def said(n: int) -> str:
    """Return the note about so many snapshots."""
    return f"the output has {n} results of the same run, each counted from its start: the last is taken"


def continues(earlier: Sequence[FioJob], later: Sequence[FioJob]) -> bool:
    """Whether all jobs of a result contain those of an earlier one, and at least one went on (or nothing changed)."""
    if not contains(earlier, later):
        return False
    pairs = list(zip(earlier, later, strict=True))
    # without latencies clones that are held to a rate have equal results, too
    is_same = all(before.directions == after.directions and _has_latencies(after) for before, after in pairs)
    return is_same or any(_went_on(before, after) for before, after in pairs)


def contains(earlier: Sequence[FioJob], later: Sequence[FioJob]) -> bool:
    """Whether all jobs of a result contain those of an earlier one."""
    if [job.name for job in earlier] != [job.name for job in later]:
        return False
    return all(_contains(before, after) for before, after in zip(earlier, later, strict=True))


def _has_latencies(job: FioJob) -> bool:
    return all(part.clat is not None or part.lat is not None for part in job.directions.values())


def _went_on(before: FioJob, after: FioJob) -> bool:
    early, late = _runtime_ns(before), _runtime_ns(after)
    return late >= early + _LONGER_NS and late >= _LONGER_SHARE * early


def _runtime_ns(job: FioJob) -> int:
    return max((direction.runtime_ns for direction in job.directions.values()), default=0)


def _contains(before: FioJob, after: FioJob) -> bool:
    for name, early in before.directions.items():
        late = after.directions.get(name)
        if late is None or not _direction_contains(early, late):
            return False
    return True


def _direction_contains(early: FioDirection, late: FioDirection) -> bool:
    if late.total_bytes < early.total_bytes or late.runtime_ns < early.runtime_ns:
        return False
    for kind in ("slat", "clat", "lat"):
        before, after = getattr(early, kind), getattr(late, kind)
        if before is None:
            continue
        # means of the bare figures are printed with three digits and more
        if after is None or after.min_ns > before.min_ns * 1.01 or after.max_ns < before.max_ns * 0.99:
            return False
    return True

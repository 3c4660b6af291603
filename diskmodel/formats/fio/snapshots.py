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


def without_earlier(jobs: Sequence[FioJob]) -> list[FioJob]:
    """Return the last snapshot of a list that is one set of jobs, repeated; another list as it is."""
    names = [(job.name, job.group) for job in jobs]
    for period in range(1, len(jobs) // 2 + 1):
        if len(jobs) % period or names != names[:period] * (len(jobs) // period):
            continue
        sets = [jobs[first : first + period] for first in range(0, len(jobs), period)]
        if all(continues(earlier, later) for earlier, later in itertools.pairwise(sets)):
            return [replace(job, notes=(*job.notes, said(len(sets)))) for job in sets[-1]]
    return list(jobs)


def said(n: int) -> str:
    """Return the note about so many snapshots."""
    return f"the output has {n} results of the same run, each counted from its start: the last is taken"


def continues(earlier: Sequence[FioJob], later: Sequence[FioJob]) -> bool:
    """Whether all jobs of a result contain those of an earlier one, and at least one went on (or nothing changed)."""
    if [job.name for job in earlier] != [job.name for job in later]:
        return False
    pairs = list(zip(earlier, later, strict=True))
    if not all(_contains(before, after) for before, after in pairs):
        return False
    is_same = all(before.directions == after.directions for before, after in pairs)
    return is_same or any(_went_on(before, after) for before, after in pairs)


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

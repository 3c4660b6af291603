"""What was measured: a load as it was asked for, and the figures of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from diskmodel.explanation.equals import Difference
from diskmodel.result.statistics import PERCENTILES
from diskmodel.uncertainty import AnyWorkload
from diskmodel.workload import Workload

#: The directions of a load, as figures name them, and as fio does.
PARTS = {"reads": "read", "writes": "write"}
#: The same, and writes with the flush that makes them safe.
ALL_PARTS = (*PARTS, "commits")
#: Percentiles that are compared, by name. The slower they are, the less a short measurement says of them.
SHAPE = {name: PERCENTILES[name] for name in ("p50", "p95", "p99")}


@dataclass(frozen=True)
class Measured:
    """One load and what was measured of it.

    Attributes
    ----------
    name : str
        Of the file, and of the job in it.
    workload : Workload or TraceWorkload
        What was asked for, whatever came of it.
    figures : mapping of str to float
        "iops" (per second) where it is a result of the run, and "reads.mean", "writes.p99", "commits.mean" … (ns).
    n : mapping of str to float
        Requests behind the figures of "reads", "writes" and "commits".
    notes : tuple of str
        What had to be assumed about the load.
    differences : tuple of Difference
        Members, paths or jobs that are not like the others.
    before : Measured or None
        The same load when nothing was wrong yet: of a sound run, or of the time before a step in the recording.
    is_of_member : bool
        Whether the figures are those of one drive of the array, and not of all of it.
    offered : Workload or None
        Of a recording: the load at the rate that was recorded, whoever decided it.
    n_threads : int or None
        Threads or processes that submitted the requests, each on a processor of its own; None where nobody says.
    """

    name: str
    workload: AnyWorkload
    figures: Mapping[str, float]
    n: Mapping[str, float]
    notes: tuple[str, ...] = field(default=())
    differences: tuple[Difference, ...] = field(default=())
    before: Measured | None = None
    is_of_member: bool = False
    offered: Workload | None = None
    n_threads: int | None = None

    @property
    def is_closed(self) -> bool:
        """Whether each request waits for an earlier one, so that the rate is a result and decides the mean."""
        return isinstance(self.workload, Workload) and not self.workload.is_open

    @property
    def parts(self) -> tuple[str, ...]:
        """The directions, and commits, of which something was measured."""
        return tuple(part for part in ALL_PARTS if f"{part}.mean" in self.figures)

    @property
    def n_requests(self) -> float:
        """Requests measured in all."""
        return sum(self.n.values())

    @property
    def outstanding(self) -> float:
        """Requests that were in flight on average, by Little's law; nan where that is not known."""
        rate, total = self.figures.get("iops", math.nan), self.n_requests
        if not total or not self.parts:
            return math.nan
        return rate * sum(self.n[part] * self.figures[f"{part}.mean"] for part in self.parts) / total / 1e9

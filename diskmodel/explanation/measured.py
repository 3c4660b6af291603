"""What was measured: a load as it was asked for, and the figures of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

from diskmodel.array import Array
from diskmodel.explanation.equals import Difference
from diskmodel.host.assumed import MOST_PROCESSORS
from diskmodel.layout import Layout
from diskmodel.loading import dataclass
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


@dataclass(frozen=True)
class Figure:
    """One figure that is compared.

    Attributes
    ----------
    load : int
        Which of the measured loads.
    part : str
        "" of a rate; "reads", "writes" or "commits".
    kind : str
        "iops", "mean" or a percentile.
    """

    load: int
    part: str
    kind: str

    @property
    def key(self) -> str:
        """Its name among the figures of a run."""
        return f"{self.part}.{self.kind}" if self.part else self.kind

    def log(self, figures: dict[str, float]) -> float:
        """Return its logarithm; of a percentile that of its ratio to the mean, so that it describes a shape."""
        value = figures.get(self.key, math.nan)
        if not value > 0:
            return math.nan
        if self.kind in SHAPE:
            return math.log(value / figures[f"{self.part}.mean"])
        return math.log(value)


def measured_array(array: Array, one: Measured) -> Array:
    """Return the array, or one drive of it where that was measured, as a test of a minute finds it."""
    tested = array.drive.in_a_test()
    array = array if tested is array.drive else array.model_copy(update={"drive": tested})
    array = _read_as_linux_does(array)
    if one.n_threads is not None and array.drive.is_host_bound and array.host.processors is None:
        # a thread submits its requests on one processor, however many it has outstanding
        host = array.host.model_copy(update={"processors": min(one.n_threads, MOST_PROCESSORS)})
        array = array.model_copy(update={"host": host})
    if not one.is_of_member:
        return array
    alone = Layout.parse({"level": "jbod", "disks": 1})
    return array.model_copy(update={"layout": alone, "drive_write_cache": array.has_drive_write_cache})


def _read_as_linux_does(array: Array) -> Array:
    """Return an array with the reads of md's RAID 10 of flash, where nobody describes another way to choose a copy.

    Each strip is read where fewest requests are, so that one long request keeps all drives busy and not half of them
    (`read_balance` of raid10.c, since "md: raid10: Improve random reads performance", Linux 5.3).
    """
    layout = array.layout
    is_md = not array.is_hardware and layout.kind.keeps_copies and layout.has_strips_to_cut
    if not is_md or array.drive.has_arms or layout.model_fields_set & {"read_policy", "read_strips"}:
        return array
    as_linux = type(layout).parse(dict(layout) | {"read_policy": "shortest-queue", "read_strips": "separate"})
    return array.model_copy(update={"layout": as_linux})


def like_figures(
    run: Mapping[str, float], figures: Sequence[Figure], load: int, row: Sequence[float]
) -> dict[str, float]:
    """Return a run of a load with the compared figures of a vector, and all others moved as the mean is."""
    own = [(one, row[at]) for at, one in enumerate(figures) if one.load == load]
    keys = {one.key for one, _ in own}
    found = dict(run) | {one.key: math.exp(value) for one, value in own if one.kind not in SHAPE}
    if "iops" in found and "iops" in keys:
        for part in ALL_PARTS:
            if f"{part}.mean" in found and f"{part}.mean" not in keys:
                found[f"{part}.mean"] *= run["iops"] / found["iops"]
    for part in ALL_PARTS:
        for kind in SHAPE:
            if f"{part}.{kind}" in found:
                found[f"{part}.{kind}"] *= found[f"{part}.mean"] / run[f"{part}.mean"]
    for one, value in own:
        if one.kind in SHAPE:
            found[one.key] = found[f"{one.part}.mean"] * math.exp(value)
    return found

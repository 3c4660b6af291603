"""What one array can carry: its knee, its highest stable rate, and what a failed disk changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from diskmodel.array import Array
from diskmodel.display import Displayable
from diskmodel.drive import wear_years
from diskmodel.engine import Fresh
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.load_curve import LoadPoint, most_fields
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.statics import rebuild_fields
from diskmodel.plan.answer.working_sets import WorkingSets
from diskmodel.result import Figure
from diskmodel.result.statistics import Interval, bad_end, in_one_of_ten
from diskmodel.workload import Workload


@dataclass(frozen=True)
class Capacity(Record, Displayable):
    """What an array can carry of one kind of load.

    Attributes
    ----------
    array : Array
    workload : Workload
        The kind of load; its rate is that of the knee.
    knee, highest : LoadPoint
        At the rate with the best ratio of throughput to mean latency, and at the highest rate that the array sustains.
    overload_per_s : float
        Lowest rate that it was found not to sustain, requests per second; nan where none was tried.
    most_per_s : Interval
        The highest rate, with the 95 % interval of what is not known of drive, controller, host and model.
    most_middle_per_s : Interval or None
        What the highest rate lies between in eight of ten systems; None where only the runs are known.
    limit : str
        What limits the highest rate.
    degraded, rebuilding : Outcome or None
        At the rate of the knee, with a disk failed, and while it is rebuilt onto a spare; None where that loses data.
    rebuild_hours, idle_rebuild_hours : float
        Of a rebuild by Linux md, beside that load and on an idle array; nan as above, infinite where it does not end.
    scrub_hours : float
        Of the scrub of a pool that is scrubbed, beside that load; nan elsewhere, infinite where it does not end.
    loss_per_year : float
        Chance of data loss in a year with that rebuild beside the load, and a failed disk replaced after a day.
    idle_loss_per_year : float
        The same with rebuilds of an idle array.
    rule_of_thumb_per_s : float
        Rate by the rule of thumb.
    curve : tuple of LoadPoint
        Latency against load.
    fresh : Fresh or None
        How long flash drives are faster than they stay, with all disks busy; None where they are not.
    working_sets : WorkingSets or None
        What a cache on SSDs is worth with more and less data in use; None without one.
    """

    rich_view: ClassVar[str] = "diskmodel.plan.show.capacity:capacity_table"
    html_view: ClassVar[str] = "diskmodel.plan.show.capacity:capacity_html"

    array: Array
    workload: Workload
    knee: LoadPoint
    highest: LoadPoint
    overload_per_s: float
    most_per_s: Interval
    limit: str
    degraded: Outcome | None
    rebuilding: Outcome | None
    rebuild_hours: float
    idle_rebuild_hours: float
    scrub_hours: float
    loss_per_year: float
    idle_loss_per_year: float
    rule_of_thumb_per_s: float
    curve: tuple[LoadPoint, ...]
    most_middle_per_s: Interval | None = None
    fresh: Fresh | None = None
    working_sets: WorkingSets | None = None

    def __repr__(self) -> str:
        most = Figure.of(self.most_per_s, "requests/s").format(with_interval=False)
        bad = math.nan if self.most_middle_per_s is None else bad_end("iops", self.most_middle_per_s)
        return f"<Capacity of {self.array.name or repr(self.array)}: {in_one_of_ten(most, bad)}>"

    def json_fields(self) -> Mapping[str, Any]:
        """Return facts of the array, its rates and latencies, and what a failed disk changes."""
        return {
            "array": self.array.name or repr(self.array),
            "drive": self.array.drive.name,
            "level": self.array.layout.level,
            "disks": self.array.layout.disks,
            "usable_bytes": self.array.usable_bytes,
            "workload": self.workload,
            "knee": self.knee,
            "highest": self.highest,
            "overload_per_s": self.overload_per_s,
            **most_fields(self.most_per_s, self.most_middle_per_s),
            "limit": self.limit,
            "degraded": self.degraded,
            "rebuilding": self.rebuilding,
            **rebuild_fields(self.rebuild_hours),
            "idle_rebuild_hours": self.idle_rebuild_hours,
            "scrub_hours": self.scrub_hours,
            "loss_per_year": self.loss_per_year,
            "idle_loss_per_year": self.idle_loss_per_year,
            "rule_of_thumb_iops": self.rule_of_thumb_per_s,
            "curve": self.curve,
            "fresh": self.fresh,
            **({} if self.working_sets is None else {"working_sets": self.working_sets}),
            "wear_years": self.wear_years if math.isfinite(self.wear_years) else None,
        }

    @property
    def wear_years(self) -> float:
        """Years until the drives are worn out at the knee; infinity without writes, nan where it is not known."""
        return wear_years(self.array.drive, self.knee.outcome.most_written_bytes_per_s)

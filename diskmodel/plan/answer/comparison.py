"""Several arrays under one workload, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from diskmodel.array import Array
from diskmodel.display import Displayable
from diskmodel.frame import Tabular
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.load_curve import Headroom, LoadPoint, most_fields
from diskmodel.plan.answer.outcome import Outcome, figures_of
from diskmodel.plan.answer.statics import rebuild_fields
from diskmodel.plan.answer.verdict import verdict
from diskmodel.result import Prediction
from diskmodel.result.statistics import Interval
from diskmodel.workload import Workload

if TYPE_CHECKING:
    from diskmodel.analytic import Estimate


@dataclass(frozen=True)
class Difference(Record):
    """Second array minus the first, as a share of the first.

    Attributes
    ----------
    first, second : str
        Names of the arrays.
    statistic : str
        iops, mean, p99 or most, the highest stable rate.
    ratio : Interval
        Where the arrays have drives in common, what is not known of these is the same in both.
    is_significant : bool
        Whether the interval excludes 0.
    n_draws, n_better : int
        Draws of what is not known that were simulated in both arrays, and in how many of them the second is better: it
        is faster, serves more, or alone sustains the load. 0 draws: only the noise of the runs is known.
    middle : Interval or None
        What the ratio of the second to the first lies between in eight of ten pairs, 1: alike; None without draws.
    """

    first: str
    second: str
    statistic: str
    ratio: Interval
    is_significant: bool
    n_draws: int = 0
    n_better: int = 0
    middle: Interval | None = None

    def json_fields(self) -> Mapping[str, Any]:
        """Return the names, and the difference with the ends of its interval."""
        return {
            "first": self.first,
            "second": self.second,
            "statistic": self.statistic,
            "significant": self.is_significant,
            "ratio": self.ratio.value,
            "low_ratio": self.ratio.low,
            "high_ratio": self.ratio.high,
            "draws": self.n_draws,
            "better_draws": self.n_better,
        }


@dataclass(frozen=True)
class Compared(Record):
    """One of the arrays.

    Attributes
    ----------
    name : str
    array : Array
    healthy : Outcome
        With intervals that include everything that is not known.
    degraded : Outcome or None
        With the first disk failed; None where that loses data, or the array is already degraded.
    rebuilding : Outcome or None
        With that disk being rebuilt onto a spare as fast as the disks allow, at the beginning or half-way, where
        requests wait longer; None as above.
    rebuild_hours : float
        Length of that rebuild; nan as above, infinite where it does not end beside the load.
    curve : tuple of LoadPoint
        Latency against load, from light to beyond the knee.
    headroom : Headroom
    rule_of_thumb_iops : float
        Host requests per second that the rule of thumb predicts.
    estimate : Estimate or None
        By queueing formulas; None of a pool that is written to.
    differs : tuple of str
        Why the rule of thumb differs from the simulation.
    scrub_hours : float
        Length of the scrub of a pool that is scrubbed (`rebuild.action = "check"`); nan elsewhere, infinite where it
        does not end beside the load.
    loss_per_year : float
        Chance of data loss in a year with that rebuild beside the load, and a failed disk replaced after a day.
    idle_loss_per_year : float
        The same with rebuilds of an idle array.
    prediction : Prediction or None
        Where the width of the intervals of `healthy` comes from; None where they are of the noise of its run alone.
    most_per_s, most_middle_per_s : Interval or None
        The highest rate, as `Capacity` has it; None of a closed workload, and where no rate is stable.
    """

    name: str
    array: Array
    healthy: Outcome
    degraded: Outcome | None
    rebuilding: Outcome | None
    rebuild_hours: float
    curve: tuple[LoadPoint, ...]
    headroom: Headroom
    rule_of_thumb_iops: float
    estimate: Estimate | None
    differs: tuple[str, ...]
    scrub_hours: float = math.nan
    loss_per_year: float = math.nan
    idle_loss_per_year: float = math.nan
    prediction: Prediction | None = None
    most_per_s: Interval | None = None
    most_middle_per_s: Interval | None = None

    def __repr__(self) -> str:
        return f"<Compared '{self.name}': {self.healthy!r}>"

    @property
    def row(self) -> dict[str, Any]:
        """The figures of the array by name, each of one value; nan where unknown."""
        return {
            "array": self.name,
            "drive": self.array.drive.name,
            "level": self.array.layout.level,
            "disks": self.array.layout.disks,
            "usable_bytes": self.array.usable_bytes,
            **figures_of(self.healthy),
            "degraded_p99_ms": figures_of(self.degraded)["p99_ms"],
            "rebuilding_p99_ms": figures_of(self.rebuilding)["p99_ms"],
            "rebuild_hours": self.rebuild_hours,
            "knee_iops": self.headroom.knee_iops,
            "headroom_ratio": self.headroom.ratio,
            "rule_of_thumb_iops": self.rule_of_thumb_iops,
        }

    def json_fields(self) -> Mapping[str, Any]:
        """Return the array's main facts, its outcomes, and its latency against load."""
        return {
            "name": self.name,
            "drive": self.array.drive.name,
            "level": self.array.layout.level,
            "disks": self.array.layout.disks,
            "usable_bytes": self.array.usable_bytes,
            **self.healthy.to_dict(),
            **({} if self.prediction is None else {"interval": self.prediction}),
            "degraded": self.degraded,
            "rebuilding": self.rebuilding,
            **rebuild_fields(self.rebuild_hours),
            "scrub_hours": self.scrub_hours,
            "loss_per_year": self.loss_per_year,
            "idle_loss_per_year": self.idle_loss_per_year,
            "curve": self.curve,
            "headroom": self.headroom,
            **({} if self.most_per_s is None else most_fields(self.most_per_s, self.most_middle_per_s)),
            "rule_of_thumb_iops": self.rule_of_thumb_iops,
            "rule_of_thumb_difference": self.differs,
        }


@dataclass(frozen=True)
class Comparison(Tabular, Record, Displayable):
    """Arrays under one workload.

    Attributes
    ----------
    workload : Workload
    arrays : tuple of Compared
    differences : tuple of Difference
        Of each array to the first.
    """

    rich_view: ClassVar[str] = "diskmodel.plan.show.table:comparison_table"
    html_view: ClassVar[str] = "diskmodel.plan.show.notebook:comparison_html"

    workload: Workload
    arrays: tuple[Compared, ...]
    differences: tuple[Difference, ...]

    @property
    def verdict(self) -> str:
        """Which array answers sooner, carries more, stores more and rebuilds sooner, in a sentence."""
        return verdict(self)

    def json_fields(self) -> Mapping[str, Any]:
        """Return the verdict beside the fields."""
        return {
            "workload": self.workload,
            "verdict": self.verdict,
            "arrays": self.arrays,
            "differences": self.differences,
        }

    row_name: ClassVar[str] = "array"

    def table_rows(self) -> list[dict[str, Any]]:
        """Return the arrays as rows of a table.

        Returns
        -------
        list of dict
            Of `to_frame` and of Arrow. A row for each array, by its name. Columns: drive, level, disks, usable_bytes,
            iops, mean_ms, p50_ms, p95_ms, p99_ms, p999_ms, utilization, degraded_p99_ms, rebuilding_p99_ms,
            rebuild_hours, knee_iops, headroom_ratio (load that can be added, as a share of the present one),
            rule_of_thumb_iops; nan where unknown.
        """
        return [item.row for item in self.arrays]

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(item.name for item in self.arrays)}: {self.verdict}>"

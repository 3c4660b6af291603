"""The answer for several volumes: every arrangement of them on arrays, and what sharing does to each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from diskmodel.display import Displayable
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.criterion import Criterion
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.server import ServerPlan
from diskmodel.result.statistics import Interval

_NOTHING = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Sharing(Record):
    """What the other volumes of an array do to one of them.

    Attributes
    ----------
    volume : str
    alone, shared : Interval
        p99 latency on the same disks, ms: without the others, and beside them; nan where it is overloaded.
    """

    volume: str
    alone: Interval = _NOTHING
    shared: Interval = _NOTHING

    @property
    def ratio(self) -> float:
        """How many times as long p99 is beside the others; nan where unknown."""
        return self.shared.value / self.alone.value if self.alone.value else math.nan

    def json_fields(self) -> Mapping[str, Any]:
        """Return both figures with the ends of their intervals, ms."""
        figures = {
            f"p99_{name}{end}_ms": getattr(interval, field)
            for name, interval in (("alone", self.alone), ("shared", self.shared))
            for end, field in (("", "value"), ("_low", "low"), ("_high", "high"))
        }
        return {"volume": self.volume, **figures, "ratio": self.ratio}


@dataclass(frozen=True)
class PlacedArray(Record):
    """The answer for one array of an arrangement.

    Attributes
    ----------
    volumes : tuple of str
    result : PlanResult
        Of the question for this array.
    sharing : tuple of Sharing
        Of each volume, where the array has several and one is feasible.
    """

    volumes: tuple[str, ...]
    result: PlanResult
    sharing: tuple[Sharing, ...] = ()

    @property
    def disks(self) -> int:
        """Disks of the best candidate, hot spares included; 0 without one."""
        best = self.result.best
        return 0 if best is None or best.disks is None else best.disks + self.result.plan.candidates.spares

    @property
    def cost_usd(self) -> float:
        """Cost of the best candidate; nan where unknown."""
        best = self.result.best
        return math.nan if best is None or best.trial is None else best.trial.statics.cost_usd

    def criteria_of(self, volume: str) -> tuple[Criterion, ...]:
        """Return the latency criteria of a volume at the answer."""
        best = self.result.best
        if best is None or best.trial is None:
            return ()
        found = [item for item in best.trial.criteria if item.name == "latency"]
        if len(self.volumes) == 1:
            return tuple(found)
        return tuple(c for c in found if c.detail.partition(" of ")[2].partition("/")[0] == volume)


@dataclass(frozen=True)
class Arrangement(Record):
    """The answer for one arrangement.

    Attributes
    ----------
    name : str
        "apart", "shared" or "as given".
    arrays : tuple of PlacedArray
    """

    name: str
    arrays: tuple[PlacedArray, ...]

    @property
    def is_feasible(self) -> bool:
        """Whether every array has an answer."""
        return all(array.result.is_feasible for array in self.arrays)

    @property
    def is_decided(self) -> bool:
        """Whether no longer run could change an answer: the counts of all arrays, or that one of them has none."""
        if self.is_feasible:
            return all(array.result.best is not None and array.result.best.is_decided for array in self.arrays)
        missing = [array.result for array in self.arrays if not array.result.is_feasible]
        return any(all(candidate.is_decided for candidate in result.candidates) for result in missing)

    @property
    def disks(self) -> int | None:
        """Disks of all arrays, hot spares included; None where one has no answer."""
        return sum(array.disks for array in self.arrays) if self.is_feasible else None

    @property
    def cost_usd(self) -> float:
        """Cost of all arrays; nan where one is unknown."""
        return sum(array.cost_usd for array in self.arrays) if self.is_feasible else math.nan

    def array_of(self, volume: str) -> PlacedArray:
        """Return the array that a volume is on."""
        return next(array for array in self.arrays if volume in array.volumes)

    def json_fields(self) -> Mapping[str, Any]:
        """Return the sums, and the answer for every array."""
        return {
            "arrangement": self.name,
            "feasible": self.is_feasible,
            "decided": self.is_decided,
            "disks": self.disks,
            "cost_usd": self.cost_usd,
            "arrays": self.arrays,
        }


@dataclass(frozen=True)
class ServerResult(Record, Displayable):
    """The answer to a question about several volumes.

    Attributes
    ----------
    plan : ServerPlan
    arrangements : tuple of Arrangement
    best : Arrangement or None
        None: no arrangement of which every array is feasible.
    minimized : "disks" or "cost"
    """

    rich_view: ClassVar[str] = "diskmodel.plan.show.server:server_table"

    plan: ServerPlan
    arrangements: tuple[Arrangement, ...]
    best: Arrangement | None
    minimized: str

    @property
    def is_feasible(self) -> bool:
        """Whether some arrangement meets all objectives."""
        return self.best is not None

    def arrangement(self, name: str) -> Arrangement | None:
        """Return an arrangement by its name; None where it was not asked for."""
        return next((item for item in self.arrangements if item.name == name), None)

    def json_fields(self) -> Mapping[str, Any]:
        """Return the best by its name, all arrangements, and the plan."""
        return {
            "name": self.plan.name,
            "feasible": self.is_feasible,
            "best": None if self.best is None else self.best.name,
            "minimized": self.minimized,
            "disks": None if self.best is None else self.best.disks,
            "cost_usd": math.nan if self.best is None else self.best.cost_usd,
            "arrangements": self.arrangements,
            "plan": self.plan,
        }

"""What a change to an array or to an input does to the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.plan.answer.criterion import Criterion
from diskmodel.units import pretty_bytes


def _beside(own: Mapping[str, Any], criterion: Criterion) -> dict[str, Any]:
    """Return the fields of a record with those of its criterion beside them."""
    return {name: value for name, value in own.items() if name != "criterion"} | criterion.to_dict()


@dataclass(frozen=True)
class Relaxation(Record):
    """One change with which an array that falls short meets the objective, as simulated.

    Attributes
    ----------
    change : str
    disks : int
    criterion : Criterion
        The limiting one, after the change.
    gain_ratio : float
        Margin gained, as a share of the limit.
    cost_usd : float
        Of the whole array after the change, without the price of a cache; nan where a price is not known.
    """

    change: str
    disks: int
    criterion: Criterion
    gain_ratio: float
    cost_usd: float

    def json_fields(self) -> Mapping[str, Any]:
        """Return the change, its gain, and the fields of the criterion."""
        return _beside(super().json_fields(), self.criterion)


@dataclass(frozen=True)
class Assumption(Record):
    """Something that a question does not say, and the answer if it is otherwise, as simulated.

    Attributes
    ----------
    assumed, instead : str
        What was assumed, and the other case.
    disks : int or None
        Fewest disks in the other case, of the same drive, up to those of the answer; None: no fewer meet the objective.
    level : str
        For people: "RAID 6"; "" without disks.
    unknown : str
        Why the answer of the other case is not known, and what it takes; "" where it is.
    name : str
        Of the same in `explanation.otherwise`, which has its effect in milliseconds; "" where it has not.
    needs_more : bool
        Whether the other case takes more disks than the answer has, or no number of them does.
    """

    assumed: str
    instead: str
    disks: int | None
    level: str
    unknown: str = ""
    name: str = ""
    needs_more: bool = False


@dataclass(frozen=True)
class CacheInstead(Record):
    """Hard disks that miss a limit of commits, and meet it behind a write cache, as simulated.

    Attributes
    ----------
    drive, level : str
    cache_bytes : int
    disks : int
        The fewest behind the cache.
    criterion : Criterion
        About commits, with the cache.
    """

    drive: str
    level: str
    cache_bytes: int
    disks: int
    criterion: Criterion

    def json_fields(self) -> Mapping[str, Any]:
        """Return the array and the fields of the criterion."""
        return _beside(super().json_fields(), self.criterion)

    def __str__(self) -> str:
        are = "disk meets" if self.disks == 1 else "disks meet"
        return (
            f"A cache, not spindles: behind {pretty_bytes(self.cache_bytes)} of write cache that survives a power cut, "
            f"{self.disks} {are} it with {self.drive} in {self.level}: {self.criterion.in_short()}."
        )


@dataclass(frozen=True)
class Sensitivity(Record):
    """The answer when one input is too low or too high.

    Attributes
    ----------
    input : str
    low, high : str
        The two changes.
    disks_low, disks_high : int or None
        Fewest disks then; None: not feasible.
    """

    input: str
    low: str
    high: str
    disks_low: int | None
    disks_high: int | None


@dataclass(frozen=True)
class HiddenPeak(Record):
    """The answer when the load inside each interval of a recording of averages is less even than assumed.

    Attributes
    ----------
    peak_to_mean : float
        2: all requests of an interval arrive in half of it, at twice the mean rate.
    disks : int or None
        Fewest disks of the best family then; None: more than the plan allows.
    most_disks : int
        The largest number of disks that the plan allows that family.
    """

    peak_to_mean: float
    disks: int | None
    most_disks: int

    def __str__(self) -> str:
        need = f"{self.disks} disks" if self.disks else f"more than {self.most_disks} disks"
        return f"peaks at {self.peak_to_mean:g} times the mean within an interval: {need}"

"""One requirement and whether it is met."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result import COMMITS
from diskmodel.result.statistics import Interval
from diskmodel.units import chance_words


class Verdict(Enum):
    """Whether a criterion is met."""

    HOLDS = "holds"
    FAILS = "fails"
    #: The confidence interval includes the limit, or ends too short of it to call it met.
    UNDECIDED = "undecided"
    #: The method does not determine it.
    UNKNOWN = "unknown"


#: A verdict in a sentence.
_IN_WORDS = {
    Verdict.HOLDS: "met",
    Verdict.FAILS: "not met",
    Verdict.UNDECIDED: "undecided, too close to the limit",
    Verdict.UNKNOWN: "unknown",
}


#: Digits that are added at most to show a difference: a disk that is a sector too small, of an array of petabytes.
_MOST_MORE_DIGITS = 10


@dataclass(frozen=True)
class Criterion(Record):
    """One requirement and what was found.

    Attributes
    ----------
    name : str
        iops, commits, throughput, latency, utilization, capacity, rebuild, data_loss, cost, rack_units; the first five
        also after "degraded ".
    detail : str
        What exactly: "p99", "p99 of log".
    limit : float
        In the unit of `figure`.
    figure : Interval
    unit : str
    is_upper : bool
        Whether the limit is the largest allowed value, not the smallest.
    verdict : Verdict
    """

    name: str
    detail: str
    limit: float
    figure: Interval
    unit: str
    is_upper: bool
    verdict: Verdict

    @property
    def margin_ratio(self) -> float:
        """Distance from the limit to the value as a share of the limit; negative where the limit is violated."""
        if not math.isfinite(self.figure.value):
            return -math.inf if self.is_upper else math.inf
        difference = self.limit - self.figure.value if self.is_upper else self.figure.value - self.limit
        return difference / self.limit if self.limit else math.copysign(math.inf, difference)

    @property
    def is_overload(self) -> bool:
        """Whether the array completes less than it is offered."""
        return self.detail == "overloaded"

    def json_fields(self) -> Mapping[str, Any]:
        """Return the requirement, the value with the ends of its interval, and the verdict."""
        return {
            "criterion": self.name,
            "detail": self.detail,
            "limit": self.limit,
            "value": self.figure.value,
            "low": self.figure.low,
            "high": self.figure.high,
            "unit": self.unit,
            "verdict": self.verdict,
            "margin_ratio": self.margin_ratio,
        }

    def in_short(self) -> str:
        """Return the value and the limit: "p99 latency 45.8 ms (at most 80 ms)"."""
        if self.is_overload:
            return self._overload()
        bound = "at most" if self.is_upper else "at least"
        name = self.name.replace("_", " ")
        what = f"usable {name}" if self.name == "capacity" else f"{self.detail} {name}".strip()
        if self.detail.endswith(f" of {COMMITS}"):
            what = f"{self.detail.removesuffix(f' of {COMMITS}')} {name} of {COMMITS}"
        numbers = self._with_enough_digits(3)
        if self.unit == "1/s":
            value, limit = numbers
            of = COMMITS if name == COMMITS else "requests"
            return f"{what.removesuffix('iops').removesuffix(COMMITS)}{value} {of}/s ({bound} {limit})"
        if self.name == "data_loss":
            value, limit = self._chances()
            return f"chance of {name} {value} ({bound} {limit})"
        value, limit = self._with_units(numbers)
        if self.name == "capacity":
            return f"{what} {value} ({limit} needed)"
        return f"{what} {value} ({bound} {limit})"

    def _chances(self) -> tuple[str, str]:
        """Return a chance a year and its limit in words."""
        value, limit = (chance_words(number) for number in (self.figure.value, self.limit))
        return f"a little more than {value}" if value == limit and self.verdict is Verdict.FAILS else value, limit

    def _scale(self, number: float) -> tuple[float, str]:
        """How many of the unit are one of the unit that people read, and that: terabytes from one on."""
        return (1000.0, "TB") if self.unit == "GB" and number >= 1000 else (1.0, self.unit)

    def _with_units(self, numbers: tuple[str, str]) -> tuple[str, str]:
        """Return the digits of the value and of the limit with their units."""
        ends = (self._scale(self.figure.value)[1], self._scale(self.limit)[1])
        value, limit = (f"{number} {unit}".strip() for number, unit in zip(numbers, ends, strict=True))
        return value, limit

    def _with_enough_digits(self, digits: int) -> tuple[str, str]:
        """Return the value and the limit, with so many digits that a missed limit does not look like a met one."""
        for more in range(_MOST_MORE_DIGITS):
            value, limit = (
                _short(number / self._scale(number)[0], digits, more) for number in (self.figure.value, self.limit)
            )
            if self.verdict is not Verdict.FAILS or value != limit:
                break
        return value, limit

    def _overload(self) -> str:
        prefix = self.name.removesuffix("iops")
        done, offered = (_short(number, 3) for number in (self.figure.value, self.limit))
        if done == offered or self.figure.value > self.limit:  # more may be complete of what waits already
            return f"{prefix}overloaded: at {offered} requests/s the queue grows without end"
        return f"{prefix}overloaded: it completes {done} of {offered} requests/s"

    def __str__(self) -> str:
        if self.is_overload:
            return self._overload()
        bound = "at most" if self.is_upper else "at least"
        what = f"{self.name.replace('_', ' ')} {self.detail}".strip()
        value, limit = self._with_units(self._with_enough_digits(4))
        if self.name == "data_loss":
            what, (value, limit) = f"chance of {what}", self._chances()
        verdict = _IN_WORDS[self.verdict]
        if self.verdict is Verdict.UNDECIDED and not math.isfinite(self.figure.half_width):
            verdict = "undecided, the run is too short for an interval"
        return f"{what} {value}, required {bound} {limit}: {verdict}"


def _short(value: float, digits: int, more: int = 0) -> str:
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "unbounded"
    return f"{value:,.{more}f}" if abs(value) >= 1000 else f"{value:.{digits + more}g}"


def overall(criteria: Iterable[Criterion]) -> Verdict:
    """Return the verdict of all criteria together: one failure decides; unknown ones are left out."""
    verdicts = {item.verdict for item in criteria}
    if Verdict.FAILS in verdicts:
        return Verdict.FAILS
    return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.HOLDS


def tightest(criteria: Iterable[Criterion]) -> Criterion | None:
    """Return the criterion with the least margin, failed ones before undecided ones before others; None of none."""
    order = {Verdict.FAILS: 0, Verdict.UNDECIDED: 1, Verdict.HOLDS: 2}
    known = [item for item in criteria if item.verdict in order]
    return min(known, key=lambda item: (order[item.verdict], item.margin_ratio), default=None)

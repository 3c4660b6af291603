"""Questions about measured drives that an interval of then left open, and that one of today decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diskmodel.units import in_digits
from tests.validation.coverage.score import Judged

#: Of statistics in the table.
_UNITS = {"iops": "/s", "mean": " ms", "p99": " ms"}
#: Statistics of which more is better.
_RATES = ("iops",)


@dataclass(frozen=True)
class Asked:
    """A question whose answer was measured.

    Attributes
    ----------
    case, statistic : str
        As of the published figure.
    words : str
        The question.
    limit : float
        That decides it.
    low, high : float
        The interval that was printed with one spread for the speed of a whole drive.
    """

    case: str
    statistic: str
    words: str
    limit: float
    low: float
    high: float

    def decides(self, low: float, high: float) -> bool:
        """Return whether an interval has all of its figures on one side of the limit."""
        return not low <= self.limit <= high


ASKED = (
    Asked(
        "lw-wd740gd-raptor: 4 KiB 100% reads, depth 1",
        "iops",
        "Does a WD740GD serve one reader 100 times a second?",
        100.0,
        85.532,
        191.71,
    ),
    Asked(
        "lw-wd740gd-raptor: 4 KiB 100% reads, depth 32",
        "p99",
        "Is its p99 below a second with 32 readers?",
        1000.0,
        348.35,
        1299.0,
    ),
    Asked(
        "Exos X18, 4 KiB random reads, depth 16",
        "iops",
        "Does an Exos X18 serve 16 readers 110 times a second?",
        110.0,
        100.41,
        245.17,
    ),
)


def decided(printed: Sequence[Judged], asked: Sequence[Asked] = ASKED) -> str:
    """Return the rows of the table, one for each question.

    Raises
    ------
    ValueError
        If an interval of today leaves a question open, or decides it otherwise than it was measured.
    """
    known = {(one.figure.case.name, one.figure.statistic): one for one in printed}
    rows = []
    for one in asked:
        now = known[one.case, one.statistic]
        unit, measured = _UNITS[one.statistic], now.figure.measured
        if one.decides(one.low, one.high) or not one.decides(now.low, now.high):
            raise ValueError(f"{one.words}: open then, and decided now, is what it stands for")
        if (now.low > one.limit) != (measured > one.limit):
            raise ValueError(f"{one.words}: decided otherwise than it was measured")
        is_yes = (now.low > one.limit) == (one.statistic in _RATES)
        then, today = (
            f"{in_digits(low)} to {in_digits(high)}{unit}" for low, high in ((one.low, one.high), (now.low, now.high))
        )
        rows.append(f"| {one.words} | {then} | {today} | {'yes' if is_yes else 'no'} | {in_digits(measured)}{unit} |")
    return "\n".join(rows)

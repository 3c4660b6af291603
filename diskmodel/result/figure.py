"""A figure of a result: a number that has its unit and its interval with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from diskmodel.result.statistics.batches import Interval
from diskmodel.result.statistics.doubt import bad_end, in_one_of_ten
from diskmodel.result.statistics.registry import STATISTICS, Statistic
from diskmodel.units import in_digits

#: Returns the ends of an interval.
Ends = Callable[[], tuple[float, float]]
#: Return the interval of a statistic with everything that is not known, and what it lies between in eight of ten
#: systems (None where no more than the run is unknown).
Known = tuple[Callable[[str], Interval], Callable[[str], Interval | None]]


class Figure(Interval):
    """A number with unit and interval, that calculates, compares and formats as a number.

    Parameters
    ----------
    value : float
    low, high : float
        Ends of its 95 % interval; nan where unknown.
    unit : str
        "ms", "IOPS"; "" for a ratio.
    find : callable, optional
        Returns the ends, instead of `low` and `high`: called when they are first looked at, because an interval that
        includes everything that is not known takes simulations of its own.
    find_bad : callable, optional
        Returns the figure of the bad one of ten systems, in the same unit; nan where nothing but the run is unknown.

    Notes
    -----
    `f"{figure:.1f}"` is the number alone, as for any float; `str(figure)` has digits that people read, the unit, and
    what one of ten such systems has, or the interval where only the run is known. Arithmetic gives plain numbers: half
    a figure has no interval.

    Examples
    --------
    >>> p99 = Figure(8.31, 8.02, 8.67, unit="ms")
    >>> p99 < 10, p99 / 2, round(p99, 1), f"{p99:.1f}"
    (True, 4.155, 8.3, '8.3')
    >>> p99
    Figure(8.31 ms, 8.02 to 8.67)
    >>> print(p99)
    8.31 ms (8.02 to 8.67)
    >>> p99.low, p99.high, p99.unit
    (8.02, 8.67, 'ms')
    >>> p99.format(2, with_interval=False)
    '8.3 ms'
    >>> print(Figure(8.31, 6.0, 11.2, unit="ms", find_bad=lambda: 9.6))
    8.31 ms, 9.6 in one of ten
    """

    def __new__(cls, value: float, *_: Any, **__: Any) -> Figure:
        """Return a figure of that value."""
        return float.__new__(cls, value)

    def __init__(
        self,
        value: float,
        low: float = math.nan,
        high: float = math.nan,
        *,
        unit: str = "",
        find: Ends | None = None,
        find_bad: Callable[[], float] | None = None,
        n_batches: int = 0,
        is_correlated: bool = False,
    ) -> None:
        known = {"value": float(value), "unit": unit, "n_batches": n_batches, "is_correlated": is_correlated}
        self.__dict__.update(known, _ends=None if find else (float(low), float(high)), _find=find)
        self.__dict__.update(_bad=None if find_bad else math.nan, _find_bad=find_bad)

    @classmethod
    def of(
        cls,
        interval: Interval,
        unit: str,
        divisor: float = 1.0,
        find: Ends | None = None,
        find_bad: Callable[[], float] | None = None,
    ) -> Figure:
        """Return an interval, divided by `divisor`, as a figure in a unit; functions as of the class, in that unit."""
        return cls(
            interval.value / divisor,
            interval.low / divisor,
            interval.high / divisor,
            unit=unit,
            find=find,
            find_bad=find_bad,
            n_batches=interval.n_batches,
            is_correlated=interval.is_correlated,
        )

    @classmethod
    def predicted(cls, own: Interval, statistic: str, unit: str, divisor: float, known: Known) -> Figure:
        """Return a statistic of a run as a figure whose interval includes everything that is not known.

        Parameters
        ----------
        own : Interval
            Of the run alone.
        statistic : str
            "iops", "mean", ...: which end is the bad one.
        unit : str
        divisor : float
            From the unit of the intervals to that of the figure.
        known : pair of callables
            Called when the figure is asked for its interval.
        """
        interval_of, middle_of = known

        def ends() -> tuple[float, float]:
            found = interval_of(statistic)
            return found.low / divisor, found.high / divisor

        def bad() -> float:
            middle = middle_of(statistic)
            return math.nan if middle is None else bad_end(statistic, middle) / divisor

        return cls.of(own, unit, divisor, ends, bad)

    @property
    def in_one_of_ten(self) -> float:
        """What the bad one of ten such systems has, in the unit: more, or less IOPS.

        nan where nothing but the run is unknown; infinite where it is overloaded.
        """
        bad: float | None = self.__dict__["_bad"]
        if bad is None:
            bad = float(self.__dict__["_find_bad"]())
            self.__dict__.update(_bad=bad, _find_bad=None)
        return bad

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the interval; nan where unknown."""
        ends: tuple[float, float] | None = self.__dict__["_ends"]
        if ends is None:
            low, high = self.__dict__["_find"]()
            ends = (float(low), float(high))
            self.__dict__.update(_ends=ends, _find=None)
        return ends

    @property
    def low(self) -> float:
        """Lower end; nan where unknown."""
        return self.ends[0]

    @property
    def high(self) -> float:
        """Upper end; nan where unknown."""
        return self.ends[1]

    @property
    def unit(self) -> str:
        """Its unit."""
        return str(self.__dict__["unit"])

    def format(self, digits: int = 3, *, with_interval: bool = True) -> str:
        """Return the number in digits, its unit, and that of the bad one of ten, or else the interval of its run."""
        text = self._text(digits)
        if not with_interval or math.isnan(self):
            return text
        if not math.isnan(bad := self.in_one_of_ten):
            return in_one_of_ten(text, bad, digits)
        ends = self._interval(digits)
        return f"{text} ({ends})" if ends else text

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        ends = self._interval(3)
        return f"Figure({self._text(3)}{', ' if ends else ''}{ends})"

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"_ends": self.ends, "_find": None, "_bad": self.in_one_of_ten, "_find_bad": None}
        return _made_again, (self.value, {**self.__dict__, **state})

    def _text(self, digits: int) -> str:
        if math.isnan(self):
            return "unknown"
        return f"{in_digits(self.value, digits)}{' ' if self.unit else ''}{self.unit}"

    def _interval(self, digits: int) -> str:
        low, high = self.ends
        if math.isnan(self) or math.isnan(low) or low == high:
            return ""
        if not math.isfinite(high):
            return f"{in_digits(low, digits)} or more"
        return f"{in_digits(low, digits)} to {in_digits(high, digits)}"


def _made_again(value: float, state: dict[str, Any]) -> Figure:
    figure = Figure(value)
    figure.__dict__.update(state)
    return figure


class InMilliseconds:
    """Base of what has statistics of latency: its mean and its percentiles are figures in milliseconds."""

    def figure(self, name: str) -> Figure:
        """Return "mean" or a percentile ("p99") of the latency, ms; nan where unknown."""
        raise NotImplementedError

    if TYPE_CHECKING:  # made from `STATISTICS` below the class; a test compares these with it

        @property
        def mean(self) -> Figure: ...
        @property
        def p50(self) -> Figure: ...
        @property
        def p95(self) -> Figure: ...
        @property
        def p99(self) -> Figure: ...
        @property
        def p999(self) -> Figure: ...


def _statistic(one: Statistic) -> property:
    """Return the property that has the name of a statistic."""
    least = one.least_requests
    few = f", or fewer than {least:,} requests were measured" if least > 1 else ""
    about = f"The {one.label} of the latency, ms, with its interval; nan where the array is overloaded{few}."
    return property(lambda owner: owner.figure(one.name), doc=about)


for _one in STATISTICS:
    setattr(InMilliseconds, _one.name, _statistic(_one))

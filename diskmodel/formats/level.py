"""The level of a recorded load that a workload stands for: a percentile of the time, or of the requests."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from diskmodel.errors import Fault, FormatError
from diskmodel.loading import dataclass
from diskmodel.units import in_digits

_LEVEL = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%?(?:\s*of\s+(?:the\s+)?(time|requests))?", re.ASCII)

#: Share of the requests above a level of time that is worth a warning, over the share of the time above it. A steady
#: random load reaches 1.3 at a hundred requests an interval; at half this, it would be warned about.
_WARN_FACTOR = 2.0


@dataclass(frozen=True)
class Level:
    """A percentile of a load over time.

    Attributes
    ----------
    percentile : float, 0 to 100
    is_of_requests : bool
        False: the rate that is not exceeded in `percentile` % of the intervals. True: the rate of the busiest interval
        that the first `percentile` % of the requests arrive in, intervals in order of their rates.
    """

    percentile: float
    is_of_requests: bool = False

    @classmethod
    def of(cls, level: Level | float | str) -> Level:
        """Return the level in 95, "95", "95 %", "95 % of time" or "95 % of requests".

        Raises
        ------
        FormatError
            When it is none of these, or outside 0 to 100.
        """
        if isinstance(level, Level):
            return level
        is_of_requests = False
        if isinstance(level, str):
            found = _LEVEL.fullmatch(level.strip())
            if found is None:
                fix = 'write for example 95, or "95% of requests"'
                raise FormatError(
                    Fault("percentile", level, "must be a percentile of the time or of the requests", fix)
                )
            level, is_of_requests = float(found[1]), found[2] == "requests"
        if not 0 <= level <= 100:
            raise FormatError(Fault("percentile", level, "must lie from 0 to 100", "write for example 95"))
        return cls(float(level), is_of_requests)

    def __str__(self) -> str:
        return f"{self.percentile:g}% of requests" if self.is_of_requests else f"{self.percentile:g}"

    def rate(self, rates_per_s: NDArray[np.float64]) -> float:
        """Return the rate at this level of intervals of equal length."""
        if not self.is_of_requests:
            return float(np.percentile(rates_per_s, self.percentile))
        ordered = np.sort(rates_per_s)
        arrived = np.cumsum(ordered)
        first = int(np.searchsorted(arrived, self.percentile / 100 * arrived[-1] * (1 - 1e-12)))
        return float(ordered[min(first, len(ordered) - 1)])

    def in_words(self, intervals: str) -> str:
        """Return what the rates of a workload at this level are."""
        if self.is_of_requests:
            return f"{self.percentile:g} % of the requests arrive at these rates or lower ones, by {intervals}"
        return f"the rates are the {self.percentile:g}th percentile of {intervals}"

    def warning(self, rates_per_s: NDArray[np.float64]) -> str | None:
        """Return a warning where many more requests than intervals lie above this level; None elsewhere."""
        total = float(rates_per_s.sum())
        if self.is_of_requests or not total > 0:
            return None
        above = float(rates_per_s[rates_per_s > self.rate(rates_per_s)].sum()) / total
        if above <= max(_WARN_FACTOR * (1 - self.percentile / 100), 0.01):
            return None
        other = Level(self.percentile, is_of_requests=True)
        return (
            f"{above:.0%} of the requests arrive while the load is above this level, which is a percentile of time; "
            f'--percentile "{other}" plans for {in_digits(other.rate(rates_per_s), 4)}/s'
        ).replace("% of the", " % of the", 1)

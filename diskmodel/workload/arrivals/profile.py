"""A load that changes over the day: relative rates over a period, repeated."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from diskmodel.description import Description
from diskmodel.units import Pause
from diskmodel.workload.draws import Float64


class Profile(Description):
    """Relative rates of equal parts of a period; the mean rate of the stream stays what it is.

    Attributes
    ----------
    relative_rates : tuple of float, at least one more than 0
        For example 24 values for the hours of a day.
    period_ns : int, ns
    """

    relative_rates: tuple[Annotated[float, Field(ge=0, le=1e18)], ...] = Field(min_length=1)
    period_ns: Pause = 86_400_000_000_000

    @model_validator(mode="after")
    def _some_load(self) -> Profile:
        if max(self.relative_rates) < 1e-9:
            raise ValueError("relative_rates: one of them must be more than 1e-9; write relative loads")
        if self.period_ns < len(self.relative_rates):
            raise ValueError('period_ns must be more than 0; write for example "24 h"')
        return self

    @property
    def peak_ratio(self) -> float:
        """Highest rate over the mean."""
        return max(self.relative_rates) * len(self.relative_rates) / math.fsum(self.relative_rates)

    @property
    def cycle_ns(self) -> float:
        """The period; 0 where all rates are the same."""
        return float(self.period_ns) if len(set(self.relative_rates)) > 1 else 0.0

    @property
    def peak_ns(self) -> float:
        """Longest stretch of parts at the highest rate; 0 where all rates are the same."""
        is_peak = [rate == max(self.relative_rates) for rate in self.relative_rates]
        if all(is_peak):
            return 0.0
        longest = max(len(list(group)) for peak, group in groupby(2 * is_peak) if peak)
        return longest * self.period_ns / len(is_peak)

    def warp(self, time_ns: Float64) -> Float64:
        """Times of a stream with the mean rate, moved so that their rate follows the profile; float64, ns.

        Notes
        -----
        Inverse of the integrated rate (time change of a point process): a Poisson stream becomes the inhomogeneous
        Poisson stream of that profile. E. Çinlar, *Introduction to Stochastic Processes*, 1975, 4.7.
        """
        rates = np.asarray(self.relative_rates, dtype=np.float64)
        rates = rates / rates.mean()
        slot_ns = self.period_ns / len(rates)
        done_before = np.concatenate([[0.0], np.cumsum(rates) * slot_ns])[:-1]
        cycle, within = np.divmod(time_ns, self.period_ns)
        slot = np.searchsorted(done_before, within, side="right") - 1
        # a slot without load ends where it begins; the search never stays in it, except by rounding at the period's end
        rate = np.where(rates[slot] > 0, rates[slot], 1.0)
        inside = np.minimum((within - done_before[slot]) / rate, slot_ns)
        warped: Float64 = cycle * self.period_ns + slot * slot_ns + inside
        return warped

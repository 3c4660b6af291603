"""What a fitted workload was fitted to, and what it loses in latency."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from diskmodel.description import Description
from diskmodel.units import Pause, in_digits

_Spread = Annotated[float, Field(ge=0, le=1e3)]

#: Spread of the replays of a trace that is named, relative: less is not seen beside an error in whole percent. At
#: double, an error of 10 % could be the chance of one run without a word about it.
_NAMED_SPREAD = 0.05


class FittedLatency(Description):
    """Latency of a trace and of the workload that was fitted to it, on the same array.

    Attributes
    ----------
    array : str
        The array in words.
    speed_up : float
        How many times faster than recorded both came.
    trace_mean_ns, trace_p99_ns, fitted_mean_ns, fitted_p99_ns : int, ns
        Over all requests, from issue to completion; the array begins empty. Averages over runs of several seeds.
    trace_mean_spread, trace_p99_spread : float
        Standard deviation between replays of the trace that differ in the angles of the spindles, relative to their
        average.
    """

    array: str = Field(max_length=200)
    speed_up: Annotated[float, Field(gt=0, le=1e12)] = 1.0
    trace_mean_ns: Pause
    fitted_mean_ns: Pause
    trace_p99_ns: Pause
    fitted_p99_ns: Pause
    trace_mean_spread: _Spread = 0.0
    trace_p99_spread: _Spread = 0.0

    @property
    def mean_error(self) -> float:
        """Relative error of the fitted workload's mean."""
        return self.fitted_mean_ns / max(self.trace_mean_ns, 1) - 1

    @property
    def p99_error(self) -> float:
        """Relative error of the fitted workload's 99th percentile."""
        return self.fitted_p99_ns / max(self.trace_p99_ns, 1) - 1

    def in_words(self) -> str:
        """Return both figures in a line."""
        pace = "" if self.speed_up == 1 else f", {self.speed_up:.3g} times as fast"
        parts = [
            f"{name} {in_digits(fitted / 1e6)} ms for {in_digits(trace / 1e6)} ms ({error:+.0%})"
            for name, trace, fitted, error in (
                ("mean", self.trace_mean_ns, self.fitted_mean_ns, self.mean_error),
                ("p99", self.trace_p99_ns, self.fitted_p99_ns, self.p99_error),
            )
        ]
        return f"{self.array}{pace}: {', '.join(parts)}{self._spread_in_words()}"

    def _spread_in_words(self) -> str:
        """Return by how much replays of the trace itself differ; "" where that is little."""
        mean, p99 = self.trace_mean_spread, self.trace_p99_spread
        if max(mean, p99) < _NAMED_SPREAD:
            return ""
        return f"; replays of the trace itself differ by {mean:.0%} and {p99:.0%} (standard deviation)"


class Fitted(Description):
    """Where a workload comes from.

    Attributes
    ----------
    trace : str
        Its name.
    n_requests : int
        Requests of the trace.
    latency : tuple of FittedLatency
        The trace and the workload on reference arrays.
    """

    trace: str = Field(default="", max_length=200)
    n_requests: Annotated[int, Field(ge=0)]
    latency: tuple[FittedLatency, ...] = ()

    @property
    def log_error(self) -> float:
        """Root of the mean squared error of mean and p99 on all reference arrays, as a logarithm; 0 without any."""
        errors = [math.log1p(max(error, -0.9)) for one in self.latency for error in (one.mean_error, one.p99_error)]
        return math.sqrt(sum(error**2 for error in errors) / len(errors)) if errors else 0.0

"""The effect of a calibrated drive's uncertainty on an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diskmodel.plain import Record
from diskmodel.result.statistics.batches import Interval
from diskmodel.units import in_digits

#: Confidence of the intervals.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ProfileRisk(Record):
    """The answer tried again with drives drawn from the profile's uncertainty.

    Attributes
    ----------
    disks : int
    parameters : tuple of str
        Parameters that were drawn; all others are taken as exact.
    n_draws, n_holding : int
        Drives drawn, and with how many of them the array meets the objective (by the estimates, not by their
        intervals).
    failing : mapping of str to int
        With how many drives each criterion is missed.
    figures : mapping of str to Interval
        "iops" (per second), and "mean", "p50", …, "p999" (ns) where they are known: the value of the answer, with
        95 % intervals that combine the error of the simulation and the spread over the drives.
    """

    disks: int
    parameters: tuple[str, ...]
    n_draws: int
    n_holding: int
    failing: Mapping[str, int]
    figures: Mapping[str, Interval]

    def json_fields(self) -> Mapping[str, Any]:
        """Return the counts, and the ends of the intervals in milliseconds and IOPS."""
        data: dict[str, Any] = {
            "disks": self.disks,
            "parameters": self.parameters,
            "draws": self.n_draws,
            "holding": self.n_holding,
            "failing": self.failing,
            "confidence": CONFIDENCE,
        }
        for name, interval in self.figures.items():
            unit, scale = ("", 1.0) if name == "iops" else ("_ms", 1e-6)
            data |= {f"{name}_{end}{unit}": getattr(interval, end) * scale for end in ("low", "high")}
        return data

    def __str__(self) -> str:
        met = f"{self.n_holding} of {self.n_draws} drives drawn from the profile's uncertainty meet the objective"
        missed = ", ".join(f"{n} miss {name}" for name, n in self.failing.items())
        intervals = [
            f"{name} {in_digits(interval.low / 1e6)} to {in_digits(interval.high / 1e6)} ms"
            for name, interval in self.figures.items()
            if name in ("mean", "p99") and math.isfinite(interval.low + interval.high)
        ]
        return "; ".join(part for part in (met, missed, *intervals) if part)

"""The chance that an answer meets the objective, in view of what is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result.statistics import Interval, bad_end, in_one_of_ten
from diskmodel.uncertainty import PART
from diskmodel.units import in_digits

#: Confidence of the intervals.
CONFIDENCE = 0.95
#: Chance up to which a number of disks hardly comes into question: half of one of sixteen draws.
_HARDLY = 1 / 32


@dataclass(frozen=True)
class CountChance(Record):
    """The chance that a number of disks meets the objective.

    Attributes
    ----------
    disks : int
    probability : float
    """

    disks: int
    probability: float

    def __str__(self) -> str:
        return f"{self.disks} disks: {100 * self.probability:.0f} %"


@dataclass(frozen=True)
class ProfileRisk(Record):
    """The answer tried again with draws of everything that is not known.

    Attributes
    ----------
    disks : int
    parameters : tuple of str
        What is not known, in words.
    n_draws, n_holding : int
        Equally likely truths that were drawn, and with how many of them the array meets the objective (by the
        estimates, not by their intervals).
    chance : float
        That the answer meets the objective, from how far each of them is from its limits; nan: the share of those that
        meet them.
    failing : mapping of str to int
        With how many truths each criterion is missed.
    figures : mapping of str to Interval
        "iops" (per second), and "mean", "p50", "p95", "p99", "p999" (ns) where they are known: the value of the answer,
        with 95 % intervals that combine the error of the simulation and the spread over the truths.
    middles : mapping of str to Interval
        The same, between the ends of which eight of ten systems are: the end that hurts is the bad one of ten.
    confidence : float
        Chance that the objective asks for.
    curve : tuple of CountChance
        By number of disks, ascending: fewer, the answer, and more until the chance is high enough.
    is_measured : bool
        Whether the profile is that of a drive which was measured: another measurement would settle little.
    most : int, optional
        Largest number of disks that was of interest; None: all that the plan allows.
    """

    disks: int
    parameters: tuple[str, ...]
    n_draws: int
    n_holding: int
    failing: Mapping[str, int]
    figures: Mapping[str, Interval]
    confidence: float = 0.9
    curve: tuple[CountChance, ...] = ()
    is_measured: bool = False
    middles: Mapping[str, Interval] = field(default_factory=dict)
    chance: float = math.nan
    most: int | None = None

    @property
    def probability(self) -> float:
        """Chance that the answer meets the objective."""
        return self.n_holding / self.n_draws if math.isnan(self.chance) else self.chance

    @property
    def is_confident(self) -> bool:
        """Whether that chance is as high as the objective asks."""
        return self.probability >= self.confidence

    @property
    def fewest(self) -> CountChance | None:
        """The fewest disks of the curve whose chance is high enough; None where none has it."""
        return next((one for one in self.curve if one.probability >= self.confidence), None)

    @property
    def settled_by_measuring(self) -> tuple[int, int | None] | None:
        """Fewest and most disks that truths need, as many as the confidence asks for, and None for more than were
        tried; None where all need the same.

        A measurement of one such drive would show which of these are needed; None where there has been one, and where
        it depends on the time of a recording.
        """
        if self.is_measured or PART in self.parameters:
            return None
        possible = [one for one in self.curve if one.probability > _HARDLY]
        if not possible or possible[0].probability > 1 - _HARDLY:
            return None
        last = possible[-1]
        most = next((one.disks for one in possible if one.probability >= last.probability), last.disks)
        return possible[0].disks, most if last.probability >= self.confidence else None

    def json_fields(self) -> Mapping[str, Any]:
        """Return the counts, and the ends of the intervals in milliseconds and IOPS."""
        data: dict[str, Any] = {
            "disks": self.disks,
            "parameters": self.parameters,
            "draws": self.n_draws,
            "holding": self.n_holding,
            "probability": self.probability,
            "asked_confidence": self.confidence,
            "curve": self.curve,
            "assured_disks": None if self.fewest is None else self.fewest.disks,
            "settled_by_measuring": self.settled_by_measuring,
            "failing": self.failing,
            "confidence": CONFIDENCE,
        }
        for intervals, names in ((self.figures, ("low", "high")), (self.middles, ("p10", "p90"))):
            for name, interval in intervals.items():
                unit, scale = ("", 1.0) if name == "iops" else ("_ms", 1e-6)
                for end, value in zip(names, (interval.low, interval.high), strict=True):
                    data[f"{name}_{end}{unit}"] = value * scale
        return data

    def in_one_of_ten(self, statistic: str) -> float:
        """Return the figure of the bad one of ten (per second, or ns); nan where it is not known."""
        middle = self.middles.get(statistic)
        return math.nan if middle is None else bad_end(statistic, middle)

    def __str__(self) -> str:
        met = f"{self.n_holding} of {self.n_draws} draws of what is not known meet the objective"
        missed = ", ".join(f"{n} miss{'es' if n == 1 else ''} {name}" for name, n in self.failing.items())
        said = [
            in_one_of_ten(f"{name} {in_digits(self.middles[name].value / 1e6)} ms", self.in_one_of_ten(name) / 1e6)
            for name in ("mean", "p99")
            if name in self.middles
        ]
        return "; ".join(part for part in (met, missed, *said, self.chances, self.worth_measuring) if part)

    @property
    def chances(self) -> str:
        """The chance of each number of disks that was tried: "10 disks: 61 %; 12 disks: 93 %"."""
        return "; ".join(map(str, self.curve)) if len(self.curve) > 1 else ""

    @property
    def worth_measuring(self) -> str:
        """What a measurement of one drive would settle, in words; "" where no other number is known to be needed."""
        fewest, most = self.settled_by_measuring or (None, None)
        if fewest == most:
            return ""
        between = f"between {fewest} and {most} disks" if most is not None else f"whether {fewest} disks or many more"
        return f"a measurement of one such drive would settle {between}"

"""What the uncertainty of a calibrated drive does to the answer of a plan."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from diskmodel.drive.drawn import drawn
from diskmodel.plan.answer.outcome import Evaluate, Figure, Outcome
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import Candidate
from diskmodel.plan.search.trial import Trier
from diskmodel.result.prediction import combined
from diskmodel.result.statistics.batches import Interval

DRAWS = 16
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ProfileRisk:
    """The answer tried again with drives drawn from the profile's uncertainty.

    Attributes
    ----------
    disks : int
    parameters : tuple of str
        Parameters that were drawn; all others are taken as exact.
    n_draws, n_holding : int
        Drives that were drawn, and with how many of them the array holds the objective (by the values found, not by
        their intervals).
    failing : mapping of str to int
        With how many each criterion is missed.
    figures : mapping of str to Figure
        "iops" (per second), and "mean", "p50", "p95", "p99", "p999" (ns) where they are known: the value of the answer,
        with 95 % intervals that combine the error of the simulation and the spread over the drives.
    wall_s : float
        What it cost.
    """

    disks: int
    parameters: tuple[str, ...]
    n_draws: int
    n_holding: int
    failing: Mapping[str, int]
    figures: Mapping[str, Figure]
    wall_s: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; milliseconds and IOPS."""
        data: dict[str, Any] = {
            "disks": self.disks,
            "parameters": list(self.parameters),
            "draws": self.n_draws,
            "holding": self.n_holding,
            "failing": dict(self.failing),
            "wall_s": self.wall_s,
            "confidence": CONFIDENCE,
        }
        for name, figure in self.figures.items():
            unit, scale = ("", 1.0) if name == "iops" else ("_ms", 1e-6)
            for end in ("low", "high"):
                value = getattr(figure, end) * scale
                data[f"{name}_{end}{unit}"] = value if math.isfinite(value) else None
        return data

    def __str__(self) -> str:
        said = f"{self.n_holding} of {self.n_draws} drives drawn from the profile's uncertainty hold the objective"
        missed = ", ".join(f"{name} missed by {n}" for name, n in self.failing.items())
        shown = [
            f"{name} {figure.low / 1e6:.3g} to {figure.high / 1e6:.3g} ms"
            for name, figure in self.figures.items()
            if name in ("mean", "p99") and math.isfinite(figure.low + figure.high)
        ]
        return "; ".join(part for part in (said, missed, *shown) if part)


def profile_risk(
    plan: PlanDescription, candidate: Candidate, evaluate: Evaluate, *, n_draws: int = DRAWS
) -> ProfileRisk | None:
    """The risk of an answer, or None where the drive's profile tells no uncertainty or nothing was simulated.

    Notes
    -----
    Costs `n_draws` + 1 evaluations of the plan's shortest length; all have the same requests.
    """
    drive, trial = candidate.family.drive, candidate.trial
    if drive.uncertainty is None or trial is None or trial.outcome is None:
        return None
    started = time.perf_counter()
    search = plan.search
    short = plan.model_copy(update={"search": search.model_copy(update={"max_requests": search.requests})})

    def tried(trial_drive: Any) -> tuple[dict[str, float], list[str]]:
        found = Trier(short, replace(candidate.family, drive=trial_drive), evaluate, always_runs=True)(trial.disks)
        missed = [item.name for item in found.criteria if item.margin_ratio < 0]
        return (values_of(found.outcome) if found.outcome else {}), missed

    reference, _ = tried(drive)
    draws = [tried(item) for item in drawn(drive, n_draws, seed=search.seed)]
    failing = Counter(name for _, missed in draws for name in dict.fromkeys(missed))
    own = intervals_of(trial.outcome)
    figures = {}
    for name, interval in own.items():
        if name in reference:
            wide = combined(interval, reference[name], [values.get(name, math.nan) for values, _ in draws], CONFIDENCE)
            figures[name] = Figure(wide.mean, wide.low, wide.high)
    return ProfileRisk(
        disks=trial.disks,
        parameters=drive.uncertainty.names,
        n_draws=len(draws),
        n_holding=sum(not missed for _, missed in draws),
        failing=dict(failing),
        figures=figures,
        wall_s=time.perf_counter() - started,
    )


def intervals_of(outcome: Outcome) -> dict[str, Interval]:
    """IOPS and latencies of an outcome."""
    figures = {"iops": outcome.iops} | dict(outcome.latency_ns.get("", {}))
    return {name: Interval(figure.value, figure.low, figure.high) for name, figure in figures.items()}


def values_of(outcome: Outcome) -> dict[str, float]:
    """The same without intervals; nothing where the array is overloaded."""
    return {name: interval.mean for name, interval in intervals_of(outcome).items()} if outcome.is_stable else {}

"""Holding an outcome against an objective: which criterion holds, fails, or cannot be told yet, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from diskmodel.plan.answer.outcome import Figure, Outcome
from diskmodel.plan.question.objective import LatencyObjective, Objective
from diskmodel.workload import Workload


class Verdict(Enum):
    """Whether a criterion is met."""

    HOLDS = "holds"
    FAILS = "fails"
    #: The confidence interval includes the limit.
    UNDECIDED = "undecided"
    #: The method says nothing about it.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Criterion:
    """One requirement and what was found.

    Attributes
    ----------
    name : str
        iops, throughput, latency, utilization, capacity, rebuild, data_loss, cost, rack_units, or one of the first
        four after "degraded ".
    detail : str
        What exactly: "p99", "p99 of log".
    limit : float
        In the unit of `figure`.
    figure : Figure
    unit : str
    is_upper : bool
        The limit is the most allowed, not the least.
    verdict : Verdict
    """

    name: str
    detail: str
    limit: float
    figure: Figure
    unit: str
    is_upper: bool
    verdict: Verdict

    @property
    def margin_ratio(self) -> float:
        """How far the value is on the good side of the limit, as a share of the limit; negative: on the bad side."""
        if not math.isfinite(self.figure.value):
            return -math.inf if self.is_upper else math.inf
        difference = self.limit - self.figure.value if self.is_upper else self.figure.value - self.limit
        return difference / self.limit if self.limit else math.copysign(math.inf, difference)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        finite = {key: value if math.isfinite(value) else None for key, value in vars(self.figure).items()}
        margin = self.margin_ratio
        return {
            "criterion": self.name,
            "detail": self.detail,
            "limit": self.limit,
            **finite,
            "unit": self.unit,
            "verdict": self.verdict.value,
            "margin_ratio": margin if math.isfinite(margin) else None,
        }

    def __str__(self) -> str:
        bound = "at most" if self.is_upper else "at least"
        what = f"{self.name} {self.detail}".strip()
        value, limit = (f"{_short(number)} {self.unit}".strip() for number in (self.figure.value, self.limit))
        return f"{what} {value}, {bound} {limit} wanted: {self.verdict.value}"


def _short(value: float) -> str:
    if not math.isfinite(value):
        return "unbounded"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def criterion(name: str, detail: str, limit: float, figure: Figure, unit: str, *, is_upper: bool) -> Criterion:
    """A criterion with its verdict: decided only when the whole interval is on one side of the limit."""
    if math.isnan(figure.value):
        verdict = Verdict.UNKNOWN
    elif math.isnan(figure.low) or math.isnan(figure.high):
        verdict = Verdict.UNDECIDED
    else:
        good, bad = (figure.high <= limit, figure.low > limit) if is_upper else (
            figure.low >= limit, figure.high < limit
        )  # fmt: skip
        verdict = Verdict.HOLDS if good else Verdict.FAILS if bad else Verdict.UNDECIDED
    return Criterion(name, detail, limit, figure, unit, is_upper, verdict)


def performance(objective: Objective, outcome: Outcome, workload: Workload) -> list[Criterion]:
    """Criteria about speed.

    Parameters
    ----------
    objective : Objective
    outcome : Outcome
    workload : Workload
        Where it is open, it offers its rate whatever the array does: that is held exactly when the array is stable.
    """
    is_open = not workload.queue_depth
    found = stability(outcome, workload)
    if not is_open and objective.design_iops is not None:
        found.append(criterion("iops", "", objective.design_iops, outcome.iops, "1/s", is_upper=False))
    if objective.design_throughput_bytes_per_s is not None and outcome.is_stable:
        rate = outcome.bytes_per_s.scaled(1e-6)
        wanted = objective.design_throughput_bytes_per_s / 1e6
        if is_open:  # what is offered is given; the wobble of the arrivals is not the array's doing
            rate = Figure.exact(rate.high if math.isfinite(rate.high) else rate.value)
        found.append(criterion("throughput", "", wanted, rate, "MB/s", is_upper=False))
    return found + _speed(objective.latency, objective.utilization_ceiling_ratio, outcome, "")


def degraded(objective: Objective, outcome: Outcome, workload: Workload) -> list[Criterion]:
    """Criteria about speed while disks are missing."""
    assert objective.degraded is not None
    found = stability(outcome, workload, "degraded ")
    wanted = objective.degraded
    return found + _speed(wanted.latency, wanted.utilization_ceiling_ratio, outcome, "degraded ")


def stability(outcome: Outcome, workload: Workload, prefix: str = "") -> list[Criterion]:
    """The failed criterion of an array that does less than it is offered; nothing when it is stable."""
    if outcome.is_stable:
        return []
    offered = workload.offered_rate_per_s or outcome.iops.value
    return [Criterion(f"{prefix}iops", "overloaded", offered, outcome.iops, "1/s", False, Verdict.FAILS)]


def _speed(latency: LatencyObjective, ceiling: float | None, outcome: Outcome, prefix: str) -> list[Criterion]:
    found = []
    nothing = Figure(math.nan, math.nan, math.nan)
    if outcome.is_stable:
        for stream, limits in [("", latency.limits()), *((n, s.limits()) for n, s in latency.streams.items())]:
            for statistic, limit in limits.items():
                figure = outcome.latency_ns.get(stream, {}).get(statistic, nothing).scaled(1e-6)
                detail = f"{statistic} of {stream}" if stream else statistic
                found.append(criterion(f"{prefix}latency", detail, limit / 1e6, figure, "ms", is_upper=True))
    if ceiling is not None:
        found.append(criterion(f"{prefix}utilization", "", ceiling, outcome.utilization, "", is_upper=True))
    return found


def overall(criteria: Iterable[Criterion]) -> Verdict:
    """Verdict of all together: one failure decides; what is unknown is left out."""
    verdicts = {item.verdict for item in criteria}
    if Verdict.FAILS in verdicts:
        return Verdict.FAILS
    return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.HOLDS


def tightest(criteria: Iterable[Criterion]) -> Criterion | None:
    """The criterion with the least margin, failures before undecided ones before others; None without any."""
    order = {Verdict.FAILS: 0, Verdict.UNDECIDED: 1, Verdict.HOLDS: 2}
    known = [item for item in criteria if item.verdict in order]
    return min(known, key=lambda item: (order[item.verdict], item.margin_ratio), default=None)

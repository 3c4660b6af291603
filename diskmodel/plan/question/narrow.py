"""The part of a question that plans of one kind look at: what they refuse, what is asked in words, what is missed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from diskmodel.drive import DrivePerturbation
from diskmodel.errors import DescriptionError, Fault
from diskmodel.plan.question.objective import LatencyLimits, Objective
from diskmodel.uncertainty import spread_of
from diskmodel.units import nominal_bytes, pretty_ns

#: Share of systems like the one asked about that shall meet the latency: the only one that is looked at.
CONFIDENCE = 0.9
#: Score of each of two equally important, independent unknowns at the bad one of ten: 1.28 / sqrt(2). Draws decide at
#: the answer; at half, a search ends with too little, and at double, with more than is needed. A third, what daemons
#: take of processors, counts at their limits alone, and more than the other two.
_SCORE = 0.906


def refuse_unread(objective: Objective, what: str, *also: str) -> None:
    """Refuse what plans of one kind do not look at.

    Parameters
    ----------
    objective : Objective
    what : str
        The kind: "pools of clusters".
    also : str
        Further fields that are refused where they are given.

    Raises
    ------
    DescriptionError
        When the objective asks for some of it.
    """
    refused = {
        "commits_per_s": objective.commits_per_s,
        "cost_usd": objective.cost_usd,
        "rack_units": objective.rack_units,
        "latency.streams": objective.latency.streams or None,
        "commit_latency": objective.commit_latency.limits() or None,
        "busy_hours": objective.busy_hours if objective.busy_hours < 24 else None,
        "confidence": objective.confidence if objective.confidence != CONFIDENCE else None,
        **{name: getattr(objective, name) for name in also},
    }
    rule, fix = f"is not looked at for {what}", "leave it out, or ask about arrays"
    faults = [Fault(f"objective.{name}", str(value), rule, fix) for name, value in refused.items() if value is not None]
    if faults:
        raise DescriptionError(faults)


def asked_in_words(objective: Objective) -> str:
    """Return what is asked of space, latency and rebuilds."""
    said = [f"{name} within {pretty_ns(limit)}" for name, limit in objective.latency.limits().items()]
    if objective.usable_bytes is not None:
        said.insert(0, f"{nominal_bytes(objective.usable_bytes)} stored")
    if objective.rebuild_hours is not None:
        said.append(f"recovery within {objective.rebuild_hours:g} h")
    return ", ".join(said)


def missed_limit(limits: LatencyLimits, values_ms: Mapping[str, float]) -> str:
    """Return the first limit that is missed with its value; "" where none is."""
    over = (name for name, limit in limits.limits().items() if values_ms[name] > limit / 1e6)
    name = next(over, "")
    return f"{name} {values_ms[name]:.3g} ms" if name else ""


def slow_one_of_ten(spread_class: str) -> DrivePerturbation:
    """Return by how much a system's parts are slower in the bad one of ten of a class."""

    def bad(quantity: str) -> float:
        spread = spread_of(spread_class, quantity)
        return 0.0 if spread is None else math.log(spread.median) + _SCORE * spread.log_sd

    return DrivePerturbation(
        read_time=bad("flash_read_time"), write_latency=bad("flash_write_latency"), overhead=bad("processors")
    )

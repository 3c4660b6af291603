"""The candidates of a plan as rows of text."""

from __future__ import annotations

import math
from typing import Any

from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.units import pretty_bytes

#: Mark of a candidate that the longest run leaves undecided.
CLOSE = "(close)"


def short(value: float | None, digits: int = 3) -> str:
    """Return a figure as text for a table."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _is_priced(result: PlanResult) -> bool:
    return any(c.trial and math.isfinite(c.trial.statics.cost_usd) for c in result.candidates)


def candidate_header(result: PlanResult) -> list[str]:
    """Return the names of the columns of `candidate_row`; columns that are the same for all candidates are left out."""
    names = ["drive", "level", "disks", "rule of thumb", "limited by", "IOPS", "mean ms", "p99 ms", "busy", "usable"]
    varied = _varied(result)
    names[2:2] = [name for name, _ in varied]
    return names + (["cost USD"] if _is_priced(result) else [])


def _varied(result: PlanResult) -> list[tuple[str, str]]:
    """Return title and field of what differs between families besides drive and level."""
    fields = (("strip", "strip_bytes"), ("cache", "cache_bytes"), ("groups", "groups"))
    return [(title, name) for title, name in fields if len({getattr(c.family, name) for c in result.candidates}) > 1]


def candidate_row(result: PlanResult, candidate: Candidate) -> list[str]:
    """Return one candidate as text, column by column."""
    is_priced = _is_priced(result)
    outcome = candidate.trial.outcome if candidate.trial else None
    figures = outcome.latency_ns.get("", {}) if outcome and outcome.is_stable else {}
    own = [getattr(candidate.family, name) for _, name in _varied(result)]
    row = [
        candidate.family.drive.name,
        candidate.level,
        *(pretty_bytes(value) if value >= 512 else str(value) for value in own),
        str(candidate.disks) if candidate.disks else "undecided" if candidate.state == "undecided" else "not feasible",
        str(candidate.rule_of_thumb_disks or "–"),
        candidate.binds.replace("_", " ") + ("" if candidate.is_decided else f" {CLOSE}"),
        short(outcome.iops.value if outcome else None),
        short(figures["mean"].value / 1e6 if "mean" in figures else None),
        _with_interval(figures.get("p99")),
        f"{outcome.utilization_ratio:.0%}" if outcome and math.isfinite(outcome.utilization_ratio) else "–",
        f"{candidate.trial.statics.usable_bytes / 1e12:.3g} TB" if candidate.trial else "–",
    ]
    return row + ([short(candidate.trial.statics.cost_usd if candidate.trial else None)] if is_priced else [])


def candidate_note(result: PlanResult) -> str:
    """Return what the mark in the rows means; "" where no row has it."""
    if all(candidate.is_decided for candidate in result.candidates):
        return ""
    return f"{CLOSE}: too close to the limit for the longest run to decide; the larger number of disks is given."


def _with_interval(figure: Any) -> str:
    if figure is None:
        return "–"
    half = (figure.high - figure.low) / 2
    return f"{figure.value / 1e6:.3g}" + (f" ± {half / 1e6:.2g}" if math.isfinite(half) else "")

"""The answer of a plan about clusters in lines of text, 80 columns wide."""

from __future__ import annotations

import math

from diskmodel.plan.clusters.answer import ClusterCandidate, ClusterPlan
from diskmodel.units import chance_words, in_hours_or_days, nominal_bytes

#: Names of the columns and their widths.
_COLUMNS = (
    ("nodes", 5),
    ("drives each", 11),
    ("drives", 6),
    ("usable", 8),
    ("p99 ms", 7),
    ("in 1 of 10", 10),
    ("failed", 7),
    ("recovery", 9),
)
_HEAD = " ".join(name.rjust(width) for name, width in _COLUMNS)


def lines(answer: ClusterPlan) -> list[str]:
    """Return the answer: what to buy, why, all candidates, what follows."""
    best = answer.best
    found = []
    if best is None:
        found.append("No number of nodes that was tried meets the objective.")
    else:
        found.append(f"{best.nodes} nodes with {best.drives_per_node} × {best.drive} each, {best.level}.")
        found += [f"  {line}" for line in _because(best)]
    found.append("")
    for drive, level in dict.fromkeys((one.drive, one.level) for one in answer.candidates):
        load = "; ".join(stream.in_words() for stream in answer.workload.streams)
        found += [f"{drive}, {level}", load, _HEAD]
        own = [one for one in answer.candidates if (one.drive, one.level) == (drive, level)]
        found += [_row(one) for one in sorted(own, key=lambda one: one.nodes)]
        found.append("")
    found.append("usable: below nearfull, with a node failed where the others can take its data")
    found.append("failed: p99 while that is copied, or missing; recovery: until it is copied")
    return found


def _because(best: ClusterCandidate) -> list[str]:
    said = [f"{best.disks} drives store {nominal_bytes(best.usable_bytes)}"]
    if best.whole is not None:
        said.append(f"busiest of all parts is {best.whole.busiest}")
    if best.binds:
        said.append(f"fewer do not do: {best.binds}")
    if best.heals:
        said.append(f"a failed node is copied within {in_hours_or_days(best.recovery_hours)}")
    else:
        said.append("a failed node's data cannot be copied until it is back: one node more could")
    said.append(f"chance of data loss by failures of drives: {chance_words(best.loss_per_year)}")
    return said


def _row(one: ClusterCandidate) -> str:
    left = f"{one.nodes:>5} {one.drives_per_node:>11} {one.disks:>6} {nominal_bytes(one.usable_bytes):>8}"
    if not one.feasible or one.whole is None:
        return f"{left} no: {one.binds}"
    worst = one.recovering or one.failed
    failed = "" if worst is None else _ms(worst.p99_ms if worst.is_stable else math.inf)
    hours = f"{one.recovery_hours:.2g} h" if one.heals else "none"
    return f"{left} {_ms(one.whole.p99_ms):>7} {_ms(one.whole.bad_p99_ms):>10} {failed:>7} {hours:>9}"


def _ms(value: float) -> str:
    return "over" if math.isinf(value) else f"{value:.3g}"

"""The answer of a plan about clusters, ready to be shown."""

from __future__ import annotations

import math

from diskmodel.plan.clusters.answer import ClusterCandidate, ClusterPlan
from diskmodel.plan.sheet.sheet import Column, Row, Sheet
from diskmodel.units import chance_words, in_hours_or_days, nominal_bytes

_COLUMNS = (
    Column("nodes", 5),
    Column("drives each", 11),
    Column("drives", 6),
    Column("usable", 8),
    Column("p99 ms", 7),
    Column("in 1 of 10", 10),
    Column("failed", 7),
    Column("recovery", 9),
)


def sheet(answer: ClusterPlan) -> Sheet:
    """Return the answer: what to buy, why, all candidates, what follows."""
    best = answer.best
    said = ["No number of nodes that was tried meets the objective."]
    if best is not None:
        said = [f"{best.nodes} nodes with {best.drives_per_node} × {best.drive} each, {best.level}."]
    return Sheet(
        workload=answer.workload,
        objective=answer.objective,
        asks="how many nodes and drives",
        answer=said,
        because=_because(best) if best else [],
        facts=_facts(best) if best else [],
        heading="drive, pool",
        columns=_COLUMNS,
        rows=[_row(one, is_best=one is best) for one in answer.candidates],
        notes=(
            "usable: below nearfull, with a node failed where the others can take its data",
            "failed: p99 while that is copied, or missing; recovery: until it is copied",
        ),
        array=best.array if best else None,
        said=tuple(dict.fromkeys(why for one in answer.candidates for why in one.array.doubts)),
        bars=_states(best) if best else [],
        bars_title="p99 latency, ms",
    )


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


def _facts(best: ClusterCandidate) -> list[tuple[str, str]]:
    found = [("drives", f"{best.disks}"), ("usable", nominal_bytes(best.usable_bytes))]
    if best.whole is not None:
        found.append(("p99 latency", f"{_ms(best.whole.p99_ms)} ms, {_ms(best.whole.bad_p99_ms)} in one of ten"))
    if best.heals:
        found.append(("recovery of a node", in_hours_or_days(best.recovery_hours)))
    return [*found, ("chance of data loss", chance_words(best.loss_per_year))]


def _states(best: ClusterCandidate) -> list[tuple[str, float]]:
    states = (("whole", best.whole), ("node failed", best.failed), ("recovering", best.recovering))
    return [(name, state.p99_ms) for name, state in states if state is not None and state.is_stable]


def _row(one: ClusterCandidate, *, is_best: bool) -> Row:
    cells = [f"{one.nodes}", f"{one.drives_per_node}", f"{one.disks}", nominal_bytes(one.usable_bytes)]
    feasible = one.feasible and one.whole is not None
    if one.feasible and one.whole is not None:
        worst = one.recovering or one.failed
        failed = "" if worst is None else _ms(worst.p99_ms if worst.is_stable else math.inf)
        hours = f"{one.recovery_hours:.2g} h" if one.heals else "none"
        cells += [_ms(one.whole.p99_ms), _ms(one.whole.bad_p99_ms), failed, hours]
    return Row(f"{one.drive}, {one.level}", cells, one.binds, feasible, one.json_fields(), is_best)


def _ms(value: float) -> str:
    return "over" if math.isinf(value) else f"{value:.3g}"

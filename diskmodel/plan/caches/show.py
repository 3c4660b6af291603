"""The answer of a plan about caches on SSDs, ready to be shown."""

from __future__ import annotations

from diskmodel.plan.caches.answer import CacheCandidate, CachePlan
from diskmodel.plan.sheet.sheet import Column, Row, Sheet
from diskmodel.units import nominal_bytes

_COLUMNS = (
    Column("disks", 5),
    Column("IOPS", 7),
    Column("mean ms", 8),
    Column("p99 ms", 8),
    Column("in 1 of 10", 10),
    Column("cost", 9),
    Column("cache", 0),
)


def sheet(answer: CachePlan) -> Sheet:
    """Return the answer: what to buy, all candidates, what there is to say about the best."""
    best = answer.best
    said = ["No number of disks that was tried meets the objective, with or without a cache."]
    if best is not None:
        cached = "without a cache" if best.cache == "none" else f"cached by {best.cache}"
        said = [f"{best.disks} × {best.drive} in {best.level},", f"  {cached}."]
    return Sheet(
        workload=answer.workload,
        objective=answer.objective,
        asks="how many disks, behind which cache",
        answer=said,
        because=_because(answer),
        facts=_facts(best) if best else [],
        heading="drive, level",
        columns=_COLUMNS,
        rows=[_row(one, is_best=one is best) for one in answer.candidates],
        notes=("in 1 of 10: p99 of the bad one of ten such arrays; cost: of all drives, in USD",),
        array=best.array if best else None,
        said=[*(best.said if best else ()), *([sets.sentence()] if (sets := answer.working_sets) else [])],
        bars=[(one.cache, one.disks) for one in answer.candidates if one.feasible],
        bars_title="disks, without those of the cache",
    )


def _because(answer: CachePlan) -> list[str]:
    best, alone = answer.best, answer.alone
    if best is None:
        return []
    said = [f"fewer do not do: {best.binds}"]
    if best.cache != "none":
        without = "no number of disks that was tried does" if alone is None else f"{alone.disks} disks do"
        said.append(f"without a cache {without}")
    if best.cost_usd is None:
        said.append("the best has the fewest disks, as prices of some drives are not known")
    if answer.working_sets is not None:
        said.append(f"the cache pays {answer.working_sets.in_words()}")
    return said


def _facts(best: CacheCandidate) -> list[tuple[str, str]]:
    price = [] if best.cost_usd is None else [("price", f"{best.cost_usd:,.0f} USD")]
    return [
        *price,
        ("usable", nominal_bytes(best.array.usable_bytes)),
        ("p99 latency", f"{best.p99_ms:.3g} ms, {best.bad_p99_ms:.3g} in one of ten"),
    ]


def _row(one: CacheCandidate, *, is_best: bool) -> Row:
    cost = "unknown" if one.cost_usd is None else f"{one.cost_usd:,.0f}"
    cells = [f"{one.disks}", f"{one.iops:,.0f}", f"{one.mean_ms:.3g}", f"{one.p99_ms:.3g}", f"{one.bad_p99_ms:.3g}"]
    shown = [*cells, cost] if one.feasible else cells[:1]
    return Row(f"{one.drive}, {one.level}", shown, one.binds, one.feasible, one.json_fields(), is_best, one.cache)

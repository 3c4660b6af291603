"""The answer of a plan about caches on SSDs in lines of text, 80 columns wide."""

from __future__ import annotations

from diskmodel.plan.caches.answer import CacheCandidate, CachePlan

_COLUMNS = (("disks", 5), ("IOPS", 7), ("mean ms", 8), ("p99 ms", 8), ("in 1 of 10", 10), ("cost", 9))
_HEAD = " ".join(name.rjust(width) for name, width in _COLUMNS) + "  cache"


def lines(answer: CachePlan) -> list[str]:
    """Return the answer: what to buy, all candidates, what there is to say about the best."""
    best = answer.best
    found = []
    if best is None:
        found.append("No number of disks that was tried meets the objective, with or without a cache.")
    else:
        cached = "without a cache" if best.cache == "none" else f"cached by {best.cache}"
        found += [f"{best.disks} × {best.drive} in {best.level},", f"  {cached}.", f"  fewer do not do: {best.binds}"]
    found.append("")
    load = "; ".join(stream.in_words() for stream in answer.workload.streams)
    for drive, level in dict.fromkeys((one.drive, one.level) for one in answer.candidates):
        found += [f"{drive}, {level}", load, _HEAD]
        found += [_row(one) for one in answer.candidates if (one.drive, one.level) == (drive, level)]
        found.append("")
    found.append("in 1 of 10: p99 of the bad one of ten such arrays; cost: of all drives, in USD")
    return found


def _row(one: CacheCandidate) -> str:
    if not one.feasible:
        return f"{one.disks:>5} no: {one.binds}".ljust(53) + f"  {one.cache}"
    cost = "unknown" if one.cost_usd is None else f"{one.cost_usd:,.0f}"
    return (
        f"{one.disks:>5} {one.iops:>7,.0f} {one.mean_ms:>8.3g} {one.p99_ms:>8.3g} {one.bad_p99_ms:>10.3g} {cost:>9}"
        f"  {one.cache}"
    )

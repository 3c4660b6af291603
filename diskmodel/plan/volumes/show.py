"""The answer of a plan about volumes of a cloud, ready to be shown."""

from __future__ import annotations

from diskmodel.plan.sheet.sheet import Column, Row, Sheet
from diskmodel.plan.volumes.answer import AS_CHEAP, VolumeCandidate, VolumePlan
from diskmodel.units import nominal_bytes

_COLUMNS = (
    Column("volumes", 7),
    Column("GiB each", 8),
    Column("IOPS each", 9),
    Column("MiB/s", 6),
    Column("p99 ms", 7),
    Column("in 1 of 10", 10),
    Column("in use", 6),
    Column("a month", 11),
)
_GIB, _MIB = 1 << 30, 1 << 20
#: From so much of a limit in use on the answer has no reserve for a busier day.
_LITTLE_RESERVE = 0.9


def sheet(answer: VolumePlan) -> Sheet:
    """Return the answer: what to provision, why, all candidates, what follows."""
    best, prices = answer.best, answer.prices
    said = ["No provision of these types meets the objective."]
    if best is not None:
        together = ", RAID 0" if best.count > 1 else ""
        said = [f"{_in_words(best)}{together}: {best.a_month:,.2f} {prices.currency} a month."]
    dated = f" of {prices.date.isoformat()}" if prices.date else ", undated"
    types = list(dict.fromkeys(one.type for one in answer.candidates))
    ordered = sorted(answer.candidates, key=lambda one: (types.index(one.type), one.count))
    cheapest = {one.type: one.a_month for one in reversed(answer.candidates) if one.feasible}
    return Sheet(
        workload=answer.workload,
        objective=answer.objective,
        asks="which volumes, how many of them",
        answer=said,
        because=_because(best) if best else [],
        facts=_facts(best, prices.currency) if best else [],
        heading="type",
        columns=_COLUMNS,
        rows=[_row(one, is_best=one is best) for one in ordered],
        notes=(
            f"the answer: of what costs up to {AS_CHEAP - 1:.1%} more than the cheapest, the fewest volumes",
            f"prices{dated}, without machines: {prices.source or 'no source is named'}",
        ),
        array=best.array if best else None,
        bars=[(name, cheapest[name]) for name in types if name in cheapest],
        bars_title=f"{prices.currency} a month, the cheapest of each type",
    )


def _in_words(one: VolumeCandidate) -> str:
    limits = [] if one.iops is None else [f"{one.iops:,.0f} IOPS"]
    if one.throughput_bytes_per_s is not None:
        limits.append(f"{one.throughput_bytes_per_s / _MIB:,.0f} MiB/s")
    return f"{one.count} × {one.type} ({', '.join([f'{one.volume.capacity_bytes / _GIB:,.0f} GiB', *limits])})"


def _because(best: VolumeCandidate) -> list[str]:
    said = []
    if best.binds:
        said.append(f"less does not do: {best.binds}")
    if best.utilization > _LITTLE_RESERVE:
        said.append(f"{best.utilization:.0%} of a limit is in use: --utilization 80% plans with a reserve")
    else:
        said.append(f"{best.utilization:.0%} of the busiest limit is in use")
    if best.count > 1:
        said.append("RAID 0 loses all with one volume, of which the provider keeps copies")
    return said


def _facts(best: VolumeCandidate, currency: str) -> list[tuple[str, str]]:
    p99, bad = (values["p99"] for values in (best.latency_ms, best.latency_p90_ms))
    return [
        ("a month", f"{best.a_month:,.2f} {currency}"),
        ("size", nominal_bytes(best.count * best.volume.capacity_bytes)),
        ("p99 latency", f"{p99:.3g} ms, {bad:.3g} in one of ten"),
        ("of the busiest limit", f"{best.utilization:.0%}"),
    ]


def _row(one: VolumeCandidate, *, is_best: bool) -> Row:
    iops = "" if one.iops is None else f"{one.iops:,.0f}"
    mib = "" if one.throughput_bytes_per_s is None else f"{one.throughput_bytes_per_s / _MIB:,.0f}"
    cells = [f"{one.count}", f"{one.volume.capacity_bytes / _GIB:,.0f}", iops, mib]
    if one.feasible:
        p99, bad = (f"{values['p99']:.3g}" for values in (one.latency_ms, one.latency_p90_ms))
        cells += [p99, bad, f"{one.utilization:.0%}", f"{one.a_month:,.2f}"]
    return Row(one.type, cells, one.binds, one.feasible, one.json_fields(), is_best)

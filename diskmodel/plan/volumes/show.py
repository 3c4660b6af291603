"""The answer of a plan about volumes of a cloud in lines of text, 80 columns wide."""

from __future__ import annotations

from diskmodel.plan.volumes.answer import VolumeCandidate, VolumePlan

#: Names of the columns and their widths.
_COLUMNS = (
    ("volumes", 7),
    ("GiB each", 8),
    ("IOPS each", 9),
    ("MiB/s", 6),
    ("p99 ms", 7),
    ("in 1 of 10", 10),
    ("in use", 6),
    ("a month", 11),
)
_HEAD = " ".join(name.rjust(width) for name, width in _COLUMNS)
_GIB, _MIB = 1 << 30, 1 << 20
#: From so much of a limit in use on the answer has no reserve for a busier day.
_LITTLE_RESERVE = 0.9


def lines(answer: VolumePlan) -> list[str]:
    """Return the answer: what to provision, why, all candidates, what follows."""
    best, prices = answer.best, answer.prices
    if best is None:
        found = ["No provision of these types meets the objective."]
    else:
        together = ", RAID 0" if best.count > 1 else ""
        found = [f"{_in_words(best)}{together}: {best.a_month:,.2f} {prices.currency} a month."]
        found += [f"  {line}" for line in _because(best)]
    load = "; ".join(stream.in_words() for stream in answer.workload.streams)
    found += ["", load]
    for name in dict.fromkeys(one.type for one in answer.candidates):
        found += ["", name, _HEAD]
        found += [_row(one) for one in sorted(answer.candidates, key=lambda one: one.count) if one.type == name]
    dated = f" of {prices.date.isoformat()}" if prices.date else ", undated"
    found += ["", f"prices{dated}, without machines: {prices.source or 'no source is named'}"]
    return found


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


def _row(one: VolumeCandidate) -> str:
    iops = "" if one.iops is None else f"{one.iops:,.0f}"
    mib = "" if one.throughput_bytes_per_s is None else f"{one.throughput_bytes_per_s / _MIB:,.0f}"
    left = f"{one.count:>7} {one.volume.capacity_bytes / _GIB:>8,.0f} {iops:>9} {mib:>6}"
    if not one.feasible:
        return f"{left} no: {one.binds}"
    p99, bad = (f"{values['p99']:.3g}" for values in (one.latency_ms, one.latency_p90_ms))
    return f"{left} {p99:>7} {bad:>10} {one.utilization:>6.0%} {one.a_month:>11,.2f}"

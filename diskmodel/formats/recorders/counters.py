"""Rates between snapshots of counters that a program keeps since it was started."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from diskmodel.formats.sysstat.figures import Figures, completed
from diskmodel.formats.sysstat.tables import Recording

#: Counters of one device: reads, writes, read_bytes, write_bytes, read_s, write_s, busy_s, weighted_s, flushes,
#: discards.
Counters = Mapping[str, float]

#: Rates of counters → series and the factor to its unit.
_RATES = {
    "reads": "reads_per_s",
    "writes": "writes_per_s",
    "read_bytes": "read_bytes_per_s",
    "write_bytes": "write_bytes_per_s",
    "weighted_s": "queue_length",
    "flushes": "flushes_per_s",
    "discards": "discards_per_s",
}


def rates_between(before: Counters, after: Counters, seconds: float) -> Figures:
    """Return the figures between two snapshots; None where a counter was reset."""
    change = {name: after[name] - before[name] for name in after if name in before}
    if not change or any(value < 0 for value in change.values()) or seconds <= 0:
        return None
    found = {series: change[name] / seconds for name, series in _RATES.items() if name in change}
    if "busy_s" in change:
        found["utilization_ratio"] = min(change["busy_s"] / seconds, 1.0)
    for kind in ("read", "write"):
        if f"{kind}_s" in change and change.get(f"{kind}s"):
            found[f"{kind}_await_ns"] = change[f"{kind}_s"] / change[f"{kind}s"] * 1e9
    return completed(found)


def recording_of(snapshots: Sequence[tuple[float, Mapping[str, Counters]]]) -> Recording:
    """Return the samples between snapshots, each the time in seconds and the counters by device."""
    found = Recording()
    gaps: list[float] = []
    for (start_s, before), (end_s, after) in itertools.pairwise(snapshots):
        gap = end_s - start_s
        if gap <= 0:
            continue
        gaps.append(gap)
        found.samples.append({name: rates_between(before[name], after[name], gap) for name in after if name in before})
    found.interval_s = round(sum(gaps) / len(gaps), 3) if gaps else None
    return found

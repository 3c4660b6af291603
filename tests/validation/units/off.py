"""How far descriptions are off by the kind of load: the median over models of predicted over measured."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from diskmodel.drive.hdd import Hdd
from tests.validation.units.evidence import UnitCase

#: Models from which a kind of load has a row.
MANY = 5
#: Requests outstanding for each drive, up to which a load counts as such.
DEPTHS = ((1.0, "1"), (8.0, "2 to 8"), (64.0, "9 to 64"), (math.inf, "more"))
#: Part of reads from which a load is one of reads, and up to which one of writes.
_READS, _WRITES = 0.99, 0.01

#: Drives, load, requests outstanding for each drive.
Kind = tuple[str, str, str]
#: A load and its predictions by statistic.
Pair = tuple[UnitCase, dict[str, float]]


def kind_of(case: UnitCase) -> Kind | None:
    """Return the kind of a load of one stream; None for others."""
    if len(case.workload.streams) > 1:
        return None
    data = case.workload.streams[0].to_dict()
    n = case.array.layout.disks
    drive = "hard disk" if isinstance(case.array.drive, Hdd) else "flash"
    drives = drive if n == 1 else f"arrays: {drive}"
    ratio = data["read_ratio"]
    load = "reads" if ratio >= _READS else "writes" if ratio <= _WRITES else "mixed"
    order = "" if data["addresses"]["pattern"] == "uniform" else "sequential "
    clients = data["arrival"].get("clients")
    depth = "a rate" if clients is None else next(name for most, name in DEPTHS if clients / n <= most)
    return drives, order + load, depth


def table(pairs: Iterable[Pair]) -> str:
    """Return the table of rates and p99 by the kind of load, without those that are held back."""
    by_kind: dict[Kind, list[Pair]] = defaultdict(list)
    for case, values in pairs:
        kind = kind_of(case)
        if kind is not None and case.standing != "held back":
            by_kind[kind].append((case, values))
    lines = ["| drives | load | outstanding for each | models | rate | sd | p99 | complete | rate |"]
    lines.append("|---|---|---|--:|--:|--:|--:|--:|--:|")
    for kind in sorted(by_kind):
        part = by_kind[kind]
        rates = of_models(part, "iops")
        if len(rates) >= MANY:
            complete = of_models([item for item in part if item[0].standing == "complete"], "iops")
            cells = (_middle(rates), f"{float(np.std(rates)):.2f}", _middle(of_models(part, "p99")))
            lines.append(
                f"| {' | '.join(kind)} | {len(rates)} | {' | '.join(cells)} | {len(complete)} | {_middle(complete)} |"
            )
    return "\n".join(lines)


def of_models(part: Sequence[Pair], statistic: str) -> list[float]:
    """Return the median logarithm of predicted over measured of each model, whose specimens count as one."""
    found: dict[str, list[float]] = defaultdict(list)
    for case, values in part:
        if statistic in case.measured and math.isfinite(values.get(statistic, math.inf)):
            found[case.model].append(math.log(values[statistic] / case.measured[statistic]))
    return [float(np.median(logs)) for logs in found.values()]


def _middle(logs: Sequence[float]) -> str:
    return f"{math.expm1(float(np.median(logs))):+.0%}" if logs else "–"

"""Two nearline SAS disks over queue depths, and the orders that explain what a deeper queue gains and costs them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.drive.assumed_order import NEARLINE, NEARLINE_SAS, NEARLINE_SAS_TOO, OLDER_SATA, Order
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.records import Requests
from diskmodel.workload import Workload
from tests.validation.published import SINGLE
from tests.validation.published_arrays import rows

#: Of published_arrays.toml.
ROWS = ("kangeek-7k2-sas-h730-depths", "kangeek-7k2-sas-h730-other")
DRIVE = "hgst-ultrastar-7k4000"
#: The grid: margins in ns, age weights, committed commands.
MARGINS_NS = (0, 250_000, 500_000, 1_000_000)
AGE_WEIGHTS = (0.01, 0.02, 0.05, 0.1)
COMMITTED = (0, 1, 2)
#: Requests of a run, and the part that is left out while the queue fills.
N_REQUESTS, WARM_UP_RATIO = 4_000, 0.15

SECTION = """## Nearline SAS drives

Two disks of 7,200 rpm behind a PERC H730 were measured at depths 1 to 128, random 4 KiB reads of a file of 5 GiB on
each. Neither the model nor the places of the files are known, and single reads differ by 46 %. So the table compares
what a deeper queue gains over single reads, and by how much p99 exceeds the mean, with `{drive}` in
their place. Errors in brackets are those of the second disk.

| margin, weight, committed | misfit of gains | misfit of both | depth: gain, p99 over mean |
|---|--:|--:|---|
{lines}

The best of {n} orders has no margin, hardly prefers what has waited, and commits nothing: {best}. (With no
preference at all a rebuild could keep requests waiting for ever.) With a margin the gain is too small at every depth.
The age weight shows in the tail alone, and up to 0.05 fits nearly as well. At depth 2 the two disks gain 40 to 45 %,
where the model gains nothing: one command is served, and there is no choice among one. How this drive or its controller
does it is not known. With the order of older SATA drives a rate would be less than half of what was measured.

"""


@cache
def measured() -> tuple[dict[int, tuple[float, float, float]], ...]:
    """Return rate, mean and p99 of each disk by depth."""
    found = {row["id"]: row for row in rows()}
    return tuple(
        {
            point["depth"]: (point["iops"], point["mean_ms"], point["p99_ms"])
            for point in found[name]["points"]
            if "size" not in point
        }
        for name in ROWS
    )


@cache
def _reads(capacity_bytes: int, depth: int) -> Requests:
    workload = Workload.parse({"size": "4 KiB", "clients": depth, "span": "5.37 GB"})
    return workload.requests(capacity_bytes=capacity_bytes, n=N_REQUESTS, seed=1)


def simulated(order: Order, depth: int) -> tuple[float, float, float]:
    """Return rate, mean and p99."""
    drive = load_drive(DRIVE).to_dict()
    queue: Mapping[str, Any] = {"depth": 128, "scheduler": "rpo"} | order._asdict()
    array = Array.parse({"drive": drive | {"queue": queue}, "layout": SINGLE})
    completions = native.run(resolve(array, 1), _reads(array.usable_bytes, depth)).completions
    last = np.argsort(completions.done_ns, kind="stable")[int(WARM_UP_RATIO * N_REQUESTS) :]
    done_ns, response_ms = completions.done_ns[last], (completions.done_ns - completions.issue_ns)[last] / 1e6
    iops = (len(done_ns) - 1) / (done_ns[-1] - done_ns[0]) * 1e9
    return float(iops), float(response_ms.mean()), float(np.percentile(response_ms, 99))


@cache
def errors(order: Order) -> tuple[tuple[tuple[int, float, float], ...], ...]:
    """Return depth, error of the gain and error of p99 over mean, for each disk."""
    depths = sorted(measured()[0])
    model = {depth: simulated(order, depth) for depth in depths}
    return tuple(
        tuple(
            (
                depth,
                (model[depth][0] / model[1][0]) / (disk[depth][0] / disk[1][0]) - 1,
                (model[depth][2] / model[depth][1]) / (disk[depth][2] / disk[depth][1]) - 1,
            )
            for depth in depths[1:]
        )
        for disk in measured()
    )


def misfits(order: Order) -> tuple[float, float]:
    """Return the root mean square of the logarithms, of the gains alone and of both."""
    gains = np.log1p([gain for disk in errors(order) for _, gain, _ in disk])
    tails = np.log1p([tail for disk in errors(order) for _, _, tail in disk])
    return float(np.sqrt(np.mean(gains**2))), float(np.sqrt(np.mean(np.concatenate([gains, tails]) ** 2)))


def best() -> Order:
    """Return the order of the grid that fits both disks best."""
    return min((Order(*p) for p in itertools.product(MARGINS_NS, AGE_WEIGHTS, COMMITTED)), key=lambda o: misfits(o)[1])


def section() -> str:
    """Return the section of the page."""
    shown = [NEARLINE_SAS, *NEARLINE_SAS_TOO, Order(0, 0.01, 1), Order(250_000, 0.01, 0), NEARLINE, OLDER_SATA]
    n = len(MARGINS_NS) * len(AGE_WEIGHTS) * len(COMMITTED)
    lines = "\n".join(_line(order) for order in shown)
    return SECTION.format(drive=DRIVE, lines=lines, n=n, best=_short(best()))


def _line(order: Order) -> str:
    gain, both = misfits(order)
    first, second = errors(order)
    cells = [
        f"{depth}: {a:+.0%}, {b:+.0%} ({c:+.0%}, {d:+.0%})"
        for (depth, a, b), (_, c, d) in zip(first, second, strict=True)
    ]
    return f"| {_short(order)} | {gain:.2f} | {both:.2f} | {' · '.join(cells)} |"


def _short(order: Order) -> str:
    return f"{order.miss_margin_ns / 1e6:g} ms, {order.age_weight:g}, {order.committed}"


if __name__ == "__main__":
    print(section())

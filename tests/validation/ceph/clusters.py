"""Ceph clusters from what their sources say alone, against measurements.

`python -m tests.validation.ceph.clusters` writes docs/explanation/validation/ceph.md.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from diskmodel import Array, Workload, simulate
from diskmodel.result import Result

DATA = Path(__file__).parents[2] / "data" / "ceph" / "clusters.csv"
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "ceph.md"
#: The median of those that were measured of Samsung's drives without capacitors, ns (tests/data/commits.csv).
FLUSH_NS = 1_920_000
_LEAST, _EACH = 2000, 6
#: Outstanding requests of a run at most: at its limit a cluster does not do more with more of them.
_MOST_DEPTH = 1024
#: Level of the intervals of what another cluster may be like.
_LEVEL = 0.95

INTRODUCTION = """# Ceph clusters

Each cluster is described by what its source says: nodes, drives, copies, network, cores, clients, release. Times that
delay a request are calibrated to one OSD alone, and those of clients to one virtual machine of the cluster of 30 OSDs.
What daemons take of their processors follows from three clusters whose sources print it (100 to 130 us for a read, 250
to 290 us for a copy of a write), and the ceiling of a node from what an author saw in several (400,000 to 600,000
reads/s). No rate or latency of several OSDs was fitted, but these rows were known while the model was made: they are
bars, and no blind test. Drives that the catalog does not have are stood for by another of their class
(`tests/data/ceph/clusters.csv` has the sources). `python -m tests.validation.ceph.clusters` writes this page.

"""


class Row(NamedTuple):
    """A measured row; what was not published is nan."""

    source: str
    role: str
    array: str
    block: int
    reads: float
    depth: int
    iops: float
    mean: float

    @property
    def load(self) -> str:
        """The load in words."""
        mix = {1.0: "reads", 0.0: "writes"}.get(self.reads, f"{self.reads:.0%} reads")
        return f"{self.block // 1024} KiB {mix}, depth {self.depth}"


@cache
def rows(data: Path = DATA) -> tuple[Row, ...]:
    """Return all rows of a file."""
    with data.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(line for line in file if not line.startswith("#"))
        next(lines)
        found = []
        for source, role, array, block, reads, depth, *figures in lines:
            iops, mean = (float(value) if value else float("nan") for value in figures)
            found.append(Row(source, role, array, int(block), float(reads), int(depth), iops, mean))
        return tuple(found)


@cache
def result(row: Row) -> Result:
    """Return the result of a row as the model has it, with intervals."""
    array = Array(row.array)
    if row.role == "flushing":
        pool = array.drive
        drive = pool.drive.model_copy(update={"flush_ns": FLUSH_NS})
        array = array.model_copy(update={"drive": pool.model_copy(update={"drive": drive})})
    load = Workload.parse({"size": f"{row.block} B", "read_ratio": row.reads, "clients": min(row.depth, _MOST_DEPTH)})
    return simulate(array, load, n_requests=max(_EACH * load.queue_depth, _LEAST))


def errors(row: Row) -> dict[str, float]:
    """Return by how much each published figure is missed, as a share."""
    found, figures = {}, figures_of(row)
    for name in ("iops", "mean"):
        published = getattr(row, name)
        if published == published:
            found[name] = figures[name] / published - 1
    return found


def figures_of(row: Row) -> dict[str, float]:
    """Return rate and mean latency (ms) of a row as the model has them."""
    found = result(row)
    return {"iops": found.iops.mean, "mean": found.latency.mean_ns / 1e6}


def is_inside(row: Row) -> bool:
    """Return whether a published figure of a row lies in the model's interval of 95 %."""
    name = "iops" if row.iops == row.iops else "mean"
    interval = result(row).interval_of(name)
    scale = 1.0 if name == "iops" else 1e6
    return bool(interval.low <= getattr(row, name) * scale <= interval.high)


def missed_log(row: Row) -> float:
    """Return the logarithm of how much longer an operation took than the model says."""
    return float(np.log1p(errors(row)["iops"]))


def left_out(cluster: str) -> tuple[float, float]:
    """Return in which interval clusters at their limits lie by all others than this one.

    Student's t for one more cluster, of the mean error of each; rows of a cluster differ from its mean as they do in
    others.
    """
    others: dict[str, list[float]] = {}
    for row in rows():
        if row.role == "loaded" and row.source != cluster:
            others.setdefault(row.source, []).append(missed_log(row))
    means = np.array([np.mean(found) for found in others.values()])
    within = np.concatenate([np.array(found) - np.mean(found) for found in others.values()])
    variance = np.var(means, ddof=1) * (1 + 1 / len(means)) + np.sum(within**2) / (len(within) - len(means))
    half = stats.t.ppf((1 + _LEVEL) / 2, len(means) - 1) * np.sqrt(variance)
    return float(means.mean() - half), float(means.mean() + half)


def held_out_table() -> list[str]:
    """Return the table of clusters at their limits, each beside what the others say."""
    lines = ["| cluster | rows | longer than described | the others say | inside |", "|---|--:|--:|--:|--:|"]
    for source in dict.fromkeys(row.source for row in rows() if row.role == "loaded"):
        found = [missed_log(row) for row in rows() if row.role == "loaded" and row.source == source]
        low, high = left_out(source)
        inside = sum(low <= each <= high for each in found)
        factors = ", ".join(f"{np.exp(each):.2f}" for each in found)
        lines.append(f"| {source} | {len(found)} | {factors} | {np.exp(low):.2f} to {np.exp(high):.2f} | {inside} |")
    return lines


def table_of(data: Path = DATA) -> str:
    """Return the table of all rows of a file."""
    lines = [
        "| | cluster | load | | IOPS | mean, ms | in the interval |",
        "|---|---|---|---|--:|--:|---|",
    ]
    for row in rows(data):
        figures, missed = figures_of(row), errors(row)
        own = [f"{_figure(figures[name])} ({missed[name]:+.0%})" if name in missed else "" for name in ("iops", "mean")]
        lines.append(
            f"| {row.role} | {row.array} | {row.load} | measured | {_figure(row.iops)} | {_figure(row.mean)} | |"
        )
        lines.append(f"| | | | model | {' | '.join(own)} | {'yes' if is_inside(row) else 'no'} |")
    return "\n".join(lines)


def summary_of(data: Path = DATA) -> str:
    """Return the table of errors by the roles of rows."""
    lines = ["| rows | number | median error | largest | in the interval |", "|---|--:|--:|--:|--:|"]
    for role in dict.fromkeys(row.role for row in rows(data)):
        chosen = [row for row in rows(data) if row.role == role]
        found = np.abs([error for row in chosen for error in errors(row).values()])
        inside = sum(is_inside(row) for row in chosen)
        lines.append(f"| {role} | {len(chosen)} | {np.median(found):.0%} | {found.max():.0%} | {inside} |")
    return "\n".join(lines)


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION + table_of(), "## Errors", summary_of(), "## Clusters that were not seen", SEEN]
    return "\n\n".join([*parts, "\n".join(held_out_table())]) + "\n" + REMARKS


SEEN = """How many times as long an operation takes at a cluster's limit as the model says, and the interval of 95 %
that all other clusters give for one more (Student's t of the logarithms): as wide as what is not known of it."""

REMARKS = """
What is not followed:

- One cluster of 2020 (s4510) does a third of what the model says in writes, and half in reads. Its daemons take 0.3 ms
  of a processor for a read and 0.8 ms for a copy of a write, three times as much as those of the others. One cause is
  possible: ceph.com's packages for Ubuntu and Debian had a RocksDB without optimization until 2024, which doubled what
  a write takes in a daemon. `unoptimized` in the words says so, and answers that processors limit name the other case.
- Releases before Octopus are slower, and answers name that case, too. By how much comes from one chart of one set of
  drives (1.7 times); two clusters of Luminous that experts tuned lie on either side of it.
- Releases before Luminous keep data in FileStore, which writes all of it twice, through a journal: eight consumer SSDs
  of 2016 did 667 writes/s (github.com/kairen/ceph-bench-history). They are not described, and words for them say so.
- What clients on the nodes themselves take of the processors is not counted (pacific-60, reef-60).
- One client's writes at depth 128 are slower in the model than on the 30 OSDs: the client is that of a virtual machine,
  and theirs is not.
- The cluster of consumer drives is one row, of which neither the number of drives nor the network is known. A commit is
  two flushes there; how long one takes differs five times between drives that look alike.
"""


def _figure(value: float) -> str:
    if value != value:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""Hard disks over a short span, in deep queues and behind a write cache, against measurements.

`python -m tests.validation.disks` writes docs/explanation/validation/disks.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from diskmodel import Array, Result, Workload, simulate
from tests.validation.units.evidence import UnitCase, cases_of, tables

STREAMS = Path(__file__).parent / "streams.toml"
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "disks.md"
#: What a described drive is expected to be within: rates, p99, and percentiles over the mean.
RATE_LIMIT, P99_LIMIT, SHAPE_LIMIT = 0.15, 0.30, 0.15
#: The class that stands for a drive since 2015, of which the units have an older one.
SINCE_2015 = dict.fromkeys(("mirantis-perf1", "mirantis-perf1-sizes", "hdwd110", "p300-3tb"), "generic-7k2-2015")
#: Enough for p99.9 of one drive.
N_REQUESTS = 20_000

INTRODUCTION = f"""# Hard disks: short spans, deep queues, write caches

Disks that somebody measured over a file of a few GiB, with several requests outstanding, or with writes through the
drive's cache; beside each what the drive is simulated to do, from a data sheet or from the class that the drive is of.
Sources and loads are in `tests/data/units/` and `tests/validation/disks/streams.toml`. Seeks and the margin of the
order rest on other drives; that drives since 2015 hardly prefer what has waited, on the waits below and on two nearline
SAS drives ([how firmware orders](../validation-firmware.md)).
Rows in bold are off by more than {RATE_LIMIT:.0%} in a rate, {P99_LIMIT:.0%} in p99, {SHAPE_LIMIT:.0%} in a ratio.
`python -m tests.validation.disks` writes this page.
"""


class Row(NamedTuple):
    """A figure here and as measured, and how far apart they may be."""

    drive: str
    load: str
    figure: str
    here: float
    measured: float
    limit: float

    @property
    def error(self) -> float:
        """Return by how much the simulated figure is above the measured one, as a share."""
        return self.here / self.measured - 1

    @property
    def is_within(self) -> bool:
        return abs(self.error) <= self.limit


@cache
def loads() -> dict[str, tuple[UnitCase, ...]]:
    """Return the loads of each unit by its name."""
    return {name: tuple(cases_of(table | _class_of(name))) for table in tables() if (name := table["name"])}


def _class_of(unit: str) -> dict[str, str]:
    return {"drive": SINCE_2015[unit]} if unit in SINCE_2015 else {}


def run(case: UnitCase, n_requests: int = N_REQUESTS) -> Result:
    """Simulate the drive as described, without draws."""
    return simulate(case.array, case.workload, n_requests=n_requests, profile_draws=0, seed=1)


def chosen(unit: str, reads: int, sizes: Iterable[str] = ("4 KiB",)) -> Iterator[UnitCase]:
    """Yield the loads of a unit that are all reads (100) or all writes (0), random, of some sizes."""
    starts = [f"{unit}: {size} {reads}% reads" for size in sizes]
    for case in loads()[unit]:
        if "sequential" not in case.name and any(case.name.startswith(start) for start in starts):
            yield case


def rates(units: Iterable[str], reads: int, sizes: Iterable[str] = ("4 KiB",)) -> Iterator[Row]:
    """Yield the rate of each load, and p99 where it was measured."""
    for unit in units:
        for case in chosen(unit, reads, sizes):
            result = run(case)
            load = case.name.partition(": ")[2]
            latency = result.to_dict()["latency_ms"]
            if "iops" in case.measured:
                yield Row(unit, load, "rate", float(result.iops.mean), case.measured["iops"], RATE_LIMIT)
            else:
                yield Row(unit, load, "mean ms", latency["mean"], case.measured["mean"], RATE_LIMIT)
            if "p99" in case.measured:
                yield Row(unit, load, "p99 ms", latency["p99"], case.measured["p99"], P99_LIMIT)


def shapes(units: Iterable[str]) -> Iterator[Row]:
    """Yield percentiles over the mean of 4 KiB reads, ten of them outstanding."""
    for unit in units:
        (case,) = (case for case in chosen(unit, 100) if "depth 10" in case.name)
        latency = run(case, 60_000).to_dict()["latency_ms"]
        for name in ("p50", "p95", "p99", "p999"):
            here, measured = latency[name] / latency["mean"], case.measured[name] / case.measured["mean"]
            label = "p99.9" if name == "p999" else name
            yield Row(unit, case.name.partition(": ")[2], f"{label} / mean", here, measured, SHAPE_LIMIT)


def beside_streams() -> Iterator[Row]:
    """Yield the rate of random reads beside two sequential streams, and their p99."""
    for unit in tomllib.loads(STREAMS.read_text(encoding="utf-8"))["unit"]:
        (case,) = cases_of(unit)
        found = run(case, 40_000).to_dict()["per_stream"]["random"]
        name, load, measured = unit["name"], unit["loads"][0]["what"], unit["random"]
        yield Row(name, load, "rate", found["iops"], measured["iops"], RATE_LIMIT)
        if found["n"]:
            yield Row(name, load, "p99 ms", found["latency_ms"]["p99"], measured["p99_ms"], P99_LIMIT)


def synced(place: str | None = None) -> Iterator[Row]:
    """Yield rate and p99 of writes with O_SYNC on ext4, the file at its place or at another one."""
    found = tomllib.loads(STREAMS.read_text(encoding="utf-8"))["osync"]
    array = Array.parse({"drive": found["drive"], "layout": {"level": "jbod", "disks": 1}, "drive_write_cache": True})
    files = {"file_system": "ext4", "file": "overwrite", "sync": "fsync", "read_ratio": 0.0, "size": "4 KiB"}
    for row in found["rows"]:
        at = {"span": found["span"], "offset": place or found["place"], "clients": row["jobs"]}
        result = simulate(array, Workload.parse(files | at), n_requests=8000, profile_draws=0, seed=1)
        load = f"{row['jobs']} jobs" if row["jobs"] > 1 else "1 job"
        p99 = result.to_dict()["latency_ms"]["p99"]
        yield Row("mirantis-perf1-sizes", load, "rate", float(result.iops.mean), row["iops"], RATE_LIMIT)
        yield Row("mirantis-perf1-sizes", load, "p99 ms", p99, row["p99_ms"], P99_LIMIT)


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a table of Markdown."""
    lines = ["| disk | load | figure | here | measured | error |\n|---|---|---|--:|--:|--:|\n"]
    for row in rows:
        error = f"{row.error:+.0%}" if row.is_within else f"**{row.error:+.0%}**"
        figures = f"{row.here:.3g} | {row.measured:.3g}"
        lines.append(f"| `{row.drive}` | {row.load} | {row.figure} | {figures} | {error} |\n")
    return "".join(lines)


#: Names of units by what they show.
SHORT = ("mirantis-perf1", "mirantis-perf1-sizes", "hdwd110", "p300-3tb", "hd502hj", "st3500418as", "cdm-2tb")
DEPTH_10 = ("hdwd110", "p300-3tb")
HALVES = ("st9500430ss", "st3300657ss", "wd3000blfs", "st31000340ns")
ARRAYS = ("p822-15k-raid10", "ucloud-raid10", "ucloud-raid5")


def _halves() -> Iterator[Row]:
    for unit in HALVES:
        (case,) = loads()[unit]
        yield Row(unit, "50% reads, depth 1", "rate", float(run(case).iops.mean), case.measured["iops"], RATE_LIMIT)


SECTIONS = {
    "Reads over a short span": (lambda: rates(SHORT, 100, ("4 KiB", "64 KiB")), ""),
    "How long they wait": (
        lambda: shapes(DEPTH_10),
        "Percentiles over the mean. A drive that orders by seek and rotation alone keeps some commands waiting "
        "long:\nthe shape is slightly heavier than exponential.\n\n",
    ),
    "Writes through the drive's cache": (
        lambda: rates(("mirantis-perf1-sizes", "hd502hj", "st3500418as", "cdm-2tb"), 0),
        "Of `mirantis-perf1-sizes` p50 stays at 2.1 ms from 1 to 40 jobs, while p99 rises to 2.4 s. p99 is 81, 80, 77, "
        "69 and\n62 ms for each other job at 2, 5, 10, 20 and 40: one writer has the disk for some 80 ms, then the "
        "next. That is what\ntime slices of the host do (CFQ, which Linux had until 5.0, gave each process up to "
        "100 ms); here all writers are\nserved alike. A host with time slices is not modeled.\n\n"
        "One writer alone waits 2.1 ms at p50 and 10.4 at p99, a turn of the disk (8.3 ms) longer: one to five of a "
        "hundred\nwrites miss their block and come round again. Of a [Samsung F1](../validation-arrays.md) one in "
        "fifteen does: 6.0 ms at\np50, 14.1 at p95. Here none does. That is 0.1 to 0.6 ms of each write, and part of "
        "what `st3500418as` is too fast, whose\n6.6 ms no order of commands explains: its 95 % here are 159 to "
        "216/s.\n\n",
    ),
    "Writes with O_SYNC on ext4": (
        synced,
        "Each waits for its data, for the journal, and for the block that makes the commit valid. Beside the journal "
        "that is three\nturns, 25.1 ms at p50 (24.96 measured), with 45 writes a second of one job; a quarter of the "
        "disk away, as here, four; at\nthe edge five, as the slowest measured hundredth.\n\n",
    ),
    "Half reads, half writes, one at a time": (
        _halves,
        "A write cache moves the cost of a write into the next read: in these measurements a waiting write "
        "costs 0.7 to 1.1 of a\nwrite without a cache. Here reads come first while fewer writes wait than half "
        "of those that a drive weighs (rule C8).\nAs reads and writes come at random, some dozens wait before "
        "long, and the nearest of them is cheap. If they always\ncompeted with reads, errors would be +23, -12 "
        "and +13% in place of +53, +1 and +33, and of a whole disk, where the cache\ngains an eighth, nothing "
        "would be left of that; but the p99 of reads of a RAID 5 under 33 reads a second and disk would\nbe "
        "three times as long, which no measurement here supports.\n\n",
    ),
    "A random reader beside two streams": (
        beside_streams,
        "Random reads of 8 to 16 KiB beside a sequential reader and a sequential writer of 1 MiB, ten outstanding "
        "each.\nDrives that order by position alone stay with the streams (1 and 2 random reads/s here); those since "
        "2015 take what has\nwaited a quarter of a second (rule D12). The 1 TB drive favors its sequential reader (114 "
        "of 168/s), which no rule here does.\n\n",
    ),
    "Writes behind a controller's cache": (
        lambda: rates(ARRAYS, 0, ("64 KiB", "4 KiB")),
        "Destages on a disk at once are not known of these controllers: six are taken, and between two and 24 drawn\n"
        "([decision](../../decisions/0022-six-destages.md)). The last two arrays have six disks of 600 GB of a rented "
        "server. Their\nspeed is not said: reads in order (976 MB/s of RAID 5) and many random reads are those of "
        "10,000 rpm, single ones those\nof 15,000. RAID 5 has 0.38 of RAID 10's writes, here 0.46.\n\n",
    ),
}


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for title, (rows, words) in SECTIONS.items():
        parts.append(f"\n## {title}\n\n{words}{table(rows())}")
    return "".join(parts)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")

"""Half-widths of named drives at modest load, by class and source: `python -m tests.validation.coverage.widths`.

Kept in tests/data/units/widths.csv, which the page on intervals shows.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from diskmodel import Array, Workload, catalogue, simulate
from diskmodel.drive import Drive, load_drive
from diskmodel.result import Result
from tests.validation.coverage.score import width
from tests.validation.units.evidence import FOLDER

TABLE = FOLDER / "widths.csv"
#: Every so many drives of the catalog, so that it takes a minute; hard disks that hold less are in no array of today.
EVERY, LEAST_BYTES = 3, 200e9
#: Requests of a run.
N_REQUESTS = 4_000
#: Arrivals at eight drives in RAID 10, per second: a tenth to a fifth of what they serve.
RATES = {"hdd": 100, "flash": 20_000}
#: Figures, and what is asked: drives, part of reads, and whether requests come at a rate.
FIGURES = {
    "reads": "one drive, reads one at a time: IOPS",
    "mixed": "the same, 70 % reads: IOPS",
    "mean": "eight in RAID 10, 70 % reads: mean",
    "p99": "the same: p99",
}
#: Half-widths of hard disks, medians: with one spread for the speed of a whole drive, and with one for each quantity,
#: but a tail of all requests that had writes by their number.
BEFORE = {"reads": (0.45, 0.134), "mixed": (1.04, 0.171), "mean": (1.14, 0.269), "p99": (1.64, 0.919)}


@dataclass(frozen=True)
class Widths:
    """Half-widths of the intervals of a drive, as logarithms.

    Attributes
    ----------
    drive, class_ : str
    half : dict of str to float
        By figure.
    sources : dict of str to float
        Shares of the squared width of the mean.
    """

    drive: str
    class_: str
    half: dict[str, float]
    sources: dict[str, float]


def drives() -> list[str]:
    """Return the names of drives that are looked at."""
    named = {name: load_drive(name) for name in catalogue()}
    hdd = [name for name, drive in named.items() if drive.has_arms and _counts(drive, LEAST_BYTES)]
    flash = [name for name, drive in named.items() if drive.kind == "flash" and _counts(drive, 0.0)]
    return [*hdd[::EVERY], *flash[::EVERY]]


def _counts(drive: Drive, least_bytes: float) -> bool:
    return not (drive.is_typical or drive.exact) and drive.capacity_bytes > least_bytes


def measured(name: str) -> Widths:
    """Return the widths of a drive."""
    drive = load_drive(name)
    alone, eight = Array(drive, "jbod", 1), Array(drive, "raid10", 8)
    one = {"size": "8 KiB", "clients": 1}
    came = {"size": "8 KiB", "read_ratio": 0.7, "rate_per_s": RATES[drive.kind]}
    reads, mixed, many = (
        simulate(array, Workload.parse(load), n_requests=N_REQUESTS)
        for array, load in ((alone, one | {"read_ratio": 1.0}), (alone, one | {"read_ratio": 0.7}), (eight, came))
    )
    half = {"reads": _half(reads, "iops"), "mixed": _half(mixed, "iops")}
    half |= {statistic: _half(many, statistic) for statistic in ("mean", "p99")}
    prediction = many.prediction
    return Widths(name, drive.spread_class, half, {} if prediction is None else dict(prediction.sources))


def _half(result: Result, statistic: str) -> float:
    found = result.iops if statistic == "iops" else result.latency.figure(statistic)
    return width(found.low, found.high) / 2


def renew() -> None:
    """Simulate all drives, and write the table."""
    found = []
    for name in drives():
        found.append(measured(name))
        print(found[-1], flush=True)
    names = list(dict.fromkeys(name for one in found for name in one.sources))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("drive", "class", *FIGURES, *names))
        for one in found:
            shares = (f"{one.sources.get(name, 0.0):.3f}" for name in names)
            writer.writerow((one.drive, one.class_, *(f"{one.half[name]:.4g}" for name in FIGURES), *shares))


@cache
def read() -> tuple[Widths, ...]:
    """Return the widths of the table."""
    return tuple(_rows())


def _rows() -> Iterator[Widths]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            drive, class_ = row.pop("drive"), row.pop("class")
            half = {name: float(row.pop(name)) for name in FIGURES}
            yield Widths(drive, class_, half, {name: float(value) for name, value in row.items()})


def medians(*classes: str) -> dict[str, float]:
    """Return the median half-widths of the drives of some classes."""
    found = [one.half for one in read() if one.class_ in classes]
    return {name: float(np.median([half[name] for half in found])) for name in FIGURES}


def hard_disks() -> list[str]:
    """Return the classes of hard disks."""
    return sorted({one.class_ for one in read() if one.class_.startswith("hdd")})


def table_before() -> str:
    """Return the half-widths of hard disks with those of before."""
    now = medians(*hard_disks())
    lines = ["| hard disks, medians | one spread of speed | by quantity | today |", "|---|--:|--:|--:|"]
    return "\n".join(
        [*lines, *(f"| {what} | {BEFORE[n][0]:g} | {BEFORE[n][1]:g} | {now[n]:.2g} |" for n, what in FIGURES.items())]
    )


def table_of_classes() -> str:
    """Return the half-widths by class, and what makes those of the mean."""
    lines = ["| class | drives | reads | 70 % reads | mean | p99 | of the mean |", "|---|--:|--:|--:|--:|--:|---|"]
    for name in sorted({one.class_ for one in read()}):
        part = [one for one in read() if one.class_ == name]
        half = " | ".join(f"{value:.2g}" if math.isfinite(value) else "open" for value in medians(name).values())
        shares = {source: float(np.mean([one.sources[source] for one in part])) for source in part[0].sources}
        most = sorted((source for source in shares if shares[source] > 0.05), key=lambda source: -shares[source])
        words = ", ".join(f"{source} {shares[source]:.0%}" for source in most)
        lines.append(f"| `{name}` | {len(part)} | {half} | {words} |")
    return "\n".join(lines)


if __name__ == "__main__":
    renew()
    print(table_before(), table_of_classes(), sep="\n\n")

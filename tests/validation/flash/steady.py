"""Flash drives in their steady state, from their sheets alone, and what was measured of them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from math import log
from pathlib import Path
from statistics import median
from typing import NamedTuple

from diskmodel import Array, Flash, Result, Workload, catalogue, load_drive, simulate
from diskmodel.engine.steady.fresh import Fresh, fresh
from diskmodel.host.assumed import HOSTS
from diskmodel.result.statistics.batches import Interval
from tests.validation.coverage.spread import load_of
from tests.validation.units.evidence import all_cases, tables

DATA = Path(__file__).parents[2] / "data" / "flash"
#: The drive that the source does not name, by the figures of its sheet that the source gives.
UNNAMED = {
    "kind": "flash",
    "name": "WD data center NVMe 960 GB",
    "bus": "PCIe 3.0 x4 NVMe",
    "capacity_bytes": 960_197_124_096,
    "queue_depth": 1024,
    "power_loss_protected": True,
    "gc_batch_ns": 0,
    "paces_writes": False,
    "sheet": {
        "sequential_read": "3330 MB/s",
        "sequential_write": "1190 MB/s",
        "random_reads_per_s": 434_000,
        "random_writes_per_s": 49_000,
        "read_latency": "78 us",
    },
}
#: Drives of the catalogue that are described by their sheets.
FLASH = {name: drive for name, drive in catalogue().items() if isinstance(drive, Flash) and drive.sheet is not None}
SHEETS = [name for name, drive in FLASH.items() if drive.sheet is not None and not drive.sheet.is_of_cache]
#: Consumer drives, whose sheets print the writes of their caches.
CACHED = sorted(FLASH.keys() - set(SHEETS))
#: Shares of the saturation up to which reads beside writes are compared: above, they wait for what no sheet says.
MOST_LOAD = 0.8
#: Units whose firmware delays writes and reads by milliseconds between these shares of their saturation.
DELAYED = {"Micron 7450 PRO 960 GB": (0.5, 1.0), "Micron 7450 MAX 800 GB": (0.4, 0.55)}
#: Units of which every load below saturation is compared by its writes: with batches of copies.
WITH_BATCHES = {*DELAYED, "Kioxia CM7-R 3.84 TB (unit k4)"}
N_REQUESTS = 100_000
ALONE = {"level": "jbod", "disks": 1}
#: The host of the measurements: six threads and a seventh whose latencies count, which submit by io_uring and wait for
#: nothing else. Its time of a request is that of a tuned host. What a sheet's latency has of a host, it has not.
MEASURING = {"submission_ns": HOSTS["tuned-2020"].submission_ns, "processors": 7}


class Row(NamedTuple):
    """A measured row of the table."""

    unit: str
    drive: str
    used_ratio: float
    asked_per_s: float
    writes_per_s: float
    reads_per_s: float
    read_p50_us: float
    read_p95_us: float
    read_p99_us: float
    read_p999_us: float
    write_p50_us: float
    write_p99_us: float


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows; what was not measured is 0."""
    return tuple(Row(unit, drive, *map(_number, values)) for unit, drive, *values in table("steady.csv"))


class FreshRow(NamedTuple):
    """A drive from when it was sanitized and filled once until it is steady."""

    unit: str
    drive: str
    used_ratio: float
    filled: str
    fresh_per_s: float
    fast_s: float
    steady_per_s: float
    low_per_s: float
    settled_s: float
    amplification: float


@cache
def fresh_rows() -> tuple[FreshRow, ...]:
    """Return all rows of drives that were fresh."""
    return tuple(
        FreshRow(unit, drive, float(used), filled, *map(_number, values))
        for unit, drive, used, filled, *values in table("fresh.csv")
    )


def _number(value: str) -> float:
    return float(value or 0)


def table(name: str) -> list[list[str]]:
    """Return the rows of a table of data."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        lines = csv.reader(line for line in file if not line.startswith("#"))
        next(lines)
        return [*lines]


def units() -> dict[str, str]:
    """Return the units with the names of their profiles, "" where the source does not name the drive."""
    return {row.unit: row.drive for row in rows() if row.reads_per_s}


def flash(name: str) -> Flash:
    """Return a drive of the catalogue, or the one that the source does not name."""
    drive = load_drive(name) if name else Flash.parse(UNNAMED)
    assert isinstance(drive, Flash)
    return drive


def saturation_per_s(unit: str) -> float:
    """Return the largest rate of writes that a unit was measured to reach over all of it."""
    return max(row.writes_per_s for row in rows() if row.unit == unit and row.reads_per_s)


def saturated(unit: str) -> tuple[float, float]:
    """Return the largest rate of writes of a unit beside the reads that were measured with it: simulated, measured."""
    row = max((row for row in rows() if row.unit == unit and row.reads_per_s), key=lambda row: row.writes_per_s)
    writes = {"name": "writes", "size": "4 KiB", "read_ratio": 0.0, "clients": 384}
    reads = {"name": "reads", "size": "4 KiB", "read_ratio": 1.0, "rate_per_s": row.reads_per_s}
    result = run_as_measured(flash(row.drive), {"streams": [writes, reads]})
    return result.iops.mean - row.reads_per_s, row.writes_per_s


def alone(drive: Flash) -> Array:
    """Return one drive alone."""
    return Array(drive=drive.model_copy(update={"exact": True}), layout=ALONE)


def run(drive: Flash, workload: dict[str, object]) -> Result:
    """Simulate one drive alone; the run's own interval is enough here."""
    return simulate(alone(drive), Workload.parse(workload), n_requests=N_REQUESTS, seed=1)


def run_as_measured(drive: Flash, workload: dict[str, object]) -> Result:
    """Simulate one drive behind the host of the measurements."""
    array = Array.parse({"drive": drive, "layout": ALONE, "host": MEASURING})
    return simulate(array, Workload.parse(workload), n_requests=N_REQUESTS, seed=1, profile_draws=0)


def writes_per_s(name: str, used_ratio: float = 1.0, depth: int = 512) -> float:
    """Return the steady rate of random writes of 4 KiB to the used part of a drive."""
    drive = flash(name).model_copy(update={"used_ratio": used_ratio})
    return run(drive, random_writes(used_ratio, depth)).iops


def random_writes(used_ratio: float, depth: int) -> dict[str, object]:
    return {"size": "4 KiB", "read_ratio": 0.0, "clients": depth, "span_ratio": used_ratio}


def from_fresh(row: FreshRow) -> tuple[Result, Fresh]:
    """Return the steady state of a row, and how the drive is before."""
    drive = flash(row.drive).model_copy(update={"used_ratio": row.used_ratio})
    result, load = run(drive, random_writes(row.used_ratio, 512)), Workload.parse(random_writes(row.used_ratio, 512))
    found = fresh(alone(drive), load, result, seed=1)
    assert found is not None
    return result, found


class Compared(NamedTuple):
    """Reads beside writes: load as a share of saturation, and (here, measured) percentiles of reads."""

    unit: str
    load: float
    is_delayed: bool
    p50_us: tuple[float, float]
    p95_us: tuple[float, float]
    p99_us: tuple[float, float]

    def error(self, statistic: str) -> float:
        """Return by how much the simulated percentile is above the measured one, as a share."""
        here, measured = getattr(self, statistic)
        return float(here / measured - 1)


def below_saturation(unit: str) -> list[Row]:
    """Return the rows of a unit that are compared, the lowest load first."""
    most = MOST_LOAD * saturation_per_s(unit)
    own = (row for row in rows() if row.unit == unit and row.reads_per_s and row.writes_per_s <= most)
    return sorted(own, key=lambda row: row.writes_per_s)


def is_delayed(unit: str, load: float) -> bool:
    """Return whether reads of a unit wait for what is not modeled, at a load as a share of its saturation."""
    low, high = DELAYED.get(unit, (1.0, 1.0))
    return low < load < high


def beside(row: Row) -> dict[str, object]:
    """Return the load of a row: writes, and reads beside them."""
    return {
        "streams": [
            {"name": "writes", "size": "4 KiB", "read_ratio": 0.0, "rate_per_s": row.writes_per_s},
            {"name": "reads", "size": "4 KiB", "read_ratio": 1.0, "rate_per_s": row.reads_per_s},
        ]
    }


def reads_beside_writes(unit: str, *, every: int = 1, **changes: object) -> Iterator[Compared]:
    """Yield the rows of a unit that was not saturated, or some of them; fields of the drive can be changed."""
    for row in below_saturation(unit)[::every]:
        load = row.writes_per_s / saturation_per_s(unit)
        reads = run_as_measured(flash(row.drive).model_copy(update=changes), beside(row)).reads
        assert reads is not None
        here = {name: value / 1e3 for name, value in reads.quantiles_ns.items()}
        yield Compared(
            unit,
            load,
            is_delayed(unit, load),
            (here["p50"], row.read_p50_us),
            (here["p95"], row.read_p95_us),
            (here["p99"], row.read_p99_us),
        )


class Written(NamedTuple):
    """Writes below saturation: percentiles here and measured, µs.

    And p99 of such a drive of unknown firmware: of eight in ten, and the ends of the 95 % interval.
    """

    unit: str
    load: float
    p50_us: tuple[float, float]
    p99_us: tuple[float, float]
    unknown_us: tuple[float, float]
    unknown_ends_us: tuple[float, float]


def writes_below() -> Iterator[Written]:
    """Yield every other load of the units that were not saturated, and all of those with batches."""
    for unit in units():
        yield from writes_below_of(unit)


def writes_below_of(unit: str, at_least: float = 0.0) -> Iterator[Written]:
    """Yield those of a unit, from a share of its saturation on."""
    rows_below = below_saturation(unit)
    for row in rows_below if unit in WITH_BATCHES else rows_below[::-2][::-1]:
        load = row.writes_per_s / saturation_per_s(unit)
        if load < at_least:
            continue
        here = run_as_measured(flash(row.drive), beside(row)).writes
        drive = flash(row.drive).model_copy(update={"gc_batch_ns": None, "paces_writes": None})
        unknown = Array.parse({"drive": drive, "layout": ALONE, "host": MEASURING})
        drawn = simulate(unknown, Workload.parse(beside(row)), n_requests=20_000, seed=1)
        assert here is not None
        assert drawn.writes is not None
        middle = drawn.middle_of("p99", "writes")
        assert middle is not None
        p50, p99 = (here.quantiles_ns[name] / 1e3 for name in ("p50", "p99"))
        assert drawn.later is not None
        ends = drawn.later.interval_of("writes", "p99")
        yield Written(
            unit,
            load,
            (p50, row.write_p50_us),
            (p99, row.write_p99_us),
            (middle.low / 1e3, middle.high / 1e3),
            (ends.low / 1e3, ends.high / 1e3),
        )


class Skewed(NamedTuple):
    """Steady writes of which some blocks get more, a second: simulated and measured."""

    pattern: str
    exponent: float
    here: float
    measured: float

    @property
    def error(self) -> float:
        """By how much the simulated rate is above the measured one, as a share."""
        return self.here / self.measured - 1


def skewed(*, gc_policy: str = "greedy") -> Iterator[Skewed]:
    """Yield the skewed loads of the 7450 PRO."""
    drive = flash("micron-7450-pro-960").model_copy(update={"gc_policy": gc_policy})
    hot = {"size": "4 KiB", "read_ratio": 0.0, "clients": 486, "span_ratio": 0.05}
    cold = {"size": "4 KiB", "read_ratio": 0.0, "clients": 26, "span_ratio": 0.95, "offset_ratio": 0.05}
    for pattern, exponent, measured in table("skew.csv"):
        load = random_writes(1.0, 512)
        if pattern == "zones":
            load = {"streams": [{"name": "hot", **hot}, {"name": "cold", **cold}]}
        elif pattern == "zipf":
            load = random_writes(1.0, 512) | {"addresses": {"pattern": "zipf", "theta": float(exponent)}}
        yield Skewed(pattern, _number(exponent), run(drive, load).iops, float(measured))


#: Published rates of filling a whole empty drive in order, MB/s, and who measured them.
FILLED_MB = {
    "samsung-980-1tb": (600, "TechPowerUp, Samsung 980 1 TB review, 2021"),
    "samsung-980-pro-1tb": (1900, "TechPowerUp, Samsung 980 Pro 1 TB review, 2020"),
}


def filled_mb(name: str) -> float:
    """Return the rate at which a drive that is empty is filled in order, MB/s."""
    drive = FLASH[name].model_copy(update={"used_ratio": 1e-6})
    load = Workload.parse(
        {"size": "1 MiB", "read_ratio": 0.0, "clients": 4, "addresses": {"pattern": "sequential"}, "span_ratio": 0.1}
    )
    seconds, left = 0.0, float(drive.capacity_bytes)
    for state, room in drive.fast_states():
        rate = simulate(alone(state), load, n_requests=4000, profile_draws=0).bytes_per_s
        part = min(left, room)
        seconds, left = seconds + part / rate, left - part
    return drive.capacity_bytes / seconds / 1e6


class Commits(NamedTuple):
    """Durable writes a second, one at a time, of a drive that is protected."""

    drive: str
    profile: str
    cache: str
    measured: float
    here: float
    middle: Interval
    whole: Interval

    @property
    def is_inside(self) -> bool:
        """Whether what was measured is inside the 95 % interval."""
        return self.whole.low <= self.measured <= self.whole.high


def commits() -> Iterator[Commits]:
    """Yield the measured drives with what is predicted, everything that is not known included."""
    load = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0.0, "sync": "fdatasync"})
    for drive, profile, state, _, measured, _ in table("commits.csv"):
        result = simulate(Array(profile, "jbod", 1, drive_write_cache=state != "off"), load, n_requests=300)
        middle = result.middle_of("iops")
        assert middle is not None
        yield Commits(drive, profile, state, float(measured), result.iops.mean, middle, result.interval_of("iops"))


def commits_without_protection() -> tuple[int, int]:
    """Return how many of the consumer drives made as many as the 95 % interval of one says, and of how many."""
    load = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0.0, "sync": "fdatasync"})
    ends = simulate(Array("samsung-870-evo-1tb", "jbod", 1), load, n_requests=300).interval_of("iops")
    with (DATA.parent / "commits.csv").open(encoding="utf-8", newline="") as file:
        rates = [float(row["commits_per_s"]) for row in csv.DictReader(file) if "sync" in row["load"]]
    return sum(ends.low <= rate <= ends.high for rate in rates), len(rates)


#: What a write takes on a drive with a capacitor on SATA beyond its latency, us, and its latency: together 52.
_SATA_WORK_US, _SATA_LATENCY_US = 19.0, 33.0
#: Models of which single writes were measured, by what is in the names of loads and drives.
SATA_MODELS = ("S4610", "PM883", "DC500M", "microyahoo", "PM863a", "S4510")


def sata_writes() -> dict[str, float]:
    """Return how long single writes of drives on SATA with capacitors took, by model, us: the middle of its figures.

    Where a drive had its cache on, writes without a flush.
    """
    found: dict[str, list[float]] = {model: [] for model in SATA_MODELS}
    for case in all_cases():
        drive, is_one = case.array.drive, case.workload.queue_depth == 1 and len(case.workload.streams) == 1
        is_alone = is_one and case.class_ == "flash-sata" and "P420i" not in case.name
        if is_alone and load_of(case) == "single writes" and isinstance(drive, Flash) and drive.power_loss_protected:
            (model,) = [model for model in SATA_MODELS if model.lower() in case.name.lower()]
            found[model].append(case.measured["mean"] * 1e3)
    for drive, _, state, _, per_s, _ in table("commits.csv"):
        if state == "off":
            (model,) = [model for model in SATA_MODELS if model in drive]
            found[model].append(1e6 / float(per_s))
    return {model: median(times) for model, times in found.items()}


def sata_write_latencies() -> list[float]:
    """Return the logarithms of what these models took of latency, over what is described."""
    return [log((us - _SATA_WORK_US) / _SATA_LATENCY_US) for us in sata_writes().values()]


class Sustained(NamedTuple):
    """A boot or consumer drive that wrote at random for minutes: its own figures, and whose drive it resembles."""

    name: str
    series: str
    gigabytes: float
    reads_per_s: float
    writes_per_s: float
    write_mb_s: float


#: Beginnings of the names of drives of one series.
SERIES = ("mtfdhba", "wdc-cl-sn720", "wdc-cl-sn730", "kxg6azn", "hfs256gd9tng", "hfs512gd9tng", "mzul2")
#: Two sizes of one series whose names begin differently.
SAME_SERIES = {"hfs512gd9tng": "hfs256gd9tng"}
#: Within what factor a sustained rate is to be predicted.
FACTOR = 1.5


@cache
def sustained() -> tuple[Sustained, ...]:
    """Return the drives of iocost-benchmarks that were written for minutes."""
    found = []
    for unit in tables():
        name = unit["name"].removeprefix("iocost-")
        if name == unit["name"] or not unit["class"].startswith("flash"):
            continue
        reads, writes = (next(one["iops"] for one in unit["loads"] if one["reads"] == op) for op in (1, 0))
        mb_s = next(one["mb_s"] for one in unit["loads"] if one["reads"] == 0 and "mb_s" in one)
        series = next((one for one in SERIES if name.startswith(one)), "")
        size = unit["drive_with"]["capacity_bytes"] / 1e9
        found.append(Sustained(name, SAME_SERIES.get(series, series), size, reads, writes, mb_s))
    return tuple(found)


def n_near_others(share_of: str | None) -> int:
    """Return how many drives are within the factor of what all others make, or make of one of their figures.

    The middle of the others' shares of `share_of`; None: of their rates.
    """
    drives = sustained()
    shares = [one.writes_per_s / (getattr(one, share_of) if share_of else 1) for one in drives]
    others = [median(shares[:i] + shares[i + 1 :]) for i in range(len(drives))]
    return sum(_is_near(own, other) for own, other in zip(shares, others, strict=True))


def n_near_their_series() -> tuple[int, int]:
    """Return how many drives with others of their series are within the factor of those, and how many there are."""
    of_series = [one for one in sustained() if one.series]
    near = 0
    for one in of_series:
        others = [other.writes_per_s for other in of_series if other.series == one.series and other is not one]
        near += _is_near(one.writes_per_s, median(others))
    return near, len(of_series)


def _is_near(one: float, other: float) -> bool:
    return abs(log(one / other)) <= log(FACTOR)

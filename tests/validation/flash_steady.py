"""Flash drives in their steady state, from their sheets alone, against measurements.

`python -m tests.validation.flash_steady` writes docs/explanation/validation/flash.md.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diskmodel import Array, Flash, Result, Workload, catalogue, load_drive, simulate
from diskmodel.engine.steady.fresh import Fresh, fresh
from diskmodel.result.statistics.batches import Interval

DATA = Path(__file__).parents[1] / "data" / "flash"
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "validation" / "flash.md"
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

INTRODUCTION = """# Flash in its steady state

Nine data-center drives were written at random until they were steady, then measured under open loads, with percentiles
(G. Haas et al., *ssdiq-pub*, 2025; `tests/data/flash`): seven models of six makers. Here each is described by the
figures that its sheet prints ([from a data sheet](../../how-to/add-a-drive.md)): rates in order, random reads and
writes. Nothing of the measurements enters a description but one time that all share: a program is suspended for a read
(rule [F21](../../reference/semantics-flash.md)) after 100 µs in the mean, about the middle of what the models show, and
what their firmware was seen to do, which no sheet says (F24 to F27, and the 150 µs of the CM7-R).
`python -m tests.validation.flash_steady` writes this page.

"""


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
    return tuple(Row(unit, drive, *map(_number, values)) for unit, drive, *values in _table("steady.csv"))


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
        for unit, drive, used, filled, *values in _table("fresh.csv")
    )


def _number(value: str) -> float:
    return float(value or 0)


def _table(name: str) -> list[list[str]]:
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
    return run(flash(row.drive), {"streams": [writes, reads]}).iops.mean - row.reads_per_s, row.writes_per_s


def alone(drive: Flash) -> Array:
    """Return one drive alone."""
    return Array(drive=drive.model_copy(update={"exact": True}), layout=ALONE)


def run(drive: Flash, workload: dict[str, object]) -> Result:
    """Simulate one drive alone; the run's own interval is enough here."""
    return simulate(alone(drive), Workload.parse(workload), n_requests=N_REQUESTS, seed=1)


def writes_per_s(name: str, used_ratio: float = 1.0, depth: int = 512) -> float:
    """Return the steady rate of random writes of 4 KiB to the used part of a drive."""
    drive = flash(name).model_copy(update={"used_ratio": used_ratio})
    return run(drive, _writes(used_ratio, depth)).iops


def _writes(used_ratio: float, depth: int) -> dict[str, object]:
    return {"size": "4 KiB", "read_ratio": 0.0, "clients": depth, "span_ratio": used_ratio}


def from_fresh(row: FreshRow) -> tuple[Result, Fresh]:
    """Return the steady state of a row, and how the drive is before."""
    drive = flash(row.drive).model_copy(update={"used_ratio": row.used_ratio})
    result, load = run(drive, _writes(row.used_ratio, 512)), Workload.parse(_writes(row.used_ratio, 512))
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
        reads = run(flash(row.drive).model_copy(update=changes), beside(row)).reads
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
        here = run(flash(row.drive), beside(row)).writes
        unknown = Array(
            drive=flash(row.drive).model_copy(update={"gc_batch_ns": None, "paces_writes": None}), layout=ALONE
        )
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


def _sheets() -> str:
    lines = ["## Random writes\n\n", "| unit | sheet | simulated | measured | error |\n", "|---|--:|--:|--:|--:|\n"]
    for unit, name in units().items():
        drive, (here, measured) = flash(name), saturated(unit)
        assert drive.sheet is not None
        figures = f"{drive.sheet.random_writes_per_s:,.0f} | {here:,.0f} | {measured:,.0f}"
        lines.append(f"| {unit} | {figures} | {here / measured - 1:+.0%} |\n")
    return (
        "".join(lines)
        + """
Rates a second of 4 KiB over the whole drive, 384 outstanding, beside 5,000 to 8,000 reads a second.
Where nothing is read both 7450s write 94,000/s and 159,000/s (below), 0.73 of that here: their programs take 400 µs
longer beside reads (rule [F27](../../reference/semantics-flash.md)), one figure for both. Without that they would be 24
and 22 % too fast. The others write as much as without reads, or up to 5 % less. Drives that are too slow here write
more than their sheets print.

"""
    )


def _used() -> str:
    lines = [
        "## Space in use\n\nWhat holds no data is spare (`used`, rule F12). Micron 7450 PRO 960 GB:\n\n",
        "| used | simulated | measured | error | if the rest held data |\n|--:|--:|--:|--:|--:|\n",
    ]
    errors: list[tuple[float, float]] = []
    for row in rows():
        if not row.reads_per_s:
            here, measured = writes_per_s(row.drive, row.used_ratio), row.writes_per_s
            full = run(flash(row.drive), _writes(row.used_ratio, 512)).iops
            errors.append((abs(here / measured - 1), abs(full / measured - 1)))
            figures = f"{here:,.0f} | {measured:,.0f} | {here / measured - 1:+.1%} | {full:,.0f}"
            lines.append(f"| {row.used_ratio:.0%} | {figures} |\n")
    now, before = np.median(errors, axis=0)
    return "".join(lines) + f"\nMedian error {now:.1%}; with everything taken to be full {before:.0%}.\n\n"


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
    for pattern, exponent, measured in _table("skew.csv"):
        load = _writes(1.0, 512)
        if pattern == "zones":
            load = {"streams": [{"name": "hot", **hot}, {"name": "cold", **cold}]}
        elif pattern == "zipf":
            load = _writes(1.0, 512) | {"addresses": {"pattern": "zipf", "theta": float(exponent)}}
        yield Skewed(pattern, _number(exponent), run(drive, load).iops, float(measured))


def _skewed() -> str:
    words = {"uniform": "all blocks alike", "zones": "95 % of the writes to 5 % of the blocks", "zipf": "Zipf's law"}
    lines = [
        "## Skewed writes\n\nMicron 7450 PRO 960 GB, full, 512 writes outstanding; `greedy` cleaning "
        "(rule\n[F14](../../reference/semantics-flash.md)), as everywhere here, and `cost-benefit`.\n\n"
        "| writes | greedy | cost-benefit | measured | error of greedy |\n|---|--:|--:|--:|--:|\n"
    ]
    for one, other in zip(skewed(), skewed(gc_policy="cost-benefit"), strict=True):
        name = words[one.pattern] + (f", exponent {one.exponent:g}" if one.exponent else "")
        figures = f"{one.here:,.0f} | {other.here:,.0f} | {one.measured:,.0f} | {one.error:+.0%}"
        lines.append(f"| {name} | {figures} |\n")
    return (
        "".join(lines)
        + """
Skew makes this drive slower, as greedy cleaning does, which never moves cold blocks away from hot ones. It does not
keep the two apart: with `cost-benefit` it would write twice as fast to 5 % of its blocks. At an exponent of 1 the drive
is faster than simulated: it writes the hottest blocks over in its buffer (p50 1.3 ms, p99 20 ms).

"""
    )


def _from_fresh() -> str:
    lines = [
        "## From fresh to steady\n\nDrives that were sanitized and filled once, and then written at random, 512 "
        "outstanding: rates a second, how long the\ndrive stays fast, and what its own log says it programmed for each "
        "write (write amplification, rule\n[F22](../../reference/semantics-flash.md)). Simulated / measured.\n\n"
        "| unit | used | fresh | fast for | steady | amplification | error of time, amplification |\n"
        "|---|--:|--:|--:|--:|--:|---|\n"
    ]
    errors: list[tuple[float, float]] = []
    for row in fresh_rows():
        result, found = from_fresh(row)
        first, amplification = found.phases[0], result.write_amplification_ratio
        both = first.seconds / row.fast_s - 1, amplification / row.amplification - 1
        errors.append((abs(both[0]), abs(both[1])))
        figures = (
            f"{first.iops:,.0f} / {row.fresh_per_s:,.0f} | {first.seconds:.0f} / {row.fast_s:.0f} s | "
            f"{found.steady_iops:,.0f} / {row.steady_per_s:,.0f} | {amplification:.2f} / {row.amplification:.2f}"
        )
        off = f"{both[0]:+.0%}, {both[1]:+.0%}"
        lines.append(f"| {row.unit}, filled {row.filled} | {row.used_ratio:.0%} | {figures} | {off} |\n")
    time, amplified = np.median(errors, axis=0)
    most = np.max(errors, axis=0)
    return (
        "".join(lines)
        + f"""
Median errors: time {time:.0%}, amplification {amplified:.0%}; largest {most[0]:.0%} and {most[1]:.0%}. After
the fast time all blocks are almost equally full, and the drives wrote 0.65 to 0.9 of their steady rate before they
settled, after 501 to 1,567 s. That dip is not predicted.

"""
    )


def _reads() -> str:
    lines = [
        "## Reads beside writes\n\nLoad is the rate of writes as a share of the largest one that the unit reached.\n\n",
        "| unit | load | p50 µs | p95 µs | p99 µs | error of p50, p95, p99 |\n|---|--:|--:|--:|--:|---|\n",
    ]
    errors: dict[str, list[float]] = {"p50_us": [], "p95_us": [], "p99_us": []}
    for unit in units():
        for found in reads_beside_writes(unit):
            pairs = (found.p50_us, found.p95_us, found.p99_us)
            shown = " | ".join(f"{here:.0f} / {measured:.0f}" for here, measured in pairs)
            each = ", ".join(f"{found.error(name):+.0%}" for name in errors)
            lines.append(f"| {unit} | {found.load:.0%} | {shown} | {each}{' ¹' if found.is_delayed else ''} |\n")
            if not found.is_delayed:
                for name, values in errors.items():
                    values.append(abs(found.error(name)))
    waiting = [
        abs(found.error("p99_us"))
        for unit in units()
        for found in reads_beside_writes(unit, suspend_ns=0)
        if not found.is_delayed
    ]
    at_once = [
        abs(found.error("p50_us"))
        for unit in units()
        if "P5520" in unit
        for found in reads_beside_writes(unit, read_beside_writes_ns=0)
    ]
    medians = ", ".join(f"{name[:-3]} {np.median(values):.0%}" for name, values in errors.items())
    far = {name: sum(value > limit for value in errors[name]) for name, limit in (("p50_us", 0.2), ("p99_us", 0.35))}
    largest = ", ".join(f"{name[:-3]} {np.max(values):.0%}" for name, values in errors.items())
    return (
        "".join(lines)
        + f"""
Simulated / measured. Median errors: {medians}; largest: {largest}. Of {len(errors["p50_us"])} loads the p50 of
{far["p50_us"]} is off by more than 20 %, the p99 of {far["p99_us"]} by more than 35 %.
Reads of the D7-P5520 take 40 µs longer while it is written (rule [F26](../../reference/semantics-flash.md)), a figure
of these rows: beside 10,000 writes a second most of them take 46 or 70 µs, beside 20,000 and more 78 or 116, in both
units and at every instant. Without that the median error of its p50 would be {np.median(at_once):.0%}.
If reads waited for the end of programs and erases, the median error of p99 would be {np.median(waiting):.0%}.

¹ At about half of their saturation reads of the 7450s take 1.5 to 5 ms, and no longer do so when they are saturated. By
then their batches of copies (below) hold as many writes as the load program lets be outstanding, which may delay reads
in the program itself. This is not modeled.
"""
    )


def _writes_below() -> str:
    lines = [
        "\n## Writes below saturation\n\nBeside the reads above. A write is done when it is in the buffer, if that has "
        "room.\n\n| unit | load | p50 µs | p99 µs | p99, eight of ten, firmware unknown |\n|---|--:|--:|--:|--:|\n"
    ]
    for found in writes_below():
        low, high = found.unknown_us
        pairs = f"{found.p50_us[0]:.0f} / {found.p50_us[1]:.0f} | {found.p99_us[0]:,.0f} / {found.p99_us[1]:,.0f}"
        upper = f"{high:,.0f}" if np.isfinite(high) else "an overload"
        lines.append(f"| {found.unit} | {found.load:.0%} | {pairs} | {low:,.0f} to {upper} |\n")
    return (
        "".join(lines)
        + """
Simulated / measured. The median is that of the sheet, 2 to 7 µs above what the drives do. The 7450s copy in
batches of 13 ms, and take 440 KiB of writes in each (rule [F24](../../reference/semantics-flash.md)): two figures,
set for the loads of the PRO; how many copies are a batch follows from their dies. At the lowest load slightly more than
1 % of its writes wait, so that p99 depends on how many do. So does the CM7-R, in batches of 11 ms with 3.4 MiB: from
0.28 of its saturation on, p99 of its writes is 1 to 6 ms.

The PM9A3 and the D7-P5520 let writes in at the pace of their cleaning (rule
[F25](../../reference/semantics-flash.md)): their writes wait as for one server, from a third to a half of saturation
on. The room of two writes is one figure for both. Loads are the measured ones; the drives reach 4 to 8 % less here than
was measured, so that the same load is more of their saturation: at the same share p99 at 0.78 of the PM9A3's is 128 µs
instead of 217, at 0.75 of a D7-P5520's 76 instead of 92. What holds writes of the D7-P5520 up for 20 to 70 µs below a
half is not known. The WD and the PE8110 do neither.

No sheet shows what a drive does. Two of six models have batches: so have 36 of 100 draws of a drive whose firmware is
not known. Two of the other four have this pace: so have 32 of 100. The last column is of the same drives as if nobody
had measured them.
"""
    )


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


def _consumer() -> str:
    lines = [
        "\n## Consumer drives\n\nTheir sheets print the writes of a cache of one bit a cell (rule "
        "[F23](../../reference/semantics-flash.md)). Behind it they write\ntheir flash in order at the rate that "
        "`sheet.sustained_write` gives, and in the steady state at random what garbage collection with a\nspare of 7 % "
        "leaves.\n\n"
        "| drive | reads | writes of the sheet | steady, all of it used | half used |\n|---|--:|--:|--:|--:|\n"
    ]
    for name in CACHED:
        sheet = FLASH[name].sheet
        assert sheet is not None
        steady, half = writes_per_s(name, depth=256), writes_per_s(name, 0.5, depth=256)
        printed = f"{sheet.random_reads_per_s:,.0f} | {sheet.random_writes_per_s:,.0f}"
        lines.append(f"| {FLASH[name].name} | {printed} | {steady:,.0f} | {half:,.0f} |\n")
    lines.append("\n| drive, filled in order when empty | simulated | measured | error |\n|---|--:|--:|--:|\n")
    for name, (measured, source) in FILLED_MB.items():
        here = filled_mb(name)
        rates = f"{here:,.0f} MB/s | {measured:,} MB/s"
        lines.append(f"| {FLASH[name].name} ({source}) | {rates} | {here / measured - 1:+.0%} |\n")
    return (
        "".join(lines)
        + """
Rates a second of 4 KiB, 256 outstanding. Steady random writes of such drives were published only where nobody knows how
full they were: 27 boot and consumer drives made 5,246 to 505,898/s, the middle one 17,000 and 0.13 of its own random
reads (iocost-benchmarks @b2fc8dd, 2025, sustained over minutes in a file of 16 GB), and two drives of 2 TB about 10,000
after long preconditioning (Tom's Hardware, Samsung 850 EVO and PRO, 2015). Drives with a cache write 0.033 to 0.06 of
their random reads in the table above when full, and 0.2 to 0.35 when half used. Of the 27, 22 lie between 0.033 and
0.35, and five above: a factor of ten. Used space decides, and an answer about a consumer drive that does not say it is
one about a full drive.
"""
    )


class Commits(NamedTuple):
    """Durable writes a second, one at a time, of a drive that is protected."""

    drive: str
    profile: str
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
    for drive, profile, _, measured, _ in _table("commits.csv"):
        result = simulate(Array(profile, "jbod", 1), load, n_requests=300)
        middle = result.middle_of("iops")
        assert middle is not None
        yield Commits(drive, profile, float(measured), result.iops.mean, middle, result.interval_of("iops"))


def _commits() -> str:
    lines = [
        "\n## Commits of protected drives\n\nDurable writes of 4 KiB a second, one at a time "
        "(`tests/data/flash/commits.csv`): a write, and on\nSATA a flush behind it, each a command.\n\n"
        "| drive | described by | simulated | eight of ten | 95 % | measured |\n|---|---|--:|--:|--:|--:|\n"
    ]
    found = list(commits())
    for one in found:
        ends = " | ".join(f"{ends.low:,.0f} to {ends.high:,.0f}" for ends in (one.middle, one.whole))
        lines.append(f"| {one.drive} | `{one.profile}` | {one.here:,.0f} | {ends} | {one.measured:,.0f} |\n")
    inside = sum(one.is_inside for one in found)
    ratios = [one.middle.high / one.middle.low for one in found]
    within = f"{min(ratios):.1f} to {max(ratios):.1f}"
    return (
        "".join(lines)
        + f"""
{inside} of {len(found)} are inside the 95 % interval. Eight of ten systems lie within a factor of {within}: how long
a drive takes for a write. That of SATA drives comes from the three in this table, that of NVMe drives from the loads
above. Linux sends no flush to a drive that reports no volatile cache, which a drive on NVMe with capacitors is taken to
do (rule [Y2](../../reference/semantics-durable.md)): without that the PM9A3 and the 7450 PRO
would be half as fast here.
"""
    )


def main() -> None:
    """Write the page."""
    PAGE.write_text(
        INTRODUCTION
        + _sheets()
        + _used()
        + _skewed()
        + _from_fresh()
        + _reads()
        + _writes_below()
        + _consumer()
        + _commits(),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()

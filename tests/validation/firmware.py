"""Drives that were measured over queue depths, against how their firmware may order; run as a script, writes the page.

Of each drive only the seek times are scaled, to the mean response at depth 1. The parameters of `rpo` are the best of a
grid: for the drive itself, and for all others together, which predicts the drive without any of its deeper queues.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import Hdd, load_drive
from diskmodel.drive.assumed_order import ASSUMED_ORDERS, BEHIND_P420I, NEARLINE, SAMSUNG_F1, WD_RAPTOR, Order
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.records import Requests
from diskmodel.workload import Workload
from tests.validation.fits import cached_writes, nearline_sas
from tests.validation.published import SINGLE
from tests.validation.published_arrays import rows

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "validation-firmware.md"

#: Drives of the table with reads at several depths, and the name of each on the page.
DRIVES = {
    "lw-samsung-f1-1tb": "Samsung F1",
    "lw-wd740gd-raptor": "WD Raptor",
    "lw-hgst-hts72101-p420i": "2.5-inch disk behind a P420i",
}
#: Schedulers that `rpo` is compared with.
OTHERS = ("sptf", "sptf-aged", "sstf", "look", "c-look", "f-scan")

#: The grid: margins in ns, age weights, committed commands.
MARGINS_NS = (0, 500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000)
AGE_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)
COMMITTED = range(7)

#: Requests of a run: rates have a standard error below 1 %, p99 of some 3 %.
N_REQUESTS = 8_000
#: Part of a run that is left out of its figures, while the queue fills.
WARM_UP_RATIO = 0.15

#: Random 4 KiB reads a second of twelve SAS drives of 15,000 rpm in RAID 0 with up to 256 outstanding, the best of all
#: depths (HP, Smart Array controllers and basic RAID performance factors, 2012: P421, which orders nothing itself).
SAS_DRIVES, SAS_DEPTH, SAS_READS_PER_S = 12, 256, 4_850
#: Margins that are compared with that rate, ns.
SAS_MARGINS_NS = (0, 250_000, 500_000, 1_000_000, 2_000_000)

#: Margin in ns, age weight, committed commands.
Parameters: TypeAlias = tuple[int, float, int]


@dataclass(frozen=True)
class Point:
    """Rate and p99 that were measured at a depth."""

    depth: int
    iops: float
    p99_ms: float | None


@dataclass(frozen=True)
class Sweep:
    """A drive with its seeks scaled, and what was measured at depths above 1."""

    name: str
    drive: Hdd
    points: tuple[Point, ...]

    def errors(self, queue: dict[str, Any]) -> list[tuple[float, float | None]]:
        """Return predicted over measured, less 1, of rate and p99 at each depth."""
        found, drive = [], with_queue(self.drive, queue)
        for point in self.points:
            iops, p99_ms = run(drive, point.depth)[::2]
            p99_error = None if point.p99_ms is None else p99_ms / point.p99_ms - 1
            found.append((iops / point.iops - 1, p99_error))
        return found

    def misfit(self, queue: dict[str, Any]) -> float:
        """Return the root mean square of the logarithms of predicted over measured."""
        return rms(error for pair in self.errors(queue) for error in pair if error is not None)


def rms(errors: Iterable[float]) -> float:
    """Return the root mean square of ln(1 + error)."""
    return float(np.sqrt(np.mean(np.log1p(np.array(list(errors))) ** 2)))


def with_queue(drive: Hdd, queue: dict[str, Any]) -> Hdd:
    """Return the drive with another command queue."""
    return drive.model_copy(update={"queue": {"depth": drive.queue.depth} | queue})


@cache
def _reads(capacity_bytes: int, depth: int) -> Requests:
    workload = Workload.parse({"size": "4 KiB", "clients": depth})
    return workload.requests(capacity_bytes=capacity_bytes, n=N_REQUESTS, seed=1)


def run(drive: Hdd, depth: int) -> tuple[float, float, float]:
    """Return rate in 1/s, mean and p99 of the response in ms, of random 4 KiB reads of the whole drive."""
    # more than the drive's queue takes waits in Linux
    queue = {"queue": {"scheduler": "mq-deadline"}} if depth > drive.queue.depth else {}
    array = Array.parse({"drive": drive, "layout": SINGLE} | queue)
    completions = native.run(resolve(array, 1), _reads(array.usable_bytes, depth)).completions
    order = np.argsort(completions.done_ns, kind="stable")[int(WARM_UP_RATIO * N_REQUESTS) :]
    done_ns = completions.done_ns[order]
    response_ms = (done_ns - completions.issue_ns[order]) / 1e6
    iops = (len(done_ns) - 1) / (done_ns[-1] - done_ns[0]) * 1e9
    return float(iops), float(response_ms.mean()), float(np.percentile(response_ms, 99))


def scaled(drive: Hdd, mean_ms: float) -> Hdd:
    """Return the drive with its seek times scaled so that its mean response at depth 1 is the measured one."""
    times = {key: value for key, value in drive.seek.to_dict().items() if key.endswith("_ns") and value is not None}

    def of(factor: float) -> Hdd:
        seek = drive.seek.to_dict() | {key: round(value * factor) for key, value in times.items()}
        return drive.model_copy(update={"seek": seek})

    low, high = 0.5, 2.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if run(of(middle), 1)[1] < mean_ms else (low, middle)
    return of((low + high) / 2)


@cache
def sweeps() -> tuple[Sweep, ...]:
    """Return the drives of the page."""
    found = []
    for row in rows():
        if row["id"] not in DRIVES:
            continue
        reads = {point["depth"]: point for point in row["points"] if point["reads"] == 1}
        drive = load_drive(row["drive"])
        assert isinstance(drive, Hdd)
        points = [Point(d, point["iops"], point.get("p99_ms")) for d, point in sorted(reads.items()) if d > 1]
        found.append(Sweep(DRIVES[row["id"]], scaled(drive, reads[1]["mean_ms"]), tuple(points)))
    return tuple(found)


def sas_reads_per_s(queue: dict[str, Any]) -> float:
    """Return the rate of the array of SAS drives, each of the generic class."""
    drive = load_drive("generic-15k")
    assert isinstance(drive, Hdd)
    layout = {"level": "raid0", "disks": SAS_DRIVES, "strip": "256 KiB"}
    array = Array.parse({"drive": with_queue(drive, queue).to_dict(), "layout": layout})
    workload = Workload.parse({"size": "4 KiB", "clients": SAS_DEPTH})
    n = SAS_DRIVES * N_REQUESTS // 4
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=1)
    done_ns = np.sort(native.run(resolve(array, 1), requests).completions.done_ns)[int(WARM_UP_RATIO * n) :]
    return float((len(done_ns) - 1) / (done_ns[-1] - done_ns[0]) * 1e9)


def rpo(parameters: Parameters) -> dict[str, Any]:
    """Return the queue with these parameters."""
    margin_ns, age_weight, committed = parameters
    return {"scheduler": "rpo", "miss_margin_ns": margin_ns, "age_weight": age_weight, "committed": committed}


def grid(sweep: Sweep) -> dict[Parameters, float]:
    """Return the misfit of every point of the grid."""
    return {p: sweep.misfit(rpo(p)) for p in itertools.product(MARGINS_NS, AGE_WEIGHTS, COMMITTED)}


def best(grids: list[dict[Parameters, float]]) -> Parameters:
    """Return the parameters that fit all drives of `grids` best."""
    return min(grids[0], key=lambda p: sum(misfits[p] ** 2 for misfits in grids))


INTRODUCTION = """# How firmware orders queued commands

`sptf` chooses the command that the head reaches soonest, which is the best that a drive can do at each choice. Two
nearline SAS drives gain as much; no SATA drive that was measured at several depths does. `rpo` (rule Q12 of [the exact
semantics](../reference/semantics.md)) has three parameters, each for something that firmware does:

- `miss_margin`: firmware estimates when a seek ends, and skips a sector that it might miss by so little;
- `age_weight`: a command that has waited is preferred, so that none starves;
- `committed`: the next commands are planned, and a new one cannot overtake them. Up to so many waiting commands the
  drive serves them in order of arrival.

This page shows how far they explain three drives whose queue depths were varied: random 4 KiB reads of the whole drive.
Only the seek times of the profile are scaled, to the mean response at depth 1. *Fitted* are the parameters that fit the
drive itself best; *predicted* those that fit the other two best, so nothing of the drive's deeper queues was used.
`make firmware` writes this page.

![Misfit of each order for each drive; the nearer to zero, the better](validation-firmware.svg)

| drive | how | margin, weight, committed | misfit | {depths} |
|---|---|---|--:|---|
"""

CONCLUSION = """
Each figure is the error of the rate and of p99 at a depth. Misfit is the root mean square of the logarithm of predicted
over measured. Depths above the drive's queue wait in Linux, simulated as mq-deadline.

The three drives agree in margin and age weight; they differ in how many commands are committed. That number depends on
the controller, too: the disk behind the P420i is ordered by the controller, and the other two were in one server whose
controller may keep commands back.

## SAS drives

No SAS drive of 10,000 or 15,000 rpm was found whose queue depths were varied, but an array was: twelve drives of
15,000 rpm in RAID 0, 4 KiB reads, give {sas_measured:,} a second at the best of all depths up to 256 (HP, *Smart Array
controllers and basic RAID performance factors*, 2012). That is {sas_each:.0f} a drive with 21 commands in each. The
drives and their seek times are not stated; `generic-15k` in their place gives:

| how | reads a second | |
|---|--:|--:|
{sas_rows}

So these drives have hardly any margin: the 2 ms of the SATA drives are half of their revolution. A rate in a deep queue
does not determine age weight and committed commands: there, ideal order is within a few percent, too. These two are
taken from the SATA drives, which makes small depths slower: at depth 4 a drive with two committed commands serves
first come, first served, where ideal order would gain a third.

Drives of 10,000 rpm are assumed to order like those of 15,000: a second-hand figure (more than twice the rate in a deep
queue for a Savvio) excludes a margin of 2 ms for them, too. The Raptor, which has it, is a SATA drive.

{nearline_sas}## What the profiles use

| `assumed_from` | drives | margin, weight, committed | intervals also include |
|---|---|---|---|
{kinds}

A drive that was not measured gets the order of its kind, the slower where the evidence leaves a choice:

- The generic SATA classes stand for any drive of their speed, of which the older are slower.
- `recent-sata`: a margin that is a part of the seek (`miss_ratio`). A quarter of an average seek of 8 to 9 ms is the
  margin of the older drives; over a small part of the disk it is half a millisecond. There two desktop drives and a
  server's disk gain much more from a queue than the older order explains ([short spans](validation/disks.md)). No such
  drive was measured over the whole disk at several depths.
- `desktop-sata`: `look` among eight commands, published of two drives. Of seven desktop drives at depth 32 and more
  over 1 GiB four do what it does, one orders as the older ones, two as the recent ones.
- A SATA drive from between the two groups (Archive) counts as older.
- SCSI drives of the 1990s count as SAS drives, of which nothing is known either.

Two measurements to which nothing here was fitted: four disks of 7,200 rpm under half reads at depth 32 do
[what the generic class does](validation-arrays.md), within a tenth; the disks of [an article](validation-field.md),
with five commands in each, are faster than it, as nearline drives are.

The order stays an assumption, and results say so. `diskmodel simulate` therefore simulates what the measured drives do,
too (*intervals also include*), and its intervals contain the spread; `diskmodel plan` tries its answer with each.

Data sheets of nearline drives print 168 to 170 random reads a second at depth 16. `sptf` with seeks of their class
gives 168, so there is no room for a margin. How late their commands may come is known of one drive (Western Digital,
128 KiB reads at depth 24, a tenth of them with priority, 2022): p99 is 4.2 times the mean. Its commands with priority
take 24.6 ms, 3.7 times the 6.6 ms of an access at 152 reads a second. If nothing were planned ahead, they would wait
for half an access and take one, 10 ms; so some commands are committed. Other recent nearline drives are said to have
shorter tails at the same rate. An age weight of 0.1 would suit the first, one of 0.5 the others.

The margin makes writes from the cache slower, too, and 32 candidates no longer give the rates of the two drives whose
writes were measured. 128 give 147 a second for the 148 to 152 of the Samsung F1, 512 give 202 for the Raptor's 228
(`weighed_writes`, fitted to these figures).

A single drive may differ: with an age weight of 0.1 instead of 0.3, p99 is a quarter higher at depth 32; with no
command committed instead of one, the rate is 10 % higher at depth 4. `diskmodel simulate` names the assumption as soon
as more than two commands wait in a disk. `scheduler = "sptf"` in the drive's `[queue]` is the best that any firmware
could do at each choice.
"""


def page() -> str:
    """Return the page as Markdown."""
    drives = sweeps()
    grids = [grid(sweep) for sweep in drives]
    lines = []
    for i, sweep in enumerate(drives):
        others = [misfits for j, misfits in enumerate(grids) if j != i]
        for name in OTHERS:
            lines.append(_line(sweep, f"`{name}`", "", {"scheduler": name}))
        for how, parameters in (("fitted", best([grids[i]])), ("predicted", best(others))):
            lines.append(_line(sweep, f"`rpo`, {how}", _short(parameters), rpo(parameters)))
    common = best(grids)
    lines.append(f"| all | `rpo`, the best for all | {_short(common)} | | |")
    conclusion = CONCLUSION.format(
        sas_measured=SAS_READS_PER_S,
        sas_each=SAS_READS_PER_S / SAS_DRIVES,
        sas_rows="\n".join(_sas_lines()),
        nearline_sas=nearline_sas.section(),
        kinds="\n".join(_kind_lines()),
    )
    return (
        INTRODUCTION.format(depths="depth: rate, p99") + "\n".join(lines) + "\n" + conclusion + cached_writes.section()
    )


def _sas_lines() -> list[str]:
    sas = ASSUMED_ORDERS["sas"].order
    queues = {"`sptf`": {"scheduler": "sptf"}}
    for margin_ns in SAS_MARGINS_NS:
        queues[f"`rpo`, {_short((margin_ns, *sas[1:3]))}"] = rpo((margin_ns, *sas[1:3]))
    rates = {how: sas_reads_per_s(queue) for how, queue in queues.items()}
    return [f"| {how} | {rate:,.0f} | {rate / SAS_READS_PER_S - 1:+.0%} |" for how, rate in rates.items()]


#: Which drives each kind stands for, and the names of orders in its last column.
KINDS = {
    "older-sata": "SATA drives of up to 2015, unless nearline",
    "any-sata": "the generic SATA classes",
    "desktop-sata": "the generic desktop class, and a drive that orders by seeks alone",
    "recent-sata": "other SATA drives since 2015, and their generic class",
    "nearline": "nearline drives from 2016 on",
    "nearline-sas": "SAS drives of 7,200 rpm",
    "sas": "other SAS and SCSI drives, and their generic classes",
}
NAMED = {SAMSUNG_F1: "Samsung F1", BEHIND_P420I: "behind a P420i", WD_RAPTOR: "WD Raptor", NEARLINE: "nearline"}


def _kind_lines() -> list[str]:
    return [
        f"| `{name}` | {KINDS[name]} | {_of(kind.order)} | {'; '.join(_counted(kind.drawn))} |"
        for name, kind in ASSUMED_ORDERS.items()
    ]


def _counted(drawn: tuple[Order, ...]) -> list[str]:
    """Return each order once, and how often it is there."""
    times = {order: drawn.count(order) for order in drawn}
    return [_named(order) + (f", {n} times" if n > 1 else "") for order, n in times.items()]


def _named(order: Order) -> str:
    name = NAMED.get(order)
    return f"{name} ({_of(order)})" if name else _of(order)


def _of(order: Order) -> str:
    if order.scheduler != "rpo":
        return f"`{order.scheduler}` of {order.weighed}"
    share = f" + {order.miss_ratio:.0%} of the seek" if order.miss_ratio else ""
    return _short(order[:3]).replace(" ms", f" ms{share}", 1)


def _line(sweep: Sweep, how: str, parameters: str, queue: dict[str, Any]) -> str:
    cells = []
    for point, (rate, p99) in zip(sweep.points, sweep.errors(queue), strict=True):
        cells.append(f"{point.depth}: {rate:+.0%}" + ("" if p99 is None else f", {p99:+.0%}"))
    return f"| {sweep.name} | {how} | {parameters} | {sweep.misfit(queue):.3f} | {' · '.join(cells)} |"


def _short(parameters: Parameters) -> str:
    margin_ns, age_weight, committed = parameters
    return f"{margin_ns / 1e6:g} ms, {age_weight:g}, {committed}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""Disks fitted through an array, and what the rest of the evidence says of them; run as a script it writes the page.

The results of fio are those of github.com/louwrentius/fio-plot, history of benchmark_data: SERVER/HIGHPOINT/RAID5 and
RAID5_RW (commit c2932bc1c) in examples/measured/raid5-reads.json and raid5-writes.json, and
HPDL380G8/RAID/P420i_HGST_HTS72101_100GB7k in tests/data/hgst-behind-p420i.fio.json. They are single jobs, and two jobs
of 32 requests each at depth 64.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from calibrate.calibration import Calibration
from calibrate.hdd.from_fio.calibrate import calibrate_hdd_from_fio
from calibrate.hdd.from_fio.conditions import Condition, conditions_of
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from calibrate.hdd.from_fio.residuals import residual
from diskmodel.array import Array
from diskmodel.drive import Hdd, load_drive
from diskmodel.formats import read_fio
from tests.validation.md import md_raid

ROOT = Path(__file__).parents[2]
EIGHT_DISKS = tuple(ROOT / "examples" / "measured" / name for name in ("raid5-reads.json", "raid5-writes.json"))
ONE_DISK = (ROOT / "tests" / "data" / "hgst-behind-p420i.fio.json",)
PAGE = ROOT / "docs" / "explanation" / "validation-through-array.md"
#: Seeds of the fit and of the predictions.
FIT_SEED, SEED = 0, 1

INTRODUCTION = """# Disks fitted through an array

`diskmodel calibrate --array` fits the disk inside an array. Here it sees a part of what was measured, and predicts the
rest: other depths, writes, mixes, other levels. `make arrays` writes this page. Nothing is adjusted to the predicted
rows.
"""

EIGHT = """Linux's RAID 5 of eight disks of 2 TB, random 4 KiB in a file of 50 GB. The drive, its speed, the strip and
the file system are not stated; a strip of 512 KiB and a bitmap are mdadm's defaults, and the drives' caches are on. The
array's file names `generic-7k2`. The fit finds that 5,400 rpm explains reads one at a time and 7,200 rpm does not: a
disk of 7,200 rpm would need more than 4 ms for seeks within 0.4 % of its capacity.

Reads at depths 16, 32 and 64 are within 10 % of the rate and 20 % of p99; so are writes at depths 2 to 64, but for the
rate at depth 8 (12 %). The mix at depth 64 is within 15 % of the rate, but p99 of its reads is too long. The others are
not:

- **Single writes and the mix at depth 1** are about 70 % too fast, **the mix at depth 8** 30 %. In both recordings they
  ran within six minutes of the first write, and in these minutes the disks were slow at every depth. Eight jobs of one
  request each made 120 writes/s, and one job of depth 8 made 265 a quarter of an hour later, with as many reads and
  writes to the disks; for each write a second the disks were busy 0.40 % of the time, and 0.25 % later. What they did
  in these minutes is not known, and no run of single writes is outside of them.
- The bitmap does not explain it. At the rate of the single writes the model writes 2.76 times to the disks for each,
  as Linux did (2.83, with the journal of the file system). Linux flushes the disks' caches before such a write and
  passes them by (`md_super_write`), which the model has only as `bitmap.flush`; in a trial with both, single writes
  were 2 % slower.
- **The mix at depth 32** contains a stall of 35 s.

Another seed of the fit moves the predictions of deep reads by 5 %, at worst by 15 %: reads up to depth 8 leave open how
firmware orders longer queues. Evidence of deeper reads determines that."""

BEHIND = """One 2.5-inch disk of 7,200 rpm, as an array of one behind a Smart Array P420i. Its writes go to a
controller's cache of unknown size and are left out."""

EQUATIONS = """Linux's own RAID drivers over disks that are equations ([Linux md RAID](validation-md-raid.md)): their
mechanics are known. The disk is fitted to reads and writes of the array named first, started from `generic-10k`, and
predicts the others: what if these disks were in another level? RAID 0 was measured on all of each disk and on its first
16 GiB, the other levels on 16 GiB.

Everything is predicted within 10 % of the rate and 20 % of p99. Both fits find that the disks serve in the order of
arrival, although a few other settings fit as well. The known write settle is 0.35 ms, the known overhead 0.12 ms."""


@dataclass(frozen=True)
class Group:
    """Conditions that are predicted together."""

    name: str
    array: Array
    conditions: Sequence[Condition]


@dataclass(frozen=True)
class Case:
    """A fit, and what it predicts."""

    title: str
    text: str
    source: str
    calibration: Calibration
    groups: Sequence[Group]

    @property
    def drive(self) -> Hdd:
        """Return the fitted drive."""
        drive = self.calibration.drive
        assert isinstance(drive, Hdd)
        return drive


@dataclass(frozen=True)
class Error:
    """A predicted condition."""

    group: str
    condition: Condition
    iops_ratio: float
    p99_ratio: float | None


def _fitted(conditions: Sequence[Condition], array: Array) -> Calibration:
    """Return the calibration to these conditions alone."""
    settings = {"name": "fitted", "provenance": {}, "warnings": [], "seed": FIT_SEED}
    return calibrate_hdd_from_fio(conditions, start=None, array=array, capacity_bytes=None, **settings)


def _of_fio(title: str, text: str, source: str, files: Sequence[Path], array: Array) -> Case:
    conditions = conditions_of(job for file in files for job in read_fio(file))
    fitted = [c for c in conditions if _is_shallow_read(c)]
    groups = [
        Group("fitted", array, fitted),
        Group("predicted", array, [c for c in conditions if c not in fitted]),
    ]
    return Case(title, text, source, _fitted(fitted, array), groups)


def _typical(name: str, capacity_bytes: int) -> Hdd:
    drive = load_drive(name).model_copy(update={"capacity_bytes": capacity_bytes})
    assert isinstance(drive, Hdd)
    return drive


def _is_shallow_read(condition: Condition) -> bool:
    return condition.op == "read" and not condition.is_mixed and condition.depth <= 8


@cache
def eight() -> Case:
    """Return the RAID 5 of eight disks, fitted to its reads at depths 1 to 8."""
    layout = {"level": "raid5", "disks": 8, "strip": "512 KiB", "bitmap": {}}
    drive = _typical("generic-7k2", 2 * 10**12)
    fields = {"drive": drive, "drive_write_cache": True, "layout": layout, "queue": {"write_throttle": "linux"}}
    source = "fio-plot's history (github.com/louwrentius/fio-plot), 2019-11-11 and 2019-11-16"
    title = "RAID 5 of eight disks, fitted to reads at depths 1 to 8"
    return _of_fio(title, EIGHT, source, EIGHT_DISKS, Array.parse(fields))


@cache
def behind_controller() -> Case:
    """Return the single disk behind a controller, fitted to its reads at depths 1 to 8."""
    array = Array.parse({"drive": _typical("generic-7k2", 10**11), "layout": {"level": "jbod", "disks": 1}})
    source = "fio-plot's history (github.com/louwrentius/fio-plot), 2019-08-08"
    title = "A disk behind a controller, fitted to reads at depths 1 to 8"
    return _of_fio(title, BEHIND, source, ONE_DISK, array)


def _of_equations(level: str, disks: int) -> Group:
    """Return an array of the table of md RAID measurements with a typical drive in it."""
    array = md_raid.array_of(md_raid.Setup(level, disks, "randread", 1))
    drive = _typical("generic-10k", array.drive.capacity_bytes)
    array = Array.parse({**dict(array), "drive": drive, "drive_write_cache": False})
    conditions = []
    for row in md_raid.rows():
        setup = md_raid.setup_of(row)
        if (setup.level, setup.disks) == (level, disks) and setup.pattern in ("randread", "randwrite", "mix70"):
            percentiles = {50.0: float(row["p50_ms"]) * 1e6, 99.0: float(row["p99_ms"]) * 1e6}
            workload = md_raid.workload_of(setup)
            figures = float(row["iops"]), float(row["mean_ms"]) * 1e6
            conditions.append(Condition(row["dir"], workload, *figures, percentiles))
    return Group(f"{level}, {disks} disks", array, sorted(conditions, key=lambda c: (c.is_mixed, c.op, c.depth)))


#: Arrays of the table of md RAID measurements that have reads, writes and mixes at three depths.
OF_EQUATIONS = (("RAID0 full stroke", 4), ("RAID0", 4), ("RAID10", 4), ("RAID5", 4), ("RAID1", 2))


@cache
def of_equations(first: str) -> Case:
    """Return the arrays of known disks, fitted to the reads and writes of one of them."""
    groups = [_of_equations(*shape) for shape in OF_EQUATIONS]
    own = next(group for group in groups if group.name.startswith(f"{first},"))
    fitted = [c for c in own.conditions if not c.is_mixed]
    mixes = Group(f"{own.name}, mixes", own.array, [c for c in own.conditions if c.is_mixed])
    groups = [Group(f"{own.name}, fitted", own.array, fitted), mixes, *(g for g in groups if g is not own)]
    source = "tests/data/md-raid.csv"
    return Case(
        f"Known disks in {first}, asked about other levels", EQUATIONS, source, _fitted(fitted, own.array), groups
    )


def cases() -> list[Case]:
    """Return all fits."""
    return [eight(), behind_controller(), of_equations("RAID0 full stroke"), of_equations("RAID0")]


def errors(case: Case) -> list[Error]:
    """Return the errors on every condition of a case."""
    drive, found = case.drive, []
    for group in case.groups:
        array = MeasuredArray(group.array)
        for condition in group.conditions:
            row = residual(array, drive, condition, SEED)
            found.append(Error(group.name, condition, row["iops_error_ratio"], row.get("p99_error_ratio")))
    return found


def page() -> str:
    """Return the page as Markdown."""
    text = [INTRODUCTION]
    seen: set[str] = set()
    for case in cases():
        text.append(f"## {case.title}\n")
        if case.text not in seen:
            text += [case.text, ""]
            seen.add(case.text)
        text += [*textwrap.wrap(f"*Source: {case.source}.*", 120), "", *_parameters(case), "", *_errors(case), ""]
    return "\n".join(text)


def _parameters(case: Case) -> list[str]:
    lines = ["| parameter | value | standard error | determined by this evidence |", "|---|--:|--:|---|"]
    for name, parameter in case.calibration.parameters.items():
        error = "" if parameter.stderr is None else f"{parameter.stderr:.2g} {parameter.unit}"
        known = "yes" if parameter.is_identified else "no"
        why = f": {parameter.why}" if parameter.why else ""
        lines.append(f"| `{name}` | {_short(parameter.value)} {parameter.unit} | {error} | {known}{why} |")
    return lines


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _errors(case: Case) -> list[str]:
    found = errors(case)
    depths = sorted({error.condition.depth for error in found})
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for error in found:
        condition = error.condition
        p99 = "" if error.p99_ratio is None else f", {error.p99_ratio:+.0%}"
        what = f"{condition.op}s of a mix" if condition.is_mixed else f"{condition.op}s"
        row = cells.setdefault((error.group, what), {})
        row[condition.depth] = f"{condition.iops:,.4g}/s: {error.iops_ratio:+.0%}{p99}"
    lines = [
        "Measured rate: error of the rate, error of p99.",
        "",
        f"| | | {' | '.join(f'depth {depth}' for depth in depths)} |",
        "|---|---|" + "--:|" * len(depths),
    ]
    for (group, what), row in cells.items():
        lines.append(f"| {group} | {what} | {' | '.join(row.get(depth, '') for depth in depths)} |")
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

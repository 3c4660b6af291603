"""Sound measurements: whether they raise an alarm, and how much slower each would have to be to raise one.

They are published ones of drives and arrays, rows of OpenZFS, and sound arrays of the small simulator. Of a published
one nobody knows whether it was sound: a few certainly were not.
"""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from itertools import chain
from pathlib import Path

from diskmodel.array import Array
from diskmodel.explanation.expected import compare
from diskmodel.explanation.explain import explain
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.read import read_results
from diskmodel.explanation.simulator import Simulator
from diskmodel.explanation.weigh import has_fingerprint
from diskmodel.workload import Workload
from tests.validation.coverage import evidence
from tests.validation.explanation.outside import cases
from tests.validation.explanation.outside.subjects import SUBJECTS
from tests.validation.explanation.outside.table import answer
from tests.validation.zfs import pools

TABLE = Path(__file__).parents[2] / "data" / "explained" / "sound.csv"
#: How many of each kind, 200 in all; published ones of flash, of single disks, and all of arrays of disks.
_FLASH, _DISKS, _POOLS, _SPECIMENS = 40, 40, 45, 1
#: Factors by which a sound measurement is made slower.
FACTORS = (1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0)
#: Requests of a published measurement, which hardly any source says.
_N = 20_000.0


@dataclass(frozen=True)
class Sound:
    """One sound measurement."""

    kind: str
    name: str
    array: Array
    loads: list[Measured]

    @property
    def class_(self) -> str:
        """What it is, for the curve: the medium, one drive or several, and what is asked of it."""
        load = self.loads[0].workload
        medium = "disks" if self.array.drive.has_arms else "flash"
        if len(self.loads) > 1:
            return f"{medium}, several jobs"
        if self.array.layout.kind.is_pool:
            return "pools, reads"
        many = "arrays of " if self.array.layout.disks > 1 else "single " if medium == "disks" else ""
        return f"{many}{medium}, {'writes' if load.has_writes else 'reads'}"


@dataclass(frozen=True)
class Row:
    """What came of one.

    Attributes
    ----------
    kind : "published", "pool" or "simulated"
    class_, name : str
    verdict : str
    named : str
        Where there is something to explain, and nothing is wrong for certain.
    noticed : str
        The smallest of the factors by which it would have to be slower to raise an alarm; "": none of them.
    """

    kind: str
    class_: str
    name: str
    verdict: str
    named: str
    noticed: str

    @property
    def is_alarm(self) -> bool:
        """Whether there was something to explain."""
        return self.verdict != "as expected"

    @property
    def is_surely_wrong(self) -> bool:
        """Whether a cause has more than 60 %."""
        first = self.named.partition(";")[0].rpartition(" ")[2]
        return bool(first) and float(first) > 0.6


def published() -> Iterator[Sound]:
    """Yield published measurements: every so many of drives, and all of arrays of disks."""
    known = [case for case in evidence.cases() if case.seconds is None and "iops" in case.measured]
    disks = [case for case in known if case.array.drive.has_arms]
    arrays = [case for case in disks if case.array.layout.disks > 1]
    single = [case for case in disks if case.array.layout.disks == 1]
    flash = [case for case in known if not case.array.drive.has_arms]
    for case in (*arrays, *_some(single, _DISKS), *_some(flash, _FLASH)):
        yield Sound("published", case.name, case.array, [measured_of(case)])


def _some(known: list[evidence.Case], n: int) -> list[evidence.Case]:
    step = max(len(known) / n, 1.0)
    return [known[int(at * step)] for at in range(min(n, len(known)))]


def measured_of(case: evidence.Case) -> Measured:
    """Return a published load as a measured one."""
    part = "writes" if all(stream.read_ratio == 0 for stream in case.workload.streams) else "reads"
    mixed = any(0 < stream.read_ratio < 1 for stream in case.workload.streams)
    figures = {"iops": case.measured["iops"]}
    if not mixed and "mean" in case.measured:
        names = ("mean", "p99") if "p99" in case.measured else ("mean",)
        figures |= {f"{part}.{name}": case.measured[name] * 1e6 for name in names}
    return Measured(case.name, case.workload, figures, {part: _N})


def of_pools() -> Iterator[Sound]:
    """Yield random reads of OpenZFS, each of a pool that was described as its owner would."""
    for row in pools.rows()[:_POOLS]:
        array = pools.array_of(row["run"])
        name = pools.parts_of(row)
        workload = Workload.parse({"size": f"{name.size} KiB", "clients": name.jobs, "span": f"{name.file} MiB"})
        figures = {"iops": float(row["iops"]), "reads.mean": float(row["lat_mean_ms"]) * 1e6}
        figures |= {f"reads.{level}": float(row[f"{level}_ms"]) * 1e6 for level in ("p50", "p99")}
        said = f"{row['run']} ({row['source']})"
        yield Sound("pool", said, array, [Measured(said, workload, figures, {"reads": float(row["n"])})])


def simulated(folder: Path) -> Iterator[Sound]:
    """Yield sound arrays of the small simulator."""
    for number in range(1, len(SUBJECTS) + 1):
        for case in cases.sound(number, _SPECIMENS):
            path = cases.measure(folder / "measured.json", case, 0.0)
            loads, _ = read_results([path])
            yield Sound("simulated", f"{case.own.words}, {case.seed}", Array.from_words(case.own.words), loads)


def _row(one: Sound) -> Row:
    simulator = Simulator(one.array, one.loads)
    verdict = compare(simulator)
    # of a published alarm nobody knows whether a cause is wrong
    is_asked = not verdict.is_as_expected and one.kind != "published"
    said, named = "as expected" if verdict.is_as_expected else verdict.direction, ""
    if is_asked or (verdict.is_doubtful and has_fingerprint(simulator)):
        said, _, named = answer(explain(one.loads, one.array), ())
    named = "" if one.kind == "published" else named
    return Row(one.kind, one.class_, one.name, said, named, _noticed(simulator) if said == "as expected" else "")


def _noticed(simulator: Simulator) -> str:
    """Return the smallest factor by which all requests would have to take longer to raise an alarm."""
    sound = simulator.target.copy()
    for factor in FACTORS:
        shift = [{"iops": -1.0, "mean": 1.0}.get(one.kind, 0.0) * math.log(factor) for one in simulator.figures]
        simulator.target = sound + shift
        if not compare(simulator).is_as_expected:
            simulator.target = sound
            return f"{factor:g}"
    simulator.target = sound
    return ""


def renew(only: str, say: Callable[[str], None]) -> None:
    """Compare all of them, or those with a word, and keep the table."""
    kept = {(row.kind, row.name): row for row in read()} if only else {}
    with tempfile.TemporaryDirectory() as folder:
        for one in chain(published(), of_pools(), simulated(Path(folder))):
            if only in f"sound {one.kind} {one.class_} {one.name}":
                row = _row(one)
                say(" | ".join(astuple(row)))
                kept[one.kind, one.name] = row
                _write(kept.values())


def _write(rows: Iterable[Row]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Row)])
        writer.writerows(astuple(row) for row in rows)


def read() -> list[Row]:
    """Return the kept table."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def curve(rows: Iterable[Row]) -> dict[str, list[float]]:
    """Return by class the share that would be noticed at each of the factors."""
    found: dict[str, list[float]] = {}
    own = [row for row in rows if not row.is_alarm]
    for name in sorted({row.class_ for row in own}):
        noticed = [float(row.noticed or math.inf) for row in own if row.class_ == name]
        found[name] = [sum(least <= factor for least in noticed) / len(noticed) for factor in FACTORS]
    return found

"""What the explanation makes of planted causes and of healthy arrays, kept in tests/data/explanations.csv."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from diskmodel.explanation import rig
from diskmodel.explanation.expected import compare
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.rig import Rig
from tests.validation.coverage import evidence
from tests.validation.explanation.planted import SUBJECTS, Plant, explanation_of, rank
from tests.validation.explanation.plants import PAIRED, plants

TABLE = Path(__file__).parents[2] / "data" / "explanations.csv"
#: Requests of a simulated run: half of the product's, so that the table takes minutes.
_REQUESTS = 1_500
#: Seeds of each healthy array.
_HEALTHY_SEEDS = 4
#: Published loads: every so many of them, 100 in all.
_PUBLISHED = 100


@dataclass(frozen=True)
class Row:
    """One case.

    Attributes
    ----------
    kind : "planted", "pair", "healthy" or "published"
    subject, causes, strengths : str
    verdict : str
        "as expected", "slower" …; of a planted cause that changes nothing: "no change".
    rank : str
        Place of the planted causes among those named; "": not named.
    named : str
        Causes that were named, with their probabilities.
    unknown : str
    wall_s : str
    """

    kind: str
    subject: str
    causes: str
    strengths: str
    verdict: str
    rank: str
    named: str
    unknown: str
    wall_s: str

    @property
    def key(self) -> tuple[str, ...]:
        """What was asked."""
        return (self.kind, self.subject, self.causes, self.strengths)


def read() -> list[Row]:
    """Return the kept table."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def _write(rows: Iterable[Row]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Row)])
    writer.writerows(astuple(row) for row in rows)
    TABLE.write_text(text.getvalue(), encoding="utf-8")


def renew(only: str, say: Callable[[str], None]) -> None:
    """Simulate all cases, or those with a word, and keep the table."""
    found = {row.key: row for row in read()}
    if not only:
        found = {}
    for row in _cases(only):
        say(" | ".join(astuple(row)))
        found[row.key] = row
        _write(found.values())


def _cases(only: str) -> Iterator[Row]:
    jobs = [*(("planted", one) for one in plants()), *(("pair", one) for one in PAIRED)]
    jobs += [("healthy", Plant(name, (), str(seed))) for name in SUBJECTS for seed in range(_HEALTHY_SEEDS)]
    Rig.memory = {}  # most runs are of the same arrays
    rig.REQUESTS = _REQUESTS
    for seed, (kind, plant) in enumerate(jobs):
        words = f"{kind} {plant.subject} {' '.join(plant.names)}"
        if only not in words:
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield _row(kind, plant, explanation_of(plant, Path(folder), seed=7 * seed + 3))
    if only in "published":
        yield from published()


def _row(kind: str, plant: Plant, found: Explanation | None) -> Row:
    strengths = plant.words or "; ".join(json.dumps(value) for _, value in plant.causes)
    start = (kind, plant.subject, " + ".join(plant.names), strengths)
    if found is None:
        return Row(*start, "no change", "", "", "", "")
    verdict = "as expected" if found.is_as_expected else found.direction
    named = "; ".join(f"{' + '.join(one.names)} {one.probability:.2f}" for one in found.causes)
    place = rank(plant, found) if plant.causes else None
    return Row(*start, verdict, str(place or ""), named, f"{found.unknown:.2f}", f"{found.wall_s:.1f}")


def published() -> Iterator[Row]:
    """Yield published loads of drives and arrays, taken as healthy: whether there is something to explain."""
    cases = [case for case in evidence.cases() if case.seconds is None and "iops" in case.measured]
    step = max(len(cases) // _PUBLISHED, 1)
    for case in cases[::step][:_PUBLISHED]:
        verdict = compare(Rig(case.array, [measured_of(case)]))
        said = "as expected" if verdict.is_as_expected else verdict.direction
        yield Row("published", case.unit, "", case.name, said, "", "", "", "")


def measured_of(case: evidence.Case) -> Measured:
    """Return a published load as a measured one."""
    part = "writes" if all(stream.read_ratio == 0 for stream in case.workload.streams) else "reads"
    mixed = any(0 < stream.read_ratio < 1 for stream in case.workload.streams)
    figures = {"iops": case.measured["iops"]}
    if not mixed and "mean" in case.measured:
        names = ("mean", "p99") if "p99" in case.measured else ("mean",)
        figures |= {f"{part}.{name}": case.measured[name] * 1e6 for name in names}
    return Measured(case.name, case.workload, figures, {part: 20_000.0})


def summary() -> str:
    """Return how often the planted cause was found."""
    rows = read()
    lines = []
    for kind in ("planted", "pair"):
        own = [row for row in rows if row.kind == kind and row.verdict != "no change"]
        seen = [row for row in own if row.verdict != "as expected"]
        first, three = sum(row.rank == "1" for row in seen), sum(bool(row.rank) for row in seen)
        lines.append(
            f"{kind}: {len(own)} cases, {len(seen)} seen outside the intervals; of these first {first} "
            f"({first / max(len(seen), 1):.0%}), among three {three} ({three / max(len(seen), 1):.0%})"
        )
    for kind in ("healthy", "published"):
        own = [row for row in rows if row.kind == kind]
        alarms = sum(row.verdict != "as expected" for row in own)
        lines.append(f"{kind}: {len(own)} cases, {alarms} false alarms")
    return "\n".join(lines)


def write_page() -> None:
    """Write the page."""
    raise NotImplementedError

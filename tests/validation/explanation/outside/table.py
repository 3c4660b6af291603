"""What the explanation makes of faults that are planted outside of the engine: a table, and the page of it."""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from diskmodel.explanation.explain import explain
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.simulator import Simulator
from tests.validation.explanation.outside.cases import Case, faults, measure, measure_before, strength_of
from tests.validation.explanation.outside.faults import FAULTS

TABLE = Path(__file__).parents[3] / "data" / "explained" / "outside.csv"
#: Draws that are kept.
DRAWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
#: Losses from which a fault counts as one of "1.5 times", and as one of "2 times and more". Smaller ones are left out.
LEAST, TWICE = 1.3, 1.8


@dataclass(frozen=True)
class Row:
    """One case.

    Attributes
    ----------
    draw, fault, subject, seed : str
    loss : str
        Factor that the load that suffers most loses.
    before : "yes" or ""
        Whether a sound run of the same jobs was given.
    verdict : str
    place : str
        Of a right cause among those named, from 1; "": not named.
    named : str
    seconds : str
        Processor time.
    """

    draw: str
    fault: str
    subject: str
    seed: str
    loss: str
    before: str
    verdict: str
    place: str
    named: str
    seconds: str

    @property
    def key(self) -> tuple[str, ...]:
        """What was asked."""
        return (self.draw, self.fault, self.subject, self.seed, self.before)

    @property
    def is_seen(self) -> bool:
        """Whether there was something to explain."""
        return self.verdict != "as expected"

    @property
    def first(self) -> tuple[str, float]:
        """The cause that is named first, and its probability; "" and 0 without one."""
        name, _, probability = self.named.partition(";")[0].rpartition(" ")
        return name, float(probability or 0.0)

    @property
    def is_surely_wrong(self) -> bool:
        """Whether a wrong cause has more than 60 %."""
        return self.place != "1" and self.first[1] > 0.6


def read(path: Path = TABLE) -> list[Row]:
    """Return the kept table."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def write(rows: Iterable[Row], path: Path = TABLE) -> None:
    """Keep a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Row)])
        writer.writerows(astuple(one) for one in rows)


def renew(
    only: str, say: Callable[[str], None], draws: Sequence[int] = DRAWS, path: Path = TABLE, befores: str = "both"
) -> None:
    """Measure and explain the cases of some draws, or those with a word, and keep the table."""
    found = {row.key: row for row in read(path) if only or int(row.draw) not in draws}
    Simulator.memory = {}  # most runs are of the same arrays
    for case in (case for draw in draws for case in faults(draw)):
        if only not in f"{case.fault} {case.subject}":
            continue
        strength, loss = strength_of(case)
        if loss < LEAST:
            continue
        for before in {"both": (False, True), "alone": (False,)}[befores]:
            row = explained(case, strength, loss, before)
            say(" | ".join(astuple(row)))
            found[row.key] = row
        write(found.values(), path)


def explained(case: Case, strength: float, loss: float, has_before: bool) -> Row:
    """Return a case with its answer."""
    start = (str(case.number), case.fault, case.subject, str(case.seed), f"{loss:.2f}", "yes" if has_before else "")
    words = case.own.words
    with tempfile.TemporaryDirectory() as folder:
        path = measure(Path(folder) / "measured.json", case, strength)
        before = [measure_before(Path(folder) / "sound.json", case)] if has_before else []
        began = time.process_time()
        found = explain(path, words, before=before)
    return Row(*start, *answer(found, FAULTS[case.fault].right), f"{time.process_time() - began:.1f}")


def answer(found: Explanation, right: Sequence[str]) -> tuple[str, str, str]:
    """Return the verdict, the place of a right cause, and the causes that were named with their probabilities."""
    places = [str(place) for place, one in enumerate(found.causes, 1) if set(right) & set(one.names)]
    named = "; ".join(f"{' + '.join(one.names)} {one.probability:.2f}" for one in found.causes)
    verdict = "as expected" if found.is_as_expected else found.direction
    return verdict, places[0] if places else "", named


def chosen(rows: Iterable[Row], draw: int, before: bool, least: float = TWICE, most: float = 1e9) -> list[Row]:
    """Return the rows of faults of a draw, with or without a sound run, that lose so much."""
    said = "yes" if before else ""
    return [row for row in rows if row.draw == str(draw) and row.before == said and least <= float(row.loss) < most]


def shares(rows: Sequence[Row]) -> dict[str, float]:
    """Return the shares of cases: seen, right cause first, among three, and a wrong one with more than 60 %."""
    n = max(len(rows), 1)
    return {
        "seen": sum(row.is_seen for row in rows) / n,
        "first": sum(row.place == "1" for row in rows) / n,
        "three": sum(bool(row.place) for row in rows) / n,
        "wrong": sum(row.is_surely_wrong for row in rows) / n,
    }

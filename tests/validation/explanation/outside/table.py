"""What the explanation makes of faults that are planted outside of the engine: a table, and the page of it."""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from diskmodel.array import Array
from diskmodel.explanation.expected import compare
from diskmodel.explanation.explain import explain
from diskmodel.explanation.read import read_results
from diskmodel.explanation.rig import Rig
from tests.validation.explanation.outside.plants import FAULTS, SUBJECTS, Planted, measure, planted

TABLE = Path(__file__).parents[3] / "data" / "explanations" / "outside.csv"
PAGE = Path(__file__).parents[4] / "docs" / "explanation" / "validation" / "explain-outside.md"
#: Seeds of sound arrays, and of the sound run beside a fault.
_SOUND_SEEDS, _BEFORE_SEED, _SEED = range(100, 110), 9, 50


@dataclass(frozen=True)
class Row:
    """One case.

    Attributes
    ----------
    fault, subject, factor : str
        "" and "1" of a sound array.
    before : "yes" or ""
        Whether a sound run of the same jobs was given.
    verdict : str
    place : str
        Of a right cause among those named, from 1; "": not named.
    named : str
    seconds : str
        Processor time.
    """

    fault: str
    subject: str
    factor: str
    before: str
    verdict: str
    place: str
    named: str
    seconds: str

    @property
    def key(self) -> tuple[str, ...]:
        """What was asked."""
        return (self.fault, self.subject, self.factor, self.before)

    @property
    def is_seen(self) -> bool:
        """Whether there was something to explain."""
        return self.verdict != "as expected"

    @property
    def is_surely_wrong(self) -> bool:
        """Whether a wrong cause has more than 60 %."""
        first = self.named.partition(";")[0].rpartition(" ")[2]
        return bool(first) and self.place != "1" and float(first) > 0.6


def read() -> list[Row]:
    """Return the kept table."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def renew(only: str, say: Callable[[str], None]) -> None:
    """Measure and explain all cases, or those with a word, and keep the table."""
    known = {row.key for row in _asked()}
    found = {row.key: row for row in read() if row.key in known} if only else {}
    Rig.memory = {}  # most runs are of the same arrays
    for asked in _asked():
        if only not in f"{asked.fault} {asked.subject} {'sound' if not asked.fault else ''}":
            continue
        row = explained(asked)
        say(" | ".join(astuple(row)))
        found[row.key] = row
        TABLE.parent.mkdir(exist_ok=True)
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([field.name for field in fields(Row)])
            writer.writerows(astuple(one) for one in found.values())


def _asked() -> Iterator[Row]:
    for subject in SUBJECTS:
        for seed in _SOUND_SEEDS:
            for before in ("", "yes"):
                yield Row("", subject, str(seed), before, "", "", "", "")
    for one in sorted(planted(), key=lambda own: (len(SUBJECTS[own.subject].box().members), own.subject)):
        for before in ("", "yes"):
            yield Row(one.fault, one.subject, f"{one.factor:g}", before, "", "", "", "")


def explained(asked: Row) -> Row:
    """Return a case with its answer."""
    words = SUBJECTS[asked.subject].words
    with tempfile.TemporaryDirectory() as folder:
        sound = measure(Path(folder) / "sound.json", asked.subject, seed=_BEFORE_SEED)
        before = [sound] if asked.before else []
        began = time.process_time()
        if not asked.fault:
            path = measure(Path(folder) / "measured.json", asked.subject, seed=int(asked.factor))
            loads, _ = read_results([path])
            if before:
                from diskmodel.explanation.before import paired

                loads, _ = paired(loads, read_results(before)[0])
            verdict = compare(Rig(Array.from_words(words), loads))
            said = "as expected" if verdict.is_as_expected else verdict.direction
            return Row(*asked.key, said, "", "", f"{time.process_time() - began:.1f}")
        path = measure(Path(folder) / "measured.json", asked.subject, asked.fault, float(asked.factor), _SEED)
        found = explain(path, words, before=before)
    right = set(FAULTS[asked.fault].right)
    places = [str(place) for place, one in enumerate(found.causes, 1) if right & set(one.names)]
    named = "; ".join(f"{' + '.join(one.names)} {one.probability:.2f}" for one in found.causes)
    verdict_of = "as expected" if found.is_as_expected else found.direction
    return Row(*asked.key, verdict_of, places[0] if places else "", named, f"{time.process_time() - began:.1f}")


# ---------------------------------------------------------------- the page


def _share(n: int, of: int) -> str:
    return f"{n} of {of} ({n / of:.0%})".replace("%", " %") if of else "0"


def faults_of(rows: Iterable[Row], before: str, least: float = 0.0, most: float = 1e9) -> list[Row]:
    """Return the rows of faults of a range of factors, with or without a sound run."""
    return [row for row in rows if row.fault and row.before == before and least <= float(row.factor) < most]


def _line(name: str, rows: list[Row]) -> str:
    seen = [row for row in rows if row.is_seen]
    first, three = sum(row.place == "1" for row in rows), sum(bool(row.place) for row in rows)
    wrong = sum(row.is_surely_wrong for row in rows)
    return f"| {name} | {len(rows)} | {len(seen)} | {first} | {three} | {wrong} |"


def page() -> str:
    """Return the page."""
    rows = read()
    head = ["| | cases | seen | first | among three | wrong with > 60 % |", "|---|--:|--:|--:|--:|--:|"]
    whole = [
        _line(f"{what}, {how}", faults_of(rows, before, least, most))
        for what, least, most in (("1.5 times", 0.0, 1.99), ("2 times and more", 1.99, 1e9))
        for how, before in (("alone", ""), ("with a sound run", "yes"))
    ]
    kinds = []
    for name in FAULTS:
        for how, before in (("", ""), (", with a sound run", "yes")):
            kinds.append(_line(f"{name}{how}", [row for row in faults_of(rows, before) if row.fault == name]))
    sound = [row for row in rows if not row.fault]
    alarms = _share(sum(row.is_seen for row in sound), len(sound))
    times = sorted(float(row.seconds) for row in rows if row.fault)
    text = [_TEXT.format(alarms=alarms, median=times[len(times) // 2], most=times[-1])]
    text += ["\n".join([*head, *whole]), "## Each kind", "\n".join([*head, *kinds])]
    return "\n\n".join(text) + "\n"


_TEXT = """# Faults from outside the engine

[Are the causes found?](explain.md) plants causes with the engine that explains them. Here they come from elsewhere: a
small queueing simulator of the tests (`tests/validation/explanation/outside/simulator.py`) has disks with an arm and a
platter, flash drives with channels and a link, and stages before them, and shares no code with the engines. What its
arrays measure is written as fio's JSON; the explanation gets that file and the description of the sound array.
`python -m tests.validation.explanation.outside --renew --write` makes this page anew.

Sound arrays with something to explain: {alarms}, with and without a sound run beside them. An answer takes
{median:.1f} s of processor time, {most:.1f} s at worst; runs of the same arrays are kept between cases."""


def write_page() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


__all__ = ["Planted", "Row", "explained", "page", "read", "renew", "write_page"]

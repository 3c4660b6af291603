"""What the explanation makes of planted causes and of healthy arrays, kept in tests/data/explanations.csv."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from diskmodel.array import Array
from diskmodel.explanation import simulator
from diskmodel.explanation.expected import compare
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.read import read_results
from diskmodel.explanation.simulator import Simulator
from tests.validation.explanation import mounted, threads
from tests.validation.explanation.planted import SUBJECTS, SYSTEMS, Plant, explanation_of, measure, rank, subject_of
from tests.validation.explanation.plants import OF_SYSTEMS, PAIRED, plants

TABLE = Path(__file__).parents[2] / "data" / "explanations.csv"
#: Requests of a simulated run: half of the product's, so that the table takes minutes.
_REQUESTS = 1_500
#: Seeds of each healthy array.
_HEALTHY_SEEDS = 5
#: Seeds of planted causes, of pairs, and of healthy arrays begin here. With others the causes, and what is taken for
#: their errors, were tuned: all but those of single causes.
_FIRST_SEEDS = {"planted": 3, "pair": 7_003, "healthy": 14_003, "system": 21_003, "healthy system": 28_003}
#: Seeds of each healthy system.
_SYSTEM_SEEDS = 3


@dataclass(frozen=True)
class Row:
    """One case.

    Attributes
    ----------
    kind : "planted", "pair", "healthy", "system", "healthy system" or "thread"
    subject, causes, strengths : str
    verdict : str
        "as expected", "slower" …; of a planted cause that changes nothing: "no change".
    rank : str
        Place of the planted causes among those named; "": not named. Of a thread: whether the answer agrees.
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
    known = {_key(kind, plant) for kind, own in _plants().items() for plant in own}
    found = {row.key: row for row in read() if row.key in known or row.kind == "thread"}
    if not only:
        found = {}
    for row in _cases(only):
        say(" | ".join(astuple(row)))
        found[row.key] = row
        _write(found.values())


def _plants() -> dict[str, list[Plant]]:
    """Return what is planted, by kind."""
    healthy = [Plant(name, (), str(seed)) for seed in range(_HEALTHY_SEEDS) for name in SUBJECTS]
    sound = [Plant(name, (), str(seed)) for seed in range(_SYSTEM_SEEDS) for name in SYSTEMS]
    return {
        "planted": list(plants()),
        "pair": list(PAIRED),
        "healthy": healthy,
        "system": list(plants(OF_SYSTEMS)),
        "healthy system": sound,
    }


def _key(kind: str, plant: Plant) -> tuple[str, ...]:
    strengths = plant.words or "; ".join(json.dumps(value) for _, value in plant.causes)
    return (kind, plant.subject, " + ".join(plant.names), strengths)


def _cases(only: str) -> Iterator[Row]:
    Simulator.memory = {}  # most runs are of the same arrays
    simulator.REQUESTS = _REQUESTS
    for kind, own in _plants().items():
        for at, plant in enumerate(own):
            words = f"{kind} {plant.subject} {' '.join(plant.names)}"
            if only not in words:
                continue
            with tempfile.TemporaryDirectory() as folder:
                seed = _FIRST_SEEDS[kind] + 7 * at
                if not plant.causes:
                    yield _healthy_row(kind, plant, Path(folder), seed)
                else:
                    yield _row(kind, plant, explanation_of(plant, Path(folder), seed))
    if only in "threads":
        for thread in threads.threads():
            found = threads.explained(thread)
            agrees = threads.agrees(thread, found)
            said = "as expected" if found.is_as_expected else found.direction
            row = ("thread", thread["id"], "", "", said, agrees, threads.in_words(found), f"{found.unknown:.2f}")
            yield Row(*row, f"{found.wall_s:.1f}")


def _healthy_row(kind: str, plant: Plant, folder: Path, seed: int) -> Row:
    """Return whether there is something to explain of an array in which nothing is wrong."""
    path = measure(plant, folder, seed)
    assert path is not None
    loads, _ = read_results([path])
    verdict = compare(Simulator(Array.from_words(subject_of(plant.subject)[0]), loads))
    said = "as expected" if verdict.is_as_expected else verdict.direction
    return Row(kind, plant.subject, "", plant.words, said, "", "", "", "")


def _row(kind: str, plant: Plant, found: Explanation | None) -> Row:
    start = _key(kind, plant)
    if found is None:
        return Row(*start, "no change", "", "", "", "")
    verdict = "as expected" if found.is_as_expected else found.direction
    named = "; ".join(f"{' + '.join(one.names)} {one.probability:.2f}" for one in found.causes)
    place = rank(plant, found) if plant.causes else None
    return Row(*start, verdict, str(place or ""), named, f"{found.unknown:.2f}", f"{found.wall_s:.1f}")


def _share(n: int, of: int) -> str:
    return f"{n} of {of} ({n / of:.0%})".replace("%", " %") if of else "0"


@dataclass(frozen=True)
class Counts:
    """How often planted causes were found.

    Attributes
    ----------
    n, seen, first, three : int
        Cases; those whose figures lie outside the intervals; of these, where the planted causes stand first, and
        where they are among the three that are named.
    """

    n: int
    seen: int
    first: int
    three: int


def counts(rows: Iterable[Row]) -> Counts:
    """Return how often the planted causes of some rows were found; rows that the cause does not change are left out."""
    own = [row for row in rows if row.verdict != "no change"]
    seen = [row for row in own if row.verdict != "as expected"]
    return Counts(len(own), len(seen), sum(row.rank == "1" for row in seen), sum(bool(row.rank) for row in seen))


def alarms(rows: Iterable[Row]) -> tuple[int, int]:
    """Return how many of healthy rows have something to explain, and how many there are."""
    own = list(rows)
    return sum(row.verdict != "as expected" for row in own), len(own)


def of_kind(kind: str) -> list[Row]:
    """Return the kept rows of a kind."""
    return [row for row in read() if row.kind == kind]


def summary() -> str:
    """Return how often the planted cause was found."""
    lines = []
    for kind, what in (("planted", "One cause"), ("pair", "Two causes")):
        found = counts(of_kind(kind))
        lines.append(
            f"- {what}: {found.n} cases, of which {_share(found.seen, found.n)} have figures outside the intervals. Of "
            f"these the planted {'cause is' if kind == 'planted' else 'two are'} named first in "
            f"{_share(found.first, found.seen)}, and among three in {_share(found.three, found.seen)}."
        )
    wrong, n = alarms(of_kind("healthy"))
    lines.append(
        f"- Healthy simulated arrays: {n} cases, of which {_share(wrong, n)} raise an alarm. "
        "[Others](explain-outside.md#sound-measurements) are published, or of OpenZFS."
    )
    return "\n".join(lines)


def write_page() -> None:
    """Write the page: the table, and what is said of public threads."""
    parts = {
        "planted": _planted(),
        "pairs": _pairs(),
        "systems": _systems(),
        "systems_summary": _systems_summary(),
        "threads": _threads(),
        "agree": _agree(),
        "mounts": mounted.in_table(),
    }
    PAGE.write_text(TEXT.format(summary=summary(), **parts), "utf-8")


def _planted() -> str:
    lines = ["| cause | cases | outside the intervals | first | among three |", "|---|--:|--:|--:|--:|"]
    rows = of_kind("planted")
    for name in dict.fromkeys(row.causes for row in rows):
        found = counts(row for row in rows if row.causes == name)
        if found.n:
            lines.append(f"| {name} | {found.n} | {found.seen} | {found.first} | {found.three} |")
    return "\n".join(lines)


def _pairs() -> str:
    lines = ["| array | planted | place | named |", "|---|---|--:|---|"]
    for row in of_kind("pair"):
        if row.verdict != "no change":
            named = "nothing to explain" if row.verdict == "as expected" else row.named or "none of what is known"
            lines.append(f"| {row.subject} | {row.causes} | {row.rank or '–'} | {named} |")
    return "\n".join(lines)


def _systems() -> str:
    lines = ["| system | planted | strength | place | named |", "|---|---|---|--:|---|"]
    for row in of_kind("system"):
        if row.verdict != "no change":
            named = "nothing to explain" if row.verdict == "as expected" else row.named or "none of what is known"
            lines.append(f"| {row.subject} | {row.causes} | {row.strengths} | {row.rank or '–'} | {named} |")
    return "\n".join(lines)


def _systems_summary() -> str:
    found, (wrong, n) = counts(of_kind("system")), alarms(of_kind("healthy system"))
    return (
        f"{found.n} cases, of which {_share(found.seen, found.n)} have figures outside the intervals. Of these the "
        f"planted cause is named first in {_share(found.first, found.seen)}, and among three in "
        f"{_share(found.three, found.seen)}. Of {n} healthy ones {_share(wrong, n)} raise an alarm."
    )


def _agree() -> str:
    """Return how many threads `explain` agrees with."""
    rows = of_kind("thread")
    n = {said: sum(row.rank == said for row in rows) for said in ("first", "among three")}
    hidden = sum(row.verdict == "as expected" and row.rank == "no" for row in rows)
    return (
        f"of {len(rows)}, `explain` says it first in {n['first']}, and among three in {sum(n.values())}; of {hidden} "
        "the figures lie inside the intervals, so that nothing can be named"
    )


def _threads() -> str:
    lines = ["| asked | array | found in the thread | what `explain` says | agrees |", "|---|---|---|---|---|"]
    rows = {row.subject: row for row in of_kind("thread")}
    for thread in threads.threads():
        row = rows.get(thread["id"])
        if row is None:
            continue
        asks = f"{thread['asks']} ({thread['source']})"
        lines.append(f"| {asks} | {thread['array']} | {thread['found']} | {row.named} | {row.rank} |")
    return "\n".join(lines)


PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "explain.md"
TEXT = """# Are the causes found?

`diskmodel explain` names causes. This page plants them: an array is simulated with a cause, measured with a handful of
fio's jobs, and explained from the healthy description alone. The array that is measured is not the one that is
described: its drives, its controller and its host are drawn from [what is not
known](../../reference/what-is-not-known.md) of them, its runs have another seed, and limits are planted as a processor
or a link that takes its time, not as the law that the explanation applies. The seeds of two causes and of healthy
arrays are not those with which the choice of pairs was tried out. `python -m tests.validation.explanation --renew
--write` makes the table and this page, with `--only WORD` single rows anew.

{summary}

A cause whose figures stay inside the intervals cannot be seen, and nothing is said of it: the intervals of drives that
are known from their sheets are wide, most of all for writes. To see more, describe a drive that was
[measured](../../how-to/measure/measure-a-server.md).

Healthy arrays are taken as sound. A few published arrays of hard disks make a twentieth of what their disks do, as
their controller holds them back: that is a fault to explain and no spread of healthy arrays, so reads of an array
behind a controller with a cache are drawn as those of its disks.

A measurement is as long as it is said to be. Of one that was cut short, ten of sixteen clients still waited for a full
cache when it ended, so that its rate and its mean were those of six.

Causes with the same figures have about the same share: a limit and a processor, two limits of bytes, a lock and a
processor. What is exact counts as exact: behind a limit or a link, or where each request takes a time more,
arithmetic says what a figure is, and it is no more uncertain where a limit is far below what the array does.

What this does not show: planted causes are simulated by the same model that explains them, so a real fault may leave
other figures than this page's. That is what the mounted drives and the public threads below are for.

## One cause

Strengths and arrays of each are in `tests/validation/explanation/plants.py`, single results in
`tests/data/explanations.csv`.

{planted}

## Two causes at once

One of two causes often explains most of the gap, and the other one hides behind what is not known of the drives: then
only one is named, or another partner that does the same. What is named is a reason to look, remove it, and measure
again. Pairs of which one cause changes nothing in that array are left out. Two causes start with a hundredth of the
weight of one, and the evidence that has to make up for it counts for half. They are looked for unless one alone fits as
well as nine of ten right ones do.

{pairs}

## Caches, clusters and volumes of clouds

These causes are only looked for where the array is such a system: {systems_summary} Intervals of
clusters are a factor of two wide, as published clusters differ by that much: a failed node, unoptimized packages or one
OSD that is four times slower often stay inside, and a sound run of the same jobs (`--before`) shows them. A cache under
a sustained test of nothing but writes is always full of dirty data at last: what a short test sees is "not yet full".

{systems}

## Mounted drives

These faults are in virtual drives that are [mounted](../../how-to/mount-a-virtual-drive.md) and answer in real time.
fio measures them with four jobs of five seconds. Program, engine, kernel and clock are real, and the fault is made
there: an engine that waits, a second fio beside the first, a drive with another queue. The description of the sound
drive is exact, as if it had been measured. `python -m tests.validation.explanation.mounted` measures them anew.

{mounts}

## Public threads

What people measured, and what was found: {agree}. Where they do not name the drive, one of its class stands for it;
nothing of the thread but its figures is used. Most threads have one figure, which many causes explain; what is named is
then little more than a list to check.

{threads}
"""

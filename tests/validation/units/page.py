"""The page that lists what was measured, by class, and what its sources leave out."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from tests.validation.coverage import predicted as old_predicted
from tests.validation.units import off, predicted
from tests.validation.units.evidence import UnitCase, all_cases, new_units
from tests.validation.units.said import STANDINGS, WORDS, Standing

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "units.md"

TEXT = """# Which drives and arrays were measured

{n_units} drives and arrays with {n_figures:,} figures: what others measured and published, if its source describes
drive, array and load well enough to simulate them. `python -m tests.validation.units --write` writes this page from
`tests/data/units`, from [every published measurement](../validation-arrays.md) and from the other sources of the
[page on intervals](../validation-coverage.md).

Whether a description is **complete** follows from the text of its source, before anything is simulated. It is decided
for each load: reads are complete without the state of a write cache. *No sheet* are drives that the source names, but
whose data sheet was not found: another of their class stands for them. An *incomplete* description leaves out something
that matters. The source of what is *held back* itself shows that the system does not do what its parts can.

{classes}

A unit counts in the column of its most complete load. The median error is that of rates and latencies as the model
predicts them from the description, without any fit, of loads with a complete description / of all others.

## By the kind of load

The median over models of predicted over measured, and its standard deviation between models as a logarithm. A rate that
is predicted too high is on the unsafe side. Most drives here are described by another of their class, those that
computers start from by a data-center drive.

{loads}

- **Short seeks.** Single reads in a file of 1 to 32 GB on older disks take longer than predicted: 7.2 ms for 5.8 on one
  server disk, 8.2 for 7.0 on a Deskstar 7K500 that its own sheet describes.
- **Deep queues on a short span** differ most: from 142 to 458 reads a second in 1 GB, where 190 are predicted.
- **Several writers.** The cache of one disk serves some and starves others: p99 is a thousand times the median, which
  no description here has.
- **Flash in a queue** is slower than predicted, at 2 outstanding already. A part is the host: on a PM9A3 one job stops
  at 195,000 reads a second, four reach 750,000. A drive on its own has no host here.

## What sources leave out

{words}

## The units

The measurements of [every published measurement](../validation-arrays.md) and [fio's results over
depths](../validation-fio-fits.md) have their sources there. The others:

{units}
"""


@cache
def pairs() -> tuple[tuple[UnitCase, dict[str, float]], ...]:
    """Return every load with its predictions by statistic."""
    new, old = predicted.read(), old_predicted.read()
    return tuple((c, new[c.name] if c.name in new else old[c.name].values) for c in all_cases())


def standing_of(unit: str) -> Standing:
    """Return the standing of a unit's most complete load."""
    return min((c.standing for c, _ in pairs() if c.unit == unit), key=STANDINGS.index)


def errors(found: Iterable[tuple[UnitCase, dict[str, float]]]) -> list[float]:
    """Return the sizes of the errors of rates and latencies, as logarithms."""
    return [
        abs(math.log(values[name] / measured))
        for case, values in found
        for name, measured in case.measured.items()
        if name in values
    ]


def table_of_classes() -> str:
    """Return the table of units and figures by class."""
    names = ("complete", "no sheet", "incomplete", "held back")
    lines = [f"| class | units | {' | '.join(names)} | figures | median error |", "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for name in sorted({c.class_ for c, _ in pairs()}):
        lines.append(_row(f"`{name}`", [(c, v) for c, v in pairs() if c.class_ == name]))
    return "\n".join([*lines, _row("all", list(pairs()))])


def _row(name: str, part: Sequence[tuple[UnitCase, dict[str, float]]]) -> str:
    best: dict[str, Standing] = {}
    for case, _ in part:
        best[case.unit] = min(best.get(case.unit, case.standing), case.standing, key=STANDINGS.index)
    n = Counter(best.values())
    cells = " | ".join(str(n[standing]) for standing in STANDINGS)
    figures = sum(len(case.measured) for case, _ in part)
    complete = errors(item for item in part if item[0].standing == "complete")
    others = errors(item for item in part if item[0].standing != "complete")
    return f"| {name} | {len(best)} | {cells} | {figures:,} | {_median(complete)} / {_median(others)} |"


def _median(found: Sequence[float]) -> str:
    return f"{math.expm1(float(np.median(found))):.0%}" if found else "–"


def table_of_words() -> str:
    """Return how many units leave out what."""
    n = Counter(word for unit, words in _words().items() for word in words)
    lines = ["| word | what is not said | units |", "|---|---|--:|"]
    return "\n".join([*lines, *(f"| {word} | {what} | {n[word]} |" for word, what in WORDS.items() if n[word])])


def _words() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for case, _ in pairs():
        found.setdefault(case.unit, set()).update(case.said.not_said)
    return found


def list_of_units() -> str:
    """Return the units of the files by their sources; specimens of a model are counted."""
    by_source: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for unit in new_units().values():
        said = f"`{unit.class_}`, {standing_of(unit.name)}; not said: {', '.join(unit.said.not_said) or 'nothing'}"
        specimen = unit.model != unit.name and unit.what.startswith("one of")
        what = re.sub(r" \(\w+\)$", "", unit.what) if specimen else unit.what
        by_source[unit.source][said].append(what)
    lines = []
    for source, found in by_source.items():
        text = " ".join(f"{_counted(whats)} ({said})." for said, whats in found.items())
        lines += textwrap.wrap(
            f"- {source}: {text}", 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
    return "\n".join(lines)


def _counted(whats: Sequence[str]) -> str:
    return "; ".join(f"{what}, {n} of them measured" if n > 1 else what for what, n in Counter(whats).items())


def tables() -> str:
    """Return the tables."""
    return f"{table_of_classes()}\n\n{table_of_words()}"


def figures(only: Sequence[str] = ()) -> str:
    """Return every figure, what was predicted, and the error."""
    return "\n".join(
        f"{case.name} [{case.standing}] {name}: {measured:.4g} measured, {values[name]:.4g} predicted, "
        f"{values[name] / measured - 1:+.0%}"
        for case, values in pairs()
        for name, measured in case.measured.items()
        if name in values and (not only or case.unit in only)
    )


def page() -> str:
    """Return the page as Markdown."""
    return TEXT.format(
        n_units=len({c.unit for c, _ in pairs()}),
        n_figures=sum(len(c.measured) for c, _ in pairs()),
        classes=table_of_classes(),
        loads=off.table(pairs()),
        words=table_of_words(),
        units=list_of_units(),
    )


def write() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")

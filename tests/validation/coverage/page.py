"""The page on intervals, and its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from tests.validation.coverage import printed as kept
from tests.validation.coverage import score, spread_table, widths
from tests.validation.coverage.decided import decided
from tests.validation.coverage.score import Judged
from tests.validation.coverage.spread import BROKEN, PRIORS, STATISTICS, Figure, broken_units, estimate, figures
from tests.validation.units.page import pairs
from tests.validation.units.said import STANDINGS

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation-coverage.md"

#: Random rows of arrays on the page of Linux md.
_MD_ROWS = 291
#: Figures of a class from which its share counts.
MANY = 10

TEXT = """# Do intervals contain what was measured?

A 95 % interval is right if it contains 95 of 100 measurements of drives and arrays that nobody has used to make it, and
useful if it is narrow. This page compares the intervals that `simulate` prints with what was measured. `make intervals`
writes it.

Whether a figure counts is decided by [what its source says](validation/units.md), before anything is simulated: drive,
array, cache and the place of the requests must be known, as somebody who asks for an interval knows them. Of {n}
figures of {units} drives and arrays these are {n_described}.

## What `simulate` prints

Each interval is made from spreads that were estimated without the drive or array that the figure comes from.

{printed}

| statistic | inside | half-width, median | interval score |
|---|--:|--:|--:|
{statistics}

Half-widths are logarithms: 0.15 is 14 % down and 16 % up. The interval score is the width and forty times the distance
of a figure that lies outside (Gneiting and Raftery 2007).

- **Some systems do not do what their parts can.** {broken_share} of systems are taken to be of this kind, and are in
  nobody's interval: one whose controller slows its disks down is not what you plan. Of the described ones
  {broken}. `diskmodel explain` compares a measurement with what it should be.
- **No disk of 10,000 or 15,000 rpm and no array** is among the described ones. Their intervals rest on other disks, on
  what is known beside these measurements, and on mechanics that [rows of Linux md](validation-md-raid.md) confirm.
- **Firmware of one NVMe drive** delays writes and reads by milliseconds from half of its load on. Most of what is
  outside above is of that drive ([Flash in its steady state](validation/flash.md)).

## How wide they are

Half-widths at modest load of named drives from the catalog, every third of them (`python -m
tests.validation.coverage.widths`). The first column is of the time when one spread multiplied the speed of a whole
drive; in the second each quantity has its own, but p99 of a mixed load had the tail of its writes by their number.
Today it has that of the operation which makes the slowest requests: reads, where caches answer writes.

{widths_before}

By class, with what makes the interval of the mean. How many units each source rests on is in [the table
below](#what-is-not-known-of-a-drive); the layout is mechanics, compared with {md_rows} rows of [Linux
md](validation-md-raid.md).

{widths}

## What an interval decides

Three questions about public measurements. The interval of then, which had one spread for the speed of a whole drive,
has the limit inside, so that nobody could decide by it; the one that is printed today has not.

| question | then | today | answer | measured |
|---|--:|--:|---|--:|
{decided}

## What else was measured

Figures whose sources leave out something that matters are not compared: an interval answers for the case as it is
stated, and these cases are not. *Inside* says how many lie within the interval of the case that was assumed instead.

{others}

## What is not known of a drive

Each quantity begins with what is known of such drives beside these measurements, which counts as so many units, and
each unit moves it (`tests/validation/coverage/spread.py`). `diskmodel/uncertainty/spread.toml` has the result.

| class | quantity | before: log sd | as units | units | median | log sd |
|---|---|--:|--:|--:|--:|--:|
{spreads}

A draw of a hard disk rotates as its sheet prints, and orders commands as disks that were measured do; its seeks differ.
"""


@cache
def all_figures() -> tuple[Figure, ...]:
    """Return every published figure with its prediction."""
    return tuple(figures(pairs()))


@cache
def printed() -> list[Judged]:
    """Return the intervals that the product prints of described loads."""
    ends = kept.read()
    return [
        Judged(figure, *ends[figure.case.name, figure.statistic])
        for figure in all_figures()
        if (figure.case.name, figure.statistic) in ends
    ]


def of_class(judged: Sequence[Judged], name: str) -> list[Judged]:
    """Return the figures of a class."""
    return [item for item in judged if item.figure.case.class_ == name]


def class_names() -> list[str]:
    """Return the classes of all figures."""
    return sorted({figure.case.class_ for figure in all_figures()})


def table_of_classes(judged: Sequence[Judged]) -> str:
    """Return the table of intervals by class."""
    lines = ["| class | units | figures inside | half-width, median |", "|---|--:|--:|--:|"]
    lines += [_row(f"`{name}`", part) for name in class_names() if (part := of_class(judged, name))]
    return "\n".join([*lines, _row("all", judged)])


def _row(name: str, part: Sequence[Judged]) -> str:
    units = len({item.figure.case.unit for item in part})
    return f"| {name} | {units} | {score.inside(part)} | {np.median([item.width / 2 for item in part]):.2g} |"


def _of_statistics() -> str:
    lines = []
    for name in STATISTICS:
        if part := score.of_statistic(printed(), name):
            half = np.median([item.width / 2 for item in part])
            known = [item.score for item in part if np.isfinite(item.score)]
            lines.append(f"| {name.replace('_', ', ')} | {score.inside(part)} | {half:.2g} | {np.mean(known):.2f} |")
    return "\n".join(lines)


def _others() -> str:
    known = estimate(all_figures())
    judged = [
        Judged(figure, *score.of_spread(figure, known))
        for figure in all_figures()
        if figure.case.standing != "complete"
    ]
    lines = ["| description | units | figures | inside |", "|---|--:|--:|--:|"]
    for standing in STANDINGS[1:]:
        part = [item for item in judged if item.figure.case.standing == standing]
        if part:
            units = len({item.figure.case.unit for item in part})
            lines.append(f"| {standing} | {units} | {len(part)} | {score.inside_ratio(part):.0%} |")
    return "\n".join(lines)


def _spreads() -> str:
    known = estimate(all_figures())
    return "\n".join(
        f"| {name} | {quantity} | {prior.log_sd:g} | {prior.units:g} | {known[name, quantity].n} | "
        f"{np.exp(known[name, quantity].center):.2f} | {known[name, quantity].log_sd:.2f} |"
        for (name, quantity), prior in PRIORS.items()
    )


def tables() -> str:
    """Return all tables."""
    return "\n\n".join((table_of_classes(printed()), _of_statistics(), _others(), _spreads()))


def page() -> str:
    """Return the page as Markdown."""
    found = all_figures()
    broken = Counter(broken_units(figure for figure in found if figure.case.standing == "complete"))
    return TEXT.format(
        n=f"{len(found):,}",
        units=len({figure.case.unit for figure in found}),
        n_described=sum(figure.case.standing == "complete" for figure in found),
        printed=table_of_classes(printed()),
        statistics=_of_statistics(),
        broken_share=f"{BROKEN:.0%}",
        broken=f"one is likelier broken than sound: {', '.join(broken)}" if len(broken) == 1 else f"{len(broken)} are",
        decided=decided(printed()),
        widths_before=widths.table_before(),
        widths=widths.table_of_classes(),
        md_rows=_MD_ROWS,
        others=_others(),
        spreads=_spreads(),
    )


def write() -> None:
    """Write the page, and the spread of each class."""
    spread_table.TABLE.write_text(spread_table.text(all_figures()), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")

"""The page on intervals, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.validation.coverage import predicted, score, spread_table
from tests.validation.coverage.evidence import STATISTICS, cases, classes
from tests.validation.coverage.score import Judged
from tests.validation.coverage.spread import Figure, figures, interval, left_out

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation-coverage.md"

#: Figures of a class from which its share counts.
MANY = 10

TEXT = """# Do intervals contain what was measured?

A 95 % interval is right if it contains 95 of 100 measurements of drives and arrays that nobody has used to make it, and
useful if it is narrow. This page compares every published figure that was found, {n} of {units} drives and arrays, with
intervals of three kinds. `make intervals` writes it.

A figure is predicted from the description of its drive by a data sheet, or by one of its class where the source does
not name it, with the same scenarios as [every published measurement](validation-arrays.md), [published
figures](validation-published.md) and [fio's results over depths](validation-fio-fits.md); there drives are fitted, here
they are not. Nothing of the drive or array that a figure comes from is used for its interval.

## What `simulate` prints

Each interval is made as `simulate` makes it, from spreads that were estimated without the drive or array that the
figure comes from: 16 equally likely truths, here in runs of 2,000 requests. {some}

{printed}

An array that no load settles on has no such interval, and is left out here.

## The spread of a class

Drives of a class differ from their descriptions by more than a run scatters. How much is estimated from all figures but
those of one drive or array, and compared with these. A class begins with what the classes next to it show, as if that
were a few drives of its own; `diskmodel/uncertainty/spread.toml` has the result. *Ends off by* is the factor between
the middle of an interval of a rate and its ends.

{classes}

- **Hardware controllers** are the least known: an H330 brings 24 disks to three times the rate of one, a P421 twelve
  disks to what they can do. Until its controller has a profile, next to nothing is known of such an array.
- **Writes of flash** differ by whether a drive is new: sheets print steady rates, and most figures are of drives that
  were not filled before. p99 of such writes is off by up to a factor of twenty.
- **Flash in a queue** is slower than its sheet on every host that was measured: one processor submits 50,000 to 65,000
  requests a second.
- **Arrays of Linux md** were measured on drives that are not named.

## How narrow they are

The interval score is the width of an interval, as a logarithm, and forty times the distance of a figure that lies
outside; the smaller, the better (Gneiting and Raftery 2007). The reference is the rule of thumb with the spread that
it has among all other drives and arrays of the same kind, hard disk or flash.

{scores}
"""


@cache
def all_figures() -> tuple[Figure, ...]:
    """Return every published figure with its prediction."""
    return tuple(figures(predicted.pairs(cases())))


@cache
def printed() -> list[Judged]:
    """Return the intervals of all that is not known that the product prints."""
    return score.printed(figure for figure in all_figures() if figure.predicted.is_predictive)


@cache
def of_classes() -> list[Judged]:
    """Return the intervals of the spread of each class, estimated without the figure's own unit."""
    return [Judged(figure, *interval(figure, others)) for figure, others in left_out(list(all_figures()))]


@cache
def reference() -> list[Judged]:
    """Return the intervals of the rule of thumb."""
    return score.reference(all_figures(), lambda figure: str(figure.case.array.drive.kind))


def of_class(judged: Sequence[Judged], name: str) -> list[Judged]:
    """Return the figures of a class."""
    return [item for item in judged if item.figure.case.class_ == name]


def table_of_classes(judged: Sequence[Judged]) -> str:
    """Return the table of intervals by class."""
    lines = ["| class | units | IOPS inside | mean inside | p99 inside | ends off by |", "|---|--:|--:|--:|--:|--:|"]
    lines += [_row(f"`{name}`", part) for name in classes()["parents"] if (part := of_class(judged, name))]
    return "\n".join([*lines, _row("all", judged)])


def _row(name: str, part: Sequence[Judged]) -> str:
    units = len({item.figure.case.unit for item in part})
    factor = score.median_factor(score.of_statistic(part, "iops"))
    return f"| {name} | {units} | {' | '.join(score.summary(part)[:3])} | {factor:.2g} |"


def table_of_scores() -> str:
    """Return the table of interval scores."""
    lines = ["| interval score | IOPS | mean | p99 |", "|---|--:|--:|--:|"]
    are_printed = {(item.figure.case.name, item.figure.statistic) for item in printed()}
    same = [
        [i for i in part if (i.figure.case.name, i.figure.statistic) in are_printed]
        for part in (of_classes(), reference())
    ]
    for name, judged in (("`simulate`", printed()), ("spread of its class", same[0]), ("rule of thumb", same[1])):
        means = [score.mean_score(score.of_statistic(judged, s)) for s in STATISTICS]
        lines.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in means)} |")
    return "\n".join(lines)


def _how_many() -> str:
    """Return of how many figures the intervals were simulated."""
    return f"{len(printed()):,} of the {len(all_figures()):,} figures have one."


def tables() -> str:
    """Return all tables."""
    return "\n\n".join((table_of_classes(printed()), table_of_classes(of_classes()), table_of_scores()))


def page() -> str:
    """Return the page as Markdown."""
    units = len({figure.case.unit for figure in all_figures()})
    return TEXT.format(
        n=f"{len(all_figures()):,}",
        units=units,
        some=_how_many(),
        printed=table_of_classes(printed()),
        classes=table_of_classes(of_classes()),
        scores=table_of_scores(),
    )


def write() -> None:
    """Write the page, and the spread of each class."""
    PAGE.write_text(page(), encoding="utf-8")
    spread_table.TABLE.write_text(spread_table.text(all_figures()), encoding="utf-8")

"""The page on intervals, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.validation.coverage import predicted, score
from tests.validation.coverage.evidence import STATISTICS, cases, classes
from tests.validation.coverage.score import Judged
from tests.validation.coverage.spread import Figure, figures, interval, left_out

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation-coverage.md"

#: Figures of a class from which its share counts.
MANY = 10


@cache
def all_figures() -> tuple[Figure, ...]:
    """Return every published figure with its prediction."""
    return tuple(figures(predicted.pairs(cases())))


@cache
def printed() -> list[Judged]:
    """Return the intervals that the product prints."""
    return score.printed(all_figures())


@cache
def of_classes() -> list[Judged]:
    """Return the intervals of the spread of each class, estimated without the figure's own unit."""
    return [Judged(figure, *interval(figure, others)) for figure, others in left_out(list(all_figures()))]


@cache
def reference() -> list[Judged]:
    """Return the intervals of the rule of thumb."""
    return score.reference(all_figures(), lambda figure: str(figure.case.array.drive.kind))


def table_of_printed() -> str:
    """Return the table of the printed intervals."""
    noise = [item for item in printed() if not item.figure.predicted.is_drawn]
    drawn = [item for item in printed() if item.figure.predicted.is_drawn]
    rows = (("all", printed()), ("with drawn parameters", drawn), ("run noise only", noise))
    lines = ["| printed intervals | IOPS inside | mean inside | p99 inside | median error |", "|---|--:|--:|--:|--:|"]
    return "\n".join(lines + [f"| {name} | {' | '.join(score.summary(part))} |" for name, part in rows if part])


def table_of_classes(judged: Sequence[Judged]) -> str:
    """Return the table of intervals by class."""
    lines = ["| class | units | IOPS inside | mean inside | p99 inside | ends off by |", "|---|--:|--:|--:|--:|--:|"]
    names = list(classes()["parents"])
    for name in names:
        part = [item for item in judged if item.figure.case.class_ == name]
        units = len({item.figure.case.unit for item in part})
        cells = " | ".join(score.summary(part)[:3])
        lines.append(f"| {name} | {units} | {cells} | × {score.median_factor(score.of_statistic(part, 'iops')):.2g} |")
    return "\n".join(lines)


def table_of_scores() -> str:
    """Return the table of interval scores."""
    lines = ["| interval score | IOPS | mean | p99 |", "|---|--:|--:|--:|"]
    for name, judged in (("printed", printed()), ("spread of its class", of_classes()), ("rule of thumb", reference())):
        means = [score.mean_score(score.of_statistic(judged, s)) for s in STATISTICS]
        lines.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in means)} |")
    return "\n".join(lines)


def tables() -> str:
    """Return all tables."""
    return "\n\n".join((table_of_printed(), table_of_classes(of_classes()), table_of_scores()))

"""docs/explanation/validation/yardstick.md: what the page says and the tables in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.validation.yardstick.answers import Answers
from tests.validation.yardstick.predictors import PREDICTORS
from tests.validation.yardstick.questions import GROUPS, VERSION, Question, questions
from tests.validation.yardstick.score import table

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation" / "yardstick.md"

_INTRODUCTION = f"""# A yardstick for predictors

How good is a predictor of storage? Papers compare with drives that only their authors have, and calculators with
nothing. Here is one set of questions, version {VERSION}, whose answers were measured: loads on drives and arrays that
are described as a planner would know them. `make yardstick` scores diskmodel, the rule of thumb and a linear model;
`make yardstick ANSWERS=mine.csv` scores yours beside them.

"""

_OWN = """
## Score your own

1. `python -m tests.validation.yardstick --questions questions.json` writes the questions: drives by their data sheets
   or their mechanics, arrays, loads, and what was measured, all in SI units; response times are in ms.
2. Write a CSV with the columns `id`, `iops`, `iops_low`, `iops_high`, the same three of `mean` and of `p99`: a row for
   each question, an empty cell where you have no answer. The ends are those of a 95 % interval.
3. `make yardstick ANSWERS=mine.csv` prints its scores beside the others.

A predictor that was fitted to these figures is scored on what it has seen. Leave out what a question's drive or array
has to do with your fit: diskmodel's intervals are made so.

## What is scored

- **Error**: the median of |answer / measured − 1| over all figures that were answered, the share within 10 %, and the
  share that is wrong by a factor of two or more, up or down.
- **Intervals**: how many contain what was measured, and the interval score (Gneiting and Raftery 2007, section 6.2) of
  the logarithm: the width, and forty times the distance of a figure that lies outside. The smaller, the better.

## The other two

- **Rule of thumb**: the usual rate of a disk by its speed, or of a flash drive by its sheet, times the disks that can
  be busy, over the write penalty; clients over the rate are the mean, and p99 is that of an exponential distribution.
  A RAID-Z group counts as one disk. Flushes cost nothing.
- **Linear model**: each disk takes 11.5 ms for a request and transfers 143 MB/s. The rest is the same.

## What is not in it

Recorded traces are not, because they cannot be passed on: [real drives](../validation-traces.md) has the demerit of
each. Rows of Linux md are answered from their description here; [their page](../validation-md-raid.md) repeats the very
requests that were measured, and is nearer.
"""


def tables(more: dict[str, Answers] | None = None, asked: Sequence[Question] | None = None) -> str:
    """Return the scores of all predictors, on all questions and on each group."""
    asked = questions() if asked is None else asked
    answers = {name: found() for name, found in PREDICTORS.items()} | (more or {})
    parts = ["## All questions\n", table(asked, answers)]
    for group, about in GROUPS.items():
        parts += [f"\n## `{group}`: {about}\n", table([item for item in asked if item.group == group], answers)]
    return "\n".join(parts) + "\n"


def text() -> str:
    """Return the page."""
    return _INTRODUCTION + tables() + _OWN


def write() -> None:
    """Write the page."""
    PAGE.write_text(text(), encoding="utf-8")

"""The page of the audit, made from its results."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.audit.questions import KINDS
from tests.audit.verify import Checked

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "audit-of-plans.md"

#: Audits before this one, of earlier versions of the planner: seeds, questions, candidates, checked, unsafe.
EARLIER = Path(__file__).with_name("earlier.csv")

_INTRODUCTION = """# Audit of plans

`make audit` draws random questions to the planner, answers them as a user would, and checks every candidate of every
answer by long runs. This page is its output; nothing on it is typed by hand. A full audit has 300 questions and takes
hours; the line above the table says how many were asked here.

A question has one or two drives, two RAID levels, a read share, request size and access pattern, an arrival rate or a
number of clients, a limit on the mean, p95 or p99 latency, sometimes a limit on utilization, and a capacity. The seed
and the number of a question determine it.

Every candidate that was simulated is checked with the `array` and `workload` of the plan's JSON, by runs of
{requests:,} requests with other seeds, or of a fourth of that where every figure is then at least two half-widths of
its interval from its limit. Where something waits to be written, there are three runs: from the steady start, from
empty caches, and from full ones; the last two are judged by their second halves, and left out where a cache still
fills or drains then.
Only a gross overload is judged by {overload:,} requests, and a candidate called infeasible by the first run in which it
misses the objective: one of {missed:,} requests where it does so with its whole interval.

- A candidate called feasible is **unsafe** where a criterion is missed by more than the half-width of the plan's own
  interval, or the array is overloaded. A miss within that interval is counted as *narrowly missed*.
  For the utilization of the busiest disk, at most 99 %, that is up to 99.5 %.
- A candidate called infeasible is **unsafe** where the largest count meets every criterion in every run.
- A candidate called undecided claims nothing, and one that was ruled out without a simulation (no room, no such group)
  needs no run. Neither is checked.
"""


@dataclass(frozen=True)
class Answered:
    """A question, and what was found of each candidate of its answer."""

    seed: int
    number: int
    kind: str
    found: Sequence[Checked]


def page_of(answers: Sequence[Answered], *, requests: int, overload: int, missed: int) -> str:
    """Return the page.

    Parameters
    ----------
    answers : sequence of Answered
        Of each seed, the questions from number 0 on.
    requests, overload, missed : int
        Of the verification runs.
    """
    text = _INTRODUCTION.format(requests=requests, overload=overload, missed=missed)
    everything = [item for answer in answers for item in answer.found]
    checked = [item for item in everything if not item.verdict.startswith("not checked")]
    unsafe = sum(item.is_unsafe for item in checked)
    of_seed = Counter(answer.seed for answer in answers)
    commands = " and ".join(f"`make audit QUESTIONS={n} SEED={seed}`" for seed, n in of_seed.items())
    text += (
        f"\n{commands}: {len(answers)} questions, {len(everything)} candidates, "
        f"{len(checked)} of them checked, **{unsafe} unsafe**.\n\n"
        "![What became of the candidates of each kind of question](audit-of-plans.svg)\n\n"
        "| kind | questions | candidates | checked | feasible | infeasible | undecided | narrowly missed | unsafe |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    )
    for kind in (*KINDS, "all"):
        chosen = [answer for answer in answers if kind in ("all", answer.kind)]
        items = [item for answer in chosen for item in answer.found]
        figures = [
            len(chosen),
            len(items),
            sum(not item.verdict.startswith("not checked") for item in items),
            *(sum(item.state == state for item in items) for state in ("feasible", "infeasible", "undecided")),
            sum(item.verdict == "narrowly missed" for item in items),
            sum(item.is_unsafe for item in items),
        ]
        text += f"| {kind} | {' | '.join(str(figure) for figure in figures)} |\n"
    doubtful = [
        (answer, item)
        for answer in answers
        for item in answer.found
        if item.is_unsafe or item.verdict == "narrowly missed"
    ]
    if doubtful:
        text += "\n## Answers that were not confirmed\n\n"
        text += "| seed, question | kind | candidate | the plan says | the audit says |\n|---|---|---|---|---|\n"
        for answer, item in doubtful:
            candidate = f"{item.disks} x {item.drive}, {item.level}"
            text += (
                f"| {answer.seed}, {answer.number} | {answer.kind} | {candidate} | {item.state} | {item.verdict} |\n"
            )
    text += _earlier()
    return text + "\nA single question again, with every figure: `python -m tests.audit --seed SEED --number NUMBER`.\n"


def _earlier() -> str:
    """Return the table of earlier audits."""
    with EARLIER.open(encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    text = "\n## Audits of earlier versions\n\n"
    text += f"| {' | '.join(names)} |\n|---|{'--:|' * (len(names) - 1)}\n"
    return text + "".join(f"| {' | '.join(row)} |\n" for row in rows)

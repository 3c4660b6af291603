"""Audit of the chances that plans state: random questions, and other draws of what is not known.

    python -m tests.audit.chances [--questions 100] [--seed 81] [--page]
    python -m tests.audit.chances --seed 81 --number 17      one question

Results are kept in a file of each seed, so that an audit that was stopped goes on where it was. Delete them after a
change to the planner or the engines.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.answer.criterion import Criterion
from diskmodel.plan.question.case import Case
from diskmodel.plan.trial import judge
from diskmodel.plan.trial.drawn_case import DrawnCase, seen_in
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.uncertainty.case import Case as Unknowns
from diskmodel.uncertainty.draws import draw as draw_truths
from diskmodel.uncertainty.tails import factor
from diskmodel.workload import Workload
from tests.audit.questions import KINDS, draw

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "validation" / "chances.md"
#: Truths of each answer, and requests of each of their runs. A share of 40 is known within 5 % at 90 %; a run of 20,000
#: requests is twice as long as those that the plan draws with.
N_TRUTHS, N_REQUESTS = 40, 20_000
#: Disks that an answer may have: what is asked is the chance, not whether a shelf has room for it.
MOST_DISKS = 96
#: Seeds of the truths and of their requests are the plan's plus this.
OTHER_SEED = 4_000_037
#: Draws from which a plan states a chance.
_PLAN_DRAWS = 16
#: Chance below which an answer is said to promise too much.
_RARE = 0.01

#: The same with spreads that multiplied the speed of a whole drive, of 300 questions.
_BEFORE = "With intervals as wide as they were before quantities were learned one by one, 128 of 238 had that chance."

_INTRODUCTION = """# Audit of chances

A plan says with which chance its answer meets the objective, in view of what is not known of drives, controllers and
hosts. `{command}` draws random questions to the planner, as [the audit of plans](../audit-of-plans.md) does, allows
each up to {most} disks, and tries the array of each answer with {truths} other truths that were drawn from another
seed, each with {requests:,} requests of its own. This page is its output; nothing on it is typed by hand.

Both the plan and the audit draw from the same spread of drives, which [another page](../validation-coverage.md)
compares with measurements. What is audited here is the rest of the promise: that 16 draws of 10,000
requests, all with the same requests and compared with the answer's own run, find the share of truths that meet the
objective. Each draw counts by how far it is from the limits, not as one of sixteen.

"""


@dataclass(frozen=True)
class Chance:
    """The stated and the found chance of one answer.

    Attributes
    ----------
    number : int
    kind : str
    array : str
        In words; "" where nothing is feasible or nothing was drawn.
    asked, stated : float
        Chance that the objective asks for, and that the plan states.
    n_truths, n_holding : int
        Tried, and of these those that meet the objective.
    missed : mapping of str to int
        Truths that miss each criterion.
    disks, as_described : int
        Disks of the answer, and the fewest that meet the objective if everything is as described; 0 where none do.
    """

    number: int
    kind: str
    array: str = ""
    asked: float = math.nan
    stated: float = math.nan
    n_truths: int = 0
    n_holding: int = 0
    missed: Mapping[str, int] | None = None
    disks: int = 0
    as_described: int = 0

    @property
    def is_confident(self) -> bool:
        """Whether the plan says that the chance is as high as it was asked for."""
        return self.stated >= self.asked

    @property
    def found(self) -> float:
        """Share of the truths that meet the objective."""
        return self.n_holding / self.n_truths if self.n_truths else math.nan

    @property
    def holds_what_is_stated(self) -> bool:
        """Whether so few truths are found more than once in a hundred audits, if the chance is as stated."""
        likely = (_PLAN_DRAWS * self.stated + 0.5) / (_PLAN_DRAWS + 1)  # all of 16 draws are not every truth
        return at_most(self.n_holding, self.n_truths, likely) >= _RARE

    @property
    def promises_too_much(self) -> bool:
        """Whether so few truths would meet the objective once in a hundred audits, if the chance were as asked."""
        return self.is_confident and at_most(self.n_holding, self.n_truths, self.asked) < _RARE


def at_most(k: int, n: int, chance: float) -> float:
    """Return the probability of at most `k` of `n`.

    Examples
    --------
    >>> round(at_most(31, 40, 0.9), 4)
    0.0155
    """
    return sum(math.comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(k + 1))


def check(number: int, kind: str, data: Mapping[str, Any], n_truths: int = N_TRUTHS) -> Chance:
    """Answer a question, and try the answer with other truths."""
    plan = PlanDescription.parse({**data, "candidates": {**data["candidates"], "max_disks": MOST_DISKS}})
    result = run_plan(plan, with_relaxations=False, with_details=False)
    best, nominal = result.best, result.nominal
    described = nominal.disks or 0 if nominal is not None else 0
    if best is None or best.risk is None or best.trial is None or best.trial.outcome is None:
        return Chance(number, kind, as_described=described)
    case = Case(plan, best.family)
    array = case.array(best.trial.disks)
    unknowns = Unknowns(array, case.workload, seen_in(best.trial.outcome, array, case.workload))
    seed = plan.search.seed + OTHER_SEED
    tried, holding, missed = 0, 0, dict[str, int]()
    for index, perturbation in enumerate(draw_truths(unknowns, n_truths, seed).perturbations):
        truth = DrawnCase(plan, best.family, perturbation)
        try:
            true = truth.array(best.trial.disks)
        except DescriptionError:  # no such drive is possible
            continue
        outcome = Simulated(with_angles=False)(true, truth.workload, n_requests=N_REQUESTS, seed=seed + index)
        found = judge.performance(plan.objective, outcome, truth.workload)
        names = {item.name for item in found if _is_missed(item, perturbation, truth.workload)}
        tried, holding = tried + 1, holding + (not names)
        for name in names:
            missed[name] = missed.get(name, 0) + 1
    words = f"{best.trial.disks} x {best.family.drive.name}, {best.family.level}"
    risk, disks = best.risk, best.trial.disks
    found = (risk.confidence, risk.probability, tried, holding, missed, disks, described)
    return Chance(number, kind, words, *found)


def _is_missed(item: Criterion, perturbation: Any, workload: Workload) -> bool:
    """Whether a figure is beyond its limit, by the estimate alone; tails differ by what was drawn of them."""
    statistic, _, subset = item.detail.partition(" of ")
    value = item.figure.value * factor(perturbation, statistic, subset, workload)
    return not (value <= item.limit if item.is_upper else value >= item.limit)


def page_of(found: Sequence[Chance], seed: int) -> str:
    """Return the page."""
    command = f"python -m tests.audit.chances --questions {len(found)} --seed {seed}"
    text = _INTRODUCTION.format(command=command, most=MOST_DISKS, truths=N_TRUTHS, requests=N_REQUESTS)
    known = [item for item in found if item.n_truths]
    as_asked = [item for item in known if item.is_confident]
    most = [item for item in as_asked if item.found >= item.asked]
    described = [item for item in found if item.as_described]
    reached = [item for item in described if item.n_truths and item.is_confident]
    if reached:
        times = statistics.median(item.disks / item.as_described for item in reached)
        text += (
            f"Of {len(described)} questions that have an answer if everything is as described, {len(reached)} "
            f"({len(reached) / len(described):.0%}) have one with the chance that was asked for, with {times:.3g} "
            f"times as many disks at the median. {_BEFORE}\n\n"
        )
    text += (
        f"{len(found)} questions; {len(known)} answers have a chance, and {len(as_asked)} of them one as high as was "
        f"asked for. Their stated chance is {_mean(as_asked, 'stated')} on average, and {_mean(as_asked, 'found')} of "
        f"other truths meet the objective; of {len(most)} answers at least as many as were asked for. "
        f"**{sum(item.promises_too_much for item in as_asked)}** promise too much: so few truths would meet the "
        "objective once in a hundred times, if the chance were as asked.\n\n"
        f"Of all {len(known)} answers, {sum(item.found >= item.stated for item in known)} have at least the share that "
        f"they state, and {sum(item.holds_what_is_stated for item in known)} one that {N_TRUTHS} truths may have by "
        f"accident where the stated chance is right. That chance is known from {_PLAN_DRAWS} draws, to about 5 %.\n\n"
        f"{_by_stated(known)}\n\n"
        "| kind | questions | with a chance | as high as asked | stated | found | promise too much |\n"
        "|---|--:|--:|--:|--:|--:|--:|\n"
    )
    for kind in (*KINDS, "all"):
        of_kind = [item for item in found if kind in ("all", item.kind)]
        sure = [item for item in of_kind if item.n_truths and item.is_confident]
        n_known = sum(item.n_truths > 0 for item in of_kind)
        too_much = sum(item.promises_too_much for item in sure)
        text += f"| {kind} | {len(of_kind)} | {n_known} | {len(sure)} | {_mean(sure, 'stated')} | "
        text += f"{_mean(sure, 'found')} | {too_much} |\n"
    fewest = sorted((item for item in as_asked if item.found < item.asked), key=lambda item: item.found)
    if fewest:
        text += "\n## Answers that fewer truths meet than were asked for\n\n"
        text += "| question | kind | answer | stated | found | missed |\n|--:|---|---|--:|--:|---|\n"
        for item in fewest:
            names = ", ".join(f"{name} {n}" for name, n in (item.missed or {}).items())
            text += f"| {item.number} | {item.kind} | {item.array} | {item.stated:.0%} | {item.found:.0%} | {names} |\n"
    text += f"\nA single question again: `python -m tests.audit.chances --seed {seed} --number NUMBER`.\n"
    return "\n\n".join(map(_wrapped, text.split("\n\n")))


#: Ends of the groups of stated chances.
_GROUPS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 1.0)


def _by_stated(known: Sequence[Chance]) -> str:
    """Return the table of what was found of answers that state about the same chance."""
    lines = ["| stated | answers | stated, mean | found, mean |", "|---|--:|--:|--:|"]
    for low, high in itertools.pairwise(_GROUPS):
        group = [item for item in known if low < item.stated <= high or item.stated == low == 0]
        lines.append(f"| up to {high:.0%} | {len(group)} | {_mean(group, 'stated')} | {_mean(group, 'found')} |")
    return "\n".join(lines)


def _wrapped(part: str) -> str:
    """Return a paragraph in lines of at most 120 characters; tables and headings as they are."""
    if part.startswith(("|", "#")):
        return part
    end = "\n" if part.endswith("\n") else ""
    return textwrap.fill(" ".join(part.split()), 120, break_long_words=False, break_on_hyphens=False) + end


def _mean(found: Sequence[Chance], name: str) -> str:
    values = [getattr(item, name) for item in found]
    return f"{100 * sum(values) / len(values):.1f} %" if values else "-"


def main() -> int:
    """Check the questions one after the other; 1 when an answer promised too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=81)
    parser.add_argument("--number", type=int)
    parser.add_argument("--minutes", type=float, help="begin no further question after so long")
    parser.add_argument("--results", type=Path, default=Path("out"), help="folder of results, chances-SEED.jsonl")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    if options.number is not None:
        question = draw(options.seed, options.number)
        print(json.dumps(question.plan, indent=2))
        print(check(options.number, question.kind, question.plan))
        return 0
    options.results.mkdir(parents=True, exist_ok=True)
    place = options.results / f"chances-{options.seed}.jsonl"
    lines = place.read_text(encoding="utf-8").splitlines() if place.is_file() else []
    known = {item.number: item for item in (Chance(**json.loads(line)) for line in lines)}
    until = math.inf if options.minutes is None else time.monotonic() + 60 * options.minutes
    for number in range(options.questions):
        if number in known:
            continue
        if time.monotonic() > until:
            break
        question = draw(options.seed, number)
        known[number] = check(number, question.kind, question.plan)
        with place.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(known[number])) + "\n")
        print(known[number], flush=True)
    found = [known[number] for number in range(options.questions) if number in known]
    text = page_of(found, options.seed)
    if options.page:
        PAGE.write_text(text, encoding="utf-8")
    print(next(line for line in text.splitlines() if "answers have a chance" in line))
    return int(any(item.promises_too_much for item in found))


if __name__ == "__main__":
    sys.exit(main())

"""The fewest disks of one family that hold an objective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diskmodel.plan.answer.criteria import Criterion, Verdict, overall, tightest
from diskmodel.plan.answer.outcome import Evaluate
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.families import Family, allowed_counts
from diskmodel.plan.search.difference import difference_in_words
from diskmodel.plan.search.hint import Hint
from diskmodel.plan.search.rule_of_thumb import rule_of_thumb_disks
from diskmodel.plan.search.trial import Trial, Trier

#: Trials that follow the formulas' guess before bisection takes over.
GUESSES = 4
#: Criteria that more disks can only make worse.
_SHRINKING = ("cost", "rack_units", "data_loss")


@dataclass(frozen=True)
class Candidate:
    """The answer for one family.

    Attributes
    ----------
    family : Family
    is_feasible : bool
    trial : Trial or None
        At the answer; where there is none, the trial that came nearest; None where no count was allowed at all.
    below : Trial or None
        At the next smaller count: the proof that the answer is the fewest.
    binds : str
        Criterion that forbids fewer disks; "minimum disks" where the level allows no fewer; where nothing is
        feasible, the criterion that is not met.
    binding : Criterion or None
        That criterion at `below`, or at the nearest trial of an infeasible family.
    reason : str
        In words: why no fewer, or why none.
    is_decided : bool
        False: the next smaller count may do as well, within the precision of the longest run; the larger is taken.
    rule_of_thumb_disks : int or None
    rule_of_thumb_difference : tuple of str
        Why the calculators say something else.
    trials : tuple of Trial
        All that was tried, by number of disks.
    """

    family: Family
    is_feasible: bool
    trial: Trial | None
    below: Trial | None
    binds: str
    binding: Criterion | None
    reason: str
    is_decided: bool
    rule_of_thumb_disks: int | None
    rule_of_thumb_difference: tuple[str, ...]
    trials: tuple[Trial, ...]

    @property
    def disks(self) -> int | None:
        """The fewest disks; None where infeasible."""
        return self.trial.disks if self.is_feasible and self.trial else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data: dict[str, Any] = {**self.family.key(), "disks": self.disks, "feasible": self.is_feasible}
        data |= {"binds": self.binds, "reason": self.reason, "decided": self.is_decided}
        data["binding"] = self.binding.to_dict() if self.binding else None
        outcome = self.trial.outcome if self.trial else None
        data |= outcome.to_dict() if outcome else {"iops": None, "latency_ms": {}}
        if self.trial is not None:
            figures = self.trial.statics
            data |= {
                "tried_disks": self.trial.disks,
                "usable_bytes": figures.usable_bytes,
                "cost_usd": _finite(figures.cost_usd),
                "rack_units": figures.rack_units,
                "rebuild_hours": _finite(figures.rebuild_hours),
                "data_loss_per_year": figures.loss_per_year,
                "criteria": [item.to_dict() for item in self.trial.criteria],
                "degraded": self.trial.degraded.to_dict() if self.trial.degraded else None,
            }
        data["below"] = self.below.to_dict() if self.below else None
        data["rule_of_thumb_disks"] = self.rule_of_thumb_disks
        data["rule_of_thumb_difference"] = list(self.rule_of_thumb_difference)
        data["trials"] = [trial.to_dict() for trial in self.trials]
        return data


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def search_family(plan: PlanDescription, family: Family, evaluate: Evaluate) -> Candidate:
    """The fewest disks of `family` that hold the plan's objective.

    Parameters
    ----------
    plan : PlanDescription
    family : Family
    evaluate : Evaluate
        Decides; the formulas only say where to begin.

    Notes
    -----
    More disks are taken never to make speed, space or the rebuild worse, and never to make cost, rack units or data
    loss better. The formulas' guess, corrected by each trial, then bisection, until neighbours differ.
    """
    counts = allowed_counts(plan, family)
    if not counts:
        reason = f"{family.level} can have none of the numbers of disks asked about"
        return Candidate(family, False, None, None, "minimum disks", None, reason, True, None, (), ())
    trier = Trier(plan, family, evaluate)
    fixed = {n: trier.static(n) for n in counts}
    low = _first(counts, lambda n: not _fails(fixed[n], but=_SHRINKING))
    if low is None:
        return _infeasible(plan, trier, counts, counts[-1], "")
    high = len(counts) - 1
    while high >= low and _fails(fixed[counts[high]]):
        high -= 1
    if high < low:
        return _infeasible(plan, trier, counts, counts[low], "")
    allowed = counts[low : high + 1]
    found = _fewest(allowed, lambda n: trier(n).is_met, Hint(trier), lambda n: margin_of(trier(n)))
    if found is None:
        capped = "" if high == len(counts) - 1 else _cap(fixed[counts[high + 1]], counts[high + 1])
        return _infeasible(plan, trier, counts, allowed[-1], capped)
    return _feasible(plan, trier, counts, found)


def _fewest(
    counts: list[int],
    holds: Callable[[int], bool],
    hint: Callable[[int], bool],
    margin: Callable[[int], float] = lambda _: math.nan,
) -> int | None:
    """The smallest count that holds, for `holds` that once true stays true; None without any.

    `hint` guesses and may learn between calls. Between a count that holds and one that does not, `margin` (above 0
    where it holds, nan where unknown) is interpolated. Where that leads to small steps only, bisection takes over.
    """
    good, bad, n_guessed = len(counts), -1, 0
    while good - bad > 1:
        at = (good + bad) // 2
        if n_guessed < GUESSES or (good == len(counts) and n_guessed < 2 * GUESSES):
            n_guessed += 1
            guess = _between(counts, bad, good, margin)
            if guess is None:
                guess = _first(counts, hint)
            if guess is None:
                guess = _doubled(counts, bad)
            at = min(max(guess, bad + 1), good - 1)
        good, bad = (at, bad) if holds(counts[at]) else (good, at)
    return counts[good] if good < len(counts) else None


def _between(counts: list[int], bad: int, good: int, margin: Callable[[int], float]) -> int | None:
    """Index at which the margin, linear in the logarithm of the count, becomes positive; None where it is not known."""
    if bad < 0 or good == len(counts):
        return None
    short, over = margin(counts[bad]), margin(counts[good])
    if not (math.isfinite(short) and math.isfinite(over) and short < over):
        return None
    share = min(max(-short / (over - short), 0.0), 1.0)
    count = counts[bad] * (counts[good] / counts[bad]) ** share
    return next(i for i in range(bad, good + 1) if counts[i] >= count - 1e-9 or i == good)


def _doubled(counts: list[int], bad: int) -> int:
    """Index of the first count twice as large as the one at `bad`, at most the last; without `bad` the last.

    Near saturation a formula that is scaled to what was simulated may say that no count holds; the next trial, farther
    from saturation, corrects it, and costs less than one of the largest array.
    """
    if bad < 0:
        return len(counts) - 1
    return next((i for i, count in enumerate(counts) if count >= 2 * counts[bad]), len(counts) - 1)


def _first(counts: list[int], holds: Callable[[int], bool]) -> int | None:
    """Index of the first count for which the monotone `holds` is true, by bisection."""
    bad, good = -1, len(counts)
    while good - bad > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(counts[middle]) else (good, middle)
    return good if good < len(counts) else None


def margin_of(trial: Trial) -> float:
    """Least margin of the criteria about speed; nan where there is none, or the array is overloaded."""
    margins = [
        item.margin_ratio
        for item in trial.criteria
        if item.name.split()[-1] in ("latency", "iops", "throughput", "utilization")
        and item.detail != "overloaded"
        and item.verdict is not Verdict.UNKNOWN
    ]
    return min(margins, default=math.nan) if trial.outcome is not None and trial.outcome.is_stable else math.nan


def _fails(criteria: list[Criterion], but: tuple[str, ...] = ()) -> bool:
    return overall(item for item in criteria if item.name not in but) is Verdict.FAILS


def _cap(criteria: list[Criterion], disks: int) -> str:
    failed = tightest(item for item in criteria if item.name in _SHRINKING)
    return f"; {disks} disks are not allowed: {failed}" if failed else ""


def _feasible(plan: PlanDescription, trier: Trier, counts: list[int], disks: int) -> Candidate:
    trial, at = trier(disks), counts.index(disks)
    below = trier(counts[at - 1]) if at else None
    binding = None if below is None else tightest(below.criteria)
    is_decided = below is None or below.verdict is Verdict.FAILS
    if binding is None or below is None:
        binds, reason = "minimum disks", f"{disks} is the fewest that the level or the plan allows"
    elif is_decided:
        binds, reason = binding.name, f"with {below.disks} disks: {binding}"
    else:
        binds = binding.name
        reason = f"with {below.disks} disks it cannot be told within the longest run: {binding}; the safe side is taken"
    counted = rule_of_thumb_disks(plan, trier.family, counts)
    words = difference_in_words(trier, trial, counted, counts)
    return Candidate(
        trier.family, True, trial, below, binds, binding, reason, is_decided, counted, words, tuple(trier.trials)
    )


def _infeasible(plan: PlanDescription, trier: Trier, counts: list[int], nearest: int, capped: str) -> Candidate:
    trial = trier(nearest)
    binding = tightest(trial.criteria)
    reason = f"with {nearest} disks: {binding}{capped}"
    counted = rule_of_thumb_disks(plan, trier.family, counts)
    return Candidate(
        trier.family,
        False,
        trial,
        None,
        binding.name if binding else "",
        binding,
        reason,
        trial.verdict is Verdict.FAILS,
        counted,
        difference_in_words(trier, trial, counted, counts),
        tuple(trier.trials),
    )

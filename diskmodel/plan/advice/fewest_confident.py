"""The fewest disks with the chance that an objective asks for, where no more than that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from diskmodel.plan.advice.choice import choose, minimized_by
from diskmodel.plan.advice.confident import with_confidence
from diskmodel.plan.advice.profile_risk import chance_is_enough
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.criterion import Verdict, overall
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.family import Family
from diskmodel.plan.search.aligned import aligned_counts
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.trier import Trier


class Chances:
    """Finds which numbers of disks have the chance that an objective asks for, with as few draws as show it.

    More disks never make a chance worse, except where writes may be whole rows (`aligned_counts`). There every number
    is tried as for an answer (`with_confidence`).

    Parameters
    ----------
    plan : PlanDescription
    evaluate : Evaluate
    n_draws : int
        Of what is not known.
    """

    def __init__(self, plan: PlanDescription, evaluate: Evaluate, *, n_draws: int) -> None:
        self.plan, self.evaluate, self.n_draws = plan, evaluate, n_draws
        self._order: list[int] = []

    def is_hopeless(self, case: Case) -> bool:
        """Return whether the largest number of disks has not the chance, so that no other needs to be looked for."""
        if _is_uneven(case):
            return False
        trier = Trier(case, self.evaluate)
        # what has no room, or costs too much, is for the search to say
        possible = [n for n in case.counts if overall(trier.static(n)) is not Verdict.FAILS]
        if not possible or not trier(possible[-1]).is_met:
            return False
        return not self._has_chance(case, trier, possible[-1])

    def best(self, candidates: Sequence[Candidate]) -> Candidate | None:
        """Return the best candidate with the fewest disks that have the chance; None where none has it."""
        left, looked_at = list(candidates), list[Family]()
        while True:
            best, _ = choose(self.plan, left)
            if best is None or best.family in looked_at:
                return best
            is_by_disks = minimized_by(self.plan, [c for c in left if c.is_feasible and c.trial]) == "disks"
            found = [item.disks for item in left if item.family in looked_at and item.disks]
            more = self._with_chance(best, min(found) if found and is_by_disks else None)
            looked_at.append(best.family)
            left = [item for item in left if item is not best] + ([] if more is None else [more])

    def _with_chance(self, candidate: Candidate, most: int | None) -> Candidate | None:
        """Return a candidate with the fewest disks, at most so many, that have the chance; None without any."""
        case = Case(self.plan, candidate.family)
        if _is_uneven(case):
            found = with_confidence(
                self.plan, candidate, self.evaluate, n_draws=self.n_draws, most=most or max(case.counts)
            )
            return found if found.risk is None or found.risk.is_confident else None
        trier = Trier(case, self.evaluate, known=candidate.trials)
        assert candidate.disks is not None
        counts = [n for n in case.counts if candidate.disks <= n <= (most or n)]
        if not counts or self._has_chance(case, trier, counts[0]):
            return candidate
        bad, good = 0, len(counts)
        while good - bad > 1:
            # the largest first: where it has not the chance, no number between has it
            at = len(counts) - 1 if good == len(counts) else (bad + good) // 2
            is_enough = trier.careful(counts[at]).is_met and self._has_chance(case, trier, counts[at])
            bad, good = (bad, at) if is_enough else (at, good)
        return None if good == len(counts) else replace(candidate, trial=trier(counts[good]))

    def _has_chance(self, case: Case, trier: Trier, disks: int) -> bool:
        is_enough, self._order = chance_is_enough(
            case, trier(disks), self.evaluate, n_draws=self.n_draws, order=self._order
        )
        return is_enough is not False


def _is_uneven(case: Case) -> bool:
    return bool(aligned_counts(case, list(case.counts)))

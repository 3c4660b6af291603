"""Answering a plan: search every family, choose the best, and report what would change the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from diskmodel.engine import with_part
from diskmodel.engine.ledger import as_question, current, elsewhere
from diskmodel.plan.advice.assumed import assumptions
from diskmodel.plan.advice.choice import assure, choose, minimized_by, rank
from diskmodel.plan.advice.confident import PURPOSE, with_fewer
from diskmodel.plan.advice.hidden_peaks import hidden_peaks
from diskmodel.plan.advice.log_cache import caches_instead
from diskmodel.plan.advice.profile_risk import chance
from diskmodel.plan.advice.relax import relaxations
from diskmodel.plan.advice.sensitivity import sensitivity
from diskmodel.plan.advice.spreading import spreading
from diskmodel.plan.advice.waterfall import waterfall
from diskmodel.plan.answer.candidate import Candidate, nearest
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.comparison.pareto import pareto_front, points_of
from diskmodel.plan.question.case import Case, cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.run.pool import Progress, SoFar, Workers
from diskmodel.plan.search.aligned import aligned_counts
from diskmodel.plan.search.complete import complete, complete_with_rebuild
from diskmodel.plan.search.fewest_disks import search_family
from diskmodel.plan.trial.at_once import at_once, counted
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation, evaluator
from diskmodel.plan.trial.trier import is_settled, limits_rebuild

#: What is open when the families were searched, by whether a chance is asked for; and when the best one was chosen.
_AFTER_SEARCH = {True: "the chance of that in view of what is not known", False: "what a failed disk does"}
_AFTER_CHOICE = "what was assumed"
_STEPS = "steps from the rule of thumb"
#: Part of a question's computing time that the search may take: failed disks, rebuilds and chances of what was found
#: come after it. At half, close calls of many families stay open; at nine tenths, a rebuild is hardly simulated.
_OF_SEARCH = 0.6
#: Kinds of advice about the best candidate.
_ADVICE = 6


@as_question
def run_plan(
    plan: PlanDescription,
    *,
    evaluate: Evaluate | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    so_far: SoFar | None = None,
    memory: str | Path | None = None,
    with_relaxations: bool = True,
    with_sensitivity: bool = False,
    with_waterfalls: bool = False,
    with_details: bool = True,
    by_chance: bool = True,
) -> PlanResult:
    """Return the answer to a plan.

    Parameters
    ----------
    plan : PlanDescription
    evaluate : Evaluate, optional
        Evaluates arrays; default: the simulation, or the rule of thumb where the plan asks for it.
    executor : concurrent.futures.Executor, optional
        Searches families at the same time; default: a pool on this machine. The answer does not depend on it.
    progress : callable, optional
        Called in this thread after each family.
    so_far : callable, optional
        Called in this thread with the best candidate as far as it is known, and what is still open: first as everything
        is described, then with the chance that is asked for.
    memory : path, optional
        File that keeps every outcome; an interrupted search with the same file continues where it stopped.
    with_relaxations, with_sensitivity : bool
        Whether to find which changes would help, and how the answer moves with its inputs (a search for each).
    with_waterfalls : bool
        Whether every feasible candidate gets the steps from the rule of thumb to it, not only the best.
    with_details : bool
        Without it, only what a short answer shows is simulated: no steps from the rule of thumb, no changes that would
        help where there is an answer, no data spread over all of the array, and a rebuild only of the best candidate.
    by_chance : bool
        Whether a candidate has to meet the objective with the chance that it asks for, in view of what is not known.
        Without it, drives, controllers and hosts are taken to be as they are described.

    Returns
    -------
    PlanResult
        "No feasible array" is a result: `best` is None and `reason` says why.
    """
    decide = Evaluation(evaluate if evaluate is not None else evaluator(plan), memory=memory)
    tallies: defaultdict[str, Evaluation] = defaultdict(lambda: Evaluation.part(decide))
    if by_chance:
        tallies[PURPOSE].executor = executor
    with Workers(cases(plan), decide, executor) as workers, decide:
        with with_part(_OF_SEARCH):
            found, settled = _search(plan, workers, progress, with_care=not by_chance)
        if so_far:
            so_far(choose(plan, found)[0], _AFTER_SEARCH[by_chance])
        with_chance = partial(assure, plan, evaluate=tallies[PURPOSE]) if by_chance else None
        found, described = _complete(plan, workers, found, settled, with_chance, with_details)
    best, minimized = choose(plan, found)
    if best is not None and best.risk is not None:
        at = next(i for i, item in enumerate(found) if item is best)
        found[at] = best = with_fewer(plan, best, tallies[PURPOSE])
    if so_far:
        so_far(best, _AFTER_CHOICE)
    unsafe = [item.family for item in found if item.is_unsafe and best is not None and not best.is_unsafe]
    nominal, _ = choose(plan, [item for item in described if item.family not in unsafe])
    if best is not None and (with_details or with_waterfalls) and current().has_time_for(_STEPS):
        steps = tallies[_STEPS]
        explained = [
            replace(item, waterfall=waterfall(plan, item, steps)) if with_waterfalls or item is best else item
            for item in found
        ]
        best, found = explained[next(i for i, item in enumerate(found) if item is best)], explained
    shown = nearest(found) if best is None or nominal is None else nominal
    helps = with_relaxations and (with_details or best is None)
    with at_once(decide) as own, decide:
        pool = executor or own
        account = current()
        parts = iter([*account.parts(_ADVICE, 2 * _ADVICE), *account.parts(len(found), 2 * len(found))])

        def submitted(advise: Callable[..., Any], purpose: str, about: Any) -> _Advice | None:
            part = next(parts)
            if about is None or not account.has_time_for(purpose):
                return None
            work = partial(_advised, advise, plan)
            own = Evaluation.apart(decide)
            job = pool.submit(elsewhere, part.budget_s, part.n_ahead, counted, work, own, about)
            return _Advice(job, tallies[purpose])

        changes = submitted(relaxations, "what would help", shown if helps else None)
        moves = submitted(sensitivity, "wrong inputs", best if with_sensitivity else None)
        spread = submitted(spreading, "data spread", best if with_details else None)
        peaks = submitted(hidden_peaks, "hidden peaks", best)
        unsaid = submitted(
            partial(assumptions, by_chance=by_chance), "what was assumed", best if with_relaxations else None
        )
        caches = submitted(caches_instead, "a cache instead of spindles", tuple(found))
        others = [
            submitted(chance, PURPOSE, item if by_chance and with_details and item.risk is None else None)
            for item in found
        ]
        wait([job.future for job in (changes, moves, spread, peaks, unsaid, caches, *others) if job is not None])
        found = [
            item if job is None else replace(item, probability=job.result())
            for item, job in zip(found, others, strict=True)
        ]
    best = None if best is None else found[[item.family for item in found].index(best.family)]
    return PlanResult(
        plan=plan,
        candidates=tuple(found),
        best=best,
        minimized=minimized,
        reason="" if best else _why_none(found),
        relaxations=tuple(changes.result()) if changes else (),
        sensitivities=tuple(moves.result()) if moves else (),
        front=tuple(pareto_front(points_of(found))),
        profile_risk=None if best is None else best.risk,
        by_chance=by_chance,
        nominal=nominal,
        spreading=spread.result() if spread else None,
        peaks=tuple(peaks.result()) if peaks else (),
        assumptions=tuple(unsaid.result()) if unsaid else (),
        caches_instead=tuple(caches.result()) if caches else (),
        advice_efforts={purpose: tally.effort for purpose, tally in tallies.items()},
    )


class _Advice(NamedTuple):
    """Advice that is being found, and the count to which what it simulates is added."""

    future: Future[Any]
    tally: Evaluation

    def result(self) -> Any:
        found, effort = self.future.result().settled(current())
        self.tally.add(effort)
        return found


def _advised(advise: Callable[..., Any], plan: PlanDescription, evaluate: Evaluate, about: Any) -> Any:
    """Return the advice of a function about candidates."""
    return advise(plan, about, evaluate)


def _search(
    plan: PlanDescription, workers: Workers, progress: Progress | None, *, with_care: bool
) -> tuple[list[Candidate], set[int]]:
    """Return the fewest disks of every family, and which families need no longer runs.

    First as far as ordinary runs decide. Then the best candidate, and every other one that could take its place with a
    disk less, or with its largest count, is run on until it is settled; most candidates are far behind, and a disk
    more or less of them changes nothing. Without care that is left for later where there is a best candidate: its
    chance mostly takes more disks, which are then tried with care. But where writes may be whole rows, the numbers that
    are tried for its chance depend on where they begin.
    """
    searched = workers.work(_search_quickly, dict.fromkeys(range(len(workers.asked))), progress)
    found = [searched[i] for i in range(len(workers.asked))]
    settled: set[int] = set()
    while True:
        best, _ = choose(plan, found)
        is_left = best is not None and not with_care
        rivals = _rivals(plan, found, best, settled)
        rivals = [i for i in rivals if not is_left or _is_uneven(workers.asked[i])]
        if not rivals:
            return found, settled if is_left else set(range(len(found)))
        for i, candidate in workers.work(_search_with_care, {i: found[i] for i in rivals}).items():
            found[i] = candidate
        settled.update(rivals)


def _is_uneven(case: Case) -> bool:
    return bool(aligned_counts(case, list(case.counts)))


def _rivals(
    plan: PlanDescription, found: Sequence[Candidate], best: Candidate | None, settled: Collection[int]
) -> list[int]:
    """Return the best candidate, and those that might take its place, as far as they are not settled."""
    return [i for i, item in enumerate(found) if i not in settled and (item is best or _is_rival(plan, item, best))]


def _search_quickly(case: Case, evaluate: Evaluate, _: Candidate | None) -> Candidate:
    return search_family(case, evaluate, is_careful=False)


def _search_with_care(case: Case, evaluate: Evaluate, candidate: Candidate | None) -> Candidate:
    return search_family(case, evaluate, before=candidate)


def _is_rival(plan: PlanDescription, candidate: Candidate, best: Candidate | None) -> bool:
    """Return whether a candidate would be better than the best one if the nearest count that misses were enough."""
    missed = candidate.below if candidate.is_feasible else candidate.trial
    if missed is None or missed.outcome is None or is_settled(missed.criteria):
        return False
    if best is None:
        return True
    hoped = replace(candidate, trial=missed, is_feasible=True)
    minimized = minimized_by(plan, [hoped, best])
    return rank(hoped, minimized) < rank(best, minimized)


def _complete(
    plan: PlanDescription,
    workers: Workers,
    found: list[Candidate],
    settled: set[int],
    with_chance: Callable[[Sequence[Candidate]], list[Candidate]] | None,
    with_details: bool,
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the candidates with what a failed disk does to them, and the floor of a latency that is missed.

    The best ones have the chance that is asked for (`with_chance`). Rebuilds are simulated where they are shown: for
    all, or for the best, and before another one is preferred to it because a formula says that it loses data too often.
    Where that is not safe, the next best is looked at in the same way, until one is. The best one is run on until it is
    settled unless its chance takes more disks than it needs as it is described (`_search`).

    Beside them are the candidates as they are described.
    """
    found, described = list(found), list(found)
    # where an objective limits it, the hours that are reported are those of the criterion
    job = complete_with_rebuild if with_details or limits_rebuild(plan.objective) else complete
    looked_at, asked = set[int](), set[int]()
    completed: dict[int, int | None] = {}  # with how many disks
    rebuilt: dict[int, int | None] = {}

    def rebuild(at: int) -> None:
        if job is complete and rebuilt.get(at) != found[at].disks:
            found[at] = complete_with_rebuild(workers.asked[at], workers.evaluate, found[at])
            rebuilt[at] = found[at].disks

    while True:
        if with_chance is not None:
            found = with_chance(found)
            rivals = _unsettled(plan, found, settled)
            for i, candidate in workers.work(_search_with_care, {i: described[i] for i in rivals}).items():
                found[i] = described[i] = candidate
                completed.pop(i, None)
                rebuilt.pop(i, None)
            settled.update(rivals)
            if rivals:
                continue
        new = {i: item for i, item in enumerate(found) if i not in completed or item.disks != completed[i]}
        for i, candidate in workers.work(job, new).items():
            found[i], completed[i] = candidate, candidate.disks
        first, _ = choose(plan, [replace(item, safety=None) for item in found])
        at = next((i for i, item in enumerate(found) if first is not None and item.family == first.family), None)
        if at is not None and found[at].is_unsafe:
            rebuild(at)
        best, _ = choose(plan, found)
        at = next((i for i, item in enumerate(found) if item is best), None)
        if best is None or at is None or at in looked_at:
            return found, described
        if with_chance is not None and best.risk is None and at not in asked:
            asked.add(at)  # before anything is simulated that only the best one has
            continue
        looked_at.add(at)
        if best.is_unsafe:  # others may not have been followed beyond its number of disks
            found = [replace(item, risk=None) if _was_left(item) else item for item in found]
        rebuild(at)


def _unsettled(plan: PlanDescription, found: Sequence[Candidate], settled: Collection[int]) -> list[int]:
    """Return which candidates have to be run on until they are settled, now that the chance of the best one is known.

    None where that takes more disks than it needs as it is described. A candidate whose chance is too low is not one.
    """
    best, _ = choose(plan, found)
    if best is None or (best.risk is not None and best.disks != best.nominal_disks):
        return []
    return [i for i in _rivals(plan, found, best, settled) if found[i] is best or found[i].is_sure]


def _was_left(candidate: Candidate) -> bool:
    """Return whether a candidate may have the chance with more disks than were of interest."""
    has_risk = candidate.risk is not None and candidate.risk.most is not None
    return has_risk and not (candidate.is_unsafe or candidate.is_sure)


def _why_none(candidates: Sequence[Candidate]) -> str:
    lines = "; ".join(f"{candidate.family}: {candidate.reason}" for candidate in candidates)
    return f"no feasible array: {lines}"

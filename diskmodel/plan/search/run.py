"""Answering a plan: every family searched, the best chosen, what would change it told."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.plan.answer.outcome import Evaluate
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.families import Family, allowed_counts, array_of, design_workload, families
from diskmodel.plan.search.fewest_disks import Candidate, search_family
from diskmodel.plan.search.memory import Remembered
from diskmodel.plan.search.pareto import ParetoPoint, pareto_front, points_of
from diskmodel.plan.search.profile_risk import ProfileRisk, profile_risk
from diskmodel.plan.search.relax import Relaxation, Sensitivity, relaxations, sensitivity
from diskmodel.plan.search.rule_of_thumb import Counted
from diskmodel.plan.search.simulated import Simulated

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Pools of our own that may break before we give up.
ATTEMPTS = 3
#: Called with the number of families done, of all, and the one just done.
Progress = Callable[[int, int, Candidate], None]


@dataclass(frozen=True)
class PlanResult:
    """The answer to a plan.

    Attributes
    ----------
    plan : PlanDescription
    candidates : tuple of Candidate
        One for each family, in the order of the plan.
    best : Candidate or None
        None: no feasible array.
    minimized : "disks" or "cost"
    reason : str
        Why nothing is feasible, where nothing is.
    relaxations : tuple of Relaxation
        What would help the best (or the nearest) array just below the objective.
    sensitivities : tuple of Sensitivity
        Empty unless asked for.
    front : tuple of ParetoPoint
        Cost (or disks) against latency, of everything that was tried and holds the objective.
    profile_risk : ProfileRisk or None
        What the uncertainty of a calibrated drive does to the best; None where its profile tells none.
    """

    plan: PlanDescription
    candidates: tuple[Candidate, ...]
    best: Candidate | None
    minimized: str
    reason: str
    relaxations: tuple[Relaxation, ...]
    sensitivities: tuple[Sensitivity, ...]
    front: tuple[ParetoPoint, ...]
    profile_risk: ProfileRisk | None = None

    @property
    def is_feasible(self) -> bool:
        """Whether some array holds the objective."""
        return self.best is not None

    @property
    def n_runs(self) -> int:
        """Simulations made in the search."""
        return sum(trial.n_runs for candidate in self.candidates for trial in candidate.trials)

    def __rich__(self) -> RenderableType:
        from diskmodel.plan.show.table import plan_table

        return plan_table(self)

    def _repr_html_(self) -> str:
        from diskmodel.plan.show.notebook import plan_html

        return plan_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.plan.name,
            "feasible": self.is_feasible,
            "best": self.best.to_dict() if self.best else None,
            "minimized": self.minimized,
            "reason": self.reason,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "relaxations": [item.to_dict() for item in self.relaxations],
            "sensitivities": [item.to_dict() for item in self.sensitivities],
            "profile_risk": self.profile_risk.to_dict() if self.profile_risk else None,
            "pareto": [item.to_dict() for item in self.front],
            "runs": self.n_runs,
            "plan": self.plan.to_dict(),
        }


def run_plan(
    plan: PlanDescription,
    *,
    evaluate: Evaluate | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    memory: str | Path | None = None,
    with_relaxations: bool = True,
    with_sensitivity: bool = False,
) -> PlanResult:
    """The answer to a plan.

    Parameters
    ----------
    plan : PlanDescription
    evaluate : Evaluate, optional
        Decides about an array; default: the simulation, or the rule of thumb where the plan says so.
    executor : concurrent.futures.Executor, optional
        Searches families at the same time; default: a pool on this machine. The answer does not depend on it.
    progress : callable, optional
        Called in this thread after each family.
    memory : path, optional
        File in which outcomes are kept; an interrupted search that names it again goes on where it was.
    with_relaxations, with_sensitivity : bool
        Whether to look for what would help, and how the answer moves with its inputs (a search for each).

    Returns
    -------
    PlanResult
        "No feasible array" is a result: `best` is None and `reason` says why.
    """
    decide = evaluate if evaluate is not None else evaluator(plan)
    if memory is not None:
        decide = Remembered(decide, str(memory))
    found = _searched(plan, decide, executor, progress)
    best, minimized = choose(plan, found)
    shown = best or nearest(found)
    return PlanResult(
        plan=plan,
        candidates=tuple(found),
        best=best,
        minimized=minimized,
        reason="" if best else _why_none(found),
        relaxations=tuple(relaxations(plan, shown, decide)) if with_relaxations and shown else (),
        sensitivities=tuple(sensitivity(plan, shown, decide)) if with_sensitivity and best and shown else (),
        front=tuple(pareto_front(points_of(found))),
        profile_risk=profile_risk(plan, best, decide) if best else None,
    )


def evaluator(plan: PlanDescription) -> Evaluate:
    """What decides about the arrays of a plan."""
    if plan.search.method == "rule":
        return Counted(plan.objective.design_iops)
    return Simulated(plan.search.engine)


def local_pool(plan: PlanDescription, wanted: Sequence[Family]) -> Executor:
    """A pool for this machine: threads where the kernel runs, which lets go of Python's lock; processes otherwise."""
    workers = max(1, min(os.cpu_count() or 1, len(wanted)))
    if plan.search.engine != "simpy" and all(_is_native(plan, family) for family in wanted):
        return ThreadPoolExecutor(workers)
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _is_native(plan: PlanDescription, family: Family) -> bool:
    counts = allowed_counts(plan, family)
    if not counts:
        return True
    array = array_of(plan, family, counts[-1])
    requests = design_workload(plan).requests(capacity_bytes=array.usable_bytes, n=16, seed=plan.search.seed)
    return native.covers(resolve(array, plan.search.seed), requests) is None


def _searched(
    plan: PlanDescription, evaluate: Evaluate, executor: Executor | None, progress: Progress | None
) -> list[Candidate]:
    wanted = families(plan)
    inner = evaluate.evaluate if isinstance(evaluate, Remembered) else evaluate
    is_simulated = isinstance(inner, Simulated)
    if executor is None and (len(wanted) == 1 or not is_simulated):
        found = []
        for family in wanted:
            found.append(search_family(plan, family, evaluate))
            if progress:
                progress(len(found), len(wanted), found[-1])
        return found
    done: dict[int, Candidate] = {}
    for attempt in range(ATTEMPTS):
        pool = executor if executor is not None else local_pool(plan, wanted)
        try:
            _gather(plan, evaluate, pool, wanted, done, progress)
            break
        except BrokenExecutor:  # a process of our own pool has been killed: what is left goes to a new one
            if executor is not None or attempt == ATTEMPTS - 1:
                raise
        finally:
            if executor is None:
                pool.shutdown(cancel_futures=True)
    return [done[i] for i in range(len(wanted))]


def _gather(
    plan: PlanDescription,
    evaluate: Evaluate,
    pool: Executor,
    wanted: Sequence[Family],
    done: dict[int, Candidate],
    progress: Progress | None,
) -> None:
    """Put the candidates that are missing from `done` into it, in whatever order they come."""
    futures = {
        pool.submit(search_family, plan, family, evaluate): i for i, family in enumerate(wanted) if i not in done
    }
    for future in as_completed(futures):
        done[futures[future]] = future.result()
        if progress:
            progress(len(done), len(wanted), done[futures[future]])


def choose(plan: PlanDescription, candidates: Sequence[Candidate]) -> tuple[Candidate | None, str]:
    """The best of the feasible candidates and what it minimizes; ties: fewer disks, lower latency, earlier."""
    feasible = [c for c in candidates if c.is_feasible and c.trial]
    wanted = plan.search.minimize
    costs = {id(c): c.trial.statics.cost_usd for c in feasible if c.trial}
    is_priced = bool(costs) and all(cost == cost and cost > 0 for cost in costs.values())
    minimized = "cost" if wanted == "cost" or (wanted == "auto" and is_priced) else "disks"

    def rank(candidate: Candidate) -> tuple[float, float, float]:
        assert candidate.trial is not None
        latency = _latency(candidate)
        cost = costs[id(candidate)]
        first = cost if minimized == "cost" and cost == cost else float("inf") if minimized == "cost" else 0.0
        return (first, float(candidate.trial.disks), latency)

    return (min(feasible, key=rank), minimized) if feasible else (None, minimized)


def nearest(candidates: Sequence[Candidate]) -> Candidate | None:
    """The infeasible candidate that misses by least."""
    missed = [c for c in candidates if c.binding is not None]
    return max(missed, key=lambda c: c.binding.margin_ratio if c.binding else 0.0, default=None)


def _latency(candidate: Candidate) -> float:
    outcome = candidate.trial.outcome if candidate.trial else None
    figures = outcome.latency_ns.get("", {}) if outcome else {}
    return figures["p99"].value if "p99" in figures else 0.0


def _why_none(candidates: Sequence[Candidate]) -> str:
    lines = "; ".join(f"{candidate.family}: {candidate.reason}" for candidate in candidates)
    return f"no feasible array: {lines}"

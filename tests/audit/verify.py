"""Whether an answer is true: long runs of each candidate, with other seeds and from other starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.steady.start import EMPTY
from diskmodel.engine.steady.steady import filled
from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.answer.criterion import Criterion, Verdict
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.objective import Objective
from diskmodel.plan.trial import judge
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.records import Run
from diskmodel.result.levels import drifts
from diskmodel.result.statistics.batches import Interval, mean_interval
from diskmodel.result.statistics.quantiles import quantile_interval, quantiles
from diskmodel.result.statistics.registry import PERCENTILES
from diskmodel.workload import Workload

#: Requests of a verification run at most. A fourth of them is enough where every figure is so many half-widths of its
#: interval from its limit, 3.9 standard errors: a longer run would come to the other side once in 20,000.
N_REQUESTS = 2_000_000
_SHORTER = 4
_CLEAR_HALF_WIDTHS = 2
#: Requests of the run that finds a gross overload, whose queue would only grow in a longer one; and the share of the
#: offered rate below which it is gross.
N_OVERLOAD = 100_000
GROSS = 0.95
#: Requests of the run that finds an objective missed by a wide margin: where its whole interval lies beyond, a longer
#: run would not meet it.
N_MISSED = 200_000
#: Seeds of verification runs are the plan's plus these: other requests, other angles of the spindles.
OTHER_SEEDS = {"steady": 1_000_003, "empty": 2_000_003, "full": 3_000_017}
#: Criteria that runs decide; the others are formulas.
_ABOUT_SPEED = ("iops", "throughput", "latency", "utilization")


@dataclass(frozen=True)
class Checked:
    """One candidate and what the runs found.

    Attributes
    ----------
    drive, level : str
    disks : int
        At the answer, or the largest count tried.
    state : str
        What the plan said: feasible, infeasible or undecided.
    verdict : str
        "true"; "narrowly missed", where an objective is missed by less than the plan's own interval; "unsafe: " and
        why; "not checked: " and why.
    runs : tuple of str
        Each run's start, and its figures.
    """

    drive: str
    level: str
    disks: int
    state: str
    verdict: str
    runs: tuple[str, ...] = ()

    @property
    def is_unsafe(self) -> bool:
        """Whether a user would have been misled."""
        return self.verdict.startswith("unsafe")


def check(data: Mapping[str, Any], *, n_requests: int = N_REQUESTS, evaluate: Evaluate | None = None) -> list[Checked]:
    """Answer a question, and check every candidate of the answer.

    Parameters
    ----------
    data : mapping
        A plan, as `PlanDescription.parse` takes it.
    n_requests : int
        Of a verification run.
    evaluate : Evaluate, optional
        Answers the plan; default: the simulation.
    """
    plan = PlanDescription.parse(dict(data))
    answer = run_plan(plan, evaluate=evaluate, with_relaxations=False, with_details=False, by_chance=False).to_dict()
    return [checked(plan.objective, candidate, n_requests) for candidate in answer["candidates"]]


def checked(objective: Objective, candidate: Mapping[str, Any], n_requests: int) -> Checked:
    """Return what long runs make of one candidate in a plan's JSON."""
    state = "feasible" if candidate["feasible"] else "infeasible" if candidate["decided"] else "undecided"
    disks = candidate.get("tried_disks") or 0
    found = Checked(candidate["drive"], candidate["level"], disks, state, "")
    if candidate["array"] is None or not candidate.get("requests"):
        return replace(found, verdict=f"not checked: {candidate['reason'] or 'nothing was simulated'}")
    if state == "undecided":
        return replace(found, verdict="not checked: the plan claims nothing")
    array, workload = Array.parse(candidate["array"]), Workload.parse(candidate["workload"])
    runs = []
    if state == "infeasible" and n_requests > N_MISSED:
        missed = _clearly_missed(objective, array, workload, candidate["seed"])
        if missed:
            return replace(found, verdict="true", runs=(f"steady: {'; '.join(str(item) for item in missed)}",))
    for start, criteria in _runs(objective, array, workload, candidate["seed"], n_requests):
        runs.append((start, criteria))
        if state == "infeasible" and any(item.verdict is not Verdict.HOLDS for item in criteria):
            break  # one run in which the objective is missed is enough
    claimed = {(item["criterion"], item["detail"]): item for item in candidate["criteria"]}
    words = tuple(f"{start}: {'; '.join(str(item) for item in criteria)}" for start, criteria in runs)
    return replace(found, verdict=verdict_of(state, claimed, runs), runs=words)


def verdict_of(
    state: str, claimed: Mapping[tuple[str, str], Mapping[str, Any]], runs: Iterable[tuple[str, list[Criterion]]]
) -> str:
    """Return whether long runs agree with what a plan said of a candidate.

    Parameters
    ----------
    state : "feasible" or "infeasible"
    claimed : mapping of (criterion, detail) to mapping
        The plan's criteria, as in its JSON.
    runs : iterable of (str, list of Criterion)
        Start of each run, and what it found.
    """
    runs = [(start, criteria) for start, criteria in runs if criteria]
    if not runs:
        return "not checked: no run settled"
    if state == "infeasible":
        others = [item for key, item in claimed.items() if key[0].split()[-1] not in _ABOUT_SPEED]
        if any(item["verdict"] == "fails" for item in others):
            return "true"
        if all(item.verdict is Verdict.HOLDS for _, criteria in runs for item in criteria):
            return "unsafe: it meets the objective"
        return "true"
    verdict = "true"
    for start, criteria in runs:
        for item in criteria:
            if item.verdict is not Verdict.FAILS:
                continue
            own = claimed.get((item.name, item.detail))
            half = 0.0 if own is None or own["low"] is None else (own["high"] - own["low"]) / 2
            if item.detail == judge.BUSIEST:  # a plan lists it only where it is not met
                half = judge.MAX_BUSY_END_RATIO - judge.MAX_BUSY_RATIO
            beyond = item.figure.low - item.limit if item.is_upper else item.limit - item.figure.high
            if item.detail == "overloaded" or beyond > half:
                return f"unsafe: {item.name} {item.detail} from a {start} start: {item}".replace("  ", " ")
            verdict = "narrowly missed"
    return verdict


def _clearly_missed(objective: Objective, array: Array, workload: Workload, seed: int) -> list[Criterion]:
    """Return what a run shows that misses an objective with a whole interval; none where it does not."""
    outcome = Simulated()(array, workload, n_requests=N_MISSED, seed=seed + OTHER_SEEDS["steady"])
    criteria = judge.performance(objective, outcome, workload)
    # what looks overloaded may only need a longer run
    is_missed = any(item.verdict is Verdict.FAILS and item.detail != "overloaded" for item in criteria)
    return criteria if is_missed else []


def _runs(
    objective: Objective, array: Array, workload: Workload, seed: int, n_requests: int
) -> Iterator[tuple[str, list[Criterion]]]:
    """Yield the start of each run and its criteria; none where it has not settled in its first half."""
    simulated = Simulated()
    offered = workload.offered_rate_per_s
    other = seed + OTHER_SEEDS["steady"]
    if n_requests > N_OVERLOAD and not workload.queue_depth:
        outcome = simulated(array, workload, n_requests=N_OVERLOAD, seed=other)
        if not outcome.is_stable and outcome.iops.value < GROSS * offered:
            yield "steady", judge.performance(objective, outcome, workload)
            return
    for n in (n_requests // _SHORTER, n_requests):
        outcome = simulated(array, workload, n_requests=n, seed=other)
        criteria = judge.performance(objective, outcome, workload)
        if outcome.is_stable and not outcome.is_partial and _is_clear(criteria):
            break
    yield "steady", criteria
    for start in ("empty", "full"):
        other = seed + OTHER_SEEDS[start]
        scenario = resolve(array, other)
        if not scenario.has_levels:
            return
        if start == "full":
            full = filled(scenario, workload, capacity_bytes=array.usable_bytes, seed=other)
            scenario = replace(scenario, start=full)
        assert start == "full" or scenario.start is EMPTY
        # an uneven sweep is seen as often as from the steady start
        for n in (outcome.n_requests, n_requests):
            criteria = _second_half(objective, array, workload, scenario, other, n)
            if criteria and _is_clear(criteria):
                break
        yield start, criteria


def _is_clear(criteria: Iterable[Criterion]) -> bool:
    """Return whether every figure is far from its limit, in half-widths of its interval."""
    return all(
        abs(item.figure.value - item.limit) > _CLEAR_HALF_WIDTHS * item.figure.half_width
        for item in criteria
        if item.verdict is not Verdict.UNKNOWN
    )


def _second_half(
    objective: Objective, array: Array, workload: Workload, scenario: Scenario, seed: int, n_requests: int
) -> list[Criterion]:
    """Return the criteria about latency and utilization in the second half of a run; none where levels still move."""
    requests = workload.requests(
        capacity_bytes=array.usable_bytes,
        n=n_requests,
        seed=seed,
        with_cache_draws=scenario.has_drawn_hits,
        n_before=scenario.start.n_before,
    )
    try:
        found = run(replace(scenario, sample_every=max(n_requests // 256, 1)), requests)
    except DescriptionError:  # so overloaded that the sum of responses leaves 64 bits
        return []
    done = found.completions
    end_ns = int(done.issue_ns.max())
    if drifts(found, requests, end_ns):
        return []
    rows = np.arange(len(requests) // 2, len(requests))
    rows = rows[np.argsort(done.done_ns[rows], kind="stable")]
    response_ns = done.done_ns[rows] - done.issue_ns[rows]
    owner = requests.stream[rows]
    latency = {"": _figures(response_ns)}
    for index, rule in enumerate(requests.streams):
        latency[rule.name] = _figures(response_ns[owner == index])
    begin_ns = int(np.sort(done.done_ns)[len(rows) - 1])
    busy = _utilization(found, begin_ns, end_ns, array)
    if workload.offered_rate_per_s:  # at the nominal rate, as in a plan
        n_done = int(((done.done_ns > begin_ns) & (done.done_ns <= end_ns)).sum())
        busy *= workload.offered_rate_per_s * (end_ns - begin_ns) / 1e9 / max(n_done, 1)
    nothing = Interval(float("nan"), float("nan"), float("nan"))
    outcome = Outcome(True, nothing, nothing, latency, busy, n_requests=len(rows))
    return [item for item in judge.performance(objective, outcome, workload) if item.name in ("latency", "utilization")]


def _utilization(found: Run, begin_ns: int, end_ns: int, array: Array) -> float:
    """Return the mean utilization of the disks between the records nearest to two times, spares left out."""
    at = found.levels[:, 0]
    first, last = (found.levels[min(int(np.searchsorted(at, time)), len(at) - 1)] for time in (begin_ns, end_ns))
    n_devices = len(found.devices.busy_ns)
    return float(last[4] - first[4]) / max(float(last[0] - first[0]), 1.0) * n_devices / array.layout.disks


def _figures(response_ns: np.ndarray[Any, Any]) -> dict[str, Interval]:
    figures = {"mean": mean_interval(response_ns)}
    for name, level in PERCENTILES.items():
        figures[name] = Interval(float(quantiles(response_ns, level)), *quantile_interval(response_ns, level))
    return figures

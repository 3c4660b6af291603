"""Response times over time of an answer: the run that a report shows as a heat map."""

from __future__ import annotations

from diskmodel.engine.simulate import simulate
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.case import Case
from diskmodel.result.statistics import HeatMap
from diskmodel.result.statistics.heat_map import heat_map

#: Requests of the run. At half the tail has few cells; at double nobody sees a difference.
N_REQUESTS = 30_000
#: Cells in each direction: a report has less room than a page of its own, and half as many make a fifth of its size.
N_TIMES, N_LATENCIES = 80, 40


def heat_of_best(result: PlanResult) -> tuple[str, HeatMap] | None:
    """Return name and heat map of the recommended array under the plan's load; None where nothing was simulated.

    Of a workload with a cycle the run has all of it.
    """
    best, plan = result.best, result.plan
    if best is None or best.disks is None or plan.search.method == "rule":
        return None
    case = Case(plan, best.family)
    array = case.array(best.disks)
    n_requests = max(N_REQUESTS, case.workload.n_cycle)
    load = case.workload.at_the_end(array.usable_bytes, n_requests)
    run = simulate(
        array.behind_host(load),
        load,
        seed=plan.search.seed,
        engine=plan.search.engine,
        n_requests=n_requests,
        profile_draws=0,
    )
    turns = array.revolution_ms
    found = heat_map(run.run.completions, revolution_ms=turns, n_times=N_TIMES, n_latencies=N_LATENCIES)
    return array.name, found

"""What one array can carry of a kind of load."""

from __future__ import annotations

import math

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.engine import DRAWS, EACH_BYTES, Fresh, resolve
from diskmodel.engine.effort import each_s, guessed
from diskmodel.engine.ledger import as_question
from diskmodel.engine.simulate import simulate
from diskmodel.engine.steady.fresh import fresh
from diskmodel.errors import DescriptionError, Fault
from diskmodel.plan.answer.capacity import Capacity
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.comparison.compare import REPLACEMENT_HOURS, REQUESTS, degraded_array, rebuilding_array
from diskmodel.plan.comparison.highest_rate import DRAWN_REQUESTS, highest_rate, points_to_overload, saturating
from diskmodel.plan.comparison.load_curve import power
from diskmodel.plan.comparison.working_sets import find_working_sets
from diskmodel.plan.trial.beside_rebuild import beside_rebuild, scrub_hours
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation
from diskmodel.plan.trial.rule_of_thumb import rule_of_an_array
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.plan.trial.statics import idle_rebuild_hours, loss_beside
from diskmodel.workload import Workload

#: Outstanding requests of each flash drive that has nothing to copy: with half, the threads that submit are too few to
#: keep it busy.
_DEPTH_OF_FLASH = 64
#: Requests of each run of a system with an engine of its own, of which a second of a processor does 20,000. With half,
#: the highest rate differs by 5 % from seed to seed; with double, the last runs would be left without time.
_OF_A_SYSTEM = 8_000
#: Part of the usual time of a run where all of them would take it. At half, intervals are half as wide again; at
#: double, a capacity takes up to half a minute.
_PART_OF_TIME = 0.2
#: Share of what a machine or a link allows from which it is what limits an array: drawn arrivals and the ends of a run
#: leave a few percent of it.
_AT_LIMIT_RATIO = 0.95


@as_question
def find_capacity(
    array: Array,
    workload: Workload,
    *,
    seed: int = 0,
    n_requests: int | None = None,
    evaluate: Evaluate | None = None,
    engine: str = "auto",
    n_draws: int = DRAWS,
) -> Capacity:
    """Return what an array can carry of one kind of load.

    Parameters
    ----------
    array : Array
    workload : Workload
        An open one, whose rate does not matter: it is scaled.
    seed : int
    n_requests : int, optional
        Of every run. Default: 30,000, of clusters and caches on SSDs 8,000, or fewer where so many would take longer
        than a question may (`Outcome.is_cut`).
    evaluate : Evaluate, optional
        Default: the simulation.
    engine : "auto", "native" or "simpy"
    n_draws : int
        Draws of everything that is not known, for the interval of the highest rate; 0: without one.

    Raises
    ------
    DescriptionError
        When the workload is closed, or does not fit the array.
    """
    if not workload.is_open:
        fix = "give the stream a rate; any will do, since it is scaled"
        raise DescriptionError(Fault("workload", None, "is closed, and has no rate to scale", fix))
    bound = _part_of_time(array, workload, seed) if n_requests is None else False
    decide = Evaluation.of(evaluate if evaluate is not None else Simulated(engine, is_bounded=bound))
    n_requests = n_requests or (_OF_A_SYSTEM if array.drive.stands_alone else REQUESTS)
    array = array.for_use(workload)

    with doing("looking for the highest stable rate"), decide:
        points = points_to_overload(array, workload, decide, seed=seed, n_requests=n_requests)
        stable = [point for point in points if point.outcome.is_stable]
        knee, highest = max(stable, key=power), max(stable, key=lambda point: point.offered)
        load = workload.scaled(knee.offered / workload.offered_rate_per_s)
        degraded = rebuilding = None
        hours = math.nan
        broken = degraded_array(array)
        if broken is not None:
            degraded = decide(broken, load, n_requests=n_requests, seed=seed)
        if broken is not None and broken.layout.failed and not array.unknown_resilver:
            beside = beside_rebuild(decide, rebuilding_array(array, broken), load, n_requests=n_requests, seed=seed)
            rebuilding, hours = beside.worst, beside.hours
        scrubbed_hours = scrub_hours(decide, array, load, n_requests=n_requests, seed=seed)
    over = [point.offered for point in points if not point.outcome.is_stable and point.offered > highest.offered]
    idle_hours = idle_rebuild_hours(array)
    most = highest_rate(
        array,
        workload,
        highest.offered,
        min(over, default=highest.offered),
        n_requests=n_requests,
        seed=seed,
        n_draws=n_draws,
    )
    return Capacity(
        array=array,
        workload=load,
        knee=knee,
        highest=highest,
        overload_per_s=min(over, default=math.nan),
        most_per_s=most.interval,
        most_middle_per_s=most.middle,
        limit=_limit(highest.outcome, array),
        degraded=degraded,
        rebuilding=rebuilding,
        rebuild_hours=hours,
        idle_rebuild_hours=idle_hours,
        scrub_hours=scrubbed_hours,
        loss_per_year=loss_beside(array, hours, REPLACEMENT_HOURS).loss_per_year,
        idle_loss_per_year=loss_beside(array, idle_hours, REPLACEMENT_HOURS).loss_per_year,
        rule_of_thumb_per_s=rule_of_an_array(array, workload).host_iops or math.inf,
        curve=tuple(points),
        fresh=_fresh(array, workload, seed),
        working_sets=find_working_sets(array, workload, seed=seed),
    )


def _part_of_time(array: Array, workload: Workload, seed: int) -> float:
    """Return the part of the time of a run that each may take: less where a guess says that every one takes it all.

    Some fifteen runs are made, and a question may take twenty seconds.
    """
    cost = guessed(resolve(array, seed), workload, array)
    return _PART_OF_TIME if cost.within(each_s(REQUESTS), EACH_BYTES) < REQUESTS else 1.0


def _fresh(array: Array, workload: Workload, seed: int) -> Fresh | None:
    """Return how long flash drives are faster than they stay under so much of a load; None where they are not."""
    if not array.drive.fast_states() or not workload.has_writes:
        return None
    busy = saturating(array, workload, _DEPTH_OF_FLASH)
    result = simulate(
        array,
        busy,
        seed=seed,
        n_requests=DRAWN_REQUESTS,
        profile_draws=0,
        with_angles=False,
        is_one_of_many=True,
    )
    return fresh(array, busy, result, seed=seed)


def _limit(outcome: Outcome, array: Array) -> str:
    """Return what limits an array at its highest rate."""
    if outcome.host_limit:
        return outcome.host_limit
    most, link = array.controller.most_iops, array.controller.link_bytes_per_s
    if most is not None and outcome.iops.value >= _AT_LIMIT_RATIO * most:
        return f"the machine, {most:,.0f} operations a second"
    link = None if array.layout.is_cached_in_memory else link
    if link is not None and outcome.bytes_per_s.value >= _AT_LIMIT_RATIO * link:
        return f"the link, {link / 1e6:,.0f} MB/s"
    busiest = outcome.busiest_ratio if math.isfinite(outcome.busiest_ratio) else outcome.utilization_ratio
    if busiest > outcome.utilization_ratio + 0.1:
        return f"one disk, {busiest:.0%} busy, while all are {outcome.utilization_ratio:.0%} busy on average"
    return f"{array.drive.busy_as}, {outcome.utilization_ratio:.0%} busy"

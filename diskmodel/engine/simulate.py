"""Simulating an array under a workload: one call, one result."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from diskmodel.array import Array
from diskmodel.drive import AssumedOrder
from diskmodel.engine import ledger
from diskmodel.engine.drawn_runs import DRAWS
from diskmodel.engine.effort import check_effort, check_room
from diskmodel.engine.messages.cached_writes import waiting_writes
from diskmodel.engine.messages.idle_arm import idle_arm_message
from diskmodel.engine.messages.links import beyond_a_link
from diskmodel.engine.messages.places import assumed_places
from diskmodel.engine.one_run import Keep, OneRun
from diskmodel.engine.pools import cache_device_messages, pool_messages, refuse_on_pools
from diskmodel.engine.predict import Predictor, check_draws
from diskmodel.engine.run import Engine, as_they_meet, draw_and_run
from diskmodel.engine.scenario import resolve, sampled
from diskmodel.engine.shingled import refuse_random_writes
from diskmodel.engine.steady.shared import Begin, Like, is_noted, steady_start
from diskmodel.engine.threads import Threads
from diskmodel.engine.write_pointers import zone_messages
from diskmodel.errors import CoverageError, DescriptionError, Fault
from diskmodel.records import Requests, Run
from diskmodel.result import Result, check_laws
from diskmodel.result.replications import across
from diskmodel.uncertainty import COMMANDS_WITHOUT_CHOICE
from diskmodel.workload import TraceWorkload, Workload

#: Half-width of the interval of the mean that a run aims at, as a part of the mean, where nobody asks for another.
PRECISION = 0.02
#: Most runs of one question: beyond 20, intervals from as many requests hardly get narrower, and each run begins anew.
MAX_REPLICATIONS = 1000
#: Loosest precision that one of several runs is asked for.
MAX_PRECISION = 0.5


def simulate(
    array: Array,
    workload: Workload | TraceWorkload,
    *,
    seed: int = 0,
    engine: Engine = "auto",
    n_requests: int | None = None,
    precision: float = PRECISION,
    percentile: str | None = None,
    profile_draws: int | None = None,
    keep: Keep = "all",
    start: Begin = "steady",
    replications: int = 1,
    with_angles: bool = True,
    with_operations: bool = True,
    with_messages: bool = True,
    like: Like | None = None,
    is_one_of_many: bool | float = False,
) -> Result:
    """Return the result of `workload` on `array`: latency as a distribution, rates, utilization, where time is spent.

    Parameters
    ----------
    array : Array
    workload : Workload or TraceWorkload
        A trace is replayed at most once, whatever `n_requests` and `precision` are.
    seed : int
        Of all random numbers; the same seed gives the same result to the last nanosecond.
    engine : "auto", "native" or "simpy"
        "auto" takes the native kernel where it covers the scenario; the result reports which one ran.
    n_requests : int, optional
        Length of the run. Without it, a run has 8,000 requests, or all phases of a workload with excerpts, and grows
        until the 95 % interval of the mean response time is as narrow as `precision`, or the result reports that it is
        not.
    precision : float
        Half-width of that interval as a part of the mean.
    percentile : "p50", …, "p99" or "p999", optional
        Percentile whose interval has to be that narrow, too.
    profile_draws : int, optional
        Draws of everything that is not known (`diskmodel.uncertainty.registry`), which are simulated when
        `Result.prediction` is first looked at, by a table or JSON for example; default: 16. Each costs a further run of
        at most 10,000 requests. 0: none, so that intervals are of the noise of the run alone.
    keep : "all" or "histogram"
        "histogram" keeps no request and no completion, so that memory does not grow with the run: percentiles are then
        accurate to 0.2 %, and the warm-up is dropped in steps of about a fiftieth of the run. The requests are the
        same. The kernel has to cover the scenario.
    start : "steady" or "empty"
        What caches and buffers contain when the run begins: their stationary state under this workload (rules Z1 to
        Z8), or nothing, as in a burst on an idle array. A trace always begins with nothing, because what came before
        it is unknown.
    replications : int
        Independent runs with the seeds `seed`, `seed` + 1, …, on all processors, that share the requests. Intervals
        are then from the spread over the runs (`diskmodel.result.replications`), and hold however long responses are
        correlated within one. A workload that is drawn, with all completions.
    with_angles : bool
        Whether intervals include the angles of spindles that the run does not show (rule S2): eight short runs more,
        where they matter. Not needed where only ratios of figures are looked at.
    with_operations : bool
        Whether reads and writes have percentiles and intervals of their own. Without it they have their means alone,
        for searches that look at all requests together: a tenth of a short run's time less. `keep="histogram"` always
        has them.
    with_messages : bool
        Whether the result says what to know of array, load and run, beside what changed the run: searches do not read
        it, and it takes a tenth of a short run's time.
    like : Like, optional
        An array whose steady start is the first guess for this one's, which a trial confirms: for drives drawn from a
        profile.
    is_one_of_many : bool
        Whether the question makes many such runs, so that one that would take long is shorter than `n_requests`; the
        result says so.

    Returns
    -------
    Result

    Raises
    ------
    DescriptionError
        When array and workload do not fit each other, or the run would take more than a day or than the free memory.
    CoverageError
        When `engine="native"` or `keep="histogram"` does not cover the scenario, or shingled disks are to write at
        random places whose profile has no `media_cache`.
    """
    _check_options(workload, engine, n_requests, precision, keep, start)
    _check_replications(replications, workload, n_requests, keep)
    if profile_draws:
        check_draws(profile_draws)
    refuse_random_writes(array, workload, start)
    refuse_on_pools(array, workload)
    described, asked_load = array, workload
    array, workload = as_they_meet(array, workload)

    asked = OneRun(
        array,
        workload,
        seed,
        engine,
        n_requests,
        precision,
        percentile,
        keep,
        start,
        with_angles=with_angles,
        with_operations=with_operations,
        with_messages=with_messages,
        like=like,
        is_one_of_many=is_one_of_many,
    )
    # who says how many requests there shall be waits for them
    is_asked = n_requests is not None and not is_one_of_many
    if n_requests is not None and is_asked and isinstance(workload, Workload):
        check_room(array, workload, n_requests)
    with ledger.on_account(ledger.NO_LIMIT) if is_asked else ledger.question():
        result = asked.result() if replications == 1 else _replicated(asked, replications)
    if with_messages:
        result = _with_messages(result, described, array, workload, start)
        if isinstance(workload, Workload) and isinstance(asked_load, Workload):
            assumed = assumed_places(described, asked_load, array, workload)
            result = replace(result, messages=(*result.messages, *assumed))
    n_draws = DRAWS if profile_draws is None else profile_draws
    if not n_draws:
        return result
    return result.predicted_by(Predictor(array, workload, seed, start, n_draws))


def _with_messages(
    result: Result, described: Array, array: Array, workload: Workload | TraceWorkload, start: Begin
) -> Result:
    """Return the result with what to know of an array, as it is described and behind its host."""
    about_drive = (
        *zone_messages(array, workload),
        *pool_messages(array, workload),
        *cache_device_messages(array, workload, result.run, is_steady=start == "steady"),
        *idle_arm_message(array, workload),
        *_ordering_message(array, result),
        *_waiting_message(array, result),
        *_busiest_message(result),
        *result.run.said,
        *array.said_of_md(described),
        *array.unread_messages(described, workload),
        *(workload.unread_messages(workload) if isinstance(workload, Workload) else ()),
    )
    beyond = beyond_a_link(array, result.bytes_per_s)
    return replace(result, messages=(*beyond, *array.doubts, *array.doubts_of_pass, *result.messages, *about_drive))


def _replicated(asked: OneRun, n_runs: int) -> Result:
    """Return the result of independent runs at the same time: the kernel needs no interpreter."""
    began = time.perf_counter()
    each = None if asked.n_requests is None else -(-asked.n_requests // n_runs)
    # so many runs together have an interval narrower by the root of their number
    loose = min(asked.precision * math.sqrt(n_runs), MAX_PRECISION)
    runs = [replace(asked, seed=asked.seed + at, n_requests=each, precision=loose) for at in range(n_runs)]
    with Threads() as pool:
        results = list(pool.map(OneRun.result, runs))
    results[0] = replace(results[0], precision=asked.precision)
    return across(results, wall_s=time.perf_counter() - began)


def prepare(like: Like, workload: Workload, *, n_requests: int, seed: int) -> None:
    """Find what runs of arrays like one begin with, so that each of those made at the same time finds it known."""
    array = like.array
    scenario = resolve(array, seed)
    if like.is_calm:
        steady_start(array, workload, scenario, seed)
    elif not is_noted(like, workload, seed, n_requests):
        simulate(
            array,
            workload,
            n_requests=n_requests,
            seed=seed,
            profile_draws=0,
            with_angles=False,
            with_operations=False,
            with_messages=False,
            is_one_of_many=True,
            like=like,
        )


def outcome(array: Array, workload: Workload, *, n_requests: int, seed: int) -> tuple[Requests, Run]:
    """Return the requests of a run from the steady start and what became of them, without estimates and intervals.

    For fits, which look at thousands of short runs: `simulate` takes longer for the estimates than for the run.
    """
    check_effort(workload, n_requests=n_requests, engine="native", keep="all")
    refuse_random_writes(array, workload)
    refuse_on_pools(array, workload)
    scenario = resolve(array, seed)
    begun = replace(scenario, start=steady_start(array, workload, scenario, seed))
    requests, run = draw_and_run(array, workload, n_requests, scenario=sampled(begun, n_requests), seed=seed)
    check_laws(requests, run)
    return requests, run


def _check_options(
    workload: Workload | TraceWorkload,
    engine: Engine,
    n_requests: int | None,
    precision: float,
    keep: Keep,
    start: Begin,
) -> None:
    """Refuse options that are invalid, contradict each other, or ask for a run of more than a day."""
    if keep not in ("all", "histogram"):
        raise DescriptionError(Fault("keep", keep, "is not known", "use all or histogram"))
    if start not in ("steady", "empty"):
        raise DescriptionError(Fault("start", start, "is not known", "use steady or empty"))
    if keep == "histogram" and engine == "simpy":
        raise CoverageError(Fault("keep", keep, "needs the kernel", "use engine auto or native, or keep all"))
    if keep == "histogram" and isinstance(workload, TraceWorkload):
        raise CoverageError(Fault("keep", keep, "is for workloads that are drawn, not for a trace", "keep all"))
    if engine not in ("auto", "native", "simpy"):
        raise DescriptionError(Fault("engine", engine, "is not an engine", "use auto, native or simpy"))
    if n_requests is not None and n_requests < 1:
        raise DescriptionError(
            Fault("n_requests", n_requests, "must be at least 1", "leave it out to let precision decide")
        )
    if not 0 < precision < 1:
        raise DescriptionError(Fault("precision", precision, "must lie between 0 and 1", "use for example 0.02"))
    if isinstance(workload, Workload):  # a trace has its own length
        check_effort(workload, n_requests=n_requests, engine="simpy" if engine == "simpy" else "native", keep=keep)


def _check_replications(n_runs: int, workload: Workload | TraceWorkload, n_requests: int | None, keep: Keep) -> None:
    """Refuse several runs of what has only one, or whose completions are not kept."""
    if not 1 <= n_runs <= MAX_REPLICATIONS:
        rule = f"must be 1 to {MAX_REPLICATIONS:,}"
        raise DescriptionError(Fault("replications", n_runs, rule, "use 4 to 20: intervals are from their spread"))
    if n_runs == 1:
        return
    if isinstance(workload, TraceWorkload):
        raise DescriptionError(
            Fault("replications", n_runs, "a trace has only one course", "leave it out, or fit a workload to the trace")
        )
    if keep != "all":
        raise CoverageError(Fault("replications", n_runs, "needs all completions", "leave out keep"))
    if n_requests is not None and n_requests < n_runs:
        raise DescriptionError(Fault("n_requests", n_requests, f"are shared by {n_runs} runs", "raise it"))


def _assumed_order(array: Array, result: Result) -> AssumedOrder | None:
    """Return what the order of queued commands is assumed from, where disks have a choice and it was not measured."""
    return None if _deepest(result) <= COMMANDS_WITHOUT_CHOICE else array.drive.assumption


def _deepest(result: Result) -> float:
    """Return the mean number of commands in the disk that has most."""
    return max((disk.mean_in_disk for disk in result.per_disk), default=0.0)


def _ordering_message(array: Array, result: Result) -> tuple[str, ...]:
    assumption = _assumed_order(array, result)
    if assumption is None:
        return ()
    if array.drive.accepted_commands == 1:
        return (
            f"on average up to {_deepest(result):,.0f} commands wait for a disk or are in it; "
            f"how it orders them is assumed: {assumption.words}",
        )
    depth = min(_deepest(result), array.drive.accepted_commands)  # the others wait before it
    return (f"on average up to {depth:,.0f} commands are in a disk; how it orders them is assumed: {assumption.words}",)


def _waiting_message(array: Array, result: Result) -> tuple[str, ...]:
    text = waiting_writes(array, math.nan if result.burst is None else result.burst.n_bytes)
    return (text,) if text else ()


def _busiest_message(result: Result) -> tuple[str, ...]:
    """Return which of several stations is busiest."""
    busiest = result.run.busiest
    return (f"busiest of all parts is {busiest}: {result.utilization_ratio:.0%}",) if busiest else ()

"""One run from its start: how long it is, and what its result says of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.engine import streamed
from diskmodel.engine.effort import (
    LEAST,
    MAX_REQUESTS,
    RUNS_S,
    Cost,
    bound_message,
    check_rare,
    each_most,
    each_s,
    is_costly,
    looked_at,
)
from diskmodel.engine.messages.large_caches import large_cache_messages
from diskmodel.engine.messages.unseen import unseen
from diskmodel.engine.phases import with_all_angles
from diskmodel.engine.run import Engine, draw_and_run, run_to_result
from diskmodel.engine.scenario import Scenario, resolve, sampled
from diskmodel.engine.steady.burst import burst_of
from diskmodel.engine.steady.shared import (
    Begin,
    Like,
    calm_guess,
    guessed_start,
    is_calm,
    is_confirmed,
    note,
    steady_start,
)
from diskmodel.engine.steady.start import Start
from diskmodel.host import host_limit
from diskmodel.layout import Rebuild
from diskmodel.loading import dataclass
from diskmodel.records import Run
from diskmodel.result import RebuildRate, Result, needs_more, suggest_n, summarize_tally
from diskmodel.workload import TraceWorkload, Workload

Keep = Literal["all", "histogram"]

_EMPTY_BEFORE_A_TRACE = (
    "write buffers began empty: what came before a trace is unknown; a workload fitted to it begins in its steady state"
)

#: Requests of the first run when the length is chosen by precision. In the kernel as many as p99 takes for an interval
#: (25,000 after the warm-up), a fiftieth of a second; the reference engine is a hundred times slower.
FIRST_REQUESTS = {"native": 28_000, "simpy": 8_000}
#: Requests from which the host's limit on submissions is estimated.
_LIMIT_SAMPLE = 8_000


@dataclass(frozen=True)
class OneRun:
    """A run that is asked for; its fields are those of `simulate`, with the array behind its host."""

    array: Array
    workload: Workload | TraceWorkload
    seed: int
    engine: Engine
    n_requests: int | None
    precision: float
    percentile: str | None
    keep: Keep
    start: Begin
    with_angles: bool
    with_operations: bool
    with_messages: bool
    like: Like | None
    is_one_of_many: bool | float

    def result(self) -> Result:
        """Return its result, without what the profile leaves open."""
        array, workload, seed, like = self.array, self.workload, self.seed, self.like
        if isinstance(workload, Workload) and (self.n_requests is None or self.start == "steady"):
            check_rare(array, workload)  # before the steady start, which may simulate more than is asked for
        scenario = resolve(array, seed)
        if self.start != "steady":
            return self._from(scenario, scenario.start)
        if like is None or self.n_requests is None or not isinstance(workload, Workload):
            return self._calm(scenario) or self._from(scenario, steady_start(array, workload, scenario, seed, like))
        guess = guessed_start(like, array, workload, scenario, seed, self.n_requests)
        begun = steady_start(array, workload, scenario, seed, like) if guess is None else guess
        result = self._from(scenario, begun)
        shown = replace(scenario, start=begun), seed, self.n_requests, result.requests, result.run
        if like.array == array:
            note(array, workload, *shown)
        if guess is None or is_confirmed(like, array, workload, *shown):
            return result
        found = steady_start(array, workload, scenario, seed)
        is_same = (found.levels, found.is_in_waves) == (guess.levels, guess.is_in_waves)
        return result if is_same else self._from(scenario, found)

    def _calm(self, scenario: Scenario) -> Result | None:
        """Return the result with little in drives' buffers, if it shows that they keep up; None where it does not."""
        array, workload, seed, n_requests = self.array, self.workload, self.seed, self.n_requests
        if n_requests is None or self.keep != "all" or self.like is not None or not isinstance(workload, Workload):
            return None
        start = calm_guess(array, workload, scenario, seed, n_requests)
        if start is None:
            return None
        result = self._from(scenario, start)
        begun = replace(scenario, start=start)
        is_so = is_calm(array, workload, begun, seed, n_requests, result.requests, result.run)
        return result if is_so else None

    def _from(self, scenario: Scenario, start: Start) -> Result:
        """Return the result from a start."""
        scenario = replace(scenario, start=start)
        result, n, is_bound = self._long_enough(scenario)
        if is_bound and (self.is_one_of_many or needs_more(result, self.precision)):
            result = replace(result, messages=(*result.messages, bound_message(n)))
        return self._with_what_it_shows(result, scenario, n)

    def _long_enough(self, scenario: Scenario) -> tuple[Result, int, bool]:
        """Return the result of as many requests as are asked for, their number, and whether more take too long."""
        n, is_bound = self._first_length(scenario)
        n_requests, precision = self.n_requests, self.precision
        spent_s = 0.0
        while True:
            result = self._of_length(n, scenario)
            most = MAX_REQUESTS[result.engine if self.keep == "all" else self.keep]
            is_whole_trace = isinstance(self.workload, TraceWorkload) and n >= len(self.workload.trace)
            if n_requests is not None or is_bound or n >= most or is_whole_trace or not needs_more(result, precision):
                return result, n, is_bound
            wanted = min(max(suggest_n(result, precision), 2 * n), most)
            if self.keep == "all" and isinstance(self.workload, Workload):
                cost = Cost.of(result.run, scenario, n, self.workload)
                spent_s += cost.run_s * n
                longest = cost.most(spent_s=spent_s)
                is_bound = longest < wanted
                if longest <= n:
                    return result, n, is_bound
                wanted = min(wanted, longest)
            n = wanted

    def _first_length(self, scenario: Scenario) -> tuple[int, bool]:
        """Return how many requests the first run has, and whether more would take too long."""
        array, workload = self.array, self.workload
        key = "simpy" if self.engine == "simpy" else "native"
        # all phases of a trace that excerpts stand for, because some have its bursts
        n_cycle = workload.n_cycle if isinstance(workload, Workload) else 0
        n = self.n_requests or max(FIRST_REQUESTS[key], min(n_cycle, MAX_REQUESTS[key]))
        if not isinstance(workload, Workload):
            return n, False

        def run_of(n: int) -> Run:
            return draw_and_run(array, workload, n, scenario=scenario, seed=self.seed, engine=self.engine)[1]

        if self.n_requests is None and is_costly(array, workload):
            cost = looked_at(run_of, scenario, workload)
            longest = cost.at_least(cost.most(), LEAST)
        elif self.is_one_of_many or self.n_requests is None:
            run_s = each_s(n) * self.is_one_of_many if self.is_one_of_many else RUNS_S
            longest = each_most(n, run_of, scenario, workload, array, run_s)
        else:
            longest = n
        return min(n, longest), longest < n

    def _of_length(self, n: int, scenario: Scenario) -> Result:
        """Return the result of `n` requests."""
        array, workload, seed = self.array, self.workload, self.seed
        scenario = sampled(scenario, n)
        with doing(f"simulating {n:,} requests"):
            if self.keep == "all" or isinstance(workload, TraceWorkload):
                return run_to_result(
                    array,
                    workload,
                    n,
                    scenario=scenario,
                    seed=seed,
                    engine=self.engine,
                    precision=self.precision,
                    percentile=self.percentile,
                    with_operations=self.with_operations,
                )
            n_before = scenario.start.n_before
            blocks = workload.blocks(capacity_bytes=array.usable_bytes, n=n, seed=seed, n_before=n_before)
            folded = streamed.run(scenario, blocks)
        return summarize_tally(
            folded.requests, folded.run, folded.tally, precision=self.precision, percentile=self.percentile
        )

    def _with_what_it_shows(self, result: Result, scenario: Scenario, n: int) -> Result:
        """Return the result with what a run of `n` requests from this start shows beside its own figures, in words."""
        array, workload = self.array, self.workload
        if self.start == "steady" and isinstance(workload, Workload):
            result = _with_burst(result, scenario, workload)
            if self.with_messages:
                result = replace(result, messages=(*result.messages, *large_cache_messages(scenario)))
        elif self.start == "steady" and scenario.has_levels:
            result = replace(result, messages=(*result.messages, _EMPTY_BEFORE_A_TRACE))
        if isinstance(workload, Workload) and self.with_angles:
            result = with_all_angles(result, array, workload, scenario, self.seed)
        if isinstance(workload, Workload) and self.with_messages:
            not_seen = unseen(array, workload, result.n_requests, result.run.end_ns / 1e9)
            result = replace(result, messages=(*result.messages, *not_seen))
        if array.layout.rebuild is not None:
            result = _with_rebuild(result, array.layout.rebuild, scenario)
        if self.with_messages and not array.host.is_transparent and result.n_requests:
            result = self._with_processor_message(result, n)
        return result

    def _with_processor_message(self, result: Result, n: int) -> Result:
        """Return the result with a message where the host's processor limits the rate of submission."""
        array, n = self.array, min(n, _LIMIT_SAMPLE)
        sample = self.workload.requests(capacity_bytes=array.usable_bytes, n=n, seed=self.seed)
        limit = host_limit(array.host, result.iops.mean, sample)
        return replace(result, messages=(*limit, *result.messages))


def _with_burst(result: Result, scenario: Scenario, workload: Workload) -> Result:
    """The result with what a burst sees, instead of the figures of a run that began empty."""
    weights = [s.row_weight * s.write_ratio for s in workload.streams]
    sizes = [stream.mean_size_bytes for stream in workload.streams]
    total = sum(weights)
    mean = sum(w * size for w, size in zip(weights, sizes, strict=True)) / total if total else math.nan
    are_safe = all(stream.sync != "none" for stream, weight in zip(workload.streams, weights, strict=True) if weight)
    burst = burst_of(scenario, result.run.levels, result.window.start_ns, mean, are_safe=are_safe)
    return replace(result, burst=burst, burst_iops=math.nan, sustained_iops=math.nan, cache_full_s=math.nan)


def _with_rebuild(result: Result, rebuild: Rebuild, scenario: Scenario) -> Result:
    """The result with how fast the pass over the members went."""
    tables, run = scenario.layout, result.run
    sector = scenario.drive.sector_bytes
    # both are sums of what goes on at once in the vdevs of a pool, of dRAID of all disks
    n_vdevs = tables.rebuilt_at_once
    rate = RebuildRate(
        action=rebuild.action,
        bytes_per_s=run.rebuilt_bytes / n_vdevs / max(run.end_ns, 1) * 1e9,
        member_bytes=tables.rebuild_end * sector // n_vdevs,
        is_finished=run.rebuilt_bytes >= (tables.rebuild_end - tables.rebuild_front) * sector,
        is_of_pool=not tables.has_strips,
    )
    return replace(result, rebuild=rate, messages=(*result.messages, *rate.messages))

"""Evaluation by simulation: an engine's result as an outcome."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.simulate import prepare, simulate
from diskmodel.engine.steady.shared import Like
from diskmodel.errors import DescriptionError, StarvationError
from diskmodel.host import host_limit
from diskmodel.loading import dataclass
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.trial.busiest import busiest_of
from diskmodel.result import COMMITS, Latency, Result, overflow_requests, utilization_interval
from diskmodel.result.statistics import Interval, cycle_of, falls_behind, sees_too_few_cycles
from diskmodel.uncertainty import slow_write_ratio
from diskmodel.workload import Workload

#: A run in which a rebuild ends is followed by one this many times as short, of so many requests at least. An idle
#: array rebuilds in an hour in which few requests come: of fewer, a percentile is one of them; with more, requests
#: after the rebuild count as beside it.
SHORTENING, MIN_BESIDE_A_REBUILD = 4, 20
#: A run in which a write cache fills, and may go on to, is followed by one this many times as long, until that is known
#: or it has so many requests. At half, arrays whose caches only settle late count as overloaded; at double, an overload
#: by less than a percent takes a second more.
LENGTHENING, MOST_OF_FILLING = 4, 480_000


@dataclass(frozen=True)
class Simulated:
    """Evaluates an array with an engine.

    Attributes
    ----------
    engine : "auto", "native" or "simpy"
    with_angles : bool
        Whether intervals include angles of spindles that a run does not show, which takes further runs.
    like : Like, optional
        An array from which those that are evaluated differ little: its start is the first guess for theirs.
    is_bounded : bool or float
        Whether a run that would take long is shorter than it is asked to be (`Outcome.is_cut`): not where somebody
        says how many requests there shall be. A number: the part of the usual time after which it is.
    """

    engine: str = "auto"
    with_angles: bool = True
    like: Like | None = None
    is_bounded: bool | float = True

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        """Return the outcome of one run of `n_requests` requests, or of all phases of a workload with excerpts.

        Streams that go through their regions in order end the run at the ends of these, where disks transfer least. A
        run beside a rebuild has as few requests as it takes to end before the rebuild does. One that leaves the
        requests no time is an overload in which none completes (rule R6). Where a cache still fills in the longest run,
        that counts as an overload.
        """
        n_requests = max(n_requests, workload.n_cycle)
        workload = workload.at_the_end(array.usable_bytes, n_requests)
        try:
            return self._outcome(array, workload, n_requests, seed)
        except StarvationError:
            return _starved(n_requests, self.engine)

    def prepare(self, like: Like, workload: Workload, *, n_requests: int, seed: int) -> None:
        """Find what runs of arrays like one begin with, before some are made at the same time.

        Nothing where it has no room for the load, or its rebuild leaves no time: each of the runs says so itself.
        """
        array = like.array
        n_requests = max(n_requests, workload.n_cycle)
        with suppress(DescriptionError, StarvationError):
            workload = workload.at_the_end(array.usable_bytes, n_requests)
            prepare(replace(like, array=array.behind_host(workload)), workload, n_requests=n_requests, seed=seed)

    def _outcome(self, array: Array, workload: Workload, n_requests: int, seed: int) -> Outcome:
        array = array.behind_host(workload)
        result = self._result(array, workload, n_requests, seed)
        n_simulated = result.n_requests
        while result.rebuild and result.rebuild.is_finished and n_requests > MIN_BESIDE_A_REBUILD:
            n_requests = max(n_requests // SHORTENING, MIN_BESIDE_A_REBUILD)
            result = self._result(array, workload, n_requests, seed)
            n_simulated += result.n_requests
        # a run in which it became full does not show how the array fares from then on
        was_filling = False
        while (
            (result.is_filling or was_filling)
            and n_requests * LENGTHENING <= MOST_OF_FILLING
            and result.n_requests >= n_requests
        ):
            was_filling = result.is_filling
            n_requests *= LENGTHENING
            result = self._result(array, workload, n_requests, seed)
            n_simulated += result.n_requests
        outcome = outcome_of(result, array, workload)
        latency_ns = {**outcome.latency_ns, **_of_volumes(result, workload)}
        is_cut = result.n_requests < n_requests
        outcome = replace(outcome, latency_ns=latency_ns, n_simulated=n_simulated, is_cut=is_cut)
        return outcome if workload.queue_depth else _at_offered_rate(outcome, result, workload)

    def _result(self, array: Array, workload: Workload, n_requests: int, seed: int) -> Result:
        engine: Any = self.engine
        return simulate(
            array,
            workload,
            n_requests=n_requests,
            seed=seed,
            engine=engine,
            profile_draws=0,
            with_angles=self.with_angles,
            with_operations=False,
            with_messages=False,
            is_one_of_many=self.is_bounded,
            like=None if self.like is None else replace(self.like, array=self.like.array.behind_host(workload)),
        )


def _starved(n_requests: int, method: str) -> Outcome:
    """Return the outcome of an array whose rebuild takes all of its disks' time."""
    return Outcome(
        is_stable=False,
        iops=Interval.exact(0.0),
        bytes_per_s=Interval.exact(0.0),
        latency_ns={"": {}},
        utilization_ratio=1.0,
        busiest_ratio=1.0,
        n_requests=n_requests,
        method=method,
        rebuilt_bytes_per_s=0.0,
    )


def outcome_of(result: Result, array: Array, workload: Workload) -> Outcome:
    """Return what a plan reads from a result; utilization is that of the working disks, without spares.

    The randomness of arrivals of an open workload is left out of the interval of the utilization.
    """
    working = [
        use for disk, use in enumerate(result.per_disk) if disk < array.layout.disks and disk not in array.layout.failed
    ]
    share = 1.0
    if result.window.n_rounds:  # in whole rounds of an uneven sweep, not in the whole run
        whole = sum(use.utilization_ratio for use in result.per_disk) / len(result.per_disk)
        share = result.utilization_ratio / whole if whole else 1.0
    mean_bytes = result.bytes_per_s / result.iops.mean if result.iops.mean else 0.0
    cycle = cycle_of(result.requests, result.run.cleaning_requests)
    half_width = _utilization_half_width(result, is_open=not workload.queue_depth)
    busiest, busiest_half_width = busiest_of(array, workload, [use.utilization_ratio for use in working], half_width)
    iops = result.run_iops
    share_of_commits = result.commits_per_s / result.iops.mean if result.iops.mean else math.nan
    return Outcome(
        is_stable=result.is_stable and not result.is_filling,
        iops=iops,
        bytes_per_s=iops.scaled(mean_bytes) if mean_bytes else Interval.exact(0.0),
        commits_per_s=iops.scaled(share_of_commits),
        latency_ns={"": _figures(result.latency)}
        | ({} if math.isnan(result.commits_per_s) else {COMMITS: _figures(result.commits)})
        | {name: _figures(latency) for name, latency in result.per_stream.items()},
        utilization_ratio=min(share * sum(use.utilization_ratio for use in working) / len(working), 1.0),
        utilization_half_width=half_width,
        busiest_ratio=min(share * busiest, 1.0),
        busiest_half_width=busiest_half_width,
        back_end_per_host=result.back_end_per_host,
        breakdown_ms={part: value / 1e6 for part, value in result.breakdown_ns.items()} if result.is_stable else {},
        n_requests=result.n_requests,
        method=result.engine,
        rebuilt_bytes_per_s=result.rebuild.bytes_per_s if result.rebuild else math.nan,
        most_written_bytes_per_s=max(use.write_bytes_per_s for use in working),
        burst_requests=result.burst.n_requests if result.burst else math.nan,
        burst_latency_ms=result.burst.response_ns / 1e6 if result.burst else math.nan,
        host_limit="; ".join(host_limit(array.host, result.iops.mean, result.requests)) or _part(result),
        round_requests=0 if result.window.n_rounds else result.run.round_requests,
        is_in_waves=result.run.is_in_waves,
        is_settled=result.is_settled,
        mean_read_ns=result.reads.mean_ns,
        mean_write_ns=result.writes.mean_ns,
        slow_write_ratio=_slow_write_ratio(result),
        cycle_requests=cycle if sees_too_few_cycles(result.n_requests, cycle) else 0,
        overflow_requests=overflow_requests(result),
        is_brief=_is_brief(result),
        said="; ".join(result.run.said),
    )


def _is_brief(result: Result) -> bool:
    """Return whether so few requests came, or in so short a time, that no overload could be seen but in their waits."""
    done, rows = result.run.completions, result.requests.are_open
    return falls_behind(done.issue_ns[rows], done.done_ns[rows])


def _slow_write_ratio(result: Result) -> float:
    done, rows = result.run.completions, result.window.rows
    return slow_write_ratio(result.requests.op[rows], done.done_ns[rows] - done.issue_ns[rows])


def _part(result: Result) -> str:
    """Return which part limits a volume of several; "" of others."""
    return f"{result.run.busiest}, {result.utilization_ratio:.0%} busy" if result.run.busiest else ""


def _of_volumes(result: Result, workload: Workload) -> dict[str, dict[str, Interval]]:
    """Return the latency of each volume, all its streams together; nothing where no stream names a volume."""
    found = {}
    position = {rule.name: at for at, rule in enumerate(result.requests.streams)}
    for volume, members in workload.volumes.items():
        if len(members) == 1:
            latency = result.per_stream[members[0].name]
        elif not result.is_stable:
            latency = Latency.unknown(0)
        else:
            rows = result.window.rows
            done = result.run.completions
            own = rows[np.isin(result.requests.stream[rows], [position[stream.name] for stream in members])]
            latency = Latency.of(done.done_ns[own] - done.issue_ns[own])
        found[volume] = _figures(latency)
    return found


def _at_offered_rate(outcome: Outcome, result: Result, workload: Workload) -> Outcome:
    """Return the outcome with utilization and writes at the nominal rate of an open workload, not at the drawn rate."""
    is_window = result.window.n_rounds > 0
    seconds = result.window.seconds if is_window else result.run.end_ns / 1e9
    if not outcome.is_stable or seconds <= 0:
        return outcome
    n = result.n_measured if is_window else result.n_requests
    by_drawn = workload.offered_rate_per_s * seconds / n
    return replace(
        outcome,
        utilization_ratio=min(outcome.utilization_ratio * by_drawn, 1.0),
        busiest_ratio=min(outcome.busiest_ratio * by_drawn, 1.0),
        most_written_bytes_per_s=outcome.most_written_bytes_per_s * by_drawn,
    )


def _utilization_half_width(result: Result, *, is_open: bool) -> float:
    """Return the relative half-width of the 95 % interval of the utilization, the larger where it is not symmetric."""
    found = utilization_interval(result.run, result.window, per_request=True) if is_open else result.run_utilization
    return max(found.high - found.value, found.value - found.low) / found.value if found.value else 0.0


def _figures(latency: Latency) -> dict[str, Interval]:
    figures = {"mean": latency.run_mean_ns}
    for name, value in latency.quantiles_ns.items():
        figures[name] = Interval(value, *latency.run_ends_ns[name])
    return figures

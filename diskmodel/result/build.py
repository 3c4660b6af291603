"""From estimates to a result: what both kinds of run, with and without completions, have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import PARTS, Requests, Run
from diskmodel.result.commits import has_syncs
from diskmodel.result.devices import disk_use, own_use
from diskmodel.result.latency import Latency
from diskmodel.result.levels import Drift
from diskmodel.result.result import Result
from diskmodel.result.rounds import in_words
from diskmodel.result.statistics.batches import Interval
from diskmodel.result.statistics.histogram import LatencyHistogram
from diskmodel.result.statistics.registry import PERCENTILES
from diskmodel.result.statistics.stability import MIN_ABSORBED, Stability
from diskmodel.result.statistics.window import (
    UNKNOWN_CYCLE,
    Window,
    cycle_of,
    enough_cycles,
    enough_for,
    enough_unseen,
    sees_too_few_cycles,
    unseen_share,
)
from diskmodel.result.utilization import utilization_interval

#: Relative half-width: a millionth of the mean takes some 1e12 requests, and no drive repeats so many digits.
MIN_PRECISION = 1e-6
#: Among the levels of a run: of what hides for a while whether the disks keep up.
_CONTROLLER, _HOST = 0, 2


class Target(NamedTuple):
    """How narrow which intervals have to be.

    Attributes
    ----------
    precision : float, more than 0
        Relative half-width.
    percentile : "p50", …, "p999" or None
        Percentile whose interval has to be that narrow, beside that of the mean.
    confidence : float in (0, 1)
        Of the intervals.
    """

    precision: float
    percentile: str | None
    confidence: float

    def check(self, n: int) -> None:
        """Refuse options out of range, and a run without requests.

        Raises
        ------
        DescriptionError
            With everything that is wrong.
        """
        faults = []
        if n == 0:
            faults.append(Fault("requests", 0, "there is nothing to summarize", "simulate at least one request"))
        if not self.precision >= MIN_PRECISION:
            rule = f"must be at least {MIN_PRECISION:g}"
            faults.append(Fault("precision", self.precision, rule, "write for example 0.02"))
        if not 0 < self.confidence < 1:
            faults.append(Fault("confidence", self.confidence, "must be between 0 and 1", "write for example 0.95"))
        if self.percentile is not None and self.percentile not in PERCENTILES:
            known = ", ".join(PERCENTILES)
            faults.append(Fault("percentile", self.percentile, "is not a known percentile", f"use one of {known}"))
        if faults:
            raise DescriptionError(faults)

    def is_reached(self, latency: Latency) -> bool:
        """Return whether the intervals of the mean and of the percentile are narrow enough."""
        # comparisons with nan (too few observations) are False
        mean = latency.run_mean_ns
        mean_is_narrow = mean.relative <= self.precision and not mean.is_correlated
        percentile = self.percentile
        return mean_is_narrow and (percentile is None or latency.relative_half_width(percentile) <= self.precision)


class Subset(NamedTuple):
    """Some of the requests in the window.

    Attributes
    ----------
    n : int
    estimate : callable
        Returns their latency; called only where the run has one.
    """

    n: int
    estimate: Callable[[], Latency]


class Measured(NamedTuple):
    """What was measured in the window of a run, whether or not it kept its completions.

    Attributes
    ----------
    observed : Latency
        Of all requests, whether or not the run is stable.
    reads, writes, commits : Subset
    streams : mapping of str to Subset
    n_hits, n_bytes : int
        Requests that the controller's cache served, and bytes of all requests.
    parts_ns : sequence of float
        Mean time per request in each of `records.PARTS`.
    longest_wait_ns : int
        In queues, of one request.
    iops : Interval
    """

    observed: Latency
    reads: Subset
    writes: Subset
    commits: Subset
    streams: Mapping[str, Subset]
    n_hits: int
    n_bytes: int
    parts_ns: Sequence[float]
    longest_wait_ns: int
    iops: Interval


class Burst(NamedTuple):
    """Rates before and after a write-back cache was full for the first time; nan where it never was.

    Attributes
    ----------
    burst_iops, sustained_iops : float
    cache_full_s : float
    """

    burst_iops: float = math.nan
    sustained_iops: float = math.nan
    cache_full_s: float = math.nan

    @classmethod
    def of(cls, run: Run, n_done: int, n_until: Callable[[int], float]) -> Burst:
        """Return the rates of a run with `n_done` completions, of which `n_until(t)` came until time t (ns)."""
        full_ns = run.cache_full_ns
        if full_ns is None or not 0 < full_ns < run.end_ns:
            return cls()
        n_burst = n_until(full_ns)
        return cls(n_burst / (full_ns / 1e9), (n_done - n_burst) / ((run.end_ns - full_ns) / 1e9), full_ns / 1e9)


def build_result(
    requests: Requests,
    run: Run,
    *,
    n_requests: int,
    response_ns: int,
    window: Window,
    stability: Stability | None,
    measured: Measured,
    burst: Burst,
    target: Target,
    drifting: Sequence[Drift] = (),
    histogram: LatencyHistogram | None = None,
) -> Result:
    """Return the result of a run.

    Parameters
    ----------
    requests, run : Requests, Run
    n_requests, response_ns : int
        Requests of the whole run, and the sum of their response times.
    window : Window
        The part of the run that was measured.
    stability : Stability or None
        Verdict on the open streams; None without any.
    measured : Measured
    burst : Burst
    target : Target
    drifting : sequence of Drift
        Levels that still rise or fall (rule Z8).
    histogram : LatencyHistogram, optional
        Where the run kept nothing else of its responses.
    """
    is_partial = bool(run.round_requests) and not window.n_rounds
    is_short = n_requests < MIN_ABSORBED and any(run.level_marks[at] for at in (_CONTROLLER, _HOST))
    if is_short and stability is not None:
        stability = replace(stability, is_stable=True, is_known=False)
    stability, window = _with_drifts(stability, window, drifting, requests, is_partial=is_partial or is_short)
    cycle = cycle_of(requests, run.cleaning_requests)
    misses_cycles = sees_too_few_cycles(n_requests, cycle)
    if misses_cycles and stability is not None:  # a burst is not the mean load, nor is the time between two
        stability = replace(stability, is_stable=True, is_known=False)
    is_stable = stability is None or stability.is_stable
    n = measured.observed.n
    unseen = unseen_share(requests, run, n, window.start_ns)
    observed = measured.observed.may_be_above(unseen)

    def latency_of(subset: Subset) -> Latency:
        return subset.estimate().may_be_above(unseen) if is_stable else Latency.unknown(subset.n)

    latency = observed if is_stable else Latency.unknown(n)
    is_converged = is_stable and window.is_settled and target.is_reached(latency)
    utilization = utilization_interval(run, window, confidence=target.confidence)
    return Result(
        engine=run.engine,
        wall_s=run.wall_s,
        n_requests=n_requests,
        n_measured=n,
        is_stable=is_stable,
        is_settled=window.is_settled,
        is_converged=is_converged,
        precision=target.precision,
        percentile=target.percentile,
        confidence=target.confidence,
        latency=latency,
        reads=latency_of(measured.reads),
        writes=latency_of(measured.writes),
        commits=latency_of(measured.commits),
        commits_per_s=measured.commits.n / window.seconds if has_syncs(requests) and measured.commits.n else math.nan,
        observed=observed,
        per_stream={name: latency_of(subset) for name, subset in measured.streams.items()},
        run_iops=measured.iops,
        iops_by_stream={name: subset.n / window.seconds for name, subset in measured.streams.items()},
        offered_per_s=math.nan if stability is None else stability.offered_per_s,
        bytes_per_s=measured.n_bytes / window.seconds,
        breakdown_ns=dict(zip(PARTS, measured.parts_ns if is_stable else [math.nan] * len(PARTS), strict=True)),
        longest_wait_ns=measured.longest_wait_ns,
        mean_in_system=response_ns / max(run.end_ns, 1),
        burst_iops=burst.burst_iops,
        sustained_iops=burst.sustained_iops,
        cache_full_s=burst.cache_full_s,
        hit_ratio=measured.n_hits / max(n, 1),
        l2_hit_ratio=run.l2_hit_ratio,
        utilization_ratio=utilization.value,
        run_utilization=utilization,
        per_disk=disk_use(run),
        own_devices=own_use(run),
        back_end_per_host=run.n_back_end / n_requests,
        messages=(
            *_rounds_message(run, n_requests, is_partial=is_partial),
            *_overflow_message(requests, unseen if is_stable and not misses_cycles else 0.0),
            *_cycles_message(cycle if misses_cycles else 0, n_requests, is_cleaning=cycle == run.cleaning_requests),
            *_messages(
                stability,
                measured.iops,
                window,
                latency,
                target,
                drifting,
                is_converged=is_converged,
                is_partial=is_partial or misses_cycles,
            ),
        ),
        window=window,
        requests=requests,
        run=run,
        histogram=histogram,
        is_stability_known=stability is None or stability.is_known,
        is_filling=not is_partial and are_open(requests) and any(drift.is_undecided for drift in drifting),
    )


def are_open(requests: Requests) -> bool:
    """Return whether no client of the load waits for what has not been written."""
    return all(rule.n_clients == 0 for rule in requests.streams)


def _with_drifts(
    stability: Stability | None, window: Window, drifting: Sequence[Drift], requests: Requests, *, is_partial: bool
) -> tuple[Stability | None, Window]:
    """Return the verdict and the window of a run in which levels have not settled (rule Z8).

    A level that rises above its mark under open streams alone rises until it is full: they do not wait for it. In a
    part of a round of an uneven sweep (`is_partial`, rule Z10) it may fall again in the rest, so nothing is known; nor
    is it in a run so short that what waits hardly moves, or where lines of a cache may have come to hold more.
    """
    if not drifting:
        return stability, window
    if stability is not None and are_open(requests) and any(drift.may_be_overload for drift in drifting):
        is_known = not is_partial and any(drift.is_overload for drift in drifting)
        stability = replace(stability, is_stable=False) if is_known else replace(stability, is_known=False)
    return stability, replace(window, is_settled=False)


def _rounds_message(run: Run, n_requests: int, *, is_partial: bool) -> tuple[str, ...]:
    """Return what a run has missed that saw too little of an uneven sweep, or of waves (rules Z6 and Z10)."""
    if not is_partial:
        return ()
    rounds = n_requests / run.round_requests
    return (
        f"{in_words(run.round_requests, is_in_waves=run.is_in_waves)}; this run saw {rounds:.2g} of such rounds, "
        f"simulate at least {enough_for(run.round_requests):,} requests",
    )


def _overflow_message(requests: Requests, share: float) -> tuple[str, ...]:
    """Return what a run has not seen in which no burst filled the controller's cache (rule Z11)."""
    if share <= 1 - PERCENTILES["p99"] + 1e-9:
        return ()
    return (
        f"no burst filled the controller's write cache in this run, but a share of {share:.2g} of them may: what mean "
        f"and p99 are then is not known, simulate at least {unseen_requests(requests):,} requests",
    )


def unseen_requests(requests: Requests) -> int:
    """Return the length of a run that knows p99 where no burst fills a cache; 0 without bursts of random lengths."""
    cycle = max((rule.cycle_requests for rule in requests.streams if rule.is_random), default=0)
    return enough_unseen(cycle, PERCENTILES["p99"]) if cycle else 0


def _cycles_message(cycle: int, n_requests: int, *, is_cleaning: bool) -> tuple[str, ...]:
    """Return what a run has missed that saw too few ups and downs (rules Z11 and G9); nothing without any."""
    if not cycle:
        return ()
    if cycle >= UNKNOWN_CYCLE:
        return (
            "the disks' media caches fill, but so much of the past that they would be full is not drawn: what they "
            "clean in the long run is not known, and this run may be much too fast",
        )
    if is_cleaning:
        return (
            f"the disks' media caches are full, and a band is cleaned for about every {cycle:,} requests; this run of "
            f"{n_requests:,} saw too few cleanings to know the long run, simulate at least {enough_cycles(cycle):,} "
            "requests",
        )
    return (
        f"the load rises and falls once in about {cycle:,} requests; this run of {n_requests:,} saw too few such "
        f"cycles to know the long run, simulate at least {enough_cycles(cycle):,} requests",
    )


def _messages(
    stability: Stability | None,
    iops: Interval,
    window: Window,
    latency: Latency,
    target: Target,
    drifting: Sequence[Drift],
    *,
    is_converged: bool,
    is_partial: bool,
) -> tuple[str, ...]:
    """Return what the reader must know of a result."""
    if stability is not None and not stability.is_stable:
        filling = [drift for drift in drifting if drift.is_overload]
        if filling:
            return tuple(
                f"overloaded: {drift.part} fills at {drift.bytes_per_s / 1e6:.2g} MB/s; destaging does not keep up, "
                "and latency grows without end once it is full"
                for drift in filling
            )
        # where all arrive before the first is complete, the rate of the whole run is known
        completed_per_s = stability.completed_per_s or iops.mean
        return (
            f"overloaded: {stability.offered_per_s:,.4g} requests/s arrive and {completed_per_s:,.4g}/s"
            " complete; the backlog grows without end, so there is no latency to report",
        )
    messages = [drift.message for drift in drifting]
    if stability is not None and not stability.is_known:
        messages.append(
            f"too short to determine whether the array keeps up: {stability.offered_per_s:,.4g} requests/s arrived and "
            f"{stability.completed_per_s:,.4g}/s completed in the last half; simulate more requests"
        )
    if not window.is_settled and not drifting and not is_partial:
        messages.append("the warm-up did not end within the run; simulate more requests")
    if latency.run_mean_ns.is_correlated:
        messages.append("batch means are still correlated, so the interval may be too narrow; simulate more requests")
    if not is_converged and latency.mean.value:
        percentile = target.percentile
        asked = "mean" if percentile is None else f"mean and of {percentile}"
        reached = "unknown" if math.isnan(latency.mean.relative) else f"±{latency.mean.relative:.1%}"
        if percentile is not None and not math.isnan(latency.relative_half_width(percentile)):
            reached += f" and ±{latency.relative_half_width(percentile):.1%}"
        messages.append(f"the interval of the {asked} is {reached}, wider than the ±{target.precision:.1%} asked for")
    return tuple(messages)

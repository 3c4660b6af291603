"""One result from independent runs of the same question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import Int64, Op
from diskmodel.result.build import Target
from diskmodel.result.commits import are_commits
from diskmodel.result.latency import Latency
from diskmodel.result.rebuild import RebuildRate
from diskmodel.result.result import Result
from diskmodel.result.statistics.batches import independent_interval

#: Chooses some of the requests of a run by their operations and streams.
_Choice = Callable[[NDArray[np.uint8], NDArray[np.int32]], NDArray[np.bool_]]


def across(results: Sequence[Result], *, wall_s: float) -> Result:
    """Return the result of several runs that differ in their seeds only.

    Rates and means are means over the runs, percentiles those of all measured requests together. Intervals are from
    the spread over the runs, which are independent whatever the correlation within each. What describes a single run
    (`window`, `requests`, `run`, `per_disk`, burst) is the first one's.

    Parameters
    ----------
    results : sequence of Result
        At least two, with all completions.
    wall_s : float
        Real time of all.
    """
    first = results[0]
    confidence = first.confidence
    is_stable = all(one.is_stable for one in results)
    columns = [_columns(one) for one in results]

    def latency_of(choice: _Choice | None = None) -> Latency:
        chosen = [response if choice is None else response[choice(op, stream)] for response, op, stream in columns]
        return Latency.across(chosen, confidence=confidence)

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values))

    def if_stable(latency: Latency) -> Latency:
        return latency if is_stable else Latency.unknown(latency.n)

    safe = [one.responses_ns()[are_commits(one.requests, one.run.completions, one.window.rows)] for one in results]
    commits = Latency.across(safe, confidence=confidence) if any(map(len, safe)) else Latency.unknown(0)
    observed = latency_of()
    latency = if_stable(observed)
    is_settled = all(one.is_settled for one in results)
    utilization = independent_interval([one.utilization_ratio for one in results], confidence)
    target = Target(first.precision, first.percentile, confidence)
    return replace(
        first,
        wall_s=wall_s,
        n_replications=len(results),
        n_requests=sum(one.n_requests for one in results),
        n_measured=sum(one.n_measured for one in results),
        is_stable=is_stable,
        is_stability_known=all(one.is_stability_known for one in results),
        is_filling=any(one.is_filling for one in results),
        is_settled=is_settled,
        is_converged=is_stable and is_settled and target.is_reached(latency),
        latency=latency,
        reads=if_stable(latency_of(lambda op, stream: op == Op.READ)),
        writes=if_stable(latency_of(lambda op, stream: op == Op.WRITE)),
        commits=if_stable(commits),
        commits_per_s=mean([one.commits_per_s for one in results]),
        observed=observed,
        per_stream={
            rule.name: if_stable(latency_of(lambda op, stream, at=at: stream == at))  # type: ignore[misc]
            for at, rule in enumerate(first.requests.streams)
        },
        run_iops=independent_interval([one.run_iops.value for one in results], confidence),
        iops_by_stream={name: mean([one.iops_by_stream[name] for one in results]) for name in first.iops_by_stream},
        offered_per_s=mean([one.offered_per_s for one in results]),
        bytes_per_s=mean([one.bytes_per_s for one in results]),
        breakdown_ns={part: mean([one.breakdown_ns[part] for one in results]) for part in first.breakdown_ns},
        longest_wait_ns=max(one.longest_wait_ns for one in results),
        mean_in_system=mean([one.mean_in_system for one in results]),
        hit_ratio=mean([one.hit_ratio for one in results]),
        l2_hit_ratio=mean([one.l2_hit_ratio for one in results]),
        rebuild=RebuildRate.across([one.rebuild for one in results]),
        run_utilization=utilization,
        utilization_ratio=utilization.value,
        back_end_per_host=mean([one.back_end_per_host for one in results]),
        messages=tuple(dict.fromkeys(message for one in results for message in one.messages)),
    )


def _columns(result: Result) -> tuple[Int64, NDArray[np.uint8], NDArray[np.int32]]:
    """Return responses in ns, operations and streams of the measured requests."""
    rows = result.window.rows
    return result.responses_ns(), result.requests.op[rows], result.requests.stream[rows]

"""Angles between spindles that turn freely: what a run at one set of them does not show (rule S2).

Copies of a block are written at the same time, and the request waits for the disk whose platter comes last: two mirrors
at opposite angles take 5 % longer than the mean of all angles, as long as the run lasts. Clients that go through their
regions in order fall into step with the platters or miss a revolution at each turn: four of them on a RAID 6 with a
failed disk read 1,540 MB/s at some angles and 630 at others. Real spindles drift, and pass through all angles within
minutes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.engine.effort import LEAST_OF_MOVED, Cost
from diskmodel.engine.ledger import current
from diskmodel.engine.native import covers
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario
from diskmodel.engine.threads import Threads, mapped
from diskmodel.records import Int64, Op, Requests
from diskmodel.result import Interval, Latency, Result, combined
from diskmodel.result.statistics import PERCENTILES
from diskmodel.workload import Sequential, Strided, Workload

#: Sets of angles that are tried, evenly spread between two disks, and requests with each. With half of either, the
#: spread over the angles is within a quarter; double takes as long as the run itself.
_DRAWS, _REQUESTS = 8, 4_000
#: Utilization from which disks are out of step by what waits: two mirrors still differ by 4 % at 0.4, and by less than
#: the interval of most runs beyond. What waits behind clients that go on in order is in step.
_BUSY = 0.5
#: Part of the requests that begin the run, which are left out.
_FIRST = 10
#: Sets of angles by which it is seen whether clients in order are in another state at some of them, requests with each,
#: of which the second half count, and the ratio of rates from which it is another. With half as many sets a state that
#: half of all angles have is missed three times as often (6 %); with double, an explanation of loads in order takes
#: twice as long. With half the requests, clients that are not in step yet are taken for a state of their own; at double
#: the ratio, a write in order that misses a revolution of two is none.
_SEEN, _FEW_REQUESTS, _OTHER_STATE = 4, 600, 1.15
#: Requests that are simulated to see whether there is another state.
TO_SEE_STATES = (1 + _SEEN) * _FEW_REQUESTS


def with_all_angles(result: Result, array: Array, workload: Workload, scenario: Scenario, seed: int) -> Result:
    """Return the result with intervals that include the angles of spindles which were not drawn for its run.

    Where they do not matter, or are given, it is left as it is.

    Parameters
    ----------
    result : Result
    array, workload, seed
        Of its run.
    scenario : Scenario
        From which it began.
    """
    if not _are_free(array) or not result.is_stable:
        return result
    is_out_of_step = result.utilization_ratio >= _BUSY or not _waits_for_several(array, workload)
    if is_out_of_step and not _goes_on_in_order(array, workload):
        return result
    if not current().has_time_for("other angles between spindles"):
        return result
    cost = Cost.of(result.run, scenario, result.n_requests, workload)
    longest = cost.at_least(cost.most(1 + _DRAWS), LEAST_OF_MOVED)
    requests = workload.requests(
        capacity_bytes=array.usable_bytes,
        n=min(_REQUESTS, result.n_requests, longest),
        seed=seed,
        with_cache_draws=scenario.has_drawn_hits,
        n_before=scenario.start.n_before,
    )
    if covers(scenario, requests) is not None:
        return result
    scenario = replace(scenario, sample_every=0)

    def of(phase_ns: Int64) -> dict[str, dict[str, float]]:
        done = run(replace(scenario, phase_ns=phase_ns), requests).completions
        return _figures(requests, done.issue_ns, done.done_ns)

    with Threads() as pool:
        angles = [scenario.phase_ns, *_angles(scenario.revolution_ns, seed)]
        reference, *drawn = mapped(pool, of, angles, are_runs=True)
    if not reference[""]["mean"]:  # the host's memory answers all of them
        return result
    means = [one[""]["mean"] / reference[""]["mean"] for one in drawn]
    reach = NormalDist().inv_cdf(0.5 + result.confidence / 2) * float(np.std(np.log(means), ddof=1))
    if not reach > result.latency.run_mean_ns.relative:
        return result
    rate = result.run_iops
    if not workload.is_open:
        rate = combined(rate, reference[""]["rate"], [one[""]["rate"] for one in drawn], result.confidence)

    def widened(latency: Latency, name: str) -> Latency:
        if name not in reference:
            return latency
        return _widened(latency, reference[name], [one[name] for one in drawn], result.confidence)

    message = (
        f"at other angles between the disks' spindles, which turn freely, the mean is {_percent(min(means))} to "
        f"{_percent(max(means))} from this; the intervals include that, and longer runs do not narrow them "
        "(spindles.drift_ppm lets them drift)"
    )
    return replace(
        result,
        run_iops=rate,
        latency=widened(result.latency, ""),
        reads=widened(result.reads, "reads "),
        writes=widened(result.writes, "writes "),
        per_stream={name: widened(latency, f"stream {name}") for name, latency in result.per_stream.items()},
        messages=(*result.messages, message),
    )


def with_other_states(array: Array, workload: Workload, scenario: Scenario, seed: int) -> list[Int64]:
    """Return sets of angles at some of which clients that go on in order are in another state; empty where at none.

    A few are in step with the platters or miss a revolution at each turn, by the angles that their run happens to have.
    Beside a pass over all disks they meet it anew at each turn, and have no state that stays.

    Parameters
    ----------
    array, workload, seed
        Of a run.
    scenario : Scenario
        From which it begins.
    """
    if array.layout.rebuild is not None or not _are_free(array) or not _goes_on_in_order(array, workload):
        return []
    requests = workload.requests(
        capacity_bytes=array.usable_bytes,
        n=_FEW_REQUESTS,
        seed=seed,
        with_cache_draws=scenario.has_drawn_hits,
        n_before=scenario.start.n_before,
    )
    if covers(scenario, requests) is not None:
        return []
    angles = _angles(scenario.revolution_ns, seed)
    half = len(requests) // 2

    def rate(phase_ns: Int64) -> float:
        done = run(replace(scenario, phase_ns=phase_ns), requests).completions
        return 1 / max(int(done.done_ns[half:].max() - done.issue_ns[half:].min()), 1)

    rates = [rate(one) for one in (scenario.phase_ns, *angles[:_SEEN])]
    return angles if max(rates) > _OTHER_STATE * min(rates) else []


def _are_free(array: Array) -> bool:
    """Whether the angles are drawn once and stay."""
    spindles = array.spindles
    return spindles.phase == "random" and not spindles.drift_ppm and array.drive.has_arms


def _waits_for_several(array: Array, workload: Workload) -> bool:
    """Whether some request waits for several disks at once: copies, whole rows, or strips; not behind a write cache."""
    layout = array.layout
    if layout.disks < 2 or layout.rebuild is not None:
        return False
    writes = array.controller.write_cache is None and workload.has_writes
    longest = max(share.size_bytes for stream in workload.streams for share in stream.sizes)
    return layout.waits_for_several(longest, has_writes=writes)


def _goes_on_in_order(array: Array, workload: Workload) -> bool:
    """Whether clients go through their regions in order on several disks, each request after the one before it."""
    closed = [stream.addresses for stream in workload.streams if stream.is_closed]
    return array.layout.disks > 1 and any(isinstance(addresses, Sequential | Strided) for addresses in closed)


def _angles(revolution_ns: Int64, seed: int) -> list[Int64]:
    """Return sets of angles: the first disk at 0, each other one once in every eighth of a revolution."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(0x5B1E,))))
    parts = np.stack([rng.permutation(_DRAWS) for _ in revolution_ns[1:]], axis=1)
    turns = np.concatenate([np.zeros((_DRAWS, 1)), (parts + 0.5) / _DRAWS], axis=1)
    return [(one * revolution_ns).astype(np.int64) for one in turns]


def _figures(requests: Requests, issue_ns: Int64, done_ns: Int64) -> dict[str, dict[str, float]]:
    """Return mean and percentiles of all requests (""), reads, writes and streams, and the rate of all."""
    response_ns = done_ns - issue_ns
    is_late = np.arange(len(response_ns)) >= len(response_ns) // _FIRST
    groups = {"": is_late, "reads ": is_late & (requests.op == Op.READ), "writes ": is_late & (requests.op == Op.WRITE)}
    for at, rule in enumerate(requests.streams):
        groups[f"stream {rule.name}"] = is_late & (requests.stream == at)
    found = {name: _of_group(response_ns[rows]) for name, rows in groups.items() if rows.any()}
    lasted_ns = int(done_ns[is_late].max() - issue_ns[is_late].min())
    found[""]["rate"] = int(is_late.sum()) / max(lasted_ns, 1) * 1e9
    return found


def _of_group(response_ns: NDArray[np.int64]) -> dict[str, float]:
    ascending = np.sort(response_ns)
    found = {name: _quantile(ascending, level) for name, level in PERCENTILES.items()}
    return {"mean": float(response_ns.mean())} | found


def _quantile(ascending: NDArray[np.int64], level: float) -> float:
    """Return a quantile between two values as `numpy.quantile` does, which takes longer, and loads masked arrays."""
    at = level * (len(ascending) - 1)
    first = math.floor(at)
    low, high = int(ascending[first]), int(ascending[min(first + 1, len(ascending) - 1)])
    share = at - first
    return low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share)


def _widened(
    latency: Latency, reference: Mapping[str, float], drawn: list[dict[str, float]], confidence: float
) -> Latency:
    """Return a latency whose intervals include the angles; those that the run does not know stay unknown."""

    def of(own: Interval, name: str) -> Interval:
        if not (math.isfinite(own.low) and math.isfinite(own.high)):
            return own
        return combined(own, reference[name], [one[name] for one in drawn], confidence)

    ends = {name: of(Interval(value, *latency.run_ends_ns[name]), name) for name, value in latency.quantiles_ns.items()}
    return replace(
        latency,
        run_mean_ns=of(latency.run_mean_ns, "mean"),
        run_ends_ns={name: (one.low, one.high) for name, one in ends.items()},
    )


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f} %"

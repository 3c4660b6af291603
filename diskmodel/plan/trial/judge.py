"""Comparing an outcome with the objective: which criteria are met, missed, or undecided so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from diskmodel.plan.answer.criterion import Criterion, Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.objective import Limited, Objective
from diskmodel.result.statistics import BY_NAME, Interval
from diskmodel.workload import Workload

#: Highest utilization of a single disk under an open load. What comes too fast for a moment takes 1 / (1 - utilization)
#: times as long to be served: 100 times here. At 99.9 % a queue, or a full write cache, stays so for minutes, which a
#: run of some seconds does not see.
MAX_BUSY_RATIO = 0.99
#: End of the interval of that utilization up to which a figure below the highest is believed: a burst then takes less
#: than twice as long as at the highest. At 0.99 every array near it would need a run of a million requests.
MAX_BUSY_END_RATIO = 0.995
#: Utilization whose interval is not looked at: no run of a plan is so short that it takes 99 % for it.
FAR_FROM_BUSY_RATIO = 0.9
#: Distance of a figure from its limit, in what its 95 % interval extends towards it, from which a limit is believed to
#: be met. The two errors are not alike. A run that was calm by luck looks both faster and steadier than the array is:
#: the upper end of p99 is too low in 3 % of runs where a queue is busy for 70 % of the time, and in 7 to 9 % at 85 %,
#: instead of 2.5 %; the lower end is too high in less than 1 %. And a search looks up to three times. At 1 one array
#: in ten just beyond the limit is called enough; at 2 an answer needs runs of twice the length.
SAFE_HALF_WIDTHS = 1.5
#: How many times as wide as its own the interval of a figure at the limit is taken to be, at most. Where a distribution
#: has a gap, p99 of a flash drive is 1 ms with an interval up to 10: without a bound no limit would be far enough.
MOST_WIDENED = 2
#: Factor to either side within which a latency is taken to be known of a run that the account of the question cut too
#: short for an interval, and requests beyond it that this takes. Ten that are independent vary by a third, and ten
#: bursts of ten by a factor of 2 to 3. Without it a figure a thousandth of its limit would decide nothing; at 2, one
#: behind full buffers may be further off.
CUT_FACTOR, CUT_BEYOND = 3.0, 10
#: Requests beyond a mean count as those beyond this percentile.
_LIKE_A_MEAN = 0.9
#: The same of a utilization, as a part of it.
CUT_UTILIZATION = 0.1
#: Detail of that criterion.
BUSIEST = "of the busiest disk"


def criterion(name: str, detail: str, limit: float, figure: Interval, unit: str, *, is_upper: bool) -> Criterion:
    """Return a criterion with its verdict: decided only when the whole interval is on one side of the limit.

    To be met takes more than that: `SAFE_HALF_WIDTHS`.
    """
    if math.isnan(figure.value):
        verdict = Verdict.UNKNOWN
    elif math.isnan(figure.low) or math.isnan(figure.high):
        verdict = Verdict.UNDECIDED
    else:
        good = half_widths_from(limit, figure, is_upper=is_upper) >= SAFE_HALF_WIDTHS
        bad = figure.low > limit if is_upper else figure.high < limit
        verdict = Verdict.HOLDS if good else Verdict.FAILS if bad else Verdict.UNDECIDED
    return Criterion(name, detail, limit, figure, unit, is_upper, verdict)


def half_widths_from(limit: float, figure: Interval, *, is_upper: bool) -> float:
    """Return how far on the good side of a limit a figure is, in what its interval extends towards it; else at most 0.

    The interval is that of a figure at the limit, which is wider by as much as the limit is larger (a score test), up
    to `MOST_WIDENED`.
    """
    extent = figure.high - figure.value if is_upper else figure.value - figure.low
    distance = limit - figure.value if is_upper else figure.value - limit
    if figure.value > 0 and is_upper:
        extent *= min(limit / figure.value, MOST_WIDENED)
    if extent > 0:
        return distance / extent
    return math.inf if distance >= 0 else -math.inf


def performance(objective: Objective, outcome: Outcome, workload: Workload) -> list[Criterion]:
    """Return the criteria about speed.

    Parameters
    ----------
    objective : Objective
    outcome : Outcome
    workload : Workload
        An open one offers its rate whatever the array does: the array achieves that rate exactly when it is stable.
    """
    is_open = not workload.queue_depth
    found = stability(outcome, workload)
    outcome = _as_known(outcome)
    found += _busiest(outcome, is_open=is_open)
    if not is_open and objective.design_iops is not None:
        found.append(criterion("iops", "", objective.design_iops, outcome.iops, "1/s", is_upper=False))
    if objective.design_throughput_bytes_per_s is not None and outcome.is_stable:
        rate = outcome.bytes_per_s.scaled(1e-6)
        required = objective.design_throughput_bytes_per_s / 1e6
        if is_open:  # the load sets the rate; the randomness of the arrivals is no property of the array
            rate = Interval.exact(rate.high if math.isfinite(rate.high) else rate.value)
        found.append(criterion("throughput", "", required, rate, "MB/s", is_upper=False))
    if objective.design_commits_per_s is not None and any(
        stream.has_syncs and stream.is_closed for stream in workload.streams
    ):
        required = objective.design_commits_per_s
        found.append(criterion("commits", "", required, outcome.commits_per_s, "1/s", is_upper=False))
    return found + _speed(objective.limited, objective.utilization_ceiling_ratio, outcome, "")


def degraded(objective: Objective, outcome: Outcome, workload: Workload) -> list[Criterion]:
    """Return the criteria about speed while disks are missing."""
    required = objective.degraded
    assert required is not None
    found = stability(outcome, workload, "degraded ")
    return found + _speed(required.limited, required.utilization_ceiling_ratio, _as_known(outcome), "degraded ")


def _as_known(outcome: Outcome) -> Outcome:
    """Return the outcome with the intervals by which it is judged.

    Those of a run that saw only part of a cycle do not cover the rest.
    """
    if not outcome.is_partial:
        return _with_wide_ends(outcome)
    latency = {
        stream: {name: _unknown(figure) for name, figure in figures.items()}
        for stream, figures in outcome.latency_ns.items()
    }
    return replace(
        outcome,
        iops=_unknown(outcome.iops),
        bytes_per_s=_unknown(outcome.bytes_per_s),
        commits_per_s=_unknown(outcome.commits_per_s),
        latency_ns=latency,
        utilization_half_width=math.nan,
        busiest_half_width=math.nan,
    )


def _with_wide_ends(outcome: Outcome) -> Outcome:
    """Return the outcome with wide intervals where a run was cut too short for others: far from a limit they decide.

    Not where a burst may fill a cache that was never full in so short a run.
    """
    if not _is_short(outcome) or outcome.overflow_requests or outcome.is_brief:
        return outcome
    latency = {
        stream: {name: _widened(name, figure, outcome.n_requests) for name, figure in figures.items()}
        for stream, figures in outcome.latency_ns.items()
    }
    half, busiest = outcome.utilization_half_width, outcome.busiest_half_width
    return replace(
        outcome,
        latency_ns=latency,
        utilization_half_width=CUT_UTILIZATION if math.isnan(half) else half,
        busiest_half_width=CUT_UTILIZATION if math.isnan(busiest) else busiest,
    )


def _is_short(outcome: Outcome) -> bool:
    """Whether the account of the question cut a run which shows no overload."""
    return outcome.is_cut and outcome.is_stable


def misses_nothing(outcome: Outcome | None, criteria: Sequence[Criterion]) -> bool:
    """Whether an array meets its criteria, of which fewer disks have been found to meet the objective.

    Those decide that more do, too: a run of these that was cut too short to be far enough from a limit is only asked
    whether it lies beyond one.
    """
    verdict = overall(criteria)
    if verdict is not Verdict.UNDECIDED or outcome is None or not _is_short(outcome):
        return verdict is Verdict.HOLDS
    return all(item.margin_ratio > 0 for item in criteria)


def _widened(name: str, figure: Interval, n_requests: int) -> Interval:
    """Return a figure with wide ends where it has none and so many requests show it."""
    beyond = n_requests * (1 - (BY_NAME[name].level or _LIKE_A_MEAN))
    if round(beyond) < CUT_BEYOND or not math.isnan(figure.low) or math.isnan(figure.value):
        return figure
    return Interval(figure.value, figure.value / CUT_FACTOR, figure.value * CUT_FACTOR)


def _unknown(figure: Interval) -> Interval:
    return Interval(figure.value, math.nan, math.nan)


def stability(outcome: Outcome, workload: Workload, prefix: str = "") -> list[Criterion]:
    """Return the failed criterion of an overloaded array; nothing when it is stable."""
    if outcome.is_stable:
        return []
    offered = workload.offered_rate_per_s or outcome.iops.value
    return [Criterion(f"{prefix}iops", "overloaded", offered, outcome.iops, "1/s", False, Verdict.FAILS)]


def _busiest(outcome: Outcome, *, is_open: bool) -> list[Criterion]:
    """Return the criterion of an array with a disk that hardly keeps up; nothing where all do."""
    if not is_open or not outcome.is_stable or not outcome.busiest_ratio > FAR_FROM_BUSY_RATIO:
        return []
    found = criterion("utilization", BUSIEST, MAX_BUSY_RATIO, outcome.busiest, "", is_upper=True)
    is_believed = found.figure.value <= MAX_BUSY_RATIO and found.figure.high <= MAX_BUSY_END_RATIO
    return [] if is_believed else [found]


def _speed(limited: Sequence[Limited], ceiling: float | None, outcome: Outcome, prefix: str) -> list[Criterion]:
    found = []
    unknown = Interval(math.nan, math.nan, math.nan)
    if outcome.is_stable:
        for stream, limits in limited:
            for statistic, limit in limits.limits().items():
                figure = outcome.latency_of(statistic, stream)
                detail = f"{statistic} of {stream}" if stream else statistic
                known = unknown if figure is None else figure  # a figure of 0 is known
                item = criterion(f"{prefix}latency", detail, limit / 1e6, known.scaled(1e-6), "ms", is_upper=True)
                if figure is not None and math.isnan(figure.value):  # the run was too short to see it
                    item = replace(item, verdict=Verdict.UNDECIDED)
                found.append(item)
    if ceiling is not None:
        found.append(criterion(f"{prefix}utilization", "", ceiling, outcome.utilization, "", is_upper=True))
    return found

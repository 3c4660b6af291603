"""Serving a load beside a rebuild, and how long the rebuild takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from diskmodel.array import Array
from diskmodel.engine import often_enough
from diskmodel.engine.ledger import current
from diskmodel.engine.threads import mapped
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.statics import fastest_rebuild_bytes_per_s, rebuilt_bytes
from diskmodel.workload import Workload

#: Parts of a rebuild that are simulated on hard disks, and their shares of its time: straight lines between them, and
#: the last one to the end. Disks transfer less inwards, arms go farther from the data, and while data are not rebuilt
#: yet, reads of them need all other disks: half-way alone is 6 to 56 % too short on nine of ten arrays, these parts are
#: within 6 % on eight and 14 % on all. Three parts are 20 % too short where data fill half of the disks.
_WEIGHTS = {0.0: 0.125, 0.25: 0.25, 0.5: 0.25, 0.75: 0.225, 0.95: 0.15}
#: The same where all parts of a drive are alike.
_HALFWAY_ONLY = {0.5: 1.0}

#: Steps of a rebuild that a run sees at most, and requests that it has at least. Where few requests come, steps are
#: nearly all that is simulated: 200,000 of 128 KiB take two minutes at Linux's highest speed, four times what its
#: rebuild looks back on, and a second of a processor. At half, p99 beside ten requests a second is from 650 of them;
#: at double, a question about rare requests takes twice as long. With fewer than 300 requests, p99 is one of the
#: three slowest.
_MAX_STEPS, _MIN_REQUESTS = 200_000, 300
#: The same of flash drives, where each step takes five times as long to simulate, and no arm goes to and fro. From an
#: eighth of the steps the rate was within 0.2 % and p99 within 7 % of those from all (an NVMe drive, 500 requests a
#: second); at half of them p99 is from too few requests that meet an erase, at double an answer takes 0.2 s more.
_MAX_FLASH_STEPS = 25_000
#: Requests of each run beside a rebuild of flash drives at most: p99 of six seeds is then within 5 % of its mean, and
#: on it (an NVMe drive, 2,000 requests a second). At half it is within 7 %; at double within 1 %, and a plan takes
#: 0.4 s more.
_MAX_FLASH_REQUESTS = 16_000
#: Utilization of the busiest flash drive half-way through a rebuild up to which its beginning is seen in a run that is
#: this many times as short. There p99 was mostly the lower one (76 of 81 arrays), or up to 9 % higher, and from 4,000
#: requests within 4 % of that from 16,000. At half, a plan of flash takes 0.1 s more; at double, reads of a missing
#: drive that all others serve are seen in runs that are too short for it.
_CALM, _TIMES_AS_SHORT = 0.3, 4


class BesideRebuild(NamedTuple):
    """A load beside a rebuild.

    Attributes
    ----------
    worst : Outcome
        Half-way or at the beginning, where requests wait longer.
    hours : float
        Of the whole rebuild; nan where the evaluation does not model rebuilds, infinite where it does not end or the
        load cannot be served beside it.
    n_runs : int
    """

    worst: Outcome
    hours: float
    n_runs: int


def beside_rebuild(
    evaluate: Evaluate, array: Array, workload: Workload, *, n_requests: int, seed: int, halfway_only: bool = False
) -> BesideRebuild:
    """Return how a load fares beside a rebuild, and how long that takes.

    Parameters
    ----------
    evaluate : Evaluate
    array : Array
        While a disk is rebuilt.
    workload : Workload
    n_requests, seed : int
        Of each run, which has fewer requests where they are rare.
    halfway_only : bool
        One run, where only ratios of what it finds count; also where the question has no time left.

    Notes
    -----
    Where data fill the outer part of the disks, this part is rebuilt half-way through; at the beginning each read of
    the missing disk takes one of all others. Half-way, arms move between the data and the rebuild. On flash that is
    hardly busy what is rebuilt already meets writes of the rebuild, and the beginning takes a shorter run.
    """

    layout = array.layout
    assert layout.rebuild is not None
    if not workload.queue_depth:
        speed = fastest_rebuild_bytes_per_s(array, layout.rebuild)
        step_bytes = layout.step_bytes
        max_steps = _MAX_STEPS if array.drive.has_arms else _MAX_FLASH_STEPS
        seconds = max_steps * step_bytes / speed
        n_requests = min(n_requests, max(round(workload.offered_rate_per_s * seconds), _MIN_REQUESTS))

    if not array.drive.has_arms:
        n_requests = min(n_requests, _MAX_FLASH_REQUESTS)
    workload = often_enough(array, workload)
    if current().is_spent and not halfway_only:
        halfway_only = True
        current().leave_out(["all of a rebuild but its middle"])

    def at(done_ratio: float, n_requests: int = n_requests) -> Outcome:
        assert layout.rebuild is not None
        part = layout.model_copy(update={"rebuild": layout.rebuild.model_copy(update={"done_ratio": done_ratio})})
        return evaluate(array.model_copy(update={"layout": part}), workload, n_requests=n_requests, seed=seed)

    weights = _WEIGHTS if array.drive.has_arms and not halfway_only else _HALFWAY_ONLY
    parts = sorted({0.5, *weights} if halfway_only else {0.0, 0.5, *weights})
    outcomes = {}
    if not array.drive.has_arms:
        outcomes[0.5] = at(0.5)
        parts = [] if halfway_only else [0.0]
        if _is_calm(outcomes[0.5]):
            n_requests = max(n_requests // _TIMES_AS_SHORT, min(n_requests, _MIN_REQUESTS))
    with at_once(evaluate) as pool:
        outcomes |= dict(zip(parts, mapped(pool, at, parts, [n_requests] * len(parts), are_runs=True), strict=True))
    worst = max((outcomes[part] for part in (0.5, 0.0) if part in outcomes), key=_wait_ns)
    return BesideRebuild(worst, _hours(array, outcomes, weights, worst), len(outcomes))


def scrub_hours(evaluate: Evaluate, array: Array, workload: Workload, *, n_requests: int, seed: int) -> float:
    """Return how long the scrub of a pool takes beside a load; nan where the array is no pool that is scrubbed."""
    if not array.layout.is_scrubbed:
        return math.nan
    return beside_rebuild(evaluate, array, workload, n_requests=n_requests, seed=seed).hours


def _hours(array: Array, outcomes: Mapping[float, Outcome], weights: Mapping[float, float], worst: Outcome) -> float:
    """Return the hours of the whole rebuild."""
    rates = {part: outcomes[part].rebuilt_bytes_per_s for part in weights}
    if any(math.isnan(rate) for rate in rates.values()):
        return math.nan
    if any(outcomes[part].is_cut and not rate for part, rate in rates.items()):
        return math.nan  # ended before it got anywhere
    if not worst.is_stable or not all(rate > 0 for rate in rates.values()):
        return math.inf
    return rebuilt_bytes(array) / 3600 * sum(weight / rates[part] for part, weight in weights.items())


def _is_calm(outcome: Outcome) -> bool:
    """Return whether no drive is busy enough for requests to wait."""
    return outcome.is_stable and not outcome.is_cut and outcome.busiest_ratio < _CALM


def _wait_ns(outcome: Outcome) -> float:
    """The p99 latency, or the mean where there is none; infinite of an overload."""
    figures = (outcome.latency_of("p99"), outcome.latency_of("mean"))
    known = next((item.value for item in figures if item is not None and not math.isnan(item.value)), math.inf)
    return known if outcome.is_stable else math.inf

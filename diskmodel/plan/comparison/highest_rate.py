"""The highest rate that an array sustains, and its latency on the way there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from diskmodel.array import Array
from diskmodel.engine import DrawnRuns, simulate_drawn_runs
from diskmodel.engine.effort import moved_per_s
from diskmodel.engine.ledger import current
from diskmodel.engine.threads import mapped
from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.plan.answer.load_curve import LoadPoint
from diskmodel.plan.comparison.load_curve import CLOSER, loads
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.rule_of_thumb import rule_of_an_array
from diskmodel.result.statistics import MIN_JUDGED, Interval
from diskmodel.workload import Closed, Workload

#: Of the intervals.
CONFIDENCE = 0.95
#: Requests of each run of what is not known, at most. With 20,000 the ends of the interval move by less than 1 % on
#: disks, with and without a cache, and by 3 % on flash, and take up to 70 % longer; with half as many by 9 % on flash.
DRAWN_REQUESTS = 8_000
#: Runs that halve the gap between the highest rate that is sustained and the lowest that is not: five make a fifth of
#: the rate less than 1 %. One fewer doubles that.
_HALVINGS = 5
#: Rates beyond the last that is sustained, as multiples of it, until one is an overload. A busier log makes larger
#: batches, so that its disks are hardly busier: there is far more to go than they say.
_STEP, _STEP_OF_A_LOG = 1.3, 2.0
#: How many of these steps are made at a time where the question has no time left.
_LATE_RUNGS = 3
#: Rates, each an eighth of the one before, among which one keeps disks busy, and not all of the time. At half, an array
#: that is a thousand times slower than the rule of thumb says has no rate; at double, each of more takes a run in vain.
_EIGHTHS = 8
#: Of them, those after which disks that had nothing to do are believed to have nothing at any rate: runs of a lower one
#: may be longer. At double, simulated time ends before the tries do.
_FEW_TRIES = 3
#: Writes of a run, as a multiple of what a pool collects in memory, from which its disks have had to keep up. At half,
#: a run that filled the memory once would count.
_MEMORIES = 2
#: Requests that are asked for are a multiple of this.
_ROUND = 10_000
#: Outstanding requests of each disk in the closed runs from which the spread of the highest rate comes: enough for the
#: disks to be busy all the time. At half, arms find less to order; at double, runs take longer to settle.
_DEPTH_OF_A_DISK = 16
#: The same in the run that says where the highest rate is sought: in an overload arms choose among many more, so that
#: with 16 a disk completes a third less, and a search takes an eighth more runs; with 256 it takes no fewer.
_DEEP = 64


class HighestRate(NamedTuple):
    """The highest rate that an array sustains, and what is not known of it.

    Attributes
    ----------
    own, interval : Interval
        Requests per second: between a stable rate and an overload, and the 95 % interval with what is not known.
    middle : Interval or None
        What the rate lies between in eight of ten systems; None where all is known or nothing was drawn.
    drawn : DrawnRuns or None
        The saturated runs from which the spread comes; None as above.
    """

    own: Interval
    interval: Interval
    middle: Interval | None = None
    drawn: DrawnRuns | None = None


def highest_rate(
    array: Array, workload: Workload, most: float, over: float, *, n_requests: int, seed: int, n_draws: int
) -> HighestRate:
    """Return a highest rate with the interval of what is not known, as far as saturated runs of draws differ.

    Parameters
    ----------
    array : Array
    workload : Workload
        An open one, whose rate does not matter.
    most, over : float
        The highest rate that was found stable, and the lowest that was found to be an overload, requests per second.
    n_requests : int
        Of each run, at most.
    seed : int
    n_draws : int
        0: the interval is of the runs alone.
    """
    own = Interval(most, most, over)
    if not n_draws:
        return HighestRate(own, own)
    busy, n_requests = saturating(array, workload, _DEPTH_OF_A_DISK), min(n_requests, DRAWN_REQUESTS)
    drawn = simulate_drawn_runs(array, busy, n_requests, seed=seed, n_draws=n_draws)
    if drawn is None:
        return HighestRate(own, own)
    interval, middle = drawn.interval(own, "iops", CONFIDENCE), drawn.middle(own, "iops", CONFIDENCE)
    return HighestRate(own, interval, middle, drawn)


def saturating(array: Array, workload: Workload, depth_of_a_disk: int) -> Workload:
    """Return a load of the same kind from clients that keep all disks busy."""
    depth = depth_of_a_disk * array.layout.disks / workload.offered_rate_per_s
    clients = [max(round(depth * stream.expected_rate_per_s), 1) for stream in workload.streams]
    streams = tuple(
        stream.model_copy(update={"arrival": Closed(clients=n)})
        for stream, n in zip(workload.streams, clients, strict=True)
    )
    return workload.model_copy(update={"streams": streams})


def points_to_overload(
    array: Array, workload: Workload, evaluate: Evaluate, *, seed: int, n_requests: int, with_curve: bool = True
) -> list[LoadPoint]:
    """Return the outcomes at rates from light load to the first overload, the last two of them less than 1 % apart.

    Where the question has no time left there are fewer, and the last two as far apart as they come.
    They do not depend on the rate of the workload, which must be open: all that name a highest rate of one array under
    one kind of load name the same.

    Parameters
    ----------
    array, workload, evaluate
    seed, n_requests : int
        Of each run.
    with_curve : bool
        Whether rates far below the highest are simulated, too, which do not change it.
    """
    own = workload.offered_rate_per_s

    def at(rate_per_s: float) -> LoadPoint:
        load = workload.scaled(rate_per_s / own)
        outcome = evaluate(array, load, n_requests=n_requests, seed=seed)
        if outcome.is_brief and (outcome.is_cut or array.drive.stands_alone):
            # hits of a cache are answered long before those of its misses that would show an overload
            outcome = replace(outcome, is_stable=False)
        if outcome.is_stable and outcome.is_cut and _writes_too_much(array, workload, rate_per_s):
            outcome = replace(outcome, is_stable=False)  # what so few requests write stays in memory
        if outcome.is_stable and outcome.n_requests < MIN_JUDGED and rate_per_s > moved_per_s(array, workload):
            outcome = replace(outcome, is_stable=False)  # of so few, clients beside them may have sent nearly all
        if outcome.is_stable:
            _check_that_disks_write(array, workload, rate_per_s, n_requests)
        return LoadPoint(rate_per_s / own, rate_per_s, outcome)

    guess = rule_of_an_array(array, workload).host_iops or own
    # the rule has no limit where its caches have all data, and counts operations only
    guess = min(guess if math.isfinite(guess) else own, moved_per_s(array, workload))
    before_s = current().spent_s
    full, n_tried = _full_rate(at, guess)
    shares = loads((current().spent_s - before_s) / n_tried)
    ladder = _Ladder(tuple(share * full for share in shares), _STEP_OF_A_LOG if workload.is_a_log else _STEP)
    busy = saturating(array, workload, _DEEP)
    near = evaluate(array, busy, n_requests=min(n_requests, DRAWN_REQUESTS), seed=seed).iops.value
    with at_once(evaluate) as workers:
        first = ladder.index_below(near)
        found = _around_the_highest(lambda rates: mapped(workers, at, rates, are_runs=True), ladder, first)
        over = _lowest_overload(found)
        assert over is not None
        if with_curve:
            others = [index for index in range(min(over, len(shares))) if index not in found]
            lighter = mapped(workers, at, [ladder[index] for index in others], are_runs=True)
            found.update(zip(others, lighter, strict=True))
    return _closed_in(at, [found[index] for index in sorted(found) if index <= over])


@dataclass(frozen=True)
class _Ladder:
    """Rates, ascending, by whole numbers: those given from 0 on, halves below them and multiples beyond them."""

    rates: tuple[float, ...]
    step: float

    def __getitem__(self, index: int) -> float:
        if index < 0:
            return self.rates[0] / 2.0**-index
        rate = self.rates[min(index, len(self.rates) - 1)]
        for _ in range(index - len(self.rates) + 1):
            rate *= self.step
        return rate

    def index_below(self, rate_per_s: float) -> int:
        """Return the number of the highest rate that is not above one, from 0 on."""
        beyond = math.log(max(rate_per_s / self.rates[-1], 1e-9), self.step) if math.isfinite(rate_per_s) else 0.0
        if beyond >= 0:
            return len(self.rates) - 1 + int(beyond)
        return max(sum(rate <= rate_per_s for rate in self.rates) - 1, 0)


def _around_the_highest(
    simulated: Callable[[list[float]], list[LoadPoint]], ladder: _Ladder, first: int
) -> dict[int, LoadPoint]:
    """Return points of a ladder by their numbers, among them one that is sustained and, as the next, an overload.

    Where the question has no time left these are as far apart as they come.

    Parameters
    ----------
    simulated : callable
        Returns the points at rates, which are simulated at the same time.
    ladder : _Ladder
    first : int
        Number of the rate to begin with.
    """
    found: dict[int, LoadPoint] = {}
    asked, down = [first, first + 1], 1
    while asked:
        found.update(zip(asked, simulated([ladder[index] for index in asked]), strict=True))
        over = _lowest_overload(found)
        if over is None:
            last = max(found)
            asked = [last + _LATE_RUNGS] if current().is_spent else [last + 1, last + 2]
            continue
        below = max((index for index in found if index < over), default=None)
        # what an overload completes is close to the highest rate, but where a run is so short that memory answers it
        near = ladder.index_below(found[over].outcome.iops.value)
        if below is None:
            asked = [min(near, over - down)]
            down *= 2
        elif over - below > 1 and not current().is_spent:
            asked = [near if below < near < over else (below + over) // 2]
        else:
            asked = []
    return found


def _lowest_overload(found: Mapping[int, LoadPoint]) -> int | None:
    """Return the number of the lowest rate that is an overload; None where all are sustained."""
    return min((index for index, point in found.items() if not point.outcome.is_stable), default=None)


def _check_that_disks_write(array: Array, workload: Workload, rate_per_s: float, n_requests: int) -> None:
    """Refuse a rate that was sustained and that no disks can write: what the runs wrote stayed in memory.

    Raises
    ------
    DescriptionError
        When the runs were that short.
    """
    in_memory = array.tables().held_in_memory * array.drive.sector_bytes
    written = workload.mean_written_bytes
    if n_requests * written > _MEMORIES * in_memory or not _writes_too_much(array, workload, rate_per_s):
        return
    rule = "are too few: what they write stays in memory, and disks never have to keep up with it"
    enough = math.ceil(_MEMORIES * in_memory / written / _ROUND) * _ROUND
    raise DescriptionError(Fault("requests", n_requests, rule, f"ask for {enough:,} at least, which take minutes"))


def _writes_too_much(array: Array, workload: Workload, rate_per_s: float) -> bool:
    """Return whether more is written at this rate than the links of all disks take."""
    return rate_per_s * workload.mean_written_bytes > array.layout.disks * array.drive_tables().link_bytes_per_s


def _full_rate(at: Callable[[float], LoadPoint], guess: float) -> tuple[float, int]:
    """Return the rate at which the disks would be busy all the time at their present service time, and the rates tried.

    Raises
    ------
    DescriptionError
        When no disk is ever busy: all that is asked for is in a cache.
    """
    rate = guess / 2
    for n_tried in range(1, _EIGHTHS + 1):
        point = at(rate)
        if point.outcome.is_stable and point.outcome.utilization_ratio > 0:
            return rate / point.outcome.utilization_ratio, n_tried
        if point.outcome.is_stable and n_tried >= _FEW_TRIES:
            break  # at a lower rate no disk has more to do
        rate /= 8
    rule = "all of it is in a cache: no disk is ever busy, so that no rate is the highest"
    raise DescriptionError(Fault("workload.span", None, rule, "use a larger span, or a smaller read_cache"))


def _closed_in(at: Callable[[float], LoadPoint], points: list[LoadPoint]) -> list[LoadPoint]:
    """Return points, the last of which is the first overload, with others that close in on it."""
    points = list(points)
    for _ in range(_HALVINGS):
        if current().is_spent:
            current().leave_out([CLOSER])
            break
        point = at((points[-2].offered + points[-1].offered) / 2)
        if point.outcome.is_stable:
            points.insert(-1, point)
        else:
            points[-1] = point
    return points

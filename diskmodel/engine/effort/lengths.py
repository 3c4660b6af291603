"""How many requests a run may have that one of many is, within what is left for the question."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from diskmodel.array import Array
from diskmodel.engine.effort.beside import beside_trial_s, most_per_s
from diskmodel.engine.effort.cost import GUESS, PROBE, CostSeen, guessed, looked_at
from diskmodel.engine.effort.limits import EACH_BYTES, LEAST_OF_MOVED, LOOK_S
from diskmodel.engine.effort.prices import DRAIN_S, DRAINED_PER_S
from diskmodel.engine.ledger import current
from diskmodel.records import Run
from diskmodel.workload import TraceWorkload, Workload

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario

#: Computing time of what disks' buffers hold, which they write between rare requests, in a short run at most, seconds.
#: At half, the trials of a disk of 512 B writes see a part of its buffer; at double, the eleven trials of a comparison
#: of such disks take half of what a question may.
_DRAINING_S = 0.5
#: The same of a rebuild, hours of which lie between rare requests. At half, trials see half as many requests; at
#: double, a plan of rare requests takes more time than a question may.
_BESIDE_S = 1.0
#: How long a request takes beside a rebuild, seconds, where a few are simulated without a look: of 20,000 clients that
#: a sweep lets in between steps of 4 KiB it was 2.5. At a tenth, those take 50 s; at ten times, all are looked at.
_SEEN_S = 0.1
#: Computing time of each run of a question that makes many (the search of a plan, a comparison, a capacity), seconds
#: for each 30,000 requests that it asks for, and at most: all that ordinary ones take. At half, runs of pools are
#: shorter than they are asked to be; at double, a question with twenty runs takes up to two minutes.
_EACH_S, _EACH_MOST_S, _EACH_REQUESTS = 2.5, 6.0, 30_000
#: How much less than is allowed a run has to take that is not looked at, as one of another number of disks was. At
#: half, a run that begins to be overloaded may take twice as long as it may; at double, most are looked at.
_SURE = 2.0
#: Mean size of requests from which a run is looked at before it begins, bytes.
_LARGE_BYTES = 1 << 20


def each_s(n_requests: int) -> float:
    """Return the computing time of a run of so many requests, of a question that makes many runs."""
    return min(_EACH_S * max(n_requests / _EACH_REQUESTS, 1.0), _EACH_MOST_S)


def each_most(
    n: int, run_of: Callable[[int], Run], scenario: Scenario, workload: Workload, array: Array, run_s: float
) -> int:
    """Return as many requests of a run of `n` as take no longer than `run_s`; at least a few.

    What they cost is looked at only where a guess says that it might be too much. Where the question has less time left
    (`diskmodel.engine.ledger`), that counts; where it has none, the guess does, but of clients beside a rebuild: how
    often they get an answer there is anyone's guess.
    """
    run_s = current().allowed_s(run_s)
    guess = guessed(scenario, workload, array)
    if current().is_spent and (array.layout.rebuild is None or workload.is_open):
        return min(n, guess.most_of_each(run_s))
    if guess.within(run_s / GUESS, EACH_BYTES / GUESS) >= n:
        return n
    # of the numbers of disks of a family one is looked at, unless another one may take too long
    kind = _kind(array, workload)
    seen: CostSeen | None = current().cost_like(kind)
    known = None if seen is None else seen.changed_to(array, workload, scenario)
    if known is not None and known.most_of_each(run_s / _SURE) >= n:
        return n
    cost = looked_at(run_of, scenario, workload, run_s, guess)
    current().note_cost(kind, CostSeen(cost, guess, array.layout.rebuild is not None))
    return min(n, cost.most_of_each(run_s))


def _kind(array: Array, workload: Workload) -> Hashable:
    """Return what arrays share of which a request of a workload costs as much, by their numbers of disks."""
    layout, drive = array.layout, array.drive
    rebuild = layout.rebuild
    return drive.kind, drive.name, layout.level, len(layout.failed), rebuild, array.controller, array.host, workload


def few_enough(n: int, scenario: Scenario, workload: Workload, run_s: float, n_held: int = 0) -> int:
    """Return as many requests of a run of `n` as take no longer than `run_s` by a guess; at least a few.

    `n_held` are the writes in disks' buffers when the run begins, which they write between rare requests.
    """
    run_s = current().allowed_s(run_s)
    guess = guessed(scenario, workload)
    n = min(n, guess.most_of_each(run_s))
    if work_s := beside_trial_s(scenario):
        rate = most_per_s(workload, is_flash=scenario.drive.has_pages)
        n = min(n, max(int(current().allowed_s(_BESIDE_S) / work_s * rate), LEAST_OF_MOVED))
    if not n_held or scenario.drive.has_pages:
        return n
    each_s = DRAIN_S["native"] * DRAINED_PER_S * scenario.n_devices / max(most_per_s(workload, is_flash=False), 1e-12)
    draining_s = current().allowed_s(_DRAINING_S)
    if min(n * each_s, DRAIN_S["native"] * n_held) <= draining_s:
        return n
    return min(n, max(int(draining_s / each_s), LEAST_OF_MOVED))


def few_enough_beside(n: int, run_of: Callable[[int], Run], scenario: Scenario, workload: Workload) -> int:
    """Return as many requests of a run of `n` as take no longer than one beside a rebuild may; at least a few.

    How often clients get an answer beside it is looked at: a controller that destages may wait for seconds.
    """
    # few are left where hours of it lie between two requests, through all of which a look would go
    is_beside = scenario.layout.sync_action != "none"
    run_s = current().allowed_s(_BESIDE_S)
    # few requests are worth a look where the rebuild goes on by small steps; of a pool nothing is known before
    is_short = n <= 1 or (n <= PROBE and 0 < n * _SEEN_S * beside_trial_s(scenario) <= run_s)
    if not workload.queue_depth or is_short or not is_beside:
        return n
    # of a pool a guess from the requests alone is far too low: a scrub reads between them
    guess = guessed(scenario, workload) if scenario.layout.has_strips else None
    cost = looked_at(run_of, scenario, workload, min(run_s, LOOK_S), guess, min(n, PROBE))
    return min(n, cost.most_of_each(run_s))


def is_costly(array: Array, workload: Workload | TraceWorkload) -> bool:
    """Whether a first run may take long: a rebuild goes on beside it, or requests are so large."""
    if not isinstance(workload, Workload):
        return False
    return array.layout.rebuild is not None or workload.mean_size_bytes > _LARGE_BYTES


def bound_message(n: int) -> str:
    """Return what a result says whose run that bound has ended before its precision."""
    return (
        f"the run was ended after {n:,} requests, before the precision was reached: it had used what a question may "
        "take of time and memory (n_requests, or --requests, asks for more)"
    )

"""Steady starts that are kept for further runs of the same array and workload."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Literal, TypeVar

from diskmodel.array import Array
from diskmodel.engine.ledger import current
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.steady.start import EMPTY, Levels, Start
from diskmodel.engine.steady.steady import (
    Near,
    begun_like,
    calm_start,
    move_alike,
    settled,
    shown_at,
    shown_by,
    stays_calm,
)
from diskmodel.engine.steady.trial import Pace, trial_requests
from diskmodel.loading import dataclass
from diskmodel.records import Requests, Run
from diskmodel.workload import TraceWorkload, Workload

T = TypeVar("T")

#: What caches and buffers hold when a run begins (rule Z1).
Begin = Literal["steady", "empty"]

#: Memory of the starts that are kept, bytes. That of a 1 GiB cache takes 1 to 4 MB. With half, a plan of a thousand
#: flash drives, two levels of which take 70 MB, computes each start again; double has been of no use.
MAX_BYTES = 128 << 20
#: Memory that a start takes beside its columns: most of it is the description by which it is found, about 5 KB. At a
#: tenth, many thousand empty starts would be kept.
OVERHEAD_BYTES = 16 << 10


class SharedStarts:
    """Steady starts by array, workload and seed; the least recently used ones are forgotten.

    Threads may share one. Two that ask for the same start at the same time may both compute it.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Hashable, Start] = OrderedDict()
        self._costs_s: dict[Hashable, float] = {}
        self._total_bytes = 0
        self.lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], Start]) -> Start:
        """Return the start that was kept under a key, or the computed one, which is kept if it is small enough."""
        with self.lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        before_s = current().spent_s
        start = compute()
        with self.lock:
            if key not in self._kept and _n_bytes(start) <= self._max_bytes:
                self._kept[key] = start
                self._costs_s[key] = current().spent_s - before_s
                self._total_bytes += _n_bytes(start)
                while self._total_bytes > self._max_bytes:
                    forgotten, of = self._kept.popitem(last=False)
                    self._total_bytes -= _n_bytes(of)
                    del self._costs_s[forgotten]
        return start

    def has(self, key: Hashable) -> bool:
        """Return whether a start is kept under a key."""
        with self.lock:
            return key in self._kept

    def cost_s(self, key: Hashable) -> float:
        """Return the computing time that a start took which is kept, seconds by counts; 0 of others."""
        with self.lock:
            return self._costs_s.get(key, 0.0)


#: Steady starts of the last runs: runs of other lengths, and other questions about the same array, begin with the same.
_STARTS = SharedStarts()


@dataclass(frozen=True)
class Like:
    """An array whose start is a first guess for those that differ little from it, as drives drawn from a profile do.

    Attributes
    ----------
    array : Array
    is_calm : bool
        Whether it is so far from its limits that the guess needs no trial.
    """

    array: Array
    is_calm: bool


def steady_start(
    array: Array, workload: Workload | TraceWorkload, scenario: Scenario, seed: int, like: Like | None = None
) -> Start:
    """Stationary state of caches and buffers. The kernel finds it where it can, whichever engine runs then.

    Parameters
    ----------
    array : Array
    workload : Workload or TraceWorkload
    scenario : Scenario
        The array, resolved with the same seed.
    seed : int
    like : Like, optional
    """
    capacity_bytes = array.usable_bytes
    if isinstance(workload, TraceWorkload):
        return settled(scenario, workload, capacity_bytes=capacity_bytes, seed=seed, engine=run)
    workload.check_fits(capacity_bytes)  # the past of what does not fit would lie outside of the array
    key = _key(array, workload, seed)

    def found() -> Start:
        is_other = like is not None and like.array.model_dump_json() != key[0]
        near = _near(like, workload, seed) if like is not None and is_other else None
        return settled(scenario, workload, capacity_bytes=capacity_bytes, seed=seed, engine=run, near=near)

    return _STARTS.get(key, found)


def start_cost_s(array: Array, workload: Workload | TraceWorkload, seed: int) -> float:
    """Return the computing time that a steady start took which is kept, seconds by counts; 0 of others."""
    return 0.0 if isinstance(workload, TraceWorkload) else _STARTS.cost_s(_key(array, workload, seed))


def _key(array: Array, workload: Workload, seed: int) -> tuple[str, str, int]:
    return array.model_dump_json(), workload.model_dump_json(), seed


def guessed_start(
    like: Like, array: Array, workload: Workload, scenario: Scenario, seed: int, n_requests: int
) -> Start | None:
    """Return the start of an array if its levels are those of another one, which its run confirms (`is_confirmed`).

    None where a trial has to, or nothing is to be confirmed: the start is known already, that array is far from its
    limits, or a run of so many requests shows less than a trial.

    Parameters
    ----------
    like, array, workload, scenario, seed
        As `steady_start`.
    n_requests : int
        Of the run.
    """
    key = _key(array, workload, seed)
    if like.is_calm or _STARTS.has(key) or like.array.model_dump_json() == key[0]:
        return None
    if n_requests < trial_requests(workload, rebuilds_flash=False) or workload.at_mean(n_requests) != workload:
        return None
    near = steady_start(like.array, workload, resolve(like.array, seed), seed)
    if near.levels is None or _shown(like, workload, seed, n_requests) is None:
        return None
    return begun_like(near, scenario, workload, capacity_bytes=array.usable_bytes, seed=seed)


def is_confirmed(
    like: Like,
    array: Array,
    workload: Workload,
    scenario: Scenario,
    seed: int,
    n_requests: int,
    requests: Requests,
    run: Run,
) -> bool:
    """Return whether a run that began with a guess (`guessed_start`) goes on as that of the other array does.

    The start of the scenario is kept then for further runs.
    """
    if len(requests) < trial_requests(workload, rebuilds_flash=False):
        return False
    known = _shown(like, workload, seed, n_requests)
    own = shown_by(requests, run, scenario, workload, capacity_bytes=array.usable_bytes, seed=seed)
    is_alike = known is not None and move_alike(known, own)
    if is_alike:
        _STARTS.get(_key(array, workload, seed), lambda: scenario.start)
    return is_alike


def calm_guess(
    array: Array, workload: Workload | TraceWorkload, scenario: Scenario, seed: int, n_requests: int
) -> Start | None:
    """Return the start of an open load whose drives write in time all that comes, if a run this long shows it.

    It does from as many on as a trial has, with `is_calm`: so no trial is needed. None where there would be others,
    where a run of this length was seen to go on differently, or nothing is left of the question's time.
    """
    if isinstance(workload, TraceWorkload) or not workload.is_open or current().is_spent:
        return None
    if n_requests < trial_requests(workload, rebuilds_flash=False) or workload.at_mean(n_requests) != workload:
        return None
    key = _key(array, workload, seed)
    with _STARTS.lock:
        if (key, n_requests) in _NOT_CALM:
            return None
    capacity_bytes = array.usable_bytes
    workload.check_fits(capacity_bytes)
    found = _STARTS.get(
        ("calm", key), lambda: calm_start(scenario, workload, capacity_bytes=capacity_bytes, seed=seed) or EMPTY
    )
    return None if found is EMPTY else found


def is_calm(
    array: Array,
    workload: Workload,
    scenario: Scenario,
    seed: int,
    n_requests: int,
    requests: Requests,
    run: Run,
) -> bool:
    """Return whether a run that began with little in drives' buffers (`calm_guess`) shows that it stays so."""
    n_trial = trial_requests(workload, rebuilds_flash=False)
    found = len(requests) >= n_trial and stays_calm(
        shown_by(requests, run, scenario, workload, capacity_bytes=array.usable_bytes, seed=seed),
        math.sqrt(n_trial / len(requests)),
    )
    if not found:
        _keep(_NOT_CALM, (_key(array, workload, seed), n_requests), None)
    return found


def note(
    array: Array, workload: Workload, scenario: Scenario, seed: int, n_requests: int, requests: Requests, run: Run
) -> None:
    """Keep what a run of so many requests shows of an array's start, for those that differ little from it."""
    if scenario.start.levels is not None:
        shown = shown_by(requests, run, scenario, workload, capacity_bytes=array.usable_bytes, seed=seed)
        _keep(_SHOWN, (*_key(array, workload, seed), n_requests), shown)


def is_noted(like: Like, workload: Workload, seed: int, n_requests: int) -> bool:
    """Return whether it is known what a run of so many requests shows of an array's start (`note`)."""
    return _shown(like, workload, seed, n_requests) is not None


def _shown(like: Like, workload: Workload, seed: int, n_requests: int) -> tuple[Levels, Pace] | None:
    """Return what a run of an array shows of its start (`note`); None where there was none."""
    with _STARTS.lock:
        return _SHOWN.get((*_key(like.array, workload, seed), n_requests))


def _keep(of_last: OrderedDict[Hashable, T], key: Hashable, seen: T) -> None:
    """Keep what was seen of an array beside that of the last ones."""
    with _STARTS.lock:
        of_last[key] = seen
        while len(of_last) > _MOST_SHOWN:
            of_last.popitem(last=False)


#: What trials and runs of the last arrays show that others differ little from, from their steady levels.
_SHOWN: OrderedDict[Hashable, tuple[Levels, Pace]] = OrderedDict()
#: Arrays, and lengths of runs, in which drives' buffers were seen to fill.
_NOT_CALM: OrderedDict[Hashable, None] = OrderedDict()
#: So many of them: a plan asks for those of one array at a time.
_MOST_SHOWN = 64


def _near(like: Like, workload: Workload, seed: int) -> Near:
    """Return what is known of an array that others differ little from."""
    array = like.array
    scenario = resolve(array, seed)
    start = steady_start(array, workload, scenario, seed)
    if like.is_calm or start.levels is None:
        return Near(start)
    key = (array.model_dump_json(), workload.model_dump_json(), seed)
    with _STARTS.lock:
        shown = _SHOWN.get(key)
    if shown is None:
        shown = shown_at(start.levels, scenario, workload, capacity_bytes=array.usable_bytes, seed=seed, engine=run)
        _keep(_SHOWN, key, shown)
    return Near(start, shown)


def _n_bytes(start: Start) -> int:
    return start.n_bytes + OVERHEAD_BYTES

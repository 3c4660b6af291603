"""Steady starts that are kept for further runs of the same array and workload."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal

from diskmodel.array import Array
from diskmodel.engine.ledger import current
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario, resolve
from diskmodel.engine.steady.start import Levels, Start
from diskmodel.engine.steady.steady import Near, settled, shown_at
from diskmodel.engine.steady.trial import Pace
from diskmodel.workload import TraceWorkload, Workload

#: What caches and buffers hold when a run begins (rule Z1).
Begin = Literal["steady", "empty"]

#: Memory of the starts that are kept, bytes. The start of a 1 GiB cache takes 1 to 4 MB. With half, a search over many
#: large caches computes some starts again; double has been of no use.
MAX_BYTES = 64 << 20
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


#: What trials of the last arrays show that others differ little from, from their steady levels.
_SHOWN: OrderedDict[Hashable, tuple[Levels, Pace]] = OrderedDict()
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
        with _STARTS.lock:
            _SHOWN[key] = shown
            while len(_SHOWN) > _MOST_SHOWN:
                _SHOWN.popitem(last=False)
    return Near(start, shown)


def _n_bytes(start: Start) -> int:
    return start.n_bytes + OVERHEAD_BYTES

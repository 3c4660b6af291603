"""Steady starts that are kept for further runs of the same array and workload."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Literal

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import Scenario
from diskmodel.engine.steady.start import Start
from diskmodel.engine.steady.steady import settled
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
        self._total_bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], Start]) -> Start:
        """Return the start that was kept under a key, or the computed one, which is kept if it is small enough."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        start = compute()
        with self._lock:
            if key not in self._kept and _n_bytes(start) <= self._max_bytes:
                self._kept[key] = start
                self._total_bytes += _n_bytes(start)
                while self._total_bytes > self._max_bytes:
                    self._total_bytes -= _n_bytes(self._kept.popitem(last=False)[1])
        return start


#: Steady starts of the last runs: runs of other lengths, and other questions about the same array, begin with the same.
_STARTS = SharedStarts()


def steady_start(array: Array, workload: Workload | TraceWorkload, scenario: Scenario, seed: int) -> Start:
    """Stationary state of caches and buffers. The kernel finds it where it can, whichever engine runs then.

    Parameters
    ----------
    array : Array
    workload : Workload or TraceWorkload
    scenario : Scenario
        The array, resolved with the same seed.
    seed : int
    """

    def found() -> Start:
        return settled(scenario, workload, capacity_bytes=array.usable_bytes, seed=seed, engine=run)

    if isinstance(workload, TraceWorkload):
        return found()
    return _STARTS.get((array.model_dump_json(), workload.model_dump_json(), seed), found)


def _n_bytes(start: Start) -> int:
    return start.n_bytes + OVERHEAD_BYTES

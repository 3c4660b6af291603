"""The state in which a run of an array begins."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady import settled
from diskmodel.engine.steady.start import Start
from diskmodel.workload import Workload


def start_of(array: Array, workload: Workload, seed: int = 1) -> Start:
    return settled(resolve(array, seed), workload, capacity_bytes=array.usable_bytes, seed=seed, engine=run)

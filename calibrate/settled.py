"""Simulations whose caches have stopped to fill before responses count."""

from __future__ import annotations

import numpy as np

from calibrate.arrays import Ints
from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.result import Result
from diskmodel.result.levels import drifts
from diskmodel.workload import Workload

#: A run in which write buffers still fill is repeated so many times as long, and only its end counts. Eight disks with
#: 64 MiB each take 65,000 small writes, which runs of 4,000 requests reach.
LONGER, END_RATIO = 16, 0.25


def settled(array: Array, workload: Workload, *, n: int, warm_up: float | None, seed: int) -> tuple[Result, Ints]:
    """Return the result of a run and the rows that count, in order of completion.

    Parameters
    ----------
    n : int
        Requests, where nothing fills.
    warm_up : float, optional
        Part of the completions that is left out; None: what the result leaves out.
    """
    result = simulate(array, workload, n_requests=n, seed=seed, profile_draws=0)
    if drifts(result.run, result.requests, result.window.end_ns):
        warm_up = 1.0 - END_RATIO
        result = simulate(array, workload, n_requests=n * LONGER, seed=seed, profile_draws=0)
    if warm_up is None:
        return result, np.asarray(result.window.rows)
    order = np.argsort(result.run.completions.done_ns, kind="stable")
    return result, order[int(len(order) * warm_up) :]

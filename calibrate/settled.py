"""Simulations whose caches have stopped to fill before responses count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibrate.arrays import Ints
from diskmodel.array import Array
from diskmodel.engine.simulate import outcome
from diskmodel.records import Requests, Run
from diskmodel.result import drifts, measured_round
from diskmodel.result.statistics import last_full_mix_ns, measuring_window
from diskmodel.workload import Workload

#: A run in which write buffers still fill is repeated so many times as long, and only its end counts. Eight disks with
#: 64 MiB each take 65,000 small writes, which runs of 4,000 requests reach.
LONGER, END_RATIO = 16, 0.25


def settled(
    array: Array, workload: Workload, *, n: int, warm_up: float | None, seed: int
) -> tuple[Requests, Run, Ints]:
    """Return the requests and the outcome of a run, and the rows that count, in order of completion.

    Parameters
    ----------
    n : int
        Requests, where nothing fills.
    warm_up : float, optional
        Part of the completions that is left out; None: what a result leaves out.
    """
    requests, run = outcome(array, workload, n_requests=n, seed=seed)
    if drifts(run, requests, last_full_mix_ns(requests, run.completions.issue_ns)):
        warm_up = 1.0 - END_RATIO
        requests, run = outcome(array, workload, n_requests=n * LONGER, seed=seed)
    if warm_up is None:
        run = replace(run, round_requests=measured_round(run, len(requests)))
        return requests, run, np.asarray(measuring_window(requests, run).rows)
    order = np.argsort(run.completions.done_ns, kind="stable")
    return requests, run, order[int(len(order) * warm_up) :]

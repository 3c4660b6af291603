"""Up to which working set a cache pays: full load on more and more of the data, with the cache and without."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.engine.simulate import simulate
from diskmodel.plan.answer.working_sets import WorkingSet, WorkingSets
from diskmodel.records import READ
from diskmodel.result import Result
from diskmodel.workload import Closed, Workload

#: Amounts of data that are tried, in sizes of the cache, beside what the load itself uses.
_SIZES = (0.5, 1.0, 2.0, 4.0, 8.0)
#: An amount so near to the load's own is left out.
_NEAR = 1.3
#: Clients of each disk of the array behind: enough for all to be busy. At half, hits leave disks idle.
_CLIENTS = 16
#: Requests of each run, and for each of its clients at least. With half, a rate differs by 5 % from run to run.
_REQUESTS, _PER_CLIENT = 3000, 8


def find_working_sets(array: Array, workload: Any, *, seed: int = 0) -> WorkingSets | None:
    """Return what the cache before an array is worth with different amounts of data in use.

    None without a cache on SSDs, of traces, and where streams have places of their own or go in order.

    Parameters
    ----------
    array : Array
    workload : Workload or TraceWorkload
        Its rate does not matter: clients keep the array busy.
    seed : int
    """
    alone = array.drive.without_cache()
    if alone is None or not isinstance(workload, Workload) or workload.is_recorded:
        return None
    has_own = any(one.span_bytes is not None or one.span_ratio is not None for one in workload.streams)
    if has_own and len(workload.streams) > 1:
        return None
    plain = Array(**alone)
    cache, usable = array.drive.cache_bytes, array.usable_bytes
    own = workload.space(workload.streams[0], usable).span_bytes
    spans = {int(size * cache) for size in _SIZES if size * cache <= usable}
    chosen = sorted({own, *(span for span in spans if not 1 / _NEAR < span / own < _NEAR)})
    clients = _CLIENTS * plain.layout.disks
    with doing("looking up to which working set the cache pays"):
        rows = []
        for span in chosen:
            load = _busy(workload, span, clients)
            n = max(_REQUESTS, _PER_CLIENT * clients)
            cached, without = (
                simulate(one, load, n_requests=n, seed=seed, profile_draws=0, with_angles=False, is_one_of_many=True)
                for one in (array, plain)
            )
            rows.append(WorkingSet(span, _read_hits(cached), cached.run_iops.value, without.run_iops.value))
    return WorkingSets(cache, tuple(rows))


def _busy(workload: Workload, span: int, clients: int) -> Workload:
    """Return the same requests on so much of the data, from clients that never pause."""
    weights = [stream.row_weight for stream in workload.streams]
    of_each = [max(round(clients * weight / sum(weights)), 1) for weight in weights]
    streams = tuple(
        stream.model_copy(update={"arrival": Closed(clients=n), "span_bytes": span, "span_ratio": None})
        for stream, n in zip(workload.streams, of_each, strict=True)
    )
    return workload.model_copy(update={"streams": streams})


def _read_hits(result: Result) -> float:
    """Return the share of the reads that hit."""
    completions = result.run.completions
    reads = result.requests.op == READ
    if completions is None or not reads.any():
        return math.nan
    return float(np.asarray(completions.is_hit)[reads].mean())

"""Which requests of a run are commits: writes that a program waits for until they are safe, and flushes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import PARTS, Bool, Completions, Int64, Op, Requests

#: Name under which commits are beside the streams of a workload, in outcomes and limits.
COMMITS = "commits"


def has_syncs(requests: Requests) -> bool:
    """Whether any stream makes writes safe: its own (rule Y1), or those of others (rule Y11)."""
    return any(rule.sync or rule.is_of_flushes for rule in requests.streams)


def are_commits(requests: Requests, done: Completions, rows: Int64 | NDArray[np.int32]) -> Bool:
    """Which of some rows are commits; bool, shape (n,).

    Of clients that synchronize every so many writes only the engine knows which: those whose sync took time. Where
    nothing takes flushes a write is safe when it is done, and as many of a stream count, each `sync_every`-th.
    """
    if not has_syncs(requests):
        return np.zeros(len(rows), np.bool_)
    are_flushes = requests.op[rows] == Op.FLUSH
    took_time = done.parts_ns[:, PARTS.index("sync")][rows] > 0
    if (took_time & ~are_flushes).any():
        return np.asarray(took_time | are_flushes)
    ends = np.zeros(len(requests.op), np.bool_)
    for stream, rule in enumerate(requests.streams):
        if rule.sync:
            writes = np.flatnonzero((requests.stream == stream) & (requests.op == Op.WRITE))
            ends[writes[rule.sync_every - 1 :: rule.sync_every]] = True
    return np.asarray(ends[rows] | are_flushes)

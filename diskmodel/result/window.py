"""The part of a run that is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import Int64, Requests, Run
from diskmodel.result.warmup import warm_up

#: Longer runs keep the numbers of their rows in half the memory.
_SMALL_ABOVE = 1 << 20


@dataclass(frozen=True)
class Window:
    """Time (start_ns, end_ns] and the rows that completed in it, in order of completion (ties by row).

    Attributes
    ----------
    start_ns, end_ns : int
        From the end of the warm-up to the earliest time at which some stream has issued its last row: what comes
        after is not the mix that was asked for.
    rows : int64 or, where they are very many, int32, shape (n,)
    is_settled : bool
        Whether the warm-up was found to end within the run.
    """

    start_ns: int
    end_ns: int
    rows: Int64 | NDArray[np.int32]
    is_settled: bool

    @property
    def seconds(self) -> float:
        """Length."""
        return (self.end_ns - self.start_ns) / 1e9


def last_full_mix_ns(requests: Requests, issue_ns: Int64) -> int:
    """Earliest time at which some stream has issued its last row."""
    if len(requests.streams) == 1:
        return int(issue_ns.max())
    last = np.full(len(requests.streams), -1, dtype=np.int64)
    np.maximum.at(last, requests.stream, issue_ns)
    return int(last[last >= 0].min())


def measuring_window(requests: Requests, run: Run) -> Window:
    """Window of a run with at least one request; the whole run, not settled, where it is too short for any other."""
    done_ns = run.completions.done_ns
    order = np.argsort(done_ns, kind="stable")
    if len(order) > _SMALL_ABOVE:
        order = order.astype(np.int32)
    end_ns = last_full_mix_ns(requests, run.completions.issue_ns)
    in_order = done_ns[order]
    n_until_end = int(np.searchsorted(in_order, end_ns, side="right"))
    rows, response_ns = order[:n_until_end], in_order[:n_until_end]
    # in the same memory: from here on these are responses
    response_ns -= run.completions.issue_ns[rows]
    n_dropped, is_settled = warm_up(response_ns)
    del in_order, response_ns
    start_ns = int(done_ns[rows[n_dropped - 1]]) if n_dropped else 0
    kept = rows[np.searchsorted(done_ns, start_ns, side="right", sorter=order) :] if n_dropped else rows
    if len(kept) == 0 or end_ns <= start_ns:
        return Window(0, max(run.end_ns, int(done_ns.max()), 1), order, False)
    return Window(start_ns, end_ns, kept, is_settled)

"""The part of a run that is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskmodel.records import Int64, Requests, Run
from diskmodel.result.warmup import warm_up


@dataclass(frozen=True)
class Window:
    """Time (start_ns, end_ns] and the rows that completed in it, in order of completion (ties by row).

    Attributes
    ----------
    start_ns, end_ns : int
        From the end of the warm-up to the earliest time at which some stream has issued its last row: what comes
        after is not the mix that was asked for.
    rows : int64, shape (n,)
    is_settled : bool
        Whether the warm-up was found to end within the run.
    """

    start_ns: int
    end_ns: int
    rows: Int64
    is_settled: bool

    @property
    def seconds(self) -> float:
        """Length."""
        return (self.end_ns - self.start_ns) / 1e9


def last_full_mix_ns(requests: Requests, issue_ns: Int64) -> int:
    """Earliest time at which some stream has issued its last row."""
    last = np.full(len(requests.streams), -1, dtype=np.int64)
    np.maximum.at(last, requests.stream, issue_ns)
    return int(last[last >= 0].min())


def measuring_window(requests: Requests, run: Run) -> Window:
    """Window of a run with at least one request; the whole run, not settled, where it is too short for any other."""
    done_ns = run.completions.done_ns
    order = np.argsort(done_ns, kind="stable")
    end_ns = last_full_mix_ns(requests, run.completions.issue_ns)
    n_until_end = int(np.searchsorted(done_ns[order], end_ns, side="right"))
    rows = order[:n_until_end]
    n_dropped, is_settled = warm_up(done_ns[rows] - run.completions.issue_ns[rows])
    start_ns = int(done_ns[rows[n_dropped - 1]]) if n_dropped else 0
    kept = rows[done_ns[rows] > start_ns] if n_dropped else rows
    if len(kept) == 0 or end_ns <= start_ns:
        return Window(0, max(run.end_ns, int(done_ns.max()), 1), order, False)
    return Window(start_ns, end_ns, kept, is_settled)

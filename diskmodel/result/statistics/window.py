"""The part of a run that is measured."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from diskmodel.loading import dataclass
from diskmodel.records import Int64, Requests, Run
from diskmodel.result.statistics.warmup import warm_up

#: Longer runs keep the numbers of their rows in half the memory.
_SMALL_ABOVE = 1 << 20
_PIECE = 1 << 18
#: Rounds of an uneven sweep that a run has to see. With one, nothing shows how rounds differ; with double, twice as
#: many plans end without an answer.
MIN_ROUNDS = 2
#: Ups and downs of the load that a run has to see (rule Z11): the fewest batches of an interval, so that each
#: has one on average. With half, an interval from three bursts is believed; with double, twice as many plans end
#: without an answer.
MIN_CYCLES = 10
#: What never happened in n independent cycles happens, with 95 % confidence, in fewer than 3 / n of them.
#: J. A. Hanley, A. Lippman-Hand, *If nothing goes wrong, is everything all right?*, JAMA 249(13), 1983.
RULE_OF_THREE = 3
#: Requests of a cycle whose length is not known: no run sees enough of them.
UNKNOWN_CYCLE = 1 << 40
#: Share of its room from which on a cache counts as full: levels are recorded only now and then, and writes that wait
#: for room are larger than a block.
_FULL = 0.98


@dataclass(frozen=True)
class Window:
    """Time (start_ns, end_ns] and the rows that completed in it, in order of completion (ties by row).

    Attributes
    ----------
    start_ns, end_ns : int
        From the end of the warm-up to the earliest time at which some stream has issued its last row: what comes
        after is not the requested mix.
    rows : int64 or, where they are very many, int32, shape (n,)
    is_settled : bool
        Whether the warm-up was found to end within the run, and a cycle was seen often enough.
    n_rounds : int
        Whole rounds of the write cache's sweep that the window consists of (rule Z10); 0: it does not.
    """

    start_ns: int
    end_ns: int
    rows: Int64 | NDArray[np.int32]
    is_settled: bool
    n_rounds: int = 0

    @property
    def seconds(self) -> float:
        """Length."""
        return (self.end_ns - self.start_ns) / 1e9


def last_full_mix_ns(requests: Requests, issue_ns: Int64) -> int:
    """Return the earliest time at which some stream has issued its last row."""
    if len(requests.streams) == 1:
        return int(issue_ns.max())
    last = np.full(len(requests.streams), -1, dtype=np.int64)
    np.maximum.at(last, requests.stream, issue_ns)
    return int(last[last >= 0].min())


def subtract_at(values: Int64, column: Int64, rows: Int64 | NDArray[np.int32]) -> None:
    """Subtract a column's values at some rows, in place and piece by piece, so that they are never all copied."""
    for first in range(0, len(rows), _PIECE):
        piece = slice(first, first + _PIECE)
        values[piece] -= column[rows[piece]]


def narrowed(values: Int64) -> Int64 | NDArray[np.int32]:
    """Return non-negative values in half the memory, where they are very many and fit."""
    if len(values) > _SMALL_ABOVE and values.max() < 1 << 31:
        return values.astype(np.int32)
    return values


def whole_rounds(n: int, round_requests: int) -> int:
    """Return the rounds that `n` requests contain where they are enough for a verdict, else 0."""
    n_rounds = n // round_requests if round_requests else 0
    return n_rounds if n_rounds >= MIN_ROUNDS else 0


def enough_for(round_requests: int) -> int:
    """Return the length of a run that sees enough rounds of so many requests, after a fifth of one to begin with."""
    return math.ceil((MIN_ROUNDS + 0.2) * round_requests)


def cycle_of(requests: Requests, cleaning_requests: int = 0) -> int:
    """Return the requests of the slowest ups and downs of load and disks (rules Z11 and G9); 0: none."""
    return max([cleaning_requests, *(rule.cycle_requests for rule in requests.streams)])


def enough_cycles(cycle_requests: int) -> int:
    """Return the length of a run that sees enough cycles of the load of so many requests, and one to begin with."""
    return (MIN_CYCLES + 1) * cycle_requests


def unseen_share(requests: Requests, run: Run, n: int, start_ns: int) -> float:
    """Return the share of the load's cycles up to which a cache may overflow that did not in `n` requests; else 0.

    Of bursts that take random times, and of a controller's write-back cache that was never full after `start_ns`.
    """
    cycle = max((rule.cycle_requests for rule in requests.streams if rule.is_random), default=0)
    if not cycle or not run.cache_bytes or not len(run.levels):
        return 0.0
    level = run.levels[run.levels[:, 0] > start_ns, 1]
    if len(level) and level.max() >= _FULL * run.cache_bytes:
        return 0.0
    return min(RULE_OF_THREE * cycle / max(n, 1), 1.0)


def enough_unseen(cycle_requests: int, level: float) -> int:
    """Return the length of a run in which a cache that never overflows leaves a quantile as it is (rule Z11)."""
    return (math.ceil(round(RULE_OF_THREE / (1 - level), 6)) + 1) * cycle_requests


def sees_too_few_cycles(n: int, cycle_requests: int) -> bool:
    """Return whether a run of `n` requests is too short for cycles of the load of so many (rule Z11)."""
    return n < MIN_CYCLES * cycle_requests


def measuring_window(requests: Requests, run: Run, order: Int64 | None = None) -> Window:
    """Return the window of a run with at least one request; the whole run, not settled, where it is too short.

    `order`: its rows in order of completion (ties by row), where that is known.
    """
    done_ns = run.completions.done_ns
    order = np.argsort(done_ns, kind="stable") if order is None else order
    if len(order) > _SMALL_ABOVE:
        order = order.astype(np.int32)
    end_ns = last_full_mix_ns(requests, run.completions.issue_ns)
    in_order = done_ns[order]
    n_until_end = int(np.searchsorted(in_order, end_ns, side="right"))
    rows, response_ns = order[:n_until_end], in_order[:n_until_end]
    # in the same memory: from here on these are responses
    subtract_at(response_ns, run.completions.issue_ns, rows)
    series = narrowed(response_ns)
    del in_order, response_ns
    n_rounds = whole_rounds(len(rows), run.round_requests)
    if n_rounds:  # a cycle looks like a warm-up
        n_dropped, is_settled = len(rows) - n_rounds * run.round_requests, True
    else:
        n_dropped, is_settled = warm_up(series)
    cycle = cycle_of(requests, run.cleaning_requests)
    if sees_too_few_cycles(len(rows) - n_dropped, cycle):  # bursts at the beginning look like a warm-up, too
        n_dropped, is_settled = min(n_dropped, cycle), not sees_too_few_cycles(len(rows), cycle)
    start_ns = int(done_ns[rows[n_dropped - 1]]) if n_dropped else 0
    kept = rows[bisect_right(rows, start_ns, key=lambda row: int(done_ns[row])) :] if n_dropped else rows
    if len(kept) == 0 or end_ns <= start_ns:
        return Window(0, max(run.end_ns, int(done_ns.max()), 1), order, False)
    return Window(start_ns, end_ns, kept, is_settled and bool(n_rounds or not run.round_requests), n_rounds)

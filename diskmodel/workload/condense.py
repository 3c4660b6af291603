"""Choosing the excerpts that stand for a trace: cut it into phases, and represent each by one of a few."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from diskmodel.loading import dataclass
from diskmodel.records import Int64, Op, Requests
from diskmodel.workload.addresses import ExcerptPlaces
from diskmodel.workload.arrivals import ExcerptTimes
from diskmodel.workload.excerpts import BYTES_PER_NS, POSITIONING_NS, SECTOR_BYTES, SHIFT_BYTES, Excerpts, queued
from diskmodel.workload.sizes import sizes_of
from diskmodel.workload.stream import Stream

Float64 = NDArray[np.float64]

#: Utilization at which phases with a queue are looked for: that of the arrays that a plan ends with.
_UTILIZATION = 0.5
#: Share of the excerpts that are kept because of their queues; the others represent clusters. With a fifth, the
#: tail of bursty traces is off by twice as much; with four fifths, the mean of calm ones.
_QUEUED_SHARE = 0.5
#: Weight of the accumulated difference in requests, bytes and jumps against likeness, when a phase's excerpt is chosen,
#: and what of the difference is still counted one phase later: a queue forgets.
_BALANCE_WEIGHT = 3.0
_BALANCE_MEMORY = 0.9


@dataclass(frozen=True)
class Phases:
    """A trace cut into phases.

    Attributes
    ----------
    trace : Requests
        Lengths and offsets in whole sectors.
    first_byte : int
        Start of the region.
    cuts : int64, shape (n_phases + 1,)
        First row of each phase, and the number of rows.
    likeness : float64, shape (n_phases, 9)
        What phases are compared by.
    amounts : float64, shape (n_phases, 6)
        Reads, writes, jumps of each, and bytes of each, so scaled that a mean phase has about 1 in all.
    queued : float64, shape (n_phases,)
        Time that its requests would wait, together, on an array that is half busy.
    """

    trace: Requests
    first_byte: int
    cuts: Int64
    likeness: Float64
    amounts: Float64
    queued: Float64

    @property
    def n(self) -> int:
        """Number of phases."""
        return len(self.cuts) - 1


def cut(trace: Requests, rows_per_phase: int) -> Phases:
    """Return the phases of a trace: each has about so many requests, and they meet at the longest gaps.

    Raises
    ------
    ValueError
        When no time passes in the trace.
    """
    if not trace.when_ns[-1] > trace.when_ns[0]:
        raise ValueError("no time passes in the trace")
    first_sector = trace.offset // SECTOR_BYTES
    first_byte = int(first_sector.min()) * SECTOR_BYTES
    n_sectors = -(-trace.length // SECTOR_BYTES)
    gap_ns = np.diff(trace.when_ns, prepend=trace.when_ns[0])
    cuts = _cuts(gap_ns, rows_per_phase)
    begin, rows = cuts[:-1], np.diff(cuts)
    jump = np.abs(np.diff(first_sector, prepend=0) - np.concatenate([[0], n_sectors[:-1]])) * SECTOR_BYTES
    jump[0] = 0
    is_jump, is_write = jump != 0, trace.op == Op.WRITE
    size = (n_sectors * SECTOR_BYTES).astype(np.float64)
    work_ns = is_jump * POSITIONING_NS + size / BYTES_PER_NS

    def mean(column: NDArray[np.generic]) -> Float64:
        found: Float64 = np.add.reduceat(column.astype(np.float64), begin) / rows
        return found

    log_gap = np.log(gap_ns + 1000.0)
    longest = np.maximum.reduceat(log_gap, begin)
    spread = np.sqrt(np.maximum(mean(log_gap**2) - mean(log_gap) ** 2, 0))
    # natural logarithms, and shares doubled: a factor of 2 in a rate weighs as much as a third of the requests
    likeness = np.column_stack(
        [
            np.log(np.maximum(mean(gap_ns), 1.0)),
            2 * np.log(mean(work_ns)),
            np.log(mean(size)),
            np.log(rows),
            2 * mean(is_write),
            2 * mean(~is_jump),
            mean(np.log1p(jump / 1e6)) / 2,
            longest / 2,
            spread,
        ]
    )
    columns = (~is_write, is_write, is_jump & ~is_write, is_jump & is_write, size * ~is_write, size * is_write)
    amounts = np.column_stack([mean(column) * rows for column in columns])
    amounts[:, 4:] /= 65536.0
    amounts /= amounts.sum(axis=1).mean()
    moved = Requests(
        when_ns=trace.when_ns,
        op=trace.op,
        offset=first_sector * SECTOR_BYTES,
        length=n_sectors * SECTOR_BYTES,
        stream=trace.stream,
        cache_draw=trace.cache_draw,
        streams=trace.streams,
    )
    return Phases(moved, first_byte, cuts, likeness, amounts, _queued(gap_ns, work_ns, begin))


def _cuts(gap_ns: Int64, rows_per_phase: int) -> Int64:
    n, found = len(gap_ns), [0]
    while n - found[-1] > 1.5 * rows_per_phase:
        first, last = found[-1] + rows_per_phase // 2, found[-1] + 3 * rows_per_phase // 2
        found.append(first + int(np.argmax(gap_ns[first:last])))
    return np.array([*found, n], dtype=np.int64)


def _queued(gap_ns: Int64, work_ns: Float64, begin: Int64) -> Float64:
    """Sum over each phase of the work that its requests find, at one server of `_UTILIZATION`."""
    found: Float64 = np.add.reduceat(queued(gap_ns, work_ns * (_UTILIZATION * gap_ns.sum() / work_ns.sum())), begin)
    return found


def represent(phases: Phases, share: float) -> Int64:
    """Return the phase that stands for each phase, when about `share` of them are kept; int64, shape (n_phases,).

    Notes
    -----
    Half of those kept are the phases with the most queueing: they make the tail, and no two bursts are alike. The
    others are the medoids of clusters (k-means). A phase that is not kept is represented by one that is like it, and
    that brings reads, writes, jumps and bytes so far back into balance.
    """
    n_kept = max(round(share * phases.n), 1)
    if n_kept >= phases.n:
        return np.arange(phases.n)
    by_queue = np.argsort(-phases.queued, kind="stable")
    n_queued = int(_QUEUED_SHARE * n_kept)
    rest = np.sort(by_queue[n_queued:])
    kept = np.concatenate([by_queue[:n_queued], _medoids(phases.likeness, rest, n_kept - n_queued)])
    kept.sort()
    is_kept = np.zeros(phases.n, dtype=np.bool_)
    is_kept[kept] = True
    rows = np.diff(phases.cuts)
    per_row = phases.amounts / rows[:, None]
    found = np.arange(phases.n)
    behind = np.zeros(phases.amounts.shape[1])
    for phase in range(phases.n):
        if not is_kept[phase]:
            after = behind + (per_row[kept] - per_row[phase]) * rows[phase]
            unlike = ((phases.likeness[kept] - phases.likeness[phase]) ** 2).sum(axis=1)
            best = int(np.argmin(unlike + _BALANCE_WEIGHT * (after**2).sum(axis=1)))
            found[phase], behind = kept[best], after[best]
        behind = behind * _BALANCE_MEMORY
    return found


def _medoids(likeness: Float64, rows: Int64, n_clusters: int) -> Int64:
    points = likeness[rows]
    with warnings.catch_warnings():
        # a cluster that stays empty has no medoid, and one excerpt less is kept
        warnings.simplefilter("ignore", UserWarning)
        centers, label = kmeans2(points, _first_centers(points, n_clusters), minit="matrix")
    distance = ((points - centers[label]) ** 2).sum(axis=1)
    nearest = rows[np.lexsort((distance, label))]
    found: Int64 = nearest[np.unique(np.sort(label), return_index=True)[1]]
    return found


def _first_centers(points: Float64, n_clusters: int) -> Float64:
    """Return points to begin with, each drawn in proportion to its squared distance from those before (k-means++).

    Not scipy's `minit="++"`, whose time grows with the square of the number of clusters.
    """
    random = np.random.default_rng(1)
    chosen = [int(random.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    for _ in range(n_clusters - 1):
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        total = float(distance.sum())
        # where all points are equal to one that was chosen, any will do
        chosen.append(int(random.choice(len(points), p=distance / total)) if total > 0 else chosen[-1])
    found: Float64 = points[chosen]
    return found


def stream_of(phases: Phases, standing_for: Int64) -> Stream:
    """Return the stream of a trace's phases, each represented by the phase that stands for it.

    Parameters
    ----------
    phases : Phases
    standing_for : int64, shape (n_phases,)
        As from `represent`.
    """
    trace, cuts = phases.trace, phases.cuts
    kept, excerpt = np.unique(standing_for, return_inverse=True)
    rows = np.diff(cuts)
    at = np.concatenate([np.arange(cuts[phase], cuts[phase + 1]) for phase in kept])
    gap_ns = np.diff(trace.when_ns, prepend=trace.when_ns[0])
    # an excerpt with more requests than the phase lasts longer, so that the rate is the phase's
    duration_ns = np.add.reduceat(gap_ns, cuts[:-1]) / rows * rows[standing_for]
    # a cache sees as much data as in the trace only where a phase goes to its own places
    middle = np.array([np.median(trace.offset[cuts[phase] : cuts[phase + 1]]) for phase in range(phases.n)])
    shift = np.rint((middle - middle[standing_for]) / SHIFT_BYTES).astype(np.int64)
    excerpts = Excerpts.pack(
        excerpt=excerpt,
        duration_ns=duration_ns,
        shift_bytes=shift * SHIFT_BYTES,
        ends=np.cumsum(rows[kept]),
        gap_ns=gap_ns[at],
        op=trace.op[at],
        length=trace.length[at],
        place=trace.offset[at] - phases.first_byte,
    )
    cycle = excerpts.cycle
    is_aligned = not ((trace.offset | trace.length) % 4096).any()
    return Stream(
        name="fitted",
        read_ratio=cycle.read_ratio,
        sizes=sizes_of(cycle.length),
        alignment_bytes=4096 if is_aligned else SECTOR_BYTES,
        addresses=ExcerptPlaces(),
        offset_bytes=phases.first_byte,
        span_bytes=int((trace.offset + trace.length).max()) - phases.first_byte,
        arrival=ExcerptTimes(rate_per_s=(len(trace) - 1) * 1e9 / float(trace.when_ns[-1] - trace.when_ns[0])),
        excerpts=excerpts,
    )

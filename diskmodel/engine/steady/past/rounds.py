"""How evenly a sweep through the write cache loads the disks (rule Z10)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskmodel.controller import Lanes
from diskmodel.engine.compiled import kernel as _kernel
from diskmodel.records import Int64
from diskmodel.schema import to_kernel

#: Equal parts of a round that are compared. With half, a log of a tenth of the blocks hides in one; with double, a part
#: of a small cache has so few runs that chance makes them differ.
_N_PARTS = 20
#: Standard deviation of the disks' operations per request over these parts, as a share of their mean, from which a run
#: has to see whole rounds. Uniform writes to 128 MiB and more stay below 0.015; a log beside them gives 0.1 to 0.6.
UNEVEN = 0.05
#: The same with the ways of the arms, which are estimated. Uniform requests reach 0.04, because the edges of an array
#: are farther from everything than its middle; a thousandth of the places with most requests gives 0.1 to 0.45.
UNEVEN_WAYS = 0.1
#: Seek across the whole disk, in halves of a revolution: 2 to 3 for disks of 7,200 to 15,000 rpm. It decides only
#: whether a round is looked for: at half, rounds that differ by a quarter pass for even; at double, uniform ones fail.
_FULL_STROKE = 2.5
#: Places of a sweep from which the way to the reads is found. At half, the borders of popular places are blurred.
_PLACES = 129


def unevenness(uses: Int64, lanes: Lanes, *, reads_per_use: float, arms: Arms | None = None) -> float:
    """Standard deviation of the disks' work per request over a round of the sweep, as a share of its mean.

    Parameters
    ----------
    uses : int64, shape (n,)
        Blocks that are written to during about one round.
    lanes : Lanes
        What is written together.
    reads_per_use : float
        Reads from the disks that come meanwhile, for each of these.
    arms : Arms, optional
        Where arms go to read. Without it an operation takes as long wherever the one before was.

    Notes
    -----
    As many blocks are written as come, so that equal numbers of blocks take equal times. A run takes an operation for
    each strip that it writes, and with parity as many again to read before, unless it is the whole row.
    """
    if len(uses) < _N_PARTS:
        return 0.0
    # lane by lane in order of place, each block once: one sort of numbers is several times as fast as `lexsort`
    n = int(uses.max()) + 1
    at = np.sort(lanes.lane_of(uses) * n + uses)
    lane, blocks = np.divmod(at[np.diff(at, prepend=-1) > 0], n)
    stripe = lanes.stripe_of(blocks)
    first = np.flatnonzero(
        np.concatenate([[True], (np.diff(blocks) > 1) | (np.diff(lane) != 0) | (np.diff(stripe) != 0)])
    )
    length = np.diff(first, append=len(blocks))
    begin, end = blocks[first] * lanes.block_sectors, (blocks[first] + length) * lanes.block_sectors
    n_strips = (end - 1) // lanes.strip_sectors - begin // lanes.strip_sectors + 1
    operations = n_strips * lanes.strip_cost + lanes.stripe_cost
    operations[(length * lanes.block_sectors < lanes.stripe_sectors) & (lanes.stripe_cost > 0)] *= 2
    # the share of a block's lane that the sweep has passed when it comes to it
    in_lane = np.searchsorted(lane, np.arange(lanes.n + 1))
    passed = (np.arange(len(blocks)) - in_lane[lane]) * _N_PARTS // (in_lane[lane + 1] - in_lane[lane])
    n_blocks = np.bincount(passed, minlength=_N_PARTS)
    reads_per_block = reads_per_use * len(uses) / len(blocks)
    reads = np.full(_N_PARTS, reads_per_block)
    if arms is not None:
        # runs that have a read before them, and so reads that have a run
        is_apart = reads_per_block / (reads_per_block + len(first) / len(blocks))
        step = np.abs(np.diff(blocks[first], prepend=blocks[first[0]])) * (np.diff(lane[first], prepend=-1) == 0)
        own, away = _way(step, arms.n_blocks), arms.from_places(blocks[first])
        operations = operations * (1 + (1 - is_apart) * own + is_apart * away)
        n_runs = np.maximum(np.bincount(passed[first], minlength=_N_PARTS), 1)
        there = np.bincount(passed[first], away, _N_PARTS) / n_runs
        reads *= 1 + is_apart * arms.among_reads + (1 - is_apart) * there
    each = np.bincount(passed[first], operations, _N_PARTS)[n_blocks > 0] / n_blocks[n_blocks > 0] + reads[n_blocks > 0]
    return float(each.std() / each.mean())


class Arms(NamedTuple):
    """Where the arms of hard disks go to read, while a sweep goes through its places.

    Attributes
    ----------
    reads : float64, shape (n,)
        Blocks of the array that are read, in any order; some, as they are drawn.
    n_blocks : int
        Blocks of the array.
    """

    reads: NDArray[np.float64]
    n_blocks: int

    @property
    def among_reads(self) -> float:
        """Mean way from a read to the next, in half revolutions."""
        return float(_way(np.abs(np.diff(self.reads)), self.n_blocks).mean()) if len(self.reads) > 1 else 0.0

    def from_places(self, blocks: Int64) -> NDArray[np.float64]:
        """Mean way from each block to a read, in half revolutions; interpolated between a few places."""
        if not len(self.reads):
            return np.zeros(len(blocks))
        places = np.quantile(blocks, np.linspace(0, 1, _PLACES))
        ways = _way(np.abs(places[:, None] - self.reads[None, :]), self.n_blocks).mean(axis=1)
        found: NDArray[np.float64] = np.interp(blocks, places, ways)
        return found


def _way(distance: NDArray[Any], n_blocks: int) -> NDArray[np.float64]:
    """How long a seek over so many blocks of the array takes, in half revolutions."""
    found: NDArray[np.float64] = _FULL_STROKE * np.sqrt(np.minimum(distance / n_blocks, 1.0))
    return found


def swept_round(uses: Int64, waiting: Int64, n: int, lanes: Lanes) -> float:
    """Uses of blocks that one round of the sweep takes, by sweeping a cache without disks.

    Parameters
    ----------
    uses : int64, shape (n_uses,)
        Blocks that are written to, the latest last.
    waiting : int64, shape (n,)
        Blocks that wait when they come.
    n : int
        Blocks that wait always.
    lanes : Lanes
        What is written together.

    Returns
    -------
    float
        Mean over the lanes; where no lane is swept twice within them, twice the uses, or 0 if hardly anything waits
        behind the sweeps: then they follow a log, and nothing else comes.

    Notes
    -----
    Rule K8, with runs that take no time. Ages of blocks alone would not do: beside a log, a sweep stays with the log as
    long as this goes on ahead of it, and random writes wait for several times as long as the level says.
    """
    n_rounds, n_swept, n_behind = _kernel.sweep_rounds(
        np.ascontiguousarray(uses, np.int64), np.ascontiguousarray(waiting, np.int64), n, to_kernel(lanes)
    )
    if n_rounds:
        return n_swept / n_rounds
    return 2.0 * len(uses) if n_behind > UNEVEN * n else 0.0

"""How evenly a sweep through the write cache loads the disks (rule Z10)."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from diskmodel.controller.dirty_blocks import Lanes
from diskmodel.engine import _kernel
from diskmodel.records import Int64

#: Equal parts of a round that are compared. With half, a log of a tenth of the blocks hides in one; with double, a part
#: of a small cache has so few runs that chance makes them differ.
_N_PARTS = 20
#: Standard deviation of the disks' operations per request over these parts, as a share of their mean, from which a run
#: has to see whole rounds. Uniform writes to 128 MiB and more stay below 0.015; a log beside them gives 0.1 to 0.6.
UNEVEN = 0.05


def unevenness(uses: Int64, lanes: Lanes, *, reads_per_use: float) -> float:
    """Standard deviation of the disks' operations per request over a round of the sweep, as a share of their mean.

    Parameters
    ----------
    uses : int64, shape (n,)
        Blocks that are written to during about one round.
    lanes : Lanes
        What is written together.
    reads_per_use : float
        Reads from the disks that come meanwhile, for each of these.

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
    each = np.bincount(passed[first], operations, _N_PARTS)[n_blocks > 0] / n_blocks[n_blocks > 0]
    each += reads_per_use * len(uses) / len(blocks)
    return float(each.std() / each.mean())


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
        np.ascontiguousarray(uses, np.int64), np.ascontiguousarray(waiting, np.int64), n, asdict(lanes)
    )
    if n_rounds:
        return n_swept / n_rounds
    return 2.0 * len(uses) if n_behind > UNEVEN * n else 0.0

"""How evenly a sweep through the write cache loads the disks (rule Z10)."""

from __future__ import annotations

import numpy as np

from diskmodel.controller.dirty_blocks import Lanes
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
    at = np.sort(uses * lanes.block_sectors // lanes.lane_sectors * lanes.lane_step % lanes.n * n + uses)
    lane, blocks = np.divmod(at[np.diff(at, prepend=-1) > 0], n)
    stripe = blocks * lanes.block_sectors // lanes.stripe_sectors
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

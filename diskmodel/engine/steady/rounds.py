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


def unevenness(blocks: Int64, lanes: Lanes, *, reads_per_block: float) -> float:
    """Standard deviation of the disks' operations per request over a round of the sweep, as a share of their mean.

    Parameters
    ----------
    blocks : int64, shape (n,)
        Different blocks that are written during one round.
    lanes : Lanes
        What is written together.
    reads_per_block : float
        Reads from the disks that come meanwhile, for each of these blocks.

    Notes
    -----
    As many blocks are written as come, so that equal numbers of blocks take equal times. A run takes an operation for
    each strip that it writes, and with parity as many again to read before, unless it is the whole row.
    """
    if len(blocks) < _N_PARTS:
        return 0.0
    lane = blocks * lanes.block_sectors // lanes.lane_sectors * lanes.lane_step % lanes.n
    order = np.lexsort((blocks, lane))
    blocks, lane = blocks[order], lane[order]
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
    each = np.bincount(passed[first], operations, _N_PARTS)[n_blocks > 0] / n_blocks[n_blocks > 0] + reads_per_block
    return float(each.std() / each.mean())

"""Hierarchical reuse random walk: places near the last ones, as databases reuse pages and their neighbors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from diskmodel.records import Int64, Op
from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.draws import Draws, Float64, Kind
from diskmodel.workload.space import Space

#: Blocks of a leaf. All constants are those of the first version of SPC-1, by the open implementation of its authors
#: (Daniel & Faith, "A portable, open-source implementation of the SPC-1 workload"). Other values are another workload.
LEAF_BLOCKS = 8
#: Levels that each step may move by at least: within 2**7 leaves, and with the next probability one level more, and so
#: on, up to the whole tree.
MIN_LEVELS = 7
CLIMB_PROBABILITY = 0.44
#: Leaves that share the place of writes; writes to a random block of it, and writes that the next write repeats.
WRITE_LEAVES = 8
RANDOM_WRITE_PROBABILITY = 0.5
REPEAT_PROBABILITY = 0.15

Flags = NDArray[np.bool_]


@dataclass
class _State:
    """Where the walkers are.

    Attributes
    ----------
    levels : int
        Of the tree, which has 2**levels leaves.
    root, leaf, block : int64, shape (walkers,)
        First leaf of each walker's tree in the region, its leaf in the tree, and the block of its last write.
    repeats : bool, shape (walkers,)
        Whether its next write repeats that block.
    read_leaf, n_read : int64, shape (k,)
        Leaves of the region that have been read, in order, and how often.
    """

    levels: int
    root: Int64
    leaf: Int64
    block: Int64
    repeats: Flags
    read_leaf: Int64 = field(default_factory=lambda: np.empty(0, np.int64))
    n_read: Int64 = field(default_factory=lambda: np.empty(0, np.int64))


class ReuseWalk(AddressPattern):
    """Each request is near the last one of its walker: mostly within 4 MiB of blocks of 4 KiB, now and then far away.

    The region is cut into leaves of eight blocks (a block is as long as the alignment). A step goes to a random leaf of
    the aligned group of 2**7 leaves around the last one; with probability 0.44 of the group twice as large, and so on.
    Reads take the blocks of a leaf in turn. Half of the writes go to a random block of the first of eight leaves, half
    to the block that is read next there, and with probability 0.15 the next write goes to the same block.

    Each request belongs to one of `n_walkers`, at random. Reads of all walkers share the turn of a leaf.
    """

    title: ClassVar[str] = "near the last requests, as databases reuse their pages"

    pattern: Literal["reuse_walk"] = "reuse_walk"
    n_walkers: int = Field(default=1, ge=1, le=1 << 20)

    def starts(self, lengths: Int64, space: Space, draws: Draws) -> Int64:
        """Return the first byte of each request, relative to the region; int64, shape (n,)."""
        n = len(lengths)
        if n == 0:
            return np.empty(0, np.int64)
        assert draws.ops is not None
        state: _State = draws.memory.get(Kind.REGION) or self._begin(space, draws)
        draws.memory[Kind.REGION] = state
        walker = (draws.uniform(Kind.RUN, n) * self.n_walkers).astype(np.int64)
        drawn = draws.uniform(Kind.ADDRESS, 5 * n).reshape(n, 5)
        is_read = draws.ops == Op.READ
        # the walk is as likely in either direction of time: the past is one that begins where the run does
        is_past = draws.first_row < 0
        if is_past:
            walker, drawn, is_read = walker[::-1], drawn[::-1], is_read[::-1]
        leaf = self._walk(state, walker, drawn[:, 0], drawn[:, 1])
        leaf = np.where(is_read, leaf, leaf // WRITE_LEAVES * WRITE_LEAVES) + state.root[walker]
        block = leaf * LEAF_BLOCKS + self._turn(state, leaf, is_read, is_past)
        scattered = leaf * LEAF_BLOCKS + (drawn[:, 3] * LEAF_BLOCKS).astype(np.int64)
        block = np.where(~is_read & (drawn[:, 2] < RANDOM_WRITE_PROBABILITY), scattered, block)
        block = self._repeat(state, walker, block, ~is_read, drawn[:, 4] < REPEAT_PROBABILITY)
        return space.at_places(block[::-1] if is_past else block)

    def _begin(self, space: Space, draws: Draws) -> _State:
        """Return walkers at random leaves of trees at random places of the region."""
        n_leaves = max(space.n_places // LEAF_BLOCKS, 1)
        levels = n_leaves.bit_length() - 1
        root, leaf = draws.of_the_run(Kind.REGION, 2 * self.n_walkers).reshape(2, -1)
        return _State(
            levels,
            (root * (n_leaves - 2**levels + 1)).astype(np.int64),
            (leaf * 2**levels).astype(np.int64),
            np.zeros(self.n_walkers, np.int64),
            np.zeros(self.n_walkers, np.bool_),
        )

    def _walk(self, state: _State, walker: Int64, climb: Float64, to: Float64) -> Int64:
        """Return the leaf of each row, and move the walkers: a step of h levels replaces the leaf's lowest h bits."""
        climbed = np.log(np.maximum(climb, np.finfo(float).tiny)) / np.log(CLIMB_PROBABILITY)
        height = np.minimum(MIN_LEVELS + climbed.astype(np.int64), state.levels)
        # in the order of the walkers; each begins with a row that sets all bits of its leaf
        everyone = np.arange(self.n_walkers)
        order = np.argsort(np.concatenate([everyone, walker]), kind="stable")
        height = np.concatenate([np.full(self.n_walkers, state.levels), height])[order]
        drawn = np.concatenate([state.leaf, (to * 2**state.levels).astype(np.int64)])[order]
        row = np.arange(len(order))
        leaf = np.zeros(len(order), np.int64)
        for level in range(state.levels):
            latest = np.maximum.accumulate(np.where(height > level, row, 0))
            leaf |= drawn[latest] & (1 << level)
        found = np.empty_like(leaf)
        found[order] = leaf
        last = np.searchsorted(np.concatenate([everyone, walker])[order], everyone, side="right") - 1
        state.leaf = leaf[last]
        return found[self.n_walkers :]

    def _turn(self, state: _State, leaf: Int64, is_read: Flags, is_past: bool) -> Int64:
        """Return the block of its leaf that each row would read, and count the reads.

        A leaf's turn begins anywhere, because a run begins in the middle of the application's life.
        """
        order = np.argsort(leaf, kind="stable")
        reads = np.cumsum(is_read[order])
        leaves, first = np.unique(leaf[order], return_index=True)
        before_leaf = np.concatenate([[0], reads])[first]
        group = np.searchsorted(leaves, leaf[order])
        known = np.zeros(len(leaves), np.int64)
        if len(state.read_leaf):
            at = np.minimum(np.searchsorted(state.read_leaf, leaves), len(state.read_leaf) - 1)
            known = np.where(state.read_leaf[at] == leaves, state.n_read[at], 0)
        n_before = np.empty(len(leaf), np.int64)
        n_before[order] = reads - is_read[order] - before_leaf[group] + known[group]
        n_reads = np.diff(np.concatenate([before_leaf, reads[-1:]])) + known
        others = ~np.isin(state.read_leaf, leaves)
        merged = np.concatenate([state.read_leaf[others], leaves])
        by_leaf = np.argsort(merged)
        state.read_leaf, state.n_read = merged[by_leaf], np.concatenate([state.n_read[others], n_reads])[by_leaf]
        anywhere = leaf * 2_654_435_761 >> 13  # Knuth's multiplicative hash, of which the lowest bits are the worst
        return (anywhere + (-1 - n_before if is_past else n_before)) % LEAF_BLOCKS

    def _repeat(self, state: _State, walker: Int64, block: Int64, is_write: Flags, repeats: Flags) -> Int64:
        """Return the blocks, with writes that repeat their walker's last one in its place."""
        rows = np.flatnonzero(is_write)
        everyone = np.arange(self.n_walkers)
        owner = np.concatenate([everyone, walker[rows]])
        order = np.argsort(owner, kind="stable")
        own = np.concatenate([state.block, block[rows]])[order]
        is_followed = np.concatenate([state.repeats, repeats[rows]])[order]
        is_first = order < self.n_walkers
        is_repeat = np.concatenate([[False], is_followed[:-1]]) & ~is_first
        source = np.maximum.accumulate(np.where(is_repeat, 0, np.arange(len(order))))
        written = np.empty(len(order), np.int64)
        written[order] = own[source]
        last = np.searchsorted(owner[order], everyone, side="right") - 1
        state.block, state.repeats = own[source][last], is_followed[last]
        block = block.copy()
        block[rows] = written[self.n_walkers :]
        return block

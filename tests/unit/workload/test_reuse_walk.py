"""The hierarchical reuse random walk against its rules, row by row and in the long run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diskmodel.records import Op, Requests
from diskmodel.workload import Workload
from diskmodel.workload.draws import Draws, Kind

KIB = 1024
SPAN = 5_000 * 32 * KIB  # 5,000 leaves, of which a tree has 4,096
LEVELS = 12


def workload(n_walkers: int = 1, read_ratio: float = 0.5) -> Workload:
    addresses = {"pattern": "reuse_walk", "n_walkers": n_walkers}
    return Workload.parse({"size": "4 KiB", "read_ratio": read_ratio, "rate": "1/s", "addresses": addresses})


def rows(n: int, n_walkers: int = 1, read_ratio: float = 0.5, seed: int = 1) -> Requests:
    return workload(n_walkers, read_ratio).requests(capacity_bytes=SPAN, n=n, seed=seed)


def by_the_rules(ops: list[int], n_walkers: int, seed: int) -> list[int]:
    """Return the block of each row, one row after the other, as the walk is described."""
    draws, n = Draws(seed, 0), len(ops)
    root, at = draws.uniform(Kind.REGION, 2 * n_walkers).reshape(2, -1)
    root = [int(value * (5_000 - 4_096 + 1)) for value in root]
    at = [int(value * 4_096) for value in at]
    last_write: list[int | None] = [None] * n_walkers
    n_reads: dict[int, int] = {}
    blocks = []
    walkers = draws.uniform(Kind.RUN, n)
    drawn = draws.uniform(Kind.ADDRESS, 5 * n).reshape(n, 5)
    repeats = [False] * n_walkers
    for op, which, (climb, to, random_write, place, repeat) in zip(ops, walkers, drawn, strict=True):
        walker = int(which * n_walkers)
        height = 7
        while height < LEVELS and climb < 0.44 ** (height - 6):
            height += 1
        group = 2**height
        at[walker] = at[walker] // group * group + int(to * 4_096) % group
        leaf = at[walker]
        if op == Op.WRITE:
            leaf = leaf // 8 * 8
        leaf += root[walker]
        turn = ((leaf * 2_654_435_761 >> 13) + n_reads.get(leaf, 0)) % 8
        if op == Op.READ:
            blocks.append(leaf * 8 + turn)
            n_reads[leaf] = n_reads.get(leaf, 0) + 1
            continue
        block = leaf * 8 + (int(place * 8) if random_write < 0.5 else turn)
        previous = last_write[walker]
        if repeats[walker] and previous is not None:
            block = previous
        blocks.append(block)
        last_write[walker], repeats[walker] = block, bool(repeat < 0.15)
    return blocks


@pytest.mark.parametrize(("n_walkers", "read_ratio"), [(1, 0.5), (1, 1.0), (1, 0.0), (7, 0.3), (400, 0.5)])
def test_every_row_is_that_of_the_rules(n_walkers: int, read_ratio: float) -> None:
    found = rows(3_000, n_walkers, read_ratio, seed=5)
    assert (found.offset // (4 * KIB)).tolist() == by_the_rules(found.op.tolist(), n_walkers, 5)


def test_most_steps_are_short() -> None:
    """Within 4 MiB 0.56, 8 MiB 0.25, 16 MiB 0.108, … of the steps; within five standard errors."""
    n = 200_000
    leaf = rows(n, read_ratio=1.0).offset // (32 * KIB)
    root = leaf.min()  # the tree's first leaf is reached in so many steps
    inside = [np.mean(np.diff((leaf - root) >> height) == 0) for height in range(7, LEVELS)]
    # a step of more levels may stay in a smaller group
    steps = [0.56 * 0.44**k for k in range(LEVELS - 7)] + [0.44 ** (LEVELS - 7)]
    for k, share in enumerate(inside):
        expected = sum(p * min(1.0, 2.0 ** (k - j)) for j, p in enumerate(steps))
        assert share == pytest.approx(expected, abs=5 * math.sqrt(0.25 / n))


def test_reads_take_the_blocks_of_a_leaf_in_turn() -> None:
    block = rows(50_000, n_walkers=3, read_ratio=1.0).offset // (4 * KIB)
    for leaf in np.unique(block // 8)[:200]:
        taken = block[block // 8 == leaf] % 8
        assert np.all(np.diff(taken) % 8 == 1)


def test_the_past_ends_where_the_run_begins() -> None:
    """The last row of the past and the first of the run are two steps of the same walk apart, which are short."""
    near = 0
    for seed in range(200):
        first = rows(1, read_ratio=1.0, seed=seed).offset[0]
        last = workload(read_ratio=1.0).past(capacity_bytes=SPAN, n=10, seed=seed).offset[-1]
        near += abs(int(first) - int(last)) < 4 * 1024 * KIB
    assert near > 200 * 0.4  # independent walks: 5 %


def test_a_region_smaller_than_a_leaf_has_its_one_place() -> None:
    requests = workload().requests(capacity_bytes=4 * KIB, n=10, seed=1)
    assert requests.offset.tolist() == [0] * 10

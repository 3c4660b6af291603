"""LRU, 2Q and ARC on references worked by hand, and against plain rules (rule K6)."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskmodel.controller.arc import ONE, Arc, ZfsArc
from diskmodel.controller.block_cache import POLICIES, BlockCache


def hits(cache: BlockCache, references: list[int]) -> list[bool]:
    """Which references hit; a hit is used, a miss comes in."""
    found = []
    for block in references:
        found.append(block in cache)
        if found[-1]:
            cache.touch(block)
        else:
            cache.insert(block)
    return found


def test_lru_drops_what_was_used_longest_ago() -> None:
    assert hits(POLICIES["lru"](2), [1, 2, 1, 3, 1, 2]) == [False, False, True, False, True, False]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=120), st.integers(1, 8))
def test_lru_is_a_list_in_order_of_use(references: list[int], capacity: int) -> None:
    recent: list[int] = []
    expected = []
    for block in references:
        expected.append(block in recent)
        recent = [b for b in recent if b != block][-(capacity - 1) :] if capacity > 1 else []
        recent.append(block)
    assert hits(POLICIES["lru"](capacity), references) == expected


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(POLICIES)), st.lists(st.integers(0, 30), max_size=200), st.integers(1, 10))
def test_no_policy_holds_more_than_its_capacity(policy: str, references: list[int], capacity: int) -> None:
    cache = POLICIES[policy](capacity)
    for block in references:
        hits(cache, [block])
        assert sum(b in cache for b in range(31)) <= capacity
        if policy != "2q" or capacity > 1:
            assert block in cache


@pytest.mark.parametrize("policy", ["2q", "arc"])
def test_a_scan_does_not_flush_what_is_used_again_and_again(policy: str) -> None:
    """Eight blocks used between scans of 12 others, then between scans of 50: LRU of 16 forgets them each time."""
    working_set = list(range(8))
    references = working_set * 2
    for i in range(40):
        start = 1000 + 100 * i
        references += list(range(start, start + (12 if i < 20 else 50))) + working_set

    def working_set_hits(name: str) -> int:
        found = hits(POLICIES[name](16), references)
        return sum(hit for block, hit in zip(references, found, strict=True) if block < 8)

    assert working_set_hits(policy) > 1.2 * working_set_hits("lru")


def test_written_blocks_of_a_pool_are_new() -> None:
    arc = ZfsArc(4)
    hits(arc, [1, 1, 2, 2, 3])
    assert (list(arc.recent), list(arc.frequent)) == ([3], [1, 2])
    arc.write(1)
    assert (list(arc.recent), list(arc.frequent)) == ([3, 1], [2])
    assert arc.write(5) is None
    assert arc.write(6) == 3  # half of the cache is for recent ones
    assert list(arc.was_recent) == []  # no more than half of the frequent ones


def test_a_pool_follows_uses_of_what_it_evicted() -> None:
    """100 blocks, half of them frequent: each of the last 25 recent ones that comes back makes room for two more."""
    arc = ZfsArc(100)
    frequent = list(range(50))
    hits(arc, frequent * 2)
    hits(arc, list(range(100, 175)))
    assert list(arc.was_recent) == list(range(100, 125))
    assert (len(arc.recent), len(arc.frequent)) == (50, 50)
    assert hits(arc, list(range(120, 125))) == [False] * 5
    # 50 are remembered of both lists
    assert arc.share / ONE == pytest.approx(0.5 + 5 / 50)
    assert all(block in arc.frequent for block in range(120, 125))


def test_a_small_share_of_a_pool_shrinks_slowly() -> None:
    """From a fifth on, a frequent block that comes back takes not one of 50, but 2 r / (1 - r) of that at a share r."""
    arc = ZfsArc(100)
    arc.share = ONE // 10
    hits(arc, list(range(100)) * 2)
    arc.was_frequent = OrderedDict.fromkeys(range(1000, 1005))
    shares = [arc.share / ONE]
    for block in range(1000, 1005):
        arc.insert(block)
        arc.was_frequent.update(dict.fromkeys(range(1000, 1005)))
        shares.append(arc.share / ONE)
    assert np.diff(shares) == pytest.approx([-1 / 50 / int((1 - share) / share / 2) for share in shares[:-1]], rel=1e-6)


def test_popular_blocks_leave_a_pool_room_for_new_ones() -> None:
    """The paper's ARC leaves popular blocks nearly all; OpenZFS's keeps a fifth for what came once."""
    rng = np.random.default_rng(4)
    ranks = np.minimum(rng.zipf(1.3, 200_000), 10**6)
    paper, pool = Arc(500), ZfsArc(500)
    hits(paper, ranks.tolist())
    hits(pool, ranks.tolist())
    assert len(paper.recent) < 25
    assert 75 < len(pool.recent) < 125

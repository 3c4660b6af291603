"""LRU, 2Q and ARC on references worked by hand, and against plain rules (rule K6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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

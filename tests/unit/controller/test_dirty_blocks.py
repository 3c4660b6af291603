"""The write-back cache's book-keeping by hand (rules K7 to K9)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diskmodel.controller.dirty_blocks import DirtyBlocks


def test_a_block_that_waits_already_takes_no_more_room() -> None:
    dirty = DirtyBlocks(capacity=4, high=4, low=0, longest=4)
    assert dirty.accept(0, 3)
    assert dirty.accept(1, 4)
    assert dirty.used == 4
    assert not dirty.accept(4, 5)
    assert dirty.accept(0, 1)


def test_a_block_under_way_takes_a_second_place() -> None:
    dirty = DirtyBlocks(capacity=2, high=0, low=0, longest=1)
    assert dirty.accept(0, 1)
    assert dirty.next_run(is_pressed=False) == (0, 1)
    assert dirty.accept(0, 1)
    assert dirty.used == 2
    assert not dirty.accept(5, 6)
    dirty.written(0, 1)
    assert dirty.accept(5, 6)


def test_watermarks() -> None:
    dirty = DirtyBlocks(capacity=10, high=3, low=1, longest=1)
    dirty.accept(0, 3)
    assert dirty.next_run(is_pressed=False) is None
    assert dirty.next_run(is_pressed=True) == (0, 1)
    dirty.accept(3, 5)
    runs = []
    while (run := dirty.next_run(is_pressed=False)) is not None:
        runs.append(run)
        dirty.written(*run)
    # five in the cache exceed three; it stops when one waits
    assert runs == [(1, 2), (2, 3), (3, 4)]


def test_runs_go_upwards_and_round_again() -> None:
    dirty = DirtyBlocks(capacity=100, high=0, low=0, longest=4)
    for first, end in ((50, 56), (10, 12), (70, 71)):
        dirty.accept(first, end)
    dirty.sweep = 40
    order = [dirty.next_run(is_pressed=False) for _ in range(5)]
    assert order == [(50, 54), (54, 56), (70, 71), (10, 12), None]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=60), st.integers(1, 12), st.integers(1, 6))
def test_every_accepted_block_is_written_once_for_each_time_it_was_dirty(
    writes: list[tuple[int, int]], capacity: int, longest: int
) -> None:
    dirty = DirtyBlocks(capacity=capacity, high=capacity // 2, low=0, longest=longest)
    for first, n in writes:
        if dirty.accept(first, first + n):
            assert all(block in dirty for block in range(first, first + n))
        assert dirty.used <= capacity
        run = dirty.next_run(is_pressed=True)
        if run:
            assert 0 < run[1] - run[0] <= longest
            dirty.written(*run)
    while (run := dirty.next_run(is_pressed=True)) is not None:
        dirty.written(*run)
    assert dirty.used == 0

"""The write-back cache's book-keeping by hand (rules K7 to K9)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from diskmodel.controller.dirty_blocks import DirtyBlocks, Lanes
from diskmodel.controller.tables import lanes_of
from diskmodel.layout.description import Layout
from diskmodel.layout.md.tables import md_tables


def one_lane(stripe: int = 1 << 40, budget: int = 1 << 40) -> Lanes:
    """Everything on one disk, blocks of one sector, and every destage one strip."""
    return Lanes(1, 1, stripe, 1 << 40, 1, 1 << 40, 1, 0, stripe, budget, budget)


def lanes(level: str, disks: int, *, block_sectors: int = 8, depth: int = 2, drive_depth: int = 2) -> Lanes:
    """Lanes of an array with strips of 64 KiB over small disks."""
    layout = Layout.parse({"level": level, "disks": disks, "strip": "64 KiB"})
    return lanes_of(md_tables(layout, 1 << 20, 512), block_sectors, depth, drive_depth)


def test_a_block_that_waits_already_takes_no_more_room() -> None:
    dirty = DirtyBlocks(4, high=4, low=0, lanes=one_lane())
    assert dirty.accept(0, 3)
    assert dirty.accept(1, 4)
    assert dirty.used == 4
    assert not dirty.accept(4, 5)
    assert dirty.accept(0, 1)


def test_a_block_under_way_takes_a_second_place() -> None:
    dirty = DirtyBlocks(2, high=0, low=0, lanes=one_lane(1))
    assert dirty.accept(0, 1)
    assert dirty.next_run(is_pressed=False) == (0, 1)
    assert dirty.accept(0, 1)
    assert dirty.used == 2
    assert not dirty.accept(5, 6)
    dirty.written(0, 1)
    assert dirty.accept(5, 6)


def test_watermarks() -> None:
    dirty = DirtyBlocks(10, high=3, low=1, lanes=one_lane(1))
    dirty.accept(0, 3)
    assert dirty.next_run(is_pressed=False) is None
    assert dirty.next_run(is_pressed=True) == (0, 1)
    dirty.accept(3, 5)
    runs = []
    while (run := dirty.next_run(is_pressed=False)) is not None:
        runs.append(run)
        dirty.written(*run)
    # four wait, which is more than three; it stops when one waits
    assert runs == [(1, 2), (2, 3), (3, 4)]


def test_what_is_under_way_does_not_start_destaging() -> None:
    """With one mark exactly what exceeds it is written, however long that takes."""
    dirty = DirtyBlocks(10, high=2, low=2, lanes=one_lane(1))
    dirty.accept(0, 3)
    assert dirty.next_run(is_pressed=False) == (0, 1)
    assert dirty.next_run(is_pressed=False) is None
    dirty.accept(7, 8)
    assert dirty.next_run(is_pressed=False) == (1, 2)


def test_runs_go_upwards_and_round_again() -> None:
    """Blocks 50 to 55 lie in stripes 12 (48 to 51) and 13."""
    dirty = DirtyBlocks(100, high=0, low=0, lanes=one_lane(4))
    dirty.accept(45, 46)
    assert dirty.next_run(is_pressed=False) == (45, 46)
    for first, end in ((50, 56), (10, 12), (70, 71)):
        dirty.accept(first, end)
    order = [dirty.next_run(is_pressed=False) for _ in range(5)]
    assert order == [(50, 52), (52, 56), (70, 71), (10, 12), None]


def test_full_stripes_of_a_parity_array_are_found() -> None:
    """RAID 5 of four disks: rows of 3 x 16 blocks of 4 KiB; a write of two rows from block 40 on touches three."""
    dirty = DirtyBlocks(1000, high=0, low=0, lanes=lanes("raid5", 4, depth=100))
    dirty.accept(40, 136)
    runs = [dirty.next_run(is_pressed=False) for _ in range(4)]
    assert runs == [(40, 48), (48, 96), (96, 136), None]


def test_every_mirror_has_destages_of_its_own() -> None:
    """RAID 10 of four disks: strips of 16 blocks go to disks 0 and 1, 2 and 3 in turn; two destages on each pair."""
    dirty = DirtyBlocks(1000, high=0, low=0, lanes=lanes("raid10", 4))
    dirty.accept(0, 16 * 8)
    runs = [dirty.next_run(is_pressed=False) for _ in range(5)]
    assert runs == [(0, 16), (16, 32), (32, 48), (48, 64), None]
    dirty.written(16, 32)
    assert dirty.next_run(is_pressed=False) == (80, 96)
    assert dirty.next_run(is_pressed=False) is None


def test_destages_of_a_parity_group_count_the_strips_that_they_write() -> None:
    """RAID 6 of six disks, two destages a disk: twelve strips. A full stripe is six, a block three (two of parity)."""
    grouped = lanes("raid6", 6)
    assert grouped.cost(0, 64) == 6
    assert grouped.cost(3, 4) == 3
    dirty = DirtyBlocks(1000, high=0, low=0, lanes=grouped)
    dirty.accept(0, 256)
    assert [dirty.next_run(is_pressed=False) for _ in range(3)] == [(0, 64), (64, 128), None]


def test_what_follows_on_the_last_run_of_a_lane_is_the_same_destage() -> None:
    """One destage a disk, in at most three commands: strips 0, 2 and 4 lie on one pair, one behind the other."""
    dirty = DirtyBlocks(1000, high=0, low=0, lanes=lanes("raid10", 4, depth=1, drive_depth=3))
    dirty.accept(0, 16 * 5)
    dirty.accept(16 * 7, 16 * 9)
    runs = [dirty.next_run(is_pressed=False) for _ in range(6)]
    # strip 7 does not follow on strip 3: a destage of its own; a fourth command for strips 0, 2 and 4 is too many
    assert runs == [(0, 16), (16, 32), (32, 48), (48, 64), (64, 80), None]
    dirty.written(16, 32)
    assert dirty.next_run(is_pressed=False) is None
    dirty.written(48, 64)
    assert dirty.next_run(is_pressed=False) == (16 * 7, 16 * 8)
    dirty.written(0, 16)
    assert dirty.next_run(is_pressed=False) is None, "strip 8 does not follow on strip 4"


def test_rows_of_one_parity_group_follow_on_each_other() -> None:
    grouped = lanes("raid5", 4, depth=1, drive_depth=2)
    dirty = DirtyBlocks(1000, high=0, low=0, lanes=grouped)
    dirty.accept(0, 40)
    assert dirty.next_run(is_pressed=False) == (0, 40)
    dirty.accept(40, 48 * 4)
    assert [dirty.next_run(is_pressed=False) for _ in range(2)] == [(40, 48), (48, 96)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=60), st.integers(1, 12), st.integers(1, 6))
def test_every_accepted_block_is_written_once_for_each_time_it_was_dirty(
    writes: list[tuple[int, int]], capacity: int, stripe: int
) -> None:
    dirty = DirtyBlocks(capacity, high=capacity // 2, low=0, lanes=one_lane(stripe))
    for first, n in writes:
        if dirty.accept(first, first + n):
            assert all(block in dirty for block in range(first, first + n))
        assert dirty.used <= capacity
        run = dirty.next_run(is_pressed=True)
        if run:
            assert 0 < run[1] - run[0] <= stripe
            dirty.written(*run)
    while (run := dirty.next_run(is_pressed=True)) is not None:
        dirty.written(*run)
    assert dirty.used == 0


def test_a_line_takes_room_whatever_part_of_it_is_dirty() -> None:
    """Two lines of four blocks: 1 and 3 are in the first, 4 in the second; 8 would be in a third (rule K7)."""
    dirty = DirtyBlocks(2, high=1, low=1, lanes=one_lane(), line_blocks=4)
    assert dirty.accept(1, 2)
    assert dirty.accept(3, 4)
    assert dirty.used == 1, "both are in one line"
    assert dirty.next_run(is_pressed=False) is None, "one line waits, no more than the mark"
    assert dirty.accept(4, 5)
    assert not dirty.accept(8, 9)
    assert dirty.accept(0, 8), "there is room for the other blocks of these lines"
    assert (dirty.used, dirty.n_blocks) == (2, 8)


def test_a_line_gives_its_room_back_with_its_last_block() -> None:
    dirty = DirtyBlocks(2, high=0, low=0, lanes=one_lane(), line_blocks=4)
    assert dirty.accept(0, 1)
    assert dirty.accept(2, 3)
    assert dirty.next_run(is_pressed=False) == (0, 1)
    assert dirty.used == 2, "block 0 is in flight, and block 2 waits"
    assert not dirty.accept(4, 5)
    dirty.written(0, 1)
    assert dirty.used == 1
    assert dirty.accept(4, 5)
    assert dirty.next_run(is_pressed=False) == (2, 3)
    dirty.written(2, 3)
    assert (dirty.used, dirty.n_blocks) == (1, 1)


def test_a_write_of_more_lines_than_the_cache_does_not_fit() -> None:
    dirty = DirtyBlocks(2, high=1, low=1, lanes=one_lane(), line_blocks=4)
    assert dirty.fits(4, 12)
    assert not dirty.fits(3, 9), "a part of three lines"


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20), st.booleans()), max_size=60),
    st.sampled_from([1, 3, 4, 16]),
)
def test_lines_are_counted_as_by_looking_at_every_block(steps: list[tuple[int, int, bool]], line: int) -> None:
    dirty = DirtyBlocks(12, high=2, low=1, lanes=lanes("raid0", 2, block_sectors=8), line_blocks=line)
    flights: list[tuple[int, int]] = []
    for first, n, is_write in steps:
        if is_write:
            dirty.accept(first, first + n)
        elif (run := dirty.next_run(is_pressed=True)) is not None:
            flights.append(run)
        elif flights:
            dirty.written(*flights.pop())
        waiting = sum(len({block // line for block in lane.blocks}) for lane in dirty.waiting)
        assert dirty.waiting_lines == waiting
        assert dirty.flight_lines == len({block // line for block in dirty.in_flight})
        assert dirty.waiting_lines + dirty.flight_lines <= 12 + len(flights)

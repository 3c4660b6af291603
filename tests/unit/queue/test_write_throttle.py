"""Linux's write-back throttling by hand (rule Q10)."""

from __future__ import annotations

import pytest

from diskmodel.queue.write_throttle import IDLE_WINDOWS, WriteThrottle

MS = 1_000_000


def closed(throttle: WriteThrottle, reads_ms: list[int], n_writes: int) -> None:
    """A window with these reads and so many writes."""
    throttle.open_window()
    for seq, ms in enumerate(reads_ms):
        throttle.completed(seq, 0, ms * MS)
    for seq in range(n_writes):
        throttle.issued(seq, 1, 0)
        throttle.completed(seq, 1, 5 * MS)
    throttle.close_window(100 * MS)


@pytest.mark.parametrize(("most", "highest"), [(256, 192), (64, 48), (32, 24)])
def test_fast_reads_raise_the_limit_to_three_quarters(most: int, highest: int) -> None:
    throttle = WriteThrottle(most)
    limits = [throttle.limit]
    for _ in range(8):
        closed(throttle, [20], 3)
        limits.append(throttle.limit)
    assert limits[0] == 16
    assert limits == sorted(limits)
    assert limits[-1] == highest


def test_slow_reads_halve_it_and_windows_get_shorter() -> None:
    throttle = WriteThrottle(256)
    limits, windows = [], []
    for _ in range(6):
        closed(throttle, [80, 120], 3)
        limits.append(throttle.limit)
        windows.append(throttle.open_window())
    assert limits == [8, 4, 2, 1, 1, 1]
    assert windows[:3] == [72_727_272, 59_259_259, 50_000_000]


def test_one_fast_read_or_too_few_writes_are_no_reason() -> None:
    throttle = WriteThrottle(256)
    closed(throttle, [80, 74], 3)
    assert throttle.step == -1
    closed(throttle, [80], 2)
    assert throttle.step == -2


def test_from_a_raised_limit_it_falls_back_to_the_middle_first() -> None:
    throttle = WriteThrottle(256)
    for _ in range(3):
        closed(throttle, [10], 3)
    closed(throttle, [90], 3)
    assert (throttle.step, throttle.limit) == (0, 16)


def test_a_read_that_stays_out_counts_while_it_is_out() -> None:
    throttle = WriteThrottle(256)
    throttle.issued(7, 0, 0)
    throttle.open_window()
    throttle.close_window(76 * MS)
    assert throttle.step == 1
    throttle.completed(7, 0, 80 * MS)
    assert throttle.watched is None


def test_without_writes_it_returns_to_the_middle_step_by_step() -> None:
    throttle = WriteThrottle(256)
    closed(throttle, [90], 3)
    closed(throttle, [90], 3)
    steps = []
    for _ in range(2 * IDLE_WINDOWS):
        closed(throttle, [], 0)
        steps.append(throttle.step)
    assert steps[IDLE_WINDOWS - 2] == 2
    assert steps[IDLE_WINDOWS - 1] == 1
    assert steps[-1] == 0


def test_sleepers_are_woken_well_below_half_the_limit() -> None:
    throttle = WriteThrottle(32)
    for seq in range(16):
        throttle.issued(seq, 1, 0)
    woken = [throttle.completed(seq, 1, 0) for seq in range(16)]
    # low = 8, gap = 2: at 6 and below
    assert woken == [False] * 9 + [True] * 7


def test_above_a_cache_none_is_woken_before_all_are_answered() -> None:
    """Without one, those who wait are woken well below half of the limit."""
    for has_cache, woken_at in ((True, 0), (False, 6)):
        throttle = WriteThrottle(256, has_cache=has_cache)
        for seq in range(16):
            throttle.issued(seq, 1, 0)
        wakes = [throttle.completed(seq, 1, 5 * MS) for seq in range(16)]
        assert wakes.index(True) == 15 - woken_at


def test_a_flush_leaves_a_place_and_is_no_timed_write() -> None:
    throttle = WriteThrottle(256)
    throttle.open_window()
    throttle.issued(0, 1, 0)
    assert throttle.left()
    assert (throttle.n_writes, throttle.n_writes_done) == (0, 0)

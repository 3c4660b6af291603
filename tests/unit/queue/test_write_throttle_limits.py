"""Write-back throttling at its own limits: equal to a target, to the highest depth, to the last write (rule Q10)."""

from __future__ import annotations

import pytest

from diskmodel.queue.write_throttle import IDLE_WINDOWS, TARGET_NS, WriteThrottle
from tests.unit.queue.test_write_throttle import MS, closed


def test_exactly_the_target_is_fast_enough() -> None:
    throttle = WriteThrottle(256)
    closed(throttle, [TARGET_NS // MS], 3)
    assert throttle.step == -1
    throttle = WriteThrottle(256)
    throttle.issued(7, 0, 0)
    throttle.open_window()
    throttle.close_window(TARGET_NS)
    assert throttle.step == 0


def test_the_limit_rises_until_it_would_pass_three_quarters() -> None:
    # 20 requests: three quarters are 15, one less than the default depth
    throttle = WriteThrottle(20)
    closed(throttle, [10], 3)
    assert (throttle.step, throttle.limit, throttle.is_highest) == (-1, 15, True)
    closed(throttle, [10], 3)
    assert throttle.step == -1
    # 2 ** k of 15 and one more: 31 = 3/4 of 42, which is reached but not passed
    throttle = WriteThrottle(42)
    closed(throttle, [10], 3)
    assert (throttle.limit, throttle.is_highest) == (31, False)
    closed(throttle, [10], 3)
    assert (throttle.step, throttle.limit, throttle.is_highest) == (-2, 31, True)


@pytest.mark.parametrize(("reads_ms", "n_writes", "step"), [([90], 3, 1), ([10], 3, -1)])
def test_idle_windows_lead_back_to_the_middle_from_either_side(reads_ms: list[int], n_writes: int, step: int) -> None:
    throttle = WriteThrottle(256)
    closed(throttle, reads_ms, n_writes)
    assert throttle.step == step
    for _ in range(IDLE_WINDOWS):
        closed(throttle, [], 0)
    assert throttle.step == 0
    for _ in range(2 * IDLE_WINDOWS):
        closed(throttle, [], 0)
    assert throttle.step == 0


def test_a_window_follows_while_the_limit_is_scaled_or_writes_are_out() -> None:
    throttle = WriteThrottle(256)
    throttle.open_window()
    assert throttle.close_window(MS) is False
    throttle.issued(1, 1, 0)
    throttle.open_window()
    assert throttle.close_window(MS) is True
    throttle.completed(1, 1, MS)
    throttle.open_window()
    assert (throttle.step, throttle.close_window(MS)) == (-1, True)


@pytest.mark.parametrize(
    ("limit", "woken_at"),
    # fewer than half, by half a quarter at least: 16 -> 8 - 2, 12 -> 6 - 1, 5 -> 3 - 1, 4 -> 2 - 1
    [(16, 6), (12, 5), (5, 2), (4, 1), (3, 1), (2, 1), (1, 0)],
)
def test_how_few_writes_wake_the_next(limit: int, woken_at: int) -> None:
    throttle = WriteThrottle(256)
    throttle.limit = limit
    for seq in range(limit + 1):
        throttle.issued(seq, 1, 0)
    woken = [throttle.completed(seq, 1, 0) for seq in range(limit + 1)]
    assert woken.index(True) == limit - woken_at
    assert all(woken[woken.index(True) :])

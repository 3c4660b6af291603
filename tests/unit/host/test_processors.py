"""The processors of the host, which requests and what a pool does share (rules H1 and X17)."""

from __future__ import annotations

from diskmodel.engine.reference.processors import Processors


def test_who_comes_later_waits_for_what_is_done_at_once() -> None:
    one = Processors(1)
    one.take_until(100)  # a request has its turn until then
    assert one.take_at_once(40, 30) == 70
    assert one.take_at_once(50, 30) == 100  # one behind the other
    assert one.first_free_ns == 160


def test_two_processors_do_two_things_at_once() -> None:
    two = Processors(2)
    assert two.take_at_once(0, 30) == 30
    assert two.first_free_ns == 0
    assert two.take_at_once(10, 30) == 40
    assert two.take_at_once(20, 30) == 60
    assert two.first_free_ns == 40

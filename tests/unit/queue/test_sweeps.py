"""What a sweep keeps to itself: where it turns, what a deadline batch remembers, how age weighs (rules Q4 to Q8)."""

from __future__ import annotations

import pytest

from diskmodel.queue import Queue, make_policy
from diskmodel.queue.look import Look
from tests.unit.queue.test_choices import Command, head, served


@pytest.mark.parametrize("scheduler", ["look", "scan", "c-look", "c-scan", "f-scan"])
def test_what_lies_under_the_head_is_ahead(scheduler: str) -> None:
    policy = make_policy(Queue(scheduler=scheduler))
    assert policy.choose([Command(0, 0, 900), Command(1, 0, 500), Command(2, 0, 100)], head(500), 0) == 1
    assert policy.turned is False


@pytest.mark.parametrize("scheduler", ["look", "scan"])
def test_a_sweep_tells_when_it_turns_and_which_way_it_went(scheduler: str) -> None:
    policy = make_policy(Queue(scheduler=scheduler))
    reported = []
    for lba in (600, 100, 50, 700):
        policy.choose([Command(0, 0, lba)], head(500 if lba == 600 else 300), 0)
        reported.append((policy.swept, policy.turned))
    assert reported == [(1, False), (1, True), (-1, False), (-1, True)]
    assert isinstance(policy, Look)
    assert policy.direction == 1


@pytest.mark.parametrize("scheduler", ["c-look", "c-scan"])
def test_a_circular_sweep_tells_when_it_wraps(scheduler: str) -> None:
    policy = make_policy(Queue(scheduler=scheduler))
    policy.choose([Command(0, 0, 600)], head(500), 0)
    assert policy.turned is False
    policy.choose([Command(0, 0, 499)], head(500), 0)
    assert policy.turned is True


def test_a_deadline_batch_goes_on_upwards_and_ends_after_its_count() -> None:
    # a batch of reads in rising order; the low block waits although it is the lowest, the write until the batch ends
    policy = make_policy(Queue(scheduler="mq-deadline", fifo_batch=3, writes_starved=1))
    waiting = [Command(0, 0, 500), Command(1, 1, 10), Command(2, 0, 508), Command(3, 0, 900)]
    assert policy.choose(waiting, head(0), 0) == 0
    waiting = [waiting[1], waiting[2], waiting[3], Command(4, 0, 100)]
    assert policy.choose(waiting, head(0), 0) == 1
    waiting = [waiting[0], waiting[2], waiting[3]]
    assert policy.choose(waiting, head(0), 0) == 1
    # three of three: reads went before the write once, so the write is next
    assert policy.choose([waiting[0], waiting[2]], head(0), 0) == 0
    assert policy.choose([waiting[2]], head(0), 0) == 0


def test_a_batch_continues_at_the_block_after_the_last_one() -> None:
    policy = make_policy(Queue(scheduler="mq-deadline", fifo_batch=1))
    assert policy.choose([Command(0, 0, 500)], head(0), 0) == 0
    # a block just before the end of the last command is not ahead, the next one is
    assert policy.choose([Command(1, 0, 507), Command(2, 0, 508)], head(0), 0) == 1
    # nothing ahead: the oldest
    assert policy.choose([Command(3, 0, 300), Command(4, 0, 200)], head(0), 0) == 0


def test_writes_begin_at_block_zero() -> None:
    policy = make_policy(Queue(scheduler="mq-deadline"))
    assert policy.choose([Command(0, 1, 40), Command(1, 1, 0)], head(0), 0) == 1


def test_an_expired_command_waits_until_the_batch_ends() -> None:
    policy = make_policy(Queue(scheduler="mq-deadline", read_expire_ns=100, fifo_batch=2))
    old = Command(0, 0, 100)
    assert policy.choose([Command(1, 0, 500, arrived_ns=50), old], head(0), 60) == 1
    assert policy.choose([Command(1, 0, 500, arrived_ns=50), Command(2, 0, 300, arrived_ns=60)], head(0), 160) == 1


def test_writes_passed_over_are_counted_from_each_batch_of_writes() -> None:
    policy = make_policy(Queue(scheduler="mq-deadline", fifo_batch=1, writes_starved=2))
    waiting = [Command(i, 0, 100 * i) for i in range(6)] + [Command(10 + i, 1, 100 * i) for i in range(3)]
    ops = []
    while waiting:
        ops.append(waiting.pop(policy.choose(waiting, head(0), 0)).op)
    assert ops == [0, 0, 1, 0, 0, 1, 0, 0, 1]


def test_age_scales_the_distance_until_it_counts_for_nothing() -> None:
    policy = make_policy(Queue(scheduler="sptf-aged", age_ns=1000))
    # 100 away and new: 100 * 900; 300 away and waiting for 800: 300 * 200
    new, waited = Command(1, 0, 400, arrived_ns=900), Command(0, 0, 200, arrived_ns=200)
    assert policy.choose([new, waited], head(500 - 100), 1000) == 0
    # new: 200 * 900 against 0 * 0 for what is beyond the limit, which goes first whatever lies under the head
    beyond, here = Command(0, 0, 4000, arrived_ns=0), Command(1, 0, 400, arrived_ns=999)
    assert policy.choose([here, beyond], head(400), 1000) == 0
    assert policy.choose([here, beyond], head(398), 1000) == 1
    assert policy.choose([beyond, here], head(400), 1000) == 0
    # weighing by the product: 40 * 1000 = 40 000 is more than 200 * 100
    near, far = Command(1, 0, 440, arrived_ns=1000), Command(0, 0, 600, arrived_ns=100)
    assert policy.choose([near, far], head(400), 1000) == 1


def test_a_frozen_batch_begins_with_what_waits_first() -> None:
    policy = make_policy(Queue(scheduler="f-scan"))
    assert served(policy, [Command(0, 0, 700), Command(1, 0, 600)], 500) == [600, 700]

"""Every scheduler on the same small queue, worked by hand (rules Q1 to Q8, Q12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from diskmodel.queue import SCHEDULERS, Head, Policy, Queue, Waiting, make_policy


@dataclass
class Command:
    seq: int
    op: int
    lba: int
    arrived_ns: int = 0
    n_sectors: int = 8


def head(lba: int) -> Head:
    """Rotation is made up: blocks in odd hundreds take 1000 more than their distance, and a turn takes 4000."""

    def positioning_ns(command: Waiting, margin_ns: int = 0, move_256ths: int = 0, /) -> int:
        move, latency = abs(command.lba - lba), 1000 if command.lba // 100 % 2 else 0
        return move + latency + (4000 if latency < margin_ns + move // 256 * move_256ths else 0)

    return Head(lba, positioning_ns)


def served(policy: Policy, commands: list[Command], start: int, now_ns: int = 0) -> list[int]:
    """Block numbers in the order of service, nothing new coming."""
    waiting, at, order = list(commands), start, []
    while waiting:
        command = waiting.pop(policy.choose(waiting, head(at), now_ns))
        order.append(command.lba)
        at = command.lba + command.n_sectors
    return order


QUEUE = [Command(i, 0, lba) for i, lba in enumerate([900, 400, 150, 600, 450])]


@pytest.mark.parametrize(
    ("scheduler", "order"),
    [
        ("fcfs", [900, 400, 150, 600, 450]),
        ("sstf", [450, 400, 600, 900, 150]),
        ("look", [600, 900, 450, 400, 150]),
        ("scan", [600, 900, 450, 400, 150]),
        ("c-look", [600, 900, 150, 400, 450]),
        ("c-scan", [600, 900, 150, 400, 450]),
        ("f-scan", [600, 900, 450, 400, 150]),
        # 150 and 900 lie in odd hundreds: 1000 later
        ("sptf", [450, 400, 600, 900, 150]),
        ("sptf-aged", [450, 400, 600, 900, 150]),
        # as sptf, but the newest, 450, is a candidate only when it is alone
        ("rpo", [400, 600, 900, 150, 450]),
        # from block 0 upwards
        ("mq-deadline", [150, 400, 450, 600, 900]),
    ],
)
def test_order_from_block_500(scheduler: str, order: list[int]) -> None:
    assert served(make_policy(Queue(scheduler=scheduler)), QUEUE, 500) == order


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_ties_go_to_the_first_and_nothing_is_lost(scheduler: str) -> None:
    same = [Command(i, 0, 700) for i in range(4)]
    policy = make_policy(Queue(scheduler=scheduler))
    assert policy.choose(same, head(500), 0) == 0
    assert sorted(served(make_policy(Queue(scheduler=scheduler)), QUEUE, 0)) == sorted(c.lba for c in QUEUE)


def test_newcomers_wait_for_the_next_batch_of_f_scan() -> None:
    policy = make_policy(Queue(scheduler="f-scan"))
    waiting = [Command(0, 0, 600), Command(1, 0, 900)]
    assert policy.choose(waiting, head(500), 0) == 0
    waiting = [waiting[1], Command(2, 0, 620)]
    assert policy.choose(waiting, head(608), 0) == 0
    assert policy.choose(waiting[1:], head(908), 0) == 0


def test_age_overcomes_distance() -> None:
    queue = Queue(scheduler="sptf-aged", age_ns=1000)
    near, far = Command(1, 0, 620, arrived_ns=400), Command(0, 0, 2000, arrived_ns=0)
    assert make_policy(queue).choose([far, near], head(500), 500) == 1
    assert make_policy(queue).choose([far, near], head(500), 1000) == 0


def test_deadline_prefers_reads_but_not_for_ever() -> None:
    policy = make_policy(Queue(scheduler="mq-deadline", fifo_batch=1, writes_starved=2))
    waiting = [Command(0, 1, 100), *(Command(i, 0, 100 * i) for i in range(1, 6))]
    ops = []
    for _ in range(6):
        command = waiting.pop(policy.choose(waiting, head(0), 0))
        ops.append(command.op)
    assert ops == [0, 0, 1, 0, 0, 0]


def test_deadline_serves_an_expired_read_first() -> None:
    policy = make_policy(Queue(scheduler="mq-deadline", read_expire_ns=100, fifo_batch=1))
    old, low = Command(0, 0, 900, arrived_ns=0), Command(1, 0, 100, arrived_ns=90)
    assert policy.choose([old, low], head(0), 99) == 1
    policy = make_policy(Queue(scheduler="mq-deadline", read_expire_ns=100, fifo_batch=1))
    assert policy.choose([old, low], head(0), 100) == 0


def rpo(**fields: Any) -> Policy:
    """Return the scheduler with everything off that is not given."""
    return make_policy(Queue(**{"scheduler": "rpo", "miss_margin_ns": 0, "age_weight": 0, "committed": 0} | fields))


def test_rpo_without_limits_is_sptf() -> None:
    assert served(rpo(), QUEUE, 500) == served(make_policy(Queue(scheduler="sptf")), QUEUE, 500)


def test_newcomers_do_not_overtake_what_is_committed() -> None:
    waiting = [Command(i, 0, lba) for i, lba in enumerate([800, 2000, 600])]
    assert [rpo(committed=n).choose(waiting, head(500), 0) for n in range(5)] == [2, 0, 0, 0, 0]


def test_a_sector_that_may_be_missed_costs_a_turn() -> None:
    risky, safe = Command(0, 0, 600), Command(1, 0, 700)
    assert rpo().choose([risky, safe], head(500), 0) == 0
    assert rpo(miss_margin_ns=1).choose([risky, safe], head(500), 0) == 1
    assert rpo(miss_margin_ns=1001).choose([risky, safe], head(500), 0) == 0


def test_a_longer_seek_needs_a_longer_margin() -> None:
    near, risky, safe = Command(0, 0, 600), Command(0, 0, 800), Command(1, 0, 1100)
    assert rpo().choose([risky, safe], head(500), 0) == 0
    assert rpo(miss_ratio=0.25).choose([risky, safe], head(500), 0) == 1
    assert rpo(miss_ratio=0.25).choose([near, safe], head(500), 0) == 0


def test_a_wait_counts_by_its_share_of_the_queue() -> None:
    near, far = Command(1, 0, 600), Command(0, 0, 2000)
    # 1500 against 100: the far one, which waited for 2800, wins from a weight of 1 among two commands
    near.arrived_ns = 2800
    assert rpo(age_weight=0.999).choose([far, near], head(500), 2800) == 1
    assert rpo(age_weight=1).choose([far, near], head(500), 2800) == 0
    assert rpo(age_weight=1).choose([far, near, Command(2, 0, 9000, arrived_ns=2800)], head(500), 2800) == 1
